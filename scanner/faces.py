"""What is printed on a card, a domino, a badge and the test card."""

from collections.abc import Iterator

from reportlab.lib.colors import Color

from scanner.layout import (
    LAYOUTS,
    PIP_RADIUS,
    QUIET_MODULES,
    RANK_BOX,
    STRIP_QUIET_MODULES,
    SUIT_BOX,
    TILE_BOXES,
    Box,
    Symbology,
    is_red,
    pips,
    rank_text,
    suit_shapes,
)
from scanner.sheets import (
    BLACK,
    BOLD,
    CAPITAL_SHARE,
    GREY,
    RED,
    Pen,
    Rectangle,
    japanese_font,
    text_width_mm,
)
from scanner.symbol import TEST_DIGITS, code_modules, strip_modules
from studio.domain.cards import Card, PrintedCode, Tile

PT_PER_MM = 72 / 25.4
NAME_PT_MAX = 18.0
NAME_PT_MIN = 6.0
"""A name that is longer than its line at this size is not printed."""
TILE_LINE_PT = 0.8


def printed_face(pen: Pen, code: PrintedCode, symbology: Symbology) -> None:
    """Draw a card or domino: its code twice, and between them what people read."""
    draw_codes(pen, code.digits, symbology)
    match code.piece:
        case Card() as card:
            _draw_card(pen, card)
        case Tile() as tile:
            _draw_tile(pen, tile)


def draw_codes(pen: Pen, digits: str, symbology: Symbology) -> None:
    """Draw both copies of a code."""
    for box in LAYOUTS[symbology].code_boxes:
        rectangles = _strip(digits, box) if box.vertical else _square(digits, box)
        if box.turned:
            middle_x, middle_y = box.centre
            rectangles = (
                (2 * middle_x - left - width, 2 * middle_y - top - height, width, height)
                for left, top, width, height in rectangles
            )
        pen.rectangles(rectangles)


def _square(digits: str, box: Box) -> Iterator[Rectangle]:
    module = LAYOUTS[Symbology.QR].module_mm
    for index, row in enumerate(code_modules(digits), QUIET_MODULES):
        for start, length in _runs(row):
            left = box.left_mm + (QUIET_MODULES + start) * module
            yield left, box.top_mm + index * module, length * module, module


def _strip(digits: str, box: Box) -> Iterator[Rectangle]:
    module = LAYOUTS[Symbology.CODE128].module_mm
    for start, length in _runs(strip_modules(digits)):
        top = box.top_mm + (STRIP_QUIET_MODULES + start) * module
        yield box.left_mm, top, box.width_mm, length * module


def _runs(row: tuple[bool, ...]) -> Iterator[tuple[int, int]]:
    """Yield start and length of each run of black modules."""
    start: int | None = None
    for index, black in enumerate((*row, False)):
        if black and start is None:
            start = index
        elif not black and start is not None:
            yield start, index - start
            start = None


def _draw_card(pen: Pen, card: Card) -> None:
    ink = RED if is_red(card.suit) else BLACK
    centre_x, centre_y = RANK_BOX.centre
    text, height = rank_text(card.rank), RANK_BOX.height_mm
    width = text_width_mm(text, size_pt=height * PT_PER_MM, font=BOLD)
    height *= min(1.0, RANK_BOX.width_mm / width)
    baseline = (centre_x, centre_y + height * CAPITAL_SHARE / 2)
    pen.text(text, baseline, size_pt=height * PT_PER_MM, font=BOLD, ink=ink)
    centre_x, centre_y = SUIT_BOX.centre
    for polygon in suit_shapes(card.suit):
        points = [
            (centre_x + x * SUIT_BOX.width_mm, centre_y + y * SUIT_BOX.height_mm)
            for x, y in polygon
        ]
        pen.polygon(points, ink=ink)


def _draw_tile(pen: Pen, tile: Tile) -> None:
    for half, count in zip(TILE_BOXES, (tile.low, tile.high), strict=True):
        _frame(pen, half, width_pt=TILE_LINE_PT)
        side = half.width_mm
        for x, y in pips(count):
            pen.disc((half.centre[0] + x * side, half.centre[1] + y * side), PIP_RADIUS * side)


