"""The printed code of a card as black and white modules."""

from typing import Any

import segno

from scanner.layout import QR_MODULES, STRIP_MODULES
from studio.domain.cards import parse_code

TEST_DIGITS = "900000000053"
"""The test card's code: its check digits hold, but no version 9 exists, so no table takes it."""


def _need_printable(digits: str) -> None:
    if digits != TEST_DIGITS:
        parse_code(digits)


def code_modules(digits: str) -> tuple[tuple[bool, ...], ...]:
    """Return the rows of the QR symbol without quiet zone; True is black.

    Always version 1 with error correction H, so that every card has the same module size.

    Raises:
        MalformedError: as `parse_code`; what is neither a studio code nor the test card's is never
            printed.
    """
    _need_printable(digits)
    symbol = segno.make(digits, version=1, error="H", micro=False, boost_error=False)
    rows = tuple(tuple(bool(module) for module in row) for row in symbol.matrix)
    assert len(rows) == QR_MODULES
    return rows


def strip_modules(digits: str) -> tuple[bool, ...]:
    """Return the modules of the Code 128 strip without quiet zone, in reading order; True is black.

    Always set C, two digits a symbol, so that every strip has the same length.

    Raises:
        MalformedError: as `parse_code`; what is neither a studio code nor the test card's is never
            printed.
    """
    # Heavy to load, and a studio that prints QR codes never needs it.
    from reportlab.graphics.barcode.code128 import Code128

    _need_printable(digits)
    strip: Any = Code128(digits)
    strip.validate()
    strip.encode()
    strip.decompose()
    modules: list[bool] = []
    for width in strip.decomposed:
        # A letter is a width, a is one module; capitals are bars, the others gaps.
        modules += [width.isupper()] * (ord(width.lower()) - ord("a") + 1)
    assert len(modules) == STRIP_MODULES
    return tuple(modules)
