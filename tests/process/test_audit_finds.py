"""`audit` names what somebody wrote into a played database by hand; a clean one it calls clean."""

import json
import shutil
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import app as entrance
from studio.domain.log import canonical, event_hash
from tests.process.playhouse import run_app

pytestmark = pytest.mark.process

TABLE = "T1"
Plant = Callable[[sqlite3.Connection], None]


@pytest.fixture
def database(short_demo: tuple[Path, Any], tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A copy of a played database, open for whoever wants to spoil it."""
    file, _ = short_demo
    for part in file.parent.glob(f"{file.name}*"):
        shutil.copy(part, tmp_path)
    connection = sqlite3.connect(tmp_path / file.name)
    connection.row_factory = sqlite3.Row
    yield connection
    connection.close()


def run_audit(database: sqlite3.Connection) -> tuple[int, dict[str, Any]]:
    database.commit()
    (_, _, file) = database.execute("PRAGMA database_list").fetchone()
    ended = CliRunner().invoke(
        entrance.main, ["audit", "--json", "--database-url", f"sqlite:///{file}"]
    )
    return ended.exit_code, json.loads(ended.stdout)


# Plants -----------------------------------------------------------------------------------------


def change_one(database: sqlite3.Connection, statement: str, *values: object) -> None:
    assert database.execute(statement, values).rowcount == 1


def one(database: sqlite3.Connection, question: str, *values: object) -> sqlite3.Row:
    row: sqlite3.Row | None = database.execute(question, values).fetchone()
    assert row is not None
    return row


def a_settled_wager(database: sqlite3.Connection) -> int:
    number: int = one(
        database, "SELECT wager_number FROM wager_ending WHERE kind = 'settled' LIMIT 1"
    )[0]
    return number


def rewrite(
    database: sqlite3.Connection, kind: str, change: Callable[[dict[str, Any]], None]
) -> None:
    """Change the body of the first such event and make the whole chain fit again."""
    rows = database.execute("SELECT * FROM event ORDER BY epoch, seq").fetchall()
    before = ""
    done = False
    for row in rows:
        body = json.loads(row["body"])
        if row["kind"] == kind and not done:
            change(body)
            done = True
        place = {key: row[key] for key in ("epoch", "seq", "at_ms", "kind")}
        own = event_hash(before, table=TABLE, body=body, **place)
        database.execute(
            "UPDATE event SET body = ?, prev_hash = ?, hash = ? WHERE epoch = ? AND seq = ?",
            (canonical(body), before, own, row["epoch"], row["seq"]),
        )
        before = own
    assert done
    database.execute("UPDATE table_log SET hash = ?", (before,))


def change_an_amount(database: sqlite3.Connection) -> None:
    wager = a_settled_wager(database)
    change_one(
        database,
        "UPDATE entry SET amount_minor = amount_minor + 1"
        " WHERE origin_id = ? AND version = 0 AND leg = (SELECT min(leg) FROM entry"
        " WHERE origin_id = ? AND version = 0)",
        *(wager, wager),
    )


def change_both_amounts_of_a_hold(database: sqlite3.Connection) -> None:
    wager = a_settled_wager(database)
    changed = database.execute(
        "UPDATE entry SET amount_minor = amount_minor * 2 WHERE origin_id = ? AND version = 0",
        (wager,),
    )
    assert changed.rowcount == 2


def change_a_balance(database: sqlite3.Connection) -> None:
    player = one(database, "SELECT min(player_id) FROM player_balance")[0]
    change_one(
        database,
        "UPDATE player_balance SET balance_minor = balance_minor + 100 WHERE player_id = ?",
        player,
    )


def change_what_is_held(database: sqlite3.Connection) -> None:
    player = one(database, "SELECT min(player_id) FROM player_balance")[0]
    change_one(
        database,
        "UPDATE player_balance SET held_minor = held_minor + 100 WHERE player_id = ?",
        player,
    )


def delete_an_event(database: sqlite3.Connection) -> None:
    row = one(database, "SELECT epoch, seq FROM event WHERE kind = 'CardsRevealed' LIMIT 1")
    change_one(database, "DELETE FROM event WHERE epoch = ? AND seq = ?", *row)


def delete_the_last_event(database: sqlite3.Connection) -> None:
    row = one(database, "SELECT epoch, seq FROM event ORDER BY epoch DESC, seq DESC LIMIT 1")
    change_one(database, "DELETE FROM event WHERE epoch = ? AND seq = ?", *row)


def change_an_event_alone(database: sqlite3.Connection) -> None:
    change_one(
        database,
        "UPDATE event SET at_ms = at_ms - 1 WHERE rowid = (SELECT rowid FROM event"
        " WHERE kind = 'RoundOpened' LIMIT 1)",
    )


def swap_sealed_cards(database: sqlite3.Connection) -> None:
    first = one(database, "SELECT * FROM sealed_card ORDER BY epoch, seq LIMIT 1")
    other = one(database, "SELECT * FROM sealed_card WHERE card <> ? LIMIT 1", first["card"])
    for row, card in ((first, other["card"]), (other, first["card"])):
        change_one(
            database,
            "UPDATE sealed_card SET card = ? WHERE epoch = ? AND seq = ?",
            *(card, row["epoch"], row["seq"]),
        )


def lose_a_sealed_card(database: sqlite3.Connection) -> None:
    row = one(database, "SELECT epoch, seq FROM sealed_card LIMIT 1")
    change_one(database, "DELETE FROM sealed_card WHERE epoch = ? AND seq = ?", *row)


def open_another_card(database: sqlite3.Connection) -> None:
    def change(body: dict[str, Any]) -> None:
        card = body["cards"][0]
        card["card"] = "9H" if card["card"] != "9H" else "8H"

    rewrite(database, "CardsRevealed", change)


def forget_an_ending(database: sqlite3.Connection) -> None:
    change_one(
        database, "DELETE FROM wager_ending WHERE wager_number = ?", a_settled_wager(database)
    )


def end_a_wager_again(database: sqlite3.Connection) -> None:
    change_one(
        database,
        "INSERT INTO wager_ending SELECT wager_number, version + 1, kind, payout_minor + 100,"
        " transfer_id FROM wager_ending WHERE wager_number = ?",
        a_settled_wager(database),
    )


def end_an_undone_wager_again(database: sqlite3.Connection) -> None:
    undone = one(database, "SELECT wager_number FROM wager_ending WHERE kind = 'undone' LIMIT 1")
    change_one(
        database,
        "INSERT INTO wager_ending SELECT wager_number, version + 1, 'settled', payout_minor,"
        " transfer_id FROM wager_ending WHERE wager_number = ?",
        *undone,
    )


def change_a_payout(database: sqlite3.Connection) -> None:
    change_one(
        database,
        "UPDATE wager_ending SET payout_minor = payout_minor + 1 WHERE wager_number = ?",
        a_settled_wager(database),
    )


def change_a_stake(database: sqlite3.Connection) -> None:
    change_one(
        database,
        "UPDATE wager SET stake_minor = stake_minor + 100 WHERE number = ?",
        a_settled_wager(database),
    )


def slip_in_a_wager(database: sqlite3.Connection) -> None:
    change_one(
        database,
        "INSERT INTO wager SELECT -1, ?, player_id, round_id, bet, stake_minor, hold_minor,"
        " accepted_ms FROM wager WHERE number = ?",
        *(uuid.uuid4().hex, a_settled_wager(database)),
    )


def change_a_result(database: sqlite3.Connection) -> None:
    def change(body: dict[str, Any]) -> None:
        result = body["results"][0]
        result["net"] = "2" if result["net"] != "2" else "1"

    rewrite(database, "RoundSettled", change)


def move_a_deadline(database: sqlite3.Connection) -> None:
    change_one(
        database,
        "UPDATE round SET window_closes_ms = window_closes_ms + 1000 WHERE number = 1",
    )


def exchange_a_card_of_the_deck(database: sqlite3.Connection) -> None:
    dealt = one(database, "SELECT serial FROM sealed_card LIMIT 1")
    deck = one(
        database, "SELECT json_extract(body, '$.deck_set') FROM event WHERE kind = 'ShoeLoaded'"
    )
    change_one(
        database,
        "UPDATE deck_card SET card_number = card_number % 52 + 1 WHERE deck_set = ? AND serial = ?",
        *(*deck, *dealt),
    )


@pytest.mark.parametrize(
    ("plant", "code"),
    [
        (change_an_amount, "ledger_sum"),
        (change_both_amounts_of_a_hold, "hold_differs"),
        (change_a_balance, "balance_differs"),
        (change_what_is_held, "held_differs"),
        (delete_an_event, "log_gap"),
        (delete_the_last_event, "log_end_differs"),
        (change_an_event_alone, "event_changed"),
        (swap_sealed_cards, "sealed_card_differs"),
        (lose_a_sealed_card, "sealed_card_missing"),
        (open_another_card, "reveal_differs"),
        (forget_an_ending, "wager_unsettled"),
        (end_a_wager_again, "correction_differs"),
        (end_an_undone_wager_again, "wager_ended_twice"),
        (change_a_payout, "payout_differs"),
        (change_a_stake, "book_differs"),
        (slip_in_a_wager, "book_differs"),
        (change_a_result, "result_differs"),
        (move_a_deadline, "round_differs"),
        (exchange_a_card_of_the_deck, "card_not_in_deck"),
    ],
)
def test_audit_names_what_was_written_by_hand(database, plant, code):
    plant(database)
    status, answer = run_audit(database)
    assert status == 1
    assert answer["count"] == len(answer["faults"]) > 0
    assert code in {fault["code"] for fault in answer["faults"]}
    assert all(fault["where"] and fault["what"] for fault in answer["faults"])


def test_an_untouched_copy_is_clean(database):
    assert run_audit(database) == (0, {"faults": [], "count": 0})


def test_for_people_each_fault_is_a_line(database):
    change_a_balance(database)
    database.commit()
    (_, _, file) = database.execute("PRAGMA database_list").fetchone()
    ended = run_app("audit", "--database-url", f"sqlite:///{file}")
    assert ended.returncode == 1
    first, last = ended.stdout.splitlines()
    assert first.startswith("balance_differs  player ")
    assert last == "Faults: 1."
    assert ended.stderr == ""
