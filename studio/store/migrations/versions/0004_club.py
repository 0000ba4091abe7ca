"""The club of a play-money studio: tallies, medals, purchases, options.

Revision ID: 0004
Revises: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "tally",
        sa.Column("player_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("value >= 0", name=op.f("ck_tally_value_not_negative")),
        sa.PrimaryKeyConstraint("player_id", "name", name=op.f("pk_tally")),
        sqlite_with_rowid=False,
        postgresql_with={"fillfactor": 50},
    )
    op.create_table(
        "tallied_round",
        sa.Column("round_id", sa.String(length=80), nullable=False),
        sa.ForeignKeyConstraint(
            ["round_id"], ["round.id"], name=op.f("fk_tallied_round_round_id_round")
        ),
        sa.PrimaryKeyConstraint("round_id", name=op.f("pk_tallied_round")),
    )
    op.create_table(
        "medal",
        sa.Column("player_id", sa.BigInteger(), nullable=False),
        sa.Column("code", sa.String(length=40), nullable=False),
        sa.Column("awarded_ms", sa.BigInteger(), nullable=False),
        sa.Column("round_id", sa.String(length=80), nullable=True),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], name=op.f("fk_medal_round_id_round")),
        sa.PrimaryKeyConstraint("player_id", "code", name=op.f("pk_medal")),
    )
    op.create_table(
        "purchase",
        sa.Column("player_id", sa.BigInteger(), nullable=False),
        sa.Column("item", sa.String(length=40), nullable=False),
        sa.Column("price_minor", sa.BigInteger(), nullable=False),
        sa.Column("bought_ms", sa.BigInteger(), nullable=False),
        sa.Column("transfer_id", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("price_minor > 0", name=op.f("ck_purchase_price_positive")),
        sa.ForeignKeyConstraint(
            ["transfer_id"], ["transfer.id"], name=op.f("fk_purchase_transfer_id_transfer")
        ),
        sa.PrimaryKeyConstraint("player_id", "item", name=op.f("pk_purchase")),
        sa.UniqueConstraint("transfer_id", name=op.f("uq_purchase_transfer_id")),
    )
    op.create_table(
        "player_options",
        sa.Column(
            "player_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("options", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("player_id", name=op.f("pk_player_options")),
    )


def downgrade() -> None:
    for table in ("player_options", "purchase", "medal", "tallied_round", "tally"):
        op.drop_table(table)
