"""The exact return of baccarat's bets, by enumeration through the rules that settle.

The shoe is ten classes of pips: four cards a deck of 1 to 9, sixteen of 0. All first two cards of
both sides are counted (55 x 55 unordered pairs), then the third cards that the table draws. Every
count is a number of ordered six-card draws, so that rounds of four, five and six cards add up.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement
from math import perm
from types import MappingProxyType

from studio.domain.cards import RANKS, SUITS
from studio.domain.theory import expected
from studio.games.baccarat.bets import BetKind, Paytable, main_bet, pair_bet
from studio.games.baccarat.rules import Pips, Side, Winner, drawing, winner

_CARDS_OF_A_ROUND = 6
_ZEROS_PER_SUIT = 4
_TWO_PIPS = tuple(combinations_with_replacement(range(10), 2))

Left = list[int]
"""How many cards of each class are left in the shoe."""


def _take(left: Left, hand: Pips) -> tuple[int, Left]:
    """Return in how many ordered ways `hand` is drawn, and what is left then."""
    ways, left = 1, list(left)
    for pips in hand:
        ways *= left[pips]
        left[pips] -= 1
    return ways, left


@lru_cache(maxsize=32)
def winner_counts(decks: int) -> Mapping[Winner, int]:
    """Return in how many ordered six-card draws each side wins; they sum to all of them."""
    per_class = decks * len(SUITS)
    return MappingProxyType(count_winners([per_class * _ZEROS_PER_SUIT, *([per_class] * 9)]))


def count_winners(shoe: Left) -> dict[Winner, int]:
    """Return the same for any shoe of at least six cards, given by its cards of each class."""
    counts: Counter[Winner] = Counter()
    for player in _TWO_PIPS:
        of_player, left = _take(shoe, player)
        for banker in _TWO_PIPS:
            of_banker, rest = _take(left, banker)
            orders = (1 + (player[0] != player[1])) * (1 + (banker[0] != banker[1]))
            _play_on(counts, player, banker, rest, ways=orders * of_player * of_banker)
    return dict(counts)


def _play_on(counts: Counter[Winner], player: Pips, banker: Pips, left: Left, *, ways: int) -> None:
    """Add what a round leads to from here, over every third card."""
    if not ways:
        return
    side = drawing(player, banker)
    if side is None:
        unused = _CARDS_OF_A_ROUND - len(player) - len(banker)
        counts[winner(player, banker)] += ways * perm(sum(left), unused)
        return
    for pips in range(10):
        drawn, rest = _take(left, (pips,))
        if side is Side.PLAYER:
            _play_on(counts, (*player, pips), banker, rest, ways=ways * drawn)
        else:
            _play_on(counts, player, (*banker, pips), rest, ways=ways * drawn)


def enumerate_return(kind: BetKind, decks: int, pays: Paytable) -> Mapping[Fraction, Fraction]:
    """Return net per unit staked -> probability."""
    if kind is BetKind.PAIR:
        chance = pair_chance(decks)
        chances = {True: chance, False: 1 - chance}
        return {pair_bet(pays, paired=paired)[0]: part for paired, part in chances.items()}
    counts = winner_counts(decks)
    whole = sum(counts.values())
    outcomes: dict[Fraction, Fraction] = defaultdict(Fraction)
    for won, count in counts.items():
        outcomes[main_bet(pays, kind, won)[0]] += Fraction(count, whole)
    return dict(outcomes)


def pair_chance(decks: int) -> Fraction:
    """Return the probability that two cards of a fresh shoe are of one rank."""
    size = decks * len(SUITS) * len(RANKS)
    return Fraction(decks * len(SUITS) - 1, size - 1)


def covariance(kind: BetKind, decks: int, pays: Paytable) -> Fraction:
    """Return the covariance of the nets of a kind's two bets; only pairs have two.

    The player's pair leaves its own rank two short; every other hand two cards of some ranks.
    """
    if kind is not BetKind.PAIR:
        return Fraction(0)
    of_rank = decks * len(SUITS)
    size = of_rank * len(RANKS)
    pairs_left = (len(RANKS) - 1) * perm(of_rank, 2) + perm(of_rank - 2, 2)
    both = pair_chance(decks) * Fraction(pairs_left, perm(size - 2, 2))
    one = pair_chance(decks)
    won, lost = (pair_bet(pays, paired=paired)[0] for paired in (True, False))
    mean_product = both * won**2 + 2 * (one - both) * won * lost + (1 - 2 * one + both) * lost**2
    return mean_product - expected(enumerate_return(kind, decks, pays)) ** 2
