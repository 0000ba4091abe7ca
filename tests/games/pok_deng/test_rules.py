"""Pok Deng by its rules: every two cards, every refusal, every order of opening."""

import json
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from math import comb
from pathlib import Path

import pytest

from studio.domain.card_games import burn_count
from studio.domain.cards import ALL_CARDS, ALL_TILES, RANKS, parse_card
from studio.domain.errors import InvariantError, MalformedError, RefusedError
from studio.domain.game import (
    PUBLIC,
    Burn,
    Burnt,
    Deal,
    Decision,
    Done,
    Expired,
    GameConfig,
    Left,
    Reveal,
    Revealed,
    ScanAt,
    Scanned,
    Settle,
    Settled,
    Voided,
)
from studio.games import GAMES, by_code, game
from studio.games.pok_deng.returns import hand_counts, joint_counts
from studio.games.pok_deng.rules import (
    Pattern,
    Reason,
    Result,
    classify,
    main_bet,
    pair_bet,
)

REFERENCE = json.loads(Path(__file__).with_name("reference.json").read_text())
GAME = game("pok_deng")
ORDER = ("P1", "P2", "P3", "P4", "P5", "B")


def hand(codes):
    return classify(*map(parse_card, codes.split()))


def category(worth):
    """The name that the published counts use."""
    if worth.special:
        return str(worth.value)
    if worth.suited and worth.paired:
        return f"{worth.value} flush+pair"
    return f"{worth.value} {worth.pattern}"


# Every two cards


@pytest.mark.parametrize("decks", [1, 6, 8])
def test_every_category_of_two_cards_is_as_frequent_as_published(decks):
    counts = Counter()
    for first, second in combinations_with_replacement(ALL_CARDS, 2):
        copies = comb(decks, 2) if first == second else decks * decks
        counts[category(classify(first, second))] += copies
    assert +counts == REFERENCE["hand_categories"][str(decks)]
    assert counts.total() == comb(52 * decks, 2)


@pytest.mark.parametrize("decks", [1, 6, 8])
def test_two_hands_meet_as_often_as_published(decks):
    counts = Counter()
    for (player, banker), count in joint_counts(decks).items():
        counts[f"{player.value}|{banker.value}"] += count
    assert counts == REFERENCE["joint_values"][str(decks)]
    assert counts.total() == comb(52 * decks, 2) * comb(52 * decks - 2, 2)


def test_the_order_of_the_two_cards_does_not_matter():
    for first, second in combinations(ALL_CARDS, 2):
        assert classify(first, second) == classify(second, first)


def test_the_house_edge_is_the_exception_and_nothing_else():
    counts = joint_counts(8)
    total = sum(counts.values())
    exception = sum(
        count
        for (player, banker), count in counts.items()
        if main_bet(player, banker).reason is Reason.WINS_SPECIAL_AGAINST_0_OR_6
    )
    assert GAME.theoretical("main", GameConfig(decks=8)).rtp == 1 - Fraction(exception, total)


@pytest.mark.parametrize(
    ("reading", "soft"),
    [
        ("no_exception", lambda player: False),
        ("all_boosts", lambda player: player.boosted),
        (
            "special_pair_and_flush_exempt",
            lambda player: player.special and not (player.suited or player.paired),
        ),
    ],
)
def test_other_readings_of_the_exception_miss_the_published_return(reading, soft):
    counts = joint_counts(8)
    lost = sum(
        count
        for (player, banker), count in counts.items()
        if soft(player) and banker.value in (0, 6) and main_bet(player, banker).net > 0
    )
    rtp = 1 - Fraction(lost, sum(counts.values()))
    assert f"{float(rtp):.12f}" == REFERENCE["other_readings_of_0_or_6"][reading]
    assert (
        round(float(rtp), 4)
        != round(float(GAME.theoretical("main", GameConfig(decks=8)).rtp), 4)
        == 0.9835
    )


def test_without_a_second_copy_no_hand_is_suited_and_paired():
    assert not any(worth.suited and worth.paired for worth in hand_counts(1))
    assert any(worth.suited and worth.paired for worth in hand_counts(2))


