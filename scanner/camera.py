"""Where frames come from: device, stream, video file, image folder, simulated camera.

A live source is read by a thread of its own that always drains the camera and keeps the newest
frame only, with a monotonic time stamp: what OpenCV has buffered is stale. A recorded source is
read frame by frame, and none is left out.
"""

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import cv2
import numpy as np
from cv2.typing import MatLike

from scanner.health import CameraState, SourceHealth

OPEN_TIMEOUT_MS = 3_000
READ_TIMEOUT_MS = 2_000
"""OpenCV's own limits are 30 s: far too long to notice a pulled plug."""
REOPEN_FIRST_S = 0.2
REOPEN_MAX_S = 5.0
HUNG_MS = 6_000
"""A camera that neither opens, reads nor fails for this long is left to itself: a driver hangs."""
HUNG_MAX = 3
"""So many hung threads are left behind at most; after that the camera is only waited for."""
FROZEN_MS = 2_000
"""A picture that does not change at all for this long is no live picture: sensors have noise."""
FROZEN_REOPEN_MS = 10_000
"""A camera frozen for this long is opened again: most come back to life."""
CHANGE_STEP_PX = 16
"""Every n-th pixel is compared to tell a frozen picture."""
IMAGE_SUFFIXES = frozenset({".bmp", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"})
CLOSE_TIMEOUT_S = 5.0
FFMPEG_QUIET = "-8"


class CameraError(Exception):
    """A source can't be opened or read; the message says which and what to check."""


@dataclass(frozen=True, kw_only=True)
class Frame:
    """One picture with its place in the sequence."""

    image: MatLike
    number: int
    taken_ms: int
    """Monotonic milliseconds."""
    name: str


class Source(Protocol):
    """What the service needs of a camera."""

    @property
    def ended(self) -> bool:
        """A recorded source has no more frames; a live one never ends."""

    def next_frame(self, *, timeout_s: float) -> Frame | None:
        """Return the newest frame not returned before, or None when none came in time."""

    def health(self) -> SourceHealth:
        """Return counts and age."""

    def close(self) -> None:
        """Let go of the camera."""


class Grabber(Protocol):
    """An open camera: read frame after frame, in the grab thread only."""

    def read(self) -> MatLike | None:
        """Wait for the next frame; None when the camera is lost."""

    def close(self) -> None:
        """Let go of the camera."""


class CaptureGrabber:
    """A device or stream through OpenCV, with time-outs that notice a loss.

    HTTP and RTSP streams go the same way, by FFMPEG, RTSP over TCP. Frames of a stream whose size
    changes are scaled to the size it was opened with.
    """

    def __init__(
        self, target: int | str, *, width: int | None = None, height: int | None = None
    ) -> None:
        """Open the device number or stream URL.

        Raises:
            CameraError: it does not open within the time-out.
        """
        if isinstance(target, int):
            self._capture = cv2.VideoCapture(target)
        else:
            # The time-outs are honoured only as open parameters of this backend.
            self._capture = cv2.VideoCapture(
                target,
                cv2.CAP_FFMPEG,
                [
                    *(cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, OPEN_TIMEOUT_MS),
                    *(cv2.CAP_PROP_READ_TIMEOUT_MSEC, READ_TIMEOUT_MS),
                    # Each further thread holds a frame back.
                    *(cv2.CAP_PROP_N_THREADS, 1),
                ],
            )
        if not self._capture.isOpened():
            raise CameraError("The camera does not open: check its cable, number or address.")
        if width and height:
            self._capture.set(cv2.CAP_PROP_FRAME_WIDTH, width)
            self._capture.set(cv2.CAP_PROP_FRAME_HEIGHT, height)

    def read(self) -> MatLike | None:
        """Wait for the next frame; isOpened() stays True after a loss, so only a frame counts."""
        taken, image = self._capture.read()
        return image if taken and image is not None and image.size else None

    def close(self) -> None:
        """Let go of the device."""
        self._capture.release()


class _Turn:
    """One grab thread's turn at the camera; a thread whose turn is over keeps nothing."""

    def __init__(self, now_ms: int) -> None:
        """Begin."""
        self.over = False
        self.busy_since_ms = now_ms


class LiveSource:
    """Drains a camera in a thread, keeps the newest frame, opens it again when it is lost."""

    ended = False

    def __init__(
        self,
        open_grabber: Callable[[], Grabber],
        *,
        name: str,
        now_ms: Callable[[], int],
        frozen_ms: int = FROZEN_MS,
    ) -> None:
        """Start the grab thread; a camera that is not there yet is waited for."""
        self._open_grabber = open_grabber
        self._name = name
        self._now_ms = now_ms
        self._frozen_ms = frozen_ms
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._newest: Frame | None = None
        self._returned = 0
        self._frames = 0
        self._dropped = 0
        self._opened = 0
        self._opened_ms = 0
        self._content = b""
        self._alive_ms = 0
        self._lost = False
        self._hung = 0
        self._begin_turn()

    def next_frame(self, *, timeout_s: float) -> Frame | None:
        """Return the newest frame not returned before, or None when none came in time."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._closing.is_set() or self._frames > self._returned, timeout_s
            )
            if self._newest is None or self._frames == self._returned:
                self._leave_hung_thread()
                return None
            self._dropped += self._frames - self._returned - 1
            self._returned = self._frames
            return self._newest

    def health(self) -> SourceHealth:
        """Return counts, age and state; a frozen picture ages although frames arrive."""
        with self._changed:
            state, age_ms = CameraState.OPENING, None
            if self._newest is not None:
                now_ms = self._now_ms()
                silent_ms, frozen_ms = now_ms - self._newest.taken_ms, now_ms - self._alive_ms
                is_frozen = frozen_ms > self._frozen_ms
                age_ms = frozen_ms if is_frozen else silent_ms
                state = CameraState.FROZEN if is_frozen else CameraState.OPEN
                if self._lost or silent_ms > READ_TIMEOUT_MS:
                    state = CameraState.LOST
            return SourceHealth(
                frames=self._frames,
                dropped=self._dropped,
                reopened=max(0, self._opened - 1),
                age_ms=age_ms,
                state=state,
            )

    def close(self) -> None:
        """End the grab thread; a read that hangs is left behind with the process."""
        self._closing.set()
        with self._changed:
            self._changed.notify_all()
        self._thread.join(CLOSE_TIMEOUT_S)

    def _begin_turn(self) -> None:
        self._turn = _Turn(self._now_ms())
        self._thread = threading.Thread(
            target=self._run, args=(self._turn,), name="grab", daemon=True
        )
        self._thread.start()

    def _leave_hung_thread(self) -> None:
        """Give the camera to another thread when a call into a driver does not come back."""
        hung_ms = self._now_ms() - self._turn.busy_since_ms
        if hung_ms > HUNG_MS and self._hung < HUNG_MAX and not self._closing.is_set():
            self._turn.over = True
            self._hung += 1
            self._lost = True
            self._begin_turn()

    def _run(self, turn: _Turn) -> None:
        wait_s = REOPEN_FIRST_S
        while not self._closing.is_set() and not turn.over:
            turn.busy_since_ms = self._now_ms()
            with (
                contextlib.suppress(CameraError, cv2.error),
                closing(self._open_grabber()) as camera,
            ):
                if self._drain(camera, turn):
                    wait_s = REOPEN_FIRST_S
            turn.busy_since_ms = self._now_ms()
            self._closing.wait(wait_s)
            wait_s = min(wait_s * 2, REOPEN_MAX_S)
        with self._changed:
            self._hung -= turn.over

    def _drain(self, grabber: Grabber, turn: _Turn) -> bool:
        """Read until the camera is lost or frozen; tell whether any frame came."""
        with self._changed:
            self._opened += not turn.over
            self._opened_ms = self._now_ms()
        came = False
        while not self._closing.is_set() and not turn.over:
            turn.busy_since_ms = self._now_ms()
            try:
                image = grabber.read()
            except cv2.error:
                image = None
            with self._changed:
                if image is None:
                    self._lost = self._lost or not turn.over
                    return came
                if not turn.over:
                    came = True
                    self._keep(image)
                    if self._frozen_too_long():
                        return True
        return came

    def _keep(self, image: MatLike) -> None:
        content = np.ascontiguousarray(image[::CHANGE_STEP_PX, ::CHANGE_STEP_PX]).tobytes()
        now_ms = self._now_ms()
        self._frames += 1
        self._lost = False
        if content != self._content:
            self._content, self._alive_ms = content, now_ms
        self._newest = Frame(image=image, number=self._frames, taken_ms=now_ms, name=self._name)
        self._changed.notify_all()

    def _frozen_too_long(self) -> bool:
        return self._now_ms() - max(self._alive_ms, self._opened_ms) > FROZEN_REOPEN_MS


class RecordedSource:
    """A video file or a folder of pictures: every frame once, in order."""

    def __init__(
        self, pictures: Iterator[tuple[str, MatLike | None]], *, now_ms: Callable[[], int]
    ) -> None:
        """Take the pictures by name; None marks one that can't be read."""
        self._pictures = pictures
        self._now_ms = now_ms
        self._frames = 0
        self._unread = 0
        self._last_ms: int | None = None
        self.ended = False

    def next_frame(self, *, timeout_s: float) -> Frame | None:
        """Return the next frame; None at the end and for a picture that can't be read."""
        del timeout_s  # a file never keeps anyone waiting
        try:
            name, image = next(self._pictures)
        except StopIteration:
            self.ended = True
            return None
        if image is None:
            self._unread += 1
            return None
        self._frames += 1
        self._last_ms = self._now_ms()
        return Frame(image=image, number=self._frames, taken_ms=self._last_ms, name=name)

    def health(self) -> SourceHealth:
        """Return counts; unreadable pictures count as dropped."""
        age_ms = None if self._last_ms is None else self._now_ms() - self._last_ms
        return SourceHealth(frames=self._frames, dropped=self._unread, reopened=0, age_ms=age_ms)

    def close(self) -> None:
        """Let go of the file."""
        close = getattr(self._pictures, "close", None)
        if close is not None:
            close()


def silence_opencv() -> None:
    """Keep OpenCV and its FFMPEG from writing to stderr: we tell of every loss and bad file.

    Their lines could show a stream's address, and with it a password.
    """
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", FFMPEG_QUIET)
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)


def read_image(path: Path) -> MatLike | None:
    """Return a picture file as BGR, or None when it is none. Never raises for bad content."""
    try:
        content = np.frombuffer(path.read_bytes(), np.uint8)
    except OSError:
        return None
    if not content.size:
        return None
    try:
        return cv2.imdecode(content, cv2.IMREAD_COLOR)
    except cv2.error:
        return None


def folder_pictures(folder: Path) -> Iterator[tuple[str, MatLike | None]]:
    """Yield the pictures of a folder and the folders in it, by name."""
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in IMAGE_SUFFIXES:
            yield str(path), read_image(path)


def video_pictures(path: Path) -> Iterator[tuple[str, MatLike | None]]:
    """Yield every frame of a video file.

    Raises:
        CameraError: the file is no video that can be opened.
    """
    capture = cv2.VideoCapture(str(path))
    try:
        if not capture.isOpened():
            raise CameraError(f"{path} is not a video that can be opened.")
        taken, image = capture.read()
        while taken:
            yield str(path), image
            taken, image = capture.read()
    finally:
        capture.release()
