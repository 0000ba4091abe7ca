"""Copies of a whole database, taken while the studio plays, and databases made from copies.

SQLite is copied by its own online backup: one consistent state, writers go on. PostgreSQL is
dumped and restored by its own programs, from one snapshot.
"""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from enum import StrEnum, unique
from pathlib import Path

from sqlalchemy import URL, inspect

from studio.domain.errors import MalformedError
from studio.store.engine import make_engine, parse_address

_SQLITE_MAGIC = b"SQLite format 3\x00"
_POSTGRESQL_MAGIC = b"PGDMP"
CLIENT_PACKAGE = "postgresql-client"


@unique
class BackupKind(StrEnum):
    """Which kind of database a copy was taken from."""

    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"


def backup(database_url: str, path: Path) -> BackupKind:
    """Copy a database into one new file; nobody who plays has to wait for it.

    Raises:
        MalformedError: `backup_exists`, `backup_failed`, `backup_program_missing`,
            `database_url`, `database_unreachable`.
    """
    if path.exists():
        raise MalformedError("backup_exists", f"{path} exists already; a copy never replaces one.")
    url = _reachable(database_url)
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    kind = BackupKind(url.get_backend_name())
    copy = _copy_sqlite if kind is BackupKind.SQLITE else _dump_postgresql
    try:
        copy(url, part)
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.rename(path)
    except OSError as error:
        raise MalformedError("backup_failed", f"{path} can't be written: {error}") from error
    finally:
        part.unlink(missing_ok=True)
    return kind


def restore(path: Path, database_url: str) -> BackupKind:
    """Make a database from a copy; the database must be new or empty.

    Raises:
        MalformedError: `not_a_backup`, `backup_of_another_kind`, `restore_target_taken`,
            `restore_failed`, `backup_program_missing`, `database_url`, `database_unreachable`.
    """
    kind = kind_of(path)
    url = parse_address(database_url)
    if kind is not BackupKind(url.get_backend_name()):
        raise MalformedError(
            "backup_of_another_kind",
            f"{path} is a copy of a {kind} database; it can't become a {url.get_backend_name()} "
            "one.",
        )
    if kind is BackupKind.SQLITE:
        _restore_sqlite(path, Path(url.database or ""))
    else:
        _restore_postgresql(path, _reachable(database_url))
    return kind


def kind_of(path: Path) -> BackupKind:
    """Return what a file is a copy of.

    Raises:
        MalformedError: `not_a_backup`.
    """
    try:
        with path.open("rb") as file:
            head = file.read(len(_SQLITE_MAGIC))
    except OSError as error:
        raise MalformedError("not_a_backup", f"{path} can't be read: {error.strerror}") from error
    if head == _SQLITE_MAGIC:
        return BackupKind.SQLITE
    if head.startswith(_POSTGRESQL_MAGIC):
        return BackupKind.POSTGRESQL
    raise MalformedError("not_a_backup", f"{path} is no copy made by `backup`.")


def _reachable(database_url: str) -> URL:
    """Return the address after one successful connection."""
    engine = make_engine(database_url)
    engine.dispose()
    return engine.url


# SQLite ----------------------------------------------------------------------------------------


def _copy_sqlite(url: URL, path: Path) -> None:
    assert url.database is not None
    try:
        with (
            closing(sqlite3.connect(f"file:{url.database}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(path)) as target,
        ):
            source.backup(target)
            # One file, whole by itself: no log beside it that could be forgotten.
            target.execute("PRAGMA journal_mode = DELETE")
            _need_sound(target, code="backup_failed")
    except sqlite3.Error as error:
        raise MalformedError("backup_failed", f"The database can't be copied: {error}") from error


def _restore_sqlite(path: Path, target: Path) -> None:
    beside = [target.with_name(f"{target.name}{end}") for end in ("", "-wal", "-shm")]
    taken = [str(file) for file in beside if file.exists()]
    if taken:
        raise MalformedError(
            "restore_target_taken",
            f"There is a database already: {', '.join(taken)}. Move it away, or name another.",
        )
    part = target.with_name(f"{target.name}.part")
    try:
        shutil.copyfile(path, part)
        with closing(sqlite3.connect(part)) as copy:
            _need_sound(copy, code="not_a_backup")
        part.rename(target)
    except (OSError, sqlite3.Error) as error:
        raise MalformedError("restore_failed", f"{target} can't be made: {error}") from error
    finally:
        part.unlink(missing_ok=True)


def _need_sound(connection: sqlite3.Connection, *, code: str) -> None:
    (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict != "ok":
        raise MalformedError(code, f"The copy is damaged: {verdict}")


# PostgreSQL ------------------------------------------------------------------------------------


def _dump_postgresql(url: URL, path: Path) -> None:
    _run(
        "pg_dump", "--format=custom", "--no-owner", f"--file={path}", url=url, code="backup_failed"
    )


def _restore_postgresql(path: Path, url: URL) -> None:
    engine = make_engine(url.render_as_string(hide_password=False))
    try:
        tables = inspect(engine).get_table_names()
    finally:
        engine.dispose()
    if tables:
        raise MalformedError(
            "restore_target_taken",
            f"The database {url.database} has tables already; create an empty one.",
        )
    _run(
        "pg_restore",
        "--no-owner",
        "--exit-on-error",
        "--single-transaction",
        str(path),
        url=url,
        code="restore_failed",
    )


def _run(program: str, *options: str, url: URL, code: str) -> None:
    """Run one of PostgreSQL's programs; the password goes by the environment, never in view."""
    where: tuple[tuple[str, Callable[[URL], object]], ...] = (
        ("--host", lambda of: of.host),
        ("--port", lambda of: of.port),
        ("--username", lambda of: of.username),
        ("--dbname", lambda of: of.database),
    )
    address = [f"{name}={value(url)}" for name, value in where if value(url) is not None]
    environment = dict(os.environ)
    if url.password is not None:
        environment["PGPASSWORD"] = str(url.password)
    try:
        done = subprocess.run(  # noqa: S603  a fixed program, options of our own
            [program, *address, "--no-password", *options],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise MalformedError(
            "backup_program_missing",
            f"{program} is not installed: apt-get install {CLIENT_PACKAGE}",
        ) from error
    if done.returncode:
        raise MalformedError(code, f"{program}: {done.stderr.strip() or done.returncode}")
