"""Corrections step by step: proposed, approved by a second person, told, then booked or dropped."""

from studio.domain.commands import (
    ApproveCorrection,
    CorrectRound,
    DropCorrection,
    ProposeCorrection,
)
from studio.domain.errors import RefusedError
from studio.domain.events import (
    CorrectionAnnounced,
    CorrectionDropped,
    CorrectionKind,
    DealingStopped,
    Event,
    RoundCorrected,
    RoundVoided,
)
from studio.domain.guards import need_no_correction, need_reason, need_running_round
from studio.domain.pending import PendingCorrection
from studio.domain.round import results
from studio.domain.table import STUDIO, TableState


def propose(state: TableState, command: ProposeCorrection) -> tuple[Event, ...]:
    """Return the proposal; with its announcement when nobody has to approve it."""
    proposed = command.proposed
    need_reason(proposed.reason)
    need_no_correction(state)
    if proposed.kind == CorrectionKind.VOID_RUNNING:
        need_running_round(state)
        # Nothing may settle under it.
        return (proposed,) if state.stopped else (proposed, DealingStopped(by=proposed.by))
    running = state.round.id if state.round is not None and state.round.running else None
    if any(one.round_id == running for one in proposed.rounds):
        raise RefusedError("round_not_settled", "The round is not settled yet; void it instead.")
    if proposed.needs_approval:
        return (proposed,)
    announced = CorrectionAnnounced(
        id=proposed.id, approved_by=None, approved_by_id=None, due_ms=command.due_ms
    )
    return (proposed, announced)


def _pending(state: TableState, proposal: str) -> PendingCorrection:
    pending = state.correction
    if pending is None or pending.proposed.id != proposal:
        raise RefusedError("no_correction_waits", "This correction is not waiting any more.")
    return pending


def approve(state: TableState, command: ApproveCorrection) -> tuple[Event, ...]:
    """Return the announcement of a correction; the void of a running round follows at once."""
    pending = _pending(state, command.proposal)
    if not pending.waits:
        raise RefusedError("approval_not_due", "This correction waits for nobody's approval.")
    if command.by_id == pending.proposed.by_id:
        raise RefusedError(
            "approval_by_same_person", "Another supervisor than the one who proposed it approves."
        )
    announced = CorrectionAnnounced(
        id=command.proposal,
        approved_by=command.by,
        approved_by_id=command.by_id,
        due_ms=command.due_ms,
    )
    if not pending.of_running:
        return (announced,)
    current, booked = need_running_round(state), command.refunded
    assert booked is not None
    return (
        announced,
        RoundVoided(
            round_id=current.id,
            version=1,
            reason=pending.proposed.reason,
            by=pending.proposed.by,
            count=booked.count,
            turnover_minor=booked.turnover_minor,
            payouts_minor=booked.payouts_minor,
            cards=tuple(card.opened() for card in current.drawn if not card.open),
        ),
    )


def drop(state: TableState, command: DropCorrection) -> tuple[Event, ...]:
    """Return the end of a correction; people drop it before its first round only."""
    need_reason(command.reason)
    pending = _pending(state, command.proposal)
    if pending.begun and command.by != STUDIO:
        raise RefusedError(
            "correction_begun", "The first of its rounds is corrected; it goes on to its end."
        )
    return (CorrectionDropped(id=command.proposal, by=command.by, reason=command.reason),)


def correct_round(state: TableState, command: CorrectRound) -> tuple[Event, ...]:
    """Return the correction of a round that was announced and is due."""
    pending, anew = state.correction, command.resettled
    this = (command.round_id, command.version)
    if (
        pending is None
        or not pending.is_due(command.now_ms)
        or pending.void != (anew is None)
        or this not in {(one.round_id, one.version) for one in pending.rounds}
    ):
        raise RefusedError("correction_not_due", "This correction is not announced and due.")
    assert pending.announced is not None
    event = RoundCorrected(
        round_id=command.round_id,
        epoch=command.epoch,
        number=command.number,
        version=command.version,
        void=anew is None,
        faces=command.faces,
        results=results(anew.nets, anew.reasons) if anew else (),
        marks=anew.marks if anew else (),
        hands=anew.hands if anew else (),
        reason=pending.proposed.reason,
        by=pending.proposed.by,
        count=command.count,
        turnover_minor=command.turnover_minor,
        payouts_minor=command.payouts_minor,
        players=command.players,
        paid_minor=command.paid_minor,
        taken_minor=command.taken_minor,
        owed_minor=command.owed_minor,
        approved_by=pending.announced.approved_by,
    )
    return (event,)
