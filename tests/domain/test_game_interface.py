"""The game interface carries more than a house game: toy games prove it, step by step.

A pot game with decisions in turn and hidden cards; a tile game with simultaneous decisions and a
seat bank; a trick game with swaps, cards played one by one and something to carry. The same toys
pass the whole conformance suite (tests/games/conformance).
"""

from fractions import Fraction

import pytest

from studio.domain.cards import parse_card, parse_piece
from studio.domain.errors import RefusedError
from studio.domain.game import (
    PUBLIC,
    Bank,
    Deal,
    Decide,
    Decision,
    Done,
    Expired,
    GameConfig,
    Left,
    Order,
    Reveal,
    Revealed,
    Scanned,
    Settle,
    Settled,
)
from studio.domain.settlement import TAX, JackpotTerms, Terms, fund_of, settle_seats
from tests.games.toys.pot import PotToy
from tests.games.toys.tiles import TileToy
from tests.games.toys.tricks import TrickToy

CONFIG = GameConfig(decks=1, burn_per_round=0)
POT, TILES, TRICKS = PotToy(), TileToy(), TrickToy()


def deal(game, state, codes):
    """Answer the deals that come next with these pieces."""
    for code in codes.split():
        assert isinstance(game.next(state), Deal)
        state = game.apply(state, Scanned(piece=parse_piece(code)))
    return state


def decide(game, state, seat, action, amount=None, card=None):
    pieces = (parse_card(card),) if card else ()
    return game.apply(state, Decision(seat=seat, action=action, amount=amount, pieces=pieces))


def finish(game, state):
    """Reveal, settle; return the movements and what is carried."""
    while isinstance(request := game.next(state), Reveal):
        state = game.apply(state, Revealed(positions=request.positions, only=request.only))
    assert request == Settle()
    movements = game.settle(state)
    done = game.next(game.apply(state, Settled()))
    assert isinstance(done, Done)
    return movements, done.carry


def seen(game, state, viewer):
    """Codes of the pieces that a viewer sees, by position."""
    return {
        hand.position: [piece.code for _, piece in hand.visible]
        for hand in game.view(state, viewer).hands
    }


# A pot game: in turn, hidden cards, main and side pots


def pot_table(**stacks):
    return POT.start(
        CONFIG,
        seats=tuple(stacks),
        roles={"button": list(stacks)[-1]},
        bets={seat: {"stack": stack} for seat, stack in stacks.items()},
        carry={},
    )


def test_a_hole_card_is_seen_by_its_owner_only():
    state = pot_table(a=500, b=500)
    request = POT.next(state)
    assert (request.position, request.viewers, request.face_up) == ("a", frozenset("a"), False)
    state = deal(POT, state, "AS KD")
    assert seen(POT, state, "a") == {"a": ["AS"], "b": []}
    assert seen(POT, state, "b") == {"a": [], "b": ["KD"]}
    assert seen(POT, state, PUBLIC) == {"a": [], "b": []}


def test_seats_act_in_turn_within_ranges_and_another_seat_is_refused():
    state = deal(POT, pot_table(a=500, b=300), "AS KD")
    request = POT.next(state)
    assert (request.seats, request.order) == (("a",), Order.IN_TURN)
    assert [(each.name, each.amount_min, each.amount_max) for each in request.actions["a"]] == [
        ("check", None, None),
        ("bet", 1, 490),
    ]
    for refused in (
        Decision(seat="b", action="check"),
        Decision(seat="a", action="fold"),
        Decision(seat="a", action="bet", amount=491),
        Decision(seat="a", action="bet"),
        Expired(seat="b"),
    ):
        with pytest.raises(RefusedError):
            POT.apply(state, refused)
    after = decide(POT, state, "a", "bet", 100)
    assert POT.next(after).seats == ("b",)
    assert POT.next(after).turn != request.turn


def test_silence_checks_where_nothing_is_owed_and_folds_where_something_is():
    state = deal(POT, pot_table(a=500, b=500, c=500), "2S KD AS")
    state = POT.apply(state, Expired(seat="a"))
    state = decide(POT, state, "b", "bet", 50)
    state = POT.apply(state, Expired(seat="c"))
    assert state.live == ("a", "b")
    state = POT.apply(state, Expired(seat="a"))
    assert state.live == ("b",)
    assert POT.next(state) == Settle()


