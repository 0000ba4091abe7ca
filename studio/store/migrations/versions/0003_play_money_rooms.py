"""Play money: rooms, who is in them, and wagers forfeited by leaving.

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

IN_IT = sa.text("left_ms IS NULL")


def upgrade() -> None:
    op.create_table(
        "room",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("table_code", sa.String(length=40), nullable=False),
        sa.Column("code", sa.String(length=8), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("owner_id", sa.BigInteger(), nullable=False),
        sa.Column("opened_ms", sa.BigInteger(), nullable=False),
        sa.Column("started_ms", sa.BigInteger(), nullable=True),
        sa.Column("closed_ms", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "state in ('open', 'started', 'closed')", name=op.f("ck_room_state_known")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_room")),
        sa.UniqueConstraint("code", name=op.f("uq_room_code")),
    )
    op.create_table(
        "room_member",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("room_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("player_id", sa.BigInteger(), nullable=False),
        sa.Column("joined_ms", sa.BigInteger(), nullable=False),
        sa.Column("left_ms", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["room_id"], ["room.id"], name=op.f("fk_room_member_room_id_room")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_room_member")),
    )
    op.create_index(
        op.f("ix_room_member_room_id_player_id"), "room_member", ["room_id", "player_id"]
    )
    op.create_index(
        "ix_room_member_player_id_in_it",
        "room_member",
        ["player_id"],
        unique=True,
        sqlite_where=IN_IT,
        postgresql_where=IN_IT,
    )
    op.create_table(
        "forfeit",
        sa.Column(
            "wager_number",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("round_id", sa.String(length=80), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("room_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.ForeignKeyConstraint(["room_id"], ["room.id"], name=op.f("fk_forfeit_room_id_room")),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], name=op.f("fk_forfeit_round_id_round")),
        sa.ForeignKeyConstraint(
            ["wager_number"], ["wager.number"], name=op.f("fk_forfeit_wager_number_wager")
        ),
        sa.PrimaryKeyConstraint("wager_number", name=op.f("pk_forfeit")),
    )
    op.create_index(op.f("ix_forfeit_round_id"), "forfeit", ["round_id"])
    op.create_index(op.f("ix_forfeit_room_id"), "forfeit", ["room_id"])


def downgrade() -> None:
    op.drop_table("forfeit")
    op.drop_table("room_member")
    op.drop_table("room")
