"""Tables: what they show, what was missed, what a dealer or supervisor orders."""

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue

from studio.services.ports import Role
from studio.web.guard import EVERYONE, allow, person
from studio.web.parse import json_body, query_integer, take
from studio.web.stations import beat_station
from studio.web.studio import studio

tables = Blueprint("tables", __name__)


@tables.get("/tables")
@allow(*EVERYONE)
def show_all() -> ResponseReturnValue:
    """List the tables: the open ones for players, all of them for staff."""
    listed = studio().tables.list_tables()
    if person().role is Role.PLAYER:
        listed = [table for table in listed if table["view"]["shoe"] is not None]
    return jsonify(listed)


@tables.get("/tables/<table>")
@allow(*EVERYONE)
def show(table: str) -> ResponseReturnValue:
    """Return everything a screen needs to start."""
    return jsonify(studio().tables.snapshot(table))


@tables.get("/tables/<table>/events")
@allow(*EVERYONE)
def missed(table: str) -> ResponseReturnValue:
    """Return every event after a position, or a snapshot."""
    epoch = query_integer("epoch", default=None)
    seq = query_integer("after", default=None)
    return jsonify(studio().tables.events_since(table, epoch=epoch, seq=seq))


@tables.post("/tables/<table>/commands")
@allow(Role.DEALER, Role.PIT_SUPERVISOR)
def execute(table: str) -> ResponseReturnValue:
    """Carry out a command of the dealer who has the table, or of a supervisor."""
    return jsonify(studio().tables.execute(person().actor, table, json_body()))


@tables.post("/tables/<table>/station")
@allow(Role.DEALER)
def station(table: str) -> ResponseReturnValue:
    """Take a station's sign of life where its socket is down."""
    take(json_body(), {})
    return jsonify(beat_station(studio(), person(), table))