def test_a_seat_that_left_is_never_waited_for_again():
    state = deal(POT, pot_table(a=500, b=500, c=500), "2S KD AS")
    state = POT.apply(state, Left(seat="b"))
    assert POT.next(state).seats == ("a",)
    state = decide(POT, state, "a", "bet", 20)
    assert POT.next(state).seats == ("c",)
    assert "b" not in state.live


def test_a_short_stack_wins_the_main_pot_and_the_next_best_the_side_pot():
    state = deal(POT, pot_table(a=1000, b=110, c=1000), "9S KD TS")
    state = decide(POT, state, "a", "bet", 400)
    state = decide(POT, state, "b", "call")
    state = decide(POT, state, "c", "call")
    movements, carry = finish(POT, state)
    terms = Terms(held_minor={"a": 1000, "b": 110, "c": 1000}, tax=Fraction(3, 100))
    totals = settle_seats(Bank.POT, movements, terms).totals()
    # Main pot 3 x 110 = 330 with tax 9; side pot 2 x 300 = 600 with tax 18.
    assert totals == {"a": -410, "b": 321 - 110, "c": 582 - 410, TAX: 27}
    assert carry == {"button": "a"}


def test_a_pot_that_nobody_called_goes_back_untaxed():
    state = deal(POT, pot_table(a=500, b=500), "2S KD")
    state = decide(POT, state, "a", "bet", 200)
    state = decide(POT, state, "b", "fold")
    movements, _ = finish(POT, state)
    terms = Terms(held_minor={"a": 500, "b": 500}, tax=Fraction(3, 100))
    # Both antes of 10 were called: nothing of 3% of 10 is a whole unit.
    assert settle_seats(Bank.POT, movements, terms).totals() == {"a": 10, "b": -10}


def test_folded_cards_stay_hidden_at_the_showdown():
    state = deal(POT, pot_table(a=500, b=500, c=500), "2S KD AS")
    state = decide(POT, state, "a", "bet", 20)
    state = decide(POT, state, "b", "fold")
    state = decide(POT, state, "c", "call")
    request = POT.next(state)
    assert request == Reveal(positions=("a", "c"))
    state = POT.apply(state, Revealed(positions=("a", "c")))
    assert seen(POT, state, PUBLIC) == {"a": ["2S"], "b": [], "c": ["AS"]}


# A tile game: all at once, a seat banks


def tile_table():
    state = TILES.start(
        CONFIG,
        seats=("a", "b", "c"),
        roles={"banker": "b"},
        bets={"a": {"main": 100}, "c": {"main": 50}},
        carry={},
    )
    return deal(TILES, state, "12 03 66")


def test_players_decide_in_any_order_and_the_rest_is_asked_on():
    state = tile_table()
    request = TILES.next(state)
    assert (request.seats, request.order) == (("a", "c"), Order.SIMULTANEOUS)
    state = decide(TILES, state, "c", "hold")
    assert TILES.next(state).seats == ("a",)
    assert TILES.next(state).turn == request.turn
    with pytest.raises(RefusedError):
        decide(TILES, state, "c", "double")
    state = TILES.apply(state, Expired(seat="a"))
    assert isinstance(TILES.next(state), Deal)
    assert dict(state.decided) == {"a": "hold", "c": "hold"}


def test_what_was_decided_is_public_only_when_all_have_decided():
    state = decide(TILES, tile_table(), "a", "double")
    facts = TILES.view(state, PUBLIC).facts
    assert (facts["decided"], facts["doubled"]) == (["a"], [])
    state = decide(TILES, state, "c", "hold")
    assert TILES.view(state, PUBLIC).facts["doubled"] == ["a"]


def test_a_double_names_the_bet_it_adds_to_and_what_it_adds():
    action = TILES.next(tile_table()).actions["a"][0]
    assert (action.name, action.bet, action.amount_min) == ("double", "main", 100)
    own, bank = TILES.exposure(tile_table(), "main", Decision(seat="a", action="double"))
    assert (own, bank) == (1, 2)


