"""The scanner's main loop: frame, texts, event rule, report.

Frames are dropped and counted when there are too many; reports never. The reader is behind one
call, `look(image, effort)`, whose answer is plain values.
"""

import threading
import time
from collections import Counter, deque
from dataclasses import dataclass
from typing import Protocol

import structlog
from cv2.typing import MatLike

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
from scanner.clock import monotonic_ms, wall_ms
from scanner.codebook import Codebook
from scanner.confirm import Confirmer, Report
from scanner.decode import Reader, Symbology, load_decoders
from scanner.decoders import prove_decoders
from scanner.settings import (
    CameraSettings,
    DeviceCamera,
    FileCamera,
    FolderCamera,
    ScannerSettings,
    SimulatedCameraSettings,
    StreamCamera,
)
from scanner.sighting import Effort, Sighting
from scanner.simulated import SimulatedCamera, SteeringServer
from scanner.uplink import Door, Health, QueueFullError, ReportQueue, Uplink

FRAME_WAIT_S = 0.25
"""How long a frame is waited for before looking whether to end."""
RATE_FRAMES = 60
DRAIN_S = 5.0
"""How long a recorded source's last reports are waited for."""
STATUS_EVERY_MS = 10_000

log = structlog.get_logger("scanner.service")


class Looker(Protocol):
    """What the loop needs of a reader."""

    def look(self, image: MatLike, effort: Effort = Effort.READ) -> Sighting:
        """Look at one frame and say what it shows."""


class Reporter(Protocol):
    """What the loop needs of the uplink."""

    @property
    def codebook(self) -> Codebook:
        """The manifest as last fetched."""

    @property
    def full(self) -> bool:
        """No further report can be kept."""

    def report(self, report: Report, *, captured_ms: int) -> str:
        """Keep a report for sending."""

    def refresh_soon(self) -> None:
        """Ask for the manifest again now."""


class Scanner:
    """Joins source, reader, event rule and uplink; step() handles one frame."""

    def __init__(self, source: Source, *, reader: Looker, uplink: Reporter) -> None:
        """Take the parts; nothing runs yet."""
        self._source = source
        self._reader = reader
        self._uplink = uplink
        self._confirmer = Confirmer(uplink.codebook)
        self._taken_ms: deque[int] = deque(maxlen=RATE_FRAMES)
        self._asked = False
        self._status_ms = monotonic_ms()
        self.counts: Counter[str] = Counter()

    def run(self, stop: threading.Event) -> None:
        """Handle frames until told to stop, or until a recorded source ends."""
        while not stop.is_set() and not self._source.ended:
            frame = self._source.next_frame(timeout_s=FRAME_WAIT_S)
            if frame is not None:
                self.step(frame)
            self._log_status()

    def step(self, frame: Frame) -> None:
        """Handle one frame."""
        self._taken_ms.append(frame.taken_ms)
        self.counts["frames"] += 1
        if self._uplink.full:
            # What can't be kept must not be read: it would be lost in silence.
            self.counts["held_frames"] += 1
            return
        confirmer = self._confirmer
        confirmer.codebook = self._uplink.codebook
        sighting = self._reader.look(frame.image, confirmer.effort(frame.taken_ms))
        self.counts["faults"] += sighting.faults
        self.counts["skipped_frames"] += sighting.unchanged
        for report in confirmer.step(sighting, now_ms=frame.taken_ms):
            self._send(report, frame)
        if confirmer.unknown_waits and not self._asked:
            self._uplink.refresh_soon()
        self._asked = confirmer.unknown_waits

    def health(self) -> Health:
        """Return what the heartbeat says."""
        rate = 0.0
        taken = tuple(self._taken_ms)
        if len(taken) > 1 and taken[-1] > taken[0]:
            rate = (len(taken) - 1) * 1000 / (taken[-1] - taken[0])
        return Health(frame_age_ms=self._source.health().age_ms, frames_per_s=rate)

    def _send(self, report: Report, frame: Frame) -> None:
        age_ms = monotonic_ms() - frame.taken_ms
        self.counts[report.kind] += 1
        try:
            self._uplink.report(report, captured_ms=wall_ms() - age_ms)
        except QueueFullError:
            # The check before the frame leaves room for one report a frame.
            self.counts["lost_reports"] += 1
            log.critical("queue_full", kind=report.kind.value)

    def _log_status(self) -> None:
        now_ms = monotonic_ms()
        if now_ms - self._status_ms < STATUS_EVERY_MS:
            return
        self._status_ms = now_ms
        health = self._source.health()
        log.info(
            "status",
            dropped=health.dropped,
            reopened=health.reopened,
            frame_age_ms=health.age_ms,
            **{str(name): count for name, count in sorted(self.counts.items())},
        )


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
        case DeviceCamera(index=index, width=width, height=height):
            return OpenCamera(
                source=LiveSource(
                    lambda: CaptureGrabber(index, width=width, height=height),
                    name=f"device {index}",
                    now_ms=monotonic_ms,
                )
            )
        case StreamCamera(url=url):
            return OpenCamera(
                source=LiveSource(lambda: CaptureGrabber(url), name="stream", now_ms=monotonic_ms)
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


def run_scanner(settings: ScannerSettings, *, key: str, stop: threading.Event) -> None:
    """Prove the decoders, open everything, and run until told to stop.

    Raises:
        DecoderMissingError: a decoder does not work on this machine.
        CameraError: the source can't be used.
    """
    decoders = load_decoders(settings.read.symbology)
    prove_decoders(load_decoders(Symbology.QR))
    reader = Reader(
        decoders,
        symbology=settings.read.symbology,
        budget_s=settings.read.budget_ms / 1000,
    )
    camera = open_camera(settings.camera)
    queue = ReportQueue(
        settings.uplink.queue,
        wall_ms=wall_ms(),
        reports_max=settings.uplink.queue_reports_max,
    )
    door = Door(
        url=str(settings.uplink.url).rstrip("/"),
        table=settings.uplink.table,
        device=settings.uplink.device,
        key=key,
    )
    uplink = Uplink(queue, door, health=lambda: scanner.health())
    scanner = Scanner(camera.source, reader=reader, uplink=uplink)
    uplink.start()
    log.info("scanner_ready", camera=settings.camera.kind, queued=len(queue))
    try:
        scanner.run(stop)
        if not stop.is_set():
            uplink.drain(DRAIN_S)
    finally:
        camera.close()
        uplink.close()
        queue.close()
        log.info("scanner_ended", **{str(name): n for name, n in sorted(scanner.counts.items())})
