"""Which events call the pit, and when the cause is gone."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from studio.domain.errors import RefusedError
from studio.domain.event_parts import Held
from studio.domain.events import (
    CardHeld,
    CardKeyed,
    CorrectionDropped,
    CorrectionProposed,
    DealingStopped,
    Event,
    LinkLost,
    PitCalled,
    ShoeClosed,
    TableLocked,
    VerificationEnded,
)
from studio.domain.game import Json
from studio.domain.table import STUDIO, TableState
from studio.services.ports import Actor, UnitOfWork
from studio.services.records import AlarmRow

ACT_NOW, ACT_SOON = 1, 2

NOT_READ = frozenset({"card_not_read", "two_cards"})
"""Alarms of a card that can't be read: two in sight are the pit's to put in order, and named so."""

CARD_ALARMS = NOT_READ | {*Held, "foreign_card"}
"""Alarms that a card at the camera raises, those of the first release's logs included."""


EXPLAINS = {"camera_lost": "video_lost", "camera_frozen": "video_lost"}
"""What an alarm brings with it where one camera serves both links: one trouble, one alarm."""


SCANNER_ALARMS = frozenset({"scanner_queue", "camera_lost", "camera_frozen", "decoder_restarts"})
"""Alarms that a scanner's report of its health raises and ends."""

AUDIT_FAULT = "audit_fault"

CORRECTION_WAITS = "correction_waits"
CORRECTION_DROPPED = "correction_dropped"
"""The rules refused what was announced. Over when it is raised: whoever takes it ends it."""

DEVICE_ALARMS = SCANNER_ALARMS | {AUDIT_FAULT}
"""Alarms that a device, or the studio about itself, has raised: no round is opened over one that
nobody has looked at. Source: PROCEDURES, incident 6 (warnings ignored for 46 rounds)."""


DEALER_NOT_QUALIFIED = "dealer_not_qualified"


def warn_of_dealer(uow: UnitOfWork, dealer: Actor, *, table: str, game: str) -> bool:
    """Raise the alarm that somebody without the qualification tried to open a table.

    It names the dealer in its code too: one at a time for each dealer and table, and so many
    tries are one alarm. It ends when a supervisor takes it. Source: PROCEDURES, incident 4.

    Returns:
        False when it is raised already.
    """
    code = f"{DEALER_NOT_QUALIFIED}:{dealer.id}"
    uow.events.lock(table)
    if any((row.table, row.code) == (table, code) for row in uow.alarms.open()):
        return False
    uow.alarms.raise_alarm(
        priority=ACT_SOON,
        code=code,
        table=table,
        round_id=None,
        at_ms=uow.now_ms(),
        details={"name": dealer.name, "game": game},
    )
    return True


def plain_code(row: AlarmRow) -> str:
    """Return an alarm's code without whom it is about."""
    return row.code.partition(":")[0]


def need_seen_alarms(uow: UnitOfWork, *, table: str) -> None:
    """Refuse while an alarm of a device stands at the table that no supervisor has taken.

    Raises:
        RefusedError: `device_alarm_unseen`.
    """
    for row in uow.alarms.open():
        if row.table == table and row.code in DEVICE_ALARMS and row.acknowledged_by is None:
            raise RefusedError(
                "device_alarm_unseen",
                f"The supervisor takes the alarm {row.code} first.",
                alarm=row.code,
            )


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """An alarm to raise; `details` never hold a sealed card."""

    priority: int
    code: str
    details: dict[str, Json]


