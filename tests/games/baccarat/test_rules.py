"""Baccarat by its rules: every third card, every call, every refusal."""

import json
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from pathlib import Path

import pytest

from studio.domain.cards import ALL_CARDS, ALL_TILES, parse_card
from studio.domain.errors import MalformedError, RefusedError
from studio.domain.game import (
    PUBLIC,
    Burn,
    Burnt,
    Deal,
    Decision,
    Done,
    Expired,
    GameConfig,
    RoadKind,
    ScanAt,
    Scanned,
    Settle,
    Settled,
)
from studio.domain.money import STAKE_MINOR_MAX, payout_minor
from studio.games import game
from studio.games.baccarat.bets import BetKind, Paytable, results
from studio.games.baccarat.returns import count_winners, covariance, pair_chance, winner_counts
from studio.games.baccarat.rules import Side, Winner, calls, drawing, winner

GAME = game("baccarat")
PLAIN = GameConfig(burn_per_round=0)

# Written out by hand from the rule book: rows are the banker's total 0 to 7, columns the player's
# third card 0 to 9. D draws, S stands.
BANKER_TABLE = (
    "DDDDDDDDDD",
    "DDDDDDDDDD",
    "DDDDDDDDDD",
    "DDDDDDDDSD",
    "SSDDDDDDSS",
    "SSSSDDDDSS",
    "SSSSSSDDSS",
    "SSSSSSSSSS",
)


def hands_of(total):
    """Every two pips that make a total."""
    return [hand for hand in product(range(10), repeat=2) if sum(hand) % 10 == total]


@pytest.mark.parametrize("banker_total", range(10))
@pytest.mark.parametrize("player_total", range(10))
def test_the_third_card_table_over_all_totals_and_third_cards(player_total, banker_total):
    for player, banker in product(hands_of(player_total), hands_of(banker_total)):
        first = drawing(player, banker)
        if player_total >= 8 or banker_total >= 8:
            assert first is None
            continue
        if player_total >= 6:
            assert first is (Side.BANKER if banker_total <= 5 else None)
            if first is not None:
                assert all(drawing(player, (*banker, card)) is None for card in range(10))
            continue
        assert first is Side.PLAYER
        for third in range(10):
            draws = BANKER_TABLE[banker_total][third] == "D"
            assert drawing((*player, third), banker) is (Side.BANKER if draws else None)
            if draws:
                drawn = [drawing((*player, third), (*banker, card)) for card in range(10)]
                assert drawn == [None] * 10


CARD_OF = {0: "K", 1: "A", **{pips: str(pips) for pips in range(2, 10)}}


def dealt(*faces, config=PLAIN):
    """The state after these faces, in the order of the deal."""
    state = GAME.start(config, seats=(), roles={}, bets={}, carry={})
    for face in faces:
        state = GAME.apply(state, Scanned(piece=parse_card(face)))
    return state


@pytest.mark.parametrize("player_total", range(10))
def test_the_game_asks_for_the_cards_of_the_table_and_no_other(player_total):
    for banker_total, third in product(range(10), range(10)):
        faces = ["KS", "KH", f"{CARD_OF[player_total]}D", f"{CARD_OF[banker_total]}C"]
        state = dealt(*faces)
        if max(player_total, banker_total) >= 8:
            assert GAME.next(state) == Settle()
            continue
        if player_total <= 5:
            assert GAME.next(state) == Deal(position="P", index=2, face_up=True)
            state = GAME.apply(state, Scanned(piece=parse_card(f"{CARD_OF[third]}S")))
            banker_draws = BANKER_TABLE[banker_total][third] == "D"
        else:
            banker_draws = banker_total <= 5
        if banker_draws:
            assert GAME.next(state) == Deal(position="B", index=2, face_up=True)
            state = GAME.apply(state, Scanned(piece=parse_card("QS")))
        assert GAME.next(state) == Settle()


def test_the_first_four_cards_go_player_banker_player_banker_face_up():
    asked = []
    state = dealt()
    for face in ("2S", "3S", "4S", "5S"):
        asked.append(GAME.next(state))
        state = GAME.apply(state, Scanned(piece=parse_card(face)))
    places = [("P", 0), ("B", 0), ("P", 1), ("B", 1)]
    assert asked == [Deal(position=at, index=n, face_up=True) for at, n in places]
    shown = GAME.view(state, PUBLIC)
    assert {hand.position: [card.code for _, card in hand.visible] for hand in shown.hands} == {
        "P": ["2S", "4S"],
        "B": ["3S", "5S"],
    }


