"""The database behind an address: SQLite in a file, or PostgreSQL.

SQLite: write-ahead log, synchronous FULL, foreign keys, BEGIN IMMEDIATE for writers and one
process-wide lock round every write transaction. Without that lock a greenlet that waits for
SQLite's own lock would wait in C and stop every other greenlet, the lock's holder included.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from studio.domain.errors import InvariantError, MalformedError
from studio.services.retry import StorageError, TryAgainError

POOL_SIZE = 20
POOL_OVERFLOW = 20
POOL_TIMEOUT_S = 10
"""The defaults (5 + 10) ran dry at 60 requests at once; 20 + 20 did not."""

SQLITE_BUSY_MS = 5_000
"""How long to wait for another process (`audit`, a second server) that holds the file."""

POSTGRESQL_LINK = {
    "connect_timeout": 5,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""How soon a server is given up whose host is gone: by default after a quarter of an hour, or two
hours for an answer that is waited for, and every table waits. Seconds, but for `tcp_user_timeout`
(what was sent and not acknowledged), milliseconds. A host that lives answers the probes, however
long a statement takes. What the address itself says comes before this."""

LOST_RACE_STATES = frozenset({"40P01", "40001", "55P03"})
"""PostgreSQL: deadlock, failed serialisation, lock not available."""

FAILED_STATES = frozenset({"53100", "57P03"})
"""PostgreSQL: disk full, server starting or stopping."""
FAILED_WORDS = ("database or disk is full", "disk I/O error", "readonly database", "unable to open")
"""SQLite's, whose driver gives no code for the like."""

WRITING = {"studio_writes": True}
"""Marks connections whose transaction begins IMMEDIATE on SQLite."""


class WriteLock:
    """One writer of SQLite at a time in this process; refuses a writer inside a writer."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._held = False

    def acquire(self) -> None:
        """Wait for the turn.

        Raises:
            InvariantError: `write_nested` when this thread already writes.
        """
        self._lock.acquire()
        if self._held:
            self._lock.release()
            raise InvariantError("write_nested", "A write transaction was begun inside another.")
        self._held = True

    def release(self) -> None:
        """Give the turn away."""
        self._held = False
        self._lock.release()


WRITE_LOCK = WriteLock()
"""The only one: all SQLite write transactions of the process pass here."""


def make_engine(address: str) -> Engine:
    """Return the engine of a database address, after one successful connection.

    Args:
        address: `sqlite:///path` or `postgresql+psycopg://user@host/name`.

    Raises:
        MalformedError: `database_url`, `database_unreachable`.
    """
    url = parse_address(address)
    engine = _sqlite(url) if url.get_backend_name() == "sqlite" else _postgresql(url)
    event.listen(engine, "handle_error", _translate, retval=True)
    try:
        with engine.connect() as connection:
            connection.execute(text("SELECT 1"))
    except (DBAPIError, StorageError) as error:
        engine.dispose()
        shown = url.render_as_string(hide_password=True)
        cause = str(error.__cause__).splitlines()[0]
        raise MalformedError(
            "database_unreachable",
            f"The database {shown} can't be opened: {cause}",
            database=shown,
        ) from error
    return engine


def is_sqlite(engine: Engine) -> bool:
    """Return whether the database is the embedded one."""
    return engine.dialect.name == "sqlite"


@contextmanager
def write_transaction(engine: Engine) -> Iterator[Connection]:
    """Give a connection that may write; commits at the end, rolls back on an exception."""
    with write_turn(engine), engine.execution_options(**WRITING).begin() as connection:
        yield connection


@contextmanager
def read_transaction(engine: Engine) -> Iterator[Connection]:
    """Give a connection that only reads, from one consistent snapshot."""
    with reading(engine).connect() as connection:
        yield connection


@contextmanager
def write_turn(engine: Engine) -> Iterator[None]:
    """Hold the process's turn to write; nothing to wait for on PostgreSQL."""
    if not is_sqlite(engine):
        yield
        return
    WRITE_LOCK.acquire()
    try:
        yield
    finally:
        WRITE_LOCK.release()


def reading(engine: Engine) -> Engine:
    """Return the same engine with transactions that see one snapshot and cannot write."""
    if is_sqlite(engine):
        return engine
    return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


def parse_address(address: str) -> URL:
    """Return a database address taken apart, with the driver that the studio uses.

    Raises:
        MalformedError: `database_url`.
    """
    try:
        url = make_url(address)
        backend = url.get_backend_name()
    except (ArgumentError, ValueError) as error:
        raise MalformedError(
            "database_url",
            "The database address can't be read; write sqlite:///PATH or "
            "postgresql+psycopg://USER@HOST/NAME.",
        ) from error
    if backend == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if url.drivername in {"sqlite", "sqlite+pysqlite"} and url.database not in {
        None,
        "",
        ":memory:",
    }:
        return url.set(drivername="sqlite+pysqlite")
    raise MalformedError(
        "database_url",
        f"The database address {url.render_as_string(hide_password=True)} is neither a SQLite "
        "file (sqlite:///PATH) nor PostgreSQL (postgresql+psycopg://USER@HOST/NAME).",
    )


def _sqlite(url: URL) -> Engine:
    engine = create_engine(
        url,
        connect_args={"check_same_thread": False, "timeout": SQLITE_BUSY_MS / 1000},
        pool_size=POOL_SIZE,
        max_overflow=POOL_OVERFLOW,
        pool_timeout=POOL_TIMEOUT_S,
        hide_parameters=True,  # they may hold a sealed card
    )
    event.listen(engine, "connect", _sqlite_connected)
    event.listen(engine, "begin", _sqlite_begins)
    return engine


def _postgresql(url: URL) -> Engine:
    try:
        return create_engine(
            url,
            connect_args={
                name: value for name, value in POSTGRESQL_LINK.items() if name not in url.query
            },
            pool_size=POOL_SIZE,
            max_overflow=POOL_OVERFLOW,
            pool_timeout=POOL_TIMEOUT_S,
            hide_parameters=True,  # they may hold a sealed card
        )
    except NoSuchModuleError as error:  # pragma: no cover - psycopg is a hard dependency
        raise MalformedError("database_url", str(error)) from error


def _sqlite_connected(connection: Any, record: object) -> None:
    # The driver's own BEGIN comes too late and is never IMMEDIATE: we send it ourselves.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        f"busy_timeout = {SQLITE_BUSY_MS}",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _sqlite_begins(connection: Connection) -> None:
    writes = connection.get_execution_options().get("studio_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _translate(context: ExceptionContext) -> BaseException | None:
    """Name a lost race and a failed storage as such, whatever statement or commit they hit."""
    original = context.original_exception
    if not isinstance(original, Exception):
        return None  # the process is being ended: nothing is wrong with the storage
    state, words = getattr(original, "sqlstate", None), str(original)
    if state in LOST_RACE_STATES or "database is locked" in words:
        return TryAgainError(words.splitlines()[0])
    unreached = context.connection is None or context.is_disconnect
    if unreached or state in FAILED_STATES or any(word in words for word in FAILED_WORDS):
        return StorageError("storage_failed", "The studio can't save anything now. Try again soon.")
    return None
