"""What the use cases need from the outside, in plain values; store and web edge fill it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from fractions import Fraction
from types import TracebackType
from typing import Protocol, Self

from studio.domain.game import Json
from studio.services.answers import Commands
from studio.services.choice_ports import OpenBooks
from studio.services.club_ports import ClubUnit
from studio.services.correction_ports import CorrectedRounds, CorrectingWagers
from studio.services.disabled_ports import DisabledUnit
from studio.services.figure_rows import Figures
from studio.services.leases import LeaseUnit
from studio.services.owed_ports import OwedUnit
from studio.services.picture_ports import PictureUnit
from studio.services.play_ports import PlayLedger, PlayUnit, RoomPublisher
from studio.services.qualification import Qualifications
from studio.services.records import AlarmRow, TrailRow
from studio.services.retention_ports import ForgettingUnit


class Clock(Protocol):
    """The only source of time."""

    def now_ms(self) -> int:
        """Return milliseconds since 1970 UTC."""


class Randomness(Protocol):
    """The only source of chance."""

    def nonce(self) -> bytes:
        """Return 32 unpredictable bytes for a commitment."""

    def token(self) -> str:
        """Return an unguessable URL-safe text for keys and session ids."""


@dataclass(frozen=True, kw_only=True)
class StoredEvent:
    """One line of a table's log."""

    table: str
    epoch: int
    seq: int
    at_ms: int
    kind: str
    body: Mapping[str, Json]
    """Public part, covered by the hash."""
    sealed: Mapping[str, Json] | None
    """Card, serial and nonce of a drawn card; never leaves the store but for the engine."""
    prev_hash: str
    hash: str


@unique
class EndingKind(StrEnum):
    """How a wager ended."""

    SETTLED = "settled"
    REFUNDED = "refunded"
    UNDONE = "undone"


@dataclass(frozen=True, kw_only=True)
class Ending:
    """The one ending of a wager in one settlement version."""

    kind: EndingKind
    version: int
    payout_minor: int
    """All that went back to the wallet."""
    before_minor: int | None = None
    """What the version before had paid; None for the first."""


@dataclass(frozen=True, kw_only=True)
class Wager:
    """One accepted bet."""

    id: str
    """The client's id (UUID): idempotency key."""
    player_id: int
    round_id: str
    bet: str
    stake_minor: int
    hold_minor: int
    accepted_ms: int
    ending: Ending | None
    forfeited: bool = False
    """In play money: its player left the room while it stood; its stake is lost."""


@dataclass(frozen=True, kw_only=True)
class WagerLimits:
    """Limits that a wager is checked against, all in minor units of stake."""

    bet_min_minor: int
    bet_max_minor: int
    """Sum of one player's stakes on one bet in one round."""
    player_max_minor: int
    """Sum of one player's stakes in one round."""
    table_max_minor: int
    """Sum of all stakes in one round."""


@dataclass(frozen=True, kw_only=True)
class WagerRequest:
    """A wager to place; limits and hold are already worked out."""

    id: str
    player_id: int
    round_id: str
    bet: str
    stake_minor: int
    hold_minor: int
    limits: WagerLimits


@dataclass(frozen=True, kw_only=True)
class Placed:
    """The answer to a placed or undone wager."""

    wager: Wager
    balance_minor: int
    held_minor: int
    repeated: bool
    """True: the same request came before and this is its first answer again."""


@dataclass(frozen=True, kw_only=True)
class ClosedBook:
    """What the betting window took: goes into the closing event."""

    count: int
    turnover_minor: int
    held_minor: int
    digest: str
    """SHA-256 hex over the open wagers, one line each, in order of acceptance."""


@dataclass(frozen=True, kw_only=True)
class BookSettled:
    """What a settlement or a void moved."""

    count: int
    turnover_minor: int
    payouts_minor: int


@dataclass(frozen=True, kw_only=True)
class RoundRow:
    """The round as the money sees it: the row that wagers lock and the deadline they obey."""

    id: str
    table: str
    epoch: int
    number: int
    game: str
    phase: str
    opened_ms: int
    window_closes_ms: int
    rule_version: str
    paytable_version: str
    settlement_version: int
    """0 before the round ended."""


@dataclass(frozen=True, kw_only=True)
class Balance:
    """A player's accounts, minor units."""

    balance_minor: int
    held_minor: int
    owed_minor: int = 0


@dataclass(frozen=True, kw_only=True)
class Cashed:
    """The answer to a movement of cash."""

    before: Balance
    after: Balance
    repeated: bool
    """True: the same request came before and nothing moved now."""


