"""Staff badges: whose they are, and the numbers on them.

A badge's twelve digits are what a badge reader types at the station and what the administration
page keeps with the person. Version 3, kind 01, no deck set, and the badge's own number as serial.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scanner.faces import name_lines
from scanner.layout import Symbology
from scanner.sheets import japanese_lacks
from studio.domain.cards import SERIAL_MAX, CodeVersion, PrintedCode
from studio.domain.errors import MalformedError

STAFF = 1
"""The only kind of badge so far."""
BADGES_MAX = 900
"""A hundred sheets at once."""
HEADER = "name"


@dataclass(frozen=True, kw_only=True)
class Badge:
    """One badge to print; without a name a line is left for it."""

    number: int
    name: str | None = None

    @property
    def code(self) -> PrintedCode:
        """What is printed on it."""
        return PrintedCode(version=CodeVersion.BADGE, number=STAFF, deck_set=0, serial=self.number)


def blank_badges(count: int, *, first: int) -> tuple[Badge, ...]:
    """Return badges without a name, numbered on from `first`.

    Raises:
        MalformedError: `badges_out_of_range`.
    """
    return _numbered([(None, None)] * _checked_count(count), first=first)


def named_badges(path: Path, *, first: int, symbology: Symbology) -> tuple[Badge, ...]:
    """Return the badges of a file: a name a line, or CSV with the name and a number of its own.

    Raises:
        MalformedError: `names_unreadable`, `names_empty`, `badges_out_of_range`, `name_wrong`,
            `badge_number_wrong`; the message names the file and the line.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise MalformedError(
            "names_unreadable", f"{path} can't be read: {error.strerror}."
        ) from error
    except UnicodeDecodeError as error:
        raise MalformedError("names_unreadable", f"{path} is not UTF-8 text.") from error
    rows = list(_rows(path, lines, symbology=symbology))
    if not rows:
        raise MalformedError("names_empty", f"{path} holds no name.")
    _checked_count(len(rows))
    return _numbered(rows, first=first)


def _rows(
    path: Path, lines: Sequence[str], *, symbology: Symbology
) -> Iterator[tuple[str, int | None]]:
    seen: set[int] = set()
    for line, fields in enumerate(csv.reader(lines), 1):
        name, *more = (field.strip() for field in fields) if fields else ("",)
        if not any((name, *more)) or (line == 1 and name.lower() == HEADER):
            continue
        where = f"{path}, line {line}"
        _need_printable(name, where=where, symbology=symbology)
        number = None
        if any(more):
            number = int(more[0]) if more[0].isascii() and more[0].isdigit() else 0
            if any(more[1:]) or not 1 <= number <= SERIAL_MAX or number in seen:
                raise MalformedError(
                    "badge_number_wrong",
                    f"{where}: after the name stands nothing, or one badge number from 1 to "
                    f"{SERIAL_MAX} that no other line has.",
                )
            seen.add(number)
        yield name, number


def _need_printable(name: str, *, where: str, symbology: Symbology) -> None:
    if not name or not name.isprintable():
        raise MalformedError("name_wrong", f"{where}: there is no name that can be printed.")
    if lacks := japanese_lacks(name.replace(" ", "")):
        raise MalformedError("name_wrong", f"{where}: the font has no {' '.join(lacks)}.")
    if name_lines(name, symbology) is None:
        raise MalformedError("name_wrong", f"{where}: the name is too long for a badge.")


def _checked_count(count: int) -> int:
    if not 1 <= count <= BADGES_MAX:
        raise MalformedError(
            "badges_out_of_range", f"1 to {BADGES_MAX} badges are printed at once."
        )
    return count


def _numbered(rows: Sequence[tuple[str | None, int | None]], *, first: int) -> tuple[Badge, ...]:
    """Give every row without a number the next one that no row has."""
    own = {number for _, number in rows}
    free = (number for number in range(first, SERIAL_MAX + 1) if number not in own)
    badges = []
    for name, number in rows:
        number = next(free, None) if number is None else number
        if number is None:
            raise MalformedError(
                "badges_out_of_range", f"There is no badge number after {SERIAL_MAX}."
            )
        badges.append(Badge(number=number, name=name))
    return tuple(badges)
