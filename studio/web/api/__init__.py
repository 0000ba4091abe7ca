"""The JSON doors: they parse, ask a use case, and answer. They decide nothing."""

from flask import Flask

from studio.web.api.account import account
from studio.web.api.cash import cash
from studio.web.api.club import club_doors
from studio.web.api.device import device_doors
from studio.web.api.disabled import disabled
from studio.web.api.history import history
from studio.web.api.people import people
from studio.web.api.pit import pit
from studio.web.api.rooms import rooms
from studio.web.api.tables import tables
from studio.web.api.wagers import wagers

BLUEPRINTS = (
    account,
    cash,
    club_doors,
    device_doors,
    disabled,
    history,
    people,
    pit,
    rooms,
    tables,
    wagers,
)

__all__ = ["BLUEPRINTS", "device_doors", "init_api"]


def init_api(app: Flask) -> None:
    """Add every JSON door to `app`."""
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint, url_prefix="/api")
