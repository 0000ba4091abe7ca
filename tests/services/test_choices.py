"""The choices before a supervisor: their money, and the one that goes with a command."""

import uuid

import pytest

from studio.domain.errors import MalformedError, RefusedError
from tests.support.floor import HANDS, PIT, PLAYERS, Floor


def held(floor: Floor) -> None:
    """Deal a round with three wagers of two players and hold a card that nobody needs."""
    floor.to_betting()
    floor.show("3S", *HANDS)
    floor.bet("p1", 500)
    floor.bet("p2", 300)
    floor.bet("p1", 200, player=PLAYERS[1])
    floor.show("JC")


def ways(floor: Floor, situation: str) -> dict[str, dict]:
    found = floor.tables.choices("T1")["situations"]
    (own,) = [one["choices"] for one in found if one["code"] == situation]
    return {one["code"]: one for one in own}


def test_a_void_says_what_goes_back_and_going_on_moves_no_money(both):
    held(both)
    answer = both.tables.choices("T1")
    assert (answer["seen"], answer["round_id"]) == ("unneeded_card", both.round_id)
    found = ways(both, "unneeded_card")
    assert found["void"] == {
        "code": "void",
        "command": "void_round",
        "why_not": None,
        "needs_approval": False,
        "wagers": 3,
        "players": 2,
        "refund_minor": 2 * (500 + 300 + 200),
    }
    assert found["burn_it"]["command"] == "release_held"
    assert (found["burn_it"]["wagers"], found["burn_it"]["refund_minor"]) == (0, 0)


def test_what_the_void_says_is_what_it_gives_back(both):
    held(both)
    before = [both.money(player)[1] for player in PLAYERS]
    said = ways(both, "unneeded_card")["void"]
    both.command("void_round", PIT, reason="two cards", situation="unneeded_card", choice="void")
    assert sum(before) == said["refund_minor"]
    assert [both.money(player) for player in PLAYERS] == [(100_000, 0)] * 3
    assert ways(both, "unneeded_card")["void"]["why_not"] == "no_round"
    assert ways(both, "unneeded_card")["void"]["refund_minor"] == 0


def test_an_empty_table_offers_nothing(floor):
    answer = floor.tables.choices("T1")
    assert (answer["seen"], answer["round_id"]) == (None, None)
    assert all(
        one["why_not"] is not None for each in answer["situations"] for one in each["choices"]
    )
    with pytest.raises(MalformedError):
        floor.tables.choices("T9")


def test_the_situation_and_the_choice_go_into_the_trail_and_the_log(both):
    held(both)
    both.command(
        "release_held", PIT, reason="drawn too much", situation="unneeded_card", choice="burn_it"
    )
    with both.units.read() as unit:
        (line,) = unit.trail.read(limit=1, before_id=None)
    assert (line.reason, line.after["situation"], line.after["choice"]) == (
        "drawn too much",
        "unneeded_card",
        "burn_it",
    )
    assert both.live().envelopes()[-1]["body"]["action"] == "burn_it"
    both.command("stop")
    both.command("resume", PIT, reason="as it lies", situation="position_skipped", choice="re_lay")
    assert both.live().envelopes()[-1]["body"]["choice"] == "re_lay"
    assert both.faults() == []


def test_without_a_named_choice_all_is_as_before(floor):
    held(floor)
    floor.command("release_held", PIT, reason="drawn too much")
    with floor.units.read() as unit:
        (line,) = unit.trail.read(limit=1, before_id=None)
    assert not {"situation", "choice"} & set(line.after)
    assert floor.live().envelopes()[-1]["body"]["action"] == "continue"


@pytest.mark.parametrize(
    ("command", "situation", "choice"),
    [
        ("release_held", "unneeded_card", "void"),
        ("void_round", "unneeded_card", "burn_it"),
        ("release_held", "two_cards", "first_then_second"),
        ("release_held", "card_exposed", "go_on"),
        ("release_held", "unneeded_card", "go_on"),
    ],
)
def test_a_choice_that_is_not_open_is_refused(floor, command, situation, choice):
    held(floor)
    before = floor.state()
    with pytest.raises(RefusedError) as refusal:
        floor.command(command, PIT, reason="why", situation=situation, choice=choice)
    assert refusal.value.code == "choice_not_offered"
    assert floor.state() == before


@pytest.mark.parametrize(
    "told",
    [
        {"situation": "rain", "choice": "void"},
        {"situation": "unneeded_card", "choice": "pray"},
        {"situation": "unneeded_card"},
        {"choice": "void"},
        {"situation": 5, "choice": []},
    ],
)
def test_what_names_no_choice_is_malformed(floor, told):
    with pytest.raises(MalformedError) as fault:
        floor.tables.execute(
            PIT, "T1", {"id": str(uuid.uuid4()), "command": "lock", "reason": "why", **told}
        )
    assert fault.value.code == "unknown_choice"
