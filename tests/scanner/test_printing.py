"""Printed sheets: every symbol is decoded back from the rendered PDF."""

import shutil
import subprocess

import cv2
import numpy as np
import pytest
import zxingcpp
from pyzbar import pyzbar

from scanner.badges import blank_badges
from scanner.codebook import Codebook
from scanner.decode import Reader, load_decoders
from scanner.layout import CARD_HEIGHT_MM, CARD_WIDTH_MM, LAYOUTS, Symbology
from scanner.printing import (
    TEST_CARDS,
    badge_sheets,
    card_manifest,
    card_sheets,
    piece_codes,
    tile_manifest,
    tile_sheets,
    write_test_cards,
)
from scanner.sheets import FACES_PER_PAGE, place_of
from scanner.symbol import TEST_DIGITS
from studio.domain.cards import ALL_CARDS, ALL_TILES, parse_code
from studio.domain.errors import MalformedError
from tests.conftest import absent

DECK_SET = 12
FELT = (42, 92, 34)
FELT_MM = 25
KINDS = {
    Symbology.QR: (zxingcpp.BarcodeFormat.QRCode, pyzbar.ZBarSymbol.QRCODE),
    Symbology.CODE128: (zxingcpp.BarcodeFormat.Code128, pyzbar.ZBarSymbol.CODE128),
}


def pages_of(pdf, *, dpi, first=1, last=99):
    """Render a PDF as a printer would and return its pages."""
    if shutil.which("pdftoppm") is None:
        absent("pdftoppm (package poppler-utils)")
    out = pdf.with_name(f"{pdf.stem}-{dpi}")
    span = ["-f", str(first), "-l", str(last)]
    subprocess.run(
        ["pdftoppm", "-r", str(dpi), "-gray", *span, str(pdf), str(out)], check=True, timeout=60
    )
    return [cv2.imread(str(page), 0) for page in sorted(out.parent.glob(f"{out.name}-*.pgm"))]


def places(pages, count, *, dpi):
    """Cut the sheets along their cut marks."""
    pixels = dpi / 25.4
    for index in range(count):
        page, left_mm, top_mm = place_of(index)
        top, left = round(top_mm * pixels), round(left_mm * pixels)
        height, width = int(CARD_HEIGHT_MM * pixels), int(CARD_WIDTH_MM * pixels)
        yield pages[page][top : top + height, left : left + width]


def copies(card, *, symbology, dpi):
    """Cut both codes out of a card, one at a time: zbar tells the same strip only once."""
    pixels = dpi / 25.4
    for box in LAYOUTS[symbology].code_boxes:
        left, top = int((box.left_mm - 1) * pixels), int((box.top_mm - 1) * pixels)
        right = int((box.left_mm + box.width_mm + 1) * pixels)
        bottom = int((box.top_mm + box.height_mm + 1) * pixels)
        yield np.ascontiguousarray(card[top:bottom, left:right])


def on_felt(card, *, dpi):
    """Lay a cut card on a green table."""
    margin = round(FELT_MM * dpi / 25.4)
    colour = cv2.cvtColor(card, cv2.COLOR_GRAY2BGR)
    laid = cv2.copyMakeBorder(colour, *[margin] * 4, cv2.BORDER_CONSTANT, value=FELT)
    return cv2.GaussianBlur(laid, (0, 0), 0.7)


def need_every_symbol(pages, expected, *, dpi, symbology):
    """Both copies of every face are read by each library alone, and the face by our own reader."""
    zxing_format, zbar_symbol = KINDS[symbology]
    reader = Reader(load_decoders(symbology), symbology=symbology, budget_s=5)
    cut = list(places(pages, len(expected), dpi=dpi))
    assert len(cut) == len(expected)
    for card, digits in zip(cut, expected, strict=True):
        for copy in copies(card, symbology=symbology, dpi=dpi):
            zxing = [code.text for code in zxingcpp.read_barcodes(copy, formats=zxing_format)]
            zbar = [code.data.decode() for code in pyzbar.decode(copy, symbols=[zbar_symbol])]
            assert (zxing, zbar) == ([digits], [digits])
        sighting = reader.look(on_felt(card, dpi=dpi))
        assert sighting.cards_in_view == 1
        # A decoder alone may misread a strip; such a text fails its check digits.
        texts = {reading.text for reading in sighting.readings}
        assert {text for text in texts if int(text) % 97 == 1} == {digits}


def digits_of(pieces, decks=1):
    return [code.digits for code in piece_codes(pieces, deck_set=DECK_SET, decks=decks)]


both_profiles = pytest.mark.parametrize("symbology", Symbology)
both_resolutions = pytest.mark.parametrize("dpi", [150, 300])


@both_resolutions
@both_profiles
def test_every_symbol_of_a_printed_deck_reads(tmp_path, symbology, dpi):
    file = tmp_path / "deck.pdf"
    assert card_sheets(file, deck_set=DECK_SET, decks=1, symbology=symbology) == card_manifest(1)
    pages = pages_of(file, dpi=dpi)
    assert len(pages) == 6
    need_every_symbol(pages, digits_of(ALL_CARDS), dpi=dpi, symbology=symbology)


