"""The tables' logs: append-only, numbered without gaps, hash-chained."""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import (
    BigInteger,
    BindParameter,
    Connection,
    Integer,
    Row,
    Select,
    and_,
    bindparam,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from studio.domain.errors import InvariantError
from studio.domain.game import Json
from studio.domain.log import GENESIS_HASH, canonical
from studio.services.ports import EventLog, StoredEvent
from studio.store.correction_tables import round_correction
from studio.store.tables import event, round_, sealed_card, table_log

_NEW_LOG = {"table_code": bindparam("code"), "epoch": 0, "seq": 0, "hash": GENESIS_HASH}
_OPEN_LOG: Mapping[str, Any] = {
    "postgresql": postgresql.insert(table_log).values(_NEW_LOG).on_conflict_do_nothing(),
    "sqlite": sqlite.insert(table_log).values(_NEW_LOG).on_conflict_do_nothing(),
}
_LOCK_LOG = (
    select(table_log.c.seq).where(table_log.c.table_code == bindparam("code")).with_for_update()
)
_POSITION = select(table_log.c.epoch, table_log.c.seq, table_log.c.hash).where(
    table_log.c.table_code == bindparam("code")
)
_EPOCH: BindParameter[int] = bindparam("new_epoch", type_=Integer)
_SEQ: BindParameter[int] = bindparam("new_seq", type_=BigInteger)
_ADVANCE = (
    update(table_log)
    .where(
        table_log.c.table_code == bindparam("code"),
        table_log.c.hash == bindparam("prev"),
        or_(
            and_(table_log.c.epoch == _EPOCH, table_log.c.seq == _SEQ - 1),
            and_(table_log.c.epoch == _EPOCH - 1, _SEQ == 1),
        ),
    )
    .values(epoch=_EPOCH, seq=_SEQ, hash=bindparam("new_hash"))
)

_AT = (sealed_card.c.table_code, sealed_card.c.epoch, sealed_card.c.seq)
_EVENTS = (
    select(event, sealed_card.c.card, sealed_card.c.serial, sealed_card.c.nonce)
    .outerjoin(
        sealed_card,
        and_(_AT[0] == event.c.table_code, _AT[1] == event.c.epoch, _AT[2] == event.c.seq),
    )
    .order_by(event.c.table_code, event.c.epoch, event.c.seq)
)


def events_of(table: str) -> Select[Any]:
    """Return the query for a table's whole log, in order."""
    return _EVENTS.where(event.c.table_code == table)


def corrections_of(table: str, *, epoch: int) -> Select[Any]:
    """Return the query for the corrections of one shoe's rounds, in the order of the log."""
    noted = and_(
        round_correction.c.table_code == event.c.table_code,
        round_correction.c.epoch == event.c.epoch,
        round_correction.c.seq == event.c.seq,
    )
    return (
        events_of(table)
        .join(round_correction, noted)
        .join(round_, round_.c.id == round_correction.c.round_id)
        .where(round_.c.epoch == epoch)
    )


def stored_event(row: Row[Any]) -> StoredEvent:
    """Return a line of the log as it came from the database.

    Raises:
        InvariantError: `log_unreadable` when what is stored is no JSON any more.
    """
    try:
        body = json.loads(row.body)
    except ValueError as error:
        raise InvariantError(
            "log_unreadable",
            f"Event {row.epoch}/{row.seq} of {row.table_code} can't be read.",
            table=row.table_code,
        ) from error
    sealed: Mapping[str, Json] | None = None
    if row.card is not None:
        sealed = {"card": row.card, "serial": row.serial, "nonce": row.nonce}
    return StoredEvent(
        table=row.table_code,
        epoch=row.epoch,
        seq=row.seq,
        at_ms=row.at_ms,
        kind=row.kind,
        body=body,
        sealed=sealed,
        prev_hash=row.prev_hash,
        hash=row.hash,
    )


class SqlEventLog(EventLog):
    """The logs in SQL."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def lock(self, table: str) -> None:
        """See the port."""
        dialect = self._connection.dialect.name
        self._connection.execute(_OPEN_LOG[dialect], {"code": table})
        self._connection.execute(_LOCK_LOG, {"code": table})

    def position(self, table: str) -> tuple[int, int, str]:
        """See the port."""
        row = self._connection.execute(_POSITION, {"code": table}).first()
        return (row.epoch, row.seq, row.hash) if row else (0, 0, GENESIS_HASH)

    def read(self, table: str, *, epoch: int, after_seq: int) -> Sequence[StoredEvent]:
        """See the port."""
        wanted = events_of(table).where(event.c.epoch == epoch, event.c.seq > after_seq)
        return [stored_event(row) for row in self._connection.execute(wanted)]

    def append(self, event_: StoredEvent) -> None:
        """See the port."""
        # The log's last row moves by exactly one, from exactly the hash that is chained to: two
        # writers, a gap or a foreign chain can't get past this one statement.
        advanced = self._connection.execute(
            _ADVANCE,
            {
                "code": event_.table,
                "prev": event_.prev_hash,
                "new_epoch": event_.epoch,
                "new_seq": event_.seq,
                "new_hash": event_.hash,
            },
        )
        if advanced.rowcount != 1:
            at = self.position(event_.table)
            raise InvariantError(
                "log_position_taken" if (event_.epoch, event_.seq) <= at[:2] else "log_gap",
                f"Event {event_.epoch}/{event_.seq} does not follow the log of {event_.table}, "
                f"which ends at {at[0]}/{at[1]}.",
                table=event_.table,
            )
        place = {"table_code": event_.table, "epoch": event_.epoch, "seq": event_.seq}
        self._connection.execute(
            insert(event),
            {
                **place,
                "at_ms": event_.at_ms,
                "kind": event_.kind,
                "body": canonical(event_.body),
                "prev_hash": event_.prev_hash,
                "hash": event_.hash,
            },
        )
        if event_.sealed is not None:
            sealed = {key: event_.sealed[key] for key in ("card", "serial", "nonce")}
            self._connection.execute(insert(sealed_card), {**place, **sealed})

    def corrections(self, table: str, *, epoch: int) -> Sequence[StoredEvent]:
        """See the port."""
        wanted = corrections_of(table, epoch=epoch)
        return [stored_event(row) for row in self._connection.execute(wanted)]

    def orders(self, table: str, *, before_epoch: int, shoes: int) -> Sequence[Sequence[str]]:
        """See the port."""
        drawn = (
            select(sealed_card.c.epoch, sealed_card.c.card)
            .join(
                event,
                and_(
                    event.c.table_code == sealed_card.c.table_code,
                    event.c.epoch == sealed_card.c.epoch,
                    event.c.seq == sealed_card.c.seq,
                ),
            )
            .where(
                sealed_card.c.table_code == table,
                sealed_card.c.epoch < before_epoch,
                sealed_card.c.epoch >= before_epoch - shoes,
                event.c.kind == "CardDrawn",
            )
            .order_by(sealed_card.c.epoch, sealed_card.c.seq)
        )
        rows = self._connection.execute(drawn)
        return [[row.card for row in shoe] for _, shoe in groupby(rows, key=lambda row: row.epoch)]