@pytest.mark.parametrize(
    ("codes", "value", "pattern"),
    [
        ("AS KS", "7.5", Pattern.AK_SUITED),
        ("AS KH", "1", Pattern.PLAIN),
        ("AS AD", "7.4", Pattern.SPECIAL_PAIR),
        ("5S 5S", "7.4", Pattern.SPECIAL_PAIR),
        ("6S 6D", "7.4", Pattern.SPECIAL_PAIR),
        ("TS TS", "7.4", Pattern.SPECIAL_PAIR),
        ("JS JD", "7.3", Pattern.FACE_COMBO),
        ("QS KS", "7.3", Pattern.FACE_COMBO),
        ("TS JD", "7.2", Pattern.TEN_FACE),
        ("KS TS", "7.2", Pattern.TEN_FACE),
        ("AS 9S", "7.1", Pattern.ZERO_FLUSH),
        ("4S 6S", "7.1", Pattern.ZERO_FLUSH),
        ("4S 6D", "0", Pattern.PLAIN),
        ("9S 9S", "8", Pattern.PAIR),
        ("7S 7D", "4", Pattern.PAIR),
        ("8S 7S", "5", Pattern.FLUSH),
        ("8S 7D", "5", Pattern.PLAIN),
        ("TS 9S", "9", Pattern.FLUSH),
    ],
)
def test_two_cards_are_worth(codes, value, pattern):
    worth = hand(codes)
    assert (worth.value, worth.pattern) == (Decimal(value), pattern)


@pytest.mark.parametrize(
    ("player", "banker", "result", "net", "reason"),
    [
        ("9S KD", "8S KD", Result.WIN, 1, Reason.WINS),
        ("9S KS", "8S KD", Result.WIN, 2, Reason.WINS_DOUBLE),
        ("AS KS", "4S 6D", Result.WIN, 1, Reason.WINS_SPECIAL_AGAINST_0_OR_6),
        ("8S KD", "9S KD", Result.LOSE, -1, Reason.LOSES),
        ("8S KD", "9S KS", Result.LOSE, -2, Reason.LOSES_DOUBLE),
        ("9S KS", "9D KH", Result.TIE, 0, Reason.TIES),
    ],
)
def test_a_player_hand_against_the_bankers(player, banker, result, net, reason):
    verdict = main_bet(hand(player), hand(banker))
    assert (verdict.result, verdict.net, verdict.reason) == (result, net, reason)


def test_the_banker_is_paid_double_on_a_special_whatever_the_player_is_worth():
    assert main_bet(hand("4S 6D"), hand("AS KS")).net == -2
    assert main_bet(hand("2S 4D"), hand("TS KS")).net == -2


def test_the_pair_bet_looks_at_ranks_only():
    assert pair_bet(hand("JS JD")).net == 11
    assert pair_bet(hand("JS QD")).net == -1


@pytest.mark.parametrize(
    ("rank", "burn"), list(zip(RANKS, (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10), strict=True))
)
def test_the_first_card_of_a_shoe_burns_its_value(rank, burn):
    for suit in "SHDC":
        assert burn_count(parse_card(f"{rank}{suit}")) == burn
        assert GAME.opening_burn(parse_card(f"{rank}{suit}")) == burn


# The round


def started(**config):
    return GAME.start(GameConfig(**config), seats=(), roles={}, bets={}, carry={})


FIRST_CARDS = ("6C", "2H", "9H", "8H", "4D", "4H")
SECOND_CARDS = ("7S", "KS", "TD", "8D", "9C", "8C")
CARDS = [parse_card(code) for code in (*FIRST_CARDS, *SECOND_CARDS)]
"""P1 6C 7S, P2 2H KS, P3 9H TD, P4 8H 8D, P5 4D 9C, banker 4H 8C."""


def after_dealing(**config):
    state = started(burn_per_round=0, **config)
    for card in CARDS:
        state = GAME.apply(state, Scanned(piece=card))
    return state


def test_cards_are_dealt_one_round_after_the_other_face_down():
    state = started(burn_per_round=2)
    asked = []
    while not isinstance(request := GAME.next(state), Reveal):
        asked.append(request)
        state = GAME.apply(state, Scanned(piece=ALL_CARDS[0]))
    assert asked == [
        Burn(count=2),
        Burn(count=1),
        *(
            Deal(position=position, index=index, face_up=False)
            for index in (0, 1)
            for position in ORDER
        ),
    ]
    assert request == Reveal(positions=("P1",))


