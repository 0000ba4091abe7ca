"""The exact return of Pok Deng's bets, by enumeration through the rules that settle.

All 1378 x 1378 combinations of a player's and the banker's two faces are counted, each with the
number of ways the decks can deal it without replacement. All player positions are alike: any
position's two cards and the banker's are four cards of one shuffled shoe. The work is kept small
by classifying each two faces once, and by correcting the banker's counts only for those hands
that share a face with the player's.
"""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb
from types import MappingProxyType

from studio.domain.cards import ALL_CARDS, Card
from studio.games.pok_deng.bets import BetKind
from studio.games.pok_deng.rules import Hand, classify, main_bet, pair_bet

Faces = tuple[Card, Card]

TWO_FACES: tuple[Faces, ...] = tuple(combinations_with_replacement(ALL_CARDS, 2))
"""The 1378 hands by faces, two copies of one face among them."""

_WORTH: Mapping[Faces, Hand] = MappingProxyType({faces: classify(*faces) for faces in TWO_FACES})


def ways(faces: Faces, left: Mapping[Card, int]) -> int:
    """Return in how many ways two faces can be drawn from the copies that are left."""
    first, second = faces
    return comb(left[first], 2) if first == second else left[first] * left[second]


@lru_cache(maxsize=32)
def hand_counts(decks: int) -> Mapping[Hand, int]:
    """Return in how many ways each worth can be dealt as the first two cards."""
    left = dict.fromkeys(ALL_CARDS, decks)
    counts: Counter[Hand] = Counter()
    for faces in TWO_FACES:
        counts[_WORTH[faces]] += ways(faces, left)
    return MappingProxyType({hand: count for hand, count in counts.items() if count})


@lru_cache(maxsize=32)
def joint_counts(decks: int) -> Mapping[tuple[Hand, Hand], int]:
    """Return in how many ways each (player, banker) worth can be dealt, without replacement."""
    full = hand_counts(decks)
    touching = {card: tuple(faces for faces in TWO_FACES if card in faces) for card in ALL_CARDS}
    left = dict.fromkeys(ALL_CARDS, decks)
    whole = dict(left)
    counts: Counter[tuple[Hand, Hand]] = Counter()
    for faces in TWO_FACES:
        dealt = ways(faces, whole)
        if not dealt:
            continue
        player = _WORTH[faces]
        for card in faces:
            left[card] -= 1
        for banker, count in full.items():
            counts[player, banker] += dealt * count
        for shared in {*touching[faces[0]], *touching[faces[1]]}:
            counts[player, _WORTH[shared]] -= dealt * (ways(shared, whole) - ways(shared, left))
        for card in faces:
            left[card] += 1
    return MappingProxyType({pair: count for pair, count in counts.items() if count})


@lru_cache(maxsize=64)
def enumerate_return(kind: BetKind, decks: int) -> Mapping[Fraction, Fraction]:
    """Return net per unit staked -> probability, in falling order of net."""
    counts: Counter[Fraction] = Counter()
    if kind is BetKind.MAIN:
        for (player, banker), count in joint_counts(decks).items():
            counts[main_bet(player, banker).net] += count
    else:
        for player, count in hand_counts(decks).items():
            counts[pair_bet(player).net] += count
    total = counts.total()
    return MappingProxyType({net: Fraction(counts[net], total) for net in sorted(counts)[::-1]})
