"""The printed code of a card as black and white modules."""

import segno

from scanner.layout import QR_MODULES
from studio.domain.cards import parse_code


def code_modules(digits: str) -> tuple[tuple[bool, ...], ...]:
    """Return the rows of the QR symbol without quiet zone; True is black.

    Always version 1 with error correction H, so that every card has the same module size.

    Raises:
        MalformedError: as `parse_code`; what is not a studio code is never printed.
    """
    parse_code(digits)
    symbol = segno.make(digits, version=1, error="H", micro=False, boost_error=False)
    rows = tuple(tuple(bool(module) for module in row) for row in symbol.matrix)
    assert len(rows) == QR_MODULES
    return rows
