"""Where everything sits on a printed card, in millimetres from the card's top left corner.

Pure: no drawing library. The printer, the drawn cameras and the decoder all measure with this one
ruler. Source: scanner notes, "The card".
"""

import math
from dataclasses import dataclass
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

RANK_BOX = Box(left_mm=13.0, top_mm=32.0, width_mm=18.0, height_mm=24.0)
SUIT_BOX = Box(left_mm=33.0, top_mm=34.0, width_mm=18.0, height_mm=20.0)


def rank_text(rank: Rank) -> str:
    """What people read on the card: the ten is printed with two figures."""
    return "10" if rank is Rank.TEN else rank.value


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
