"""Finding cards in a frame: outline, corners, and the way from millimetres to pixels."""

import math
from dataclasses import dataclass

import cv2
import numpy as np
from cv2.typing import MatLike

from scanner.layout import CARD_HEIGHT_MM, CARD_WIDTH_MM, Box

SMALL_WIDTH_PX = 480
"""Cards are looked for in a small copy of the frame: it is faster and swallows noise."""
CARDS_MAX = 4
"""More outlines than this on one frame are not looked at."""
AREA_SHARE_MIN = 0.008
AREA_SHARE_MAX = 0.7
ASPECT_MIN = 0.45
EXTENT_MIN = 0.72
"""Share of the enclosing turned rectangle that a card's outline fills, tilt included."""
SOLIDITY_MIN = 0.88
CONTRAST_MIN = 14.0
"""Grey levels between table and card; below it is one even surface."""
EDGE_PX = 9
"""Width of the two bands along an outline that are compared."""
EDGE_MIN = 7.0
"""Grey levels between them."""
TABLE_STEP_PX = 4
"""Every n-th pixel of the small picture says what colour the table has."""
AMBIGUOUS_ASPECT = 0.86
"""Above it, a tilted card's long side can't be told from its short one."""
SIDE_MIDDLE = (0.15, 0.85)
"""Part of a side used to fit its line: the ends are rounded off."""


@dataclass(frozen=True, kw_only=True)
class Outline:
    """A card's four corners in the frame: clockwise, the first side a short one."""

    corners: MatLike
    aspect: float
    """Short side through long side as seen."""

    @property
    def ambiguous(self) -> bool:
        """The card may lie turned by 90 degrees to what the corners say."""
        return self.aspect > AMBIGUOUS_ASPECT

    def turned(self) -> "Outline":
        """Return the same outline read with its other side as the short one."""
        return Outline(corners=np.roll(self.corners, 1, axis=0), aspect=self.aspect)

    def cut(self, image: MatLike, box: Box, *, pixels_per_mm: float) -> MatLike:
        """Return a box of the card, straightened."""
        left, top = box.left_mm, box.top_mm
        card_mm = np.array(
            [[0, 0], [CARD_WIDTH_MM, 0], [CARD_WIDTH_MM, CARD_HEIGHT_MM], [0, CARD_HEIGHT_MM]],
            np.float32,
        )
        target = (card_mm - np.array([left, top], np.float32)) * pixels_per_mm
        warp = cv2.getPerspectiveTransform(self.corners, target.astype(np.float32))
        size = (round(box.width_mm * pixels_per_mm), round(box.height_mm * pixels_per_mm))
        return cv2.warpPerspective(image, warp, size, borderMode=cv2.BORDER_REPLICATE)


