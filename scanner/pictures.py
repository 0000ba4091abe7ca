"""Pictures for the supervisor: the best frame of a card that did not read, and the card alone.

A picture is sealed like the card it may show: its file is for its owner only, and no log ever says
what is on it. It is made after its report is safe on the disk and goes its own way, so that it
never holds a report up. It stays on the disk until the back office does not want it or has it.
"""

import base64
import contextlib
import json
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import requests
import structlog
from cv2.typing import MatLike

from scanner.camera import Frame
from scanner.door import Door, NoAnswerError, RefusedError
from scanner.layout import CARD_HEIGHT_MM, CARD_WIDTH_MM
from scanner.prepare import as_bytes
from scanner.sighting import Corners, Sighting

PICTURES_MAX = 200
"""So many wait on the disk; the oldest go first."""
FRAME_SIDE_PX_MAX = 1_280
CARD_PX_PER_MM = 8
FRAME_TEXT_MAX = 400_000
CARD_TEXT_MAX = 150_000
"""As base64 text, so that the picture's bytes are below the back office's limits too."""
QUALITIES = (80, 65, 50, 35)
SHRINKS_MAX = 6
"""So often a picture that is still too large is made smaller."""
BEST_AGE_MS = 3_000
"""An older frame is no picture of what lies there now, however sharp."""
MAKING_MAX = 4
"""So many frames wait in memory to be made into pictures."""
ANSWER_PATIENCE_S = 0.1
"""Most answers come sooner, and most say that no picture is wanted: then none is made."""
RETRY_FIRST_S = 0.5
RETRY_MAX_S = 30.0
CLOSE_TIMEOUT_S = 2.0
_WAITING, _WANTED = ".waiting", ".wanted"

log = structlog.get_logger("scanner.pictures")


@dataclass(frozen=True, kw_only=True)
class Picture:
    """What is to be shown: a frame, and where the card lies on it."""

    image: MatLike
    corners: Corners | None
    reason: str | None
    captured_ms: int


@dataclass(frozen=True, kw_only=True)
class _Best:
    frame: Frame
    corners: Corners | None
    sharpness: float


class BestFrame:
    """Remembers the sharpest frame of the card that lies there."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self._best: _Best | None = None
        self._over = False

    def see(self, frame: Frame, sighting: Sighting) -> None:
        """Take a frame in; frames of an empty table keep the card that lay there before."""
        if not sighting.cards_in_view and not sighting.readings:
            self._over = True
            return
        if sighting.unchanged:
            return
        best = self._best
        if (
            best is None
            or self._over
            or sighting.sharpness >= best.sharpness
            or frame.taken_ms - best.frame.taken_ms > BEST_AGE_MS
        ):
            corners = sighting.outlines[0] if sighting.outlines else None
            self._best = _Best(frame=frame, corners=corners, sharpness=sighting.sharpness)
        self._over = False

    def begin(self) -> None:
        """What is seen next is another card."""
        self._over = True

    def picture(
        self, frame: Frame, *, reason: str | None, captured_ms: Callable[[Frame], int]
    ) -> Picture:
        """Return the picture for a report: the best frame, or `frame` when there is none."""
        best = self._best or _Best(frame=frame, corners=None, sharpness=0)
        return Picture(
            image=best.frame.image,
            corners=best.corners,
            reason=reason,
            captured_ms=captured_ms(best.frame),
        )


def straightened(image: MatLike, corners: Corners) -> MatLike:
    """Return the card upright, as if seen from straight above."""
    places = np.array(corners, np.float32)
    first, second = (float(np.linalg.norm(places[i + 1] - places[i])) for i in (0, 1))
    if first > second:
        places = np.roll(places, 1, axis=0)
    width, height = round(CARD_WIDTH_MM * CARD_PX_PER_MM), round(CARD_HEIGHT_MM * CARD_PX_PER_MM)
    target = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    warp = cv2.getPerspectiveTransform(places, target)
    return cv2.warpPerspective(image, warp, (width, height), borderMode=cv2.BORDER_REPLICATE)


def jpeg_text(image: MatLike, *, side_px_max: int, text_max: int) -> str | None:
    """Return a picture as base64 of a JPEG within its limits; None when that can't be done."""
    side_px = max(image.shape[:2])
    scale = min(1.0, side_px_max / max(side_px, 1))
    for _ in range(SHRINKS_MAX):
        small = image
        if scale < 1:
            size = (max(1, int(image.shape[1] * scale)), max(1, int(image.shape[0] * scale)))
            small = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
        for quality in QUALITIES:
            made, content = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, quality])
            text = base64.b64encode(content.tobytes()).decode() if made else ""
            if text and len(text) <= text_max:
                return text
        scale /= 2
    return None


