"""Reports to the back office: numbered, kept on disk until acknowledged, sent in order.

No code, card or payload is ever logged: ids, kinds and reasons only.
"""

import json
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum, unique
from pathlib import Path
from typing import Any

import requests
import structlog

from scanner.codebook import Codebook
from scanner.confirm import Report

QUEUE_REPORTS_MAX = 10_000
"""A whole shoe is 416 cards: this is days of a back office out of reach."""
RETRY_FIRST_S = 0.1
RETRY_MAX_S = 5.0
HEARTBEAT_S = 1.0
VIDEO_FRESH_MS = 2_000
"""With an older picture no heartbeat is sent for the video: its link is lost."""
CONNECT_TIMEOUT_S = 2.0
READ_TIMEOUT_S = 5.0
CLOSE_TIMEOUT_S = 2.0
TIMEOUTS_S = (CONNECT_TIMEOUT_S, READ_TIMEOUT_S)
_RETRIED_STATUSES = frozenset({401, 403, 408, 425, 429})

log = structlog.get_logger("scanner.uplink")


class QueueFullError(Exception):
    """No more reports can be kept: nothing may be read until some are acknowledged."""


@dataclass(frozen=True, kw_only=True)
class QueuedReport:
    """One report as it waits on the disk."""

    number: int
    body: dict[str, Any]


class ReportQueue:
    """Reports on disk in order of their numbers; a number is never used twice."""

    def __init__(self, path: Path, *, wall_ms: int, reports_max: int = QUEUE_REPORTS_MAX) -> None:
        """Open or make the file.

        A new file starts its numbers at the wall clock's milliseconds: even when the old file was
        lost, no number comes back.
        """
        self._reports_max = reports_max
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        # FULL: a report that was taken in survives a power cut.
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = FULL")
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
        self._waiting = int(self._database.execute("SELECT count(*) FROM report").fetchone()[0])

    def put(self, body: dict[str, Any]) -> int:
        """Keep a report and return its number; it is on the disk when this returns.

        Raises:
            QueueFullError: the named limit is reached.
        """
        with self._lock:
            if self._waiting >= self._reports_max:
                raise QueueFullError
            cursor = self._database.execute(
                "INSERT INTO report (body) VALUES (?)", (json.dumps(body),)
            )
            assert cursor.lastrowid is not None
            self._waiting += 1
            return cursor.lastrowid

    def first(self) -> QueuedReport | None:
        """Return the oldest report."""
        with self._lock:
            row = self._database.execute(
                "SELECT number, body FROM report ORDER BY number LIMIT 1"
            ).fetchone()
        return None if row is None else QueuedReport(number=row[0], body=json.loads(row[1]))

    def drop(self, number: int) -> None:
        """Forget a report that was acknowledged or finally refused."""
        with self._lock:
            dropped = self._database.execute("DELETE FROM report WHERE number = ?", (number,))
            self._waiting -= dropped.rowcount

    def __len__(self) -> int:
        return self._waiting

    @property
    def full(self) -> bool:
        """No further report can be kept."""
        return len(self) >= self._reports_max

    def keep_shoe(self, answer: dict[str, Any]) -> None:
        """Remember the manifest, so that a restart without a network can go on."""
        with self._lock:
            self._database.execute(
                "INSERT OR REPLACE INTO shoe (one, body) VALUES (1, ?)", (json.dumps(answer),)
            )

    def kept_shoe(self) -> dict[str, Any] | None:
        """Return the manifest remembered last."""
        with self._lock:
            row = self._database.execute("SELECT body FROM shoe").fetchone()
        return None if row is None else dict(json.loads(row[0]))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()


@dataclass(frozen=True, kw_only=True)
class Health:
    """What a heartbeat says."""

    frame_age_ms: int | None
    frames_per_s: float

    @property
    def links(self) -> tuple[str, ...]:
        """The links that live: the scanner that speaks, and the video while pictures come."""
        fresh = self.frame_age_ms is not None and self.frame_age_ms <= VIDEO_FRESH_MS
        return ("scanner", "video") if fresh else ("scanner",)


@dataclass(frozen=True, kw_only=True)
class Door:
    """The back office's address and who knocks. The key is a secret and never shown."""

    url: str
    table: str
    device: str
    key: str

    def __repr__(self) -> str:
        return f"Door(url={self.url!r}, table={self.table!r}, device={self.device!r})"


@unique
class _Answer(StrEnum):
    TAKEN = "taken"
    REFUSED = "refused"
    LATER = "later"


