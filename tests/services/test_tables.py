"""What people are shown: snapshots, missed events, records of rounds, the pit's view."""

import pytest

from studio.domain.errors import MalformedError, RefusedError
from studio.domain.round import Phase
from studio.services import tables as tables_module
from studio.services.alarms import DEVICE_ALARMS
from studio.services.ports import Actor, Role
from tests.support.floor import HANDS, PIT, PLAYERS, Floor


@pytest.fixture
def played(both: Floor) -> Floor:
    """A floor after one settled round and one that is void."""
    both.to_betting()
    both.bet("p1", 500)
    both.show("3S", *HANDS)
    both.close()
    both.finish()
    both.command("start_round")
    both.show("3H")
    both.command("void_round", PIT, reason="misdeal")
    return both


# Snapshots and missed events --------------------------------------------------------------------


def test_a_snapshot_says_where_it_stands_and_what_may_be_bet(floor):
    floor.to_betting()
    shot = floor.tables.snapshot("T1")
    assert (shot["table"], shot["epoch"], shot["seq"]) == ("T1", 1, floor.state().seq)
    assert shot["now_ms"] == floor.clock.now_ms()
    assert shot["view"] == floor.live().view
    assert shot["currency"] == {"code": "JPY", "decimals": 0}
    assert shot["limits"] == {
        "player_max_minor": 10_000,
        "table_max_minor": 50_000,
        "window_ms": 15_000,
        "scan_tries_max": 3,
        "cut_depth_min": 14,
        "cut_depth_max": 30,
    }
    assert len(shot["bets"]) == 10
    assert shot["bets"][0] == {
        "code": "p1",
        "position": "P1",
        "exposure": "2",
        "bank_exposure": "2",
        "settles_on": "main",
        "min_minor": 100,
        "max_minor": 5_000,
    }
    assert (shot["name"], shot["game"], shot["road_kind"]) == (
        "Table T1",
        "pok_deng",
        "by_position",
    )
    assert len(shot["places"]) == 12
    assert shot["places"][0] == {"position": "P1", "card": 1}
    assert shot["places"][-1] == {"position": "B", "card": 2}


def test_a_client_gets_every_event_it_missed(both):
    both.to_play()
    missed_from = both.state().seq
    both.command("start_round")
    both.show("3S")
    for floor in (both, both.restarted()):
        answer = floor.tables.events_since("T1", epoch=1, seq=missed_from)
        assert [event["kind"] for event in answer["events"]] == ["RoundOpened", "CardDrawn"]
        assert [event["seq"] for event in answer["events"]] == [missed_from + 1, missed_from + 2]


def test_a_client_that_missed_nothing_gets_nothing(floor):
    floor.to_play()
    assert floor.tables.events_since("T1", epoch=1, seq=floor.state().seq) == {"events": []}


@pytest.mark.parametrize(
    ("epoch", "seq"),
    [(0, 1), (2, 1), (None, 3), (1, None), (None, None), (1, -1), (1, 1_000)],
    ids=["older epoch", "newer epoch", "no epoch", "no seq", "nothing", "negative", "ahead"],
)
def test_a_position_that_the_log_does_not_follow_on_gets_a_snapshot(floor, epoch, seq):
    floor.to_play()
    answer = floor.tables.events_since("T1", epoch=epoch, seq=seq)
    assert list(answer) == ["snapshot"]
    assert answer["snapshot"]["seq"] == floor.state().seq


@pytest.mark.parametrize(("behind", "kind"), [(4, "snapshot"), (3, "events"), (2, "events")])
def test_a_client_too_far_behind_gets_a_snapshot(floor, monkeypatch, behind, kind):
    floor.to_play()
    monkeypatch.setattr(tables_module, "EVENTS_ANSWER_MAX", 3)
    answer = floor.tables.events_since("T1", epoch=1, seq=floor.state().seq - behind)
    assert list(answer) == [kind]


def test_an_epoch_can_be_followed_from_its_beginning_from_any_view(both):
    both.command("take_seat")
    both.command("call_pit")
    old = dict(both.tables.snapshot("T1")["view"])
    both.command("load_shoe", deck_set=1)
    both.command("confirm_shuffle", cut_depth=20)
    both.show("2S")
    for floor in (both, both.restarted()):
        view = dict(old)
        for event in floor.tables.events_since("T1", epoch=1, seq=0)["events"]:
            view |= event["patch"]
        assert view == floor.live().view


def test_two_processes_tell_the_same(played):
    other = played.restarted()
    assert other.live().envelopes() == played.live().envelopes()
    assert played.tables.snapshot("T1") == other.tables.snapshot("T1")


@pytest.mark.parametrize("ask", ["snapshot", "live"])
def test_an_unknown_table_is_named(floor, ask):
    with pytest.raises(MalformedError) as fault:
        getattr(floor.tables, ask)("T9")
    assert fault.value.code == "unknown_table"


def test_the_list_shows_every_table_in_the_order_of_the_settings(floor):
    floor.to_betting()
    shown = floor.tables.list_tables()
    assert [(table["table"], table["view"]["phase"]) for table in shown] == [
        ("T1", "betting"),
        ("T2", "idle"),
    ]


# Records ----------------------------------------------------------------------------------------


