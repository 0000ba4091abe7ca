"""Helps a technician aim, focus and light a camera: looks at its frames, keeps the last seconds.

Nothing that lies under the camera is told by name. The picture that is handed out shows the test
card as it is; of any other card the middle is covered, and all of it once its code reads.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from cv2.typing import MatLike

from scanner.calibration import Figures, Lies, Observed, Verdict, Window, judge
from scanner.camera import Frame, Source
from scanner.child import Looker
from scanner.health import CameraState
from scanner.layout import CARD_HEIGHT_MM, CARD_WIDTH_MM, Box, Symbology
from scanner.measure import brightness, measure
from scanner.prepare import as_bytes
from scanner.sighting import Corners, Sighting
from scanner.symbol import TEST_DIGITS
from studio.domain.cards import parse_code
from studio.domain.errors import MalformedError

FRAME_WAIT_S = 0.25
ONCE_MS = 4_000
"""How long the form without a browser measures."""
ONCE_WAIT_MS = 10_000
"""How long it waits for a camera that gives nothing."""
PICTURE_SIDE_MAX_PX = 960
JPEG_QUALITY = 80
COVER_BGR = (110, 104, 98)
GOOD_BGR, POOR_BGR = (120, 220, 90), (60, 170, 250)
MIDDLES = (
    Box(left_mm=2, top_mm=27, width_mm=CARD_WIDTH_MM - 4, height_mm=CARD_HEIGHT_MM - 54),
    Box(left_mm=14, top_mm=2, width_mm=CARD_WIDTH_MM - 28, height_mm=CARD_HEIGHT_MM - 4),
)
"""Where people read a card, whichever way its outline is taken for lying."""


@dataclass(frozen=True, kw_only=True)
class State:
    """What is known at this moment."""

    verdict: Verdict
    camera: CameraState
    figures: Figures | None
    frame: int
    """Number of the newest frame; 0 before the first."""


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """The newest frame, as far as it is shown."""

    image: MatLike
    outlines: tuple[Corners, ...]
    lies: Lies
    read: bool
    number: int


class Calibrator:
    """Looks at every frame of a source; step() handles one."""

    def __init__(
        self, source: Source, reader: Looker, *, symbology: Symbology, live: bool = True
    ) -> None:
        """Take the parts; nothing runs yet. `live` is False for a recording."""
        self._source = source
        self._reader = reader
        self._symbology = symbology
        self._lock = threading.Lock()
        self._window = Window(live=live)
        self._observed: Observed | None = None
        self._seen: _Seen | None = None

    def run(self, stop: threading.Event) -> None:
        """Handle frames until told to stop; of a recorded source's end only the last is kept."""
        while not stop.is_set():
            if self._source.ended:
                stop.wait(FRAME_WAIT_S)
                continue
            self.next()

    def run_once(self, stop: threading.Event, *, now_ms: Callable[[], int]) -> State:
        """Measure for some seconds from the first frame on, or until a recorded source ends."""
        until_ms = now_ms() + ONCE_WAIT_MS
        first = True
        while now_ms() < until_ms and not self._source.ended and not stop.is_set():
            if self.next() and first:
                first, until_ms = False, now_ms() + ONCE_MS
        return self.state()

    def next(self) -> bool:
        """Handle the next frame, if one comes in time."""
        frame = self._source.next_frame(timeout_s=FRAME_WAIT_S)
        if frame is not None:
            self.step(frame)
        elif self._source.health().state is not CameraState.OPEN:
            # What was seen before is no help once the camera is back.
            with self._lock:
                self._window.clear()
        return frame is not None

    def step(self, frame: Frame) -> None:
        """Look at one frame and measure it."""
        sighting = self._reader.look(frame.image)
        observed = self._observe(frame, sighting)
        outlines = sighting.outlines
        with self._lock:
            if sighting.unchanged and self._seen is not None:
                outlines = outlines or self._seen.outlines
            self._observed = observed
            self._window.add(observed)
            self._seen = _Seen(
                image=frame.image,
                outlines=outlines,
                lies=self._taken_for(observed),
                read=observed.read,
                number=frame.number,
            )

    def state(self) -> State:
        """Return verdict and figures."""
        with self._lock:
            figures = self._window.figures()
            number = 0 if self._seen is None else self._seen.number
        camera = self._source.health().state
        return State(verdict=judge(figures, camera), camera=camera, figures=figures, frame=number)

    def picture(self) -> bytes | None:
        """Return the newest frame as JPEG, outlines drawn, cards covered; None before the first."""
        with self._lock:
            seen = self._seen
        if seen is None:
            return None
        shown, scale = _shrunk(seen.image)
        outlines = [(np.array(corners) * scale).astype(np.float32) for corners in seen.outlines]
        _cover(shown, outlines, lies=seen.lies)
        for corners in outlines:
            colour = GOOD_BGR if seen.read else POOR_BGR
            points = [np.round(corners).astype(np.int32)]
            cv2.polylines(shown, points, isClosed=True, color=colour, thickness=3)
        _, content = cv2.imencode(".jpg", shown, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
        return content.tobytes()

    def _observe(self, frame: Frame, sighting: Sighting) -> Observed:
        if sighting.unchanged and self._observed is not None:
            return replace(
                self._observed,
                at_ms=frame.taken_ms,
                number=frame.number,
                still=sighting.still,
            )
        measures = None
        if sighting.outlines:
            measures = measure(frame.image, sighting.outlines[0], self._symbology)
        return Observed(
            at_ms=frame.taken_ms,
            number=frame.number,
            cards=sighting.cards_in_view,
            lies=_lies(sighting),
            code_in_view=sighting.code_in_view,
            still=sighting.still,
            brightness=brightness(frame.image),
            measures=measures,
        )

    def _taken_for(self, observed: Observed) -> Lies:
        """Return what the picture takes the card for: between two reads, for the one before."""
        if observed.cards > 1 and observed.lies is Lies.TEST_CARD:
            return Lies.UNREAD
        if observed.lies is Lies.UNREAD and self._seen is not None and observed.cards == 1:
            return Lies.UNREAD if self._seen.lies is Lies.NOTHING else self._seen.lies
        return observed.lies


def _lies(sighting: Sighting) -> Lies:
    texts = {reading.text for reading in sighting.readings}
    if any(map(_is_piece, texts)):
        return Lies.PIECE
    if TEST_DIGITS in texts:
        return Lies.TEST_CARD
    return Lies.UNREAD if sighting.cards_in_view else Lies.NOTHING


def _is_piece(text: str) -> bool:
    try:
        parse_code(text)
    except MalformedError:
        return False
    return True


def _shrunk(image: MatLike) -> tuple[MatLike, float]:
    """Return a small copy in colour, and its scale."""
    picture = as_bytes(image)
    if picture.ndim == 2 or picture.shape[2] == 1:
        picture = cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR)
    picture = picture[..., :3]
    scale = min(1.0, PICTURE_SIDE_MAX_PX / max(picture.shape[:2]))
    if scale == 1.0:
        return picture.copy(), scale
    size = (max(1, round(picture.shape[1] * scale)), max(1, round(picture.shape[0] * scale)))
    return cv2.resize(picture, size, interpolation=cv2.INTER_AREA), scale


def _cover(picture: MatLike, outlines: Sequence[MatLike], *, lies: Lies) -> None:
    """Paint over what people or decoders could tell a card by."""
    if lies is Lies.TEST_CARD:
        return
    if lies is Lies.PIECE and not outlines:
        picture[:] = COVER_BGR
    for corners in outlines:
        places = [corners] if lies is Lies.PIECE else [_place(corners, box) for box in MIDDLES]
        for place in places:
            cv2.fillConvexPoly(picture, np.round(place).astype(np.int32), COVER_BGR)


def _place(corners: MatLike, box: Box) -> MatLike:
    """Return the corners of a box of the card in the picture."""
    card = np.array(
        [[0, 0], [CARD_WIDTH_MM, 0], [CARD_WIDTH_MM, CARD_HEIGHT_MM], [0, CARD_HEIGHT_MM]],
        np.float32,
    )
    right, bottom = box.left_mm + box.width_mm, box.top_mm + box.height_mm
    places = np.array(
        [[[box.left_mm, box.top_mm], [right, box.top_mm], [right, bottom], [box.left_mm, bottom]]],
        np.float32,
    )
    moved = cv2.perspectiveTransform(places, cv2.getPerspectiveTransform(card, corners))
    return moved.reshape(4, 2)
