"""Where everything sits on a printed card, in millimetres from the card's top left corner.

Pure: no drawing library. The printer, the drawn cameras and the decoder all measure with this one
ruler. Source: scanner notes, "The card".
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import TypeAlias

from studio.domain.cards import Rank, Suit

CARD_WIDTH_MM = 63.0
CARD_HEIGHT_MM = 88.0
CORNER_RADIUS_MM = 3.0
CODE_MM = 24.0
"""Side of one printed code, its quiet zone included."""
EDGE_MM = 2.5
"""From the card's edge to the quiet zone."""
QR_MODULES = 21
QUIET_MODULES = 4
MODULES_ACROSS = QR_MODULES + 2 * QUIET_MODULES
MODULE_MM = CODE_MM / MODULES_ACROSS
STRIP_MODULES = 101
"""Code 128 set C: start, six pairs of digits and the check symbol at 11 modules, stop at 13."""
STRIP_QUIET_MODULES = 10
STRIP_MODULE_MM = 0.6
STRIP_LENGTH_MM = (STRIP_MODULES + 2 * STRIP_QUIET_MODULES) * STRIP_MODULE_MM
STRIP_HEIGHT_MM = 9.5
"""Length of the bars; above and below them a strip needs no quiet zone."""
SHAPE_STEPS = 24
"""Points per curve of a suit's outline: smooth at 600 dpi."""

Point: TypeAlias = tuple[float, float]
Polygon: TypeAlias = tuple[Point, ...]


@dataclass(frozen=True, kw_only=True)
class Box:
    """A rectangle on the card; y grows downwards. `turned` means printed upside down."""

    left_mm: float
    top_mm: float
    width_mm: float
    height_mm: float
    turned: bool = False
    vertical: bool = False
    """A strip that reads from top to bottom; when `turned`, from bottom to top."""

    @property
    def centre(self) -> Point:
        """Middle of the box in millimetres."""
        return self.left_mm + self.width_mm / 2, self.top_mm + self.height_mm / 2


CODE_BOXES = (
    Box(left_mm=EDGE_MM, top_mm=EDGE_MM, width_mm=CODE_MM, height_mm=CODE_MM),
    Box(
        left_mm=CARD_WIDTH_MM - EDGE_MM - CODE_MM,
        top_mm=CARD_HEIGHT_MM - EDGE_MM - CODE_MM,
        width_mm=CODE_MM,
        height_mm=CODE_MM,
        turned=True,
    ),
)
"""Two copies, so that one finger never hides both; turning the card by 180 degrees swaps them."""

BLANK_BOXES = (
    Box(
        left_mm=CARD_WIDTH_MM - EDGE_MM - CODE_MM,
        top_mm=EDGE_MM,
        width_mm=CODE_MM,
        height_mm=CODE_MM,
    ),
    Box(
        left_mm=EDGE_MM,
        top_mm=CARD_HEIGHT_MM - EDGE_MM - CODE_MM,
        width_mm=CODE_MM,
        height_mm=CODE_MM,
    ),
)
"""The other two corners: nothing is printed there, which tells a face from a back."""

STRIP_BOXES = (
    Box(
        left_mm=EDGE_MM,
        top_mm=(CARD_HEIGHT_MM - STRIP_LENGTH_MM) / 2,
        width_mm=STRIP_HEIGHT_MM,
        height_mm=STRIP_LENGTH_MM,
        vertical=True,
    ),
    Box(
        left_mm=CARD_WIDTH_MM - EDGE_MM - STRIP_HEIGHT_MM,
        top_mm=(CARD_HEIGHT_MM - STRIP_LENGTH_MM) / 2,
        width_mm=STRIP_HEIGHT_MM,
        height_mm=STRIP_LENGTH_MM,
        turned=True,
        vertical=True,
    ),
)
"""Along the long sides: the short ones have no room for modules that a camera can tell apart."""

STRIP_BLANK_BOXES = (
    Box(left_mm=14.0, top_mm=EDGE_MM, width_mm=35.0, height_mm=26.0),
    Box(left_mm=14.0, top_mm=CARD_HEIGHT_MM - EDGE_MM - 26.0, width_mm=35.0, height_mm=26.0),
)
"""Between the strips, above and below the rank and suit."""


