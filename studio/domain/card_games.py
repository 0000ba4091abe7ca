"""What the plug-ins of card games share: pips, the opening burn, and plain refusals.

Games never import each other; what two of them would write alike lies here.
"""

from collections.abc import Iterable, Mapping

from studio.domain.cards import Card, Piece, Rank, parse_card
from studio.domain.errors import MalformedError, RefusedError
from studio.domain.game import Decision, Expired, GameEvent, Json, Left, Request, Voided

DECKS_MAX = 16
BURN_PER_ROUND_MAX = 10

_PIPS = {
    Rank.ACE: 1,
    Rank.TWO: 2,
    Rank.THREE: 3,
    Rank.FOUR: 4,
    Rank.FIVE: 5,
    Rank.SIX: 6,
    Rank.SEVEN: 7,
    Rank.EIGHT: 8,
    Rank.NINE: 9,
}

_BURN_OF_TEN_OR_FACE = 10
_SEATED_EVENTS = (Decision, Expired, Left, Voided)


def pips(card: Card) -> int:
    """Return what a card counts in a hand that is summed modulo 10: ace 1, ten and faces 0."""
    return _PIPS.get(card.rank, 0)


def burn_count(card: Card) -> int:
    """Return how many cards are burnt after `card` was turned first: ten and faces 10.

    Source: DESIGN section 3.
    """
    return _PIPS.get(card.rank, _BURN_OF_TEN_OR_FACE)


def need_card(piece: Piece, *, game: str) -> Card:
    """Return the piece as a card.

    Raises:
        MalformedError: `piece_not_in_game`.
    """
    if not isinstance(piece, Card):
        raise MalformedError("piece_not_in_game", f"{game} is played with cards.")
    return piece


def need_within(name: str, value: int, *, least: int, most: int) -> None:
    """Refuse a value out of its range.

    Raises:
        MalformedError: `<name>_out_of_range`.
    """
    if not least <= value <= most:
        raise MalformedError(
            f"{name}_out_of_range", f"{name} must be from {least} to {most}.", name=name
        )


def unknown_bet(bet: str, known: Iterable[str]) -> MalformedError:
    """Return the error for a bet that the game does not have."""
    return MalformedError(
        "unknown_bet", f"{bet!r} is not a bet; there are: {', '.join(known)}.", bet=bet
    )


def no_decisions(game: str) -> RefusedError:
    """Return the refusal of a decision in a game where nobody decides after betting."""
    return RefusedError("no_decisions", f"Nobody decides anything in {game} after betting.")


def not_asked(asked: Request, event: GameEvent, *, game: str) -> RefusedError:
    """Name what is awaited and what came; never the piece, which may be sealed."""
    came, awaited = type(event).__name__, type(asked).__name__
    if isinstance(event, _SEATED_EVENTS):
        return RefusedError(
            "no_decisions", f"{came}: {game} has no seats and no decisions.", came=came
        )
    return RefusedError(
        "not_asked_for", f"The game waits for {awaited}, not for {came}.", awaited=awaited
    )


def field(given: Mapping[str, Json], name: str) -> Json:
    """Return a value of a test vector's input.

    Raises:
        MalformedError: `field_missing`.
    """
    if name not in given:
        raise MalformedError("field_missing", f"{name!r} is missing.", name=name)
    return given[name]


def card_named(code: Json) -> Card:
    """Return the card that a test vector names.

    Raises:
        MalformedError: `unknown_card`.
    """
    if not isinstance(code, str):
        raise MalformedError("unknown_card", f"{code!r} is not a card.")
    return parse_card(code)
