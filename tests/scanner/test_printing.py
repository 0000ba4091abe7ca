"""Printed sheets: every symbol drawn is decoded back."""

import base64
import re
import shutil
import subprocess
import zlib
from itertools import pairwise

import cv2
import numpy as np
import pytest
import zxingcpp

from scanner.layout import CARD_HEIGHT_MM, CARD_WIDTH_MM
from scanner.printing import CARDS_PER_PAGE, card_manifest, card_sheets, sheet_cards
from studio.domain.cards import card_code
from studio.domain.errors import MalformedError

DECK_SET = 12
DOTS_PER_POINT = 150 / 72
PAGE_POINTS = (595.2756, 841.8898)


def page_contents(pdf: bytes) -> list[str]:
    """Return the drawing operations of each page, in order."""
    streams = re.findall(rb"stream\r?\n(.*?)~>\s*endstream", pdf, re.DOTALL)
    return [zlib.decompress(base64.a85decode(stream)).decode("latin-1") for stream in streams]


def draw_rectangles(content: str) -> np.ndarray:
    """Fill the page's rectangles at 150 dpi; nothing else on the sheet is a rectangle."""
    width, height = (round(side * DOTS_PER_POINT) for side in PAGE_POINTS)
    page = np.full((height, width), 255, np.uint8)
    matrix, stack, numbers = np.eye(3), [], []
    for token in content.split():
        if re.fullmatch(r"-?[\d.]+", token):
            numbers.append(float(token))
            continue
        if token == "q":
            stack.append(matrix)
        elif token == "Q":
            matrix = stack.pop()
        elif token == "cm":
            a, b, c, d, e, f = numbers[-6:]
            matrix = np.array([[a, b, 0], [c, d, 0], [e, f, 1]]) @ matrix
        elif token == "re":
            x, y, w, h = numbers[-4:]
            ends = np.array([[x, y, 1], [x + w, y + h, 1]]) @ matrix
            ends[:, 1] = PAGE_POINTS[1] - ends[:, 1]
            (left, top), (right, bottom) = (
                np.round(side * DOTS_PER_POINT).astype(int)
                for side in (ends[:, :2].min(axis=0), ends[:, :2].max(axis=0))
            )
            page[top:bottom, left:right] = 0
        numbers = []
    return page


def decode(page: np.ndarray) -> list[str]:
    codes = zxingcpp.read_barcodes(page, formats=zxingcpp.BarcodeFormat.QRCode)
    return sorted(code.text for code in codes)


def expected(page: int, decks: int) -> list[str]:
    """Two copies of every card of a page."""
    return sorted(
        card_code(sheet.card, deck_set=DECK_SET, serial=sheet.serial).digits
        for sheet in sheet_cards(decks)
        if sheet.page == page
        for _ in range(2)
    )


@pytest.fixture(scope="module")
def deck_pdf(tmp_path_factory):
    path = tmp_path_factory.mktemp("sheets") / "deck.pdf"
    manifest = card_sheets(path, deck_set=DECK_SET, decks=1)
    return path, manifest


def test_every_symbol_of_a_printed_deck_decodes_at_150_dpi(deck_pdf):
    contents = page_contents(deck_pdf[0].read_bytes())
    assert len(contents) == 6
    for page, content in enumerate(contents):
        assert decode(draw_rectangles(content)) == expected(page, 1)


@pytest.mark.skipif(shutil.which("pdftoppm") is None, reason="an extra for machines with poppler")
@pytest.mark.parametrize("dpi", [150, 300])
def test_another_renderer_shows_the_same_symbols(deck_pdf, tmp_path, dpi):
    subprocess.run(
        ["pdftoppm", "-r", str(dpi), "-gray", "-png", str(deck_pdf[0]), str(tmp_path / "page")],
        check=True,
        timeout=60,
    )
    pages = sorted(tmp_path.glob("page*.png"))
    assert len(pages) == 6
    for page, path in enumerate(pages):
        assert decode(cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)) == expected(page, 1)


def test_the_manifest_holds_every_card_of_every_deck_once(deck_pdf):
    assert deck_pdf[1] == {serial: serial for serial in range(1, 53)}
    eight = card_manifest(8)
    assert sorted(eight) == list(range(1, 417))
    assert all(list(eight.values()).count(number) == 8 for number in range(1, 53))


def test_the_same_deck_set_prints_the_same_bytes(tmp_path):
    for name in ("one.pdf", "two.pdf"):
        card_sheets(tmp_path / name, deck_set=3, decks=1)
    assert (tmp_path / "one.pdf").read_bytes() == (tmp_path / "two.pdf").read_bytes()


def test_cards_never_overlap_and_stay_on_the_sheet():
    places = [(sheet.left_mm, sheet.top_mm) for sheet in sheet_cards(1) if sheet.page == 0]
    assert len(places) == len(set(places)) == CARDS_PER_PAGE
    lefts = sorted({left for left, _ in places})
    tops = sorted({top for _, top in places})
    assert all(b - a == pytest.approx(CARD_WIDTH_MM) for a, b in pairwise(lefts))
    assert all(b - a == pytest.approx(CARD_HEIGHT_MM) for a, b in pairwise(tops))
    assert lefts[0] > 4
    assert lefts[-1] + CARD_WIDTH_MM < 206
    assert tops[-1] + CARD_HEIGHT_MM < 293


@pytest.mark.parametrize(
    ("deck_set", "decks", "code"),
    [
        (0, 8, "deck_set_out_of_range"),
        (1000, 8, "deck_set_out_of_range"),
        (1, 0, "decks_out_of_range"),
        (1, 9, "decks_out_of_range"),
    ],
)
def test_printing_is_refused(tmp_path, deck_set, decks, code):
    path = tmp_path / "none.pdf"
    with pytest.raises(MalformedError) as refusal:
        card_sheets(path, deck_set=deck_set, decks=decks)
    assert refusal.value.code == code
    assert not path.exists()
