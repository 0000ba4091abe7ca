"""The club's data: which medals there are and what they are given for, what the shop sells.

Conditions and prices stand in a file (config/club.toml) and nowhere in code. The edge reads it;
here are the shapes, and what must be right between the lines of the file.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from functools import cached_property

from studio.domain.errors import InvariantError


@unique
class Tally(StrEnum):
    """The tallies that every studio keeps; beside them stands one a kind of bet (`hit_tally`)."""

    ROUNDS = "rounds"
    """Settled rounds with an own wager that stood."""
    WINS = "wins"
    WINS_IN_A_ROW = "wins_in_a_row"
    """The row that runs now; 0 after a lost round."""
    LOSSES = "losses"
    WON_MINOR_MAX = "won_minor_max"
    """The most that one round brought, minor units."""
    REFILLS = "refills"
    """How often the purse was filled up again."""
    ROOMS_STARTED = "rooms_started"
    """Rooms started as their owner."""


@unique
class ItemKind(StrEnum):
    """What an item changes; a player has exactly one of each kind in use."""

    TABLE_COLOUR = "table_colour"
    CARD_BACK = "card_back"
    CIRCLE = "circle"
    """The mark drawn on the bet spots."""
    PLATE = "plate"
    """The name plate in a room."""
    MUSIC = "music"


@dataclass(frozen=True, kw_only=True)
class Medal:
    """Given once, when a player's tally reaches a number."""

    code: str
    tally: str
    """A `Tally`, or a kind of bet's as `hit_tally` names it."""
    at_least: int


@dataclass(frozen=True, kw_only=True)
class Item:
    """Something the shop sells; price 0 is everybody's own."""

    code: str
    kind: ItemKind
    price_minor: int


@dataclass(frozen=True)
class ClubData:
    """Medals and items in the order of the file, which is the order of the screens."""

    medals: tuple[Medal, ...]
    items: tuple[Item, ...]

    @cached_property
    def by_code(self) -> Mapping[str, Item]:
        """The items by code."""
        return {item.code: item for item in self.items}

    @cached_property
    def free(self) -> frozenset[str]:
        """Codes of the items that are everybody's own."""
        return frozenset(item.code for item in self.items if item.price_minor == 0)

    def first_free(self, kind: ItemKind) -> str:
        """Return the item of a kind that a new player has in use.

        Raises:
            InvariantError: `kind_without_free_item`; a checked file has one.
        """
        for item in self.items:
            if item.kind is kind and item.price_minor == 0:
                return item.code
        raise InvariantError("kind_without_free_item", f"No item of kind {kind} is free.")


def hit_tally(game: str, kind: str) -> str:
    """Return the name of the tally of wagers won on a kind of bet (`Bet.settles_on`).

    >>> hit_tally("baccarat", "tie")
    'hit.baccarat.tie'
    """
    return f"hit.{game}.{kind}"


def club_faults(club: ClubData, *, tallies: Collection[str]) -> Iterator[str]:
    """Yield what is wrong between the entries, a line each that names the key and what may be.

    Args:
        club: as the file states it.
        tallies: the names that a medal may count by.
    """
    yield from _doubled("medal", [medal.code for medal in club.medals])
    yield from _doubled("item", [item.code for item in club.items])
    for medal in club.medals:
        if medal.tally not in tallies:
            yield (
                f"medal {medal.code}: tally is {medal.tally!r}, but must be one of "
                f"{', '.join(sorted(tallies))}"
            )
    for kind in ItemKind:
        if not any(item.kind is kind and item.price_minor == 0 for item in club.items):
            yield f"item: kind {kind} needs an item with price_minor = 0"


def _doubled(entry: str, codes: Sequence[str]) -> Iterator[str]:
    for code, count in Counter(codes).items():
        if count > 1:
            yield f"{entry} {code}: code stands {count} times, but must be there once"
