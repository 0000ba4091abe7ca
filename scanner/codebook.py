"""From the digits read to the card they may stand for. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum, unique

from studio.domain.cards import CODE_DIGITS, CodeVersion, PrintedCode, parse_code
from studio.domain.errors import MalformedError


@unique
class Verdict(StrEnum):
    """What a text is worth."""

    KNOWN = "known"
    """Format, check digits and, where a manifest is loaded, the manifest hold."""
    NOT_IN_SHOE = "not_in_shoe"
    """A well-formed studio code that does not belong to the loaded deck set."""
    FOREIGN_SYMBOLOGY = "foreign_symbology"
    """A symbol that is no studio code at all."""
    UNREADABLE = "unreadable"
    """Twelve digits whose check digits fail: a damaged read, never a card."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A text, judged."""

    verdict: Verdict
    printed: PrintedCode | None = None
    """Present for KNOWN and NOT_IN_SHOE."""

    @property
    def valid(self) -> bool:
        """Format and check digits hold."""
        return self.printed is not None


@dataclass(frozen=True, kw_only=True)
class Codebook:
    """The deck set on the table. Without one, only format and check digits are held."""

    deck_set: int | None = None
    manifest: Mapping[int, int] = field(default_factory=dict)
    """Serial to card number, of the whole deck set; it says nothing about the order."""

    def look_up(self, text: str) -> Finding:
        """Judge one decoded text; nothing is guessed or repaired."""
        if len(text) != CODE_DIGITS or not (text.isascii() and text.isdigit()):
            empty = not text.strip()
            return Finding(verdict=Verdict.UNREADABLE if empty else Verdict.FOREIGN_SYMBOLOGY)
        try:
            printed = parse_code(text)
        except MalformedError:
            return Finding(verdict=Verdict.UNREADABLE)
        if self._holds(printed):
            return Finding(verdict=Verdict.KNOWN, printed=printed)
        return Finding(verdict=Verdict.NOT_IN_SHOE, printed=printed)

    def _holds(self, printed: PrintedCode) -> bool:
        if self.deck_set is None:
            return True
        return (
            printed.version is CodeVersion.CARD
            and printed.deck_set == self.deck_set
            and self.manifest.get(printed.serial) == printed.number
        )
