"""What a supervisor may do about each trouble at a table, and why not the rest.

Only choices: each names the command that carries it out, and that command is decided as always.
Source: PROCEDURES section 1 and 4.2; DESIGN section 6.
"""

from dataclasses import dataclass
from enum import StrEnum, unique

from studio.domain.event_parts import Held
from studio.domain.round import Phase
from studio.domain.table import Stage, TableState


@unique
class Situation(StrEnum):
    """What has happened. Some the log sees; the others a supervisor names."""

    UNNEEDED_CARD = "unneeded_card"
    TWO_CARDS = "two_cards"
    POSITION_SKIPPED = "position_skipped"
    CARD_EXPOSED = "card_exposed"
    BURN_FORGOTTEN = "burn_forgotten"
    BURN_COUNT_WRONG = "burn_count_wrong"
    CARD_DOUBLED = "card_doubled"
    FOREIGN_CARD = "foreign_card"
    OUT_OF_TURN = "out_of_turn"
    CARD_UNREADABLE = "card_unreadable"


@unique
class Way(StrEnum):
    """What may be done."""

    BURN_IT = "burn_it"
    """The held card counts as burnt; play goes on."""
    SET_ASIDE = "set_aside"
    """The held card was never due from this shoe; play goes on without it."""
    GO_ON = "go_on"
    """Play goes on as the cards lie."""
    RE_LAY = "re_lay"
    """The cards are laid to the places in which the studio read them; play goes on."""
    FIRST_THEN_SECOND = "first_then_second"
    """The first card is shown as dealt, the second again after it."""
    TRY_AGAIN = "try_again"
    """The camera tries once more."""
    CONFIRM_KEY = "confirm_key"
    """The keyed card is compared with its picture."""
    VOID = "void"
    """The round is annulled; every wager goes back whole."""
    SHOE_OUT = "shoe_out"
    """The shoe is counted out: now, or after the running round."""


@unique
class WhyNot(StrEnum):
    """Why a way is not open."""

    NO_ROUND = "no_round"
    BETS_OPEN = "bets_open"
    HAND_OPEN = "hand_open"
    NOTHING_HELD = "nothing_held"
    NOTHING_WAITS = "nothing_waits"
    """The table is neither stopped nor has it called: there is nothing to let go on."""
    SECOND_IS_BURNT = "second_is_burnt"
    """A held card is burnt when it is released, so it can't be shown again."""
    BURN_IS_OVER = "burn_is_over"
    NOT_KEYED = "not_keyed"
    STOPPED = "stopped"
    """The table is let go on first."""
    SHOE_NOT_IN_PLAY = "shoe_not_in_play"
    CARD_HELD = "card_held"
    LAST_ALREADY = "last_already"
    """No further round opens anyway."""
    CORRECTION_WAITS = "correction_waits"
    """A correction stands in the way, such as the void of this very round."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A way, and the command that goes it."""

    way: Way
    command: str
    why_not: WhyNot | None = None


_ASIDE = (Way.SET_ASIDE, Way.VOID, Way.SHOE_OUT)

WAYS: dict[Situation, tuple[Way, ...]] = {
    Situation.UNNEEDED_CARD: (Way.BURN_IT, Way.VOID),
    Situation.TWO_CARDS: (Way.FIRST_THEN_SECOND, Way.VOID),
    Situation.POSITION_SKIPPED: (Way.RE_LAY, Way.VOID),
    Situation.CARD_EXPOSED: (Way.GO_ON, Way.VOID),
    Situation.BURN_FORGOTTEN: (Way.RE_LAY, Way.VOID),
    Situation.BURN_COUNT_WRONG: (Way.BURN_IT, Way.GO_ON, Way.SHOE_OUT),
    Situation.CARD_DOUBLED: _ASIDE,
    Situation.FOREIGN_CARD: _ASIDE,
    Situation.OUT_OF_TURN: (Way.BURN_IT, Way.VOID),
    Situation.CARD_UNREADABLE: (Way.CONFIRM_KEY, Way.TRY_AGAIN, Way.VOID),
}
"""In the order in which they are offered."""

