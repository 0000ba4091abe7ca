"""One process supervises a table: it alone closes and settles, until its lease ends."""

import pytest

from studio.domain.decide import results_due
from studio.domain.round import Phase
from studio.services.leases import LEASE_MS

T = "T1"


def take(floor, holder, fence, now_ms):
    with floor.units.write() as unit:
        given = unit.leases.take(
            T, holder=holder, fence=fence, now_ms=now_ms, until_ms=now_ms + LEASE_MS
        )
        unit.commit()
    return given


def test_a_lease_is_kept_by_whoever_has_it_and_by_nobody_else(both):
    assert take(both, "a", None, 1_000) == 1
    assert take(both, "a", 1, 2_000) == 1
    assert take(both, "b", None, 2_000 + LEASE_MS - 1) is None
    assert take(both, "b", 1, 2_000 + LEASE_MS - 1) is None


def test_a_lease_that_has_ended_goes_to_the_next_under_a_new_number(both):
    assert take(both, "a", None, 1_000) == 1
    assert take(both, "b", None, 1_000 + LEASE_MS) == 2
    assert take(both, "a", 1, 1_001 + LEASE_MS) is None
    assert take(both, "b", 2, 1_001 + LEASE_MS) == 2


def test_a_process_that_starts_again_takes_its_own_lease_over_at_once(both):
    assert take(both, "a", None, 1_000) == 1
    assert take(both, "a", None, 1_001) == 2
    # What is left of the process before is shut out, also by its own name.
    assert take(both, "a", 1, 1_002) is None


def test_a_lease_that_is_not_committed_was_never_given(both):
    with both.units.write() as unit:
        assert unit.leases.take(T, holder="a", fence=None, now_ms=1, until_ms=9_000) == 1
    assert take(both, "b", None, 2) == 1


def to_the_deadline(floor):
    floor.to_dealt()
    floor.clock.ms = floor.state().round.window_closes_ms


@pytest.fixture
def rival(both):
    """Another process over the same database, under another name."""
    return both.restarted(holder="rival")


def test_while_one_process_supervises_no_other_closes(both, rival):
    to_the_deadline(both)
    take(both, "studio", None, both.clock.ms)
    rival.tables.tick(T)
    assert both.state().phase is Phase.BETTING
    both.tables.tick(T)
    assert both.state().phase is Phase.REVEAL


def test_after_the_lease_the_rival_closes_and_the_paused_process_writes_nothing(both, rival):
    to_the_deadline(both)
    take(both, "studio", None, both.clock.ms)
    both.clock.advance(LEASE_MS)
    rival.tables.tick(T)
    state = both.state()
    assert state.phase is Phase.REVEAL
    for _ in range(6):
        both.command("reveal")
    assert results_due(both.live().game, both.state())
    both.tables.tick(T)
    assert both.state().phase is Phase.REVEAL
    rival.tables.tick(T)
    assert both.state().phase is Phase.SETTLED
    assert both.ledger_sum() == 0
    assert both.faults() == []


def test_a_process_that_was_paused_in_the_middle_of_its_work_writes_nothing(both, monkeypatch):
    to_the_deadline(both)
    count = both.tables._close

    def paused(job):
        command = count(job)
        both.clock.advance(LEASE_MS)
        return command

    monkeypatch.setattr(both.tables, "_close", paused)
    before = both.state()
    both.tables.tick(T)
    assert both.state() == before
    monkeypatch.undo()
    both.tables.tick(T)
    assert both.state().phase is Phase.REVEAL