def test_cards_read_when_opened_are_asked_for_hand_by_hand_face_up():
    state = GAME.apply(started(scan_at=ScanAt.REVEAL), Burnt(count=1))
    asked = []
    while not isinstance(request := GAME.next(state), Settle):
        asked.append(request)
        state = GAME.apply(state, Scanned(piece=ALL_CARDS[0]))
    assert asked == [
        Deal(position=position, index=index, face_up=True) for position in ORDER for index in (0, 1)
    ]


def test_hands_are_opened_one_by_one_and_marked_once_the_banker_is_open():
    state = after_dealing()
    assert all(hand.visible == () for hand in GAME.view(state, PUBLIC).hands)
    for number, position in enumerate(ORDER, start=1):
        assert GAME.next(state) == Reveal(positions=(position,))
        assert GAME.evaluate(state).marks == ()
        state = GAME.apply(state, Revealed(positions=(position,)))
        evaluation = GAME.evaluate(state)
        assert [hand.position for hand in evaluation.hands] == list(ORDER[:number])
    marks = {mark.position: (mark.result, mark.rings) for mark in evaluation.marks}
    assert marks == {
        "P1": ("win", ()),
        "P2": ("tie", ()),
        "P3": ("win", ()),
        "P4": ("win", ("pair",)),
        "P5": ("win", ()),
    }
    assert GAME.next(state) == Settle()


def test_the_round_ends_with_nothing_to_carry():
    state = after_dealing()
    for position in ORDER:
        state = GAME.apply(state, Revealed(positions=(position,)))
    spots = GAME.settle(state)
    assert [spot.bet for spot in spots] == [
        *(f"p{number}" for number in range(1, 6)),
        *(f"p{number}_pair" for number in range(1, 6)),
    ]
    assert [spot.net for spot in spots] == [1, 0, 1, 2, 1, -1, -1, -1, 11, -1]
    assert [spot.reason for spot in spots][:5] == ["wins", "ties", "wins", "wins_double", "wins"]
    assert GAME.next(GAME.apply(state, Settled())) == Done(carry={})


def test_a_hand_read_when_opened_is_valued_at_its_second_card():
    state = started(burn_per_round=0, scan_at=ScanAt.REVEAL)
    state = GAME.apply(state, Scanned(piece=CARDS[0]))
    assert GAME.view(state, PUBLIC).hands[0].visible == ((0, CARDS[0]),)
    assert GAME.evaluate(state).hands == ()
    state = GAME.apply(state, Scanned(piece=CARDS[1]))
    (worth,) = GAME.evaluate(state).hands
    assert (worth.position, worth.points, worth.name) == ("P1", "8", "plain")


@pytest.mark.parametrize(
    ("state", "event", "code"),
    [
        (started(), Burnt(count=1), "not_asked_for"),
        (started(), Revealed(positions=("P1",)), "not_asked_for"),
        (started(), Settled(), "not_asked_for"),
        (started(), Decision(seat="P1", action="hit"), "no_decisions"),
        (started(), Expired(seat="P1"), "no_decisions"),
        (started(), Left(seat="P1"), "no_decisions"),
        (started(), Voided(position="P1"), "no_decisions"),
        (started(scan_at=ScanAt.REVEAL), Scanned(piece=CARDS[0]), "not_asked_for"),
        (started(scan_at=ScanAt.REVEAL), Burnt(count=0), "burn_count_wrong"),
        (started(scan_at=ScanAt.REVEAL), Burnt(count=2), "burn_count_wrong"),
        (after_dealing(), Scanned(piece=CARDS[0]), "not_asked_for"),
        (after_dealing(), Settled(), "not_asked_for"),
        (after_dealing(), Revealed(positions=("P2",)), "reveal_order"),
        (after_dealing(), Revealed(positions=("P1", "P2")), "reveal_order"),
        (after_dealing(), Revealed(positions=("P1",), only=(("P1", 0),)), "reveal_order"),
    ],
)
def test_an_event_is_refused(state, event, code):
    with pytest.raises(RefusedError) as refusal:
        GAME.apply(state, event)
    assert refusal.value.code == code
    assert CARDS[0].code not in f"{refusal.value} {dict(refusal.value.details)}"


