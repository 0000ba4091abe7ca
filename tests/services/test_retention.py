"""What has been kept long enough goes, a little at a time; what was played and paid stays."""

import json

import pytest
from click.testing import CliRunner
from sqlalchemy import func, insert, select

import app as entrance
from studio.services import retention
from studio.services.retention import RetentionService
from studio.services.retention_ports import DAY_MS, Kept
from studio.settings_retention import RetentionSettings
from studio.store.people_tables import login_failure, login_session
from studio.store.picture_tables import scan_picture
from studio.store.tables import alarm, command_answer, entry, event, scan_report, trail, wager
from tests.support.floor import DEALER, PIT

DAYS = RetentionSettings().days
TABLES = {
    Kept.COMMAND_ANSWERS: (command_answer,),
    Kept.SCAN_REPORTS: (scan_report,),
    Kept.PICTURES: (scan_picture,),
    Kept.ALARMS: (alarm,),
    Kept.LOGINS: (login_failure, login_session),
}
FOR_GOOD = (event, wager, entry, trail)


def count(floor, *tables) -> int:
    with floor.engine.connect() as connection:
        return sum(connection.scalar(select(func.count()).select_from(table)) for table in tables)


def fill(floor) -> None:
    """Leave some of everything: a voided round with a held card, a failed login, a session."""
    floor.to_dealt()
    floor.bet("p1", 500)
    floor.show("2H")  # nobody asked for it: it is held, and its picture wanted
    floor.command("release_held", PIT, reason="set aside")
    floor.command("void_round", PIT, reason="a slip")
    at_ms = floor.clock.now_ms()
    with floor.engine.begin() as connection:
        connection.execute(
            insert(login_failure), {"name_hash": "n" * 64, "address": "::1", "at_ms": at_ms}
        )
        session = {"token_hash": "t" * 64, "person_id": DEALER.id, "created_ms": at_ms}
        connection.execute(
            insert(login_session), {**session, "last_seen_ms": at_ms, "expires_ms": at_ms}
        )


def service(floor, **days: int) -> RetentionService:
    return RetentionService(
        units=floor.units, days={**DAYS, **{Kept(kind): span for kind, span in days.items()}}
    )


def test_nothing_goes_before_its_time(both):
    fill(both)
    before = {kind: count(both, *tables) for kind, tables in TABLES.items()}
    assert all(before.values()), before
    for kind, days in DAYS.items():
        both.clock.ms += days * DAY_MS
        assert RetentionService(units=both.units, days=DAYS)._forget(kind) == 0
        both.clock.ms -= days * DAY_MS
    assert {kind: count(both, *tables) for kind, tables in TABLES.items()} == before


def test_everything_goes_in_its_time_but_what_was_played_and_paid(both):
    fill(both)
    for_good = [count(both, table) for table in FOR_GOOD]
    assert all(for_good)
    both.clock.ms += (max(DAYS.values()) + 1) * DAY_MS
    gone = service(both).run()
    assert set(gone) == {kind.value for kind in Kept}
    assert all(gone.values()), gone
    assert sum(count(both, *tables) for tables in TABLES.values()) == 0
    assert [count(both, table) for table in FOR_GOOD] == for_good
    assert both.faults() == []
    assert both.ledger_sum() == 0


def test_a_report_stays_as_long_as_its_picture(both):
    fill(both)
    both.clock.ms += 100 * DAY_MS
    service(both, pictures=1_000).run()
    assert count(both, scan_picture) == count(both, scan_report) == 1
    assert both.faults() == []


def test_an_alarm_that_still_stands_is_never_forgotten(both):
    both.to_play()
    both.command("call_pit")
    both.clock.ms += 100_000 * DAY_MS
    assert service(both).run()["alarms"] == 0
    assert both.alarm_codes() == ["pit_called"]


def test_much_goes_in_many_small_transactions(both, monkeypatch):
    both.to_play()
    answers = count(both, command_answer)
    assert answers > 2
    monkeypatch.setattr(retention, "ROWS_AT_A_TIME", 1)
    monkeypatch.setattr(retention, "TURNS_MAX", 2)
    both.clock.ms += 31 * DAY_MS
    assert service(both).run()["command_answers"] == 2
    assert count(both, command_answer) == answers - 2


def test_the_command_says_what_went(sqlite_engine):
    command = ["prune", "--database-url", f"sqlite:///{sqlite_engine.url.database}"]
    told = CliRunner().invoke(entrance.main, [*command, "--json"])
    assert told.exit_code == 0, told.output
    assert json.loads(told.output) == dict.fromkeys((kind.value for kind in Kept), 0)
    shown = CliRunner().invoke(entrance.main, command)
    assert len(shown.output.splitlines()) == len(Kept)
    assert "older than 1825 days" in shown.output


@pytest.mark.parametrize("kind", list(Kept))
def test_every_kind_has_its_days_in_the_settings(kind):
    assert DAYS[kind] >= 1
