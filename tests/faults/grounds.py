"""Databases of one's own that are brought back to a kept state, again and again."""

import contextlib
import hashlib
import os
import secrets
import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import psycopg
from sqlalchemy import URL, Engine
from sqlalchemy.engine import make_url

from studio.store.engine import make_engine, read_transaction
from studio.store.metadata import metadata
from studio.store.schema import upgrade

POSTGRESQL = os.environ.get(
    "STUDIO_TEST_POSTGRESQL", "postgresql+psycopg://postgres@127.0.0.1:5432/postgres"
)
WAIT_S = 60.0
NAMES = tuple(table.name for table in metadata.sorted_tables)


class Ground(ABC):
    """One database: `clear` empties it, `keep` remembers it, `reset` goes back to what was kept."""

    url: str
    _engine: Engine | None = None

    @abstractmethod
    def clear(self) -> None:
        """Begin with the schema alone."""

    @abstractmethod
    def keep(self) -> None:
        """Remember the database as it is; nobody may be connected."""

    @abstractmethod
    def reset(self) -> None:
        """Go back to what was kept; nobody may be connected."""

    @abstractmethod
    def settle(self) -> None:
        """Wait until a killed process has let go of the database."""

    @contextlib.contextmanager
    def engine(self) -> Iterator[Engine]:
        """Open the database as a process that starts: no connection is older or outlives this.

        The engine is one object, so that its statements are compiled once; not to be nested.
        """
        if self._engine is None:
            self._engine = make_engine(self.url)
            self._engine.dispose()
        try:
            yield self._engine
        finally:
            self._engine.dispose()


class SqliteGround(Ground):
    """A file in a folder."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "studio.db"
        self.wal = folder / "studio.db-wal"
        self.shm = folder / "studio.db-shm"
        self._empty, self._kept = folder / "empty.db", folder / "kept.db"
        self.clean: set[str] = set()
        self.url = f"sqlite:///{self.file}"
        with self.engine() as engine:
            upgrade(engine)
        shutil.copy(self.file, self._empty)

    def clear(self) -> None:
        self._back_to(self._empty)

    def keep(self) -> None:
        assert not self.wal.exists(), "the last connection has written everything back"
        shutil.copy(self.file, self._kept)

    def reset(self) -> None:
        self._back_to(self._kept)

    def settle(self) -> None:
        return  # the kernel has let go of its locks

    def empty(self) -> None:
        """Leave no file."""
        for file in (self.file, self.wal, self.shm):
            file.unlink(missing_ok=True)

    def _back_to(self, copy: Path) -> None:
        self.empty()
        shutil.copy(copy, self.file)


class PostgresqlGround(Ground):
    """A database of a server; what was kept lies in a schema beside the studio's tables."""

    def __init__(self) -> None:
        self._name = f"studio_fault_{secrets.token_hex(6)}"
        server = make_url(POSTGRESQL)
        self.url = server.set(database=self._name).render_as_string(hide_password=False)
        self._server = connected(server)
        self._server.execute(f'create database "{self._name}"')
        with self.engine() as engine:
            upgrade(engine)
        self._inside = connected(make_url(self.url))
        self._inside.execute("set synchronous_commit = off")
        self._guarded = self._inside.execute(
            "select distinct tgrelid::regclass::text from pg_trigger where not tgisinternal"
        ).fetchall()
        self._inside.execute("create schema kept")
        self._counters: list[tuple[str, int]] = []

    def clear(self) -> None:
        tables = ", ".join(f'"{name}"' for name in NAMES)
        self._inside.execute(f"truncate {tables} restart identity cascade")

    def keep(self) -> None:
        for name in NAMES:
            self._inside.execute(
                f'drop table if exists kept."{name}"; '
                f'create unlogged table kept."{name}" as table public."{name}"'
            )
        self._counters = self._inside.execute(
            "select quote_ident(sequencename), coalesce(last_value, 0) from pg_sequences "
            "where schemaname = 'public'"
        ).fetchall()

    def reset(self) -> None:
        # The studio's own triggers let nobody delete; the tables' owner may set them aside.
        back = [f"alter table {name} disable trigger user" for (name,) in self._guarded]
        back += [f'delete from public."{name}"' for name in reversed(NAMES)]
        back += [
            f'insert into public."{name}" overriding system value select * from kept."{name}"'
            for name in NAMES
        ]
        back += [f"alter table {name} enable trigger user" for (name,) in self._guarded]
        back += [
            f"select setval('public.{name}', {max(last, 1)}, {last > 0})"
            for name, last in self._counters
        ]
        with self._inside.transaction():
            self._inside.execute("; ".join(back))

    def settle(self) -> None:
        end_s = time.monotonic() + WAIT_S
        while self._others():
            assert time.monotonic() < end_s, "a killed process is still connected"
            time.sleep(0.002)

    def close(self) -> None:
        self._inside.close()
        self._server.execute(f'drop database "{self._name}" with (force)')
        self._server.close()

    def _others(self) -> int:
        found = self._server.execute(
            "select count(*) from pg_stat_activity where datname = %s and pid <> %s",
            (self._name, self._inside.info.backend_pid),
        ).fetchone()
        assert found is not None
        return int(found[0])


def connected(url: URL) -> psycopg.Connection[tuple[Any, ...]]:
    return psycopg.connect(
        host=url.host,
        port=url.port or 5432,
        user=url.username,
        password=url.password,
        dbname=url.database,
        autocommit=True,
        connect_timeout=3,
    )


Rows: TypeAlias = dict[str, list[dict[str, Any]]]
"""Every row of every table, in no order that means anything."""


def rows_of(engine: Engine) -> Rows:
    """Return everything stored."""
    with read_transaction(engine) as connection:
        return {
            name: [
                dict(row._mapping) for row in connection.exec_driver_sql(f'SELECT * FROM "{name}"')
            ]
            for name in NAMES
        }


def digest(engine: Engine, names: Sequence[str] = NAMES) -> str:
    """Return a digest of everything stored, or of some tables."""
    with read_transaction(engine) as connection:
        found = hashlib.sha256()
        for name in names:
            rows = connection.exec_driver_sql(f'SELECT * FROM "{name}"').fetchall()
            found.update(f"{name} {sorted(map(repr, rows))}".encode())
    return found.hexdigest()
