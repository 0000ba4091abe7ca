"""The schema's history, by Alembic."""
