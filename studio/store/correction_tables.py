"""The stored tables of corrections: where they lie in the log, and what players owe since."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
)

from studio.store.metadata import metadata
from studio.store.tables import Number

round_correction = Table(
    "round_correction",
    metadata,
    Column("round_id", String(80), ForeignKey("round.id"), nullable=False),
    Column("version", Integer, nullable=False),
    Column("table_code", String(40), nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("seq", BigInteger, nullable=False),
    PrimaryKeyConstraint("round_id", "version"),
    ForeignKeyConstraint(
        ["table_code", "epoch", "seq"], ["event.table_code", "event.epoch", "event.seq"]
    ),
    Index(None, "table_code", "epoch", "seq"),
)
"""Where the event of a correction lies: in its table's log, also when the round's shoe is gone."""

player_owed = Table(
    "player_owed",
    metadata,
    Column("player_id", Number, primary_key=True, autoincrement=False),
    Column("owed_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("owed_minor", BigInteger, nullable=False),
    UniqueConstraint("owed_id"),
    CheckConstraint("owed_minor >= 0", name="owed_not_negative"),
)
"""What a player owes, folded from the entries of an account that is never above 0. Apart from the
balances, which every wager locks: nearly nobody owes anything."""
