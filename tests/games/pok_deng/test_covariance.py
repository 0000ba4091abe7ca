"""What the bets of one round share: the covariance of their nets, exact."""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb

import pytest

from studio.domain.cards import ALL_CARDS
from studio.domain.game import GameConfig
from studio.games import game
from studio.games.pok_deng.bets import BetKind
from studio.games.pok_deng.returns import covariance, products
from studio.games.pok_deng.rules import classify, main_bet, pair_bet

GAME = game("pok_deng")
PLACES = range(len(ALL_CARDS))


def nets_of(judge):
    """Return the net of every two faces under a judgement of a hand."""
    return [[int(judge(classify(one, other)).net) for other in ALL_CARDS] for one in ALL_CARDS]


BANKER = classify(ALL_CARDS[4], ALL_CARDS[17])
SHOES = [
    {0: 2, 13: 1, 26: 1, 9: 2, 22: 1},
    {4: 3, 17: 2, 30: 1, 12: 1},
    {place: 1 for place in range(0, 52, 6)},
]


@pytest.mark.parametrize("shoe", SHOES)
@pytest.mark.parametrize("judge", [pair_bet, lambda hand: main_bet(hand, BANKER)])
def test_the_sum_over_two_hands_is_the_one_that_counting_every_deal_gives(shoe, judge):
    nets = nets_of(judge)
    left = [shoe.get(place, 0) for place in PLACES]
    cards = [(place, copy) for place in PLACES for copy in range(left[place])]
    counted = sum(
        nets[one[0]][other[0]] * nets[third[0]][fourth[0]]
        for one, other in combinations(cards, 2)
        for third, fourth in combinations([card for card in cards if card not in (one, other)], 2)
    )
    assert products(nets, left) == counted


@pytest.mark.parametrize("decks", [1, 6, 8])
def test_pair_bets_share_only_the_shoe(decks):
    """One pair takes two cards of its rank out; then one rank is short and twelve are whole."""
    copies, size = 4 * decks, 52 * decks
    one = Fraction(13 * comb(copies, 2), comb(size, 2))
    after = Fraction(comb(copies - 2, 2) + 12 * comb(copies, 2), comb(size - 2, 2))
    # A net is 12 for a pair and 0 else, less 1: only the twelves vary together.
    assert covariance(BetKind.PAIR, decks) == 144 * (one * after - one * one)


def test_main_bets_share_the_bankers_hand():
    """With 8 decks: correlation 0.366; bets on two positions are far from independent."""
    exact = GAME.theoretical("main", GameConfig(decks=8))
    assert float(exact.variance) == pytest.approx(2.051081106170, abs=1e-12)
    assert float(exact.covariance) == pytest.approx(0.751684455942, abs=1e-12)
    assert 0 < exact.covariance < exact.variance


def test_a_bet_of_a_kind_answers_as_the_kind():
    assert (
        GAME.theoretical("p3", GameConfig(decks=6)).covariance
        == GAME.theoretical("main", GameConfig(decks=6)).covariance
    )


def test_the_outcomes_variance_is_the_textbooks():
    counts = Counter({Fraction(11): Fraction(31, 415), Fraction(-1): 1 - Fraction(31, 415)})
    mean = sum(net * chance for net, chance in counts.items())
    assert GAME.theoretical("pair", GameConfig(decks=8)).variance == (
        sum(net**2 * chance for net, chance in counts.items()) - mean**2
    )