def raised_by(event: Event, state: TableState) -> Alarm | None:  # noqa: C901  one arm per event
    """Return the alarm that an event raises, if any; `state` is the table's after it."""
    match event:
        case PitCalled(by="studio"):
            reason = state.fault.reason if state.fault is not None else ""
            code = reason if reason in NOT_READ else "card_not_read"
            return Alarm(priority=ACT_NOW, code=code, details={})
        case CardKeyed():
            return Alarm(priority=ACT_NOW, code="card_keyed", details={})
        case PitCalled():
            return Alarm(priority=ACT_NOW, code="pit_called", details={"by": event.by})
        case CardHeld():
            return Alarm(priority=ACT_NOW, code=event.fault, details={})
        case DealingStopped(by=by) if by == STUDIO:
            return Alarm(priority=ACT_NOW, code="shoe_order", details={})
        case DealingStopped():
            return Alarm(priority=ACT_NOW, code="dealing_stopped", details={"by": event.by})
        case TableLocked():
            return Alarm(priority=ACT_NOW, code="table_locked", details={"reason": event.reason})
        case LinkLost():
            return Alarm(priority=ACT_SOON, code=f"{event.link}_lost", details={"link": event.link})
        case VerificationEnded(complete=False):
            return Alarm(
                priority=ACT_SOON,
                code="verification_failed",
                details={
                    "missing": len(event.missing),
                    "foreign": event.foreign,
                    "doubled": event.doubled,
                },
            )
        case CorrectionProposed(needs_approval=True):
            return Alarm(
                priority=ACT_SOON,
                code=CORRECTION_WAITS,
                details={"by": event.by, "rounds": len(event.rounds)},
            )
        case CorrectionDropped(by=by) if by == STUDIO:
            return Alarm(
                priority=ACT_SOON, code=CORRECTION_DROPPED, details={"reason": event.reason}
            )
        case ShoeClosed(closes=False):
            return Alarm(
                priority=ACT_NOW,
                code="shoe_count",
                details={"expected": event.expected, "cards_left": event.cards_left},
            )
        case _:
            return None


def causes(state: TableState) -> frozenset[str]:
    """Return the codes of the alarms whose cause the table's state holds."""
    codes = {f"{link}_lost" for link in state.links_lost}
    if state.correction is not None and state.correction.waits:
        codes.add(CORRECTION_WAITS)
    if state.stopped:
        codes |= {"dealing_stopped", "shoe_order"}
    if state.pit_called:
        codes.add("pit_called")
    if state.locked is not None:
        codes |= {"table_locked", "verification_failed", "shoe_count"}
    fault = state.fault
    if fault is not None and fault.held:
        codes.add(fault.code)
    elif fault is not None:
        codes |= NOT_READ if state.pit_called else set()
        codes |= {"card_keyed"} if fault.keyed is not None else set()
    return frozenset(codes)


def explained(
    rows: Sequence[AlarmRow], one_camera: Container[str]
) -> Mapping[int, tuple[str, ...]]:
    """Return the alarms to show by id, each with the codes of those that it explains.

    Args:
        rows: the open alarms.
        one_camera: tables whose scanner and video are one device.
    """
    open_at = {(row.table, row.code) for row in rows if row.table in one_camera}
    hidden = {(table, EXPLAINS[code]) for table, code in open_at if code in EXPLAINS}
    return {
        row.id: (EXPLAINS[row.code],)
        if row.code in EXPLAINS and (row.table, EXPLAINS[row.code]) in open_at
        else ()
        for row in rows
        if (row.table, row.code) not in hidden
    }


def _round_of(event: Event, before: TableState, state: TableState) -> str | None:
    """Return the round that an alarm names: that of its correction, else the one on the table."""
    if isinstance(event, CorrectionProposed | CorrectionDropped):
        pending = state.correction or before.correction
        rounds = pending.proposed.rounds if pending is not None else ()
        return rounds[0].round_id if len(rounds) == 1 else None
    return state.round.id if state.round else None


def update_alarms(
    uow: UnitOfWork, before: TableState, state: TableState, event: Event, *, at_ms: int
) -> None:
    """Raise and clear the table's alarms in the same commit as the event."""
    gone = causes(before) - causes(state)
    if gone:
        uow.alarms.clear(table=state.table, codes=gone, at_ms=at_ms)
    alarm = raised_by(event, state)
    if alarm is None:
        return
    details = dict(alarm.details)
    if isinstance(event, PitCalled | CardHeld) and state.fault is not None:
        details |= {"reason": state.fault.reason, "tries": state.fault.tries}
    uow.alarms.raise_alarm(
        priority=alarm.priority,
        code=alarm.code,
        table=state.table,
        round_id=_round_of(event, before, state),
        at_ms=at_ms,
        details=details,
    )
