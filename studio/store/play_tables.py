"""The stored tables of play money: rooms, who was in them when, and forfeited wagers."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    String,
    Table,
    UniqueConstraint,
    Uuid,
    text,
)

from studio.services.play_ports import RoomState
from studio.store.metadata import metadata
from studio.store.tables import Number

CODE_CHARS = 8
"""Length of a room's invitation code."""

room = Table(
    "room",
    metadata,
    Column("id", Uuid(as_uuid=False), primary_key=True),
    Column("table_code", String(40), nullable=False),
    Column("code", String(CODE_CHARS), nullable=False),
    Column("state", String(8), nullable=False),
    Column("owner_id", BigInteger, nullable=False),
    Column("opened_ms", BigInteger, nullable=False),
    Column("started_ms", BigInteger),
    Column("closed_ms", BigInteger),
    UniqueConstraint("code"),
    CheckConstraint(
        "state in ({})".format(", ".join(f"'{state.value}'" for state in RoomState)),
        name="state_known",
    ),
)
"""A group of players at one table. Its row is locked by whoever decides about it."""

_IN_IT = text("left_ms IS NULL")

room_member = Table(
    "room_member",
    metadata,
    Column("number", Number, primary_key=True),
    Column("room_id", Uuid(as_uuid=False), ForeignKey("room.id"), nullable=False),
    Column("player_id", BigInteger, nullable=False),
    Column("joined_ms", BigInteger, nullable=False),
    Column("left_ms", BigInteger),
    Index(None, "room_id", "player_id"),
    Index(
        "ix_room_member_player_id_in_it",
        "player_id",
        unique=True,
        sqlite_where=_IN_IT,
        postgresql_where=_IN_IT,
    ),
)
"""A stay in a room; `left_ms` is null while it lasts. The partial key keeps a player in one room
at a time; `number` tells who has been there longest."""

forfeit = Table(
    "forfeit",
    metadata,
    Column(
        "wager_number", Number, ForeignKey("wager.number"), primary_key=True, autoincrement=False
    ),
    Column("round_id", String(80), ForeignKey("round.id"), nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("room_id", Uuid(as_uuid=False), ForeignKey("room.id"), nullable=False),
    Index(None, "round_id"),
    Index(None, "room_id"),
)
"""A wager whose player left the room while it stood: it pays nothing unless the round is void.
Rows are only ever added."""