@unique
class Role(StrEnum):
    """Who somebody is; one each."""

    DEALER = "dealer"
    PIT_SUPERVISOR = "pit_supervisor"
    AUDITOR = "auditor"
    ADMINISTRATOR = "administrator"
    PLAYER = "player"


@dataclass(frozen=True, kw_only=True)
class Actor:
    """Who acts: a person, or the studio itself (id 0)."""

    id: int
    name: str
    role: Role | None


@dataclass(frozen=True, kw_only=True)
class DeckSet:
    """A registered deck set: serial -> printed card number (1..52)."""

    number: int
    decks: int
    manifest: Mapping[int, int]


class EventLog(Protocol):
    """The tables' logs, append-only."""

    def lock(self, table: str) -> None:
        """Serialise the writers of one table until commit; creates the table's row if new."""

    def position(self, table: str) -> tuple[int, int, str]:
        """Return (epoch, seq, hash) of the last event; (0, 0, "") before the first."""

    def read(self, table: str, *, epoch: int, after_seq: int) -> Sequence[StoredEvent]:
        """Return the events of one epoch after a position, in order, sealed parts included."""

    def append(self, event: StoredEvent) -> None:
        """Append one event.

        Raises:
            InvariantError: `log_position_taken` when (table, epoch, seq) exists, `log_gap` when
                it is not the next position or does not chain to the last hash.
        """

    def orders(self, table: str, *, before_epoch: int, shoes: int) -> Sequence[Sequence[str]]:
        """Return the faces of the latest `shoes` earlier shoes, each in the order of the draw."""

    def corrections(self, table: str, *, epoch: int) -> Sequence[StoredEvent]:
        """Return the corrections of one shoe's rounds, in order, wherever they lie in the log."""


class Rounds(CorrectedRounds, Protocol):
    """The rows of rounds that the money obeys; derived from the log in the same commit."""

    def insert(self, row: RoundRow) -> None:
        """Add a round that opens."""

    def update_phase(self, round_id: str, phase: str, *, settlement_version: int) -> None:
        """Set the phase; waits for wagers in flight, which hold the row."""

    def get(self, round_id: str) -> RoundRow | None:
        """Return the row."""

    def recent(self, table: str | None, *, limit: int, before_ms: int | None) -> Sequence[RoundRow]:
        """Return the latest rounds, newest first."""


class Wagers(CorrectingWagers, OpenBooks, Protocol):
    """The book of wagers and the money they move. All inside the unit's transaction."""

    def place(self, request: WagerRequest) -> Placed:
        """Accept a wager: idempotency, phase and deadline, limits, balance, hold, in this order.

        Raises:
            RefusedError: `wager_id_reused`, `unknown_round`, `betting_window_closed`,
                `stake_below_minimum`, `bet_limit_exceeded`, `player_limit_exceeded`,
                `balance_short` (details `needed_minor`, `balance_minor`),
                `table_limit_exceeded`. Limits tell `limit_minor`, `taken_minor`, `stake_minor`.
            TryAgainError: another unit was in the way; see `studio.services.retry`.
        """

    def undo(self, wager_id: str, *, player_id: int) -> Placed:
        """Take a wager back while the window is open.

        Raises:
            RefusedError: `unknown_wager`, `betting_window_closed`, `wager_ended`,
                `wager_forfeited`.
        """

    def close(self, round_id: str) -> ClosedBook:
        """Return count, sums and digest of the open wagers."""

    def settle(self, round_id: str, *, version: int, nets: Mapping[str, Fraction]) -> BookSettled:
        """End every open wager of the round by its bet's net per unit, in a few set statements.

        Forfeited wagers pay nothing.

        Raises:
            InvariantError: `bet_without_result` when an open wager's bet is not in `nets`;
                `wager_ended_twice`, `payout_negative`, `payout_too_large`,
                `settlement_sums_differ`, `unknown_round`.
        """

    def refund(self, round_id: str, *, version: int) -> BookSettled:
        """End every open wager of the round by giving the whole hold back."""

    def of_round(self, round_id: str, *, player_id: int | None = None) -> Sequence[Wager]:
        """Return wagers in order of acceptance."""

    def of_player(
        self, player_id: int, *, limit_rounds: int, before_round_ms: int | None
    ) -> Sequence[tuple[RoundRow, Sequence[Wager]]]:
        """Return a player's latest rounds with their wagers, newest first."""

    def totals(self, round_id: str) -> Mapping[str, tuple[int, int]]:
        """Return per bet (open wagers, open stakes in minor units)."""


