"""Corrections as the pit's pages get them: what stands, and what one would do."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from studio.domain.errors import RefusedError
from studio.domain.game import Json
from studio.domain.pending import PendingCorrection
from studio.services.correcting import Wanted, WorkedOut, preview_json
from studio.services.correction_ports import NOTHING_REFUNDED
from studio.services.ports import UnitOfWork
from studio.services.proposing import CorrectionPolicy, Corrections


def proposal_json(pending: PendingCorrection | None, *, viewer_id: int) -> dict[str, Json] | None:
    """Return a table's correction as the pit sees it; `by_me` is of the one who looks."""
    if pending is None:
        return None
    proposed, announced = pending.proposed, pending.announced
    return {
        "id": proposed.id,
        "kind": proposed.kind,
        "rounds": [
            {"round_id": one.round_id, "number": one.number, "version": one.version}
            for one in pending.rounds
        ],
        "faces": [
            {"position": face.position, "index": face.index, "card": face.card}
            for face in proposed.faces
        ],
        "reason": proposed.reason,
        "by": proposed.by,
        "by_me": proposed.by_id == viewer_id,
        "needs_approval": proposed.needs_approval,
        "announced": announced is not None,
        "approved_by": announced.approved_by if announced else None,
        "due_ms": announced.due_ms if announced else None,
        "players": proposed.players,
        "paid_minor": proposed.paid_minor,
        "taken_minor": proposed.taken_minor,
        "owed_minor": proposed.owed_minor,
    }


def correction_preview(
    uow: UnitOfWork, worked: WorkedOut, *, policy: CorrectionPolicy
) -> dict[str, Json]:
    """Return what the correction of one round would do now."""
    booked = uow.wagers.would_correct(worked.row.id, version=worked.version, nets=worked.nets)
    seen = preview_json(worked, booked)
    return {**seen, **_policy_json(policy, seen)}


def refund_preview(
    corrections: Corrections, uow: UnitOfWork, wanted: Sequence[Wanted], *, table: str
) -> dict[str, Json]:
    """Return what annulling these rounds would do; a round that can't be has its `refusal`.

    Raises:
        MalformedError: `unknown_round`.
    """
    refusals: dict[str, str] = {}
    worked: list[WorkedOut] = []
    for one in wanted:
        try:
            worked.append(corrections.work_out_here(uow, table, one))
        except RefusedError as refusal:
            refusals[one.round_id] = refusal.code
    worked.sort(key=lambda one: (one.row.epoch, one.row.number))
    refund = uow.wagers.would_refund([one.row.id for one in worked])
    numbers = {one.row.id: one.row.number for one in worked}
    for round_id in refusals:
        row = uow.rounds.get(round_id)
        numbers[round_id] = row.number if row else 0
    sums = refund.sums()
    return {
        "rounds": [
            {
                "round_id": round_id,
                "number": number,
                **asdict(refund.rounds.get(round_id, NOTHING_REFUNDED)),
                "refusal": refusals.get(round_id),
            }
            for round_id, number in numbers.items()
        ],
        **sums,
        **_policy_json(corrections.policy, sums),
    }


def _policy_json(policy: CorrectionPolicy, sums: Mapping[str, Json]) -> dict[str, Json]:
    return {
        "needs_approval": policy.needs_approval(sums),
        "notice_s": policy.notice_ms // 1000,
    }
