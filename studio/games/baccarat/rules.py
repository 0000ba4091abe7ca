"""The one place where the cards of baccarat become an outcome.

A hand is worth its pips modulo 10; the higher total wins. Who draws a third card is decided by
table alone, nobody chooses. All functions take pips (0..9), not cards: suits never matter, and
ranks only for the pair bets. Source: rule book, section 1, with its resolutions 1 to 4.
"""

from collections.abc import Sequence
from enum import StrEnum, unique

Pips = Sequence[int]
"""What the cards of one hand count, in the order of the deal."""

CARDS_BEFORE_THIRD = 2
CARDS_MAX = 3
NATURAL_MIN = 8
PLAYER_DRAWS_MAX = 5
"""The player side draws on 0 to 5; so does the banker side when the player side stood."""

BANKER_DRAWS_ON: Sequence[frozenset[int]] = (
    *(frozenset(range(10)) for _ in range(3)),
    frozenset(range(10)) - {8},
    frozenset(range(2, 8)),
    frozenset(range(4, 8)),
    frozenset({6, 7}),
    frozenset(),
)
"""By the banker's two-card total, 0 to 7: the player's third cards on which the banker draws."""


@unique
class Side(StrEnum):
    """A hand; its value is its position on the felt."""

    PLAYER = "P"
    BANKER = "B"


@unique
class Winner(StrEnum):
    """How a round ended."""

    PLAYER = "P"
    BANKER = "B"
    TIE = "T"


@unique
class Call(StrEnum):
    """What the dealer calls out."""

    NATURAL = "natural"
    PLAYER_DRAWS = "player_draws"
    PLAYER_NO_CARD = "player_no_card"
    BANKER_DRAWS = "banker_draws"
    BANKER_NO_CARD = "banker_no_card"
    PLAYER_WINS = "player_wins"
    BANKER_WINS = "banker_wins"
    TIE = "tie"


_WINNING_CALL = {
    Winner.PLAYER: Call.PLAYER_WINS,
    Winner.BANKER: Call.BANKER_WINS,
    Winner.TIE: Call.TIE,
}


def total(hand: Pips) -> int:
    """Return what a hand is worth.

    >>> total([9, 7])
    6
    """
    return sum(hand) % 10


def is_natural(hand: Pips) -> bool:
    """Return whether a hand's first two cards make 8 or 9."""
    return len(hand) == CARDS_BEFORE_THIRD and total(hand) >= NATURAL_MIN


def drawing(player: Pips, banker: Pips) -> Side | None:
    """Return who draws the next card, None when the hands stand as they are.

    `player` and `banker` hold two or three cards each, as dealt so far.
    """
    if is_natural(player) or is_natural(banker) or len(banker) == CARDS_MAX:
        return None
    if len(player) == CARDS_MAX:
        return Side.BANKER if player[-1] in BANKER_DRAWS_ON[total(banker)] else None
    if total(player) <= PLAYER_DRAWS_MAX:
        return Side.PLAYER
    return Side.BANKER if total(banker) <= PLAYER_DRAWS_MAX else None


def winner(player: Pips, banker: Pips) -> Winner:
    """Compare two finished hands."""
    if total(player) == total(banker):
        return Winner.TIE
    return Winner.PLAYER if total(player) > total(banker) else Winner.BANKER


def calls(player: Pips, banker: Pips) -> tuple[Call, ...]:
    """Return what the dealer calls once the first four cards lie: who draws, at last who wins."""
    if min(len(player), len(banker)) < CARDS_BEFORE_THIRD:
        return ()
    side = drawing(player, banker)
    if side is Side.PLAYER:
        return (Call.PLAYER_DRAWS,)
    stood = (Call.PLAYER_NO_CARD,) if len(player) == CARDS_BEFORE_THIRD else ()
    if side is Side.BANKER:
        return (*stood, Call.BANKER_DRAWS)
    won = _WINNING_CALL[winner(player, banker)]
    if is_natural(player) or is_natural(banker):
        return (Call.NATURAL, won)
    if len(banker) == CARDS_MAX:
        return (won,)
    return (*stood, Call.BANKER_NO_CARD, won)
