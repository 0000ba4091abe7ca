"""The purse: the play money that a player begins with, and begins anew with when it is gone.

Gone means: too little for the cheapest bet there is. So nobody ever sits before the tables
without being able to play.
"""

from collections.abc import Mapping

from studio.domain.errors import MalformedError
from studio.domain.game import AnyGame, Json
from studio.domain.money import hold_minor
from studio.services.club_data import Tally
from studio.services.club_ports import ClubCounts
from studio.services.play_ports import Filled
from studio.services.ports import Publisher, UnitOfWork, Units
from studio.services.retry import again
from studio.services.setup import TableSetup


def smallest_bet_minor(setups: Mapping[str, TableSetup], games: Mapping[str, AnyGame]) -> int:
    """Return what the cheapest bet of all tables takes out of the wallet, its deposit included."""
    holds = [
        hold_minor(stake_minor=setup.wager_limits(bet).bet_min_minor, exposure=bet.exposure)
        for setup in setups.values()
        for bet in setup.bets(games[setup.game]).values()
    ]
    return min(holds)


class Purse:
    """Fills purses up: when a player comes in, and in what settles or corrects a round."""

    def __init__(
        self,
        *,
        units: Units,
        publisher: Publisher,
        purse_minor: int,
        smallest_minor: int,
        club: ClubCounts | None = None,
    ) -> None:
        """Keep the ports.

        Args:
            units: the store's.
            publisher: tells the player.
            purse_minor: what a full purse holds.
            smallest_minor: from `smallest_bet_minor`; whoever has less is filled up.
            club: counts the refills.

        Raises:
            MalformedError: `purse_too_small` when a full purse would not pay a single bet.
        """
        if purse_minor < smallest_minor:
            raise MalformedError(
                "purse_too_small",
                f"play.purse_minor is {purse_minor}, but the cheapest bet takes {smallest_minor} "
                "minor units (stake and deposit).",
            )
        self._units = units
        self._publisher = publisher
        self._purse_minor = purse_minor
        self._smallest_minor = smallest_minor
        self._club = club

    def greet(self, player_id: int) -> None:
        """Give a player who comes in a purse, the first time or after it is gone.

        Raises:
            RefusedError: `studio_busy`.
        """
        with self._units.read() as unit:
            has = unit.ledger.balance(player_id)
        if has.balance_minor + has.held_minor >= self._smallest_minor:
            return
        message = again(lambda: self._greet(player_id))
        if message is not None:
            self._publisher.wallet(player_id, message)

    def settled(
        self, uow: UnitOfWork, round_id: str, *, at_ms: int
    ) -> Mapping[int, Mapping[str, Json]]:
        """Fill up purses that a round emptied, settled or corrected; return what to tell."""
        filled = uow.ledger.fill_up_round(
            round_id, below_minor=self._smallest_minor, to_minor=self._purse_minor
        )
        if not filled:
            return {}
        medals: Mapping[int, tuple[str, ...]] = {}
        if self._club is not None:
            medals = self._club.counted(uow, filled, Tally.REFILLS, at_ms=at_ms, round_id=round_id)
        return {player_id: _told(medals.get(player_id, ())) for player_id in filled}

    def _greet(self, player_id: int) -> Mapping[str, Json] | None:
        with self._units.write() as unit:
            filled = unit.ledger.fill_up(
                player_id, below_minor=self._smallest_minor, to_minor=self._purse_minor
            )
            if filled is None:
                return None
            medals = self._count(unit, player_id, filled)
            unit.commit()
        return {
            "balance_minor": filled.balance_minor,
            "held_minor": filled.held_minor,
            "reason": "purse",
            "round_id": None,
            **_told(medals),
        }

    def _count(self, unit: UnitOfWork, player_id: int, filled: Filled) -> tuple[str, ...]:
        if filled.first or self._club is None:
            return ()
        medals = self._club.counted(unit, [player_id], Tally.REFILLS, at_ms=unit.now_ms())
        return medals.get(player_id, ())


def _told(medals: tuple[str, ...]) -> Mapping[str, Json]:
    return {"refilled": True, "medals": list(medals)} if medals else {"refilled": True}
