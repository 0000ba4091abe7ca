"""The card's geometry."""

from itertools import combinations

import pytest

from scanner.layout import (
    CARD_HEIGHT_MM,
    CARD_WIDTH_MM,
    CODE_BOXES,
    CODE_MM,
    EDGE_MM,
    LAYOUTS,
    PIP_RADIUS,
    RANK_BOX,
    STRIP_BOXES,
    SUIT_BOX,
    TILE_BOXES,
    Symbology,
    pips,
    rank_text,
    suit_shapes,
)
from studio.domain.cards import Rank, Suit

PRINTED_BOXES = [
    (box, symbology)
    for symbology, layout in LAYOUTS.items()
    for box in (*layout.code_boxes, RANK_BOX, SUIT_BOX)
]


def overlap(one, two):
    return (
        one.left_mm < two.left_mm + two.width_mm
        and two.left_mm < one.left_mm + one.width_mm
        and one.top_mm < two.top_mm + two.height_mm
        and two.top_mm < one.top_mm + one.height_mm
    )


def test_every_symbology_has_a_layout():
    assert set(LAYOUTS) == set(Symbology)


@pytest.mark.parametrize("symbology", Symbology)
def test_the_second_code_is_the_first_turned_by_180_degrees(symbology):
    first, second = LAYOUTS[symbology].code_boxes
    assert first.vertical == second.vertical
    assert (second.turned, first.turned) == (True, False)
    assert second.left_mm == CARD_WIDTH_MM - first.left_mm - first.width_mm
    assert second.top_mm == CARD_HEIGHT_MM - first.top_mm - first.height_mm


def test_codes_have_the_size_and_edge_of_the_notes():
    first = CODE_BOXES[0]
    assert (first.left_mm, first.top_mm) == (EDGE_MM, EDGE_MM) == (2.5, 2.5)
    assert (first.width_mm, first.height_mm) == (CODE_MM, CODE_MM) == (24, 24)


def test_a_strip_is_as_long_as_its_modules_and_lies_along_the_long_side():
    for box in STRIP_BOXES:
        assert box.vertical
        assert box.height_mm == pytest.approx(121 * LAYOUTS[Symbology.CODE128].module_mm) == 72.6
        assert box.width_mm == 9.5
        assert box.top_mm == pytest.approx((CARD_HEIGHT_MM - box.height_mm) / 2)


@pytest.mark.parametrize(
    "box", [box for layout in LAYOUTS.values() for box in (*layout.code_boxes, *layout.blank_boxes)]
)
def test_everything_lies_on_the_card(box):
    assert box.left_mm >= EDGE_MM
    assert box.top_mm >= EDGE_MM
    assert box.left_mm + box.width_mm <= CARD_WIDTH_MM - EDGE_MM
    assert box.top_mm + box.height_mm <= CARD_HEIGHT_MM - EDGE_MM


@pytest.mark.parametrize("symbology", Symbology)
def test_codes_and_the_middle_keep_clear_of_each_other(symbology):
    boxes = (*LAYOUTS[symbology].code_boxes, RANK_BOX, SUIT_BOX)
    assert not any(overlap(one, two) for one, two in combinations(boxes, 2))


@pytest.mark.parametrize(("printed", "symbology"), PRINTED_BOXES)
def test_nothing_is_printed_in_a_blank_place(printed, symbology):
    assert not any(overlap(printed, blank) for blank in LAYOUTS[symbology].blank_boxes)


@pytest.mark.parametrize("suit", Suit)
def test_a_suit_fills_its_square_and_stays_inside(suit):
    points = [point for shape in suit_shapes(suit) for point in shape]
    assert all(-0.5 <= x <= 0.5 and -0.51 <= y <= 0.51 for x, y in points)
    assert max(y for _, y in points) - min(y for _, y in points) > 0.9


def test_the_four_suits_have_four_forms():
    assert len({suit_shapes(suit) for suit in Suit}) == 4


def test_the_ten_is_printed_with_two_figures():
    assert [rank_text(rank) for rank in (Rank.ACE, Rank.NINE, Rank.TEN)] == ["A", "9", "10"]


@pytest.mark.parametrize("count", range(7))
def test_a_half_of_a_domino_has_its_pips_apart_and_inside(count):
    centres = pips(count)
    assert len(set(centres)) == len(centres) == count
    assert all(abs(x) + PIP_RADIUS < 0.5 and abs(y) + PIP_RADIUS < 0.5 for x, y in centres)
    assert sorted(centres) == sorted((-x, -y) for x, y in centres)


def test_the_halves_of_a_domino_touch_and_lie_in_the_middle_of_every_layout():
    low, high = TILE_BOXES
    assert low.left_mm + low.width_mm == high.left_mm
    for layout in LAYOUTS.values():
        middle = layout.middle_box
        assert middle.left_mm <= low.left_mm
        assert high.left_mm + high.width_mm <= middle.left_mm + middle.width_mm
        assert not any(overlap(middle, box) for box in (*layout.code_boxes, *layout.blank_boxes))