class Ledger(PlayLedger, Protocol):
    """Double entry: accounts, transfers, entries."""

    def balance(self, player_id: int) -> Balance:
        """Return wallet and held; zeros for a player without accounts."""

    def balances_of_round(self, round_id: str) -> Mapping[int, Balance]:
        """Return the balances of the players with a wager in the round, in one query."""

    def cash(self, *, id: str, player_id: int, amount_minor: int, reason: str, by: int) -> Cashed:
        """Move cash in (positive) or out (negative).

        Raises:
            RefusedError: `transfer_id_reused`, `balance_short`, `owes_money` (cash out).
        """

    def sum_minor(self) -> int:
        """Return the sum of all entries: 0, always."""


class DeckSets(Protocol):
    """Registered deck sets."""

    def register(self, deck_set: DeckSet) -> None:
        """Add a deck set.

        Raises:
            RefusedError: `deck_set_registered`.
        """

    def get(self, number: int) -> DeckSet | None:
        """Return a deck set with its manifest."""

    def numbers(self) -> Sequence[int]:
        """Return the registered numbers."""

    def lies_at(self, number: int, *, tables: Iterable[str]) -> str | None:
        """Return which of `tables` has the set in its shoe; the next who asks waits for commit."""


class Reports(Protocol):
    """Scanner reports, each taken once."""

    def take(self, *, device: str, report_id: str, digest: str, at_ms: int) -> bool:
        """Note a report; False when it was taken before.

        Raises:
            RefusedError: `report_id_reused` when the same id came with other content.
        """


class Alarms(Protocol):
    """The pit's alarms."""

    def raise_alarm(
        self,
        *,
        priority: int,
        code: str,
        table: str,
        round_id: str | None,
        at_ms: int,
        details: Mapping[str, Json],
    ) -> None:
        """Raise an alarm unless the same code is open at the table."""

    def clear(self, *, table: str, codes: Iterable[str], at_ms: int) -> None:
        """Mark alarms whose cause is gone."""

    def acknowledge(self, alarm_id: int, *, by: str, at_ms: int) -> AlarmRow:
        """Note who took an alarm.

        Raises:
            RefusedError: `unknown_alarm`, `alarm_acknowledged`.
        """

    def open(self) -> Sequence[AlarmRow]:
        """Return alarms not cleared, most urgent first, unacknowledged first, oldest first."""


class Trail(Protocol):
    """The audit trail."""

    def write(
        self,
        *,
        at_ms: int,
        actor: Actor,
        action: str,
        subject: str,
        reason: str,
        before: Mapping[str, Json],
        after: Mapping[str, Json],
    ) -> None:
        """Append a line."""

    def read(self, *, limit: int, before_id: int | None) -> Sequence[TrailRow]:
        """Return the latest lines, newest first."""


class UnitOfWork(
    PlayUnit, ClubUnit, PictureUnit, LeaseUnit, DisabledUnit, ForgettingUnit, OwedUnit, Protocol
):
    """One transaction. Leaving without `commit` rolls back."""

    @property
    def events(self) -> EventLog:
        """The tables' logs."""

    @property
    def rounds(self) -> Rounds:
        """Rows of rounds."""

    @property
    def wagers(self) -> Wagers:
        """The book of wagers."""

    @property
    def ledger(self) -> Ledger:
        """Accounts and entries."""

    @property
    def deck_sets(self) -> DeckSets:
        """Registered deck sets."""

    @property
    def reports(self) -> Reports:
        """Scanner reports taken."""

    @property
    def alarms(self) -> Alarms:
        """The pit's alarms."""

    @property
    def trail(self) -> Trail:
        """The audit trail."""

    @property
    def commands(self) -> Commands:
        """Answers to commands."""

    @property
    def qualifications(self) -> Qualifications:
        """Who may open which game."""

    @property
    def figures(self) -> Figures:
        """Sums for the pit."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def now_ms(self) -> int:
        """Return the time that decides deadlines: the database's on PostgreSQL."""

    def commit(self) -> None:
        """Make everything durable."""


class Units(Protocol):
    """Makes units of work."""

    def write(self) -> UnitOfWork:
        """Return a unit that may write; writers of SQLite queue for one lock."""

    def read(self) -> UnitOfWork:
        """Return a unit that only reads, from one consistent snapshot."""


class Publisher(RoomPublisher, Protocol):
    """Tells the world after the commit. Losing a message only delays: the log is the truth."""

    def event(self, envelope: Mapping[str, Json]) -> None:
        """Publish a table event to everybody at the table."""

    def wallet(self, player_id: int, message: Mapping[str, Json]) -> None:
        """Tell one player about the money."""

    def pit(self, message: Mapping[str, Json]) -> None:
        """Hint the pit that something changed."""
