"""What players are told of corrections: before the money moves, and when it has moved."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from studio.domain.errors import RefusedError
from studio.domain.events import CorrectionAnnounced, CorrectionDropped, Event, RoundCorrected
from studio.domain.game import Json
from studio.domain.pending import PendingCorrection
from studio.domain.table import TableState
from studio.services.correcting import work_out
from studio.services.jobs import Job
from studio.services.live import LiveTables
from studio.services.ports import Balance, UnitOfWork
from studio.services.proposing import next_wanted


@dataclass(kw_only=True)
class Due:
    """What a player will get instead of what the standing versions paid."""

    round_ids: list[str] = field(default_factory=list)
    before_minor: int = 0
    after_minor: int = 0


Messages = Mapping[int, Mapping[str, Json]]
"""By player."""


def correction_messages(tables: LiveTables, job: Job, after: TableState, event: Event) -> Messages:
    """Return what an event makes players be told of their money.

    Raises:
        RefusedError: as `work_out`, when the rules refuse by now what would be announced.
    """
    if isinstance(event, RoundCorrected):
        return _corrected(job.uow, event)
    told, before = after.correction, job.state.correction
    if isinstance(event, CorrectionAnnounced) and told is not None:
        changed = dues(tables, job.uow, told)
        return {
            player_id: {
                **message,
                "reason": "correction_due",
                "before_minor": changed[player_id].before_minor,
                "payout_minor": changed[player_id].after_minor,
                "due_ms": event.due_ms,
            }
            for player_id, message in _with_balances(job.uow, changed).items()
        }
    if isinstance(event, CorrectionDropped) and before is not None and before.announced:
        # By no results: it may be the rules that refuse them.
        everybody = _summed_up(job.uow, before, nets=None, player_id=None)
        return {
            player_id: {**message, "reason": "correction_dropped"}
            for player_id, message in _with_balances(job.uow, everybody).items()
        }
    return {}


def dues(
    tables: LiveTables,
    uow: UnitOfWork,
    pending: PendingCorrection,
    *,
    player_id: int | None = None,
) -> Mapping[int, Due]:
    """Return what the rounds that are left will bring each player whose money they change.

    Raises:
        RefusedError: as `work_out`.
    """
    nets = None if pending.void else work_out(tables, uow, next_wanted(pending)).nets
    return _summed_up(uow, pending, nets=nets, player_id=player_id, changed=True)


def due_of_player(
    tables: LiveTables, uow: UnitOfWork, pending: PendingCorrection | None, *, player_id: int
) -> list[dict[str, Json]]:
    """Return what is announced to a player at a table, for one who connects anew."""
    if pending is None or pending.announced is None:
        return []
    try:
        found = dues(tables, uow, pending, player_id=player_id)
    except RefusedError:
        return []  # the studio is about to drop it
    return [
        {
            "round_ids": due.round_ids,
            "before_minor": due.before_minor,
            "after_minor": due.after_minor,
            "due_ms": pending.announced.due_ms,
        }
        for due in found.values()
    ]


def _summed_up(
    uow: UnitOfWork,
    pending: PendingCorrection,
    *,
    nets: Json,
    player_id: int | None,
    changed: bool = False,
) -> Mapping[int, Due]:
    found: dict[int, Due] = {}
    ids = [one.round_id for one in pending.rounds]
    for row in uow.wagers.player_changes(ids, nets=nets, player_id=player_id):
        if changed and row.before_minor == row.after_minor:
            continue
        due = found.setdefault(row.player_id, Due())
        due.round_ids.append(row.round_id)
        due.before_minor += row.before_minor
        due.after_minor += row.after_minor
    return found


def _with_balances(uow: UnitOfWork, found: Mapping[int, Due]) -> Messages:
    balances: dict[int, Balance] = {}
    for player_id, due in found.items():
        if player_id not in balances:
            balances.update(uow.ledger.balances_of_round(due.round_ids[0]))
    return {
        player_id: {**_money(balances[player_id]), "rounds": due.round_ids}
        for player_id, due in found.items()
    }


def _money(balance: Balance) -> dict[str, Json]:
    return {
        "balance_minor": balance.balance_minor,
        "held_minor": balance.held_minor,
        "owed_minor": balance.owed_minor,
    }


def _corrected(uow: UnitOfWork, event: RoundCorrected) -> Messages:
    """Return what the players of a corrected round are told: both payouts, and what they owe."""
    balances = uow.ledger.balances_of_round(event.round_id)
    payouts = uow.wagers.payout_changes(event.round_id, version=event.version)
    return {
        player_id: {
            **_money(balances[player_id]),
            "reason": "void" if event.void else "corrected",
            "round_id": event.round_id,
            "version": event.version,
            "before_minor": change.before_minor,
            "payout_minor": change.after_minor,
        }
        for player_id, change in payouts.items()
    }
