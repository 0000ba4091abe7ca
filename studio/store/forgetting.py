"""Deleting what has been kept long enough, a few rows at a time."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, delete, exists, select, tuple_

from studio.services.retention_ports import Forgetting, Kept
from studio.store.people_tables import login_failure, login_session
from studio.store.picture_tables import scan_picture
from studio.store.tables import alarm, command_answer, scan_report

_WITHOUT_PICTURE = ~exists().where(
    scan_picture.c.device == scan_report.c.device,
    scan_picture.c.report_id == scan_report.c.report_id,
)


class SqlForgetting(Forgetting):
    """Forgetting in SQL, on one connection's transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def forget(self, kind: Kept, *, before_ms: int, rows_max: int) -> int:
        """See the port."""
        gone = 0
        for table, due in _due(kind, before_ms=before_ms):
            gone += self._delete(table, due, rows_max=rows_max - gone)
        return gone

    def _delete(self, table: Table, due: ColumnElement[bool], *, rows_max: int) -> int:
        key = list(table.primary_key)
        some: Select[Any] = select(*key).where(due).limit(rows_max)
        mine = key[0] if len(key) == 1 else tuple_(*key)
        return self._connection.execute(delete(table).where(mine.in_(some))).rowcount


def _due(kind: Kept, *, before_ms: int) -> list[tuple[Table, ColumnElement[bool]]]:
    """Return the tables of a kind with what is old in each."""
    match kind:
        case Kept.COMMAND_ANSWERS:
            return [(command_answer, command_answer.c.at_ms < before_ms)]
        case Kept.SCAN_REPORTS:
            return [(scan_report, (scan_report.c.at_ms < before_ms) & _WITHOUT_PICTURE)]
        case Kept.PICTURES:
            return [(scan_picture, scan_picture.c.wanted_ms < before_ms)]
        case Kept.ALARMS:
            return [(alarm, alarm.c.cleared_ms < before_ms)]
        case Kept.LOGINS:
            return [
                (login_failure, login_failure.c.at_ms < before_ms),
                (login_session, login_session.c.expires_ms < before_ms),
            ]
