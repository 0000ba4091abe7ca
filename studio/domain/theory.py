"""What a bet returns in theory: exact fractions, enumerated by the rules that settle."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, kw_only=True)
class TheoreticalReturn:
    """The exact return of a bet, enumerated through the rules that settle."""

    bet: str
    decks: int
    rtp: Fraction
    """Returned per unit staked (stake basis)."""
    outcomes: Mapping[Fraction, Fraction]
    """Net per unit staked -> probability; sums to 1."""
    covariance: Fraction
    """Of the nets of two different bets of this kind in one round, per unit staked.

    They may share cards, as all main bets share the bank's hand: what is staked on five of them
    then spreads its risk less than five stakes on five rounds would. 0 where a kind has one bet.
    """

    @property
    def variance(self) -> Fraction:
        """Of the net per unit staked."""
        squares = (chance * net**2 for net, chance in self.outcomes.items())
        return sum(squares, Fraction(0)) - (self.rtp - 1) ** 2


def expected(outcomes: Mapping[Fraction, Fraction]) -> Fraction:
    """Return the mean of `outcomes` (net -> probability).

    >>> expected({Fraction(1): Fraction(1, 4), Fraction(-1): Fraction(3, 4)})
    Fraction(-1, 2)
    """
    return sum((net * chance for net, chance in outcomes.items()), Fraction(0))
