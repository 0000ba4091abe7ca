"""What the edge calls: the use cases behind the doors, joined once by `app.create_app`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar, cast

from flask import current_app

from studio.domain.errors import RefusedError
from studio.domain.money import Currency
from studio.games import GAMES, by_code
from studio.services.cash import CashService
from studio.services.clockwork import Clockwork
from studio.services.club import ClubService
from studio.services.devices import DeviceService
from studio.services.disabling import DisablingService
from studio.services.evidence import EvidenceService
from studio.services.figures import FigureService
from studio.services.links import LinkWatch
from studio.services.people import PeopleService
from studio.services.pictures import PictureService
from studio.services.play_money import PlayMoney
from studio.services.ports import Clock
from studio.services.reports import ReportService
from studio.services.tables import TableService
from studio.services.wagers import WagerService
from studio.settings import Device, Settings

EXTENSION = "studio"

Part = TypeVar("Part")


@dataclass(frozen=True, kw_only=True)
class Studio:
    """Everything behind the doors of one process."""

    settings: Settings
    clock: Clock
    currency: Currency
    people: PeopleService
    tables: TableService
    devices: DeviceService
    links: LinkWatch
    clockwork: Clockwork
    wagers: WagerService
    cash: CashService
    disabling: DisablingService
    reports: ReportService
    evidence: EvidenceService
    pictures: PictureService
    play: PlayMoney | None
    """None in a studio of money, as is the club."""
    club: ClubService | None
    known_devices: Mapping[str, Device]
    close: Callable[[], None]
    """Gives the database's connections back."""

    @property
    def figures(self) -> FigureService:
        """The pit's figures, over the same tables and store."""
        return FigureService(
            units=self.tables.units,
            setups=self.tables.tables.setups,
            games=by_code(GAMES),
            time_zone=self.settings.time_zone,
        )


def studio() -> Studio:
    """Return the studio of the application that handles this request."""
    return cast(Studio, current_app.extensions[EXTENSION])


def play_money() -> PlayMoney:
    """Return what the doors of rooms lead to.

    Raises:
        RefusedError: `play_money_only` in a studio of money.
    """
    return _for_play(studio().play)


def club() -> ClubService:
    """Return what the doors of medals, shop and options lead to.

    Raises:
        RefusedError: `play_money_only` in a studio of money.
    """
    return _for_play(studio().club)


def _for_play(part: Part | None) -> Part:
    if part is None:
        raise RefusedError("play_money_only", "This studio plays for money; there is none of this.")
    return part
