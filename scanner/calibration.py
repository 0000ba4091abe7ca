"""From some seconds of frames to a verdict: is this camera fit to read cards, and what next.

Pure: no pixels, no clock. The limits ask for more than the reader needs, because a studio's light
and glass get worse over a day.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from statistics import median

from scanner.health import CameraState
from scanner.measure import Measures

WINDOW_MS = 4_000
WINDOW_FRAMES_MAX = 200
"""Of a fast camera, the newest."""
FRAMES_MIN = 15
"""Fewer say nothing yet."""
MODULE_PX_MIN = 3.0
PAPER_MIN = 90.0
"""Grey level of white paper, 0 to 255."""
PAPER_MAX = 252.0
DARK_FRAME = 40.0
"""A frame without anything brighter than this may hold a card that nobody can see."""
CONTRAST_MIN = 0.5
SHARPNESS_MIN = 0.4
GLARE_MAX = 0.04
FRAMES_PER_S_MIN = 10.0
READ_MIN = 0.95
"""Share of the frames that must read; a good set-up reads all."""
MOST = 0.5


@unique
class Lies(StrEnum):
    """What lies under the camera."""

    NOTHING = "nothing"
    UNREAD = "unread"
    TEST_CARD = "test_card"
    PIECE = "piece"
    """A card, domino or badge of the studio: that it reads is all that is ever said of it."""


@dataclass(frozen=True, kw_only=True)
class Observed:
    """One frame, looked at and measured."""

    at_ms: int
    number: int
    """Its place in the sequence, the frames that nobody looked at counted too."""
    cards: int
    lies: Lies
    code_in_view: bool
    still: bool
    brightness: float
    measures: Measures | None = None
    """Of the largest card; None when no outline was found."""

    @property
    def read(self) -> bool:
        """A code was read whose check digits hold."""
        return self.lies in {Lies.TEST_CARD, Lies.PIECE}


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The last seconds in numbers."""

    frames: int
    read: int
    frames_per_s: float | None
    """Of the camera; None for a recording, which has no pace."""
    cards: int
    lies: Lies
    code_in_view: bool
    still: bool
    brightness: float
    measures: Measures | None


@unique
class Verdict(StrEnum):
    """What to do next, in the order in which it is worth doing."""

    CAMERA_LOST = "camera_lost"
    CAMERA_FROZEN = "camera_frozen"
    WAITING = "waiting"
    DARK = "dark"
    TWO_CARDS = "two_cards"
    NO_CARD = "no_card"
    CUT_OFF = "cut_off"
    TOO_SMALL = "too_small"
    NO_CODE = "no_code"
    GLARE = "glare"
    WASHED_OUT = "washed_out"
    LOW_CONTRAST = "low_contrast"
    MOVING = "moving"
    BLURRED = "blurred"
    SLOW = "slow"
    UNREAD = "unread"
    READY = "ready"


class Window:
    """The frames of the last seconds."""

    def __init__(self, *, live: bool = True) -> None:
        """Begin without any; `live` is False for a recording."""
        self._live = live
        self._frames: deque[Observed] = deque(maxlen=WINDOW_FRAMES_MAX)

    def add(self, observed: Observed) -> None:
        """Take the newest frame; the ones that are too old go."""
        self._frames.append(observed)
        while self._frames[0].at_ms < observed.at_ms - WINDOW_MS:
            self._frames.popleft()

    def clear(self) -> None:
        """Forget everything: the camera was lost in between."""
        self._frames.clear()

    def figures(self) -> Figures | None:
        """Return the last seconds in numbers; None before the first frame."""
        frames = tuple(self._frames)
        if not frames:
            return None
        return Figures(
            frames=len(frames),
            read=sum(frame.read for frame in frames),
            frames_per_s=_frames_per_s(frames) if self._live else None,
            cards=round(median(frame.cards for frame in frames)),
            lies=_lies(frames),
            code_in_view=_mostly(frames, lambda frame: frame.code_in_view),
            still=_mostly(frames, lambda frame: frame.still),
            brightness=median(frame.brightness for frame in frames),
            measures=_middle(frames),
        )


def _frames_per_s(frames: Sequence[Observed]) -> float:
    first, last = frames[0], frames[-1]
    span_ms = last.at_ms - first.at_ms
    return (last.number - first.number) * 1000 / span_ms if span_ms else 0.0


def _mostly(frames: Sequence[Observed], holds: Callable[[Observed], bool]) -> bool:
    return sum(map(holds, frames)) > MOST * len(frames)


def _lies(frames: Sequence[Observed]) -> Lies:
    """Return what the newest frame that reads shows, as long as something lies there."""
    if not _mostly(frames, lambda frame: frame.cards > 0 or frame.read):
        return Lies.NOTHING
    return next((frame.lies for frame in reversed(frames) if frame.read), Lies.UNREAD)


def _middle(frames: Sequence[Observed]) -> Measures | None:
    """Return the medians of what was measured, if most frames show a card's outline."""
    measured = [frame.measures for frame in frames if frame.measures is not None]
    if len(measured) <= MOST * len(frames):
        return None
    return Measures(
        module_px=median(one.module_px for one in measured),
        paper=median(one.paper for one in measured),
        contrast=median(one.contrast for one in measured),
        sharpness=median(one.sharpness for one in measured),
        glare=median(one.glare for one in measured),
        cut_off=sum(one.cut_off for one in measured) > MOST * len(measured),
    )


def judge(figures: Figures | None, camera: CameraState) -> Verdict:
    """Return the first thing that is wrong, or READY."""
    if camera is CameraState.FROZEN:
        return Verdict.CAMERA_FROZEN
    if figures is None or camera is not CameraState.OPEN:
        return Verdict.CAMERA_LOST
    if figures.frames < FRAMES_MIN:
        return Verdict.WAITING
    if figures.measures is None:
        return Verdict.DARK if figures.brightness < DARK_FRAME else Verdict.NO_CARD
    return _first_fault(figures, figures.measures) or Verdict.READY


def _first_fault(figures: Figures, measures: Measures) -> Verdict | None:
    blurred = measures.sharpness < SHARPNESS_MIN
    washed_out = measures.contrast < CONTRAST_MIN and not blurred
    slow = figures.frames_per_s is not None and figures.frames_per_s < FRAMES_PER_S_MIN
    faults = (
        (Verdict.TWO_CARDS, figures.cards > 1),
        (Verdict.DARK, measures.paper < PAPER_MIN),
        (Verdict.CUT_OFF, measures.cut_off),
        (Verdict.TOO_SMALL, measures.module_px < MODULE_PX_MIN),
        (Verdict.NO_CODE, not figures.code_in_view and not figures.read),
        (Verdict.GLARE, measures.glare > GLARE_MAX),
        (Verdict.WASHED_OUT, washed_out and measures.paper > PAPER_MAX),
        (Verdict.LOW_CONTRAST, washed_out),
        (Verdict.MOVING, blurred and not figures.still),
        (Verdict.BLURRED, blurred),
        (Verdict.SLOW, slow),
        (Verdict.UNREAD, figures.read < READ_MIN * figures.frames),
    )
    return next((verdict for verdict, wrong in faults if wrong), None)