def test_settling_is_refused_before_the_last_hand_is_open():
    with pytest.raises(RefusedError) as refusal:
        GAME.settle(after_dealing())
    assert refusal.value.code == "round_not_finished"


def test_a_decision_adds_no_exposure_because_there_is_none():
    with pytest.raises(RefusedError) as refusal:
        GAME.exposure(None, "p1", Decision(seat="P1", action="double"))
    assert refusal.value.code == "no_decisions"


def test_exposures_are_two_for_main_and_the_stake_for_pair_bets():
    for number in range(1, 6):
        assert GAME.exposure(None, f"p{number}", None) == (2, 2)
        assert GAME.exposure(started(), f"p{number}_pair", None) == (1, 11)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: GAME.describe(GameConfig(options={"jokers": 2})), "unknown_option"),
        (lambda: GAME.describe(GameConfig(decks=0)), "decks_out_of_range"),
        (lambda: GAME.describe(GameConfig(decks=17)), "decks_out_of_range"),
        (lambda: GAME.describe(GameConfig(burn_per_round=-1)), "burn_per_round_out_of_range"),
        (lambda: GAME.describe(GameConfig(burn_per_round=11)), "burn_per_round_out_of_range"),
        (lambda: GAME.theoretical("p6", GameConfig(decks=8)), "unknown_bet"),
        (lambda: GAME.theoretical("main", GameConfig(decks=0)), "decks_out_of_range"),
        (lambda: GAME.exposure(None, "main", None), "unknown_bet"),
        (lambda: GAME.opening_burn(ALL_TILES[0]), "piece_not_in_game"),
        (
            lambda: GAME.apply(after_burn(), Scanned(piece=ALL_TILES[0])),
            "piece_not_in_game",
        ),
        (
            lambda: GAME.start(GameConfig(), seats=("P1",), roles={}, bets={}, carry={}),
            "seats_not_allowed",
        ),
        (lambda: game("poker_deng"), "unknown_game"),
    ],
)
def test_what_cannot_be_read_is_malformed(call, code):
    with pytest.raises(MalformedError) as fault:
        call()
    assert fault.value.code == code


def after_burn():
    return GAME.apply(started(), Scanned(piece=ALL_CARDS[0]))


@pytest.mark.parametrize(
    ("op", "changes", "code"),
    [
        ("settle", {"banker": None}, "hand_size"),
        ("settle", {"banker": ["4H"]}, "hand_size"),
        ("settle", {"banker": ["4H", "8C", "9C"]}, "hand_size"),
        ("settle", {"banker": ["4H", "1C"]}, "unknown_card"),
        ("settle", {"banker": ["4H", 8]}, "unknown_card"),
        ("settle", {"bet_type": "tie"}, "unknown_bet"),
        ("settle", {"bet_type": []}, "unknown_bet"),
        ("settle", {"stake": 0}, "amount_not_positive"),
        ("settle", {"stake": 1e30}, "amount_not_integer"),
        ("settle", {"stake": "１００"}, "amount_not_integer"),
        ("settle", {"deposit": 100}, "deposit_wrong"),
        ("burn_count", {"card": "00"}, "unknown_card"),
    ],
)
def test_a_vector_that_cannot_be_read_is_malformed(op, changes, code):
    whole = {
        "banker": ["4H", "8C"],
        "player": ["6C", "7S"],
        "bet_type": "main",
        "stake": 100,
        "deposit": 200,
    }
    with pytest.raises(MalformedError) as fault:
        GAME.operations[op](whole | changes)
    assert fault.value.code == code


@pytest.mark.parametrize("missing", ["banker", "player", "bet_type", "stake"])
def test_a_vector_without_a_field_is_malformed(missing):
    whole = {"banker": ["4H", "8C"], "player": ["6C", "7S"], "bet_type": "main", "stake": 100}
    with pytest.raises(MalformedError) as fault:
        GAME.operations["settle"]({name: value for name, value in whole.items() if name != missing})
    assert fault.value.code == "field_missing"


def test_two_games_of_one_code_stop_the_start():
    with pytest.raises(InvariantError) as fault:
        by_code((*GAMES, GAMES[0]))
    assert fault.value.code == "game_registered_twice"
