"""Money: whole minor units of one currency, odds as fractions, one rounding.

Rounding rule `down_to_minor_unit`: the payout of a wager is computed exactly and rounded down
to a whole minor unit, once. Source: DESIGN section 5.
"""

from dataclasses import dataclass
from fractions import Fraction

from studio.domain.errors import MalformedError

STAKE_MINOR_MAX = 10**12
"""No stake can be larger, whatever the limits say: keeps products inside 64 bits."""


@dataclass(frozen=True, kw_only=True)
class Currency:
    """A currency: its code (ISO 4217 for money) and the decimals of its major unit."""

    code: str
    decimals: int
    play: bool = False
    """Play money: worth nothing outside, never in one studio with money."""

    def format(self, amount_minor: int) -> str:
        """Return the amount in major units with a grouping comma.

        >>> Currency(code="JPY", decimals=0).format(1234)
        '1,234'
        >>> Currency(code="EUR", decimals=2).format(-5)
        '-0.05'
        """
        sign = "-" if amount_minor < 0 else ""
        major, minor = divmod(abs(amount_minor), 10**self.decimals)
        return f"{sign}{major:,}" + (f".{minor:0{self.decimals}d}" if self.decimals else "")


CURRENCIES = {
    currency.code: currency
    for currency in (
        Currency(code="JPY", decimals=0),
        Currency(code="USD", decimals=2),
        Currency(code="EUR", decimals=2),
        Currency(code="GBP", decimals=2),
        Currency(code="THB", decimals=2),
        Currency(code="G", decimals=2, play=True),
        Currency(code="PLAY", decimals=0, play=True),
    )
}


def parse_amount_minor(value: object, *, name: str) -> int:
    """Return `value` as a positive whole number of minor units.

    Only a JSON integer is an amount: a float, a numeral in a string (of any script) or a boolean
    is refused, so that nothing is ever rounded or reinterpreted on the way in.

    Raises:
        MalformedError: `amount_not_integer`, `amount_not_positive`, `amount_too_large`.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise MalformedError(
            "amount_not_integer",
            f"{name} must be a whole number of minor units, written as a JSON integer.",
            name=name,
        )
    if value <= 0:
        raise MalformedError("amount_not_positive", f"{name} must be greater than 0.", name=name)
    if value > STAKE_MINOR_MAX:
        raise MalformedError(
            "amount_too_large", f"{name} must be at most {STAKE_MINOR_MAX}.", name=name
        )
    return value


def hold_minor(*, stake_minor: int, exposure: Fraction) -> int:
    """Return what is reserved for a wager that can lose `exposure` units per unit staked.

    Rounded up, so that the hold always covers the loss.
    """
    return -((-stake_minor * exposure.numerator) // exposure.denominator)


def payout_minor(*, stake_minor: int, hold_minor: int, net: Fraction) -> int:
    """Return all that goes back to the wallet: the hold plus `net` units per unit staked.

    `net` is the profit per unit (win 11:1 is 11, push is 0, a loss of 2:1 is -2). Rounded down
    once. The database settles with the same integer formula:
    (hold x denominator + stake x numerator) / denominator.

    >>> payout_minor(stake_minor=100, hold_minor=200, net=Fraction(2))
    400
    >>> payout_minor(stake_minor=5, hold_minor=5, net=Fraction(19, 20))
    9
    """
    return (hold_minor * net.denominator + stake_minor * net.numerator) // net.denominator
