"""The studio's entrance: joins the real adapters, and the command line.

Nothing runs at import. `create_app` makes the web application; gunicorn calls it through
`config/gunicorn.py`.
"""

import json
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import click
from flask import Flask
from flask_socketio import SocketIO
from sqlalchemy import Engine

from studio.bench.commands import bench
from studio.cli.backups import backup_command, restore_command
from studio.cli.cards import cards_command
from studio.cli.evidence import export_command, verify
from studio.cli.games import rtp, rules
from studio.cli.scan import scan
from studio.cli.simulate import simulate
from studio.club_settings import club_data
from studio.demo.commands import demo_command
from studio.demo.furnish import Inside
from studio.domain.errors import MalformedError
from studio.domain.game import Json
from studio.games import GAMES, by_code
from studio.services.audit import audit as run_audit
from studio.services.audit_alarm import tell_pit
from studio.services.cash import CashService
from studio.services.clockwork import Clockwork
from studio.services.club import ClubService
from studio.services.club_data import ClubData
from studio.services.devices import DeviceService
from studio.services.disabling import DisablingService
from studio.services.evidence import EvidenceService
from studio.services.inspection import Fault, Inspection
from studio.services.links import LinkWatch
from studio.services.live import LiveTables
from studio.services.people import Greet, LoginPolicy, NewPerson, PeopleService
from studio.services.pictures import PictureService
from studio.services.play_money import PlayMoney
from studio.services.ports import Actor, Publisher, Role
from studio.services.proposing import Corrections
from studio.services.purse import smallest_bet_minor
from studio.services.reading import CardReading
from studio.services.replay import GameReplay
from studio.services.reports import ReportService
from studio.services.retention import RetentionService
from studio.services.retention_ports import Kept
from studio.services.setup import TableSetup
from studio.services.tables import TableService
from studio.services.wagers import WagerService
from studio.settings import (
    Settings,
    currency_of,
    devices,
    embedded_secret,
    load_settings,
    table_setups,
)
from studio.settings_play import play_policy
from studio.signing import Signer
from studio.store.engine import make_engine
from studio.store.people import SqlPeopleUnits
from studio.store.schema import upgrade
from studio.store.units import SqlUnits
from studio.web.edge import Folders, make_edge
from studio.web.lines import OneLineGroup, fail, one_line_errors
from studio.web.live import SocketPublisher
from studio.web.logs import init_logs
from studio.web.passwords import Argon2Hasher
from studio.web.ports import need_free_port
from studio.web.studio import Studio
from studio.web.system import SystemClock, SystemRandomness

SQLITE = "sqlite:///"
ROOT = Path(__file__).resolve().parent
MINUTE_MS = 60_000
FIRST_ADMINISTRATOR = "admin"


# The application --------------------------------------------------------------------------------


def create_app(settings: Settings | None = None, *, async_mode: str = "threading") -> Flask:
    """Return the web application over the database that the settings name.

    Args:
        settings: checked settings; else they are loaded from file and environment.
        async_mode: `gevent` inside a patched gunicorn worker.

    Raises:
        SettingsError: the settings can't be used.
        MalformedError: the database can't be reached.
    """
    settings = settings or load_settings()
    init_logs(settings.log_level)
    socketio = SocketIO()
    studio = make_studio(settings, SocketPublisher(socketio))
    folders = Folders(templates=str(ROOT / "templates"), static=str(ROOT / "static"))
    return make_edge(studio, socketio, folders=folders, async_mode=async_mode)