_SEEN = {
    Held.UNNEEDED_CARD: Situation.UNNEEDED_CARD,
    Held.OUT_OF_TURN: Situation.OUT_OF_TURN,
    Held.DOUBLED_CARD: Situation.CARD_DOUBLED,
    "two_cards": Situation.TWO_CARDS,
}


def seen(state: TableState) -> Situation | None:
    """Return the situation that the table's log shows by itself."""
    fault = state.fault
    if fault is None:
        return None
    other = Situation.FOREIGN_CARD if fault.held else Situation.CARD_UNREADABLE
    return _SEEN.get(fault.reason, other)


def choices(state: TableState, situation: Situation) -> tuple[Choice, ...]:
    """Return every way of a situation; `why_not` is None for those that are open now."""
    return tuple(
        Choice(way=way, command=_command(state, way), why_not=_why_not(state, situation, way))
        for way in WAYS[situation]
    )


def _command(state: TableState, way: Way) -> str:
    if way is Way.VOID:
        return "void_round"
    if way is Way.CONFIRM_KEY:
        return "confirm_key"
    if way is Way.SHOE_OUT:
        return "lock" if _running(state) else "close_shoe"
    return "release_held" if _held(state) else "resume"


def _why_not(state: TableState, situation: Situation, way: Way) -> WhyNot | None:
    match way:
        case Way.VOID:
            if not _running(state):
                return WhyNot.NO_ROUND
            return WhyNot.CORRECTION_WAITS if _void_waits(state) else None
        case Way.CONFIRM_KEY:
            if state.fault is None or state.fault.keyed is None:
                return WhyNot.NOT_KEYED
            return WhyNot.STOPPED if state.stopped else None
        case Way.SHOE_OUT:
            return _why_no_shoe_out(state)
        case Way.BURN_IT | Way.SET_ASIDE:
            return None if _held(state) else WhyNot.NOTHING_HELD
        case _:
            return _why_no_going_on(state, situation, way)


def _why_no_shoe_out(state: TableState) -> WhyNot | None:
    if state.shoe is None or state.stage not in {Stage.IN_PLAY, Stage.LAST_ROUND_DONE}:
        return WhyNot.SHOE_NOT_IN_PLAY
    if not _running(state):
        return WhyNot.CARD_HELD if _held(state) else None
    return WhyNot.LAST_ALREADY if state.locked or state.shoe.cut_card_out else None


def _why_no_going_on(state: TableState, situation: Situation, way: Way) -> WhyNot | None:
    """Return why play can't go on with the cards that lie there."""
    if way is Way.FIRST_THEN_SECOND and _held(state):
        return WhyNot.SECOND_IS_BURNT
    if situation is Situation.BURN_COUNT_WRONG and state.stage is not Stage.OPENING:
        return WhyNot.BURN_IS_OVER
    if situation is Situation.CARD_EXPOSED and state.phase is Phase.BETTING:
        return WhyNot.BETS_OPEN
    if way is Way.RE_LAY:
        if not _running(state):
            return WhyNot.NO_ROUND
        if situation is Situation.BURN_FORGOTTEN and _hand_open(state):
            return WhyNot.HAND_OPEN
    if not _held(state) and _void_waits(state):
        return WhyNot.CORRECTION_WAITS
    waits = _held(state) or state.stopped or state.pit_called
    return None if waits else WhyNot.NOTHING_WAITS


def _held(state: TableState) -> bool:
    return state.fault is not None and state.fault.held


def _void_waits(state: TableState) -> bool:
    return state.correction is not None and state.correction.of_running


def _running(state: TableState) -> bool:
    return state.round is not None and state.round.running


def _hand_open(state: TableState) -> bool:
    return state.round is not None and any(card.open for card in state.round.drawn)
