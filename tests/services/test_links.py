"""Watched links, the grace, the clockwork, and the alarms that follow from events."""

import pytest

from studio.domain.cards import CodeVersion, PrintedCode
from studio.domain.errors import InvariantError, RefusedError
from studio.domain.round import Phase
from studio.domain.table import Link
from studio.services.links import LinkWatch
from studio.services.reports import ReportService
from studio.services.tables import TableService
from tests.support.floor import CASH_MINOR, HANDS, PIT, PLAYER, Floor

LIMIT_MS = {Link.SCANNER: 3_000, Link.STATION: 5_000, Link.VIDEO: 3_000}
GRACE_MS = 5_000


def beat_all(floor: Floor, *but: Link) -> None:
    for link in set(Link) - set(but):
        floor.links.beat("T1", link)


def pass_time(floor: Floor, ms: int, *but: Link, step_ms: int = 500) -> None:
    """Let time pass with every link alive but these; the clockwork turns at every step."""
    for _ in range(ms // step_ms):
        floor.wait(step_ms)
        beat_all(floor, *but)
        floor.clockwork.turn()


def kinds(floor: Floor) -> list[str]:
    return [envelope["kind"] for envelope in floor.live().envelopes()]


@pytest.mark.parametrize("link", list(Link))
@pytest.mark.parametrize(("offset_ms", "lost"), [(-1, False), (0, False), (1, True)])
def test_a_link_is_lost_when_silent_for_longer_than_its_limit(floor, link, offset_ms, lost):
    floor.wait(LIMIT_MS[link] + offset_ms)
    beat_all(floor, link)
    floor.clockwork.turn()
    assert floor.state().links_lost == (frozenset({link}) if lost else frozenset())
    assert floor.links.health("T1")[link]["state"] == ("lost" if lost else "up")


def test_a_link_that_is_back_is_written_to_the_log_and_its_alarm_is_over(floor):
    pass_time(floor, 4_000, Link.VIDEO)
    assert floor.alarm_codes() == ["video_lost"]
    assert floor.live().view["links"]["video"] == "lost"
    pass_time(floor, 500)
    assert floor.live().view["links"]["video"] == "up"
    assert floor.alarm_codes() == []


def test_a_round_that_has_not_started_is_cancelled_after_the_grace_and_refunded(both):
    both.to_betting()
    both.bet("p1", 500)
    pass_time(both, 3_500, Link.VIDEO)
    assert both.state().links_lost == {"video"}
    assert both.live().view["round"]["cancels_ms"] == both.clock.now_ms() + GRACE_MS
    pass_time(both, GRACE_MS - 500, Link.VIDEO)
    assert both.state().phase is Phase.BETTING, "the grace is not over"
    pass_time(both, 500, Link.VIDEO)
    assert both.state().phase is Phase.VOID
    assert both.live().view["round"]["void"] == {"reason": "link_lost_before_start", "by": "studio"}
    assert both.money() == (CASH_MINOR, 0)
    assert both.live().view["round"]["cancels_ms"] is None
    assert both.publisher.wallets[-1][1]["reason"] == "void"


def test_a_link_that_comes_back_within_the_grace_cancels_nothing(floor):
    floor.to_betting()
    pass_time(floor, 7_500, Link.VIDEO)
    pass_time(floor, 1_000)
    pass_time(floor, 4_000, Link.VIDEO)
    assert floor.state().phase is not Phase.VOID
    assert kinds(floor).count("LinkLost") == 2


def test_a_started_round_runs_to_its_end_and_its_wagers_stand(both):
    both.to_betting()
    both.bet("p1_pair", 500)
    both.show("3S")
    pass_time(both, 12_000, Link.VIDEO)
    assert both.state().phase is Phase.BETTING
    both.show(*HANDS)
    both.close()
    both.finish()
    view = both.live().view["round"]
    assert view["interrupted"]
    assert both.state().phase is Phase.SETTLED
    assert both.money() == (CASH_MINOR - 500, 0)
    reports = ReportService(units=both.units, tables=both.tables.tables, names=dict)
    (shown,) = reports.history(PLAYER.id, before=None, limit=5)["rounds"]
    assert shown["interrupted"]


def test_no_round_opens_on_a_lost_link(floor):
    floor.to_play()
    pass_time(floor, 4_000, Link.SCANNER)
    assert floor.live().view["instruction"] == {"code": "link_lost", "link": "scanner"}


def test_a_restart_is_not_an_outage(floor):
    floor.to_betting()
    floor.wait(60_000)
    again = floor.restarted()
    again.clockwork.turn()
    assert again.state().links_lost == frozenset()
    assert again.state().phase is Phase.NO_MORE_BETS


def test_a_link_lost_before_a_restart_is_restored_by_its_first_sign_of_life(floor):
    pass_time(floor, 4_000, Link.VIDEO)
    again = floor.restarted()
    assert again.state().links_lost == {"video"}
    beat_all(again)
    again.clockwork.turn()
    assert again.state().links_lost == frozenset()


# The clockwork ----------------------------------------------------------------------------------


def test_a_turn_closes_windows_and_settles_at_every_table(floor):
    floor.to_dealt()
    floor.wait(15_000)
    for table in ("T1", "T2"):
        for link in Link:
            floor.links.beat(table, link)
    floor.clockwork.turn()
    assert floor.state().phase is Phase.REVEAL


def test_a_broken_table_stops_neither_the_clockwork_nor_the_other_tables(floor, monkeypatch):
    floor.to_dealt()
    floor.wait(60_000)  # every link of T2 is lost by now
    original = LinkWatch.check

    def check(links: LinkWatch, table: str) -> None:
        if table == "T1":
            raise InvariantError("broken", "Broken.")
        original(links, table)

    monkeypatch.setattr(LinkWatch, "check", check)
    floor.clockwork.turn()
    assert len(floor.state("T2").links_lost) == 3


def test_a_refused_job_stops_neither_the_clockwork_nor_the_other_tables(floor, monkeypatch):
    floor.to_dealt()
    floor.wait(60_000)
    original = TableService.tick

    def tick(tables: TableService, table: str) -> None:
        if table == "T1":
            raise RefusedError("studio_busy", "Busy.")
        original(tables, table)

    monkeypatch.setattr(TableService, "tick", tick)
    floor.clockwork.turn()
    assert len(floor.state("T2").links_lost) == 3
    monkeypatch.undo()
    floor.clockwork.turn()
    assert floor.state().phase is Phase.REVEAL, "the next turn does what this one missed"


@pytest.mark.parametrize("column", ["prev_hash", "hash"])
def test_a_chain_that_was_broken_by_hand_is_noticed_at_the_next_start(both, column):
    both.to_betting()
    with both.engine.begin() as connection:
        connection.exec_driver_sql(
            f"UPDATE event SET {column} = 'f00d' WHERE table_code = 'T1' AND epoch = 1 AND seq = 3"
        )
    again = both.restarted()
    with pytest.raises(InvariantError) as broken:
        again.live()
    assert broken.value.code == "log_chain_broken"
    assert [row.details for row in again.alarms()] == [{"reason": "log_chain_broken"}]


def test_a_log_that_was_tampered_with_calls_the_pit_and_stops_only_its_table(both):
    both.to_betting()
    both.command("take_seat", table="T2")
    with both.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM sealed_card WHERE seq = 4")
        connection.exec_driver_sql("DELETE FROM event WHERE table_code = 'T1' AND seq = 4")
    again = both.restarted()
    again.clockwork.turn()
    again.clockwork.turn()
    (alarm,) = again.alarms()
    assert (alarm.code, alarm.table, alarm.details) == ("table_locked", "T1", {"reason": "log_gap"})
    shown = {table["table"]: table["view"] for table in again.tables.list_tables()}
    assert shown["T1"]["locked"] == {"reason": "log_gap"}
    assert shown["T2"]["dealer"]["name"] == "Sato"
    assert again.tables.pit(again.links)["tables"][0]["view"]["stage"] == "locked"
    with pytest.raises(InvariantError):
        again.command("call_pit")
    assert again.command("call_pit", table="T2")["seq"] == 2


# Alarms -----------------------------------------------------------------------------------------


def fails(floor: Floor, times: int, reason: str = "unreadable") -> None:
    for _ in range(times):
        floor.report(kind="read_failed", code=None, reason=reason)


def unregistered() -> dict[str, str]:
    """Return the report of a card of this deck set whose serial nobody registered."""
    code = PrintedCode(version=CodeVersion.CARD, number=9, deck_set=1, serial=999)
    return {"kind": "card_seen", "code": code.digits, "reason": "unknown_serial"}


ALARMS = [
    (lambda f: f.command("call_pit"), ["pit_called"], "resume"),
    (lambda f: f.command("stop"), ["dealing_stopped"], "resume"),
    (lambda f: fails(f, 3), ["card_not_read"], "resume"),
    (lambda f: fails(f, 3, "two_cards"), ["two_cards"], "resume"),
    (lambda f: f.show_serial(5, deck_set=9), ["other_deck_set"], "release_held"),
    (lambda f: f.report(**unregistered()), ["unknown_serial"], "release_held"),
    (lambda f: f.show("9S", "9H", "9S"), ["doubled_card"], "release_held"),
    (lambda f: f.show("3S", *HANDS, "9S"), ["unneeded_card"], "release_held"),
    (lambda f: f.command("lock", PIT, reason="x"), ["table_locked"], "unlock"),
]


@pytest.mark.parametrize(
    ("cause", "codes", "cure"), ALARMS, ids=[codes[0] for _, codes, _ in ALARMS]
)
def test_an_alarm_lasts_as_long_as_its_cause(both, cause, codes, cure):
    both.to_betting()
    cause(both)
    assert both.alarm_codes() == codes
    assert all(row.priority == 1 and row.round_id == "T1-1-1" for row in both.alarms())
    both.command(cure, PIT, reason="seen to")
    assert both.alarm_codes() == []
    if codes != ["unneeded_card"]:
        cause(both) if codes != ["doubled_card"] else both.show("9S")
        assert both.alarm_codes() == codes, "the next one is told, too"


def test_a_card_that_reads_at_last_ends_its_alarm(floor):
    floor.to_betting()
    fails(floor, 3)
    assert floor.alarm_codes() == ["card_not_read"]
    (alarm,) = floor.alarms()
    assert alarm.details == {"reason": "unreadable", "tries": 3}
    floor.show("9S")
    assert floor.alarm_codes() == []
    fails(floor, 3)
    assert floor.alarm_codes() == ["card_not_read"], "the next card calls again"


def test_an_alarm_of_two_cards_stands_until_a_card_reads_whatever_fails_next(floor):
    floor.to_betting()
    fails(floor, 3, "two_cards")
    fails(floor, 1)
    assert floor.alarm_codes() == ["two_cards"]
    floor.show("9S")
    assert floor.alarm_codes() == []


@pytest.mark.parametrize("call", ["call_pit", "stop"])
def test_a_void_ends_what_stopped_the_round(floor, call):
    floor.to_betting()
    floor.command(call)
    floor.command("void_round", PIT, reason="misdeal")
    assert floor.alarm_codes() == []


def test_a_shoe_that_does_not_count_out_raises_the_alarm_until_unlocked(floor):
    floor.to_play()
    floor.command("close_shoe", PIT, cards_left=48)
    assert floor.alarm_codes() == ["shoe_count", "table_locked"]
    (alarm,) = (row for row in floor.alarms() if row.code == "shoe_count")
    assert alarm.details == {"expected": 49, "cards_left": 48}
    floor.command("unlock", PIT, reason="card found")
    assert floor.alarm_codes() == []


def test_a_failed_verification_raises_the_alarm_until_unlocked(floor):
    floor.command("take_seat")
    floor.command("load_shoe", deck_set=1)
    floor.command("start_verification")
    floor.show("AS", "2S")
    floor.command("end_verification")
    assert floor.alarm_codes() == ["table_locked", "verification_failed"]
    (alarm,) = (row for row in floor.alarms() if row.code == "verification_failed")
    assert alarm.details == {"missing": 50, "foreign": 0, "doubled": 0}
    floor.command("unlock", PIT, reason="looked at")
    assert floor.alarm_codes() == []


def test_a_call_made_in_one_round_is_told_again_in_the_next(floor):
    floor.to_betting()
    floor.command("call_pit")
    floor.close()
    floor.command("void_round", PIT, reason="misdeal")
    for link in Link:
        floor.links.beat("T1", link)
    floor.command("start_round")
    floor.command("call_pit")
    (alarm,) = floor.alarms()
    assert alarm.round_id == "T1-1-2"


def test_an_alarm_is_taken_once_and_leaves_a_line_in_the_trail(both):
    both.command("take_seat")
    both.command("call_pit")
    (alarm,) = both.alarms()
    taken = both.tables.acknowledge(PIT, alarm.id)
    assert taken["acknowledged_by"] == "Mori"
    with both.units.read() as unit:
        (line,) = unit.trail.read(limit=5, before_id=None)
    assert (line.action, line.subject) == ("acknowledge_alarm", "T1 pit_called")
    assert both.publisher.hints[-1] == {"kind": "alarm", "table": "T1"}


def test_a_sign_of_life_that_says_nothing_more_leaves_the_details(floor):
    floor.links.beat("T1", Link.SCANNER, {"queued": 3, "fps": 30.0})
    floor.wait(500)
    floor.links.beat("T1", Link.SCANNER)
    scanner = floor.links.health("T1")[Link.SCANNER]
    assert (scanner["queued"], scanner["fps"], scanner["age_ms"]) == (3, 30.0, 0)
    floor.links.beat("T1", Link.SCANNER, {"queued": 0})
    assert floor.links.health("T1")[Link.SCANNER] == {"state": "up", "age_ms": 0, "queued": 0}
