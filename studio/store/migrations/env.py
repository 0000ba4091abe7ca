"""Runs the migrations on the connection, and in the transaction, that `schema.upgrade` opened."""

from alembic import context

from studio.store import people_tables, play_tables, tables  # noqa: F401  they fill the catalogue
from studio.store.metadata import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
