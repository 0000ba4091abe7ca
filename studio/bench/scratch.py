"""A database of the benchmark's own: made before, removed after, never the studio's."""

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo
from sqlalchemy import Engine, make_url

from studio.domain.errors import MalformedError
from studio.store.engine import make_engine
from studio.store.schema import upgrade
from studio.store.units import SqlUnits
from studio.web.system import SystemClock

CURRENCY = "JPY"


@dataclass(frozen=True, kw_only=True)
class Scratch:
    """An empty, migrated database."""

    url: str
    engine: Engine
    units: SqlUnits
    name: str
    """What it is, for people."""

    @property
    def is_sqlite(self) -> bool:
        """Whether it is the embedded one."""
        return self.engine.dialect.name == "sqlite"

    @property
    def path(self) -> str:
        """The file of an embedded database."""
        return str(make_url(self.url).database)

    @property
    def conninfo(self) -> str:
        """The address as libpq reads it."""
        return libpq(self.url)


def libpq(url: str, *, password: bool = True) -> str:
    """Return a PostgreSQL address as psycopg and pgbench read it."""
    parts = make_url(url)
    options: dict[str, Any] = dict(parts.query)
    return make_conninfo(
        host=parts.host,
        port=parts.port,
        user=parts.username,
        password=parts.password if password else None,
        dbname=parts.database,
        **options,
    )


@contextmanager
def scratch_database(database_url: str | None) -> Iterator[Scratch]:
    """Give a database of one's own.

    Args:
        database_url: None for a temporary SQLite file; a SQLite address for a new file in the
            same folder, so that its disk is measured; a PostgreSQL address for a new database on
            the same server.

    Raises:
        MalformedError: `database_url`, `database_unreachable`.
    """
    if database_url is not None and not database_url.startswith("sqlite:///"):
        with _postgresql(database_url) as url:
            yield from _opened(url)
        return
    parent = Path(database_url.removeprefix("sqlite:///")).parent if database_url else None
    if parent is not None:
        parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="studio-bench-", dir=parent) as folder:
        yield from _opened(f"sqlite:///{Path(folder).resolve() / 'bench.db'}")


def _opened(url: str) -> Iterator[Scratch]:
    engine = make_engine(url)
    try:
        upgrade(engine)
        units = SqlUnits(engine, clock=SystemClock(), currency=CURRENCY)
        yield Scratch(url=url, engine=engine, units=units, name=_version(engine))
    finally:
        engine.dispose()


@contextmanager
def _postgresql(server_url: str) -> Iterator[str]:
    make_engine(server_url).dispose()  # says clearly what is wrong with the address
    name = f"studio_bench_{secrets.token_hex(6)}"
    server = libpq(server_url)
    try:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
    except psycopg.Error as error:
        raise MalformedError(
            "database_url", f"A benchmark needs a database of its own: {str(error).strip()}"
        ) from error
    try:
        url = make_url(server_url).set(database=name, drivername="postgresql+psycopg")
        yield url.render_as_string(hide_password=False)
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())


def _version(engine: Engine) -> str:
    with engine.connect() as connection:
        numbers = connection.dialect.server_version_info or ()
    name = "SQLite" if engine.dialect.name == "sqlite" else "PostgreSQL"
    return f"{name} {'.'.join(str(number) for number in numbers)}"
