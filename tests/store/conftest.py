"""Databases of the store's tests: a file for SQLite, one database a worker for PostgreSQL."""

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Engine, text
from sqlalchemy.engine import make_url

from studio.store.engine import make_engine
from studio.store.metadata import metadata
from studio.store.schema import upgrade
from studio.store.units import SqlUnits
from tests.conftest import POSTGRESQL, absent, connect_to_server
from tests.store.house import FrozenClock, House


@pytest.fixture(scope="session")
def migrated_postgresql() -> Iterator[Engine]:
    """The worker's own database, migrated once."""
    try:
        server = connect_to_server()
    except psycopg.OperationalError:
        absent("PostgreSQL (STUDIO_TEST_POSTGRESQL)")
        return
    name = f"studio_store_{secrets.token_hex(6)}"
    with server:
        server.execute(f'create database "{name}"')
    url = make_url(POSTGRESQL).set(database=name)
    engine = make_engine(url.render_as_string(hide_password=False))
    upgrade(engine)
    yield engine
    engine.dispose()
    with connect_to_server() as again:
        again.execute(f'drop database "{name}" with (force)')


@pytest.fixture
def postgresql_engine(migrated_postgresql: Engine) -> Engine:
    """The worker's database, emptied."""
    names = ", ".join(f'"{table.name}"' for table in metadata.sorted_tables)
    with migrated_postgresql.begin() as connection:
        connection.execute(text(f"TRUNCATE {names} RESTART IDENTITY CASCADE"))
    return migrated_postgresql


@pytest.fixture
def sqlite_engine(tmp_path: Path) -> Iterator[Engine]:
    """A migrated SQLite file."""
    engine = make_engine(f"sqlite:///{tmp_path / 'studio.db'}")
    upgrade(engine)
    yield engine
    engine.dispose()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def engine(request: pytest.FixtureRequest) -> Engine:
    """An empty, migrated database: the test runs once on each kind."""
    found: Engine = request.getfixturevalue(f"{request.param}_engine")
    return found


@pytest.fixture
def house_on() -> Callable[[Engine], House]:
    """Opens a house on a given database."""

    def open_house(engine: Engine) -> House:
        clock = FrozenClock()
        units = SqlUnits(engine, clock=clock, currency="JPY", simulated_clock=clock)
        return House(engine=engine, clock=clock, units=units)

    return open_house


@pytest.fixture
def house(engine: Engine, house_on: Callable[[Engine], House]) -> House:
    """A house whose clock the test moves."""
    return house_on(engine)
