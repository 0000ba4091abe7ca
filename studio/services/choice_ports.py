"""What the choices before a supervisor need from the book: what a void would give back."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class OpenBook:
    """The wagers of a round that have no ending yet."""

    count: int
    players: int
    held_minor: int
    """Stakes and deposits: all of it goes back when the round is voided."""


class OpenBooks(Protocol):
    """The part of the book that tells it; mixed into `ports.Wagers`."""

    def standing(self, round_id: str) -> OpenBook:
        """Return what stands in a round; nothing for one that has ended or is not known."""
