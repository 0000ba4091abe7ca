"""The audit trail of corrections: a line for each step, with its rounds and sums."""

from collections.abc import Mapping

from studio.domain.events import CorrectionProposed
from studio.domain.game import Json
from studio.domain.pending import PendingCorrection
from studio.domain.table import STUDIO
from studio.services.jobs import Job
from studio.services.live import Live
from studio.services.ports import Actor

_STUDIO = Actor(id=0, name=STUDIO, role=None)


def write_step(job: Job, after: Live, *, actor: Actor, name: str, reason: str) -> None:
    """Write the line of a proposal, an approval or a drop; nothing else of the table is in it."""
    was, now = job.state.correction, after.state.correction
    pending = now or was
    assert pending is not None
    job.uow.trail.write(
        at_ms=job.now_ms,
        actor=actor,
        action=name,
        subject=_subject(pending.proposed, table=job.state.table),
        reason=reason,
        before=_facts(was),
        after=_facts(now),
    )


def write_execution(job: Job, after: Live) -> None:
    """Write the line of a round that was corrected as announced, or of what the rules refused."""
    envelope = after.lines[-1].envelope
    if envelope["kind"] != "RoundCorrected":
        write_step(job, after, actor=_STUDIO, name="drop_correction", reason="")
        return
    event = envelope["body"]
    before_minor = event["payouts_minor"] - event["paid_minor"] + event["taken_minor"]
    names = ("version", "payouts_minor", "players", "paid_minor", "taken_minor", "owed_minor")
    job.uow.trail.write(
        at_ms=job.now_ms,
        actor=_STUDIO,
        action="correction_booked",
        subject=event["round_id"],
        reason=event["reason"],
        before={"version": event["version"] - 1, "payouts_minor": before_minor},
        after={name: event[name] for name in names}
        | {"by": event["by"], "approved_by": event["approved_by"]},
    )


def _subject(proposed: CorrectionProposed, *, table: str) -> str:
    return proposed.rounds[0].round_id if len(proposed.rounds) == 1 else table


def _facts(pending: PendingCorrection | None) -> Mapping[str, Json]:
    if pending is None:
        return {"proposal": None}
    proposed, announced = pending.proposed, pending.announced
    return {
        "proposal": proposed.id,
        "kind": proposed.kind,
        "rounds": len(pending.rounds),
        "by": proposed.by,
        "approved_by": announced.approved_by if announced else None,
        "due_ms": announced.due_ms if announced else None,
        "players": proposed.players,
        "paid_minor": proposed.paid_minor,
        "taken_minor": proposed.taken_minor,
        "owed_minor": proposed.owed_minor,
    }
