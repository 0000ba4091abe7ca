"""The clock's work and the money of a round: close, settle, void; and what breaks."""

import threading
import uuid

import pytest

from studio.domain.commands import CallPit
from studio.domain.errors import InvariantError, RefusedError
from studio.domain.game import Json
from studio.domain.round import Phase
from studio.services.jobs import Job
from studio.services.ports import WagerRequest
from studio.services.proposing import void
from studio.services.retry import TryAgainError
from studio.store.wagers import SqlWagers
from tests.support.floor import CASH_MINOR, HANDS, PIT, PLAYERS, Floor

FIRST, SECOND, THIRD = PLAYERS


def settled_events(floor: Floor) -> list[Json]:
    return [e["body"] for e in floor.live().envelopes() if e["kind"] == "RoundSettled"]


# The window -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("offset_ms", "phase"), [(-1, Phase.BETTING), (0, Phase.REVEAL), (1, Phase.REVEAL)]
)
def test_the_window_closes_exactly_at_its_deadline(both, offset_ms, phase):
    both.to_dealt()
    both.clock.ms = both.state().round.window_closes_ms + offset_ms
    both.tables.tick("T1")
    assert both.state().phase is phase


@pytest.mark.parametrize("offset_ms", [0, 1, 13_000])
def test_no_wager_is_taken_at_or_after_the_deadline_though_the_close_is_late(both, offset_ms):
    both.to_betting()
    both.bet()
    both.clock.ms = both.state().round.window_closes_ms + offset_ms
    with pytest.raises(RefusedError) as refusal:
        both.bet()
    assert refusal.value.code == "betting_window_closed"
    both.tables.tick("T1")
    (book,) = (e["body"] for e in both.live().envelopes() if e["kind"] == "BettingClosed")
    assert (book["count"], book["turnover_minor"], book["held_minor"]) == (1, 500, 1000)


def test_a_wager_just_before_the_deadline_is_in_the_closing_events_book(both):
    both.to_betting()
    both.clock.ms = both.state().round.window_closes_ms - 1
    both.bet("p1", 500)
    both.bet("p1_pair", 200, player=SECOND)
    both.close()
    assert both.live().view["round"]["wagers"] | {"digest": ""} == {
        "count": 2,
        "turnover_minor": 700,
        "held_minor": 1_200,
        "digest": "",
    }


def test_a_card_that_comes_after_the_deadline_closes_the_window_on_its_way(both):
    both.to_betting()
    both.wait(15_000)
    both.show("3S")
    kinds = [envelope["kind"] for envelope in both.live().envelopes()]
    assert kinds[-2:] == ["CardDrawn", "BettingClosed"]


def test_ticking_again_and_again_does_nothing_more(both):
    both.to_dealt()
    both.close()
    seq = both.state().seq
    for _ in range(3):
        both.tables.tick("T1")
    assert both.state().seq == seq


def test_the_close_waits_for_a_wager_in_flight_and_counts_it(both):
    both.to_betting()
    current = both.state().round
    bet = both.setups["T1"].bets(both.live().game)["p1"]
    request = WagerRequest(
        id=str(uuid.uuid4()),
        player_id=PLAYERS[0].id,
        round_id=current.id,
        bet="p1",
        stake_minor=500,
        hold_minor=1000,
        limits=both.setups["T1"].wager_limits(bet),
    )
    closing = threading.Thread(target=both.restarted().tables.tick, args=("T1",))
    with both.units.write() as unit:
        unit.wagers.place(request)
        # The deadline passes between the database's decision and its commit.
        both.clock.ms = current.window_closes_ms
        closing.start()
        closing.join(timeout=0.3)
        assert closing.is_alive(), "the close did not wait"
        unit.commit()
    closing.join()
    (book,) = (e["body"] for e in both.live().envelopes() if e["kind"] == "BettingClosed")
    assert (book["count"], book["turnover_minor"]) == (1, 500)
    assert both.faults() == []


# Settlement -------------------------------------------------------------------------------------


