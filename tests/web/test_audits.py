"""The audit on a schedule: when it runs, what it leaves behind, and what when it can't run."""

import os

import pytest
from click.testing import CliRunner

import app as entrance
from studio.joining import ROOT
from studio.services.audit_alarm import tell_pit
from studio.services.inspection import Fault
from studio.store.engine import make_engine
from studio.store.schema import upgrade
from studio.web.audits import AGAIN_AFTER_S, FIRST_AFTER_S, HOUR_S, Audits, audit_process
from tests.support.floor import Floor

TABLES = ("T1", "T2")


class EnoughError(Exception):
    """The test has seen enough of what goes on for ever."""


def test_it_waits_audits_tells_the_pit_and_waits_again():
    slept, told = [], []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            raise EnoughError

    audits = Audits(run=lambda: 1, every_hours=24, sleep=sleep, tell=lambda: told.append(1))
    with pytest.raises(EnoughError):
        audits.forever()
    assert slept == [FIRST_AFTER_S, 24 * HOUR_S, 24 * HOUR_S]
    assert len(told) == 2


@pytest.mark.parametrize("status", [2, -9])
def test_an_audit_that_could_not_run_is_tried_again_soon(status):
    told = []
    audits = Audits(run=lambda: status, every_hours=24, sleep=id, tell=lambda: told.append(1))
    assert audits.once() == AGAIN_AFTER_S
    assert told == []


def test_a_missing_program_does_not_end_the_schedule():
    def run() -> int:
        raise FileNotFoundError("no python")

    audits = Audits(run=run, every_hours=24, sleep=id, tell=lambda: None)
    assert audits.once() == AGAIN_AFTER_S


def fault(where: str, code: str = "event_changed") -> Fault:
    return Fault(code=code, where=where, what="It differs.")


def alarms(floor: Floor) -> dict[str, dict[str, object]]:
    return {row.table: dict(row.details) for row in floor.alarms() if row.code == "audit_fault"}


def test_each_table_hears_of_its_own_faults_and_the_first_of_those_without_a_table(both_floors):
    floor = both_floors
    faults = [fault("T2 3/12"), fault("round T2-3-4", "book_differs"), fault("ledger", "sum")]
    tell_pit(floor.units, faults, tables=TABLES)
    assert alarms(floor) == {
        "T1": {"count": 1, "first": "sum"},
        "T2": {"count": 2, "first": "event_changed"},
    }
    tell_pit(floor.units, [fault("T1 1/1")], tables=TABLES)
    assert alarms(floor) == {"T1": {"count": 1, "first": "event_changed"}}
    tell_pit(floor.units, [], tables=TABLES)
    assert alarms(floor) == {}


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def both_floors(request: pytest.FixtureRequest) -> Floor:
    made = Floor(engine=request.getfixturevalue(f"{request.param}_engine"))
    made.furnish()
    return made


@pytest.fixture
def played(sqlite_url):
    engine = make_engine(sqlite_url)
    upgrade(engine)
    floor = Floor(engine=engine)
    floor.furnish()
    for _ in range(60):
        floor.step()
    yield floor
    engine.dispose()


def tamper(floor: Floor, by: int) -> None:
    with floor.engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE event SET at_ms = at_ms + {by} WHERE seq = 3")


def test_the_process_raises_the_alarm_while_play_goes_on_and_clears_it_when_all_is_well(
    played, sqlite_url
):
    audit = audit_process(ROOT, database_url=sqlite_url, environment=dict(os.environ))
    assert audit() == 0
    assert alarms(played) == {}
    tamper(played, 1)
    assert audit() == 1
    assert alarms(played)["T1"]["first"] == "event_changed"
    tamper(played, -1)
    assert audit() == 0
    assert alarms(played) == {}


def test_an_audit_by_hand_leaves_the_alarms_alone_unless_it_is_asked(played, sqlite_url):
    tamper(played, 1)
    arguments = ["audit", "--database-url", sqlite_url]
    assert CliRunner().invoke(entrance.main, arguments).exit_code == 1
    assert alarms(played) == {}
    assert CliRunner().invoke(entrance.main, [*arguments, "--alarm"]).exit_code == 1
    assert "T1" in alarms(played)
