"""The ten bets of Pok Deng as data, and the versions they run under.

Source: rule book, section 17, "Bets" and "Pays".
"""

from enum import StrEnum, unique
from fractions import Fraction

from studio.domain.game import Bet, Position

PLAYERS: tuple[Position, ...] = ("P1", "P2", "P3", "P4", "P5")
BANKER: Position = "B"
POSITIONS: tuple[Position, ...] = (*PLAYERS, BANKER)
"""Order of dealing and of opening."""


@unique
class BetKind(StrEnum):
    """The two kinds of bets; each player position has one of both."""

    MAIN = "main"
    """The position beats the banker. Can lose 2:1: stake and an equal deposit are held."""
    PAIR = "pair"
    """The position's two cards are of one rank. Loses the stake at most."""


BETS: tuple[Bet, ...] = (
    *(
        Bet(
            code=position.lower(),
            position=position,
            exposure=Fraction(2),
            bank_exposure=Fraction(2),
            settles_on=BetKind.MAIN,
        )
        for position in PLAYERS
    ),
    *(
        Bet(
            code=f"{position.lower()}_pair",
            position=position,
            exposure=Fraction(1),
            bank_exposure=Fraction(11),
            settles_on=BetKind.PAIR,
        )
        for position in PLAYERS
    ),
)

RULE_VERSION = "pok_deng.rules.1"
PAYTABLE_VERSION = "pok_deng.pays.1+special-against-0-or-6-by-worth"
"""Exception in force: a player's 7.1-7.5 that beats a banker hand *worth* 0 or 6 pays 1:1.

Worth, not pip total: a banker with 5-5 is worth 7.4, not 0. The document's own note on it is
missing; this reading agrees with its examples 8 and 9 and alone gives the published return.
"""

CHANGES: tuple[str, ...] = (
    "Version 1: ten bets. A player hand of 7.1 to 7.5 that beats a banker hand worth 0 or 6 is "
    "paid 1:1; every other win or loss to a flush, a pair or a special hand is 2:1.",
)
