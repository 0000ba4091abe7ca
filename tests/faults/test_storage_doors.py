"""What people are told while nothing can be saved, and that they lose nothing by it."""

import uuid

import pytest
from sqlalchemy import event

from studio.services.retry import StorageError
from studio.store.engine import make_engine
from studio.web.supervisor import Supervisor
from tests.web.floor import give_cash, make_floor

WAGERS_MAX = 300


@pytest.fixture
def floor(studio, clock, login):
    return make_floor(studio, clock, login)


@pytest.fixture
def full(studio):
    """Let the database's file grow no more; return what gives it room again."""
    with studio.tables.units.read() as unit:
        engine = unit.connection.engine
        pages = unit.connection.exec_driver_sql("PRAGMA page_count").scalar_one()

    def limit(connection, _):
        connection.execute(f"PRAGMA max_page_count = {pages}")

    def fill():
        event.listen(engine, "connect", limit)
        engine.dispose()

    def free():
        event.remove(engine, "connect", limit)
        engine.dispose()

    return fill, free


def test_a_full_disk_is_told_in_plain_words_and_the_same_wager_counts_later(
    floor, full, login, people, caplog
):
    give_cash(login, people["player"].id, 100_000)
    player = login("player")
    round_id = floor.open_round()
    fill, free = full
    fill()
    for _ in range(WAGERS_MAX):
        id = str(uuid.uuid4())
        body = {"id": id, "bet": "p1", "stake_minor": 100}
        answer = player.post(f"/api/rounds/{round_id}/wagers", body)
        if answer.status_code != 201:
            break
    assert answer.status_code == 503
    assert answer.json["error"]["code"] == "storage_failed"
    assert "full" not in answer.text
    assert "Traceback" not in caplog.text
    before = player.get("/api/me").json["held_minor"]
    free()
    assert player.post(f"/api/rounds/{round_id}/wagers", body).status_code == 201
    assert player.get("/api/me").json["held_minor"] == before + 200


def test_while_nothing_can_be_saved_the_clockwork_says_so_in_one_line(floor, studio, caplog):
    class End(BaseException):
        """Leave the loop."""

    class Turns:
        def turn(self):
            failed = StorageError("storage_failed", "The studio can't save now.")
            raise failed from OSError("database or disk is full")

    class Clock:
        def sleep(self, _):
            raise End

    with pytest.raises(End):
        Supervisor(socketio=Clock(), clockwork=Turns(), live=None)._run()
    assert "database or disk is full" in caplog.text
    assert "Traceback" not in caplog.text


@pytest.mark.postgresql
def test_a_server_out_of_reach_is_a_failed_storage_after_the_start(postgresql_url):
    engine = make_engine(postgresql_url)
    with engine.connect() as victim, engine.connect() as other:
        pid = victim.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
        other.exec_driver_sql(f"SELECT pg_terminate_backend({pid})")
        with pytest.raises(StorageError):
            victim.exec_driver_sql("SELECT 1")
    with engine.connect() as again:
        assert again.exec_driver_sql("SELECT 1").scalar_one() == 1
    engine.dispose()
