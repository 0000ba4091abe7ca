"""Reports to the back office: numbered, kept on disk until acknowledged, sent in order.

No code, card or payload is ever logged: ids, kinds and reasons only.
"""

import threading
from collections.abc import Callable, Mapping
from typing import Any

import requests
import structlog

from scanner.clock import monotonic_ms
from scanner.codebook import Codebook
from scanner.confirm import Report
from scanner.door import Door, NoAnswerError, RefusedError
from scanner.health import Health
from scanner.report_queue import QueuedReport, QueueError, ReportQueue
from studio.domain.cards import CodeVersion

RETRY_FIRST_S = 0.1
RETRY_MAX_S = 5.0
HEARTBEAT_S = 1.0
CLOSE_TIMEOUT_S = 2.0
DISK_RETRY_MS = 1_000
ALARM_PERCENT = 80
"""A queue as full as this is told before nothing can be read any more."""
REUSED = "report_id_reused"
"""The back office's word for an id it knows with another content."""

log = structlog.get_logger("scanner.uplink")


def unheard(number: int, *, wanted: bool) -> None:
    """Nobody keeps pictures."""


class _Troubles:
    """What is wrong now, by who noticed; each is logged once, when it begins and when it ends."""

    def __init__(self) -> None:
        """All is well."""
        self._now: dict[str, str] = {}

    def tell(self, who: str, trouble: str | None) -> None:
        """Note what is wrong, or that nothing is."""
        before = self._now.get(who)
        if trouble == before:
            return
        if trouble is None:
            self._now.pop(who)
            log.info(f"{who}_well_again")
        else:
            self._now[who] = trouble
            log.error(f"{who}_trouble", trouble=trouble)

    @property
    def words(self) -> str | None:
        """In plain words, everything that is wrong now."""
        return " ".join(dict.fromkeys(self._now.copy().values())) or None


