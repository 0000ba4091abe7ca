"""Finding codes by themselves, when no card's outline shows: white felt, a hand over the edges.

A printed code is a patch of fine dark marks of a known form, whatever it lies on.
"""

import math

import cv2
import numpy as np
from cv2.typing import MatLike

from scanner.layout import LAYOUTS, QR_MODULES, STRIP_MODULES, Symbology

MARKS_PX = 5
"""Dark marks narrower than this, in the small picture, may belong to a code."""
JOIN_PX = 5
THIN_PX = 7
"""What is thinner is no strip."""
PLACES_MAX = 6
SIDE_MIN_PX = 10
DARKNESS_MIN = 12.0
FILL_MIN = 0.6
"""Share of its enclosing turned rectangle that a code's patch fills."""
SQUARE_MIN = 0.7
"""Short side through long side of a square code, tilt included."""
STRIP_RATIO = (0.08, 0.35)
OPPOSITE_MIN = 0.8
"""Cosine, tilt included, from which two codes count as upside down to each other."""
APART_TOLERANCE = 0.3


def _apart(symbology: Symbology, *, modules: int) -> float:
    """Return the distance of a card's two codes, in lengths of a code."""
    layout = LAYOUTS[symbology]
    (x, y), (other_x, other_y) = (box.centre for box in layout.code_boxes)
    return math.hypot(x - other_x, y - other_y) / (modules * layout.module_mm)


APART = {
    Symbology.QR: _apart(Symbology.QR, modules=QR_MODULES),
    Symbology.CODE128: _apart(Symbology.CODE128, modules=STRIP_MODULES),
}


def find_codes(small: MatLike, symbology: Symbology, *, scale: float) -> tuple[MatLike, ...]:
    """Return the corners of what may be codes, largest first, in pixels of the frame.

    Args:
        small: the small copy of the frame, grey.
        symbology: square codes or strips; a strip's first side is a long one.
        scale: from the small copy to the frame.
    """
    marks = cv2.morphologyEx(small, cv2.MORPH_BLACKHAT, np.ones((MARKS_PX, MARKS_PX), np.uint8))
    level, mask = cv2.threshold(
        cv2.blur(marks, (3, 3)), 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU
    )
    if level < DARKNESS_MIN / 2:
        return ()
    mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((JOIN_PX, JOIN_PX), np.uint8))
    if symbology is Symbology.CODE128:
        # A card's shadow is a thin line that would tie a strip at its edge to the rest.
        mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((THIN_PX, THIN_PX), np.uint8))
    contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    contours = sorted(contours, key=cv2.contourArea, reverse=True)[: PLACES_MAX * 3]
    places = [_place(contour, symbology) for contour in contours]
    return tuple(place * scale for place in places if place is not None)[:PLACES_MAX]


def _place(contour: MatLike, symbology: Symbology) -> MatLike | None:
    box = cv2.minAreaRect(contour)
    short, long = sorted(box[1])
    if long < SIDE_MIN_PX or short <= 0 or cv2.contourArea(contour) < FILL_MIN * short * long:
        return None
    ratio = short / long
    if symbology is Symbology.QR:
        if ratio < SQUARE_MIN:
            return None
    elif not STRIP_RATIO[0] <= ratio <= STRIP_RATIO[1]:
        return None
    corners = cv2.boxPoints(box).astype(np.float32)
    if symbology is Symbology.CODE128:
        first, second = (float(np.hypot(*(corners[n + 1] - corners[n]))) for n in (0, 1))
        corners = corners if first > second else np.roll(corners, -1, axis=0)
    return corners


def count_cards(codes: list[MatLike], symbology: Symbology) -> int:
    """Return how many cards the codes are on: two codes of one card look at each other.

    Args:
        codes: corners of each code, the right way up.
        symbology: says how far apart a card's two codes are.
    """
    left, cards = list(codes), 0
    while left:
        code = left.pop()
        cards += 1
        for index, other in enumerate(left):
            if _on_one_card(code, other, symbology):
                del left[index]
                break
    return cards


def _on_one_card(code: MatLike, other: MatLike, symbology: Symbology) -> bool:
    one, two = code[1] - code[0], other[1] - other[0]
    lengths = float(np.hypot(*one)), float(np.hypot(*two))
    if min(lengths) <= 0 or float(one @ two) > -OPPOSITE_MIN * lengths[0] * lengths[1]:
        return False
    apart = float(np.hypot(*(code.mean(axis=0) - other.mean(axis=0))))
    ratio = apart / (sum(lengths) / 2) / APART[symbology]
    return 1 - APART_TOLERANCE <= ratio <= 1 + APART_TOLERANCE


def cut_place(
    image: MatLike,
    corners: MatLike,
    *,
    size: tuple[int, int],
    margins: tuple[float, float],
    module_px: float,
) -> MatLike:
    """Return a found code straightened, with margins.

    Args:
        image: the grey frame.
        corners: of the code without its quiet zone; the first side becomes the upper one.
        size: width and height in modules.
        margins: modules to show beside and above the code; below zero, to leave out.
        module_px: pixels a module in the answer.
    """
    width, height = size
    beside, above = margins
    code = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    target = (code + np.array(margins, np.float32)) * module_px
    warp = cv2.getPerspectiveTransform(corners.astype(np.float32), target.astype(np.float32))
    whole = (round((width + 2 * beside) * module_px), round((height + 2 * above) * module_px))
    return cv2.warpPerspective(image, warp, whole, borderMode=cv2.BORDER_REPLICATE)
