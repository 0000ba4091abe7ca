"""Restarts: another process over the same database is in the same state and goes on from there."""

import pytest

from studio.domain.round import Phase
from tests.support.floor import CASH_MINOR, PLAYERS, Floor

STEPS_MAX = 400


def same(one: Floor, other: Floor) -> None:
    """Fail unless both processes know, show and tell the same."""
    assert other.state() == one.state()
    assert other.live().view == one.live().view
    assert other.live().envelopes() == one.live().envelopes()


BETS = (("p1", 500), ("p4_pair", 100))


def play_on(floor: Floor, rounds: int, *, bets: tuple[tuple[str, int], ...] = BETS) -> Floor:
    """Play until so many rounds are over; each step is done by a process of its own."""
    for _ in range(STEPS_MAX):
        current = floor.state().round
        if floor.state().round_number >= rounds and not (current and current.running):
            return floor
        before = floor.state()
        floor.step()
        assert floor.state() != before, "the procedure got stuck"
        other = floor.restarted()
        same(floor, other)
        if other.live().envelopes()[-1]["kind"] == "RoundOpened":
            for player in PLAYERS:
                for bet, stake_minor in bets:
                    other.bet(bet, stake_minor, player=player)
        floor = other
    raise AssertionError("the rounds never ended")


def test_a_process_killed_after_any_commit_leaves_what_the_next_one_goes_on_from(both):
    floor = play_on(both, 4)
    assert floor.state().epoch == 2, "a deck of 52 holds three rounds: the fourth has a new shoe"
    assert floor.ledger_sum() == 0
    assert floor.faults() == []
    with floor.units.read() as unit:
        rounds = unit.rounds.recent("T1", limit=10, before_ms=None)
        assert [row.phase for row in rounds] == ["settled"] * 4
        for row in rounds:
            wagers = unit.wagers.of_round(row.id)
            assert len(wagers) == 6
            assert all(wager.ending is not None for wager in wagers)


def test_a_long_dead_process_comes_back_to_a_table_that_others_played_on(both):
    sleeper = both.restarted()
    sleeper.live()
    awake = play_on(both, 2)
    same(awake, sleeper)
    play_on(awake, 4)
    same(awake.restarted(), sleeper)


@pytest.mark.parametrize("late_ms", [0, 13_000, 3_600_000])
def test_a_restart_does_not_lengthen_the_window(both, late_ms):
    both.to_betting()
    both.bet("p1", 500)
    closes_ms = both.state().round.window_closes_ms
    both.clock.ms = closes_ms + late_ms
    again = both.restarted()
    with pytest.raises(Exception, match="No more bets"):
        again.bet("p1", 500)
    again.clockwork.turn()
    assert again.state().phase is Phase.NO_MORE_BETS
    assert again.state().round.window_closes_ms == closes_ms
    assert again.money() == (CASH_MINOR - 1000, 1000)


def test_a_process_that_dies_before_its_commit_leaves_nothing(both):
    both.to_betting()
    before, money = both.state(), both.money()

    class Killed(BaseException):
        pass

    def build(job):
        job.uow.rounds.update_phase(job.state.round.id, Phase.VOID, settlement_version=1)
        job.uow.wagers.refund(job.state.round.id, version=1)
        raise Killed

    with pytest.raises(Killed):
        both.tables.run("T1", build)
    again = both.restarted()
    assert (again.state(), again.money()) == (before, money)
    again.bet("p1", 500)
    assert again.faults() == []
