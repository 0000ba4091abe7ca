"""Small SQL expressions that both databases understand alike."""

from typing import Any

from sqlalchemy import BigInteger, ColumnElement, cast, func


def total(expression: ColumnElement[Any]) -> ColumnElement[int]:
    """Return the sum as a 64-bit integer, 0 over no rows (PostgreSQL would widen it)."""
    return cast(func.coalesce(func.sum(expression), 0), BigInteger)
