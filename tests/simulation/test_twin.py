"""The simulated store answers as the real one: the same seeds, every question asked of both."""

import uuid

import pytest

from studio.simulation.floor import CASH_MINOR, DEALERS, PLAYERS
from studio.simulation.server import Server
from studio.simulation.world import World
from studio.store.units import SqlUnits
from tests.simulation.twin import TwinUnits

STEPS = 120


class TwinWorld(World):
    """A world whose every unit has a unit of a real database beside it."""

    def __init__(self, seed: int, engine) -> None:
        self._engine = engine
        super().__init__(seed)

    def _furnish(self) -> None:
        super()._furnish()
        self._sql = SqlUnits(
            self._engine, clock=self.clock, currency="JPY", simulated_clock=self.clock
        )
        with self._sql.write() as unit:
            for player in PLAYERS:
                unit.ledger.cash(
                    id=str(uuid.UUID(int=player.id)),
                    player_id=player.id,
                    amount_minor=CASH_MINOR,
                    reason="as in the simulation",
                    by=DEALERS[0].id,
                )
            unit.commit()

    def _start(self, at: int) -> None:
        super()._start(at)
        server = self.servers[at]
        assert isinstance(server, Server)
        server.join(TwinUnits(server.units, self._sql))


def play(seed: int, engine) -> World:
    world = TwinWorld(seed, engine)
    for _ in range(STEPS):
        world.step()
    world.come_to_rest()
    return world


@pytest.mark.parametrize("seed", range(8))
def test_the_simulated_book_answers_as_sqlite_does(seed, sqlite_engine):
    world = play(seed, sqlite_engine)
    assert world.watch.events > 0


@pytest.mark.postgresql
@pytest.mark.parametrize("seed", range(100, 104))
def test_the_simulated_book_answers_as_postgresql_does(seed, postgresql_engine):
    world = play(seed, postgresql_engine)
    assert world.watch.events > 0
