"""The pit's doors: every table at a glance, alarms, the audit trail."""

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue

from studio.services.ports import Role
from studio.services.reports import TRAIL_LINES_MAX
from studio.web.guard import READERS, allow, person
from studio.web.parse import json_body, query_integer, take
from studio.web.studio import studio

TRAIL_LINES = 100

pit = Blueprint("pit", __name__)


@pit.get("/pit")
@allow(*READERS)
def show() -> ResponseReturnValue:
    """Return every table with its wagers, links and the open alarms."""
    return jsonify(studio().tables.pit(studio().links))


@pit.post("/alarms/<int:alarm_id>/acknowledge")
@allow(Role.PIT_SUPERVISOR)
def acknowledge(alarm_id: int) -> ResponseReturnValue:
    """Take an alarm upon oneself."""
    take(json_body(), {})
    return jsonify(studio().tables.acknowledge(person().actor, alarm_id))


@pit.get("/trail")
@allow(*READERS)
def trail() -> ResponseReturnValue:
    """Return lines of the audit trail, newest first."""
    before_id = query_integer("before", default=None)
    limit = query_integer("limit", default=TRAIL_LINES, most=TRAIL_LINES_MAX)
    return jsonify(studio().reports.trail(before_id=before_id, limit=limit or TRAIL_LINES))


@pit.get("/deck-sets")
@allow(Role.DEALER, *READERS)
def deck_sets() -> ResponseReturnValue:
    """Return the registered deck sets."""
    return jsonify({"deck_sets": studio().reports.deck_sets()})