@pytest.mark.parametrize(
    ("player", "banker", "said"),
    [
        ((), (), ()),
        ((9,), (), ()),
        ((9, 0), (5,), ()),
        ((9, 0), (2, 5), ("natural", "player_wins")),
        ((0, 0), (4, 4), ("natural", "banker_wins")),
        ((4, 4), (3, 5), ("natural", "tie")),
        ((2, 3), (0, 7), ("player_draws",)),
        ((2, 4), (0, 5), ("player_no_card", "banker_draws")),
        ((2, 4), (0, 7), ("player_no_card", "banker_no_card", "banker_wins")),
        ((2, 5), (0, 7), ("player_no_card", "banker_no_card", "tie")),
        ((0, 0, 6), (4, 2), ("banker_draws",)),
        ((0, 0, 8), (1, 2), ("banker_no_card", "player_wins")),
        ((2, 4), (0, 5, 4), ("banker_wins",)),
        ((0, 0, 6), (4, 2, 0), ("tie",)),
    ],
)
def test_the_dealer_calls(player, banker, said):
    assert calls(player, banker) == said


def test_the_mark_stands_only_when_all_is_dealt():
    state = dealt("KS", "7H", "5D", "KC")
    assert GAME.evaluate(state).marks == ()
    assert [hand.points for hand in GAME.evaluate(state).hands] == ["5", "7"]
    state = GAME.apply(state, Scanned(piece=parse_card("2S")))
    (mark,) = GAME.evaluate(state).marks
    assert (mark.position, mark.result, mark.rings) == ("P", "tie", ())


def test_one_card_is_worth_nothing_yet():
    assert GAME.evaluate(dealt("9S", "7H")).hands == ()


# Bets ------------------------------------------------------------------------------------------


def test_every_bet_under_every_option_and_result():
    paired = {Side.PLAYER: True, Side.BANKER: False}
    for tie_gross, bonus, won in product((8, 9), (False, True), Winner):
        pays = Paytable(tie_gross=tie_gross, pair_bets=True, online_bonus=bonus)
        nets = {spot.bet: spot.net for spot in results(pays, won, paired)}
        factor = Fraction(3, 2) if bonus else 1
        push, lost = Fraction(0), Fraction(-1)
        expected = {
            "player": {"P": 2 * factor - 1, "T": push},
            "banker": {"B": Fraction(39, 20) * factor - 1, "T": push},
            "tie": {"T": tie_gross * factor - 1},
            "player_pair": dict.fromkeys("PBT", 12 * factor - 1),
            "banker_pair": {},
        }
        assert nets == {bet: by_winner.get(won, lost) for bet, by_winner in expected.items()}


@pytest.mark.parametrize(("stake", "payout"), [(1, 1), (19, 37), (20, 39), (999, 1948)])
def test_a_banker_win_is_rounded_down_once(stake, payout):
    assert payout_minor(stake_minor=stake, hold_minor=stake, net=Fraction(19, 20)) == payout


def test_a_bet_holds_its_stake():
    for code in ("player", "banker", "tie", "player_pair", "banker_pair"):
        assert GAME.exposure(None, code, None)[0] == 1


def test_the_bank_can_lose_what_the_options_pay():
    described = GAME.describe(GameConfig(options={"tie_gross": 9, "pair_bets": True}))
    assert {bet.code: bet.bank_exposure for bet in described.bets} == {
        "player": 1,
        "banker": Fraction(19, 20),
        "tie": 8,
        "player_pair": 11,
        "banker_pair": 11,
    }
    state = GAME.start(GameConfig(), seats=(), roles={}, bets={}, carry={})
    assert GAME.exposure(state, "tie", None) == (1, 7)


def test_pair_bets_are_offered_only_where_the_table_wants_them():
    plain = GAME.describe(GameConfig())
    assert [bet.code for bet in plain.bets] == ["player", "banker", "tie"]
    assert [bet.position for bet in plain.bets] == ["P", "B", None]
    assert plain.road is RoadKind.TWO_SIDED