def make_studio(settings: Settings, publisher: Publisher) -> Studio:
    """Join the use cases with the real store, clock and chance."""
    games = by_code(GAMES)
    setups = table_setups(settings, games)
    currency = currency_of(settings)
    clock, randomness = SystemClock(), SystemRandomness()
    data = club_data(settings, games, setups)
    engine, units = open_store(settings.database_url, currency=currency.code)
    club = make_club(data, setups, units=units, publisher=publisher) if data else None
    play = make_play_money(settings, setups, units=units, publisher=publisher, club=club)
    live = LiveTables(setups, games)
    tables = TableService(
        units=units,
        tables=live,
        publisher=publisher,
        corrections=Corrections(live, settings.corrections.policy),
        reading=CardReading(randomness),
        on_settled=play.settled if play else None,
    )
    links = LinkWatch(runner=tables, clock=clock)
    people = make_people(settings, units, greet=play.greet if play else None)
    return Studio(
        settings=settings,
        clock=clock,
        currency=currency,
        people=people,
        tables=tables,
        links=links,
        clockwork=Clockwork(runner=tables, links=links),
        devices=DeviceService(runner=tables, links=links, reading=tables.reading),
        wagers=WagerService(
            units=units, setups=setups, games=games, publisher=publisher, play_money=bool(play)
        ),
        cash=CashService(units=units, publisher=publisher),
        disabling=DisablingService(units=units, publisher=publisher, games=tuple(games)),
        reports=ReportService(
            units=units,
            tables=tables.tables,
            names=lambda: {one.id: one.display_name for one in people.list()},
        ),
        evidence=EvidenceService(
            units=units, clock=clock, signer=Signer(settings.secret_key.get_secret_value())
        ),
        pictures=PictureService(units=units, publisher=publisher, setups=setups),
        play=play,
        club=club,
        known_devices=devices(settings),
        close=engine.dispose,
    )


def make_club(
    data: ClubData, setups: Mapping[str, TableSetup], *, units: SqlUnits, publisher: Publisher
) -> ClubService:
    """Join the club's use cases with the real store."""
    least_minor = smallest_bet_minor(setups, by_code(GAMES))
    return ClubService(units=units, data=data, publisher=publisher, least_minor=least_minor)


def make_play_money(
    settings: Settings,
    setups: Mapping[str, TableSetup],
    *,
    units: SqlUnits,
    publisher: Publisher,
    club: ClubService | None,
) -> PlayMoney | None:
    """Join what a play-money studio has beside the rest; None in a studio of money."""
    policy = play_policy(settings.play, currency_of(settings))
    if policy is None:
        return None
    return PlayMoney(
        policy=policy,
        units=units,
        setups=setups,
        games=by_code(GAMES),
        randomness=SystemRandomness(),
        publisher=publisher,
        club=club,
        plates=club.plates if club else None,
    )


def make_people(
    settings: Settings, units: SqlUnits, *, greet: Greet | None = None
) -> PeopleService:
    """Join the people's use cases with the real store, clock and chance."""
    return PeopleService(
        units=SqlPeopleUnits(units),
        clock=SystemClock(),
        randomness=SystemRandomness(),
        hasher=Argon2Hasher(),
        policy=LoginPolicy(
            idle_ms=settings.session.idle_minutes * MINUTE_MS,
            lifetime_ms=settings.session.lifetime_minutes * MINUTE_MS,
            failures_max=settings.login.failures_max,
            window_ms=settings.login.window_seconds * 1000,
        ),
        languages=settings.languages,
        games=tuple(by_code(GAMES)),
        greet=greet,
    )


def open_store(database_url: str, *, currency: str) -> tuple[Engine, SqlUnits]:
    """Open a database and bring its schema up to date.

    Raises:
        MalformedError: the address is wrong or the database can't be reached.
    """
    path = _embedded_file(database_url)
    if path is not None:
        database_url = f"{SQLITE}{path}"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MalformedError(
                "database_unreachable", f"The folder {path.parent} can't be made: {error.strerror}"
            ) from error
    engine = make_engine(database_url)
    upgrade(engine)
    return engine, SqlUnits(engine, clock=SystemClock(), currency=currency)


def _embedded_file(database_url: str) -> Path | None:
    """Return the file of an embedded database; a relative path is meant from the project."""
    is_file = database_url.startswith(SQLITE)
    return ROOT / database_url.removeprefix(SQLITE) if is_file else None


# The command line -------------------------------------------------------------------------------


@click.group(cls=OneLineGroup)
def main() -> None:
    """Back office of a live-dealer studio."""


@main.command()
@click.option("--host", help="Address to listen on.")
@click.option("--port", type=int, help="Port to listen on.")
@click.option("--database-url", help="sqlite:///PATH or postgresql+psycopg://USER@HOST/NAME.")
@one_line_errors
def serve(host: str | None, port: int | None, database_url: str | None) -> None:
    """Run the studio: schema brought up to date, then gunicorn until it is stopped."""
    overrides = {"host": host, "port": port, "database_url": database_url}
    given: dict[str, Json] = {key: value for key, value in overrides.items() if value is not None}
    if not os.environ.get("STUDIO_SECRET_KEY"):
        os.environ["STUDIO_SECRET_KEY"] = embedded_secret(ROOT / "var" / "secret_key")
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


