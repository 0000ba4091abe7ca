"""What an audit is shown and what it says: the border between the checks and the store.

The log is streamed and the money is checked by set queries of the store, so that the size of the
studio's past is no limit.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from studio.services.ports import ClosedBook, RoundRow, StoredEvent

FAULTS_PER_CHECK_MAX = 20
"""So many examples of one fault are named; a damaged table would else drown the others."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Something stored that can't be right."""

    code: str
    where: str
    """`T1 3/12` (table, epoch, number), `round T1-3-12`, `wager UUID`, `player 5`."""
    what: str


@dataclass(frozen=True, kw_only=True)
class Endings:
    """How the wagers of one round ended in one version, as the database sums it up."""

    count: int
    turnover_minor: int
    payouts_minor: int
    wrong: Sequence[str]
    """Ids of wagers whose payout is not what the formula gives (at most FAULTS_PER_CHECK_MAX)."""


class Inspection(Protocol):
    """What the store shows an audit, from one snapshot."""

    def tables(self) -> Sequence[str]:
        """Return the codes of all tables that have a log."""

    def events(self, table: str) -> Iterator[StoredEvent]:
        """Stream a table's log in order of epoch and number."""

    def log_end(self, table: str) -> tuple[int, int, str]:
        """Return (epoch, seq, hash) where the table says its log ends."""

    def rounds(self, table: str, epoch: int) -> Mapping[str, RoundRow]:
        """Return the rows of the rounds of one epoch by id."""

    def round_count(self, table: str) -> int:
        """Return the number of rounds' rows of a table."""

    def corrections(self, table: str, epoch: int) -> Sequence[StoredEvent]:
        """Return the corrections of one shoe's rounds as they are noted, in order."""

    def epoch_events(self, table: str, epoch: int) -> Sequence[StoredEvent]:
        """Return the log of one shoe."""

    def manifest(self, deck_set: int) -> Mapping[int, int] | None:
        """Return serial -> card number of a registered deck set."""

    def book(self, round_id: str) -> ClosedBook:
        """Return what a closing of this round counts: all wagers but those taken back."""

    def endings(
        self, round_id: str, *, version: int, nets: Mapping[str, Fraction] | None
    ) -> Endings:
        """Sum up endings and hold each payout against `nets`; None: against the whole hold."""

    def impossible_wagers(
        self, table: str, epoch: int, *, rule_version: str, exposures: Mapping[str, Fraction]
    ) -> Sequence[str]:
        """Return ids of wagers, taken back or not, that no request can have placed.

        Args:
            table: whose wagers.
            epoch: in the rounds of this shoe.
            rule_version: of the rounds; those of another version are left out.
            exposures: by bet, what is held for a unit of stake: a wager on any other bet, or
                with another hold, is one (at most FAULTS_PER_CHECK_MAX are named).
        """

    def money(self) -> Iterator[Fault]:
        """Check ledger, balances, endings, decks and pictures by set queries."""


class AuditUnits(Protocol):
    """Where an audit gets its snapshot from."""

    def inspect(self) -> AbstractContextManager[Inspection]:
        """Return an inspection of one consistent snapshot."""


class Replay(Protocol):
    """Folds one table's log as the engine does and names where the two disagree."""

    def see(self, stored: StoredEvent) -> Sequence[Fault]:
        """Take the next event of the log; return what the rules say against it."""
