"""What the hunt for damage found untold, or told by a crash: the audit names it now."""

import contextlib
import sqlite3

import pytest
from sqlalchemy import func, select, text, update

from studio.domain.errors import InvariantError
from studio.store.engine import write_transaction
from studio.store.tables import LEG_CASH, account, entry, event, round_, transfer, wager
from tests.support.floor import PLAYER, Floor


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def floor(request):
    made = Floor(engine=request.getfixturevalue(f"{request.param}_engine"))
    made.furnish()
    made.to_dealt()
    made.bet()
    return made


def codes(floor):
    return {fault.code for fault in floor.restarted().faults()}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (update(transfer).values(kind="holt"), "transfer_kind_unknown"),
        (update(entry).where(entry.c.leg == LEG_CASH).values(leg=5), "cash_line_unknown"),
        (
            update(account)
            .where(account.c.id == select(func.max(account.c.id)).scalar_subquery())
            .values(currency="JPX"),
            "account_currency_differs",
        ),
    ],
)
def test_a_word_beside_a_figure_that_changed_is_named(floor, change, code):
    with write_transaction(floor.engine) as connection:
        connection.execute(change)
    assert code in codes(floor)


@pytest.mark.parametrize("taken_back", [False, True])
@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"bet": "p1_paar"}, "wager_impossible"),
        ({"bet": "p1_pair"}, "wager_impossible"),
        ({"stake_minor": wager.c.stake_minor + 1}, "wager_impossible"),
        ({"accepted_ms": wager.c.accepted_ms + 1}, "accepted_differs"),
    ],
)
def test_a_wager_that_no_closing_counts_yet_is_held_against_the_rules(
    floor, values, code, taken_back
):
    id = floor.bet("p1").wager.id
    if taken_back:
        floor.wagers.undo(PLAYER, wager_id=id)
    assert floor.restarted().faults() == []
    with write_transaction(floor.engine) as connection:
        connection.execute(update(wager).where(wager.c.id == id).values(values))
    assert [fault.where for fault in floor.restarted().faults() if fault.code == code] == [
        f"wager {id}"
    ]


def test_a_wager_of_an_older_version_of_the_rules_is_left_to_them(floor):
    with write_transaction(floor.engine) as connection:
        connection.execute(update(wager).values(bet="p6"))
        connection.execute(update(round_).values(rule_version="pok_deng.rules.0"))
    assert "wager_impossible" not in codes(floor)


def test_an_event_that_is_no_json_any_more_is_named_and_the_table_shown_locked(floor):
    with write_transaction(floor.engine) as connection:
        connection.execute(update(event).where(event.c.seq == 3).values(body='{"a'))
    assert "log_unreadable" in codes(floor)
    after = floor.restarted()
    with pytest.raises(InvariantError) as broken:
        after.live()
    assert broken.value.code == "log_unreadable"
    shown = {table["table"]: table["view"] for table in after.tables.list_tables()}
    assert shown["T1"]["locked"] is not None
    assert shown["T2"]["locked"] is None


def test_an_id_that_is_none_any_more_is_named_without_what_was_stored(sqlite_engine):
    floor = Floor(engine=sqlite_engine)
    floor.furnish()
    floor.to_dealt()
    floor.bet()
    floor.close()
    with write_transaction(floor.engine) as connection:
        connection.execute(text("UPDATE wager SET id = 'w' || substr(id, 2)"))
    found = [fault for fault in floor.restarted().faults() if fault.code == "value_unreadable"]
    assert found
    assert not any("w" * 2 in fault.what for fault in found)


@pytest.fixture
def by_hand(sqlite_engine):
    """The file of a round that runs, and a connection that knows nothing of the studio's rules."""
    floor = Floor(engine=sqlite_engine)
    floor.furnish()
    floor.to_betting()
    sqlite_engine.dispose()
    with contextlib.closing(sqlite3.connect(sqlite_engine.url.database)) as connection:
        yield floor, connection


def test_an_index_that_disagrees_with_its_table_is_named(by_hand):
    floor, connection = by_hand
    connection.execute("PRAGMA writable_schema = ON")
    found = "type = 'index' AND tbl_name = 'round' AND sql IS NOT NULL"
    indexes = connection.execute(f"SELECT * FROM sqlite_master WHERE {found}").fetchall()
    connection.execute(f"DELETE FROM sqlite_master WHERE {found}")
    connection.commit()
    connection.execute("PRAGMA writable_schema = RESET")
    connection.execute("UPDATE round SET opened_ms = opened_ms + 1")
    connection.execute("PRAGMA writable_schema = ON")
    connection.executemany("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", indexes)
    connection.commit()
    connection.close()
    assert "file_damaged" in codes(floor)


def test_a_number_that_is_none_any_more_is_named(by_hand):
    floor, connection = by_hand
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(
        "UPDATE sqlite_master SET sql = replace(sql, 'seq BIGINT NOT NULL', 'seq BIGINT') "
        "WHERE name = 'event'"
    )
    connection.commit()
    connection.execute("PRAGMA writable_schema = RESET")
    connection.execute("UPDATE event SET seq = NULL WHERE seq = 3")
    connection.commit()
    connection.close()
    assert "value_unreadable" in codes(floor)


def test_a_reference_to_nothing_is_named(by_hand):
    floor, connection = by_hand
    connection.execute("DELETE FROM deck_set WHERE number = 1")
    connection.commit()
    assert "file_damaged" in codes(floor)
