"""The clock is set wrong by an hour in the middle of a round."""

import pytest

from studio.domain.errors import RefusedError
from studio.domain.round import Phase
from tests.support.floor import HANDS, Floor

HOUR_MS = 3_600_000
STEPS_MAX = 40


def to_deadline(floor):
    floor.to_dealt()
    floor.clock.ms = floor.state().round.window_closes_ms


def to_reveal(floor):
    floor.to_dealt()
    floor.close()
    floor.command("reveal")


MOMENTS = {
    "betting": Floor.to_betting,
    "dealt": Floor.to_dealt,
    "deadline": to_deadline,
    "reveal": to_reveal,
}


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def both(request):
    made = Floor(engine=request.getfixturevalue(f"{request.param}_engine"))
    made.furnish()
    return made


@pytest.mark.parametrize(
    ("moment", "off_ms"),
    [(moment, off_ms) for moment in MOMENTS for off_ms in (HOUR_MS, -HOUR_MS)],
)
def test_no_clock_makes_the_window_longer_and_the_round_is_paid(both, moment, off_ms):
    floor = both
    MOMENTS[moment](floor)
    closes_ms = floor.state().round.window_closes_ms
    floor.wait(off_ms)
    with pytest.raises(RefusedError) as refusal:
        floor.bet()
    assert refusal.value.code == "betting_window_closed"
    floor.clockwork.turn()
    assert floor.state().phase is not Phase.BETTING
    for _ in range(STEPS_MAX):
        if floor.state().phase is Phase.SETTLED:
            break
        floor.step()
    assert floor.state().phase is Phase.SETTLED
    assert floor.state().round.window_closes_ms == closes_ms
    assert len(floor.live().view["round"]["reveals"]) == len(HANDS) + 1
    assert floor.faults() == []
    assert floor.ledger_sum() == 0
