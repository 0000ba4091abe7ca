"""What one frame showed: the plain words between the decoder and the event rule."""

from dataclasses import dataclass
from enum import StrEnum, unique
from typing import TypeAlias

Corners: TypeAlias = tuple[tuple[float, float], ...]
"""Four corners in pixels of the frame, clockwise as seen."""


@unique
class Decoder(StrEnum):
    """The two independent decoders; the values are the wire's words."""

    ZXING = "zxing"
    ZBAR = "zbar"


@unique
class Effort(StrEnum):
    """How much work the next frame deserves."""

    WATCH = "watch"
    """A still view needs no decoding: nothing new is expected of it."""
    READ = "read"
    """Decode until both decoders agree or the time budget is spent."""
    EXPLAIN = "explain"
    """As READ, and when nothing is read look for what lies there instead, for the reason only."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One text that one decoder read in one place."""

    text: str
    decoder: Decoder
    copy: int | None
    """0 and 1 are the two printed places of a located card; None is the whole frame."""


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """One frame, looked at."""

    cards_in_view: int
    """Things in the form of a card."""
    occupied: bool = False
    """Anything large lies there, a hand for instance: the table is not empty."""
    outlines: tuple[Corners, ...] = ()
    """The corners of each thing in the form of a card, largest first."""
    readings: tuple[Reading, ...] = ()
    still: bool
    """Nothing moved since the frame before."""
    unchanged: bool = False
    """Not decoded: the view is the one of the last decoded frame."""
    code_in_view: bool = False
    """Something printed in the place of a code, read or not."""
    foreign: bool = False
    """A symbol of another kind than the studio's; known after Effort.EXPLAIN only."""
    explained: bool = False
    """The frame was looked at with Effort.EXPLAIN."""
    sharpness: float = 0.0
    """Of the best place of a code, else of the largest card; higher is sharper. It is comparable
    within one presence only: the same card in the same light."""
    faults: int = 0
    """Decoder errors that were caught on this frame."""
