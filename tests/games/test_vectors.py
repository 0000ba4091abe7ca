"""`rules check`: exact comparison, one line per fault, unreadable files named."""

import json
from decimal import Decimal
from fractions import Fraction

import pytest

from studio.domain.errors import MalformedError
from studio.services.vectors import check_vectors, same

GOOD = {
    "id": "v-1",
    "game": "pok_deng",
    "op": "burn_count",
    "input": {"card": "7D"},
    "expect": {"burn": 7},
}


def check(*vectors, game=None):
    return check_vectors({"f.json": {"vectors": list(vectors)}}, game=game)


def test_a_vector_that_holds_passes():
    report = check(GOOD)
    assert report.ok
    assert report.lines == ("1 passed, 0 failed, 0 unsupported",)


@pytest.mark.parametrize(
    ("expect", "differs"),
    [
        ({"burn": 8}, "burn: expected 8, got 7"),
        ({"burn": "7"}, "burn: expected '7', got 7"),
        ({"burn": True}, "burn: expected True, got 7"),
        ({"burn": 7.0000000000000009}, "burn: expected 7.000000000000001, got 7"),
        ({"burn": float("nan")}, "burn: expected nan, got 7"),
        ({"burn": None}, "burn: expected None, got 7"),
        ({"burn": 7, "cut": 1}, "cut: expected 1, got nothing"),
    ],
)
def test_a_vector_that_differs_is_a_line(expect, differs):
    report = check(GOOD, GOOD | {"id": "v-2", "expect": expect})
    assert not report.ok
    assert report.lines == (f"v-2 (f.json): {differs}", "1 passed, 1 failed, 0 unsupported")


def test_an_input_that_the_game_cannot_read_is_a_line():
    report = check(GOOD | {"input": {"card": "1D"}})
    assert not report.ok
    assert report.failures[0].differs.startswith("burn_count raised unknown_card: ")


def test_an_unknown_operation_of_a_registered_game_is_a_fault():
    report = check(GOOD | {"op": "cut"})
    assert not report.ok
    assert report.lines == (
        "v-1 (f.json): pok_deng has no operation 'cut'",
        "0 passed, 0 failed, 1 unsupported",
    )


def test_a_game_that_is_not_registered_is_counted_only():
    report = check(GOOD, GOOD | {"game": "whist"})
    assert report.ok
    assert report.unsupported_of_registered_game == ()
    assert report.lines == ("1 passed, 0 failed, 1 unsupported",)


def test_the_filter_keeps_one_game():
    other = GOOD | {"game": "whist"}
    assert check(GOOD, other, game="pok_deng").lines[-1] == "1 passed, 0 failed, 0 unsupported"
    assert check(GOOD, other, game="whist").lines[-1] == "0 passed, 0 failed, 1 unsupported"


def test_a_filter_that_names_nothing_is_malformed():
    with pytest.raises(MalformedError) as fault:
        check(GOOD, game="pokdeng")
    assert fault.value.code == "unknown_game"


def test_several_files_are_counted_together():
    bad = GOOD | {"expect": {"burn": 1}}
    report = check_vectors({"a.json": {"vectors": [GOOD]}, "b.json": {"vectors": [bad]}})
    assert report.lines == (
        "v-1 (b.json): burn: expected 1, got 7",
        "1 passed, 1 failed, 0 unsupported",
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "f.json: it must be an object with a list 'vectors'."),
        ({}, "f.json: it must be an object with a list 'vectors'."),
        ({"vectors": {}}, "f.json: it must be an object with a list 'vectors'."),
        ({"vectors": [GOOD, 5]}, "f.json, vector number 2: a vector must be an object."),
        ({"vectors": [{}]}, "f.json, vector number 1: 'id' must be a text."),
        ({"vectors": [GOOD | {"game": 1}]}, "f.json, vector v-1: 'game' must be a text."),
        ({"vectors": [GOOD | {"op": None}]}, "f.json, vector v-1: 'op' must be a text."),
        ({"vectors": [GOOD | {"input": []}]}, "f.json, vector v-1: 'input' must be an object."),
        ({"vectors": [GOOD | {"expect": 7}]}, "f.json, vector v-1: 'expect' must be an object."),
        (
            {"vectors": [GOOD | {"expect": {}}]},
            "f.json, vector v-1: 'expect' must name at least one value.",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_named(content, message):
    with pytest.raises(MalformedError) as fault:
        check_vectors({"f.json": content})
    assert (fault.value.code, fault.value.message) == ("vectors_malformed", message)


@pytest.mark.parametrize(
    ("wanted", "got", "equal"),
    [
        (json.loads("7.4"), Decimal("7.4"), True),
        (7.4, Fraction(37, 5), True),
        (7, Decimal("7.0"), True),
        (0.1 + 0.2, Decimal("0.3"), False),
        (1, True, False),
        (0, None, False),
        (float("inf"), 10**400, False),
        (10**400, 10**400, True),
        ([1, [2.0]], (1, (2,)), True),
        ([1, 2], [1], False),
        ({"a": 1.50}, {"a": Decimal("1.5")}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ("push", "push", True),
        (None, None, True),
    ],
)
def test_numbers_are_compared_by_decimal_value_and_types_never_mix(wanted, got, equal):
    assert same(wanted, got) is equal
    assert same(got, wanted) is equal