class Uplink:
    """Two threads: one sends the queue in order, one says every second that we live."""

    def __init__(
        self,
        queue: ReportQueue,
        door: Door,
        *,
        health: Callable[[], Health],
        on_answer: Callable[..., None] = unheard,
        now_ms: Callable[[], int] = monotonic_ms,
    ) -> None:
        """Take up the manifest kept by the run before; start() begins to send.

        `on_answer(number, wanted=...)` hears whether the picture of a report is wanted.
        """
        self._queue = queue
        self._door = door
        self._health = health
        self._on_answer = on_answer
        self._now_ms = now_ms
        self._closing = threading.Event()
        self._reports_wait = threading.Event()
        self._beat_now = threading.Event()
        self._emptied = threading.Condition()
        self._keeping = threading.Lock()
        self._held: tuple[dict[str, Any], Callable[[int], None] | None] | None = None
        self._held_ms = 0
        self._troubles = _Troubles()
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
    def trouble(self) -> str | None:
        """In plain words, what is wrong with the queue or the back office."""
        for thread in self._threads:
            started = thread.ident is not None and not self._closing.is_set()
            if started and not thread.is_alive():
                return f"The thread of the {thread.name} has ended: start the scanner again."
        return self._troubles.words

    def has_room(self) -> bool:
        """Keep what the disk refused before, and tell whether another report can be kept.

        Without room nothing may be read: it would be lost in silence.
        """
        if self._held is not None and self._now_ms() - self._held_ms >= DISK_RETRY_MS:
            body, on_kept = self._held
            self._keep(body, on_kept)
        return self._held is None and not self._queue.full

    def start(self) -> None:
        """Begin to send."""
        for thread in self._threads:
            thread.start()

    def report(
        self, report: Report, *, captured_ms: int, on_kept: Callable[[int], None] | None = None
    ) -> str | None:
        """Keep a report for sending and return its id; wall clock milliseconds.

        A disk that does not take it lets it wait in memory: has_room() is False until it is kept,
        and the id is None. `on_kept` is told its number before anybody can have answered it.

        Raises:
            QueueFullError: it can't be kept.
        """
        assert self._held is None, "nothing is reported without room"
        body = {
            "table": self._door.table,
            "kind": report.kind.value,
            "code": report.code,
            "reason": None if report.reason is None else report.reason.value,
            "captured_ms": captured_ms,
            "copies": report.copies,
            "decoders": [decoder.value for decoder in report.decoders],
        }
        return self._keep(body, on_kept)

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
        if self._held is not None:
            self._held_ms = self._now_ms() - DISK_RETRY_MS
            if not self.has_room() and self._held is not None:
                log.critical("report_lost", kind=self._held[0]["kind"])
        self._closing.set()
        self._reports_wait.set()
        self._beat_now.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(CLOSE_TIMEOUT_S)

    def _keep(self, body: dict[str, Any], on_kept: Callable[[int], None] | None) -> str | None:
        with self._keeping:
            try:
                number = self._queue.put(body)
            except QueueError as error:
                self._held, self._held_ms = (body, on_kept), self._now_ms()
                self._troubles.tell("queue", str(error))
                return None
            self._held = None
            if on_kept is not None:
                on_kept(number)
        self._troubles.tell("queue", None)
        self._watch_level()
        self._reports_wait.set()
        report_id = self._door.report_id(number)
        log.info("report_kept", id=report_id, kind=body["kind"], reason=body["reason"])
        return report_id

    def _watch_level(self) -> None:
        queued, most = len(self._queue), self._queue.reports_max
        words = None
        if self._queue.full:
            words = f"The queue is full ({most} reports): nothing is read until some are sent."
        elif queued * 100 >= most * ALARM_PERCENT:
            words = f"The queue is more than {ALARM_PERCENT} % full: cards will soon not be read."
        self._troubles.tell("queue_level", words)

    def _send_all(self) -> None:
        wait_s = RETRY_FIRST_S
        with self._door.session() as session:
            while not self._closing.is_set():
                try:
                    report = self._queue.first()
                    if report is not None:
                        self._send(session, report)
                except QueueError as error:
                    self._troubles.tell("sending", str(error))
                except NoAnswerError as error:
                    self._troubles.tell("sending", str(error))
                else:
                    wait_s = RETRY_FIRST_S
                    if report is None:
                        self._reports_wait.wait(HEARTBEAT_S)
                        self._reports_wait.clear()
                    else:
                        self._troubles.tell("sending", None)
                    continue
                self._closing.wait(wait_s)
                wait_s = min(wait_s * 2, RETRY_MAX_S)

    def _send(self, session: requests.Session, report: QueuedReport) -> None:
        """Send one report; only a clear answer takes it off the queue.

        Raises:
            NoAnswerError: it must be sent again.
            QueueError: it can't be taken off, and will be sent again.
        """
        report_id = self._door.report_id(report.number)
        try:
            answer = self._door.post(session, "reports", {"id": report_id, **report.body})
        except RefusedError as refusal:
            self._refused(report, refusal)
            return
        if answer.get("taken") is not True and answer.get("duplicate") is not True:
            raise NoAnswerError("The back office's answer says neither taken nor refused.")
        self._answered(report.number, taken=True, wanted=answer.get("picture") is True)

    def _answered(self, number: int, *, taken: bool, wanted: bool) -> None:
        with self._keeping:  # the picture was handed over before its answer is
            self._on_answer(number, wanted=wanted)
        with self._emptied:
            self._queue.drop(number)
            self.sent += taken
            self.dead_letters += not taken
            self._emptied.notify_all()
        self._watch_level()

    def _refused(self, report: QueuedReport, refusal: RefusedError) -> None:
        if refusal.code == REUSED:
            # This card was never taken: an old file gives out numbers a second time.
            log.error("report_numbers_skipped", id=self._door.report_id(report.number))
            self._queue.skip_numbers()
            return
        # Sent again it would be refused again: it must not hold up those behind it.
        self._answered(report.number, taken=False, wanted=False)
        log.error(
            "report_refused",
            id=self._door.report_id(report.number),
            status=refusal.status,
            code=refusal.code,
            kind=report.body.get("kind"),
            reason=report.body.get("reason"),
            dead_letters=self.dead_letters,
        )

    def _beat(self) -> None:
        with self._door.session() as session:
            while not self._closing.is_set():
                try:
                    self._beat_once(session)
                    self._troubles.tell("heartbeat", None)
                except (NoAnswerError, QueueError) as error:
                    self._troubles.tell("heartbeat", str(error))
                except RefusedError as refusal:
                    words = f"The back office refuses the heartbeat ({refusal.code})."
                    self._troubles.tell("heartbeat", words)
                self._beat_now.wait(HEARTBEAT_S)
                self._beat_now.clear()

    def _beat_once(self, session: requests.Session) -> None:
        health = self._health()
        epoch: object = None
        for link in health.links:
            body: dict[str, Any] = {
                "table": self._door.table,
                "link": link,
                "frame_age_ms": health.frame_age_ms,
                "fps": round(health.frames_per_s, 1),
                "queued": len(self._queue),
            }
            if link == "scanner":
                body |= {"queue_max": self._queue.reports_max, "scan": dict(health.scan)}
            epoch = self._door.post(session, "heartbeat", body).get("epoch")
        if self._stale or epoch != self._epoch:
            self._stale = False
            self._fetch_shoe(session)

    def _fetch_shoe(self, session: requests.Session) -> None:
        try:
            shoe = self._door.get(session, "shoe", {"table": self._door.table})
            self._take_shoe(shoe)
        except BaseException:
            self._stale = True
            raise
        self._queue.keep_shoe(shoe)

    def _take_shoe(self, shoe: Mapping[str, Any]) -> None:
        try:
            manifest = {int(serial): int(number) for serial, number in shoe["codes"].items()}
            version = CodeVersion(shoe.get("version", CodeVersion.CARD))
            deck_set, epoch = shoe["deck_set"], shoe["epoch"]
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise NoAnswerError("The back office's manifest can't be understood.") from error
        self._codebook = Codebook(deck_set=deck_set, manifest=manifest, version=version)
        self._epoch = epoch
        log.info("shoe_taken", epoch=epoch, cards=len(manifest))
