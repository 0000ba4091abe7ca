"""Corrections under audit: proposed, approved by another person, told in time, then booked."""

from collections.abc import Iterator
from dataclasses import replace

from studio.domain.events import (
    CorrectionAnnounced,
    CorrectionDropped,
    CorrectionProposed,
    Event,
    RoundCorrected,
    RoundVoided,
    ShoeLoaded,
)
from studio.domain.pending import PendingCorrection

Found = Iterator[tuple[str, str]]
"""Codes and words of faults."""


class ProposalCheck:
    """Takes a table's events one by one; the order of the steps is proved from the log alone."""

    def __init__(self) -> None:
        """Begin before the first event."""
        self._pending: PendingCorrection | None = None

    def see(self, event: Event, *, at_ms: int) -> Found:
        """Return the faults that an event of a correction shows."""
        pending = self._pending
        match event:
            case CorrectionProposed():
                if pending is not None:
                    yield "correction_unfinished", "Another correction was proposed before its end."
                self._pending = PendingCorrection(proposed=event, rounds=event.rounds)
            case CorrectionAnnounced():
                yield from self._announced(event)
            case CorrectionDropped():
                self._pending = None
            case RoundCorrected():
                yield from self._corrected(event, at_ms=at_ms)
            case RoundVoided() if pending is not None and pending.of_running:
                self._pending = None
            case ShoeLoaded() if pending is not None:
                yield "correction_unfinished", "A shoe was loaded before its end."
                self._pending = None

    def _announced(self, event: CorrectionAnnounced) -> Found:
        pending = self._pending
        if pending is None or pending.proposed.id != event.id or pending.announced is not None:
            yield "correction_unproposed", "What was announced was not proposed."
            return
        proposed = pending.proposed
        if proposed.needs_approval and event.approved_by_id in {None, proposed.by_id}:
            yield "approval_missing", f"Nobody but {proposed.by} approved it."
        self._pending = replace(pending, announced=event)

    def _corrected(self, event: RoundCorrected, *, at_ms: int) -> Found:
        pending = self._pending
        named = pending is not None and any(
            (one.round_id, one.version) == (event.round_id, event.version) for one in pending.rounds
        )
        if pending is None or pending.announced is None or not named:
            yield "correction_unannounced", f"Nobody was told of round {event.round_id}."
            return
        if not pending.is_due(at_ms):
            yield "correction_early", f"Round {event.round_id} was booked before its time."
        proposed, announced = pending.proposed, pending.announced
        if (event.by, event.approved_by, event.void) != (
            proposed.by,
            announced.approved_by,
            pending.void,
        ):
            yield "correction_unannounced", f"Round {event.round_id} is not what was announced."
        self._pending = pending.without(event.round_id)
