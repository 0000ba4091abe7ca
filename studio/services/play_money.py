"""Play money: purse, rooms and club of a studio whose currency is worth nothing outside.

Money and play money never share a studio, so this is made as a whole or not at all.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from studio.domain.events import RoundCorrected, RoundSettled
from studio.domain.game import AnyGame, Description, Json
from studio.services.club_ports import ClubCounts
from studio.services.jobs import Job
from studio.services.people_ports import Person
from studio.services.ports import Publisher, Randomness, Role, Units
from studio.services.purse import Purse, smallest_bet_minor
from studio.services.rooms import Plates, RoomService
from studio.services.setup import TableSetup


@dataclass(frozen=True, kw_only=True)
class PlayPolicy:
    """The settings of play money."""

    purse_minor: int
    room_seats_max: int
    room_seats_min: int


class ClubTally(ClubCounts, Protocol):
    """The club as play money needs it: it counts what happened and gives medals for it."""

    def settled(
        self, job: Job, round_id: str, description: Description
    ) -> Mapping[int, Mapping[str, Json]]:
        """Count a settled round inside its transaction; return what to tell the players."""

    def corrected(
        self, job: Job, event: RoundCorrected, description: Description
    ) -> Mapping[int, Mapping[str, Json]]:
        """Count a corrected round anew inside its transaction; returns as `settled`."""


class PlayMoney:
    """Purse and rooms of one studio; the club joins in where it is given."""

    def __init__(
        self,
        *,
        policy: PlayPolicy,
        units: Units,
        setups: Mapping[str, TableSetup],
        games: Mapping[str, AnyGame],
        randomness: Randomness,
        publisher: Publisher,
        club: ClubTally | None = None,
        plates: Plates | None = None,
    ) -> None:
        """Join the parts.

        Raises:
            MalformedError: `purse_too_small`.
        """
        self._club = club
        self.smallest_bet_minor = smallest_bet_minor(setups, games)
        self.purse = Purse(
            units=units,
            publisher=publisher,
            purse_minor=policy.purse_minor,
            smallest_minor=self.smallest_bet_minor,
            club=club,
        )
        self.rooms = RoomService(
            units=units,
            setups=setups,
            randomness=randomness,
            publisher=publisher,
            seats_min=policy.room_seats_min,
            seats_max=policy.room_seats_max,
            club=club,
            plates=plates,
        )

    def greet(self, person: Person) -> None:
        """Give a player who logs in a purse; staff have none.

        Raises:
            RefusedError: `studio_busy`.
        """
        if person.role is Role.PLAYER:
            self.purse.greet(person.id)

    def settled(
        self, job: Job, event: RoundSettled | RoundCorrected, description: Description
    ) -> Mapping[int, Mapping[str, Json]]:
        """Do what a settlement or a correction brings in play money; see `runner.OnSettled`.

        First the club counts, then purses fill up.
        """
        counted: Mapping[int, Mapping[str, Json]] = {}
        if self._club and isinstance(event, RoundCorrected):
            counted = self._club.corrected(job, event, description)
        elif self._club:
            counted = self._club.settled(job, event.round_id, description)
        filled = self.purse.settled(job.uow, event.round_id, at_ms=job.now_ms)
        return {
            player_id: _together(counted.get(player_id, {}), filled.get(player_id, {}))
            for player_id in {*counted, *filled}
        }


def _together(counted: Mapping[str, Json], filled: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return both messages as one: medals of both stand in one list."""
    medals = [*counted.get("medals", ()), *filled.get("medals", ())]
    return {**counted, **filled, **({"medals": medals} if medals else {})}
