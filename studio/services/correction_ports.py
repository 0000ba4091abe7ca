"""What the correction of a settled round asks of the store beside `ports`."""

from collections.abc import Mapping, Sequence
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


@dataclass(frozen=True, kw_only=True)
class PlayerChange:
    """What a player got for a round, and would get."""

    round_id: str
    player_id: int
    before_minor: int
    after_minor: int


@dataclass(frozen=True, kw_only=True)
class RoundRefund:
    """What the void of one of several settled rounds would move."""

    wagers: int
    players: int
    """Whose money it changes on balance."""
    turnover_minor: int
    payouts_minor: int
    """Given back: the whole holds."""
    paid_minor: int
    taken_minor: int
    owed_minor: int
    """What the rounds before it leave in the wallets does not reach for."""


NOTHING_REFUNDED = RoundRefund(
    wagers=0,
    players=0,
    turnover_minor=0,
    payouts_minor=0,
    paid_minor=0,
    taken_minor=0,
    owed_minor=0,
)


@dataclass(frozen=True, kw_only=True)
class Refund:
    """What the void of several settled rounds would move, one after the other."""

    rounds: Mapping[str, RoundRefund]
    players: int
    """Distinct people whose money changes in any of them."""

    def sums(self) -> Mapping[str, int]:
        """Return the sums over the rounds."""
        names = ("wagers", "paid_minor", "taken_minor", "owed_minor")
        return {name: sum(getattr(one, name) for one in self.rounds.values()) for name in names} | {
            "players": self.players
        }


@dataclass(frozen=True, kw_only=True)
class ShoeRound:
    """A round of a shoe with what its log says of the money; 0 of what is not known yet."""

    round_id: str
    number: int
    phase: str
    version: int
    opened_ms: int
    wagers: int
    turnover_minor: int
    payouts_minor: int


class CorrectedRounds(Protocol):
    """Where rounds were corrected; mixed into `ports.Rounds`."""

    def of_shoe(self, table: str, *, epoch: int) -> Sequence[ShoeRound]:
        """Return a shoe's rounds in order; reads the log alone, however many wagers there are."""

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

    def would_refund(self, round_ids: Sequence[str]) -> Refund:
        """Return what annulling these settled rounds in their order would move; writes nothing.

        Raises:
            InvariantError: `version_missing` when a wager has not ended in the round's version.
        """

    def player_changes(
        self,
        round_ids: Sequence[str],
        *,
        nets: Mapping[str, Fraction] | None,
        player_id: int | None = None,
    ) -> Sequence[PlayerChange]:
        """Return what players would get instead, by round in order and player; writes nothing.

        Args:
            round_ids: settled rounds of one table; one alone when `nets` are given.
            nets: as in `correct`.
            player_id: only this player's.
        """
