"""Blurred symbols, module by module; codes found without a card."""

import cv2
import numpy as np
import pytest

from scanner.drawing import LOOKS, Pose, card_face, felt, lay, seen_through
from scanner.layout import LAYOUTS, Symbology
from scanner.locate import shrink
from scanner.places import count_cards, cut_place, find_codes
from scanner.prepare import as_grey
from scanner.sampling import (
    Symbol,
    square_likeness,
    square_symbol,
    strip_symbol,
    together,
)
from scanner.symbol import code_modules, strip_modules

MODULE_PX = 6
MARGIN = 3


def square_crop(code, blur_px, *, noise=0.0):
    modules = np.pad(np.array(code_modules(code), np.uint8), 4 + MARGIN)
    crop = np.kron(1 - modules, np.ones((MODULE_PX, MODULE_PX), np.uint8)) * 200 + 20
    return dimmed(crop, blur_px, noise=noise)


def strip_crop(code, blur_px, *, noise=0.0):
    modules = np.pad(np.array(strip_modules(code), np.uint8), 10 + MARGIN)
    row = np.repeat(1 - modules, 4)[None, :] * np.uint8(200) + np.uint8(20)
    return dimmed(np.repeat(row, 24, axis=0), blur_px, noise=noise)


def dimmed(crop, blur_px, *, noise):
    rng = np.random.default_rng(1)
    seen = cv2.GaussianBlur(crop, (0, 0), blur_px).astype(np.float32) * 0.4
    return np.clip(seen + rng.normal(0, max(noise, 1e-6), seen.shape), 0, 255).astype(np.uint8)


def square(crop):
    return square_symbol(crop, module_px=MODULE_PX, margin_modules=MARGIN)


@pytest.mark.parametrize("blur_px", [1.0, 2.5, 4.0])
def test_a_blurred_square_gives_its_modules(digits, blur_px):
    symbol = square(square_crop(digits(12), blur_px, noise=2.0))
    black = symbol.darkness > 0.5
    wrong = int((black != np.array(code_modules(digits(12)))).sum())
    assert wrong <= 8, "error correction mends eight of twenty-six code words"


@pytest.mark.parametrize("shift", [(-2.5, 1.0), (2.0, 2.0), (0.5, -2.0)])
def test_a_square_is_found_where_the_outline_was_not_exact(digits, shift):
    crop = square_crop(digits(3), 2.0)
    moved = np.float32([[1, 0, shift[0] * MODULE_PX], [0, 1, shift[1] * MODULE_PX]])
    size = (crop.shape[1], crop.shape[0])
    crop = cv2.warpAffine(crop, moved, size, borderMode=cv2.BORDER_REPLICATE)
    assert np.array_equal(square(crop).darkness > 0.5, np.array(code_modules(digits(3))))


@pytest.mark.parametrize("blur_px", [1.0, 3.0])
def test_a_blurred_strip_gives_its_modules(digits, blur_px):
    crop = strip_crop(digits(12), blur_px, noise=3.0)
    symbol = strip_symbol(crop, module_px=4, margin_modules=MARGIN)
    assert tuple(symbol.darkness[0] > 0.5) == strip_modules(digits(12))


@pytest.mark.parametrize("level", [0, 127, 255])
def test_an_even_grey_holds_no_symbol(level):
    crop = np.full((220, 220), level, np.uint8)
    assert square(crop) is None
    assert strip_symbol(crop[:20], module_px=4, margin_modules=MARGIN) is None


def test_a_place_too_small_for_a_symbol_holds_none():
    assert square(np.zeros((40, 40), np.uint8)) is None
    assert strip_symbol(np.zeros((4, 40), np.uint8), module_px=4, margin_modules=MARGIN) is None


def test_the_right_way_up_is_the_most_alike(digits):
    crop = square_crop(digits(7), 2.0)
    alike = [
        square_likeness(
            np.ascontiguousarray(np.rot90(crop, turn)), module_px=MODULE_PX, margin_modules=MARGIN
        )
        for turn in range(4)
    ]
    assert alike.index(max(alike)) == 0


def test_two_copies_together_outvote_a_stain(digits):
    right = np.array(code_modules(digits(5))).astype(float)
    stained = right.copy()
    stained[10:14, 10:14] = 0.55
    both = together([Symbol(darkness=right), Symbol(darkness=stained)])
    assert np.array_equal(both.darkness > 0.5, right > 0.5)


@pytest.mark.parametrize("symbology", Symbology)
@pytest.mark.parametrize("angle", [0, 37, 90, 200])
def test_codes_are_found_without_the_card(digits, symbology, angle):
    rng = np.random.default_rng(angle)
    pose = Pose(centre_x=600, centre_y=350, width_px=260, angle_deg=angle)
    table = felt(rng, width=1280, height=720, colour=(226, 228, 228))
    scene = lay(table, card_face(digits(9), symbology=symbology), pose=pose)
    frame = as_grey(seen_through(scene, LOOKS[0], rng=rng))
    places = find_codes(shrink(frame), symbology, scale=3)
    scale = 260 / 63
    cos, sin = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
    for box in LAYOUTS[symbology].code_boxes:
        x, y = ((at - middle) * scale for at, middle in zip(box.centre, (31.5, 44), strict=True))
        centre = (600 + x * cos - y * sin, 350 + x * sin + y * cos)
        assert any(np.hypot(*(place.mean(axis=0) - centre)) < 12 for place in places)


def test_an_empty_table_has_no_place_for_a_code():
    table = felt(np.random.default_rng(1), width=1280, height=720)
    assert find_codes(shrink(as_grey(table)), Symbology.QR, scale=3) == ()


def test_a_place_is_cut_with_its_margins():
    image = np.zeros((400, 400), np.uint8)
    image[100:310, 100:310] = 255
    corners = np.float32([[100, 100], [310, 100], [310, 310], [100, 310]])
    crop = cut_place(image, corners, size=(21, 21), margins=(4, 2), module_px=4)
    assert crop.shape == ((21 + 4) * 4, (21 + 8) * 4)
    assert crop[crop.shape[0] // 2, crop.shape[1] // 2] == 255
    assert crop[0, 0] == 0


def code_at(x, y, *, turned=False):
    corners = np.float32([[x, y], [x + 40, y], [x + 40, y + 40], [x, y + 40]])
    return np.roll(corners, 2, axis=0) if turned else corners


def test_the_two_codes_of_a_card_are_one_card():
    apart = (34 / 17.38 * 40, 59 / 17.38 * 40)
    pair = [code_at(100, 100), code_at(100 + apart[0], 100 + apart[1], turned=True)]
    assert count_cards(pair, Symbology.QR) == 1
    assert count_cards([*pair, code_at(700, 100)], Symbology.QR) == 2


def test_codes_that_can_not_be_on_one_card_are_two_cards():
    assert count_cards([code_at(100, 100), code_at(600, 100, turned=True)], Symbology.QR) == 2
    assert count_cards([code_at(100, 100), code_at(178, 236)], Symbology.QR) == 2
    assert count_cards([], Symbology.QR) == 0
