"""Pictures of cards that did not read or were held.

Revision ID: 0005
Revises: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "scan_picture",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("device", sa.String(length=80), nullable=False),
        sa.Column("report_id", sa.String(length=120), nullable=False),
        sa.Column("table_code", sa.String(length=40), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("round_id", sa.String(length=80), nullable=True),
        sa.Column("why", sa.String(length=40), nullable=False),
        sa.Column("wanted_ms", sa.BigInteger(), nullable=False),
        sa.Column("captured_ms", sa.BigInteger(), nullable=True),
        sa.Column("taken_ms", sa.BigInteger(), nullable=True),
        sa.Column("frame", sa.LargeBinary(), nullable=True),
        sa.Column("card", sa.LargeBinary(), nullable=True),
        sa.CheckConstraint(
            "(taken_ms IS NULL AND frame IS NULL AND card IS NULL AND captured_ms IS NULL)"
            " OR (taken_ms IS NOT NULL AND frame IS NOT NULL AND captured_ms IS NOT NULL)",
            name=op.f("ck_scan_picture_whole_or_wanted"),
        ),
        sa.ForeignKeyConstraint(
            ["device", "report_id"],
            ["scan_report.device", "scan_report.report_id"],
            name=op.f("fk_scan_picture_device_report_id_scan_report"),
        ),
        sa.ForeignKeyConstraint(
            ["table_code", "epoch", "seq"],
            ["event.table_code", "event.epoch", "event.seq"],
            name=op.f("fk_scan_picture_table_code_epoch_seq_event"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scan_picture")),
        sa.UniqueConstraint("device", "report_id", name=op.f("uq_scan_picture_device_report_id")),
    )
    with op.batch_alter_table("scan_picture") as batch:
        batch.create_index(
            op.f("ix_scan_picture_table_code_id_taken_ms"), ["table_code", "id", "taken_ms"]
        )
        batch.create_index(op.f("ix_scan_picture_wanted_ms"), ["wanted_ms"])


def downgrade() -> None:
    op.drop_table("scan_picture")
