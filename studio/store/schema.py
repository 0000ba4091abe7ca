"""Bringing the database's schema up to date, and telling whether it is."""

from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, text

from studio.domain.errors import MalformedError
from studio.store import (  # they fill the catalogue
    club_tables,  # noqa: F401
    correction_tables,  # noqa: F401
    people_tables,  # noqa: F401
    picture_tables,  # noqa: F401
    play_tables,  # noqa: F401
    tables,  # noqa: F401
)
from studio.store.engine import is_sqlite, read_transaction, write_transaction
from studio.store.metadata import metadata

MIGRATIONS = Path(__file__).parent / "migrations"

UPGRADE_LOCK = 0x5354_5544_494F
"""Key of PostgreSQL's advisory lock: of two processes that start at once, one migrates."""


def alembic_config(connection: Connection) -> Config:
    """Return Alembic's configuration for one open connection."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    return config


def upgrade(engine: Engine, *, revision: str = "head") -> None:
    """Migrate to a revision in one transaction; a second process waits and finds it done.

    Raises:
        MalformedError: `schema_unknown`.
    """
    with write_transaction(engine) as connection:
        if not is_sqlite(engine):
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": UPGRADE_LOCK})
        try:
            command.upgrade(alembic_config(connection), revision)
        except CommandError as error:
            raise MalformedError(
                "schema_unknown",
                "The database's schema is not one of this release; a newer one may have made it: "
                f"{error}",
            ) from error


def differences(engine: Engine) -> list[str]:
    """Return how the stored schema differs from the tables in code; empty when it does not."""
    with read_transaction(engine) as connection:
        context = MigrationContext.configure(connection)
        return [str(difference) for difference in compare_metadata(context, metadata)]
