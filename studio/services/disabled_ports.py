"""Which play is disabled, as the store keeps it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

EVERYTHING = "studio"
"""The scope that stands for all games."""


@dataclass(frozen=True, kw_only=True)
class DisabledRow:
    """What may not be opened, and why."""

    scope: str
    """`studio`, or a game's code."""
    reason: str
    by: str
    at_ms: int


class Disabled(Protocol):
    """Scopes that are disabled."""

    def all(self) -> Sequence[DisabledRow]:
        """Return what is disabled, in order of the scopes."""

    def first_of(self, scopes: Collection[str]) -> DisabledRow | None:
        """Return the first of these scopes that is disabled, if any is."""

    def add(self, row: DisabledRow) -> bool:
        """Disable a scope; False when it was already."""

    def remove(self, scope: str) -> bool:
        """Enable a scope again; False when it was already."""


class DisabledUnit(Protocol):
    """What a unit of work offers for disabling; mixed into `ports.UnitOfWork`."""

    @property
    def disabled(self) -> Disabled:
        """What is disabled."""
