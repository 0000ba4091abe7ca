"""What the correction of a settled round asks of the store beside `ports`."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class BetChange:
    """What a correction does to the wagers on one bet."""

    bet: str
    count: int
    stake_minor: int
    before_minor: int
    """Payouts of the version that stands."""
    after_minor: int


@dataclass(frozen=True, kw_only=True)
class BookCorrected:
    """What a correction moves, or would move."""

    count: int
    turnover_minor: int
    payouts_minor: int
    players: int
    """Whose money changes on balance."""
    paid_minor: int
    """Paid out to those who get more than before."""
    taken_minor: int
    """Taken back from those who get less, what they owe for it included."""
    owed_minor: int
    """What is no longer in their wallets."""
    bets: tuple[BetChange, ...]


@dataclass(frozen=True, kw_only=True)
class PayoutChange:
    """What a player got for a round by the version before, and by the one that stands."""

    before_minor: int
    after_minor: int


class CorrectedRounds(Protocol):
    """Where rounds were corrected; mixed into `ports.Rounds`."""

    def note_correction(self, round_id: str, *, version: int, epoch: int, seq: int) -> None:
        """Note where in the log of its table a round was corrected."""


class CorrectingWagers(Protocol):
    """The part of the book that ends wagers anew; mixed into `ports.Wagers`."""

    def correct(
        self, round_id: str, *, version: int, nets: Mapping[str, Fraction] | None
    ) -> BookCorrected:
        """Take back what version - 1 paid and end every wager in `version`, in a few statements.

        Forfeited stakes stay lost when the round is settled anew. A wallet is emptied at most;
        what is missing is booked as owed.

        Args:
            round_id: a round whose wagers have ended in version - 1.
            version: the new version.
            nets: per bet what a unit brings; None: every wager gets its whole hold.

        Raises:
            InvariantError: as `Wagers.settle`; `version_missing` when a wager has no ending in
                version - 1.
        """

    def would_correct(
        self, round_id: str, *, version: int, nets: Mapping[str, Fraction] | None
    ) -> BookCorrected:
        """Return what `correct` would do now; writes nothing."""

    def payout_changes(self, round_id: str, *, version: int) -> Mapping[int, PayoutChange]:
        """Return per player of the round what version - 1 and `version` paid."""