@both_resolutions
@both_profiles
def test_every_symbol_of_printed_dominoes_reads(tmp_path, symbology, dpi):
    file = tmp_path / "tiles.pdf"
    assert tile_sheets(file, deck_set=DECK_SET, decks=1, symbology=symbology) == tile_manifest(1)
    pages = pages_of(file, dpi=dpi)
    assert len(pages) == 4
    need_every_symbol(pages, digits_of(ALL_TILES), dpi=dpi, symbology=symbology)


@both_resolutions
@both_profiles
def test_every_symbol_of_printed_badges_reads(tmp_path, symbology, dpi):
    file = tmp_path / "badges.pdf"
    badges = blank_badges(10, first=95)
    badge_sheets(file, badges, symbology=symbology)
    expected = [badge.code.digits for badge in badges]
    need_every_symbol(pages_of(file, dpi=dpi), expected, dpi=dpi, symbology=symbology)


@both_resolutions
@both_profiles
def test_every_symbol_of_the_test_cards_reads(tmp_path, symbology, dpi):
    file = tmp_path / "test.pdf"
    write_test_cards(file, symbology=symbology)
    expected = [TEST_DIGITS] * TEST_CARDS
    need_every_symbol(pages_of(file, dpi=dpi), expected, dpi=dpi, symbology=symbology)


@both_profiles
def test_the_last_sheet_of_eight_decks_reads_too(tmp_path, symbology):
    file = tmp_path / "decks.pdf"
    card_sheets(file, deck_set=DECK_SET, decks=8, symbology=symbology)
    pages = pages_of(file, dpi=150, first=47)
    assert len(pages) == 1
    last = digits_of(ALL_CARDS, decks=8)[46 * FACES_PER_PAGE :]
    need_every_symbol(pages, last, dpi=150, symbology=symbology)


def test_the_test_card_is_no_card_of_any_deck_set():
    assert int(TEST_DIGITS) % 97 == 1
    with pytest.raises(MalformedError) as refusal:
        parse_code(TEST_DIGITS)
    assert refusal.value.code == "code_unknown"
    for book in (Codebook(), Codebook(deck_set=DECK_SET, manifest=card_manifest(8))):
        assert not book.look_up(TEST_DIGITS).valid


@pytest.mark.parametrize(
    ("manifest", "faces", "decks"), [(card_manifest, 52, 8), (tile_manifest, 28, 3)]
)
def test_the_manifest_holds_every_piece_of_every_deck_once(manifest, faces, decks):
    assert manifest(1) == {serial: serial for serial in range(1, faces + 1)}
    whole = manifest(decks)
    assert sorted(whole) == list(range(1, faces * decks + 1))
    assert all(list(whole.values()).count(number) == decks for number in range(1, faces + 1))


def test_no_two_pieces_of_a_deck_set_have_the_same_digits():
    digits = digits_of(ALL_CARDS, decks=8) + digits_of(ALL_TILES, decks=8)
    assert len(digits) == len(set(digits)) == 8 * (52 + 28)
    assert all(parse_code(each).digits == each for each in digits)


@both_profiles
def test_the_same_deck_set_prints_the_same_bytes(tmp_path, symbology):
    for name in ("one.pdf", "two.pdf"):
        card_sheets(tmp_path / name, deck_set=3, decks=1, symbology=symbology)
    assert (tmp_path / "one.pdf").read_bytes() == (tmp_path / "two.pdf").read_bytes()


def test_places_never_overlap_and_stay_on_the_sheet():
    spots = [place_of(index) for index in range(FACES_PER_PAGE)]
    assert {page for page, _, _ in spots} == {0}
    assert place_of(FACES_PER_PAGE) == (1, *spots[0][1:])
    lefts, tops = sorted({left for _, left, _ in spots}), sorted({top for _, _, top in spots})
    assert len(lefts) * len(tops) == len(set(spots)) == FACES_PER_PAGE
    assert np.diff(lefts) == pytest.approx(CARD_WIDTH_MM)
    assert np.diff(tops) == pytest.approx(CARD_HEIGHT_MM)
    assert lefts[0] > 4
    assert lefts[-1] + CARD_WIDTH_MM < 206
    assert tops[-1] + CARD_HEIGHT_MM < 293


@pytest.mark.parametrize("sheets", [card_sheets, tile_sheets])
@pytest.mark.parametrize(
    ("deck_set", "decks", "code"),
    [
        (0, 8, "deck_set_out_of_range"),
        (1000, 8, "deck_set_out_of_range"),
        (1, 0, "decks_out_of_range"),
        (1, 9, "decks_out_of_range"),
    ],
)
def test_printing_is_refused(tmp_path, sheets, deck_set, decks, code):
    path = tmp_path / "none.pdf"
    with pytest.raises(MalformedError) as refusal:
        sheets(path, deck_set=deck_set, decks=decks)
    assert refusal.value.code == code
    assert not path.exists()