def test_only_the_online_bonus_is_for_play_money_alone():
    for options, only in (
        ({}, ()),
        ({"tie_gross": 9, "pair_bets": True}, ()),
        ({"online_bonus": False}, ()),
        ({"online_bonus": True}, ("online_bonus",)),
    ):
        assert GAME.describe(GameConfig(options=options)).play_money_only == only


def test_every_option_has_a_paytable_version_of_its_own():
    versions = Counter(
        Paytable(tie_gross=tie, pair_bets=pairs, online_bonus=bonus).version
        for tie, pairs, bonus in product((8, 9), (False, True), (False, True))
    )
    assert set(versions.values()) == {1}
    assert max(map(len, versions)) <= 60


# Returns ---------------------------------------------------------------------------------------


def test_counting_every_deal_of_a_small_shoe_gives_the_same_winners():
    """Every ordered deal of seven cards is played card by card."""
    shoe = [0, 0, 3, 5, 6, 6, 7]
    counted = Counter(play(order) for order in permutations(shoe, 6))
    assert count_winners([shoe.count(pips) for pips in range(10)]) == counted


def play(order):
    cards = iter(order)
    hands = {Side.PLAYER: [], Side.BANKER: []}
    for side in (Side.PLAYER, Side.BANKER) * 2:
        hands[side].append(next(cards))
    while (side := drawing(hands[Side.PLAYER], hands[Side.BANKER])) is not None:
        hands[side].append(next(cards))
    return winner(hands[Side.PLAYER], hands[Side.BANKER])


@pytest.mark.parametrize("decks", [1, 6, 8])
def test_the_winners_are_counted_over_all_ordered_six_card_draws(decks):
    size = 52 * decks
    total = 1
    for drawn in range(6):
        total *= size - drawn
    assert sum(winner_counts(decks).values()) == total


def test_pairs_of_one_shoe_hang_together_a_little():
    """Two hands of one deck, card by card: 49 of the other 50 cards' pairs are counted."""
    ranks = [rank for rank in range(13) for _ in range(4)]
    hands = list(combinations_with_replacement(range(13), 2))
    ways = {pair: 6 if pair[0] == pair[1] else 16 for pair in hands}
    both = sum(ways[own] * sum_of_pairs(ranks, own) for own in hands if own[0] == own[1])
    one = Fraction(13 * 6, 1326)
    chance = Fraction(both, 1326 * 1225)
    assert pair_chance(1) == one
    # A net is 12 for a pair and 0 else, less 1: only the twelves vary together.
    assert covariance(BetKind.PAIR, 1, Paytable()) == 144 * (chance - one * one)


