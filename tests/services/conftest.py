"""A floor of one's own: on an SQLite file, or on both kinds of database."""

import pytest
from sqlalchemy import Engine

from tests.support.floor import Floor


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
