"""The studio's database behind the doors: for commands that need no server."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from studio.cli.lines import FAILED, fail
from studio.domain.game import Json
from studio.games import GAMES, by_code
from studio.joining import ROOT, SQLITE, embedded_file, open_store
from studio.services.audit import audit
from studio.services.inspection import Fault
from studio.services.replay import GameReplay
from studio.settings import Settings, currency_of, embedded_secret, load_settings
from studio.store.units import SqlUnits


@contextmanager
def open_units(settings: Settings) -> Iterator[SqlUnits]:
    """Open the database that the settings name, until the block ends."""
    engine, units = open_store(settings.database_url, currency=currency_of(settings).code)
    try:
        yield units
    finally:
        engine.dispose()


def offline_settings(database_url: str | None) -> Settings:
    """Load the settings for a command that signs no cookie and so needs no secret."""
    given: dict[str, Json] = {} if database_url is None else {"database_url": database_url}
    if not os.environ.get("STUDIO_SECRET_KEY"):
        given["secret_key"] = secrets.token_urlsafe(48)
    return load_settings(None, **given)


def keep_secret() -> None:
    """Let a studio without a secret of its own use the one beside its database."""
    if not os.environ.get("STUDIO_SECRET_KEY"):
        os.environ["STUDIO_SECRET_KEY"] = embedded_secret(ROOT / "var" / "secret_key")


def stored_settings(database_url: str | None) -> Settings:
    """Load the settings over a database that is there; a new and empty one is none."""
    settings = offline_settings(database_url)
    file = embedded_file(settings.database_url)
    if file is not None and not file.exists():
        fail(f"There is no database at {file}", status=FAILED)
    return settings


def whole_address(address: str) -> str:
    """Return the address with an embedded file's whole path."""
    file = embedded_file(address)
    return address if file is None else f"{SQLITE}{file}"


def audited(units: SqlUnits) -> list[Fault]:
    """Re-check everything stored, each round by its own game."""
    games = by_code(GAMES)
    return audit(units, replay=lambda table, seen: GameReplay(table, games, seen))
