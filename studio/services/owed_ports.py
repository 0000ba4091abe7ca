"""What players owe since corrections, as the use cases ask the store for it, beside `ports`."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Protocol


@unique
class OwedDeed(StrEnum):
    """How an administrator makes a player owe less."""

    COLLECT = "collect"
    """Out of the player's wallet."""
    WRITE_OFF = "write_off"
    """At the house's cost."""


@dataclass(frozen=True, kw_only=True)
class OwedChange:
    """One reason why a player owes what they owe."""

    at_ms: int
    deed: OwedDeed | None
    """None: a correction."""
    round_id: str | None
    """Of the round that was corrected."""
    amount_minor: int
    """Positive: the player owes more since then; negative: less."""


class Owed(Protocol):
    """What players owe; never below 0."""

    def settle(
        self, deed: OwedDeed, *, id: str, player_id: int, amount_minor: int, reason: str, by: int
    ) -> bool:
        """Make a player owe less; the player's balances are locked until commit.

        Args:
            deed: at whose cost.
            id: the client's UUID.
            player_id: who owes.
            amount_minor: how much less, above 0.
            reason: part of the content that must be the same under the same `id`.
            by: who does it.

        Returns:
            False when the same request came before and nothing moved now.

        Raises:
            RefusedError: `transfer_id_reused`, `more_than_owed` (details `amount_minor`,
                `owed_minor`), `balance_short` for what is to be collected.
        """

    def changes(self, player_id: int, *, limit: int) -> Sequence[OwedChange]:
        """Return the latest changes of what a player owes, newest first."""


class OwedUnit(Protocol):
    """What a unit of work offers for money that is owed; mixed into `ports.UnitOfWork`."""

    @property
    def owed(self) -> Owed:
        """What players owe."""
