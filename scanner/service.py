"""The scanner's main loop: frame, texts, event rule, report.

Frames are dropped and counted when there are too many; reports never. The reader is behind one
call, `look(image, effort)`, whose answer is plain values.
"""

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import structlog

from scanner.camera import (
    CameraError,
    CaptureGrabber,
    Frame,
    LiveSource,
    RecordedSource,
    Source,
    folder_pictures,
    video_pictures,
)
from scanner.child import LOST_FRAME, ChildReader, Looker, card_reader
from scanner.clock import monotonic_ms, wall_ms
from scanner.codebook import Codebook
from scanner.confirm import Confirmer, Reason, Report, ReportKind
from scanner.decode import load_decoders
from scanner.decoders import prove_decoders
from scanner.door import Door
from scanner.health import CAMERA_TROUBLES, Health, Tally, TroubleBook
from scanner.layout import Symbology
from scanner.pictures import BestFrame, PictureBox
from scanner.report_queue import QueueError, QueueFullError, ReportQueue
from scanner.settings import (
    CameraSettings,
    DeviceCamera,
    FileCamera,
    FolderCamera,
    ReadSettings,
    ScannerSettings,
    SettingsError,
    SimulatedCameraSettings,
    StreamCamera,
    UplinkSettings,
)
from scanner.sighting import Sighting
from scanner.simulated import SimulatedCamera, SteeringServer
from scanner.uplink import Uplink, unheard

FRAME_WAIT_S = 0.25
"""How long a frame is waited for before looking whether to end."""
DRAIN_S = 5.0
"""How long a recorded source's last reports are waited for."""
STATUS_EVERY_MS = 10_000

log = structlog.get_logger("scanner.service")


class Reporter(Protocol):
    """What the loop needs of the uplink."""

    @property
    def codebook(self) -> Codebook:
        """The manifest as last fetched."""

    @property
    def trouble(self) -> str | None:
        """In plain words, what is wrong with the queue or the back office."""

    def has_room(self) -> bool:
        """Tell whether a further report can be kept."""

    def report(
        self, report: Report, *, captured_ms: int, on_kept: Callable[[int], None] | None = None
    ) -> str | None:
        """Keep a report for sending."""

    def refresh_soon(self) -> None:
        """Ask for the manifest again now."""


