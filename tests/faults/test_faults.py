"""A short hunt in every layer; `make soak` hunts for as long as it is given."""

import gc
import uuid

import psycopg
import pytest
from sqlalchemy.engine import make_url

from tests.conftest import absent
from tests.faults import cluster, kills, operations
from tests.faults.grounds import POSTGRESQL, SqliteGround, connected
from tests.faults.layers import LAYERS
from tests.faults.outcome import Outcome
from tests.support.floor import ADMINISTRATOR, PLAYER


def hunt(layer, folder, *, share, seed=0):
    """Run part of a seed and need it clean."""
    outcome = Outcome(seed=seed)
    LAYERS[layer].run(folder, outcome, share)
    assert outcome.violations == []
    return outcome


@pytest.fixture
def _postgresql():
    try:
        connected(make_url(POSTGRESQL)).close()
    except psycopg.OperationalError:
        absent("PostgreSQL (STUDIO_TEST_POSTGRESQL)")


def test_kill_9_at_any_moment_leaves_what_was_committed_on_sqlite(tmp_path):
    assert hunt("kill-sqlite", tmp_path, share=0.04).cases > 10


@pytest.mark.postgresql
@pytest.mark.usefixtures("_postgresql")
def test_kill_9_at_any_moment_leaves_what_was_committed_on_postgresql(tmp_path):
    assert hunt("kill-postgresql", tmp_path, share=0.04).cases > 5


def test_a_damaged_file_has_lost_its_last_commits_at_most_or_is_told(tmp_path):
    assert hunt("damage", tmp_path, share=0.25).cases == 100


def test_a_full_or_failing_disk_refuses_and_leaves_nothing_half_done(tmp_path):
    assert hunt("disk", tmp_path, share=0.15).counts["failing: refused"] > 0


@pytest.mark.postgresql
@pytest.mark.process
# A connection whose server is gone can't be closed; its end by the collector is no fault.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_server_stopped_at_once_has_what_it_acknowledged(tmp_path):
    try:
        cluster.programs()
    except cluster.AbsentError as error:
        absent(str(error))
    wagers = hunt("stop-postgresql", tmp_path, share=0.3).counts["wagers"]
    gc.collect()
    assert wagers > 0


@pytest.mark.postgresql
@pytest.mark.redis
@pytest.mark.process
@pytest.mark.usefixtures("_postgresql", "redis_url")
def test_bad_cables_between_every_two_parts_cost_no_card_and_no_money(tmp_path):
    assert hunt("stack", tmp_path, share=0.1).cases > 13


def careless(floor, random):
    """Pay in under another id each time: a repetition counts twice."""

    def pay_in(floor):
        with floor.units.write() as unit:
            unit.ledger.cash(
                id=str(uuid.uuid4()),
                player_id=PLAYER.id,
                amount_minor=100,
                reason="in",
                by=ADMINISTRATOR.id,
            )
            unit.commit()

    return pay_in


def in_two_commits(floor, random):
    """Take a seat and then pay in; whoever sees the seat taken believes that all was done."""
    pay_in = operations.cash(floor, random)

    def both(floor):
        if floor.state().dealer is None:
            floor.command("take_seat")
            pay_in(floor)

    return both


@pytest.mark.parametrize(
    ("operation", "word"), [(careless, "done twice"), (in_two_commits, "not the same")]
)
def test_the_hunt_finds_an_operation_that_is_not_done_once(tmp_path, monkeypatch, operation, word):
    monkeypatch.setattr(kills, "OPERATIONS", {"careless": operation})
    outcome = Outcome(seed=0)
    kills.run(SqliteGround(tmp_path), outcome, share=0.4)
    assert any(word in violation for violation in outcome.violations)