@unique
class Symbology(StrEnum):
    """The one kind of symbol that the studio prints."""

    QR = "qr"
    CODE128 = "code128"


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where everything sits on a card of one symbology."""

    code_boxes: tuple[Box, Box]
    """Quiet zones included; the second is the first turned by 180 degrees."""
    blank_boxes: tuple[Box, ...]
    """Nothing is printed there: tells a face from a back."""
    module_mm: float
    middle_box: Box
    """Between the codes: for people."""


LAYOUTS: Mapping[Symbology, Layout] = {
    Symbology.QR: Layout(
        code_boxes=CODE_BOXES,
        blank_boxes=BLANK_BOXES,
        module_mm=MODULE_MM,
        middle_box=Box(left_mm=4.0, top_mm=29.0, width_mm=55.0, height_mm=30.0),
    ),
    Symbology.CODE128: Layout(
        code_boxes=STRIP_BOXES,
        blank_boxes=STRIP_BLANK_BOXES,
        module_mm=STRIP_MODULE_MM,
        middle_box=Box(left_mm=14.0, top_mm=29.0, width_mm=35.0, height_mm=30.0),
    ),
}

RANK_BOX = Box(left_mm=14.0, top_mm=32.0, width_mm=17.0, height_mm=24.0)
SUIT_BOX = Box(left_mm=32.0, top_mm=34.0, width_mm=17.0, height_mm=20.0)
TILE_BOXES = (
    Box(left_mm=14.0, top_mm=35.25, width_mm=17.5, height_mm=17.5),
    Box(left_mm=31.5, top_mm=35.25, width_mm=17.5, height_mm=17.5),
)
"""The two halves of a domino, lower pips first."""
PIP_RADIUS = 0.09
"""Of a pip, where the half it lies in has the side 1."""
_PIP_STEP = 0.28
_PIP_PLACES = ("", "e", "ai", "aei", "acgi", "acegi", "acdfgi")
"""By number of pips, the places taken of three rows abc, def, ghi."""


def rank_text(rank: Rank) -> str:
    """What people read on the card: the ten is printed with two figures."""
    return "10" if rank is Rank.TEN else rank.value


def pips(count: int) -> Polygon:
    """Return the centres of the pips of a half, 0 to 6, inside the square from -0.5 to 0.5."""
    places = ("abcdefghi".index(place) for place in _PIP_PLACES[count])
    return tuple(((at % 3 - 1) * _PIP_STEP, (at // 3 - 1) * _PIP_STEP) for at in places)


def is_red(suit: Suit) -> bool:
    """Hearts and diamonds are printed in red."""
    return suit in {Suit.HEARTS, Suit.DIAMONDS}


def _arc(centre: Point, radius: float, *, start_deg: float, end_deg: float) -> Polygon:
    angles = (
        math.radians(start_deg + (end_deg - start_deg) * step / SHAPE_STEPS)
        for step in range(SHAPE_STEPS + 1)
    )
    return tuple(
        (centre[0] + radius * math.cos(angle), centre[1] + radius * math.sin(angle))
        for angle in angles
    )


def _heart() -> Polygon:
    # Two half circles side by side and two slightly bent flanks down to the tip.
    left = _arc((-0.25, -0.2), 0.25, start_deg=140, end_deg=360)
    right = _arc((0.25, -0.2), 0.25, start_deg=180, end_deg=400)
    return (*left, *right, (0.0, 0.5))


def _stem() -> Polygon:
    return ((-0.04, 0.05), (0.04, 0.05), (0.07, 0.35), (0.2, 0.5), (-0.2, 0.5), (-0.07, 0.35))


def suit_shapes(suit: Suit) -> tuple[Polygon, ...]:
    """Return the filled outlines of a suit inside the square from -0.5 to 0.5, y downwards."""
    if suit is Suit.HEARTS:
        return (_heart(),)
    if suit is Suit.DIAMONDS:
        return (((0.0, -0.5), (0.36, 0.0), (0.0, 0.5), (-0.36, 0.0)),)
    if suit is Suit.SPADES:
        leaf = tuple((x * 0.96, -y * 0.85 - 0.07) for x, y in _heart())
        return (leaf, _stem())
    leaves = ((0.0, -0.27), (-0.25, 0.08), (0.25, 0.08))
    return (*(_arc(leaf, 0.22, start_deg=0, end_deg=360) for leaf in leaves), leaves, _stem())
