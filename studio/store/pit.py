"""Deck sets, scanner reports, alarms, the audit trail and the answers to commands."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, and_, insert, select, update

from studio.domain.errors import RefusedError
from studio.domain.game import Json
from studio.domain.log import canonical
from studio.services.answers import Commands
from studio.services.ports import Actor, Alarms, DeckSet, DeckSets, Reports, Trail
from studio.services.records import AlarmRow, TrailRow
from studio.services.retry import TryAgainError
from studio.store.rows import insert_new
from studio.store.tables import (
    alarm,
    command_answer,
    deck_card,
    deck_set,
    event,
    scan_report,
    table_log,
    trail,
)

_LATEST_SHOES = (
    select(event.c.table_code, event.c.epoch, event.c.body)
    .join(
        table_log,
        and_(table_log.c.table_code == event.c.table_code, table_log.c.epoch == event.c.epoch),
    )
    .where(event.c.seq == 1, event.c.kind == "ShoeLoaded")
    .order_by(event.c.table_code)
)
"""A shoe's loading is the first event of its epoch."""
_CLOSED = select(event.c.seq).where(event.c.kind == "ShoeClosed").limit(1)


class SqlDeckSets(DeckSets):
    """Registered deck sets in SQL."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def register(self, deck_set_: DeckSet) -> None:
        """See the port."""
        row = {"number": deck_set_.number, "decks": deck_set_.decks}
        if insert_new(self._connection, deck_set, row) is None:
            raise RefusedError(
                "deck_set_registered",
                f"Deck set {deck_set_.number} is already registered.",
                deck_set=deck_set_.number,
            )
        self._connection.execute(
            insert(deck_card),
            [
                {"deck_set": deck_set_.number, "serial": serial, "card_number": card_number}
                for serial, card_number in sorted(deck_set_.manifest.items())
            ],
        )

    def get(self, number: int) -> DeckSet | None:
        """See the port."""
        decks = self._connection.scalar(select(deck_set.c.decks).where(deck_set.c.number == number))
        if decks is None:
            return None
        cards = self._connection.execute(
            select(deck_card.c.serial, deck_card.c.card_number).where(
                deck_card.c.deck_set == number
            )
        )
        return DeckSet(
            number=number,
            decks=decks,
            manifest={card.serial: card.card_number for card in cards},
        )

    def numbers(self) -> Sequence[int]:
        """See the port."""
        return list(self._connection.scalars(select(deck_set.c.number).order_by(deck_set.c.number)))

    def lies_at(self, number: int, *, tables: Iterable[str]) -> str | None:
        """See the port."""
        # The set's row is the lock: of two tables that load it in the same instant, the second
        # reads the logs after the first one's commit. SQLite has one writer anyway.
        self._connection.execute(
            select(deck_set.c.number).where(deck_set.c.number == number).with_for_update()
        )
        shoes = self._connection.execute(_LATEST_SHOES.where(event.c.table_code.in_(tables)))
        with_the_set = [shoe for shoe in shoes if json.loads(shoe.body)["deck_set"] == number]
        for shoe in with_the_set:
            closed = _CLOSED.where(
                event.c.table_code == shoe.table_code, event.c.epoch == shoe.epoch
            )
            if self._connection.execute(closed).first() is None:
                return str(shoe.table_code)
        return None


class SqlReports(Reports):
    """Scanner reports in SQL."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def take(self, *, device: str, report_id: str, digest: str, at_ms: int) -> bool:
        """See the port."""
        row = {"device": device, "report_id": report_id, "digest": digest, "at_ms": at_ms}
        if insert_new(self._connection, scan_report, row) is not None:
            return True
        first = self._connection.scalar(
            select(scan_report.c.digest).where(
                scan_report.c.device == device, scan_report.c.report_id == report_id
            )
        )
        if first != digest:
            raise RefusedError(
                "report_id_reused",
                f"Report {report_id} of {device} came before with other content.",
                report_id=report_id,
            )
        return False


