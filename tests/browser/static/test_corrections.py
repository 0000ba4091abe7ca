"""Corrections as the screens read and say them: typed cards, standing cards, what is due."""

import pytest

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("typed", "card"),
    [
        ("4h", "4H"),
        ("10s", "TS"),
        ("T♠", "TS"),
        ("q ♦", "QD"),
        ("Ａｃ", "AC"),
        ("1h", None),
        ("4", None),
        ("", None),
        ("4hh", None),
        ("104H", None),
    ],
)
def test_a_typed_card_is_read_as_people_write_it(run, typed, card):
    assert run("places.js", "return m.readFace(arg);", typed) == card


def test_a_corrected_card_stands_in_the_place_of_the_one_that_was_read(run):
    places = [{"position": "P1", "index": 0}, {"position": "banker", "index": 0}]
    held = {
        "commitments": [*places, {"position": "burn", "index": 0}],
        "reveals": [{**places[0], "card": "4D"}, {**places[1], "card": "JH"}],
        "corrected": {"faces": [{**places[0], "card": "4H"}]},
    }
    found = run("places.js", "return m.standingPlaces(arg);", held)
    assert [(one["key"], one["card"]) for one in found] == [("P1/0", "4H"), ("banker/0", "JH")]


@pytest.mark.parametrize(
    ("changed", "now_ms", "key"),
    [
        ({}, 0, "correct.state.waits"),
        ({"kind": "void_running"}, 0, "correct.state.waits_running"),
        ({"announced": True, "due_ms": 5000}, 4999, "correct.state.told"),
        ({"announced": True, "due_ms": 5000}, 5000, "correct.state.booking"),
        ({"needs_approval": False, "announced": True, "due_ms": 5}, 5, "correct.state.booking"),
    ],
)
def test_a_proposal_says_where_it_stands(run, changed, now_ms, key):
    proposal = {
        "kind": "correct",
        "announced": False,
        "needs_approval": True,
        "due_ms": None,
        "rounds": [{}],
        **changed,
    }
    words = run("proposals.js", "return m.stateWords(arg[0], arg[1]);", [proposal, now_ms])
    assert words.startswith(key)


OWN = {"round_ids": ["T1-1-5"], "before_minor": 500, "after_minor": 950}
TOLD = {"numbers": [5], "void": True, "due_ms": 1}


@pytest.mark.parametrize(
    ("own", "told", "words"),
    [
        (OWN, None, "due.corrected due.own"),
        (OWN, TOLD, "due.annulled due.own"),
        (None, TOLD, "due.annulled"),
        (None, {**TOLD, "numbers": [5, 6]}, "due.annulled_many"),
    ],
)
def test_what_is_due_names_the_own_money_where_there_is_any(run, own, told, words):
    money = "{ full: String, signed: String }"
    body = f"return m.dueWords(arg, {money});"
    assert run("due.js", body, {"own": own, "told": told}) == words
