"""Sheets to print and cut, as PDF on A4: nine places of a card's size, cut marks and a foot line.

What is drawn in a place is the caller's business; here it gets a pen that measures in millimetres
from the place's top left corner.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias

from reportlab.lib.colors import Color
from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from scanner.layout import CARD_HEIGHT_MM, CARD_WIDTH_MM, Point

COLUMNS = 3
ROWS = 3
FACES_PER_PAGE = COLUMNS * ROWS
CUT_MARK_MM = 4.0
CUT_MARK_GAP_MM = 1.5
FOOT_MM = 5.0
"""From the sheet's lower edge to the foot line."""
PAGE_WIDTH_PT, PAGE_HEIGHT_PT = A4
LEFT_MM = (PAGE_WIDTH_PT / mm - COLUMNS * CARD_WIDTH_MM) / 2
TOP_MM = (PAGE_HEIGHT_PT / mm - ROWS * CARD_HEIGHT_MM) / 2
BLACK = Color(0, 0, 0)
RED = Color(0.78, 0.05, 0.09)
GREY = Color(0.55, 0.55, 0.55)
BOLD = "Helvetica-Bold"
PLAIN = "Helvetica"
CAPITAL_SHARE = 0.72
"""Height of Helvetica's capitals and figures through the size of the letters."""
JAPANESE_FILE = Path(__file__).with_name("fonts") / "biz-udpgothic-400.ttf"

Rectangle: TypeAlias = tuple[float, float, float, float]
"""Left, top, width, height."""


@cache
def _japanese() -> TTFont:
    font = TTFont("BIZ UDPGothic", str(JAPANESE_FILE))
    pdfmetrics.registerFont(font)
    return font


def japanese_font() -> str:
    """Return the name of the font that holds Japanese and Latin names."""
    return str(_japanese().fontName)


def japanese_lacks(text: str) -> str:
    """Return the letters of a text that this font does not hold, each once."""
    held = _japanese().face.charToGlyph
    return "".join(letter for letter in dict.fromkeys(text) if ord(letter) not in held)


class Pen:
    """Draws on a sheet in millimetres from a corner; y grows downwards."""

    def __init__(self, canvas: Canvas, *, left_mm: float, top_mm: float) -> None:
        """Put the corner somewhere on the sheet."""
        self._canvas = canvas
        self._left_mm = left_mm
        self._top_mm = top_mm

    def _at(self, point: Point) -> Point:
        return (self._left_mm + point[0]) * mm, PAGE_HEIGHT_PT - (self._top_mm + point[1]) * mm

    def rectangles(self, rectangles: Iterable[Rectangle], *, ink: Color = BLACK) -> None:
        """Fill rectangles as one path: separate ones show hair lines where they touch."""
        path = self._canvas.beginPath()
        for left, top, width, height in rectangles:
            x, y = self._at((left, top + height))
            path.rect(x, y, width * mm, height * mm)
        self._canvas.setFillColor(ink)
        self._canvas.drawPath(path, stroke=0, fill=1)

    def polygon(self, points: Sequence[Point], *, ink: Color = BLACK) -> None:
        """Fill a polygon."""
        path = self._canvas.beginPath()
        path.moveTo(*self._at(points[0]))
        for point in points[1:]:
            path.lineTo(*self._at(point))
        path.close()
        self._canvas.setFillColor(ink)
        self._canvas.drawPath(path, stroke=0, fill=1)

    def disc(self, centre: Point, radius_mm: float) -> None:
        """Fill a circle."""
        self._canvas.setFillColor(BLACK)
        self._canvas.circle(*self._at(centre), radius_mm * mm, stroke=0, fill=1)

    def line(self, start: Point, end: Point, *, width_pt: float = 0.3, ink: Color = GREY) -> None:
        """Draw a line."""
        self._canvas.setStrokeColor(ink)
        self._canvas.setLineWidth(width_pt)
        self._canvas.line(*self._at(start), *self._at(end))

    def text(
        self, text: str, baseline: Point, *, size_pt: float, font: str = PLAIN, ink: Color = BLACK
    ) -> None:
        """Write a line of text whose baseline has its middle here."""
        self._canvas.setFillColor(ink)
        self._canvas.setFont(font, size_pt)
        self._canvas.drawCentredString(*self._at(baseline), text)


Face: TypeAlias = Callable[[Pen], None]
"""Draws what one place of a sheet shows."""


def text_width_mm(text: str, *, size_pt: float, font: str = PLAIN) -> float:
    """Return how long a line of text gets."""
    return pdfmetrics.stringWidth(text, font, size_pt) / mm


def place_of(index: int) -> tuple[int, float, float]:
    """Return page, left and top (millimetres on the sheet) of the n-th face, counted from 0."""
    page, place = divmod(index, FACES_PER_PAGE)
    row, column = divmod(place, COLUMNS)
    return page, LEFT_MM + column * CARD_WIDTH_MM, TOP_MM + row * CARD_HEIGHT_MM


def write_sheets(
    path: Path,
    faces: Sequence[Face],
    *,
    title: str,
    foot: Callable[[int, int], str],
    besides: Face | None = None,
) -> None:
    """Write the faces in order, nine a sheet; the same faces write the same bytes.

    Args:
        path: where the PDF goes.
        faces: what is drawn, place by place; at least one.
        title: the document's title.
        foot: the foot line of a sheet by the first and last face on it, counted from 0.
        besides: drawn on every sheet from its top left corner.

    Raises:
        OSError: the file can't be written.
    """
    canvas = Canvas(str(path), pagesize=A4, invariant=1, pageCompression=1)
    canvas.setTitle(title)
    pages = -(-len(faces) // FACES_PER_PAGE)
    for page in range(pages):
        first = page * FACES_PER_PAGE
        last = min(first + FACES_PER_PAGE, len(faces)) - 1
        for index in range(first, last + 1):
            _, left_mm, top_mm = place_of(index)
            faces[index](Pen(canvas, left_mm=left_mm, top_mm=top_mm))
        sheet = Pen(canvas, left_mm=0, top_mm=0)
        _cut_marks(sheet)
        if besides is not None:
            besides(sheet)
        line = f"{foot(first, last)} - sheet {page + 1} of {pages}"
        middle = (PAGE_WIDTH_PT / mm / 2, PAGE_HEIGHT_PT / mm - FOOT_MM)
        sheet.text(line, middle, size_pt=8)
        canvas.showPage()
    canvas.save()


def _cut_marks(sheet: Pen) -> None:
    bottom_mm = TOP_MM + ROWS * CARD_HEIGHT_MM
    right_mm = LEFT_MM + COLUMNS * CARD_WIDTH_MM
    for column in range(COLUMNS + 1):
        x_mm = LEFT_MM + column * CARD_WIDTH_MM
        for start_mm in (TOP_MM - CUT_MARK_GAP_MM - CUT_MARK_MM, bottom_mm + CUT_MARK_GAP_MM):
            sheet.line((x_mm, start_mm), (x_mm, start_mm + CUT_MARK_MM))
    for row in range(ROWS + 1):
        y_mm = TOP_MM + row * CARD_HEIGHT_MM
        for start_mm in (LEFT_MM - CUT_MARK_GAP_MM - CUT_MARK_MM, right_mm + CUT_MARK_GAP_MM):
            sheet.line((start_mm, y_mm), (start_mm + CUT_MARK_MM, y_mm))