class Scanner:
    """Joins source, reader, event rule and uplink; step() handles one frame."""

    def __init__(
        self,
        source: Source,
        *,
        reader: Looker,
        uplink: Reporter,
        pictures: PictureBox | None = None,
    ) -> None:
        """Take the parts; nothing runs yet."""
        self._source = source
        self._reader = reader
        self._uplink = uplink
        self._pictures = pictures
        self._best = BestFrame()
        self._confirmer = Confirmer(uplink.codebook)
        self._asked = False
        self._tally = Tally()
        self._troubles = TroubleBook()
        self._status_ms = monotonic_ms()
        self._camera = source.health().state
        self.counts = self._tally.counts

    def run(self, stop: threading.Event) -> None:
        """Handle frames until told to stop, or until a recorded source ends."""
        while not stop.is_set() and not self._source.ended:
            self._log_status()
            if isinstance(self._source, RecordedSource) and not self._uplink.has_room():
                # A recording can wait, and none of its frames is left out.
                stop.wait(FRAME_WAIT_S)
                continue
            frame = self._source.next_frame(timeout_s=FRAME_WAIT_S)
            if frame is not None:
                self.step(frame)

    def step(self, frame: Frame) -> None:
        """Handle one frame."""
        self._tally.add_frame(taken_ms=frame.taken_ms)
        if not self._uplink.has_room():
            # What can't be kept must not be read: it would be lost in silence.
            self.counts["held_frames"] += 1
            return
        confirmer = self._confirmer
        confirmer.codebook = self._uplink.codebook
        sighting = self._reader.look(frame.image, confirmer.effort(frame.taken_ms))
        self._tally.add_sighting(sighting)
        if sighting == LOST_FRAME:
            return
        reports = confirmer.step(sighting, now_ms=frame.taken_ms)
        if any(report.reason is Reason.TAKEN_AWAY for report in reports):
            # The frame shows what lies there now; the picture is of the card that left.
            self._send(reports[0], frame, sighting)
            self._best.begin()
            self._best.see(frame, sighting)
            return
        self._best.see(frame, sighting)
        for report in reports:
            self._send(report, frame, sighting)
            if report.kind is ReportKind.CARD_SEEN:
                self._best.begin()
        if confirmer.unknown_waits and not self._asked:
            self._uplink.refresh_soon()
        self._asked = confirmer.unknown_waits

    def health(self) -> Health:
        """Return what the heartbeat says."""
        source = self._source.health()
        restarts = self._reader.restarts if isinstance(self._reader, ChildReader) else 0
        dropped = 0 if self._pictures is None else self._pictures.dropped
        return Health(
            frame_age_ms=source.age_ms,
            frames_per_s=self._tally.frames_per_s,
            scan=self._tally.scan(source, restarts=restarts, pictures_dropped=dropped),
        )

    def _send(self, report: Report, frame: Frame, sighting: Sighting) -> None:
        self._tally.add_report(report, sighting)
        on_kept = None
        if self._pictures is not None and report.kind is not ReportKind.STILL_UNREAD:
            reason = None if report.reason is None else report.reason.value
            picture = self._best.picture(frame, reason=reason, captured_ms=_captured_ms)
            on_kept = partial(self._pictures.keep, picture)
        try:
            self._uplink.report(report, captured_ms=_captured_ms(frame), on_kept=on_kept)
        except QueueFullError:
            # The check before the frame leaves room for one report a frame.
            self.counts["lost_reports"] += 1
            log.critical("queue_full", kind=report.kind.value)

    def _log_status(self) -> None:
        now_ms = monotonic_ms()
        health = self._source.health()
        if health.state is not self._camera:
            log.info("camera", state=health.state.value, before=self._camera.value)
            self._camera = health.state
        if now_ms - self._status_ms < STATUS_EVERY_MS:
            return
        self._status_ms = now_ms
        reader = self._reader.trouble if isinstance(self._reader, ChildReader) else None
        pictures = self._pictures.trouble if self._pictures is not None else None
        troubles = (CAMERA_TROUBLES.get(health.state), reader, self._uplink.trouble, pictures)
        log.info(
            "status",
            camera=health.state.value,
            dropped=health.dropped,
            reopened=health.reopened,
            frame_age_ms=health.age_ms,
            **{str(name): count for name, count in sorted(self.counts.items())},
            **self._troubles.take(troubles, now_ms=now_ms),
        )


def _captured_ms(frame: Frame) -> int:
    """Return the wall clock's time of a frame: a stamp, and nothing is decided by it."""
    return max(0, wall_ms() - (monotonic_ms() - frame.taken_ms))


@dataclass(frozen=True, kw_only=True)
class OpenCamera:
    """A source, with the steering of a simulated one."""

    source: Source
    steering: SteeringServer | None = None

    def close(self) -> None:
        """Let go of both."""
        if self.steering is not None:
            self.steering.close()
        self.source.close()


def open_camera(settings: CameraSettings) -> OpenCamera:
    """Open the source that the settings name. A live camera may come later.

    Raises:
        CameraError: a file or folder is not there, or the steering socket can't be made.
    """
    match settings:
        case DeviceCamera(index=index, width=width, height=height, frozen_ms=frozen_ms):
            return OpenCamera(
                source=LiveSource(
                    lambda: CaptureGrabber(index, width=width, height=height),
                    name=f"device {index}",
                    now_ms=monotonic_ms,
                    frozen_ms=frozen_ms,
                )
            )
        case StreamCamera(url=url, frozen_ms=frozen_ms):
            return OpenCamera(
                source=LiveSource(
                    lambda: CaptureGrabber(url),
                    name="stream",
                    now_ms=monotonic_ms,
                    frozen_ms=frozen_ms,
                )
            )
        case FileCamera(path=path):
            if not path.is_file():
                raise CameraError(f"camera.path: {path} is no file.")
            return OpenCamera(source=RecordedSource(video_pictures(path), now_ms=monotonic_ms))
        case FolderCamera(path=path):
            if not path.is_dir():
                raise CameraError(f"camera.path: {path} is no folder.")
            return OpenCamera(source=RecordedSource(folder_pictures(path), now_ms=monotonic_ms))
        case SimulatedCameraSettings():
            return _open_simulated(settings)


