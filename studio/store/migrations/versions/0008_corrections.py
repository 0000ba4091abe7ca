"""Corrections of settled rounds, and what players owe since.

Revision ID: 0008
Revises: 0007
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "round_correction",
        sa.Column("round_id", sa.String(length=80), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("table_code", sa.String(length=40), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["round_id"], ["round.id"], name=op.f("fk_round_correction_round_id_round")
        ),
        sa.ForeignKeyConstraint(
            ["table_code", "epoch", "seq"],
            ["event.table_code", "event.epoch", "event.seq"],
            name=op.f("fk_round_correction_table_code_epoch_seq_event"),
        ),
        sa.PrimaryKeyConstraint("round_id", "version", name=op.f("pk_round_correction")),
    )
    with op.batch_alter_table("round_correction") as batch:
        batch.create_index(
            op.f("ix_round_correction_table_code_epoch_seq"), ["table_code", "epoch", "seq"]
        )
    op.create_table(
        "player_owed",
        sa.Column(
            "player_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("owed_id", sa.BigInteger(), nullable=False),
        sa.Column("owed_minor", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("owed_minor >= 0", name=op.f("ck_player_owed_owed_not_negative")),
        sa.ForeignKeyConstraint(
            ["owed_id"], ["account.id"], name=op.f("fk_player_owed_owed_id_account")
        ),
        sa.PrimaryKeyConstraint("player_id", name=op.f("pk_player_owed")),
        sa.UniqueConstraint("owed_id", name=op.f("uq_player_owed_owed_id")),
    )


def downgrade() -> None:
    op.drop_table("player_owed")
    op.drop_table("round_correction")
