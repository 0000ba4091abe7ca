"""A table whose cards are dealt open, after the close: baccarat at the engine."""

from fractions import Fraction

import pytest

from studio.domain.commands import SettleRound, TurnCutCard
from studio.domain.decide import results_due
from studio.domain.errors import RefusedError
from studio.domain.round import Phase
from studio.domain.table import Stage
from studio.domain.view import instruction, table_view
from studio.games import game
from tests.support.tables import MemoryTable, TakeSeat, load_command, shuffle_command, void_command

NETS = {"player": Fraction(1), "banker": Fraction(-1), "tie": Fraction(-1)}


def at_betting(**changes):
    """A baccarat table whose first round takes bets: first card 2♠, two burnt."""
    table = MemoryTable(game=game("baccarat"))
    table.do(TakeSeat(dealer_id=7, name="Sato"))
    table.do(load_command(**({"burn_per_round": 0} | changes)))
    table.do(shuffle_command())
    table.deal("2S", *(["KS", "KH"] if changes.get("scan_at") != "reveal" else []))
    table.open_round()
    return table


def closed(**changes):
    table = at_betting(**changes)
    table.close()
    return table


def step(table):
    return instruction(table.game, table.state)


def shown(table):
    return table_view(table.game, table.state)["round"]


def deal(position, card, following):
    return {"code": "deal", "position": position, "card": card, "next": following}


def test_while_bets_are_taken_the_dealer_waits_and_sees_what_comes():
    following = {"code": "deal", "position": "P", "card": 1}
    assert step(at_betting()) == {"code": "wait_close", "next": following}


def test_a_card_turned_before_the_close_is_held_as_out_of_its_turn():
    table = at_betting()
    assert table.kinds(table.fresh("9S")) == ["CardHeld"]
    assert table.state.fault.code == "out_of_turn"
    assert shown(table)["hands"] == [
        {"position": at, "count": 0, "cards": [], "points": None, "name": None} for at in "PB"
    ]


def test_the_close_opens_the_deal():
    table = closed()
    assert table.state.phase is Phase.REVEAL
    assert not table.state.round.started
    assert step(table) == deal("P", 1, {"code": "deal", "position": "B", "card": 1})


def test_every_card_is_drawn_and_opened_in_one_commit():
    table = closed()
    assert table.kinds(table.fresh("9S")) == ["CardDrawn", "CardsRevealed"]
    drawn, opened = table.log[-2:]
    assert drawn.commitment == table.state.round.drawn[0].commitment
    assert [card.card for card in opened.cards] == ["9S"]
    assert shown(table)["hands"][0]["cards"] == ["9S"]
    assert table.state.round.started


def test_the_next_step_is_foretold_only_while_no_card_can_change_it():
    table = closed()
    foretold = []
    for face in ("2S", "3H", "3S", "2H"):
        foretold.append(step(table)["next"])
        table.deal(face)
    assert foretold == [
        {"code": "deal", "position": "B", "card": 1},
        {"code": "deal", "position": "P", "card": 2},
        {"code": "deal", "position": "B", "card": 2},
        None,
    ]
    assert step(table) == deal("P", 3, None)


@pytest.mark.parametrize(
    ("faces", "steps"),
    [
        (("9S", "2S", "KS", "5S"), [["natural", "player_wins"]]),
        (
            ("2S", "3H", "3S", "2H", "6S", "4S"),
            [["player_draws"], ["banker_draws"], ["banker_wins"]],
        ),
        (
            ("2S", "3H", "4S", "2H", "2D"),
            [["player_no_card", "banker_draws"], ["banker_wins"]],
        ),
        (
            ("2S", "3H", "3S", "KH", "8S"),
            [["player_draws"], ["banker_no_card", "tie"]],
        ),
    ],
)
def test_the_dealer_is_told_card_by_card_what_to_call(faces, steps):
    table = closed()
    table.deal(*faces[:3])
    assert shown(table)["calls"] == []
    said = []
    for face in faces[3:]:
        table.deal(face)
        said.append(shown(table)["calls"])
    assert said == steps
    assert results_due(table.game, table.state)
    assert step(table) == {"code": "settling"}


def test_a_card_after_the_last_is_held():
    table = closed()
    table.deal("9S", "2S", "KS", "5S")
    assert table.kinds(table.fresh("4D")) == ["CardHeld"]


def test_a_settled_round_keeps_its_calls_its_hands_and_one_mark():
    table = closed()
    table.deal("9S", "2S", "KS", "5S")
    table.do(
        SettleRound(version=1, nets=NETS, reasons={}, count=0, turnover_minor=0, payouts_minor=0)
    )
    view = shown(table)
    assert view["calls"] == ["natural", "player_wins"]
    assert view["marks"] == [{"position": "P", "result": "win", "rings": []}]
    assert [hand["points"] for hand in view["hands"]] == ["9", "7"]
    assert table.state.road[-1].marks[0].result == "win"


def test_a_burnt_card_is_opened_with_the_last_card_of_the_round():
    table = at_betting(burn_per_round=1)
    table.deal("3S")
    assert step(table)["code"] == "wait_close"
    table.close()
    table.deal("9S", "2S", "KS")
    assert [event.positions for event in table.log if hasattr(event, "positions")] == [
        ("P",),
        ("B",),
        ("P",),
    ]
    table.deal("5S")
    assert [event.positions for event in table.log[-2:]] == [("B",), ("burn",)]
    assert all(card.open for card in table.state.round.drawn)


def test_a_table_that_burns_draws_only_the_burn_before_the_close():
    table = at_betting(burn_per_round=1)
    assert step(table) == {"code": "burn_one", "count": 1, "next": {"code": "wait_close"}}
    table.deal("3S")
    assert table.kinds(table.fresh("9S")) == ["CardHeld"]


def test_the_cut_card_may_come_between_two_cards_and_ends_the_shoe_after_the_round():
    table = closed()
    table.deal("9S", "2S")
    table.do(TurnCutCard())
    table.deal("KS", "5S")
    table.do(
        SettleRound(version=1, nets=NETS, reasons={}, count=0, turnover_minor=0, payouts_minor=0)
    )
    assert table.state.stage is Stage.LAST_ROUND_DONE


def test_a_void_leaves_what_was_dealt_open_and_no_mark():
    table = closed()
    table.deal("9S", "2S")
    table.do(void_command())
    assert shown(table)["phase"] == "void"
    assert [hand["cards"] for hand in shown(table)["hands"]] == [["9S"], ["2S"]]
    assert table.state.road == ()


def test_settling_is_refused_before_all_is_dealt():
    table = closed()
    table.deal("2S", "3H", "3S", "2H")
    with pytest.raises(RefusedError) as refusal:
        table.do(
            SettleRound(
                version=1, nets=NETS, reasons={}, count=0, turnover_minor=0, payouts_minor=0
            )
        )
    assert refusal.value.code == "results_not_due"
