"""Sheets of cards to print and cut, as PDF on A4."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reportlab.lib.colors import Color
from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from scanner.layout import (
    CARD_HEIGHT_MM,
    CARD_WIDTH_MM,
    CODE_BOXES,
    MODULE_MM,
    QUIET_MODULES,
    RANK_BOX,
    SUIT_BOX,
    Box,
    is_red,
    rank_text,
    suit_shapes,
)
from scanner.symbol import code_modules
from studio.domain.cards import ALL_CARDS, CARDS_PER_DECK, DECK_SET_MAX, Card, card_code
from studio.domain.errors import MalformedError

COLUMNS = 3
ROWS = 3
CARDS_PER_PAGE = COLUMNS * ROWS
DECKS_MAX = 8
CUT_MARK_MM = 4.0
CUT_MARK_GAP_MM = 1.5
PAGE_WIDTH_PT, PAGE_HEIGHT_PT = A4
LEFT_MM = (PAGE_WIDTH_PT / mm - COLUMNS * CARD_WIDTH_MM) / 2
TOP_MM = (PAGE_HEIGHT_PT / mm - ROWS * CARD_HEIGHT_MM) / 2
INK_BLACK = Color(0, 0, 0)
INK_RED = Color(0.78, 0.05, 0.09)
INK_CUT = Color(0.55, 0.55, 0.55)


@dataclass(frozen=True, kw_only=True)
class SheetCard:
    """One card of a deck set with its place on the sheets; millimetres from the page's top left."""

    serial: int
    card: Card
    page: int
    left_mm: float
    top_mm: float


def sheet_cards(decks: int) -> Iterator[SheetCard]:
    """Yield every card of a deck set in serial order: deck by deck, each in new-deck order."""
    for index in range(decks * CARDS_PER_DECK):
        page, place = divmod(index, CARDS_PER_PAGE)
        row, column = divmod(place, COLUMNS)
        yield SheetCard(
            serial=index + 1,
            card=ALL_CARDS[index % CARDS_PER_DECK],
            page=page,
            left_mm=LEFT_MM + column * CARD_WIDTH_MM,
            top_mm=TOP_MM + row * CARD_HEIGHT_MM,
        )


def card_manifest(decks: int) -> dict[int, int]:
    """Return the manifest of a deck set: serial to card number (1..52)."""
    return {sheet.serial: sheet.card.number for sheet in sheet_cards(decks)}


def card_sheets(path: Path, *, deck_set: int, decks: int) -> dict[int, int]:
    """Write the sheets of one deck set and return its manifest {serial: card number}.

    The same arguments write the same bytes: a second print can be compared with the first.

    Raises:
        MalformedError: `deck_set_out_of_range`, `decks_out_of_range`.
    """
    if not 1 <= deck_set <= DECK_SET_MAX:
        raise MalformedError(
            "deck_set_out_of_range", f"A deck set's number is 1 to {DECK_SET_MAX}."
        )
    if not 1 <= decks <= DECKS_MAX:
        raise MalformedError("decks_out_of_range", f"A deck set has 1 to {DECKS_MAX} decks.")
    canvas = Canvas(str(path), pagesize=A4, invariant=1, pageCompression=1)
    canvas.setTitle(f"Deck set {deck_set}")
    sheets = tuple(sheet_cards(decks))
    pages = sheets[-1].page + 1
    for page in range(pages):
        on_page = sheets[page * CARDS_PER_PAGE : (page + 1) * CARDS_PER_PAGE]
        for sheet in on_page:
            _draw_card(canvas, sheet, deck_set=deck_set)
        _draw_cut_marks(canvas)
        canvas.setFillColor(INK_BLACK)
        canvas.setFont("Helvetica", 8)
        canvas.drawString(
            (LEFT_MM + CARD_WIDTH_MM / 4) * mm,
            5 * mm,
            f"Deck set {deck_set} - serials {on_page[0].serial} to {on_page[-1].serial} - "
            f"sheet {page + 1} of {pages}",
        )
        canvas.showPage()
    canvas.save()
    return card_manifest(decks)


def _draw_card(canvas: Canvas, sheet: SheetCard, *, deck_set: int) -> None:
    digits = card_code(sheet.card, deck_set=deck_set, serial=sheet.serial).digits
    for box in CODE_BOXES:
        _draw_code(canvas, digits, sheet=sheet, box=box)
    canvas.setFillColor(INK_RED if is_red(sheet.card.suit) else INK_BLACK)
    _draw_rank(canvas, sheet)
    _draw_suit(canvas, sheet)


