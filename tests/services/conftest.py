"""A floor of one's own: on an SQLite file, or on both kinds of database."""

import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Engine, text
from sqlalchemy.engine import make_url

from studio.store.engine import make_engine
from studio.store.metadata import metadata
from studio.store.schema import upgrade
from tests.conftest import POSTGRESQL, absent, connect_to_server
from tests.support.floor import Floor


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with the schema in it, to be copied."""
    path = tmp_path_factory.mktemp("schema") / "studio.db"
    engine = make_engine(f"sqlite:///{path}")
    upgrade(engine)
    engine.dispose()
    return path


@pytest.fixture
def sqlite_engine(migrated_file: Path, tmp_path: Path) -> Iterator[Engine]:
    """A copy of the migrated file."""
    path = tmp_path / "studio.db"
    shutil.copy(migrated_file, path)
    engine = make_engine(f"sqlite:///{path}")
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def migrated_postgresql() -> Iterator[Engine]:
    """The worker's own database, migrated once."""
    try:
        server = connect_to_server()
    except psycopg.OperationalError:
        absent("PostgreSQL (STUDIO_TEST_POSTGRESQL)")
        return
    name = f"studio_services_{secrets.token_hex(6)}"
    with server:
        server.execute(f'create database "{name}" strategy file_copy')
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


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def both(request: pytest.FixtureRequest) -> Floor:
    """A floor on each kind of database in turn."""
    return _furnished(request.getfixturevalue(f"{request.param}_engine"))


@pytest.fixture
def floor(sqlite_engine: Engine) -> Floor:
    """A floor on the embedded database: for what does not depend on the kind."""
    return _furnished(sqlite_engine)


def _furnished(engine: Engine) -> Floor:
    made = Floor(engine=engine)
    made.furnish()
    return made
