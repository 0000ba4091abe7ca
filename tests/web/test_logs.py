"""Log lines are JSON and can't tell a card."""

import json
import logging

import pytest
import structlog

from studio.domain.cards import parse_card
from studio.domain.errors import MalformedError
from studio.web.logs import REMOVED, init_logs, refuse_sealed


@pytest.mark.parametrize(
    "value",
    [
        "the card is TS",
        "10♠ came",
        "read 101001000156 twice",
        repr(parse_card("AS")),
        ["QD"],
        {"deep": {"er": "9C"}},
        ("x", "KH"),
        parse_card("2C"),
    ],
)
def test_whatever_looks_like_a_card_is_taken_out(value):
    line = json.dumps(refuse_sealed(None, "", {"event": "x", "value": value}), default=str)
    assert REMOVED in line
    for face in ("TS", "10♠", "QD", "9C", "KH", "101001000156", "SPADES", "ACE", "TWO"):
        assert face not in line


@pytest.mark.parametrize("key", ["card", "cards", "serial", "nonce", "sealed"])
def test_fields_of_a_sealed_card_are_taken_out_whatever_they_hold(key):
    assert refuse_sealed(None, "", {key: 7}) == {key: REMOVED}


def test_everything_else_stays():
    line = {
        "event": "RoundSettled at T1",
        "table": "T1",
        "round_id": "T1-3-12",
        "position": "P1",
        "at_ms": 1_800_000_000_000,
        "code": "betting_window_closed",
        "hash": "ab12" * 16,
        "ok": True,
        "none": None,
    }
    assert refuse_sealed(None, "", line) == line


def test_a_line_of_ours_and_one_of_a_library_come_out_as_json(capsys):
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    try:
        init_logs("info")
        structlog.get_logger("studio").info("card_read", table="T1", card="AS")
        logging.getLogger("library").warning("seen %s", "AS")
        try:
            parse_card("broken by AS")
        except MalformedError:
            structlog.get_logger("studio").exception("trouble")
        lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    finally:
        root.handlers, root.level = before, level
    assert [line["event"] for line in lines] == ["card_read", f"seen {REMOVED}", "trouble"]
    assert lines[0]["card"] == REMOVED
    assert "broken by" in lines[2]["exception"]
    assert "AS" not in str(lines).replace("ASCII", "")
