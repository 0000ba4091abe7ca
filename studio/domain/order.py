"""Order that no shuffle leaves: cards that come out as in a new deck, or as in an earlier shoe.

A run of k faces by chance: each further card fits with 1 in 52, so that ten in a row are no
chance. Source: DESIGN section 3; an unshuffled shoe once cost a house 41 hands in a row.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from studio.domain.cards import CARDS_PER_DECK, TILES_PER_SET, Card, parse_piece


def runs(faces: Sequence[str], length: int) -> frozenset[tuple[str, ...]]:
    """Return every run of `length` faces of an earlier shoe."""
    return frozenset(
        tuple(faces[start : start + length]) for start in range(len(faces) - length + 1)
    )


def repeated(
    faces: Sequence[str], *, length: int, earlier: Iterable[frozenset[tuple[str, ...]]]
) -> bool:
    """Return whether the last `length` faces stand as printed, or as in an earlier shoe.

    False when fewer came out, and always for a length below 2.

    >>> repeated(["AS", "2S", "3S", "4S"], length=4, earlier=())
    True
    """
    if length < 2 or len(faces) < length:
        return False
    tail = tuple(faces[-length:])
    return _as_printed(tail) or any(tail in shoe for shoe in earlier)


def _as_printed(tail: tuple[str, ...]) -> bool:
    pieces = [parse_piece(face) for face in tail]
    around = CARDS_PER_DECK if isinstance(pieces[0], Card) else TILES_PER_SET
    steps = {(after.number - before.number) % around for before, after in pairwise(pieces)}
    return steps in ({1}, {around - 1})
