"""The table of pictures: what a supervisor may open, kept apart from everything that is read."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    UniqueConstraint,
)

from studio.store.metadata import metadata
from studio.store.tables import Number

scan_picture = Table(
    "scan_picture",
    metadata,
    Column("id", Number, primary_key=True),
    Column("device", String(80), nullable=False),
    Column("report_id", String(120), nullable=False),
    Column("table_code", String(40), nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("round_id", String(80)),
    Column("why", String(40), nullable=False),
    Column("wanted_ms", BigInteger, nullable=False),
    Column("captured_ms", BigInteger),
    Column("taken_ms", BigInteger),
    Column("frame", LargeBinary),
    Column("card", LargeBinary),
    UniqueConstraint("device", "report_id"),
    ForeignKeyConstraint(["device", "report_id"], ["scan_report.device", "scan_report.report_id"]),
    ForeignKeyConstraint(
        ["table_code", "epoch", "seq"], ["event.table_code", "event.epoch", "event.seq"]
    ),
    CheckConstraint(
        "(taken_ms IS NULL AND frame IS NULL AND card IS NULL AND captured_ms IS NULL)"
        " OR (taken_ms IS NOT NULL AND frame IS NOT NULL AND captured_ms IS NOT NULL)",
        name="whole_or_wanted",
    ),
    Index(None, "table_code", "id", "taken_ms"),
    Index(None, "wanted_ms"),
)
"""A picture that is wanted, and once it has come its content. The key lets a report have one."""
