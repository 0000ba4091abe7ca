"""What the edge calls: the use cases behind the doors, joined once by `app.create_app`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from flask import current_app

from studio.domain.money import Currency
from studio.games import GAMES, by_code
from studio.services.cash import CashService
from studio.services.clockwork import Clockwork
from studio.services.devices import DeviceService
from studio.services.figures import FigureService
from studio.services.links import LinkWatch
from studio.services.people import PeopleService
from studio.services.ports import Clock
from studio.services.reports import ReportService
from studio.services.tables import TableService
from studio.services.wagers import WagerService
from studio.settings import Device, Settings

EXTENSION = "studio"


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
    reports: ReportService
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
