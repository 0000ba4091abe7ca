"""The embedded database's own check of its file: what no query over the rows would notice.

A page that was never written, or lies where another belongs, leaves rows that look right; the
indexes and references beside them then disagree.
"""

from collections.abc import Iterator

from sqlalchemy import Connection

from studio.services.inspection import FAULTS_PER_CHECK_MAX, Fault

WHERE = "database file"
WHOLE = "ok"


def faults(connection: Connection) -> Iterator[Fault]:
    """Check SQLite's pages, indexes, constraints and references; PostgreSQL checks its own."""
    if connection.dialect.name != "sqlite":
        return
    checked = connection.exec_driver_sql(f"PRAGMA integrity_check({FAULTS_PER_CHECK_MAX})")
    for (line,) in checked:
        if line != WHOLE:
            yield Fault(code="file_damaged", where=WHERE, what=line)
    checked = connection.exec_driver_sql("PRAGMA foreign_key_check")
    for row in checked.fetchmany(FAULTS_PER_CHECK_MAX):
        what = f"A row of {row[0]} names a row of {row[2]} that is not there."
        yield Fault(code="file_damaged", where=WHERE, what=what)