class SqlAlarms(Alarms):
    """The pit's alarms in SQL."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def raise_alarm(
        self,
        *,
        priority: int,
        code: str,
        table: str,
        round_id: str | None,
        at_ms: int,
        details: Mapping[str, Json],
    ) -> None:
        """See the port."""
        open_one = select(alarm.c.id).where(
            alarm.c.table_code == table, alarm.c.code == code, alarm.c.cleared_ms.is_(None)
        )
        if self._connection.scalar(open_one.limit(1)) is not None:
            return
        self._connection.execute(
            insert(alarm),
            {
                "priority": priority,
                "code": code,
                "table_code": table,
                "round_id": round_id,
                "raised_ms": at_ms,
                "details": canonical(details),
            },
        )

    def clear(self, *, table: str, codes: Iterable[str], at_ms: int) -> None:
        """See the port."""
        self._connection.execute(
            update(alarm)
            .where(
                alarm.c.table_code == table,
                alarm.c.code.in_(sorted(codes)),
                alarm.c.cleared_ms.is_(None),
            )
            .values(cleared_ms=at_ms)
        )

    def acknowledge(self, alarm_id: int, *, by: str, at_ms: int) -> AlarmRow:
        """See the port."""
        taken = self._connection.execute(
            update(alarm)
            .where(alarm.c.id == alarm_id, alarm.c.acknowledged_by.is_(None))
            .values(acknowledged_by=by, acknowledged_ms=at_ms)
        )
        row = self._connection.execute(select(alarm).where(alarm.c.id == alarm_id)).first()
        if row is None:
            raise RefusedError("unknown_alarm", "There is no such alarm.", alarm_id=alarm_id)
        if taken.rowcount != 1:
            raise RefusedError(
                "alarm_acknowledged",
                f"{row.acknowledged_by} has already taken this alarm.",
                alarm_id=alarm_id,
                by=row.acknowledged_by,
            )
        return _alarm_row(row)

    def open(self) -> Sequence[AlarmRow]:
        """See the port."""
        rows = self._connection.execute(
            select(alarm)
            .where(alarm.c.cleared_ms.is_(None))
            .order_by(
                alarm.c.priority,
                alarm.c.acknowledged_ms.is_not(None),
                alarm.c.raised_ms,
                alarm.c.id,
            )
        )
        return [_alarm_row(row) for row in rows]


def _alarm_row(row: Row[Any]) -> AlarmRow:
    return AlarmRow(
        id=row.id,
        priority=row.priority,
        code=row.code,
        table=row.table_code,
        round_id=row.round_id,
        raised_ms=row.raised_ms,
        acknowledged_by=row.acknowledged_by,
        acknowledged_ms=row.acknowledged_ms,
        cleared_ms=row.cleared_ms,
        details=json.loads(row.details),
    )


class SqlTrail(Trail):
    """The audit trail in SQL."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def write(
        self,
        *,
        at_ms: int,
        actor: Actor,
        action: str,
        subject: str,
        reason: str,
        before: Mapping[str, Json],
        after: Mapping[str, Json],
    ) -> None:
        """See the port."""
        self._connection.execute(
            insert(trail),
            {
                "at_ms": at_ms,
                "actor_id": actor.id,
                "actor": actor.name,
                "action": action,
                "subject": subject,
                "reason": reason,
                "before": canonical(before),
                "after": canonical(after),
            },
        )

    def read(self, *, limit: int, before_id: int | None) -> Sequence[TrailRow]:
        """See the port."""
        wanted = select(trail).order_by(trail.c.id.desc()).limit(limit)
        if before_id is not None:
            wanted = wanted.where(trail.c.id < before_id)
        return [
            TrailRow(
                id=row.id,
                at_ms=row.at_ms,
                actor_id=row.actor_id,
                actor=row.actor,
                action=row.action,
                subject=row.subject,
                reason=row.reason,
                before=json.loads(row.before),
                after=json.loads(row.after),
            )
            for row in self._connection.execute(wanted)
        ]


class SqlCommands(Commands):
    """Answers to commands in SQL."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, *, id: str, digest: str) -> Mapping[str, Json] | None:
        """See the port."""
        row = self._connection.execute(
            select(command_answer).where(command_answer.c.id == id)
        ).first()
        if row is None:
            return None
        if row.digest != digest:
            raise RefusedError(
                "command_id_reused", f"Command {id} came before with other content.", id=id
            )
        answer: Mapping[str, Json] = json.loads(row.answer)
        return answer

    def store(self, *, id: str, digest: str, at_ms: int, answer: Mapping[str, Json]) -> None:
        """See the port."""
        row = {"id": id, "digest": digest, "at_ms": at_ms, "answer": canonical(answer)}
        if insert_new(self._connection, command_answer, row) is None:
            raise TryAgainError(f"Command {id} was answered meanwhile.")
