"""The rows of rounds that the money obeys, and the shares of their table limit."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, insert, literal, select, update

from studio.domain.errors import InvariantError
from studio.services.correction_ports import ShoeRound
from studio.services.ports import RoundRow, Rounds
from studio.services.shoe_rounds import ENDS, shoe_rounds
from studio.store.correction_tables import round_correction
from studio.store.events import corrections_of
from studio.store.tables import event, round_, stake_quota

SHARDS_POSTGRESQL = 16
"""Into how many shares a round's table limit is cut: concurrent wagers rarely meet."""

SHARDS_SQLITE = 1
"""One writer at a time: nothing to share."""

_GET = select(round_).where(round_.c.id == bindparam("round_id"))


def shards(connection: Connection) -> int:
    """Return the number of shares of a table limit on this database."""
    return SHARDS_SQLITE if connection.dialect.name == "sqlite" else SHARDS_POSTGRESQL


def round_row(row: Row[Any]) -> RoundRow:
    """Return the port's shape of a stored round."""
    return RoundRow(
        id=row.id,
        table=row.table_code,
        epoch=row.epoch,
        number=row.number,
        game=row.game,
        phase=row.phase,
        opened_ms=row.opened_ms,
        window_closes_ms=row.window_closes_ms,
        rule_version=row.rule_version,
        paytable_version=row.paytable_version,
        settlement_version=row.settlement_version,
    )


def latest_first(wanted: Select[Any], *, limit: int, before_ms: int | None) -> Select[Any]:
    """Return the query cut to one page, newest round first."""
    if before_ms is not None:
        wanted = wanted.where(round_.c.opened_ms < before_ms)
    return wanted.order_by(round_.c.opened_ms.desc(), round_.c.id.desc()).limit(limit)


class SqlRounds(Rounds):
    """The rounds in SQL."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def insert(self, row: RoundRow) -> None:
        """See the port."""
        self._connection.execute(
            insert(round_),
            {
                "id": row.id,
                "table_code": row.table,
                "epoch": row.epoch,
                "number": row.number,
                "game": row.game,
                "phase": str(row.phase),
                "opened_ms": row.opened_ms,
                "window_closes_ms": row.window_closes_ms,
                "rule_version": row.rule_version,
                "paytable_version": row.paytable_version,
                "settlement_version": row.settlement_version,
            },
        )
        # The first wager brings the table limit and deals it out among the shares.
        empty = {"round_id": row.id, "stake_minor": 0, "quota_minor": 0}
        self._connection.execute(
            insert(stake_quota),
            [{**empty, "shard": shard} for shard in range(shards(self._connection))],
        )

    def update_phase(self, round_id: str, phase: str, *, settlement_version: int) -> None:
        """See the port."""
        changed = self._connection.execute(
            update(round_)
            .where(round_.c.id == round_id)
            .values(phase=str(phase), settlement_version=settlement_version)
        )
        if changed.rowcount != 1:
            raise InvariantError("unknown_round", f"There is no round {round_id}.")

    def note_correction(self, round_id: str, *, version: int, epoch: int, seq: int) -> None:
        """See the port."""
        place = select(
            round_.c.id, literal(version), round_.c.table_code, literal(epoch), literal(seq)
        ).where(round_.c.id == round_id)
        names = ["round_id", "version", "table_code", "epoch", "seq"]
        self._connection.execute(insert(round_correction).from_select(names, place))

    def of_shoe(self, table: str, *, epoch: int) -> Sequence[ShoeRound]:
        """See the port."""
        of = (round_.c.table_code == table, round_.c.epoch == epoch)
        rows = self._connection.execute(select(round_).where(*of).order_by(round_.c.number))
        lines = self._connection.execute(
            select(event.c.body)
            .where(event.c.table_code == table, event.c.epoch == epoch, event.c.kind.in_(ENDS))
            .order_by(event.c.seq)
        )
        bodies = [json.loads(line.body) for line in lines]
        corrections = self._connection.execute(corrections_of(table, epoch=epoch))
        bodies += [json.loads(line.body) for line in corrections]
        return shoe_rounds(map(round_row, rows), bodies)

    def get(self, round_id: str) -> RoundRow | None:
        """See the port."""
        row = self._connection.execute(_GET, {"round_id": round_id}).first()
        return round_row(row) if row else None

    def recent(self, table: str | None, *, limit: int, before_ms: int | None) -> Sequence[RoundRow]:
        """See the port."""
        wanted = select(round_)
        if table is not None:
            wanted = wanted.where(round_.c.table_code == table)
        rows = self._connection.execute(latest_first(wanted, limit=limit, before_ms=before_ms))
        return [round_row(row) for row in rows]
