"""Corrections in two steps: proposed and looked at, then told to the players, then booked.

Source: DESIGN sections 5 and 6; PROCEDURES 1 and 4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from studio.domain.commands import (
    ApproveCorrection,
    Command,
    DropCorrection,
    ProposeCorrection,
    Refunded,
    VoidRound,
)
from studio.domain.errors import RefusedError
from studio.domain.events import CorrectedFace, CorrectionKind, CorrectionProposed, RoundToCorrect
from studio.domain.guards import need_no_correction, need_running_round
from studio.domain.pending import PendingCorrection
from studio.domain.round import Phase, Round
from studio.domain.table import STUDIO, TableState
from studio.services.correcting import Wanted, WorkedOut, command_of, work_out
from studio.services.jobs import Build, Job
from studio.services.live import LiveTables
from studio.services.ports import Actor, UnitOfWork


@dataclass(frozen=True, kw_only=True)
class CorrectionPolicy:
    """When players are told, and when a second person has to agree."""

    notice_ms: int = 10_000
    """From the announcement to the money."""
    approval_minor: int = 0
    """Above so much paid and taken a second person approves."""
    void_approval_minor: int = 10_000_000
    """Above so much held a running round is annulled by two."""

    def needs_approval(self, sums: Mapping[str, int]) -> bool:
        """Return whether a correction that moves so much takes a second person."""
        return sums["paid_minor"] + sums["taken_minor"] > self.approval_minor

    def void_needs_approval(self, held_minor: int) -> bool:
        """Return whether a running round that holds so much is annulled by two."""
        return held_minor > self.void_approval_minor


@dataclass(frozen=True, kw_only=True)
class Intent:
    """Who wants something corrected, and why."""

    id: str
    reason: str
    actor: Actor


class Corrections:
    """Makes the builders of corrections; each is refused as the rules of its step say."""

    def __init__(self, tables: LiveTables, policy: CorrectionPolicy | None = None) -> None:
        """Keep the tables whose rounds are corrected."""
        self.tables = tables
        self.policy = policy or CorrectionPolicy()

    # Proposals ---------------------------------------------------------------------------------

    def propose(self, kind: CorrectionKind, wanted: Sequence[Wanted], intent: Intent) -> Build:
        """Return the builder of a proposal for settled rounds of one table."""

        def build(job: Job) -> Command:
            need_no_correction(job.state)
            worked = [self.work_out_here(job.uow, job.state.table, one) for one in wanted]
            worked.sort(key=lambda one: (one.row.epoch, one.row.number))
            return self._proposal(
                job,
                kind,
                intent,
                rounds=tuple(map(_to_correct, worked)),
                # Those that are asked for: they may lead back to the cards as they were read.
                faces=wanted[0].faces or (),
                sums=sums_of(job.uow, worked),
            )

        return build

    def work_out_here(self, uow: UnitOfWork, table: str, wanted: Wanted) -> WorkedOut:
        """Return what a correction says at its own table.

        Raises:
            MalformedError: as `work_out`.
            RefusedError: `round_not_here`, and as `work_out`.
        """
        worked = work_out(self.tables, uow, wanted)
        if worked.row.table != table:
            raise RefusedError("round_not_here", "The round was played at another table.")
        return worked

    def _proposal(
        self,
        job: Job,
        kind: CorrectionKind,
        intent: Intent,
        *,
        rounds: tuple[RoundToCorrect, ...],
        faces: tuple[CorrectedFace, ...] = (),
        sums: Mapping[str, int],
    ) -> ProposeCorrection:
        running = kind is CorrectionKind.VOID_RUNNING
        proposed = CorrectionProposed(
            id=intent.id,
            kind=kind.value,
            rounds=rounds,
            faces=faces,
            reason=intent.reason,
            by=intent.actor.name,
            by_id=intent.actor.id,
            needs_approval=running or self.policy.needs_approval(sums),
            players=sums["players"],
            paid_minor=sums["paid_minor"],
            taken_minor=sums["taken_minor"],
            owed_minor=sums["owed_minor"],
        )
        return ProposeCorrection(proposed=proposed, due_ms=job.now_ms + self.policy.notice_ms)

    def void_running(self, intent: Intent, *, round_id: str | None) -> Build:
        """Return the builder of a void by a supervisor: at once, or proposed when much is held."""

        def build(job: Job) -> Command:
            current = _running(job, round_id)
            # The row first: this waits for wagers in flight and lets no further one in.
            job.uow.rounds.update_phase(current.id, current.phase, settlement_version=0)
            held = job.uow.wagers.standing(current.id)
            if not self.policy.void_needs_approval(held.held_minor):
                return void(round_id=round_id, reason=intent.reason, by=intent.actor.name)(job)
            one = RoundToCorrect(
                round_id=current.id, epoch=job.state.epoch, number=current.number, version=1
            )
            sums = {
                "players": held.players,
                "paid_minor": held.held_minor,
                "taken_minor": 0,
                "owed_minor": 0,
            }
            return self._proposal(
                job, CorrectionKind.VOID_RUNNING, intent, rounds=(one,), sums=sums
            )

        return build

    # What becomes of them ----------------------------------------------------------------------

    def approve(self, proposal: str, *, actor: Actor) -> Build:
        """Return the builder of an approval; a running round is annulled with it."""

        def build(job: Job) -> Command:
            pending, refunded, due_ms = job.state.correction, None, job.now_ms
            if pending is not None and pending.of_running and pending.proposed.id == proposal:
                refunded = _refunded(job, _running(job, None))
            else:
                due_ms += self.policy.notice_ms
            return ApproveCorrection(
                proposal=proposal,
                by=actor.name,
                by_id=actor.id,
                due_ms=due_ms,
                refunded=refunded,
            )

        return build

    def are_due(self, state: TableState, now_ms: int) -> bool:
        """Return whether a round of the table is to be corrected now."""
        return state.correction is not None and state.correction.is_due(now_ms)

    def execute(self, job: Job) -> Command:
        """Book the next round of what was announced; what the rules refuse by now is dropped."""
        pending = job.state.correction
        if pending is None or not self.are_due(job.state, job.now_ms):
            raise RefusedError("correction_not_due", "This correction is not announced and due.")
        try:
            worked = work_out(self.tables, job.uow, next_wanted(pending))
        except RefusedError as refusal:
            return DropCorrection(proposal=pending.proposed.id, by=STUDIO, reason=refusal.code)
        booked = job.uow.wagers.correct(worked.row.id, version=worked.version, nets=worked.nets)
        return command_of(worked, booked, now_ms=job.now_ms)


def void(*, round_id: str | None, reason: str, by: str, unstarted: bool = False) -> Build:
    """Return the builder of a void of the running round at once.

    `round_id` names the round that is meant; `unstarted`: only while no card is drawn.
    """

    def build(job: Job) -> Command:
        current = _running(job, round_id)
        if unstarted and current.started:
            raise RefusedError("round_started", "The round has started and runs to its end.")
        booked = _refunded(job, current)
        return VoidRound(
            version=1,
            reason=reason,
            by=by,
            count=booked.count,
            turnover_minor=booked.turnover_minor,
            payouts_minor=booked.payouts_minor,
        )

    return build


def sums_of(uow: UnitOfWork, worked: Sequence[WorkedOut]) -> Mapping[str, int]:
    """Return players and sums of one correction, or of the void of several rounds."""
    if len(worked) > 1:
        return uow.wagers.would_refund([one.row.id for one in worked]).sums()
    (only,) = worked
    booked = uow.wagers.would_correct(only.row.id, version=only.version, nets=only.nets)
    return {
        "players": booked.players,
        "paid_minor": booked.paid_minor,
        "taken_minor": booked.taken_minor,
        "owed_minor": booked.owed_minor,
    }


def next_wanted(pending: PendingCorrection) -> Wanted:
    """Return what is wanted of the next round of a correction."""
    one = pending.rounds[0]
    return Wanted(
        round_id=one.round_id,
        version=one.version - 1,
        faces=None if pending.void else pending.proposed.faces,
    )


def _to_correct(worked: WorkedOut) -> RoundToCorrect:
    row = worked.row
    return RoundToCorrect(
        round_id=row.id, epoch=row.epoch, number=row.number, version=worked.version
    )


def _running(job: Job, round_id: str | None) -> Round:
    """Return the round that runs, when it is the one that is meant."""
    current = need_running_round(job.state)
    if round_id is not None and round_id != current.id:
        raise RefusedError("round_over", f"Round {round_id} is over; {current.id} is running.")
    return current


def _refunded(job: Job, current: Round) -> Refunded:
    job.uow.rounds.update_phase(current.id, Phase.VOID, settlement_version=1)
    booked = job.uow.wagers.refund(current.id, version=1)
    return Refunded(
        count=booked.count,
        turnover_minor=booked.turnover_minor,
        payouts_minor=booked.payouts_minor,
    )
