"""The two kinds of symbol, module by module."""

import numpy as np
import pytest
import zxingcpp
from pyzbar import pyzbar

from scanner.symbol import code_modules, strip_modules
from studio.domain.cards import ALL_CARDS, card_code
from studio.domain.errors import MalformedError

ALL_DIGITS = [
    card_code(card, deck_set=card.number * 19, serial=card.number * 191).digits
    for card in ALL_CARDS
]


def picture(modules):
    """Return modules as a picture of three pixels a module with a wide quiet zone."""
    ink = np.kron(np.atleast_2d(np.array(modules, np.uint8)), np.ones((3, 3), np.uint8))
    return np.pad(np.where(ink, 0, 255).astype(np.uint8), 40, constant_values=255)


def test_every_qr_symbol_has_21_modules_a_side_and_reads():
    for digits in ALL_DIGITS:
        rows = code_modules(digits)
        assert {len(rows), *map(len, rows)} == {21}
        assert [code.text for code in zxingcpp.read_barcodes(picture(rows))] == [digits]


def test_every_strip_has_101_modules_and_both_decoders_read_it():
    for digits in ALL_DIGITS:
        modules = strip_modules(digits)
        assert len(modules) == 101
        assert (modules[0], modules[-1]) == (True, True)
        strip = picture([modules] * 15)
        assert [(code.text, code.format.name) for code in zxingcpp.read_barcodes(strip)] == [
            (digits, "Code128")
        ]
        assert [(code.data.decode(), code.type) for code in pyzbar.decode(strip)] == [
            (digits, "CODE128")
        ]


def test_a_strip_starts_in_set_c_and_ends_with_the_stop():
    widths = "".join("1" if module else "0" for module in strip_modules(ALL_DIGITS[0]))
    assert widths.startswith("11010011100")
    assert widths.endswith("1100011101011")


@pytest.mark.parametrize("modules", [code_modules, strip_modules])
@pytest.mark.parametrize("text", ["", "HELLO", "101019019141", "990010001234"])
def test_what_is_no_studio_code_is_never_printed(modules, text):
    with pytest.raises(MalformedError):
        modules(text)
