"""The card's geometry."""

import pytest

from scanner.layout import (
    BLANK_BOXES,
    CARD_HEIGHT_MM,
    CARD_WIDTH_MM,
    CODE_BOXES,
    CODE_MM,
    EDGE_MM,
    RANK_BOX,
    SUIT_BOX,
    rank_text,
    suit_shapes,
)
from studio.domain.cards import Rank, Suit

ALL_BOXES = (*CODE_BOXES, *BLANK_BOXES, RANK_BOX, SUIT_BOX)


def test_the_second_code_is_the_first_turned_by_180_degrees():
    first, second = CODE_BOXES
    assert (second.turned, first.turned) == (True, False)
    assert second.left_mm == CARD_WIDTH_MM - first.left_mm - first.width_mm
    assert second.top_mm == CARD_HEIGHT_MM - first.top_mm - first.height_mm


def test_codes_have_the_size_and_edge_of_the_notes():
    first = CODE_BOXES[0]
    assert (first.left_mm, first.top_mm) == (EDGE_MM, EDGE_MM) == (2.5, 2.5)
    assert (first.width_mm, first.height_mm) == (CODE_MM, CODE_MM) == (24, 24)


@pytest.mark.parametrize("box", ALL_BOXES)
def test_everything_lies_on_the_card(box):
    assert box.left_mm >= 0
    assert box.top_mm >= 0
    assert box.left_mm + box.width_mm <= CARD_WIDTH_MM
    assert box.top_mm + box.height_mm <= CARD_HEIGHT_MM


@pytest.mark.parametrize("middle", [RANK_BOX, SUIT_BOX])
@pytest.mark.parametrize("code", CODE_BOXES)
def test_rank_and_suit_keep_clear_of_the_codes(middle, code):
    assert (
        middle.top_mm >= code.top_mm + code.height_mm
        or middle.top_mm + middle.height_mm <= code.top_mm
    )


@pytest.mark.parametrize("suit", Suit)
def test_a_suit_fills_its_square_and_stays_inside(suit):
    points = [point for shape in suit_shapes(suit) for point in shape]
    assert all(-0.5 <= x <= 0.5 and -0.51 <= y <= 0.51 for x, y in points)
    assert max(y for _, y in points) - min(y for _, y in points) > 0.9


def test_the_four_suits_have_four_forms():
    assert len({suit_shapes(suit) for suit in Suit}) == 4


def test_the_ten_is_printed_with_two_figures():
    assert [rank_text(rank) for rank in (Rank.ACE, Rank.NINE, Rank.TEN)] == ["A", "9", "10"]
