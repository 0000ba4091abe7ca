"""What can be printed: deck sets of cards or dominoes, staff badges, the test card."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from scanner.badges import Badge
from scanner.faces import badge_face, face_of_test_card, printed_face
from scanner.layout import CARD_HEIGHT_MM, Symbology
from scanner.sheets import BLACK, LEFT_MM, TOP_MM, Pen, write_sheets
from studio.domain.cards import (
    ALL_CARDS,
    ALL_TILES,
    DECK_SET_MAX,
    Card,
    CodeVersion,
    Piece,
    PrintedCode,
)
from studio.domain.errors import MalformedError

DECKS_MAX = 8
TEST_CARDS = 3
"""On one sheet: test cards get lost."""
RULER_MM = 100


def piece_codes(pieces: Sequence[Piece], *, deck_set: int, decks: int) -> Iterator[PrintedCode]:
    """Yield the code of every piece of a deck set in serial order: deck by deck, each as new."""
    for index in range(decks * len(pieces)):
        piece = pieces[index % len(pieces)]
        version = CodeVersion.CARD if isinstance(piece, Card) else CodeVersion.TILE
        yield PrintedCode(version=version, number=piece.number, deck_set=deck_set, serial=index + 1)


def card_manifest(decks: int) -> dict[int, int]:
    """Return the manifest of a deck set of cards: serial to card number (1..52)."""
    return _manifest(piece_codes(ALL_CARDS, deck_set=0, decks=decks))


def tile_manifest(decks: int) -> dict[int, int]:
    """Return the manifest of a deck set of dominoes: serial to tile number (1..28)."""
    return _manifest(piece_codes(ALL_TILES, deck_set=0, decks=decks))


def _manifest(codes: Iterator[PrintedCode]) -> dict[int, int]:
    return {code.serial: code.number for code in codes}


def card_sheets(
    path: Path, *, deck_set: int, decks: int, symbology: Symbology = Symbology.QR
) -> dict[int, int]:
    """Write the sheets of one deck set and return its manifest {serial: card number}.

    The same arguments write the same bytes: a second print can be compared with the first.

    Raises:
        MalformedError: `deck_set_out_of_range`, `decks_out_of_range`.
        OSError: the file can't be written.
    """
    _write_pieces(path, ALL_CARDS, deck_set=deck_set, decks=decks, symbology=symbology)
    return card_manifest(decks)


def tile_sheets(
    path: Path, *, deck_set: int, decks: int, symbology: Symbology = Symbology.QR
) -> dict[int, int]:
    """Write the sheets of a deck set of dominoes and return its manifest {serial: tile number}.

    Raises:
        MalformedError: `deck_set_out_of_range`, `decks_out_of_range`.
        OSError: the file can't be written.
    """
    _write_pieces(path, ALL_TILES, deck_set=deck_set, decks=decks, symbology=symbology)
    return tile_manifest(decks)


def _write_pieces(
    path: Path, pieces: Sequence[Piece], *, deck_set: int, decks: int, symbology: Symbology
) -> None:
    if not 1 <= deck_set <= DECK_SET_MAX:
        raise MalformedError(
            "deck_set_out_of_range", f"A deck set's number is 1 to {DECK_SET_MAX}."
        )
    if not 1 <= decks <= DECKS_MAX:
        raise MalformedError("decks_out_of_range", f"A deck set has 1 to {DECKS_MAX} decks.")
    codes = piece_codes(pieces, deck_set=deck_set, decks=decks)
    write_sheets(
        path,
        [partial(printed_face, code=code, symbology=symbology) for code in codes],
        title=f"Deck set {deck_set}",
        foot=lambda first, last: f"Deck set {deck_set} - serials {first + 1} to {last + 1}",
    )


def badge_sheets(
    path: Path, badges: Sequence[Badge], *, symbology: Symbology = Symbology.QR
) -> None:
    """Write the sheets of some badges.

    Raises:
        OSError: the file can't be written.
    """
    write_sheets(
        path,
        [
            partial(badge_face, code=badge.code, name=badge.name, symbology=symbology)
            for badge in badges
        ],
        title="Staff badges",
        foot=lambda first, last: (
            f"Staff badges - numbers {badges[first].number} to {badges[last].number}"
        ),
    )


def write_test_cards(path: Path, *, symbology: Symbology = Symbology.QR) -> None:
    """Write a sheet with some test cards and a ruler that shows whether the scale is right.

    Raises:
        OSError: the file can't be written.
    """
    write_sheets(
        path,
        [partial(face_of_test_card, symbology=symbology)] * TEST_CARDS,
        title="Test cards",
        foot=lambda _first, _last: "Test cards - no cards of any shoe",
        besides=_ruler,
    )


def _ruler(sheet: Pen) -> None:
    left, top = LEFT_MM + 20, TOP_MM + CARD_HEIGHT_MM + 30
    sheet.line((left, top), (left + RULER_MM, top), width_pt=0.8, ink=BLACK)
    for at in range(0, RULER_MM + 1, 10):
        sheet.line((left + at, top), (left + at, top - 4), width_pt=0.8, ink=BLACK)
    sheet.text(
        f"This line is {RULER_MM} mm long. If yours is not, print again at 100 % (actual size).",
        (left + RULER_MM / 2, top + 8),
        size_pt=9,
    )
