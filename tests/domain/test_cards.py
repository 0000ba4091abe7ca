"""Cards, tiles, and the twelve digits on them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.domain.cards import (
    ALL_CARDS,
    ALL_TILES,
    Card,
    CodeVersion,
    PrintedCode,
    Rank,
    Suit,
    Tile,
    card_code,
    parse_card,
    parse_code,
    parse_piece,
)
from studio.domain.errors import MalformedError

codes = st.builds(
    PrintedCode,
    version=st.sampled_from([CodeVersion.CARD, CodeVersion.TILE, CodeVersion.BADGE]),
    number=st.integers(1, 28),
    deck_set=st.integers(0, 999),
    serial=st.integers(0, 9999),
)


def test_the_printed_numbers_run_from_spades_to_clubs_and_ace_to_king():
    assert [card.number for card in ALL_CARDS] == list(range(1, 53))
    assert ALL_CARDS[0] == Card(Suit.SPADES, Rank.ACE)
    assert ALL_CARDS[13].code == "AH"
    assert ALL_CARDS[51].code == "KC"


def test_the_tiles_run_from_double_blank_to_double_six():
    assert [tile.number for tile in ALL_TILES] == list(range(1, 29))
    assert (ALL_TILES[0], ALL_TILES[6], ALL_TILES[7], ALL_TILES[27]) == (
        Tile(0, 0),
        Tile(0, 6),
        Tile(1, 1),
        Tile(6, 6),
    )


def test_every_face_is_read_back_from_its_two_characters():
    assert [parse_card(card.code) for card in ALL_CARDS] == list(ALL_CARDS)
    assert [parse_piece(piece.code) for piece in (*ALL_CARDS, *ALL_TILES)] == [
        *ALL_CARDS,
        *ALL_TILES,
    ]


@pytest.mark.parametrize("code", ["", "A", "1S", "10S", "as", "AS ", "77", "SA", "♠A"])
def test_what_is_no_card_is_refused(code):
    with pytest.raises(MalformedError) as fault:
        parse_card(code)
    assert fault.value.code == "unknown_card"


@given(codes)
@settings(deadline=None)
def test_a_printed_code_is_twelve_digits_whose_remainder_is_one(code):
    assert len(code.digits) == 12
    assert int(code.digits) % 97 == 1
    assert parse_code(code.digits) == code


@given(codes, st.integers(0, 11), st.integers(1, 9))
@settings(deadline=None)
def test_one_wrong_digit_is_always_noticed(code, place, change):
    digits = list(code.digits)
    digits[place] = str((int(digits[place]) + change) % 10)
    with pytest.raises(MalformedError):
        parse_code("".join(digits))


@given(codes, st.integers(0, 10))
@settings(deadline=None)
def test_two_neighbours_that_changed_places_are_always_noticed(code, place):
    digits = list(code.digits)
    digits[place : place + 2] = reversed(digits[place : place + 2])
    if "".join(digits) != code.digits:
        with pytest.raises(MalformedError):
            parse_code("".join(digits))


@pytest.mark.parametrize(
    ("digits", "code"),
    [
        ("", "code_format"),
        ("10100100012", "code_format"),
        ("1010010001290", "code_format"),
        ("1010010001 9", "code_format"),
        ("１０１００１０００１２９", "code_format"),
        ("10100100012x", "code_format"),
        ("101001000120", "code_check_digits"),
    ],
)
def test_what_is_no_code_is_refused_without_being_repeated(digits, code):
    with pytest.raises(MalformedError) as fault:
        parse_code(digits)
    assert fault.value.code == code
    assert not digits or digits not in fault.value.message


@pytest.mark.parametrize(
    ("version", "number"), [(0, 1), (4, 1), (9, 1), (1, 0), (1, 53), (2, 0), (2, 29), (3, 0)]
)
def test_a_well_formed_code_that_is_never_printed_is_unknown(version, number):
    body = f"{version}{number:02d}0010001"
    with pytest.raises(MalformedError) as fault:
        parse_code(f"{body}{98 - int(body) * 100 % 97:02d}")
    assert fault.value.code == "code_unknown"


@pytest.mark.parametrize(("version", "number"), [(1, 1), (1, 52), (2, 1), (2, 28), (3, 1), (3, 99)])
def test_the_outermost_printed_numbers_are_known(version, number):
    body = f"{version}{number:02d}0010001"
    assert parse_code(f"{body}{98 - int(body) * 100 % 97:02d}").number == number


def test_a_code_stands_for_a_face_unless_it_is_a_badge():
    assert card_code(ALL_CARDS[9], deck_set=1, serial=7).piece == ALL_CARDS[9]
    tile = PrintedCode(version=CodeVersion.TILE, number=28, deck_set=1, serial=7)
    assert tile.piece == Tile(6, 6)
    badge = PrintedCode(version=CodeVersion.BADGE, number=1, deck_set=1, serial=7)
    with pytest.raises(MalformedError) as fault:
        _ = badge.piece
    assert fault.value.code == "code_has_no_face"
