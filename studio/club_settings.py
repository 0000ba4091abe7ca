"""Reads the club's file: medals and shop of a play-money studio, checked as a whole at the start.

Faults are lines as those of `studio.settings`: file, key, what is allowed.
"""

import difflib
import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from studio.domain.game import AnyGame, Json
from studio.domain.money import STAKE_MINOR_MAX
from studio.services.club_data import ClubData, Item, ItemKind, Medal, club_faults
from studio.services.setup import TableSetup
from studio.services.tallies import known_tallies
from studio.settings import DEFAULT_FILE, Settings, currency_of
from studio.settings_error import SettingsError

CODE_CHARS_MAX: Final = 40
PROJECT: Final = DEFAULT_FILE.parent.parent
ENTRIES_MAX: Final = 500
"""The page shows them all at once."""

Code = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=CODE_CHARS_MAX)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class MedalEntry(_Entry):
    """A `[[medal]]` of the file."""

    code: Code
    tally: str
    at_least: int = Field(ge=1, le=STAKE_MINOR_MAX)


class ItemEntry(_Entry):
    """An `[[item]]` of the file."""

    code: Code
    kind: Annotated[ItemKind, Field(strict=False)]
    price_minor: int = Field(ge=0, le=STAKE_MINOR_MAX)


class ClubFile(_Entry):
    """The whole file."""

    medal: list[MedalEntry] = Field(min_length=1, max_length=ENTRIES_MAX)
    item: list[ItemEntry] = Field(min_length=1, max_length=ENTRIES_MAX)


_ENTRIES: Final[Mapping[str, type[BaseModel]]] = {"medal": MedalEntry, "item": ItemEntry}


def club_data(
    settings: Settings, games: Mapping[str, AnyGame], setups: Mapping[str, TableSetup]
) -> ClubData | None:
    """Return medals and shop of a play-money studio; None in a studio of money.

    Raises:
        SettingsError: as `load_club`.
    """
    if not currency_of(settings).play:
        return None
    file = PROJECT / settings.play.club_file
    return load_club(file, tallies=known_tallies(games, setups.values()))


def load_club(file: Path, *, tallies: Collection[str]) -> ClubData:
    """Read and check the club's file.

    Args:
        file: TOML.
        tallies: the names that a medal may count by, `studio.services.tallies.known_tallies`.

    Raises:
        SettingsError: with one line for every fault.
    """
    content = _content(file)
    try:
        read = ClubFile.model_validate(content)
    except ValidationError as error:
        raise SettingsError(
            [f"{file}: {_explain(one, content)}" for one in error.errors(include_url=False)]
        ) from error
    club = ClubData(
        medals=tuple(Medal(**entry.model_dump()) for entry in read.medal),
        items=tuple(Item(**entry.model_dump()) for entry in read.item),
    )
    faults = [f"{file}: {fault}" for fault in club_faults(club, tallies=tallies)]
    if faults:
        raise SettingsError(faults)
    return club


def _content(file: Path) -> Mapping[str, Json]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError([f"{file}: can't be read: {error.strerror}"]) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError([f"{file}: is not TOML: {error}"]) from error


def _explain(error: ErrorDetails, content: Mapping[str, Json]) -> str:
    place = ": ".join(_place(error["loc"], content))
    if error["type"] == "missing":
        return f"{place}: missing"
    if error["type"] == "extra_forbidden":
        known = _allowed(error["loc"])
        close = difflib.get_close_matches(str(error["loc"][-1]), known, n=1)
        guess = f" (did you mean {close[0]}?)" if close else ""
        return f"{place}: unknown key{guess}; allowed: {', '.join(known)}"
    shown = "" if isinstance(error["input"], dict | list) else f" (it is {error['input']!r:.60})"
    return f"{place}: {error['msg']}{shown}"


def _place(location: tuple[int | str, ...], content: Mapping[str, Json]) -> Iterator[str]:
    """Yield the parts of a key; an entry is named by its code, else by its number from 1."""
    if len(location) < 2:
        yield from map(str, location)
        return
    entry, number, *keys = location
    assert isinstance(number, int)
    stated = content[str(entry)][number]
    code = stated.get("code") if isinstance(stated, dict) else None
    yield f"{entry} {code if isinstance(code, str) else number + 1}"
    yield from map(str, keys)


def _allowed(location: tuple[int | str, ...]) -> list[str]:
    """Return the keys that may stand where the last part of `location` stands."""
    entry = _ENTRIES.get(str(location[0])) if len(location) > 1 else None
    return list((entry or ClubFile).model_fields)