def _open_simulated(settings: SimulatedCameraSettings) -> OpenCamera:
    camera = SimulatedCamera(
        width=settings.width,
        height=settings.height,
        frames_per_s=settings.frames_per_s,
        severity=settings.severity,
        seed=settings.seed,
        gap_frames=settings.gap_frames,
        monotonic=time.monotonic,
    )
    steering = SteeringServer(camera, settings.socket)
    source = LiveSource(lambda: camera, name="simulated", now_ms=monotonic_ms)
    return OpenCamera(source=source, steering=steering)


def open_reader(settings: ReadSettings) -> Looker:
    """Return the reader that the settings ask for, once both decoders are proved.

    Raises:
        DecoderMissingError: a decoder does not work on this machine.
    """
    load_decoders(settings.symbology)
    prove_decoders(load_decoders(Symbology.QR))
    make_reader = partial(card_reader, symbology=settings.symbology, budget_ms=settings.budget_ms)
    return ChildReader(make_reader, limit_ms=settings.limit_ms) if settings.child else make_reader()


def open_queue(settings: UplinkSettings) -> ReportQueue:
    """Open the file in which reports wait.

    Raises:
        SettingsError: it can't be used.
    """
    try:
        return ReportQueue(
            settings.queue, wall_ms=wall_ms(), reports_max=settings.queue_reports_max
        )
    except QueueError as error:
        raise SettingsError(str(error)) from error


def open_pictures(settings: UplinkSettings, door: Door, *, queue: ReportQueue) -> PictureBox | None:
    """Open the folder beside the queue in which pictures wait; None when none are kept.

    Raises:
        SettingsError: it can't be used.
    """
    if not settings.pictures_max:
        return None
    folder = settings.queue.with_name(f"{settings.queue.name}-pictures")
    try:
        return PictureBox(folder, door, queued=queue.numbers(), pictures_max=settings.pictures_max)
    except OSError as error:
        raise SettingsError(f"uplink.queue: {folder}: {error.strerror}.") from error


def run_scanner(settings: ScannerSettings, *, key: str, stop: threading.Event) -> None:
    """Prove the decoders, open everything, and run until told to stop.

    Raises:
        DecoderMissingError: a decoder does not work on this machine.
        CameraError: the source can't be used.
        SettingsError: the queue can't be used.
    """
    with contextlib.ExitStack() as parts:
        reader = open_reader(settings.read)
        if isinstance(reader, ChildReader):
            parts.callback(reader.close)
        queue = open_queue(settings.uplink)
        parts.callback(queue.close)
        camera = open_camera(settings.camera)
        parts.callback(camera.close)
        door = Door(
            url=str(settings.uplink.url).rstrip("/"),
            table=settings.uplink.table,
            device=settings.uplink.device,
            key=key,
        )
        pictures = open_pictures(settings.uplink, door, queue=queue)
        decide = unheard if pictures is None else pictures.decide
        uplink = Uplink(queue, door, health=lambda: scanner.health(), on_answer=decide)
        scanner = Scanner(camera.source, reader=reader, uplink=uplink, pictures=pictures)
        if pictures is not None:
            parts.callback(pictures.close)
            pictures.start()
        parts.callback(uplink.close)
        uplink.start()
        log.info("scanner_ready", camera=settings.camera.kind, queued=len(queue))
        try:
            scanner.run(stop)
            if not stop.is_set():
                uplink.drain(DRAIN_S)
        finally:
            log.info(
                "scanner_ended", **{str(name): n for name, n in sorted(scanner.counts.items())}
            )
