"""Reports on disk, in order, until the back office has acknowledged them."""

import contextlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

QUEUE_REPORTS_MAX = 10_000
"""A whole shoe is 416 cards: this is days of a back office out of reach."""
NUMBERS_SKIPPED = 1_000_000
"""Farther than any queue reaches: numbers given out and forgotten are not met again."""
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_DAMAGE_ADVICE = (
    "is damaged: reports in it may not have reached the back office. Compare the table's last"
    " cards with its log there, then move the file away and start the scanner again"
)


class QueueFullError(Exception):
    """No more reports can be kept: nothing may be read until some are acknowledged."""


class QueueError(Exception):
    """The queue's file can't be used; the message says what to do."""


@dataclass(frozen=True, kw_only=True)
class QueuedReport:
    """One report as it waits on the disk."""

    number: int
    body: dict[str, Any]


class ReportQueue:
    """Reports on disk in order of their numbers; a number is never used twice."""

    def __init__(self, path: Path, *, wall_ms: int, reports_max: int = QUEUE_REPORTS_MAX) -> None:
        """Open or make the file, readable by its owner only: it holds cards.

        A new file starts its numbers at the wall clock's milliseconds: even when the old file was
        lost, no number comes back.

        Raises:
            QueueError: the file can't be used, or is damaged.
        """
        self._path = path
        self.reports_max = reports_max
        self._lock = threading.Lock()
        with self._in_words():
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            self._database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            try:
                self._set_up(wall_ms)
            except BaseException:
                self._database.close()
                raise

    def _set_up(self, wall_ms: int) -> None:
        # FULL: a report that was taken in survives a power cut.
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = FULL")
        (verdict,) = self._database.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise QueueError(f"uplink.queue: {self._path} {_DAMAGE_ADVICE}.")
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS report"
            " (number INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL)"
        )
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS shoe (one INTEGER PRIMARY KEY CHECK (one = 1),"
            " body TEXT NOT NULL)"
        )
        if self._database.execute("SELECT 1 FROM sqlite_sequence").fetchone() is None:
            self._database.execute(
                "INSERT INTO sqlite_sequence (name, seq) VALUES ('report', ?)", (wall_ms,)
            )
        rows = self._database.execute("SELECT body FROM report").fetchall()
        for (body,) in rows:
            self._understood(body)
        self._waiting = len(rows)

    @contextlib.contextmanager
    def _in_words(self) -> Iterator[None]:
        """Say what to do about a fault of the file."""
        try:
            yield
        except OSError as error:
            raise QueueError(f"uplink.queue: {self._path}: {error.strerror}.") from error
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in _DAMAGED:
                advice = f"{_DAMAGE_ADVICE} ({error})"
            elif code == sqlite3.SQLITE_FULL:
                advice = "can't grow: its disk is full; make room on it"
            else:
                advice = f"can't be used: {error}; check its disk and who may write there"
            raise QueueError(f"uplink.queue: {self._path} {advice}.") from error

    def _understood(self, body: str) -> dict[str, Any]:
        try:
            content = json.loads(body)
        except (ValueError, TypeError):
            content = None
        if not isinstance(content, dict):
            raise QueueError(f"uplink.queue: {self._path} {_DAMAGE_ADVICE}.")
        return content

    def put(self, body: Mapping[str, Any]) -> int:
        """Keep a report and return its number; it is on the disk when this returns.

        Raises:
            QueueFullError: the named limit is reached.
            QueueError: the disk does not take it.
        """
        with self._lock, self._in_words():
            if self._waiting >= self.reports_max:
                raise QueueFullError
            cursor = self._database.execute(
                "INSERT INTO report (body) VALUES (?)", (json.dumps(body),)
            )
            assert cursor.lastrowid is not None
            self._waiting += 1
            return cursor.lastrowid

    def first(self) -> QueuedReport | None:
        """Return the oldest report.

        Raises:
            QueueError: the file can't be read.
        """
        with self._lock, self._in_words():
            row = self._database.execute(
                "SELECT number, body FROM report ORDER BY number LIMIT 1"
            ).fetchone()
        return None if row is None else QueuedReport(number=row[0], body=self._understood(row[1]))

    def numbers(self) -> frozenset[int]:
        """Return the numbers of all that wait.

        Raises:
            QueueError: the file can't be read.
        """
        with self._lock, self._in_words():
            rows = self._database.execute("SELECT number FROM report").fetchall()
        return frozenset(number for (number,) in rows)

    def drop(self, number: int) -> None:
        """Forget a report that was acknowledged or finally refused.

        Raises:
            QueueError: the disk does not take it.
        """
        with self._lock, self._in_words():
            dropped = self._database.execute("DELETE FROM report WHERE number = ?", (number,))
            self._waiting -= dropped.rowcount

    def skip_numbers(self) -> None:
        """Give all that waits new numbers, in the same order.

        A file that was copied back from an older time gives out numbers a second time.

        Raises:
            QueueError: the disk does not take it.
        """
        with self._lock, self._in_words(), self._database:
            self._database.execute("BEGIN IMMEDIATE")
            # By way of negative numbers: at no moment do two reports have the same.
            self._database.execute("UPDATE report SET number = -number - ?", (NUMBERS_SKIPPED,))
            self._database.execute("UPDATE report SET number = -number")
            self._database.execute(
                "UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'report'",
                (NUMBERS_SKIPPED,),
            )

    def __len__(self) -> int:
        return self._waiting

    @property
    def full(self) -> bool:
        """No further report can be kept."""
        return len(self) >= self.reports_max

    def keep_shoe(self, answer: Mapping[str, Any]) -> None:
        """Remember the manifest, so that a restart without a network can go on.

        Raises:
            QueueError: the disk does not take it.
        """
        with self._lock, self._in_words():
            self._database.execute(
                "INSERT OR REPLACE INTO shoe (one, body) VALUES (1, ?)", (json.dumps(answer),)
            )

    def kept_shoe(self) -> dict[str, Any] | None:
        """Return the manifest remembered last.

        Raises:
            QueueError: the file can't be read.
        """
        with self._lock, self._in_words():
            row = self._database.execute("SELECT body FROM shoe").fetchone()
        return None if row is None else self._understood(row[0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()
