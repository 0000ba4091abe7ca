"""Who supervises a table: the one process that may close its windows and settle its rounds.

A lease is taken in the very transaction that closes or settles, and lasts a few seconds longer.
While it lasts nobody else does either; a process that was paused and wakes after its lease ended
writes nothing. A process that starts again under its own name need not wait: its fence number is
higher from then on, and whatever is left of the process before is shut out.
"""

from typing import Protocol

LEASE_MS = 5_000
"""How long after its last work at a table nobody else may work there."""


class Leases(Protocol):
    """The tables' leases."""

    def take(
        self, table: str, *, holder: str, fence: int | None, now_ms: int, until_ms: int
    ) -> int | None:
        """Take, keep or take over the lease of a table; the row is locked until commit.

        Args:
            table: its code.
            holder: the name of the process.
            fence: what this process was given last; None when it has just started.
            now_ms: a lease that ends now or before is free.
            until_ms: when this one ends.

        Returns:
            The fence number: the same while one process keeps the lease, one more whenever it
            changes hands. None when somebody else holds it.
        """


class LeaseUnit(Protocol):
    """What a unit of work offers for leases; mixed into `ports.UnitOfWork`."""

    @property
    def leases(self) -> Leases:
        """Who supervises which table."""
