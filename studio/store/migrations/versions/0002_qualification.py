"""Dealers are qualified for games; every dealer there is has dealt Pok Deng, the only game so far.

Revision ID: 0002
Revises: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "qualification",
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("game", sa.String(length=40), nullable=False),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.id"], name=op.f("fk_qualification_person_id_person")
        ),
        sa.PrimaryKeyConstraint("person_id", "game", name=op.f("pk_qualification")),
    )
    op.execute(
        "INSERT INTO qualification (person_id, game) "
        "SELECT id, 'pok_deng' FROM person WHERE role = 'dealer'"
    )


def downgrade() -> None:
    op.drop_table("qualification")