def test_the_bank_pays_a_nine_twice_and_collects_the_rest():
    state = decide(TILES, tile_table(), "a", "double")
    state = decide(TILES, state, "c", "hold")
    state = deal(TILES, state, "06 22 44")
    assert [hand.points for hand in TILES.evaluate(state).hands] == []
    request = TILES.next(state)
    opened = TILES.apply(state, Revealed(positions=request.positions))
    assert [hand.points for hand in TILES.evaluate(opened).hands] == ["9", "7", "0"]
    movements, _ = finish(TILES, state)
    terms = Terms(
        held_minor={"a": 200, "b": 500, "c": 50},
        tax=Fraction(1, 50),
        jackpots={"two_doubles": JackpotTerms(prize_minor=900, fund_minor=700)},
    )
    settlement = settle_seats(Bank.SEAT, movements, terms)
    # a: 2 x 200 won, tax 8. c: 50 lost, and 6-6 with 4-4 hits what is left of the jackpot.
    assert settlement.totals() == {
        "a": 392,
        "b": -350,
        "c": 650,
        TAX: 8,
        fund_of("two_doubles"): -700,
    }
    assert settlement.capped == ()


# A trick game: swaps, cards played one by one, something to carry


def trick_table(**carry):
    state = TRICKS.start(CONFIG, seats=("a", "b"), roles={"leader": "a"}, bets={}, carry=carry)
    return deal(TRICKS, state, "AS 2H 3S 4H 5D 6C")


def test_a_swap_takes_cards_back_before_new_ones_are_drawn():
    state = decide(TRICKS, trick_table(), "b", "swap", card="4H")
    state = decide(TRICKS, state, "a", "swap", card="3S")
    first = TRICKS.next(state)
    assert (first.position, first.index) == ("b", 1)
    assert set(first.takes_back) == {("b", 1), ("a", 1)}
    state = deal(TRICKS, state, "3S")
    second = TRICKS.next(state)
    assert (second.position, second.index, second.takes_back) == ("a", 1, ())
    state = deal(TRICKS, state, "4H")
    assert seen(TRICKS, state, "a") == {"a": ["AS", "4H", "5D"], "b": []}
    assert seen(TRICKS, state, "b") == {"a": [], "b": ["2H", "3S", "6C"]}


def test_a_card_played_is_the_only_one_that_opens():
    state = trick_table()
    for seat in ("a", "b"):
        state = decide(TRICKS, state, seat, "keep")
    state = decide(TRICKS, state, "a", "play", card="3S")
    assert TRICKS.next(state) == Reveal(positions=("a",), only=(("a", 1),))
    assert seen(TRICKS, state, PUBLIC) == {"a": [], "b": []}
    state = TRICKS.apply(state, Revealed(positions=("a",), only=(("a", 1),)))
    assert seen(TRICKS, state, PUBLIC) == {"a": ["3S"], "b": []}


def test_suit_is_followed_and_the_winner_leads_and_leads_the_next_round():
    state = trick_table(leader="b")
    for seat in ("a", "b"):
        state = decide(TRICKS, state, seat, "keep")
    plays = []
    while not isinstance(request := TRICKS.next(state), Settle):
        if isinstance(request, Reveal):
            state = TRICKS.apply(state, Revealed(positions=request.positions, only=request.only))
            continue
        assert isinstance(request, Decide)
        (seat,) = request.seats
        plays.append((seat, sorted(card.code for card in request.actions[seat][0].pieces)))
        state = TRICKS.apply(state, Expired(seat=seat))
    assert plays == [
        ("b", ["2H", "4H", "6C"]),
        ("a", ["3S", "5D", "AS"]),
        ("b", ["4H", "6C"]),
        ("a", ["3S", "5D"]),
        ("b", ["6C"]),
        ("a", ["5D"]),
    ]
    movements, carry = finish(TRICKS, state)
    assert carry == {"leader": "b"}
    terms = Terms(held_minor={"a": 300, "b": 300}, unit_minor=100)
    assert settle_seats(Bank.PAIRWISE, movements, terms).totals() == {"b": 300, "a": -300}
    assert settle_seats(Bank.PAIRWISE, movements, Terms(held_minor={"a": 0, "b": 0})).totals() == {}