def test_the_payout_is_shown_stored_and_paid_from_one_record(both):
    both.to_betting()
    both.bet("p1", 500)  # 4H 7S against the banker's 8C AC: loses 2:1, the banker has a flush
    both.bet("p5_pair", 100, player=SECOND)  # 5S 5D: wins 11:1
    both.bet("p5", 300, player=THIRD)
    both.show("3S", *HANDS)
    both.close()
    both.finish()
    (settled,) = settled_events(both)
    assert settled["count"] == 3
    assert settled["turnover_minor"] == 900
    assert both.live().view["round"]["payouts_minor"] == settled["payouts_minor"]
    nets = {result["bet"]: int(result["net"]) for result in settled["results"]}
    assert (nets["p1"], nets["p5_pair"]) == (-2, 11)
    paid = 0
    for player, bet, stake, hold in (
        (FIRST, "p1", 500, 1000),
        (SECOND, "p5_pair", 100, 100),
        (THIRD, "p5", 300, 600),
    ):
        back = hold + stake * nets[bet]
        paid += back
        assert both.money(player) == (CASH_MINOR - hold + back, 0)
        assert (player.id, "settled") in [
            (id, message["reason"]) for id, message in both.publisher.wallets
        ]
    assert settled["payouts_minor"] == paid
    assert both.ledger_sum() == 0


def test_two_processes_that_settle_at_once_settle_once(both):
    both.to_betting()
    both.bet("p1_pair", 500)
    both.show("3S", *HANDS)
    both.close()
    both.wait(1)
    # All hands but the last: the reveal that makes the results due does not settle by itself.
    floors = [both, both.restarted(), both.restarted(), both.restarted()]
    while both.live().view["instruction"] != {"code": "reveal", "position": "B"}:
        both.command("reveal")
    original = both.tables.tick
    both.tables.tick = lambda table: None
    both.command("reveal")
    both.tables.tick = original
    together = threading.Barrier(len(floors))
    faults: list[BaseException] = []

    def settle(floor: Floor) -> None:
        together.wait()
        try:
            floor.tables.tick("T1")
        except BaseException as fault:  # noqa: BLE001 - any fault in a thread fails the test
            faults.append(fault)

    threads = [threading.Thread(target=settle, args=(floor,)) for floor in floors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert len(settled_events(both)) == 1
    assert both.state().phase is Phase.SETTLED
    assert both.money() == (CASH_MINOR - 500, 0)
    assert both.ledger_sum() == 0


def test_a_round_without_wagers_settles(both):
    both.to_dealt()
    both.close()
    both.finish()
    (settled,) = settled_events(both)
    assert (settled["count"], settled["turnover_minor"], settled["payouts_minor"]) == (0, 0, 0)


# Void -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", [Phase.BETTING, Phase.NO_MORE_BETS, Phase.REVEAL])
def test_a_void_gives_every_player_back_the_balance_from_before(both, phase):
    both.to_betting()
    for player in PLAYERS:
        both.bet("p1", 500, player=player)
        both.bet("p2_pair", 300, player=player)
    assert both.money(FIRST) == (CASH_MINOR - 1300, 1300)
    if phase is not Phase.BETTING:
        both.close()
    if phase is Phase.REVEAL:
        both.show("3S", *HANDS)
        both.command("reveal")
    assert both.state().phase is phase
    both.command("void_round", PIT, reason="misdeal")
    voided = both.live().view["round"]
    assert voided["void"] == {"reason": "misdeal", "by": "Mori"}
    assert voided["payouts_minor"] == 3900
    for player in PLAYERS:
        assert both.money(player) == (CASH_MINOR, 0)
    assert {m["reason"] for _, m in both.publisher.wallets} == {"placed", "void"}
    assert both.ledger_sum() == 0


def test_a_settled_round_is_not_voided(both):
    both.to_dealt()
    both.close()
    both.finish()
    with pytest.raises(RefusedError) as refusal:
        both.command("void_round", PIT, reason="too late")
    assert refusal.value.code == "no_round_running"


def test_a_wager_after_a_void_is_refused(both):
    both.to_betting()
    both.command("void_round", PIT, reason="misdeal")
    with pytest.raises(RefusedError) as refusal:
        both.bet()
    assert refusal.value.code == "betting_window_closed"
    assert both.money() == (CASH_MINOR, 0)


@pytest.mark.parametrize(
    ("started", "code"), [(True, "round_started"), (False, None)], ids=["started", "unstarted"]
)
def test_the_studio_itself_cancels_only_a_round_that_has_not_started(floor, started, code):
    floor.to_betting()
    if started:
        floor.show("3S")
    build = void(round_id=None, reason="link", by="studio", unstarted=True)
    if code is None:
        floor.tables.run("T1", build)
        assert floor.state().phase is Phase.VOID
        return
    with pytest.raises(RefusedError) as refusal:
        floor.tables.run("T1", build)
    assert refusal.value.code == code
    assert floor.state().phase is Phase.BETTING


def test_a_job_that_came_too_late_is_refused_and_changes_nothing(floor):
    floor.to_play()
    for build, code in (
        (floor.tables._close, "betting_not_open"),
        (floor.tables._settle, "results_not_due"),
    ):
        before = floor.state()
        with pytest.raises(RefusedError) as refusal:
            floor.tables.run("T1", build)
        assert refusal.value.code == code
        assert floor.state() == before


# What breaks ------------------------------------------------------------------------------------


def break_settlement(monkeypatch, fault: Exception) -> None:
    def settle(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(SqlWagers, "settle", settle)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (InvariantError("wager_ended_twice", "A wager has two endings."), "wager_ended_twice"),
        (AssertionError(), "assertion_failed"),
    ],
    ids=["invariant", "assert"],
)
def test_a_broken_invariant_freezes_the_table_and_calls_the_pit(both, monkeypatch, fault, code):
    both.to_betting()
    both.bet("p1", 500)
    both.show("3S", *HANDS)
    both.close()
    break_settlement(monkeypatch, fault)
    with pytest.raises(InvariantError) as broken:
        both.finish()
    assert broken.value.code == code
    state = both.state()
    assert state.locked == code
    assert state.phase is Phase.REVEAL
    assert both.money() == (CASH_MINOR - 1000, 1000), "the hold stays where it is"
    (alarm,) = both.alarms()
    assert (alarm.code, alarm.priority, alarm.details) == ("table_locked", 1, {"reason": code})
    assert both.publisher.events[-1]["kind"] == "TableLocked"
    monkeypatch.undo()
    both.command("unlock", PIT, reason="repaired")
    assert both.state().phase is Phase.SETTLED, "unlocked, the table goes on by itself"
    assert both.alarms() == []