def sum_of_pairs(ranks, own):
    left = Counter(ranks)
    left.subtract(own)
    return sum(count * (count - 1) // 2 for count in left.values())


def test_bets_of_kinds_with_one_bet_have_nothing_to_vary_with():
    for kind in ("player", "banker", "tie"):
        assert GAME.theoretical(kind, GameConfig()).covariance == 0


def test_no_payout_of_the_largest_stake_leaves_64_bits():
    most = max(bet.bank_exposure for bet in Paytable(pair_bets=True, online_bonus=True).bets)
    assert STAKE_MINOR_MAX * (most.numerator + most.denominator) < 2**63


# Refusals --------------------------------------------------------------------------------------

READ_WHEN_OPENED = GameConfig(scan_at=ScanAt.REVEAL)


@pytest.mark.parametrize(
    ("state", "event", "code"),
    [
        (dealt(), Burnt(count=1), "not_asked_for"),
        (dealt(), Settled(), "not_asked_for"),
        (dealt(), Decision(seat="P", action="hit"), "no_decisions"),
        (dealt(), Expired(seat="P"), "no_decisions"),
        (dealt("9S", "2H", "KS", "3H"), Scanned(piece=ALL_CARDS[3]), "not_asked_for"),
        (dealt(config=READ_WHEN_OPENED), Scanned(piece=ALL_CARDS[3]), "not_asked_for"),
        (dealt(config=READ_WHEN_OPENED), Burnt(count=0), "burn_count_wrong"),
        (dealt(config=READ_WHEN_OPENED), Burnt(count=2), "burn_count_wrong"),
    ],
)
def test_an_event_is_refused(state, event, code):
    with pytest.raises(RefusedError) as refusal:
        GAME.apply(state, event)
    assert refusal.value.code == code


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: GAME.describe(GameConfig(options={"tie": 8})), "unknown_option"),
        (lambda: GAME.describe(GameConfig(options={"tie_gross": 7})), "option_wrong"),
        (lambda: GAME.describe(GameConfig(options={"tie_gross": "8"})), "option_wrong"),
        (lambda: GAME.describe(GameConfig(options={"tie_gross": 8.0})), "option_wrong"),
        (lambda: GAME.describe(GameConfig(options={"tie_gross": True})), "option_wrong"),
        (lambda: GAME.describe(GameConfig(options={"pair_bets": 1})), "option_wrong"),
        (lambda: GAME.describe(GameConfig(options={"pair_bets": "yes"})), "option_wrong"),
        (lambda: GAME.describe(GameConfig(decks=17)), "decks_out_of_range"),
        (lambda: GAME.describe(GameConfig(burn_per_round=11)), "burn_per_round_out_of_range"),
        (lambda: GAME.theoretical("dragon", GameConfig()), "unknown_bet"),
        (lambda: GAME.theoretical("tie", GameConfig(decks=0)), "decks_out_of_range"),
        (lambda: GAME.exposure(None, "pair", None), "unknown_bet"),
        (lambda: GAME.opening_burn(ALL_TILES[0]), "piece_not_in_game"),
        (lambda: GAME.apply(dealt(), Scanned(piece=ALL_TILES[0])), "piece_not_in_game"),
        (
            lambda: GAME.start(PLAIN, seats=("seat1",), roles={}, bets={}, carry={}),
            "seats_not_allowed",
        ),
        (lambda: GAME.operations["round"]({"player": ["AS"]}), "hand_size"),
        (lambda: GAME.operations["round"]({"banker": []}), "field_missing"),
        (
            lambda: GAME.operations["round"]({"player": ["AS", "2S"], "banker": ["AH", "2H"]}),
            "card_missing",
        ),
        (lambda: gross(winner="X"), "unknown_winner"),
        (lambda: gross(bet="player_pair"), "unknown_bet"),
        (lambda: gross(bet=5), "unknown_bet"),
        (lambda: gross(stake="1.005"), "amount_malformed"),
        (lambda: gross(stake="0"), "amount_malformed"),
        (lambda: gross(stake="ten"), "amount_malformed"),
        (lambda: gross(stake="Infinity"), "amount_malformed"),
        (lambda: gross(stake=True), "amount_malformed"),
        (lambda: gross(stake=1.5), "amount_malformed"),
    ],
)
def test_bad_input_is_named(call, code):
    with pytest.raises(MalformedError) as fault:
        call()
    assert fault.value.code == code


def gross(**changes):
    return GAME.operations["gross_return"](
        {"bet": "banker", "stake": "10", "winner": "B"} | changes
    )


def test_settling_is_refused_before_all_is_dealt():
    with pytest.raises(RefusedError) as refusal:
        GAME.settle(dealt("2S", "3S", "KS", "KH"))
    assert refusal.value.code == "round_not_finished"


def test_nobody_decides():
    with pytest.raises(RefusedError) as refusal:
        GAME.exposure(None, "player", Decision(seat="P", action="double"))
    assert refusal.value.code == "no_decisions"


def test_a_table_that_burns_does_so_before_the_first_card():
    state = dealt(config=GameConfig(burn_per_round=1))
    assert GAME.next(state) == Burn(count=1)
    state = GAME.apply(state, Scanned(piece=ALL_CARDS[0]))
    assert GAME.next(state) == Deal(position="P", index=0, face_up=True)


def test_a_settled_round_is_done_and_carries_nothing():
    state = GAME.apply(dealt("9S", "2H", "KS", "3H"), Settled())
    assert GAME.next(state) == Done(carry={})


# The published counts --------------------------------------------------------------------------

SHARED = Path(__file__).parents[4] / "shared" / "games" / "reference.json"


@pytest.mark.skipif(not SHARED.is_file(), reason="the project's material does not lie beside it")
@pytest.mark.parametrize("decks", [1, 6, 8])
def test_the_counts_are_the_published_ones(decks):
    published = json.loads(SHARED.read_text())["baccarat"][f"decks_{decks}"]["counts"]
    assert {won.value: count for won, count in winner_counts(decks).items()} == published
