"""What the club asks of the store: tallies, medals, purchases and options of players."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from studio.domain.game import Json
from studio.services.club_data import Tally


@dataclass(frozen=True, kw_only=True)
class BetOfRound:
    """What all of a player's settled wagers on one bet of a round came to."""

    player_id: int
    bet: str
    net_minor: int
    """Payouts less what was held."""
    hits: int
    """How many of them brought more than was held."""


@dataclass(frozen=True, kw_only=True)
class Awarded:
    """A medal given to a player."""

    player_id: int
    code: str
    awarded_ms: int
    round_id: str | None
    """None: not for a round (a room started, a purse filled up at the login)."""


@dataclass(frozen=True, kw_only=True)
class Purchase:
    """An item bought."""

    player_id: int
    item: str
    price_minor: int
    bought_ms: int


class Club(Protocol):
    """Tallies, medals, purchases and options. All inside the unit's transaction."""

    def take_round(self, round_id: str) -> bool:
        """Note a round as counted; False when it was before."""

    def is_taken(self, round_id: str) -> bool:
        """Return whether a round is counted."""

    def bets_of_round(self, round_id: str, *, version: int | None = None) -> Sequence[BetOfRound]:
        """Return what a settled round brought, by player and bet; a void or open one: nothing.

        `version` is the settlement that is asked for; None: the one that stands.
        """

    def rows_of_wins(self, player_ids: Iterable[int]) -> Mapping[int, int]:
        """Return the row of wins of some players, counted anew, in the order of the settlements.

        Looks back to each player's last loss, not at the whole past.
        """

    def best_rounds(self, player_ids: Iterable[int]) -> Mapping[int, int]:
        """Return the most that a counted round brought each of some players, minor units."""

    def tallies_of_round(self, round_id: str) -> Mapping[int, Mapping[str, int]]:
        """Return the tallies of everybody with a wager in the round, in one query."""

    def medals_of_round(self, round_id: str) -> Mapping[int, frozenset[str]]:
        """Return the medals held by everybody with a wager in the round, in one query."""

    def write_tallies(self, values: Mapping[int, Mapping[str, int]]) -> None:
        """Set tallies: by player and name. Whoever worked them out holds the players' balances."""

    def count_up(self, player_ids: Iterable[int], tally: Tally) -> Mapping[int, int]:
        """Add one to a tally of some players; returns the new values."""

    def award(self, medals: Iterable[Awarded]) -> Mapping[int, tuple[str, ...]]:
        """Give medals that are not held yet; returns those, by player, in the given order."""

    def tallies(self, player_id: int) -> Mapping[str, int]:
        """Return a player's tallies."""

    def medals(self, player_id: int) -> Mapping[str, int]:
        """Return a player's medals: code -> when it was awarded, milliseconds."""

    def purchase(self, id: str) -> Purchase | None:
        """Return what was bought under a client's id."""

    def bought(self, player_ids: Sequence[int]) -> Mapping[int, frozenset[str]]:
        """Return the codes of the items that each of a few players bought."""

    def add_purchase(self, purchase: Purchase, *, id: str) -> None:
        """Note what the transfer with the client's id paid for.

        Raises:
            TryAgainError: the player bought the item meanwhile.
        """

    def options(self, player_ids: Sequence[int]) -> Mapping[int, Mapping[str, Json]]:
        """Return what each of a few players chose."""

    def lock_options(self, player_id: int) -> Mapping[str, Json]:
        """Return what a player chose and keep others from changing it until commit."""

    def keep_options(self, player_id: int, options: Mapping[str, Json]) -> None:
        """Store options that were locked before."""


class ClubUnit(Protocol):
    """What a unit of work offers for the club; mixed into `ports.UnitOfWork`."""

    @property
    def club(self) -> Club:
        """Tallies, medals, purchases and options."""


class ClubCounts(Protocol):
    """Who is told that something countable happened beside a settlement."""

    def counted(
        self,
        unit: ClubUnit,
        player_ids: Iterable[int],
        tally: Tally,
        *,
        at_ms: int,
        round_id: str | None = None,
    ) -> Mapping[int, tuple[str, ...]]:
        """Add one to a tally of some players, inside the caller's unit.

        Args:
            unit: the caller's; nothing stays without its commit.
            player_ids: each once.
            tally: `Tally.REFILLS`, `Tally.ROOMS_STARTED`.
            at_ms: when, for the medals that follow.
            round_id: the round it happened in, if it did.

        Returns:
            The codes of new medals by player; players without one are left out.
        """
