"""Tables of the club: tallies, medals, purchases, options of players."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from studio.store.metadata import metadata
from studio.store.tables import HALF_FULL, Number

tally = Table(
    "tally",
    metadata,
    Column("player_id", BigInteger, nullable=False),
    Column("name", String(100), nullable=False),
    Column("value", BigInteger, nullable=False),
    PrimaryKeyConstraint("player_id", "name"),
    CheckConstraint("value >= 0", name="value_not_negative"),
    sqlite_with_rowid=False,
    postgresql_with=HALF_FULL,
)
"""What a player has done, a counter a row."""

tallied_round = Table(
    "tallied_round",
    metadata,
    Column("round_id", String(80), ForeignKey("round.id"), primary_key=True),
)
"""Rounds that are in the tallies: each once."""

medal = Table(
    "medal",
    metadata,
    Column("player_id", BigInteger, nullable=False),
    Column("code", String(40), nullable=False),
    Column("awarded_ms", BigInteger, nullable=False),
    Column("round_id", String(80), ForeignKey("round.id")),
    PrimaryKeyConstraint("player_id", "code"),
)
"""Rows are only ever added: a medal is kept, whatever the tally does later."""

purchase = Table(
    "purchase",
    metadata,
    Column("player_id", BigInteger, nullable=False),
    Column("item", String(40), nullable=False),
    Column("price_minor", BigInteger, nullable=False),
    Column("bought_ms", BigInteger, nullable=False),
    Column("transfer_id", BigInteger, ForeignKey("transfer.id"), nullable=False),
    PrimaryKeyConstraint("player_id", "item"),
    UniqueConstraint("transfer_id"),
    CheckConstraint("price_minor > 0", name="price_positive"),
)
"""An item bought; the key lets a player buy it once, the transfer paid for it."""

player_options = Table(
    "player_options",
    metadata,
    Column("player_id", Number, primary_key=True, autoincrement=False),
    Column("options", Text, nullable=False),
)
"""What a player chose, canonical JSON of those options that were ever chosen."""
