"""Cards and tiles, and the code printed on each physical one.

The code is 12 digits `V CC DDD SSSS KK`: version, card or tile number, deck set, serial within
the deck set, and check digits so that the whole number modulo 97 is 1 (ISO 7064 MOD 97-10).
Version 1 is a playing card (01..52: spades A..K, hearts, diamonds, clubs), version 2 a domino
tile (01..28: 00 01 .. 66), version 3 a staff badge. Source: scanner notes, "The card".
"""

from dataclasses import dataclass
from enum import IntEnum, StrEnum, unique
from typing import TypeAlias

from studio.domain.errors import MalformedError

CODE_DIGITS = 12
DECK_SET_MAX = 999
SERIAL_MAX = 9999
CARDS_PER_DECK = 52
TILES_PER_SET = 28


@unique
class Rank(StrEnum):
    """The thirteen ranks, in the order of the printed numbers."""

    ACE = "A"
    TWO = "2"
    THREE = "3"
    FOUR = "4"
    FIVE = "5"
    SIX = "6"
    SEVEN = "7"
    EIGHT = "8"
    NINE = "9"
    TEN = "T"
    JACK = "J"
    QUEEN = "Q"
    KING = "K"


@unique
class Suit(StrEnum):
    """The four suits, in the order of the printed numbers."""

    SPADES = "S"
    HEARTS = "H"
    DIAMONDS = "D"
    CLUBS = "C"


RANKS = tuple(Rank)
SUITS = tuple(Suit)


@dataclass(frozen=True, order=True, slots=True)
class Card:
    """A playing card's face. Two copies of 7♦ from two decks are equal as faces."""

    suit: Suit
    rank: Rank

    @property
    def code(self) -> str:
        """Rank and suit in two letters, e.g. `TS` for the ten of spades."""
        return f"{self.rank}{self.suit}"

    @property
    def number(self) -> int:
        """1..52 as printed."""
        return SUITS.index(self.suit) * len(RANKS) + RANKS.index(self.rank) + 1


@dataclass(frozen=True, order=True, slots=True)
class Tile:
    """A domino tile's face, lower half first."""

    low: int
    high: int

    @property
    def code(self) -> str:
        """Two digits, smaller pip first, e.g. `06`."""
        return f"{self.low}{self.high}"

    @property
    def number(self) -> int:
        """1..28 as printed: 00 01 .. 06 11 .. 66."""
        return ALL_TILES.index(self) + 1


Piece: TypeAlias = Card | Tile
"""What a game is dealt with."""

ALL_CARDS: tuple[Card, ...] = tuple(Card(suit, rank) for suit in SUITS for rank in RANKS)
ALL_TILES: tuple[Tile, ...] = tuple(Tile(low, high) for low in range(7) for high in range(low, 7))
_CARD_BY_CODE = {card.code: card for card in ALL_CARDS}
_TILE_BY_CODE = {tile.code: tile for tile in ALL_TILES}


def parse_card(code: str) -> Card:
    """Return the card named by two letters.

    Raises:
        MalformedError: `unknown_card`.
    """
    try:
        return _CARD_BY_CODE[code]
    except KeyError:
        raise MalformedError(
            "unknown_card", f"{code!r} is not a card; write rank A23456789TJQK and suit SHDC."
        ) from None


def parse_piece(code: str) -> Piece:
    """Return the card or tile named by two characters.

    Raises:
        MalformedError: `unknown_card`.
    """
    return _TILE_BY_CODE[code] if code in _TILE_BY_CODE else parse_card(code)


@unique
class CodeVersion(IntEnum):
    """What a printed code stands for."""

    CARD = 1
    TILE = 2
    BADGE = 3


@dataclass(frozen=True, order=True, slots=True, kw_only=True)
class PrintedCode:
    """The twelve digits on a physical card, tile or badge, taken apart."""

    version: CodeVersion
    number: int
    deck_set: int
    serial: int

    @property
    def digits(self) -> str:
        """The twelve digits with their check digits."""
        body = f"{self.version:d}{self.number:02d}{self.deck_set:03d}{self.serial:04d}"
        return f"{body}{98 - int(body) * 100 % 97:02d}"

    @property
    def piece(self) -> Piece:
        """The face this code stands for.

        Raises:
            MalformedError: `code_has_no_face` for a badge.
        """
        if self.version is CodeVersion.CARD:
            return ALL_CARDS[self.number - 1]
        if self.version is CodeVersion.TILE:
            return ALL_TILES[self.number - 1]
        raise MalformedError("code_has_no_face", "A staff badge is not a card.")


_NUMBER_MAX = {
    CodeVersion.CARD: CARDS_PER_DECK,
    CodeVersion.TILE: TILES_PER_SET,
    CodeVersion.BADGE: 99,
}


def parse_code(digits: str) -> PrintedCode:
    """Take the twelve digits of a printed code apart and check them.

    Raises:
        MalformedError: `code_format` (not twelve ASCII digits), `code_check_digits`,
            `code_unknown` (a version or number that is never printed). The digits themselves are
            not repeated in the message: they may be a sealed card.
    """
    if len(digits) != CODE_DIGITS or not digits.isascii() or not digits.isdigit():
        raise MalformedError("code_format", "A printed code is exactly twelve digits.")
    if int(digits) % 97 != 1:
        raise MalformedError("code_check_digits", "The check digits of the code do not hold.")
    version, number = int(digits[0]), int(digits[1:3])
    if version not in {*CodeVersion} or not 1 <= number <= _NUMBER_MAX[CodeVersion(version)]:
        raise MalformedError("code_unknown", "The code is well formed but is never printed.")
    return PrintedCode(
        version=CodeVersion(version),
        number=number,
        deck_set=int(digits[3:6]),
        serial=int(digits[6:10]),
    )


def card_code(card: Card, *, deck_set: int, serial: int) -> PrintedCode:
    """Return the printed code of one physical card."""
    return PrintedCode(
        version=CodeVersion.CARD, number=card.number, deck_set=deck_set, serial=serial
    )