def _draw_code(canvas: Canvas, digits: str, *, sheet: SheetCard, box: Box) -> None:
    canvas.saveState()
    centre_x, centre_y = box.centre
    canvas.translate(
        (sheet.left_mm + centre_x) * mm, PAGE_HEIGHT_PT - (sheet.top_mm + centre_y) * mm
    )
    if box.turned:
        canvas.rotate(180)
    # One path for the whole symbol: separate rectangles show hair lines where they touch.
    path = canvas.beginPath()
    quiet_mm = QUIET_MODULES * MODULE_MM
    for row_index, row in enumerate(code_modules(digits)):
        top_mm = box.height_mm / 2 - quiet_mm - row_index * MODULE_MM
        for start, length in _runs(row):
            left_mm = -box.width_mm / 2 + quiet_mm + start * MODULE_MM
            path.rect(
                left_mm * mm, (top_mm - MODULE_MM) * mm, length * MODULE_MM * mm, MODULE_MM * mm
            )
    canvas.setFillColor(INK_BLACK)
    canvas.drawPath(path, stroke=0, fill=1)
    canvas.restoreState()


def _runs(row: tuple[bool, ...]) -> Iterator[tuple[int, int]]:
    """Yield start and length of each run of black modules."""
    start: int | None = None
    for index, black in enumerate((*row, False)):
        if black and start is None:
            start = index
        elif not black and start is not None:
            yield start, index - start
            start = None


def _draw_rank(canvas: Canvas, sheet: SheetCard) -> None:
    centre_x, _ = RANK_BOX.centre
    size_pt = RANK_BOX.height_mm * mm
    canvas.setFont("Helvetica-Bold", size_pt)
    text = rank_text(sheet.card.rank)
    scale = min(1.0, RANK_BOX.width_mm * mm / canvas.stringWidth(text, "Helvetica-Bold", size_pt))
    canvas.setFont("Helvetica-Bold", size_pt * scale)
    # Capital letters of Helvetica are 0.72 of the size high.
    baseline_mm = sheet.top_mm + RANK_BOX.centre[1] + RANK_BOX.height_mm * scale * 0.36
    canvas.drawCentredString(
        (sheet.left_mm + centre_x) * mm, PAGE_HEIGHT_PT - baseline_mm * mm, text
    )


def _draw_suit(canvas: Canvas, sheet: SheetCard) -> None:
    centre_x, centre_y = SUIT_BOX.centre
    for polygon in suit_shapes(sheet.card.suit):
        path = canvas.beginPath()
        for index, (x, y) in enumerate(polygon):
            point = (
                (sheet.left_mm + centre_x + x * SUIT_BOX.width_mm) * mm,
                PAGE_HEIGHT_PT - (sheet.top_mm + centre_y + y * SUIT_BOX.height_mm) * mm,
            )
            if index:
                path.lineTo(*point)
            else:
                path.moveTo(*point)
        path.close()
        canvas.drawPath(path, stroke=0, fill=1)


def _draw_cut_marks(canvas: Canvas) -> None:
    canvas.setStrokeColor(INK_CUT)
    canvas.setLineWidth(0.3)
    bottom_mm = TOP_MM + ROWS * CARD_HEIGHT_MM
    right_mm = LEFT_MM + COLUMNS * CARD_WIDTH_MM
    for column in range(COLUMNS + 1):
        x_mm = LEFT_MM + column * CARD_WIDTH_MM
        for start_mm in (TOP_MM - CUT_MARK_GAP_MM - CUT_MARK_MM, bottom_mm + CUT_MARK_GAP_MM):
            _line(canvas, start=(x_mm, start_mm), end=(x_mm, start_mm + CUT_MARK_MM))
    for row in range(ROWS + 1):
        y_mm = TOP_MM + row * CARD_HEIGHT_MM
        for start_mm in (LEFT_MM - CUT_MARK_GAP_MM - CUT_MARK_MM, right_mm + CUT_MARK_GAP_MM):
            _line(canvas, start=(start_mm, y_mm), end=(start_mm + CUT_MARK_MM, y_mm))


def _line(canvas: Canvas, *, start: tuple[float, float], end: tuple[float, float]) -> None:
    canvas.line(
        start[0] * mm, PAGE_HEIGHT_PT - start[1] * mm, end[0] * mm, PAGE_HEIGHT_PT - end[1] * mm
    )
