"""What events are made of: cards sealed and open, results, and the base of them all."""

import dataclasses
from dataclasses import dataclass
from enum import StrEnum, unique


@unique
class Held(StrEnum):
    """Why a card is held. A log of the first release says `foreign_card` for the first two."""

    OTHER_DECK_SET = "other_deck_set"
    """Printed for another deck set, or another kind of piece."""
    UNKNOWN_SERIAL = "unknown_serial"
    """Of this deck set by its number, but nobody registered it, or not as this face."""
    DOUBLED_CARD = "doubled_card"
    """The same physical card has left this shoe before."""
    EXTRA_COPY = "extra_copy"
    """Its face has left the shoe as often as the decks hold it."""
    OUT_OF_TURN = "out_of_turn"
    """Turned while bets are taken, at a table whose cards lie open."""
    UNNEEDED_CARD = "unneeded_card"
    """No card is due."""


@dataclass(frozen=True, kw_only=True)
class SealedCard:
    """A drawn card before its reveal."""

    card: str
    serial: int
    nonce: str


@dataclass(frozen=True, kw_only=True)
class OpenCard:
    """A card with everything that proves its commitment."""

    position: str
    index: int
    card: str
    serial: int
    nonce: str


@dataclass(frozen=True, kw_only=True)
class BetResult:
    """What one unit on a bet brought; `net` is a fraction as text, e.g. `-2` or `19/20`."""

    bet: str
    net: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A road mark."""

    position: str
    result: str
    rings: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class HandResult:
    """What an open hand is worth."""

    position: str
    points: str
    name: str


@dataclass(frozen=True, kw_only=True)
class EventBase:
    """Base of the events: the sealed part, absent for most."""

    sealed: SealedCard | None = dataclasses.field(default=None, repr=False)
