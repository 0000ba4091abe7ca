"""What play money asks of the store beside `ports`: rooms, forfeits, purse and shop transfers.

A studio whose currency is play money has rooms and a purse; in a money studio nothing here is
called.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Protocol


@unique
class PlayKind(StrEnum):
    """Why play money moves between a wallet and the house's play account."""

    PURSE = "purse"
    """A wallet too small for any bet is filled up again."""
    SHOP = "shop"
    """A player buys."""


@dataclass(frozen=True, kw_only=True)
class PlayMoved:
    """The answer to a movement of play money; the player's balances after it, minor units."""

    balance_minor: int
    held_minor: int
    repeated: bool
    """True: the same request came before and nothing moved now."""


@dataclass(frozen=True, kw_only=True)
class Filled:
    """A purse that was filled up; the player's balances after it, minor units."""

    balance_minor: int
    held_minor: int
    first: bool
    """True: the player never had a wallet before."""


class PlayLedger(Protocol):
    """The part of the ledger that moves play money; mixed into `ports.Ledger`."""

    def play_transfer(
        self,
        *,
        kind: PlayKind,
        player_id: int,
        amount_minor: int,
        id: str | None = None,
        reason: str = "",
    ) -> PlayMoved:
        """Move play money between the wallet and the house's play account.

        Args:
            kind: why.
            player_id: whose wallet; one who never had money gets accounts.
            amount_minor: into the wallet (positive) or out of it (negative), never 0.
            id: the client's UUID where a client may retry; None where the unit itself is the
                guard (a settlement happens once).
            reason: what it was for, e.g. the code of what was bought; part of the content that
                must be the same under the same `id`.

        Raises:
            RefusedError: `transfer_id_reused`; `balance_short` (details `needed_minor`,
                `balance_minor`).
            TryAgainError: the same id is being booked by another unit.
        """

    def fill_up(self, player_id: int, *, below_minor: int, to_minor: int) -> Filled | None:
        """Bring a purse back to so much if wallet and held together are below; else None.

        Two at once fill it once: the player's row is locked before it is looked at.
        """

    def fill_up_round(self, round_id: str, *, below_minor: int, to_minor: int) -> Sequence[int]:
        """Do so for everybody with a wager in the round, in a few statements for all.

        Inside the unit that settled the round, which holds the players' rows. Returns the ids of
        those whose purse was filled up.
        """


@unique
class RoomState(StrEnum):
    """What may happen to a room."""

    OPEN = "open"
    """Players join; nobody in it bets."""
    STARTED = "started"
    """Its members bet at its table; nobody joins any more."""
    CLOSED = "closed"
    """The last one has left."""


@dataclass(frozen=True, kw_only=True)
class RoomMember:
    """A player who is in a room."""

    player_id: int
    name: str
    """Empty for a player who is none of our people."""
    joined_ms: int


@dataclass(frozen=True, kw_only=True)
class Room:
    """A group of players who bet on the same table together."""

    id: str
    """The client's id (UUID): idempotency key of its opening."""
    table: str
    code: str
    """Invites into the room while it is open."""
    state: RoomState
    owner_id: int
    opened_ms: int
    started_ms: int | None
    members: tuple[RoomMember, ...]
    """Who is in it now, the longest-standing first."""

    def has(self, player_id: int) -> bool:
        """Return whether a player is in the room now."""
        return any(member.player_id == player_id for member in self.members)

    @property
    def player_ids(self) -> tuple[int, ...]:
        """The members' ids, the longest-standing first."""
        return tuple(member.player_id for member in self.members)


@dataclass(frozen=True, kw_only=True)
class RoomWager:
    """A wager of a room's round, as its members see one another's."""

    player_id: int
    name: str
    """As in `RoomMember`; who forfeited is no member any more."""
    bet: str
    stake_minor: int
    forfeited: bool
    ending_kind: str | None
    payout_minor: int


@dataclass(frozen=True, kw_only=True)
class RoomRound:
    """The latest round of a room's table with the wagers that belong to the room."""

    id: str
    phase: str
    wagers: tuple[RoomWager, ...]


@dataclass(frozen=True, kw_only=True)
class Forfeited:
    """What leaving costs: the holds of a player's wagers, stakes with their deposits."""

    wagers: int
    minor: int


class Rooms(Protocol):
    """The rooms. Whoever decides about one locks it first; the decisions are the caller's."""

    def open(self, *, id: str, table: str, code: str, owner_id: int, at_ms: int) -> None:
        """Add a room with its owner in it.

        Raises:
            TryAgainError: id or code is taken, or the owner came into another room meanwhile.
        """

    def get(self, room_id: str, *, lock: bool = False) -> Room | None:
        """Return a room; `lock` keeps it from changing until the unit ends."""

    def of_player(self, player_id: int) -> Room | None:
        """Return the room that a player is in, in one query."""

    def by_code(self, code: str, *, lock: bool = False) -> Room | None:
        """Return a room by its invitation code."""

    def was_in(self, room_id: str, player_id: int) -> bool:
        """Return whether a player is or ever was in a room."""

    def join(self, room_id: str, player_id: int, *, at_ms: int) -> None:
        """Let a player into a locked room.

        Raises:
            TryAgainError: the player came into another room meanwhile.
        """

    def start(self, room_id: str, *, at_ms: int) -> None:
        """Start a locked room."""

    def leave(self, room: Room, player_id: int, *, at_ms: int) -> None:
        """Let a player out of a locked room: the next one owns it, the last one closes it."""

    def forfeit(self, room: Room, player_id: int, *, at_ms: int) -> None:
        """Note a player's standing wagers of a locked room as forfeited.

        Waits for wagers of the player in flight and for a settlement under way.
        """

    def standing(self, room: Room, player_id: int) -> Forfeited:
        """Return what leaving a room would forfeit now: wagers of its running round."""

    def forfeited(self, room_id: str, player_id: int) -> Forfeited:
        """Return what leaving a room has forfeited."""

    def round(self, room: Room) -> RoomRound | None:
        """Return the latest round of a started room's table with the room's wagers.

        None while the table has had no round in which the room could bet.
        """


class PlayUnit(Protocol):
    """What a unit of work offers for play money; mixed into `ports.UnitOfWork`."""

    @property
    def rooms(self) -> Rooms:
        """Rooms and forfeits."""


class RoomPublisher(Protocol):
    """How the screens of a room are told; mixed into `ports.Publisher`."""

    def room(self, player_ids: Sequence[int], room_id: str) -> None:
        """Hint these players that something changed in a room; their pages ask again."""
