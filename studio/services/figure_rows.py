"""What the pit's figures are made of: sums that the database works out, and the port to ask it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Span:
    """A piece of time, cut into slices of one length."""

    from_ms: int
    """A round counts in the slice in which it opened; this moment is the first of slice 0."""
    to_ms: int
    """The first moment after the span."""
    slice_ms: int
    table: str | None = None
    """None: every table."""


@dataclass(frozen=True, kw_only=True)
class BetGroup:
    """The bets of a game that settle alike."""

    game: str
    kind: str
    bets: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class MoneyRow:
    """Settled wagers of one table, paytable, piece of time and kind of bet."""

    table: str
    game: str
    paytable_version: str
    slice: int
    """Which piece of the span, from 0."""
    kind: str
    """`Bet.settles_on`; empty for a bet that no game of today knows."""
    rounds: int
    """Settled rounds with a wager of this kind."""
    wagers: int
    stake_minor: int
    hold_minor: int
    payout_minor: int
    bet_squares: float
    """Sum of the squares of what stood on one bet of one round. A statistic, not money."""
    round_squares: float
    """Sum of the squares of what stood on all bets of this kind in one round."""


@dataclass(frozen=True, kw_only=True)
class EndedRow:
    """How many rounds of a table ended in one piece of time, by their phase."""

    table: str
    slice: int
    phase: str
    rounds: int


@dataclass(frozen=True, kw_only=True)
class ScanRow:
    """How often one kind of event stands in one shoe's log."""

    table: str
    epoch: int
    kind: str
    reason: str | None
    """Why a read failed; None for every other event."""
    count: int


@dataclass(frozen=True, kw_only=True)
class RoundSums:
    """The settled wagers of one round."""

    wagers: int
    turnover_minor: int
    ggr_minor: int


class Figures(Protocol):
    """Sums for the pit. A question costs what its span holds, never the whole past."""

    def money(self, span: Span, groups: Sequence[BetGroup]) -> Sequence[MoneyRow]:
        """Return settled wagers of rounds opened in the span; undone and refunded ones are out."""

    def ended(self, span: Span) -> Sequence[EndedRow]:
        """Return how many rounds opened in the span are settled or void."""

    def scans(self, *, table: str | None, shoes: int) -> Sequence[ScanRow]:
        """Return reads and rounds of each table's latest shoes, from the public log alone."""

    def of_rounds(self, round_ids: Sequence[str]) -> Mapping[str, RoundSums]:
        """Return the sums of rounds that have settled wagers."""
