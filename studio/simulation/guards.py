"""What can be switched off, to prove that the hunt notices."""

from dataclasses import dataclass
from enum import StrEnum, unique

from studio.domain.errors import MalformedError


@unique
class Guard(StrEnum):
    """One guard each; in the studio's own store all of them always stand."""

    DEADLINE = "deadline"
    """No wager at or after the deadline."""
    BETTING_PHASE = "betting_phase"
    """No wager once the window was closed by the log."""
    WAGER_KEY = "wager_key"
    """A wager's id is unique: a retry places nothing."""
    REPORT_KEY = "report_key"
    """A scanner report's id is unique: a resent report is not taken again."""
    COMMAND_KEY = "command_key"
    """A command's id is unique: a double click does it once."""
    ENDING_KEY = "ending_key"
    """A wager ends once in a settlement version."""
    DEPOSIT_REFUND = "deposit_refund"
    """A void gives back stake and deposit."""
    REVERSAL = "reversal"
    """A correction takes back what was paid before it pays anew."""
    NOTICE = "notice"
    """The money of a correction moves when the players were told it would, not before."""
    APPROVAL = "approval"
    """Nobody approves a correction of their own."""
    HOLD = "hold"
    """A hand that can lose 2:1 has its deposit held."""
    BALANCE = "balance"
    """Nobody bets what is not there."""
    ROLLBACK = "rollback"
    """A unit that ends without its commit leaves nothing behind."""
    SEAL = "seal"
    """What is published of a drawn card does not say which card it is."""
    LEASE = "lease"
    """While one process holds a table's lease, no other closes or settles there."""
    FENCE = "fence"
    """The log moves by one, from exactly the position that its writer saw."""


@dataclass
class Guards:
    """Which guards stand; all of them, unless one is named as missing."""

    missing: Guard | None = None

    def stands(self, guard: Guard) -> bool:
        """Return whether a guard is in its place."""
        return guard is not self.missing


def guards_without(name: str | None) -> Guards:
    """Return the guards with the one of this name switched off; None: all stand.

    Raises:
        MalformedError: `unknown_guard`.
    """
    if name is None:
        return Guards()
    try:
        return Guards(missing=Guard(name))
    except ValueError:
        known = ", ".join(guard.value for guard in Guard)
        raise MalformedError("unknown_guard", f"There is no guard {name!r}; {known}.") from None
