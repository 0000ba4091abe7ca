"""What keeps the next card from being taken: one that can't be read, or one that is held."""

from dataclasses import dataclass, field, replace

from studio.domain.errors import InvariantError
from studio.domain.event_parts import SealedCard
from studio.domain.events import CardKeyed, KeyDropped, ReadFailed
from studio.domain.shoe import Drawn


@dataclass(frozen=True, kw_only=True)
class Keyed:
    """A card that the dealer keyed in and nobody has confirmed yet."""

    by: str
    card: SealedCard | None = field(repr=False)
    """None where only the public log is known."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What keeps the next card from being taken."""

    code: str
    """`read_failed`, or the fault of a held card (`CardHeld.fault`)."""
    reason: str
    tries: int = 0
    position: str | None = None
    index: int | None = None
    held: bool = False
    """True: only the supervisor resolves it."""
    card: Drawn | None = None
    """A held card that came out of this shoe: burnt when released."""
    since: int = 0
    """Number of the first event that told of this unread card."""
    keyed: Keyed | None = None
    key_dropped: str | None = None
    """Why the last entry counts no more."""


def unread(fault: Fault | None, event: ReadFailed, *, seq: int) -> Fault:
    """Return the fault after the failed read with this number; an entry waits on meanwhile."""
    if fault is None or (fault.position, fault.index) != (event.position, event.index):
        fault = Fault(
            code="read_failed",
            reason=event.reason,
            position=event.position,
            index=event.index,
            since=seq,
        )
    return replace(fault, reason=event.reason, tries=event.tries)


def keyed(fault: Fault | None, event: CardKeyed | KeyDropped) -> Fault:
    """Return the fault with an entry that waits, or without the one that counts no more."""
    if fault is None:
        raise InvariantError("no_fault", "A keyed card needs a failed read.")
    if isinstance(event, KeyDropped):
        return replace(fault, keyed=None, key_dropped=event.why)
    return replace(fault, keyed=Keyed(by=event.by, card=event.sealed), key_dropped=None)
