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
    OTHER_DECK_SET = "other_deck_set"
    """A well-formed code of another deck set, or of another kind of piece than the table deals."""
    UNKNOWN_SERIAL = "unknown_serial"
    """The deck set's number, but its manifest has no such serial or names another piece for it."""
    STAFF_BADGE = "staff_badge"
    """The code of a person, never a card."""
    FOREIGN_SYMBOLOGY = "foreign_symbology"
    """A symbol that is no studio code at all."""
    UNREADABLE = "unreadable"
    """Twelve digits whose check digits fail: a damaged read, never a card."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A text, judged."""

    verdict: Verdict
    printed: PrintedCode | None = None
    """Present for every text whose format and check digits hold."""

    @property
    def valid(self) -> bool:
        """Format and check digits hold."""
        return self.printed is not None


@dataclass(frozen=True, kw_only=True)
class Codebook:
    """The deck set on the table. Without one, only format and check digits are held."""

    deck_set: int | None = None
    manifest: Mapping[int, int] = field(default_factory=dict)
    """Serial to card or tile number, of the whole deck set; it says nothing about the order."""
    version: CodeVersion = CodeVersion.CARD
    """What the manifest holds: cards or tiles."""

    def look_up(self, text: str) -> Finding:
        """Judge one decoded text; nothing is guessed or repaired."""
        if len(text) != CODE_DIGITS or not (text.isascii() and text.isdigit()):
            empty = not text.strip()
            return Finding(verdict=Verdict.UNREADABLE if empty else Verdict.FOREIGN_SYMBOLOGY)
        try:
            printed = parse_code(text)
        except MalformedError:
            return Finding(verdict=Verdict.UNREADABLE)
        return Finding(verdict=self._judge(printed), printed=printed)

    def _judge(self, printed: PrintedCode) -> Verdict:
        if printed.version is CodeVersion.BADGE:
            return Verdict.STAFF_BADGE
        if self.deck_set is None:
            return Verdict.KNOWN
        if (printed.version, printed.deck_set) != (self.version, self.deck_set):
            return Verdict.OTHER_DECK_SET
        in_manifest = self.manifest.get(printed.serial) == printed.number
        return Verdict.KNOWN if in_manifest else Verdict.UNKNOWN_SERIAL
