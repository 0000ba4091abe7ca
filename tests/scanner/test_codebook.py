"""From digits to a card, or to the reason why not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scanner.codebook import Codebook, Verdict
from scanner.printing import card_manifest
from studio.domain.cards import CodeVersion, PrintedCode, parse_card

BOOK = Codebook(deck_set=7, manifest=card_manifest(8))


def code(version=CodeVersion.CARD, number=10, deck_set=7, serial=10):
    return PrintedCode(version=version, number=number, deck_set=deck_set, serial=serial).digits


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (code(), Verdict.KNOWN),
        (code(serial=62), Verdict.KNOWN),
        (code(deck_set=8), Verdict.OTHER_DECK_SET),
        (code(version=CodeVersion.TILE), Verdict.OTHER_DECK_SET),
        (code(serial=417), Verdict.UNKNOWN_SERIAL),
        (code(serial=11), Verdict.UNKNOWN_SERIAL),
        (code(version=CodeVersion.BADGE), Verdict.STAFF_BADGE),
        (code(version=CodeVersion.BADGE, deck_set=8), Verdict.STAFF_BADGE),
        (code()[:-1] + str((int(code()[-1]) + 1) % 10), Verdict.UNREADABLE),
        ("", Verdict.UNREADABLE),
        ("  ", Verdict.UNREADABLE),
        (code()[:-1], Verdict.FOREIGN_SYMBOLOGY),
        (code() + "0", Verdict.FOREIGN_SYMBOLOGY),
        ("https://example.org", Verdict.FOREIGN_SYMBOLOGY),
        ("１１００１２０００１０３", Verdict.FOREIGN_SYMBOLOGY),
        ("-10007001003", Verdict.FOREIGN_SYMBOLOGY),
    ],
)
def test_a_text_is_judged(text, verdict):
    assert BOOK.look_up(text).verdict is verdict


def test_a_known_code_names_its_card():
    printed = BOOK.look_up(code()).printed
    assert printed is not None
    assert printed.piece == parse_card("TS")


def test_without_a_deck_set_only_format_and_check_digits_hold():
    book = Codebook()
    assert book.look_up(code(deck_set=999, serial=9999)).verdict is Verdict.KNOWN
    assert book.look_up(code(version=CodeVersion.TILE)).verdict is Verdict.KNOWN
    assert book.look_up(code(version=CodeVersion.BADGE)).verdict is Verdict.STAFF_BADGE
    assert book.look_up(code()[:-2] + "00").verdict is Verdict.UNREADABLE


def test_a_table_of_tiles_knows_tiles_and_no_cards():
    book = Codebook(deck_set=7, manifest={10: 10}, version=CodeVersion.TILE)
    assert book.look_up(code(version=CodeVersion.TILE)).verdict is Verdict.KNOWN
    assert book.look_up(code()).verdict is Verdict.OTHER_DECK_SET


def test_an_empty_manifest_knows_no_card():
    assert Codebook(deck_set=7).look_up(code()).verdict is Verdict.UNKNOWN_SERIAL


@given(st.text(max_size=14))
def test_no_text_is_ever_guessed_into_a_card(text):
    finding = BOOK.look_up(text)
    assert not finding.valid or finding.printed.digits == text


@given(st.integers(1, 416), st.integers(0, 11), st.integers(1, 9))
def test_one_wrong_digit_is_never_a_known_card(serial, place, change):
    right = code(number=card_manifest(8)[serial], serial=serial)
    wrong = right[:place] + str((int(right[place]) + change) % 10) + right[place + 1 :]
    assert BOOK.look_up(right).verdict is Verdict.KNOWN
    assert BOOK.look_up(wrong).verdict is Verdict.UNREADABLE