def test_a_rounds_record_holds_its_own_events_and_no_others(played):
    first = played.tables.round_record("T1-1-1")
    kinds = [event["kind"] for event in first["events"]]
    assert kinds == [
        "RoundOpened",
        *["CardDrawn"] * 13,
        "BettingClosed",
        *["CardsRevealed"] * 7,
        "RoundSettled",
    ]
    assert first["round"]["id"] == "T1-1-1"
    assert first["round"]["payouts_minor"] is not None
    second = played.tables.round_record("T1-1-2")
    assert [event["kind"] for event in second["events"]] == [
        "RoundOpened",
        "CardDrawn",
        "RoundVoided",
    ]
    assert second["round"]["void"]["reason"] == "misdeal"


def test_what_happens_in_a_later_round_does_not_stand_in_an_earlier_ones_record(played):
    before = played.tables.round_record("T1-1-1")
    played.command("call_pit")
    played.command("start_round")
    played.command("stop")
    played.command("resume", PIT, reason="looked at")
    played.command("void_round", PIT, reason="misdeal")
    played.command("close_shoe", PIT, cards_left=played.state().shoe.in_shoe)
    assert played.tables.round_record("T1-1-1") == before
    third = [event["kind"] for event in played.tables.round_record("T1-1-3")["events"]]
    assert third[:3] == ["RoundOpened", "DealingStopped", "DealingResumed"]


def test_a_record_is_the_same_after_the_next_shoe_and_after_a_restart(played):
    before = played.tables.round_record("T1-1-1")
    played.command("close_shoe", PIT, cards_left=played.state().shoe.in_shoe)
    played.command("load_shoe", deck_set=2)
    assert played.state().epoch == 2
    assert played.tables.round_record("T1-1-1") == before
    assert played.restarted().tables.round_record("T1-1-1") == before


def test_a_running_rounds_record_holds_no_sealed_card(floor):
    floor.to_dealt()
    text = str(floor.tables.round_record("T1-1-1"))
    state = floor.state()
    assert not any(card.nonce in text for card in state.round.drawn)
    assert not any(f"'{card.card}'" in text for card in state.round.drawn)


def test_an_unknown_round_is_named(floor):
    with pytest.raises(MalformedError) as fault:
        floor.tables.round_record("T1-1-9")
    assert fault.value.code == "unknown_round"


# The pit ----------------------------------------------------------------------------------------


def test_the_pit_sees_every_tables_book_and_what_the_bank_can_lose(both):
    both.to_betting()
    both.bet("p1", 500)
    both.bet("p1_pair", 200, player=PLAYERS[1])
    seen = both.tables.pit(both.links)
    first, second = seen["tables"]
    assert (first["table"], first["wagers"], first["stake_minor"]) == ("T1", 2, 700)
    assert first["exposure_minor"] == 500 * 2 + 200 * 11
    assert (second["wagers"], second["exposure_minor"]) == (0, 0)
    assert first["links"]["scanner"]["state"] == "up"
    assert seen["now_ms"] == both.clock.now_ms()


def test_the_pit_sees_alarms_the_most_urgent_first(both):
    both.to_betting()
    both.wait(3_001)
    both.clockwork.turn()
    both.command("stop")
    codes = [alarm["code"] for alarm in both.tables.pit(both.links)["alarms"]]
    assert codes[0] == "dealing_stopped"
    assert set(codes[1:]) == {"scanner_lost", "video_lost"}


def test_an_alarm_can_not_be_taken_twice_and_an_unknown_one_not_at_all(both):
    both.command("take_seat")
    both.command("call_pit")
    (alarm,) = both.alarms()
    both.tables.acknowledge(PIT, alarm.id)
    other = Actor(id=21, name="Kato", role=Role.PIT_SUPERVISOR)
    with pytest.raises(RefusedError) as refusal:
        both.tables.acknowledge(other, alarm.id)
    assert refusal.value.code == "alarm_acknowledged"
    with pytest.raises(RefusedError) as refusal:
        both.tables.acknowledge(PIT, 999)
    assert refusal.value.code == "unknown_alarm"


# Alarms of devices ------------------------------------------------------------------------------


def raise_device_alarm(floor, code="camera_frozen", table="T1"):
    with floor.units.write() as unit:
        unit.alarms.raise_alarm(
            priority=2,
            code=code,
            table=table,
            round_id=None,
            at_ms=floor.clock.now_ms(),
            details={},
        )
        unit.commit()
    return next(row for row in floor.alarms() if (row.code, row.table) == (code, table))


@pytest.mark.parametrize("code", sorted(DEVICE_ALARMS))
def test_no_round_is_opened_over_an_alarm_of_a_device_that_nobody_has_looked_at(both, code):
    both.to_play()
    alarm = raise_device_alarm(both, code)
    with pytest.raises(RefusedError) as refusal:
        both.command("start_round")
    assert (refusal.value.code, refusal.value.details) == ("device_alarm_unseen", {"alarm": code})
    with pytest.raises(MalformedError) as error:
        both.tables.acknowledge(PIT, alarm.id, reason=" ")
    assert error.value.code == "reason_missing"
    with pytest.raises(RefusedError):
        both.command("start_round")
    both.tables.acknowledge(PIT, alarm.id, reason="the plug was loose")
    with both.units.read() as unit:
        (line, *_) = unit.trail.read(limit=1, before_id=None)
    assert line.reason == "the plug was loose"
    both.command("start_round")
    assert both.state().phase is Phase.BETTING


def test_another_table_s_device_and_a_trouble_that_is_over_stop_nobody(both):
    both.to_play()
    raise_device_alarm(both, table="T2")
    raise_device_alarm(both)
    with both.units.write() as unit:
        unit.alarms.clear(table="T1", codes={"camera_frozen"}, at_ms=both.clock.now_ms())
        unit.commit()
    both.command("start_round")
    assert both.state().phase is Phase.BETTING
