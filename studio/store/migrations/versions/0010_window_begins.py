"""A wager before its round's opening is refused: the clock was set back.

Revision ID: 0010
Revises: 0009
"""

from pathlib import Path

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute((SQL / "place_wager_2.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION place_wager")
        op.execute((SQL / "place_wager_1.sql").read_text(encoding="utf-8"))
