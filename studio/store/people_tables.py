"""Tables of people, the games they may deal, their sessions and their failed logins."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
)

from studio.services.ports import Role
from studio.store.metadata import metadata

person = Table(
    "person",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("username", String(32), nullable=False, unique=True),
    Column("display_name", String(60), nullable=False),
    Column("role", String(20), nullable=False),
    Column("password_hash", String(200), nullable=False),
    Column("badge", String(64), nullable=True, unique=True),
    Column("pin_hash", String(200), nullable=True),
    Column("language", String(8), nullable=False),
    Column("active", Boolean, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    CheckConstraint(
        "role in ({})".format(", ".join(f"'{role.value}'" for role in Role)), name="role_known"
    ),
    sqlite_autoincrement=True,  # an id is never given to a second person
)

qualification = Table(
    "qualification",
    metadata,
    Column("person_id", Integer, ForeignKey("person.id"), primary_key=True),
    Column("game", String(40), primary_key=True),
)

login_session = Table(
    "login_session",
    metadata,
    Column("token_hash", String(64), primary_key=True),
    Column("person_id", Integer, ForeignKey("person.id"), nullable=False, index=True),
    Column("created_ms", BigInteger, nullable=False),
    Column("last_seen_ms", BigInteger, nullable=False),
    Column("expires_ms", BigInteger, nullable=False),
)

login_failure = Table(
    "login_failure",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("name_hash", String(64), nullable=False),
    Column("address", String(64), nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Index("ix_login_failure_name_hash_at_ms", "name_hash", "at_ms"),
    Index("ix_login_failure_address_at_ms", "address", "at_ms"),
)
