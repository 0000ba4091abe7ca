"""Cards that two people key in: what they type becomes the commands of `studio.domain.keying`.

What was typed goes into the table's sealed part alone: no message, trail or log repeats it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from studio.domain.cards import CodeVersion, PrintedCode, parse_code
from studio.domain.commands import Command, ConfirmKey, DropKey, KeyCard
from studio.domain.errors import MalformedError, RefusedError
from studio.domain.events import KeyConfirmed, KeyDropped
from studio.domain.game import Json
from studio.services.jobs import Build, Job
from studio.services.live import Live

if TYPE_CHECKING:
    from studio.services.reading import CardReading

_ENDS = frozenset({KeyConfirmed.__name__, KeyDropped.__name__})
_TOLD = ("position", "index", "dealer", "picture", "why")


def key_card(reading: "CardReading", *, digits: str, by: str) -> Build:
    """Return the builder of a dealer's entry.

    Args:
        reading: makes the card of it.
        digits: the twelve printed ones; spaces and dashes between them do not count.
        by: the dealer's name.

    Raises:
        RefusedError: `code_invalid`.
    """
    code = _printed(digits)

    def build(job: Job) -> Command:
        return KeyCard(seen=reading.seen(job, code), by=by, tries_max=job.live.setup.scan_tries_max)

    return build


def confirm_key(
    reading: "CardReading", *, digits: str, picture: int, reason: str, by: str
) -> Build:
    """Return the builder of a supervisor's entry, made from the picture with this id.

    Raises:
        RefusedError: `code_invalid`.
    """
    code = _printed(digits)

    def build(job: Job) -> Command:
        place = job.uow.pictures.place(picture, table=job.state.table)
        here = place is not None and place[0] == job.state.epoch
        return ConfirmKey(
            seen=reading.seen(job, code),
            by=by,
            reason=reason,
            picture=picture,
            picture_seq=place[1] if place is not None and here else None,
        )

    return build


def drop_key(*, reason: str, by: str) -> Build:
    """Return the builder of a supervisor's rejection."""
    return lambda _: DropKey(by=by, reason=reason)


def key_facts(before: Live, after: Live) -> Mapping[str, Json]:
    """Return what the trail keeps of an entry's end: place, dealer, picture, never the card."""
    for envelope in after.envelopes(after_seq=before.state.seq):
        if envelope["kind"] in _ENDS:
            body = envelope["body"]
            return {name: body[name] for name in _TOLD if name in body}
    return {}


def unread_since(live: Live) -> tuple[int, int] | None:
    """Return epoch and number of the first event that told of the card that can't be read now."""
    fault = live.state.fault
    return None if fault is None or fault.held else (live.state.epoch, fault.since)


def _printed(digits: str) -> PrintedCode:
    try:
        code = parse_code(digits.replace(" ", "").replace("-", ""))
    except MalformedError:
        code = None
    if code is None or code.version is CodeVersion.BADGE:
        raise RefusedError(
            "code_invalid", "That is not a card's number: look at the twelve digits once more."
        )
    return code