def shrink(image: MatLike) -> MatLike:
    """Return the small copy in which cards are looked for.

    It is a whole number of times smaller, three times as fast as any other; what is left over at
    the right and the bottom is cut off.
    """
    height, width = image.shape[:2]
    times = -(-width // SMALL_WIDTH_PX)
    if times <= 1 or height < times:
        return image
    size = (width // times, height // times)
    whole = image[: size[1] * times, : size[0] * times]
    return cv2.resize(whole, size, interpolation=cv2.INTER_AREA)


@dataclass(frozen=True, kw_only=True)
class Found:
    """What lies on the table."""

    cards: tuple[Outline, ...]
    """Largest first; corners are pixels of the frame."""
    occupied: bool
    """Something lies there, in the form of a card or not: a hand over a card is no empty table."""


def find_cards(image: MatLike, small: MatLike) -> Found:
    """Look for cards in a frame by its small copy."""
    scale = image.shape[1] // small.shape[1]
    shapes: list[MatLike] = []
    outlines: list[Outline] = []
    # A coloured card is not as bright as paper, but differs from the table's own colour.
    for surface in (_paper, _unlike_table):
        found = _shapes(surface(small))
        shapes += found
        outlines = _outlines(found)
        if outlines:
            break
    cards = tuple(
        Outline(corners=(outline.corners * scale).astype(np.float32), aspect=outline.aspect)
        for outline in outlines
    )
    return Found(cards=cards, occupied=bool(shapes))


def _paper(small: MatLike) -> MatLike:
    """White paper is bright in every channel; coloured felt and skin are dark in one."""
    if small.ndim == 2:
        return small
    darkest = small[..., 0]
    for channel in range(1, min(3, small.shape[2])):
        darkest = cv2.min(darkest, small[..., channel])
    return darkest


def _unlike_table(small: MatLike) -> MatLike:
    planes = small[..., None] if small.ndim == 2 else small[..., :3]
    few = planes[::TABLE_STEP_PX, ::TABLE_STEP_PX]
    table = np.median(few.reshape(-1, planes.shape[2]), axis=0)
    away = np.zeros(small.shape[:2], np.uint8)
    for channel, level in enumerate(table):
        plane = np.ascontiguousarray(planes[..., channel])
        away = cv2.max(away, cv2.absdiff(plane, np.full_like(plane, int(level))))
    return away


def _shapes(surface: MatLike) -> list[MatLike]:
    """Return the contours of everything large that stands out, largest first."""
    blurred = cv2.GaussianBlur(surface, (5, 5), 0)
    level, mask = cv2.threshold(blurred, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    bright = cv2.mean(blurred, mask)[0]
    dark = cv2.mean(blurred, cv2.bitwise_not(mask))[0]
    if bright - dark < CONTRAST_MIN or level <= 0:
        return []
    mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((7, 7), np.uint8))
    contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    total = surface.shape[0] * surface.shape[1]
    large = [c for c in contours if AREA_SHARE_MIN <= cv2.contourArea(c) / total <= AREA_SHARE_MAX]
    large.sort(key=cv2.contourArea, reverse=True)
    return [contour for contour in large[:CARDS_MAX] if _has_edge(blurred, contour)]


def _has_edge(surface: MatLike, contour: MatLike) -> bool:
    """Tell a thing, which ends at its edge, from the light of a lamp, which fades."""
    inside = np.zeros(surface.shape[:2], np.uint8)
    cv2.drawContours(inside, [contour], -1, 255, cv2.FILLED)
    kernel = np.ones((EDGE_PX, EDGE_PX), np.uint8)
    within = cv2.subtract(inside, cv2.erode(inside, kernel))
    beyond = cv2.subtract(cv2.dilate(inside, kernel), inside)
    return cv2.mean(surface, within)[0] - cv2.mean(surface, beyond)[0] >= EDGE_MIN


def _outlines(shapes: list[MatLike]) -> list[Outline]:
    found = (_outline(contour) for contour in shapes)
    return [outline for outline in found if outline is not None]


def _outline(contour: MatLike) -> Outline | None:
    """Return the card a contour may be, or None when it has another form."""
    area = cv2.contourArea(contour)
    hull = cv2.convexHull(contour)
    box = cv2.minAreaRect(hull)
    sides = box[1]
    if min(sides) <= 0 or area / (sides[0] * sides[1]) < EXTENT_MIN:
        return None
    if min(sides) / max(sides) < ASPECT_MIN or area / cv2.contourArea(hull) < SOLIDITY_MIN:
        return None
    rough = _rough_corners(hull, box=cv2.boxPoints(box))
    return _ordered(_sharp_corners(contour.reshape(-1, 2).astype(np.float32), rough))


def _rough_corners(hull: MatLike, *, box: MatLike) -> MatLike:
    perimeter = cv2.arcLength(hull, closed=True)
    for tolerance in (0.02, 0.035, 0.05):
        polygon = cv2.approxPolyDP(hull, tolerance * perimeter, closed=True)
        if len(polygon) == 4:
            return polygon.reshape(4, 2).astype(np.float32)
    return box.astype(np.float32)


def _sharp_corners(points: MatLike, rough: MatLike) -> MatLike:
    """Return where the sides' lines meet: printed corners are rounded, fingers bite into sides."""
    lines = []
    for index in range(4):
        start, end = rough[index], rough[(index + 1) % 4]
        side = end - start
        length = float(np.hypot(side[0], side[1]))
        if length < 1:
            return rough
        along = ((points - start) @ side) / length**2
        offset = np.abs((points[:, 0] - start[0]) * side[1] - (points[:, 1] - start[1]) * side[0])
        near = (along > SIDE_MIDDLE[0]) & (along < SIDE_MIDDLE[1]) & (offset < length**2 * 0.06)
        if near.sum() < 5:
            return rough
        fit = cv2.fitLine(points[near], cv2.DIST_HUBER, 0, 0.01, 0.01).ravel()
        lines.append((fit[:2], fit[2:]))
    corners = [_meeting(lines[index - 1], lines[index]) for index in range(4)]
    if any(corner is None for corner in corners):
        return rough
    sharp = np.array(corners, np.float32)
    moved = np.hypot(*(sharp - rough).T).max()
    reach = math.sqrt(abs(cv2.contourArea(rough)))
    return sharp if moved < reach * 0.12 else rough


def _meeting(one: tuple[MatLike, MatLike], two: tuple[MatLike, MatLike]) -> MatLike | None:
    (direction_1, point_1), (direction_2, point_2) = one, two
    cross = float(direction_1[0] * direction_2[1] - direction_1[1] * direction_2[0])
    if abs(cross) < 0.2:
        return None
    gap = point_2 - point_1
    reach = float(gap[0] * direction_2[1] - gap[1] * direction_2[0]) / cross
    meeting: MatLike = point_1 + direction_1 * reach
    return meeting


def _ordered(corners: MatLike) -> Outline:
    """Order the corners clockwise as seen, a short side first."""
    centre = corners.mean(axis=0)
    angles = np.arctan2(corners[:, 1] - centre[1], corners[:, 0] - centre[0])
    corners = corners[np.argsort(angles)]
    lengths = np.hypot(*(np.roll(corners, -1, axis=0) - corners).T)
    first, second = float(lengths[0] + lengths[2]), float(lengths[1] + lengths[3])
    if first > second:
        corners = np.roll(corners, -1, axis=0)
    return Outline(corners=corners, aspect=min(first, second) / max(first, second, 1e-6))
