"""The log: the next position only, chained, each table by itself, sealed cards apart."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from studio.domain.errors import InvariantError
from studio.domain.log import event_hash
from studio.services.ports import StoredEvent
from studio.store.tables import event, table_log
from tests.store.house import House


def line(
    *,
    epoch: int = 1,
    seq: int = 1,
    prev_hash: str = "",
    table: str = "T1",
    sealed=None,
    body=None,
) -> StoredEvent:
    body = {"text": "三 – ö", "list": [1, None, True]} if body is None else body
    return StoredEvent(
        table=table,
        epoch=epoch,
        seq=seq,
        at_ms=5,
        kind="Something",
        body=body,
        sealed=sealed,
        prev_hash=prev_hash,
        hash=event_hash(
            prev_hash, table=table, epoch=epoch, seq=seq, at_ms=5, kind="Something", body=body
        ),
    )


def append(house: House, *events: StoredEvent) -> None:
    with house.units.write() as unit:
        for each in events:
            unit.events.lock(each.table)
            unit.events.append(each)
        unit.commit()


def test_a_new_table_begins_before_its_first_event(house):
    with house.units.read() as unit:
        assert unit.events.position("T9") == (0, 0, "")
        assert unit.events.read("T9", epoch=0, after_seq=0) == []
        assert unit.rounds.get("T9-1-1") is None


def test_events_come_back_as_they_were_stored_sealed_parts_included(house):
    sealed = {"card": "TS", "serial": 17, "nonce": "ab" * 32}
    first = line()
    second = line(seq=2, prev_hash=first.hash, sealed=sealed)
    append(house, first, second)
    with house.units.read() as unit:
        assert unit.events.read("T1", epoch=1, after_seq=0) == [first, second]
        assert unit.events.read("T1", epoch=1, after_seq=1) == [second]
        assert unit.events.read("T1", epoch=2, after_seq=0) == []
        assert unit.events.position("T1") == (1, 2, second.hash)


def test_before_a_shoe_the_log_counts_in_epoch_0_and_each_shoe_begins_at_1(house):
    first = line(epoch=0)
    second = line(epoch=1, prev_hash=first.hash)
    third = line(epoch=2, prev_hash=second.hash)
    append(house, first, second, third)
    with house.units.read() as unit:
        assert unit.events.position("T1") == (2, 1, third.hash)


def test_tables_have_logs_of_their_own(house):
    append(house, line(), line(table="T2"))
    with house.units.read() as unit:
        assert unit.events.position("T2")[:2] == (1, 1)


@pytest.mark.parametrize(
    ("epoch", "seq", "code"),
    [
        (1, 1, "log_position_taken"),
        (1, 2, "log_position_taken"),
        (0, 9, "log_position_taken"),
        (1, 4, "log_gap"),
        (2, 2, "log_gap"),
        (3, 1, "log_gap"),
    ],
)
def test_only_the_next_position_is_written(house, epoch, seq, code):
    first = line()
    second = line(seq=2, prev_hash=first.hash)
    append(house, first, second)
    with pytest.raises(InvariantError) as broken:
        append(house, line(epoch=epoch, seq=seq, prev_hash=second.hash))
    assert broken.value.code == code
    with house.engine.connect() as connection:
        assert connection.execute(select(func.count()).select_from(event)).scalar_one() == 2


def test_an_event_that_does_not_chain_is_not_written(house):
    first = line()
    append(house, first)
    with pytest.raises(InvariantError) as broken:
        append(house, line(seq=2, prev_hash="0" * 64))
    assert broken.value.code == "log_gap"


def test_the_key_alone_refuses_a_second_event_at_a_position(house):
    first = line()
    append(house, first)
    with house.units.write() as unit:
        unit.connection.execute(table_log.update().values(epoch=1, seq=0, hash=""))
        with pytest.raises(IntegrityError):
            unit.events.append(first)


def test_a_unit_left_without_commit_stores_nothing(house):
    with house.units.write() as unit:
        unit.events.lock("T1")
        unit.events.append(line())
    with house.units.read() as unit:
        assert unit.events.position("T1") == (0, 0, "")


def test_writers_of_one_table_take_turns(house):
    """Eight writers append ten events each: no position is lost or written twice."""
    start = threading.Barrier(8)

    def write(writer: int) -> None:
        start.wait(timeout=30)
        for turn in range(10):
            with house.units.write() as unit:
                unit.events.lock("T1")
                _, seq, last = unit.events.position("T1")
                body = {"writer": writer, "turn": turn}
                unit.events.append(line(epoch=0, seq=seq + 1, prev_hash=last, body=body))
                unit.commit()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8), timeout=60))
    with house.units.read() as unit:
        events = unit.events.read("T1", epoch=0, after_seq=0)
    assert [each.seq for each in events] == list(range(1, 81))
    assert all(after.prev_hash == before.hash for before, after in itertools.pairwise(events))


# Rounds ----------------------------------------------------------------------------------------


def test_a_round_is_found_by_id_and_moves_through_its_phases(house):
    round_id = house.round()
    with house.units.write() as unit:
        unit.rounds.update_phase(round_id, "settled", settlement_version=1)
        unit.commit()
    with house.units.read() as unit:
        row = unit.rounds.get(round_id)
        assert row is not None
        assert (row.phase, row.settlement_version, row.table) == ("settled", 1, "T1")
        assert row.epoch == 1
        assert unit.rounds.get("T1-1-404") is None


def test_a_round_that_is_not_there_cannot_move(house):
    with pytest.raises(InvariantError) as broken, house.units.write() as unit:
        unit.rounds.update_phase("T1-1-404", "settled", settlement_version=1)
    assert broken.value.code == "unknown_round"


def test_a_round_number_is_used_once_in_a_shoe(house):
    round_id = house.round()
    with house.units.read() as unit:
        row = unit.rounds.get(round_id)
    assert row is not None
    with pytest.raises(IntegrityError), house.units.write() as unit:
        unit.rounds.insert(replace(row, id="another"))


def test_recent_rounds_come_newest_first_and_page_on(house):
    rounds = [house.round() for _ in range(3)]
    with house.units.read() as unit:
        page = unit.rounds.recent("T1", limit=2, before_ms=None)
        assert [row.id for row in page] == [rounds[2], rounds[1]]
        rest = unit.rounds.recent(None, limit=2, before_ms=page[-1].opened_ms)
        assert [row.id for row in rest] == [rounds[0]]
        assert unit.rounds.recent("T2", limit=2, before_ms=None) == []