def made_body(picture: Picture) -> dict[str, Any] | None:
    """Return what the back office gets of a picture; None when it can't be made."""
    try:
        image = as_bytes(picture.image)
        frame = jpeg_text(image, side_px_max=FRAME_SIDE_PX_MAX, text_max=FRAME_TEXT_MAX)
    except cv2.error:
        return None
    card = None
    if picture.corners is not None and len(picture.corners) == 4:
        with contextlib.suppress(cv2.error):
            upright = straightened(image, picture.corners)
            card = jpeg_text(upright, side_px_max=FRAME_SIDE_PX_MAX, text_max=CARD_TEXT_MAX)
    if frame is None:
        return None
    return {
        "frame": frame,
        "card": card,
        "reason": picture.reason,
        "captured_ms": picture.captured_ms,
    }


class _Job:
    """A picture to be made; the answer to its report may come before it is."""

    def __init__(self, picture: Picture) -> None:
        """Nobody has answered yet."""
        self.picture = picture
        self.wanted: bool | None = None


class PictureBox:
    """Pictures on disk by their reports' numbers, made and sent by two threads of their own."""

    def __init__(
        self, folder: Path, door: Door, *, queued: frozenset[int], pictures_max: int = PICTURES_MAX
    ) -> None:
        """Take up what the run before left; start() begins to make and send.

        A picture whose report does not wait any more (`queued`) lost its answer with the process:
        it is offered, and the back office says whether it wants it.

        Raises:
            OSError: the folder can't be used.
        """
        self._folder = folder
        self._door = door
        self._pictures_max = pictures_max
        self._changed = threading.Condition()
        self._jobs: dict[int, _Job] = {}
        self._kept: dict[int, bool] = {}
        """Number to wanted (or still open), oldest first; each is a file."""
        self._closing = threading.Event()
        self.dropped = 0
        self.trouble: str | None = None
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._take_up(queued)
        self._threads = [
            threading.Thread(target=self._make_all, name="making", daemon=True),
            threading.Thread(target=self._send_all, name="sending", daemon=True),
        ]

    def _take_up(self, queued: frozenset[int]) -> None:
        found: dict[int, bool] = {}
        for path in self._folder.iterdir():
            if path.stem.isdigit() and path.suffix in (_WAITING, _WANTED):
                found[int(path.stem)] = path.suffix == _WANTED
            else:
                path.unlink()
        for number in sorted(found):
            self._kept[number] = found[number]
            if not found[number] and number not in queued:
                self._want(number)
        self._make_room()

    def start(self) -> None:
        """Begin to make and send pictures."""
        for thread in self._threads:
            thread.start()

    def keep(self, picture: Picture, number: int) -> None:
        """Keep the picture of a report; never waits, and drops it when too many are being made."""
        with self._changed:
            if len(self._jobs) >= MAKING_MAX:
                self._drop("picture_not_made", number)
                return
            self._jobs[number] = _Job(picture)
            self._changed.notify_all()

    def decide(self, number: int, *, wanted: bool) -> None:
        """Take the back office's word on whether it wants the picture of a report."""
        with self._changed:
            if number in self._jobs:
                self._jobs[number].wanted = wanted
            elif number in self._kept:
                if wanted:
                    self._want(number)
                else:
                    self._forget(number)
            self._changed.notify_all()

    def __len__(self) -> int:
        return len(self._kept)

    def close(self) -> None:
        """Write down what is being made, and stop; what was not sent stays on the disk."""
        with self._changed:
            self._closing.set()
            self._changed.notify_all()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(CLOSE_TIMEOUT_S)

    def _path(self, number: int, *, wanted: bool) -> Path:
        return self._folder / f"{number}{_WANTED if wanted else _WAITING}"

    def _want(self, number: int) -> None:
        if not self._kept[number]:
            with self._telling():
                self._path(number, wanted=False).rename(self._path(number, wanted=True))
                self._kept[number] = True

    def _forget(self, number: int) -> None:
        wanted = self._kept.pop(number, None)
        if wanted is not None:
            with self._telling():
                self._path(number, wanted=wanted).unlink(missing_ok=True)

    def _drop(self, event: str, number: int) -> None:
        self.dropped += 1
        log.warning(event, id=self._door.report_id(number), dropped=self.dropped)

    def _make_room(self) -> None:
        while len(self._kept) > self._pictures_max:
            oldest = next(iter(self._kept))
            self._forget(oldest)
            self._drop("picture_dropped", oldest)

    @contextlib.contextmanager
    def _telling(self) -> Any:
        try:
            yield
        except OSError as error:
            self.trouble = f"Pictures can't be kept on the disk ({error.strerror})."

    def _make_all(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._jobs or self._closing.is_set())
                if not self._jobs:
                    return
                number, job = next(iter(self._jobs.items()))
                self._wait_for_answer(job)
            if job.wanted is not False:
                self._make(number, job)
            with self._changed:
                self._jobs.pop(number)
                self._settle(number, job)

    def _wait_for_answer(self, job: _Job) -> None:
        self._changed.wait_for(
            lambda: job.wanted is not None or self._closing.is_set(), ANSWER_PATIENCE_S
        )

    def _settle(self, number: int, job: _Job) -> None:
        """Apply the answer that came while the picture was being made."""
        if number in self._kept and job.wanted is not None:
            if job.wanted:
                self._want(number)
            else:
                self._forget(number)
        self._make_room()
        self._changed.notify_all()

    def _make(self, number: int, job: _Job) -> None:
        body = made_body(job.picture)
        path = self._path(number, wanted=False)
        part = path.with_suffix(".part")
        if body is None:
            self._drop("picture_not_made", number)
            return
        try:
            with open(os.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w") as file:
                json.dump(body, file)
            part.rename(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            self.trouble = f"Pictures can't be kept on the disk ({error.strerror})."
            self._drop("picture_not_kept", number)
            return
        self.trouble = None
        with self._changed:
            self._kept[number] = False

    def _next_wanted(self) -> int | None:
        return next((number for number, wanted in self._kept.items() if wanted), None)

    def _send_all(self) -> None:
        wait_s = RETRY_FIRST_S
        with self._door.session() as session:
            while not self._closing.is_set():
                with self._changed:
                    self._changed.wait_for(
                        lambda: self._next_wanted() is not None or self._closing.is_set()
                    )
                    number = self._next_wanted()
                if number is None or self._closing.is_set():
                    return
                try:
                    self._send(session, number)
                    wait_s = RETRY_FIRST_S
                except NoAnswerError as error:
                    self.trouble = f"Pictures wait: {error}"
                    self._closing.wait(wait_s)
                    wait_s = min(wait_s * 2, RETRY_MAX_S)

    def _send(self, session: requests.Session, number: int) -> None:
        report_id = self._door.report_id(number)
        try:
            body = json.loads(self._path(number, wanted=True).read_text())
            about = {"table": self._door.table, "report": report_id}
            answer = self._door.post(session, "pictures", {**about, **body})
            if answer.get("taken") is not True:
                raise NoAnswerError("the back office says neither taken nor refused.")
            log.info("picture_sent", id=report_id)
        except (OSError, ValueError, TypeError):
            if number in self._kept:
                self._drop("picture_damaged", number)
        except RefusedError as refusal:
            log.info("picture_refused", id=report_id, code=refusal.code)
        with self._changed:
            self.trouble = None
            self._forget(number)
            self._changed.notify_all()
