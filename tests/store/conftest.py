"""A house of the store's tests on each kind of database."""

from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from studio.store.units import SqlUnits
from tests.store.house import FrozenClock, House


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
