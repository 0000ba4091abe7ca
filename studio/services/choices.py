"""The choices before a supervisor, each with what it does to money, and the one that was taken."""

from collections.abc import Mapping

from studio.domain.errors import MalformedError, RefusedError
from studio.domain.game import Json
from studio.domain.procedures import Choice, Situation, Way, WhyNot, choices, seen
from studio.domain.table import TableState
from studio.services.choice_ports import OpenBook

_NO_MONEY = OpenBook(count=0, players=0, held_minor=0)


def choices_json(state: TableState, book: OpenBook, *, by_two: bool) -> dict[str, Json]:
    """Return every situation with its choices; `seen` is the one that the log shows by itself.

    `by_two`: so much is held that a void is only proposed and another supervisor approves it.
    """
    found = seen(state)
    return {
        "epoch": state.epoch,
        "seq": state.seq,
        "round_id": state.round.id if state.round else None,
        "seen": found.value if found else None,
        "situations": [
            {
                "code": situation.value,
                "choices": [
                    _choice_json(state, one, book, by_two=by_two)
                    for one in choices(state, situation)
                ],
            }
            for situation in Situation
        ],
    }


def _choice_json(
    state: TableState, choice: Choice, book: OpenBook, *, by_two: bool
) -> dict[str, Json]:
    proposed = choice.way is Way.VOID and by_two
    why_not = choice.why_not
    if why_not is None and proposed and state.correction is not None:
        why_not = WhyNot.CORRECTION_WAITS
    money = book if choice.way is Way.VOID and why_not is None else _NO_MONEY
    return {
        "code": choice.way.value,
        "command": choice.command,
        "why_not": why_not.value if why_not else None,
        "needs_approval": proposed and why_not is None,
        "wagers": money.count,
        "players": money.players,
        "refund_minor": money.held_minor,
    }


def named(body: Mapping[str, Json]) -> dict[str, Json]:
    """Return the situation and the choice that a command names, as the trail keeps them.

    Raises:
        MalformedError: `unknown_choice`.
    """
    told = {name: body[name] for name in ("situation", "choice") if body.get(name) is not None}
    if not told:
        return {}
    try:
        return {
            "situation": Situation(told["situation"]).value,
            "choice": Way(told["choice"]).value,
        }
    except (KeyError, ValueError, TypeError):
        raise MalformedError(
            "unknown_choice", "Name a situation and one of its choices, or neither."
        ) from None


def need_offered(state: TableState, told: Mapping[str, Json], *, command: str) -> None:
    """Refuse a choice that is not open in its situation now, or that another command carries out.

    Raises:
        RefusedError: `choice_not_offered`.
    """
    if not told:
        return
    for one in choices(state, Situation(told["situation"])):
        if one.way.value == told["choice"] and one.command == command and one.why_not is None:
            return
    raise RefusedError("choice_not_offered", "This choice is not open any more; look again.")
