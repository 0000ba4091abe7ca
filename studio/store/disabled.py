"""Which play is disabled, in the database."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, select

from studio.services.disabled_ports import Disabled, DisabledRow
from studio.store.rows import insert_new
from studio.store.tables import disabled_play


class SqlDisabled(Disabled):
    """Disabled scopes in SQL, on one connection's transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def all(self) -> Sequence[DisabledRow]:
        """See the port."""
        rows = self._connection.execute(select(disabled_play).order_by(disabled_play.c.scope))
        return [_row(row) for row in rows]

    def first_of(self, scopes: Collection[str]) -> DisabledRow | None:
        """See the port."""
        wanted = select(disabled_play).where(disabled_play.c.scope.in_(sorted(scopes)))
        row = self._connection.execute(wanted.order_by(disabled_play.c.scope).limit(1)).first()
        return None if row is None else _row(row)

    def add(self, row: DisabledRow) -> bool:
        """See the port."""
        values = {"scope": row.scope, "reason": row.reason, "by": row.by, "at_ms": row.at_ms}
        return insert_new(self._connection, disabled_play, values) is not None

    def remove(self, scope: str) -> bool:
        """See the port."""
        gone = self._connection.execute(delete(disabled_play).where(disabled_play.c.scope == scope))
        return gone.rowcount == 1


def _row(row: Row[Any]) -> DisabledRow:
    return DisabledRow(scope=row.scope, reason=row.reason, by=row.by, at_ms=row.at_ms)
