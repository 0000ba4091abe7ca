"""The lines of what players owe are found by their account.

Revision ID: 0009
Revises: 0008
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

OWED = sa.text("leg = 8")


def upgrade() -> None:
    op.create_index(
        "ix_entry_owed", "entry", ["account_id"], sqlite_where=OWED, postgresql_where=OWED
    )


def downgrade() -> None:
    op.drop_index("ix_entry_owed", table_name="entry")
