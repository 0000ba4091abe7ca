"""The exact return of Pok Deng's bets, by enumeration through the rules that settle.

All 1378 x 1378 combinations of a player's and the banker's two faces are counted, each with the
number of ways the decks can deal it without replacement. All player positions are alike: any
position's two cards and the banker's are four cards of one shuffled shoe. The work is kept small
by classifying each two faces once, and by correcting the banker's counts only for those hands
that share a face with the player's.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb
from types import MappingProxyType

from studio.domain.cards import ALL_CARDS, Card
from studio.domain.theory import expected
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


# What two positions share ------------------------------------------------------------------------

_Nets = Sequence[Sequence[int]]
"""Net per unit staked of every two faces, by their places in ALL_CARDS; symmetric."""


@lru_cache(maxsize=64)
def covariance(kind: BetKind, decks: int) -> Fraction:
    """Return the covariance of the nets of one kind of bet on two positions of one round.

    Main bets share the banker's hand and its pattern; pair bets share only the shoe, so that
    theirs is tiny.
    """
    return _mean_product(kind, decks) - expected(enumerate_return(kind, decks)) ** 2


def _mean_product(kind: BetKind, decks: int) -> Fraction:
    whole = [decks] * len(ALL_CARDS)
    size = sum(whole)
    if kind is BetKind.PAIR:
        nets = _nets(kind, _WORTH[TWO_FACES[0]])
        return Fraction(products(nets, whole), comb(size, 2) * comb(size - 2, 2))
    summed = weights = 0
    for faces, weight in _banker_hands(decks):
        left = list(whole)
        for card in faces:
            left[card.number - 1] -= 1
        summed += weight * products(_nets(kind, _WORTH[faces]), left)
        weights += weight
    return Fraction(summed, weights * comb(size - 2, 2) * comb(size - 4, 2))


def _banker_hands(decks: int) -> Iterator[tuple[Faces, int]]:
    """Yield one banker hand of each sort with the ways of its sort.

    The shoe holds every suit alike and the rules know suits only as equal or not: two ranks,
    and whether their suits are one, are all that the other hands can notice.
    """
    left = dict.fromkeys(ALL_CARDS, decks)
    sorts: dict[tuple[object, ...], tuple[Faces, int]] = {}
    for faces in TWO_FACES:
        number = ways(faces, left)
        if not number:
            continue
        first, second = faces
        sort = (frozenset({first.rank, second.rank}), first.suit is second.suit)
        known, before = sorts.get(sort, (faces, 0))
        sorts[sort] = (known, before + number)
    yield from sorts.values()


@lru_cache(maxsize=128)
def _nets(kind: BetKind, banker: Hand) -> _Nets:
    place = {card: index for index, card in enumerate(ALL_CARDS)}
    nets = [[0] * len(ALL_CARDS) for _ in ALL_CARDS]
    for (first, second), hand in _WORTH.items():
        net = (main_bet(hand, banker) if kind is BetKind.MAIN else pair_bet(hand)).net
        assert net.denominator == 1
        nets[place[first]][place[second]] = nets[place[second]][place[first]] = net.numerator
    return nets


def products(nets: _Nets, left: Sequence[int]) -> int:
    """Return the sum of net(first) x net(second) over all ways to draw two hands, one by one.

    Taking the first hand's two cards out of the sum over all pairs of cards takes away what each
    of them makes with any other card, and gives back what they make with one another.
    """
    faces = range(len(left))
    partners = [
        sum(copies * net for copies, net in zip(left, row, strict=True)) - row[face]
        for face, row in enumerate(nets)
    ]
    every_pair = sum(copies * made for copies, made in zip(left, partners, strict=True)) // 2
    summed = 0
    for one in faces:
        for other in range(one, len(left)):
            drawn = comb(left[one], 2) if one == other else left[one] * left[other]
            net = nets[one][other]
            summed += drawn * net * (every_pair - partners[one] - partners[other] + net)
    return summed