class Uplink:
    """Two threads: one sends the queue in order, one says every second that we live."""

    def __init__(self, queue: ReportQueue, door: Door, *, health: Callable[[], Health]) -> None:
        """Take up the manifest kept by the run before; start() begins to send."""
        self._queue = queue
        self._door = door
        self._health = health
        self._closing = threading.Event()
        self._reports_wait = threading.Event()
        self._beat_now = threading.Event()
        self._emptied = threading.Condition()
        self._epoch: int | None = None
        self._stale = True
        self._codebook = Codebook()
        self.sent = 0
        self.dead_letters = 0
        kept = queue.kept_shoe()
        if kept is not None:
            self._take_shoe(kept)
        self._threads = [
            threading.Thread(target=self._send_all, name="reports", daemon=True),
            threading.Thread(target=self._beat, name="heartbeat", daemon=True),
        ]

    @property
    def codebook(self) -> Codebook:
        """The manifest as last fetched; replaced, never changed."""
        return self._codebook

    @property
    def full(self) -> bool:
        """Nothing more can be kept: stop reading cards until the back office answers."""
        return self._queue.full

    def start(self) -> None:
        """Begin to send."""
        for thread in self._threads:
            thread.start()

    def report(self, report: Report, *, captured_ms: int) -> str:
        """Keep a report for sending and return its id; wall clock milliseconds.

        Raises:
            QueueFullError: it can't be kept.
        """
        number = self._queue.put(
            {
                "table": self._door.table,
                "kind": report.kind.value,
                "code": report.code,
                "reason": None if report.reason is None else report.reason.value,
                "captured_ms": captured_ms,
                "copies": report.copies,
                "decoders": [decoder.value for decoder in report.decoders],
            }
        )
        self._reports_wait.set()
        report_id = self._id(number)
        log.info("report_kept", id=report_id, kind=report.kind.value, reason=report.reason)
        return report_id

    def refresh_soon(self) -> None:
        """Ask for the manifest again now: a code outside it was seen."""
        self._stale = True
        self._beat_now.set()

    def drain(self, timeout_s: float) -> bool:
        """Wait until everything is acknowledged; tell whether it is."""
        with self._emptied:
            return self._emptied.wait_for(lambda: not len(self._queue), timeout_s)

    def close(self) -> None:
        """Stop both threads; what was not acknowledged stays on the disk."""
        self._closing.set()
        self._reports_wait.set()
        self._beat_now.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(CLOSE_TIMEOUT_S)

    def _id(self, number: int) -> str:
        return f"{self._door.device}-{number}"

    def _session(self) -> requests.Session:
        session = requests.Session()
        session.headers["X-Device-Key"] = self._door.key
        # A proxy from the environment has no business between two machines of one studio.
        session.trust_env = False
        return session

    def _send_all(self) -> None:
        wait_s = RETRY_FIRST_S
        with self._session() as session:
            while not self._closing.is_set():
                report = self._queue.first()
                if report is None:
                    self._reports_wait.wait(HEARTBEAT_S)
                    self._reports_wait.clear()
                    continue
                if self._send(session, report) is _Answer.LATER:
                    self._closing.wait(wait_s)
                    wait_s = min(wait_s * 2, RETRY_MAX_S)
                    continue
                wait_s = RETRY_FIRST_S

    def _send(self, session: requests.Session, report: QueuedReport) -> _Answer:
        """Send one report; only a clear answer takes it off the queue."""
        report_id = self._id(report.number)
        try:
            answer = session.post(
                f"{self._door.url}/api/device/reports",
                json={"id": report_id, **report.body},
                timeout=TIMEOUTS_S,
                allow_redirects=False,
            )
        except requests.RequestException as error:
            log.warning("report_not_sent", id=report_id, error=type(error).__name__)
            return _Answer.LATER
        verdict = _judge(answer.status_code)
        if verdict is _Answer.LATER:
            log.warning("report_not_taken", id=report_id, status=answer.status_code)
            return verdict
        with self._emptied:
            self._queue.drop(report.number)
            self._emptied.notify_all()
        if verdict is _Answer.TAKEN:
            self.sent += 1
        else:
            # Sent again it would be refused again: it must not hold up those behind it.
            self.dead_letters += 1
            log.error(
                "report_refused",
                id=report_id,
                status=answer.status_code,
                kind=report.body["kind"],
                reason=report.body["reason"],
                dead_letters=self.dead_letters,
            )
        return verdict

    def _beat(self) -> None:
        with self._session() as session:
            while not self._closing.is_set():
                try:
                    self._beat_once(session)
                except (requests.RequestException, ValueError, KeyError, TypeError) as error:
                    log.warning("heartbeat_failed", error=type(error).__name__)
                self._beat_now.wait(HEARTBEAT_S)
                self._beat_now.clear()

    def _beat_once(self, session: requests.Session) -> None:
        health = self._health()
        epoch: int | None = None
        for link in health.links:
            answer = session.post(
                f"{self._door.url}/api/device/heartbeat",
                json={
                    "table": self._door.table,
                    "link": link,
                    "frame_age_ms": health.frame_age_ms,
                    "fps": round(health.frames_per_s, 1),
                    "queued": len(self._queue),
                },
                timeout=TIMEOUTS_S,
                allow_redirects=False,
            )
            answer.raise_for_status()
            epoch = answer.json()["epoch"]
        if self._stale or epoch != self._epoch:
            self._stale = False
            self._fetch_shoe(session)

    def _fetch_shoe(self, session: requests.Session) -> None:
        try:
            answer = session.get(
                f"{self._door.url}/api/device/shoe",
                params={"table": self._door.table},
                timeout=TIMEOUTS_S,
                allow_redirects=False,
            )
            answer.raise_for_status()
            shoe = answer.json()
            self._take_shoe(shoe)
        except BaseException:
            self._stale = True
            raise
        self._queue.keep_shoe(shoe)

    def _take_shoe(self, shoe: dict[str, Any]) -> None:
        manifest = {int(serial): int(number) for serial, number in shoe["codes"].items()}
        self._codebook = Codebook(deck_set=shoe["deck_set"], manifest=manifest)
        self._epoch = shoe["epoch"]
        log.info("shoe_taken", epoch=self._epoch, cards=len(manifest))


def _judge(status: int) -> _Answer:
    if status == requests.codes.ok:
        return _Answer.TAKEN
    if 400 <= status < 500 and status not in _RETRIED_STATUSES:
        return _Answer.REFUSED
    return _Answer.LATER
