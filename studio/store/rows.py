"""Inserting a row whose key may be taken, on either database."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, Table
from sqlalchemy.dialects import postgresql, sqlite


def insert_new(
    connection: Connection, table: Table, values: Mapping[str, object]
) -> Row[Any] | None:
    """Insert a row unless one of its unique keys is taken.

    Returns the new row's primary key, or None when a key was taken. On PostgreSQL a key that
    another unfinished transaction holds is waited for.
    """
    builder: Any = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    statement = builder(table).on_conflict_do_nothing().returning(*table.primary_key)
    row: Row[Any] | None = connection.execute(statement, dict(values)).first()
    return row
