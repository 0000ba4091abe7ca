"""`app.py serve`: the studio with its embedded database, until it is stopped."""

import os
import sys

import click
from flask_socketio import SocketIO

from studio.cli.lines import one_line_errors
from studio.cli.stores import keep_secret
from studio.domain.game import Json
from studio.joining import ROOT, make_studio
from studio.services.people import NewPerson
from studio.services.ports import Actor, Role
from studio.settings import Settings, load_settings
from studio.web.live import SocketPublisher
from studio.web.ports import need_free_port
from studio.web.studio import Studio
from studio.web.system import SystemRandomness

FIRST_ADMINISTRATOR = "admin"


@click.command()
@click.option("--host", help="Address to listen on.")
@click.option("--port", type=int, help="Port to listen on.")
@click.option("--database-url", help="sqlite:///PATH or postgresql+psycopg://USER@HOST/NAME.")
@one_line_errors
def serve(host: str | None, port: int | None, database_url: str | None) -> None:
    """Run the studio: schema brought up to date, then gunicorn until it is stopped."""
    overrides = {"host": host, "port": port, "database_url": database_url}
    given: dict[str, Json] = {key: value for key, value in overrides.items() if value is not None}
    keep_secret()
    settings = load_settings(None, **given)
    need_free_port(settings.host, settings.port)
    _add_first_administrator(settings)
    for key, value in given.items():
        os.environ[f"STUDIO_{key.upper()}"] = str(value)
    click.echo(f"The studio listens on http://{settings.host}:{settings.port}", err=True)
    gunicorn = [sys.executable, "-m", "gunicorn", "--config", str(ROOT / "config" / "gunicorn.py")]
    os.chdir(ROOT)
    os.execv(sys.executable, gunicorn)  # noqa: S606  our own program, no shell


def _add_first_administrator(settings: Settings) -> None:
    """Give an empty studio its first login; the password is shown once and stored as a hash."""
    studio = make_studio(settings, SocketPublisher(SocketIO()))
    try:
        if not studio.people.list():
            _add_administrator(studio)
    finally:
        studio.close()


def _add_administrator(studio: Studio) -> None:
    password = SystemRandomness().token()[:20]
    studio.people.create(
        Actor(id=0, name="studio", role=None),
        NewPerson(
            username=FIRST_ADMINISTRATOR,
            display_name="Administrator",
            role=Role.ADMINISTRATOR,
            password=password,
            language=studio.settings.languages[0],
        ),
    )
    click.echo(f"First start: log in as {FIRST_ADMINISTRATOR} with {password}", err=True)
