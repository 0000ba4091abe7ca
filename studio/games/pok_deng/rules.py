"""The one place where the cards of Pok Deng become an outcome.

Two cards a hand. An ordinary hand is worth its pip total modulo 10; five special hands are worth
between 7 and 8. Order: 9 > 8 > 7.5 > 7.4 > 7.3 > 7.2 > 7.1 > 7 > ... > 0. Source: rule book,
section 17; document 004.
"""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum, unique
from fractions import Fraction

from studio.domain.card_games import pips
from studio.domain.cards import Card, Rank

_FACES = frozenset({Rank.JACK, Rank.QUEEN, Rank.KING})
_SPECIAL_PAIR_RANKS = frozenset({Rank.ACE, Rank.FIVE, Rank.SIX, Rank.TEN})

TENTHS = 10
"""Values are kept in tenths of a point, so that 7.4 is the whole number 74."""

_SOFT_BANKER_TENTHS = frozenset({0, 6 * TENTHS})
"""A banker worth exactly this takes the double pay from a special hand."""


@unique
class Pattern(StrEnum):
    """What a hand is called; the first that fits, in this order."""

    AK_SUITED = "ak_suited"
    """7.5: ace and king of one suit."""
    SPECIAL_PAIR = "special_pair"
    """7.4: a pair of aces, fives, sixes or tens, suited or not."""
    FACE_COMBO = "face_combo"
    """7.3: two of jack, queen, king, suited or not, paired or not."""
    TEN_FACE = "ten_face"
    """7.2: a ten and a face, suited or not."""
    ZERO_FLUSH = "zero_flush"
    """7.1: two suited cards without ten or face that add up to 10."""
    PAIR = "pair"
    """Two equal ranks, worth their total; also when they are two copies of one card."""
    FLUSH = "flush"
    """Two cards of one suit, worth their total."""
    PLAIN = "plain"
    """Anything else."""


_SPECIAL_TENTHS = {
    Pattern.AK_SUITED: 75,
    Pattern.SPECIAL_PAIR: 74,
    Pattern.FACE_COMBO: 73,
    Pattern.TEN_FACE: 72,
    Pattern.ZERO_FLUSH: 71,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Hand:
    """What two cards are worth."""

    value_tenths: int
    pattern: Pattern
    suited: bool
    paired: bool
    """Equal ranks: what the pair bet pays on, whatever the pattern is called."""

    @property
    def special(self) -> bool:
        """True for the hands worth 7.1 to 7.5."""
        return self.pattern in _SPECIAL_TENTHS

    @property
    def boosted(self) -> bool:
        """True when a win of this hand is worth 2:1 rather than 1:1."""
        return self.pattern is not Pattern.PLAIN

    @property
    def value(self) -> Decimal:
        """Points, e.g. `7.4` or `9`."""
        whole, tenths = divmod(self.value_tenths, TENTHS)
        return Decimal(f"{whole}.{tenths}") if tenths else Decimal(whole)


@unique
class Result(StrEnum):
    """How a player hand stands against the banker's, from the player's side."""

    WIN = "win"
    LOSE = "lose"
    TIE = "tie"


@unique
class Reason(StrEnum):
    """Why a bet brings what it brings; the screens translate it."""

    WINS = "wins"
    WINS_DOUBLE = "wins_double"
    """The winning player hand has a flush, a pair or a special hand."""
    WINS_SPECIAL_AGAINST_0_OR_6 = "wins_special_against_0_or_6"
    """A special hand that would have paid 2:1, but the banker is worth 0 or 6."""
    LOSES = "loses"
    LOSES_DOUBLE = "loses_double"
    """The winning banker hand has a flush, a pair or a special hand."""
    TIES = "ties"
    IS_PAIR = "is_pair"
    IS_NO_PAIR = "is_no_pair"


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What one bet brings."""

    result: Result
    net: Fraction
    """Per unit staked: 2 wins 2:1, 0 pushes, -1 loses the stake."""
    reason: Reason


_PAIR_ODDS = Fraction(11)


def classify(first: Card, second: Card) -> Hand:
    """Return what two cards are worth; their order does not matter.

    The tests run in the order of `Pattern`: a pair of fives is special even when suited, and a
    pair of jacks is a face combo.
    """
    suited = first.suit is second.suit
    paired = first.rank is second.rank
    total = pips(first) + pips(second)
    pattern = _pattern(first, second)
    return Hand(
        value_tenths=_SPECIAL_TENTHS.get(pattern, total % 10 * TENTHS),
        pattern=pattern,
        suited=suited,
        paired=paired,
    )


def _pattern(first: Card, second: Card) -> Pattern:
    ranks = {first.rank, second.rank}
    suited = first.suit is second.suit
    paired = len(ranks) == 1
    faces = (first.rank in _FACES) + (second.rank in _FACES)
    tests = (
        (suited and ranks == {Rank.ACE, Rank.KING}, Pattern.AK_SUITED),
        (paired and first.rank in _SPECIAL_PAIR_RANKS, Pattern.SPECIAL_PAIR),
        (faces == len((first, second)), Pattern.FACE_COMBO),
        (faces == 1 and Rank.TEN in ranks, Pattern.TEN_FACE),
        (suited and pips(first) + pips(second) == TENTHS, Pattern.ZERO_FLUSH),
        (paired, Pattern.PAIR),
        (suited, Pattern.FLUSH),
    )
    return next((pattern for holds, pattern in tests if holds), Pattern.PLAIN)


def main_bet(player: Hand, banker: Hand) -> Verdict:
    """Compare a player hand with the banker's.

    The winner's pattern alone decides between 1:1 and 2:1; the loser's never matters. The one
    exception favours the banker: see `PAYTABLE_VERSION`.
    """
    if player.value_tenths == banker.value_tenths:
        return Verdict(result=Result.TIE, net=Fraction(0), reason=Reason.TIES)
    if player.value_tenths < banker.value_tenths:
        if banker.boosted:
            return Verdict(result=Result.LOSE, net=Fraction(-2), reason=Reason.LOSES_DOUBLE)
        return Verdict(result=Result.LOSE, net=Fraction(-1), reason=Reason.LOSES)
    if player.special and banker.value_tenths in _SOFT_BANKER_TENTHS:
        return Verdict(
            result=Result.WIN, net=Fraction(1), reason=Reason.WINS_SPECIAL_AGAINST_0_OR_6
        )
    if player.boosted:
        return Verdict(result=Result.WIN, net=Fraction(2), reason=Reason.WINS_DOUBLE)
    return Verdict(result=Result.WIN, net=Fraction(1), reason=Reason.WINS)


def pair_bet(player: Hand) -> Verdict:
    """Judge the pair bet: equal ranks win 11:1, whatever the round's result."""
    if player.paired:
        return Verdict(result=Result.WIN, net=_PAIR_ODDS, reason=Reason.IS_PAIR)
    return Verdict(result=Result.LOSE, net=Fraction(-1), reason=Reason.IS_NO_PAIR)