# Checking and showing ---------------------------------------------------------------------------


@contextmanager
def _store(database_url: str | None) -> Iterator[SqlUnits]:
    settings = _offline_settings(database_url)
    engine, units = open_store(settings.database_url, currency=currency_of(settings).code)
    try:
        yield units
    finally:
        engine.dispose()


def _replay(table: str, inspection: Inspection) -> GameReplay:
    return GameReplay(table, by_code(GAMES), inspection)


def _offline_settings(database_url: str | None) -> Settings:
    """Load the settings for a command that signs no cookie and so needs no secret."""
    given: dict[str, Json] = {} if database_url is None else {"database_url": database_url}
    if not os.environ.get("STUDIO_SECRET_KEY"):
        given["secret_key"] = secrets.token_urlsafe(48)
    return load_settings(None, **given)


@main.command()
@click.option("--database-url", help="Else the settings' database.")
@click.option("--alarm", is_flag=True, help="Also raise or clear the pit's alarm.")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
@one_line_errors
def audit(database_url: str | None, *, alarm: bool, as_json: bool) -> None:
    """Re-check everything stored and name each fault."""
    address = _address_of(database_url)
    faults = _audited(address)
    if alarm:
        with _store(address) as units:
            tell_pit(units, faults, tables=tuple(_offline_settings(address).tables))
    if as_json:
        found = {"faults": [asdict(fault) for fault in faults], "count": len(faults)}
        click.echo(json.dumps(found, ensure_ascii=False, default=str))
    else:
        for fault in faults:
            click.echo(f"{fault.code}  {fault.where}: {fault.what}")
        click.echo(f"Faults: {len(faults)}." if faults else "Clean: nothing is wrong.")
    if faults:
        sys.exit(1)


@main.command()
@click.option("--database-url", help="Else the settings' database.")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
@one_line_errors
def prune(database_url: str | None, *, as_json: bool) -> None:
    """Forget records that have been kept long enough; what was played and paid stays."""
    address = _address_of(database_url)
    days = _offline_settings(address).retention.days
    with _store(address) as units:
        gone = RetentionService(units=units, days=days).run()
    if as_json:
        click.echo(json.dumps(gone))
    else:
        for kind, count in gone.items():
            click.echo(
                f"{kind.replace('_', ' '):<16} {count:>8}  older than {days[Kept(kind)]} days"
            )


def _address_of(database_url: str | None) -> str:
    """Return the whole address of a database that is there; a new and empty one is none."""
    address = _whole_address(_offline_settings(database_url).database_url)
    file = _embedded_file(address)
    if file is not None and not file.exists():
        fail(f"There is no database at {file}", status=1)
    return address


def _whole_address(address: str) -> str:
    file = _embedded_file(address)
    return address if file is None else f"{SQLITE}{file}"


def _audited(address: str) -> list[Fault]:
    with _store(address) as units:
        return run_audit(units, replay=_replay)


@contextmanager
def _evidence(database_url: str | None) -> Iterator[EvidenceService]:
    """Open the evidence of a database; signed with the key of the studio that serves it."""
    if not os.environ.get("STUDIO_SECRET_KEY"):
        os.environ["STUDIO_SECRET_KEY"] = embedded_secret(ROOT / "var" / "secret_key")
    signer = Signer(load_settings().secret_key.get_secret_value())
    with _store(_address_of(database_url)) as units:
        yield EvidenceService(units=units, clock=SystemClock(), signer=signer)


def _make_inside() -> Inside:
    settings = load_settings()
    engine, units = open_store(settings.database_url, currency=currency_of(settings).code)
    return Inside(units=units, people=make_people(settings, units), close=engine.dispose)


for command in (
    scan,
    cards_command(_store),
    rules,
    rtp,
    simulate,
    backup_command(_address_of),
    restore_command(_whole_address, _audited),
    export_command(_evidence),
    verify,
    demo_command(_make_inside),
    bench,
):
    main.add_command(command)

if __name__ == "__main__":
    main()
