"""Who supervises which table, in the database: one statement decides."""

from sqlalchemy import Connection, text

from studio.services.leases import Leases

_TAKE = """
INSERT INTO lease (table_code, holder, fence, until_ms)
VALUES (:table_code, :holder, 1, :until_ms)
ON CONFLICT (table_code) DO UPDATE SET
    fence = CASE WHEN lease.holder = :holder AND lease.fence = :fence
        THEN lease.fence ELSE lease.fence + 1 END,
    holder = :holder,
    until_ms = :until_ms
WHERE (lease.holder = :holder AND (lease.fence = :fence OR :fence = 0))
    OR lease.until_ms <= :now_ms
RETURNING fence
"""
NO_FENCE = 0
"""What a process that has just started holds; fences begin with 1."""


class SqlLeases(Leases):
    """Leases in SQL, on one connection's transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def take(
        self, table: str, *, holder: str, fence: int | None, now_ms: int, until_ms: int
    ) -> int | None:
        """See the port."""
        found: int | None = self._connection.execute(
            text(_TAKE),
            {
                "table_code": table,
                "holder": holder,
                "fence": NO_FENCE if fence is None else fence,
                "now_ms": now_ms,
                "until_ms": until_ms,
            },
        ).scalar()
        return found