def _frame(pen: Pen, box: Box, *, width_pt: float, ink: Color = BLACK) -> None:
    right, bottom = box.left_mm + box.width_mm, box.top_mm + box.height_mm
    corners = [
        (box.left_mm, box.top_mm),
        (right, box.top_mm),
        (right, bottom),
        (box.left_mm, bottom),
    ]
    for start, end in zip(corners, (*corners[1:], corners[0]), strict=True):
        pen.line(start, end, width_pt=width_pt, ink=ink)


# Badges -----------------------------------------------------------------------------------------


def name_lines(name: str, symbology: Symbology) -> tuple[tuple[str, ...], float] | None:
    """Return how a name is set, as its lines and the size in points; None when it is too long.

    One line if it stays readable, else two, broken at a blank.
    """
    words = name.split()
    settings: list[tuple[str, ...]] = [(" ".join(words),)]
    settings += [(" ".join(words[:at]), " ".join(words[at:])) for at in range(1, len(words))]
    room = LAYOUTS[symbology].middle_box.width_mm
    widths = (
        max(text_width_mm(line, size_pt=1, font=japanese_font()) for line in lines)
        for lines in settings
    )
    size_pt, lines = max(
        (min(NAME_PT_MAX, room / max(width, 1e-6)), lines)
        for width, lines in zip(widths, settings, strict=True)
    )
    return (lines, size_pt) if size_pt >= NAME_PT_MIN else None


def badge_face(pen: Pen, code: PrintedCode, *, name: str | None, symbology: Symbology) -> None:
    """Draw a staff badge: its code twice, the name or a line for it, the digits to key in."""
    draw_codes(pen, code.digits, symbology)
    box = LAYOUTS[symbology].middle_box
    middle, top = box.centre[0], box.top_mm
    if name is None:
        ends = ((box.left_mm + 2, top + 13), (box.left_mm + box.width_mm - 2, top + 13))
        pen.line(*ends, width_pt=0.6)
    else:
        set_name = name_lines(name, symbology)
        assert set_name is not None, "names are checked before they are printed"
        lines, size_pt = set_name
        step = size_pt / PT_PER_MM * 1.25
        baseline = top + 12 - (len(lines) - 1) * step / 2
        for index, line in enumerate(lines):
            at = (middle, baseline + index * step)
            pen.text(line, at, size_pt=size_pt, font=japanese_font())
    pen.text("Staff badge", (middle, top + 23), size_pt=8, ink=GREY)
    pen.text(code.digits, (middle, top + 28), size_pt=11, font=BOLD)


# The test card ----------------------------------------------------------------------------------

GREY_STEPS = 7
LINES_MM = (0.4, 0.6, 0.83, 1.2)
"""Widths of the ruler's bars: what a camera shows as even grey, it can't read."""
BARS = 5


def face_of_test_card(pen: Pen, symbology: Symbology) -> None:
    """Draw the test card: code copies that are no card's, grey steps, edges and a ruler of bars."""
    draw_codes(pen, TEST_DIGITS, symbology)
    left, top = LAYOUTS[Symbology.CODE128].middle_box.left_mm, 30.0
    for step in range(GREY_STEPS):
        level = step / (GREY_STEPS - 1)
        pen.rectangles([(left + step * 5, top, 5, 5)], ink=Color(level, level, level))
    _frame(
        pen,
        Box(left_mm=left, top_mm=top, width_mm=GREY_STEPS * 5, height_mm=5),
        width_pt=0.3,
        ink=GREY,
    )
    for row, width in enumerate(LINES_MM):
        y = top + 7.5 + row * 4.5
        pen.rectangles((left + 9 + bar * 2 * width, y, width, 3.2) for bar in range(BARS))
        pen.text(f"{width:g} mm", (left + 4, y + 2.3), size_pt=6)
    # Edges a little off the axes: a sharp picture has no grey along them.
    slanted = [(left + 24, top + 9), (left + 33.5, top + 8), (left + 34.5, top + 17.5)]
    pen.polygon([*slanted, (left + 25, top + 18.5)])
    pen.text("Test card", (left + 29.5, top + 23), size_pt=7, font=BOLD)
    pen.text("no card of any shoe", (left + 27, top + 26.5), size_pt=5)