def test_one_tables_trouble_stays_there(both, monkeypatch):
    both.to_dealt()
    both.close()
    both.command("take_seat", table="T2")
    break_settlement(monkeypatch, InvariantError("broken", "Broken."))
    with pytest.raises(InvariantError):
        both.finish()
    assert both.command("load_shoe", table="T2", deck_set=2) == {
        "epoch": 1,
        "seq": 1,
        "waits": False,
    }


def test_nothing_of_a_failed_command_stays_in_the_process(both, monkeypatch):
    both.to_betting()
    before = both.live()

    def store(*_: object, **__: object) -> None:
        raise InvariantError("disk_full", "No space.")

    monkeypatch.setattr("studio.store.pit.SqlCommands.store", store)
    with pytest.raises(InvariantError):
        both.command("call_pit")
    monkeypatch.undo()
    after = both.live()
    assert [e["kind"] for e in after.envelopes(after_seq=before.state.seq)] == ["TableLocked"]
    assert after.state == both.restarted().state()
    assert not after.state.pit_called


def test_a_lost_race_is_run_again(both):
    tries = []

    def build(job: Job) -> CallPit:
        tries.append(job)
        if len(tries) < 3:
            raise TryAgainError("deadlock")
        return CallPit(by="Sato")

    both.tables.run("T1", build)
    assert len(tries) == 3
    assert both.state().seq == 1


def test_the_pit_is_told_of_every_change_and_of_nothing_else(floor):
    floor.command("take_seat")
    assert floor.publisher.hints == [{"kind": "table", "table": "T1"}]
    floor.command("take_seat")
    assert len(floor.publisher.hints) == 1


def test_a_message_lost_after_the_commit_is_fetched_by_asking(both):
    both.to_play()
    seq = both.state().seq

    def lost(envelope: Json) -> None:
        raise ConnectionError("the queue is away")

    both.publisher.event = lost
    with pytest.raises(ConnectionError):
        both.command("start_round")
    other = both.restarted()
    answer = other.tables.events_since("T1", epoch=1, seq=seq)
    assert [event["kind"] for event in answer["events"]] == ["RoundOpened"]
