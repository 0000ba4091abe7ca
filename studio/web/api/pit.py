"""The pit's doors: every table at a glance, alarms, the audit trail."""

from flask import Blueprint, jsonify, request
from flask.typing import ResponseReturnValue

from studio.domain.game import Json
from studio.services.figures import HOURS_DEFAULT, HOURS_MAX
from studio.services.ports import Role
from studio.services.reports import TABLE_ROUNDS_MAX, TRAIL_LINES_MAX
from studio.web.guard import READERS, allow, person
from studio.web.parse import integer, json_body, name, query_integer, take, text
from studio.web.studio import studio

TRAIL_LINES = 100
TABLE_ROUNDS = 30

pit = Blueprint("pit", __name__)


@pit.get("/pit")
@allow(*READERS)
def show() -> ResponseReturnValue:
    """Return every table with its wagers, links and the open alarms."""
    return jsonify(studio().tables.pit(studio().links, viewer_id=person().id))


@pit.post("/alarms/<int:alarm_id>/acknowledge")
@allow(Role.PIT_SUPERVISOR)
def acknowledge(alarm_id: int) -> ResponseReturnValue:
    """Take an alarm upon oneself; that of a device with a reason."""
    fields = take(json_body(), {}, {"reason": text})
    reason = fields["reason"] or ""
    return jsonify(studio().tables.acknowledge(person().actor, alarm_id, reason=reason))


@pit.get("/tables/<table>/choices")
@allow(*READERS)
def choices(table: str) -> ResponseReturnValue:
    """Return what may be done about each trouble at a table, and what it does to money."""
    return jsonify(studio().tables.choices(table))


@pit.get("/tables/<table>/pictures")
@allow(*READERS)
def pictures(table: str) -> ResponseReturnValue:
    """Return which pictures of a table there are, newest first; nothing of what they show."""
    return jsonify({"pictures": studio().pictures.of_table(table)})


@pit.post("/pictures/<int:picture_id>/open")
@allow(Role.PIT_SUPERVISOR)
def open_picture(picture_id: int) -> ResponseReturnValue:
    """Show a picture to a supervisor who says why; the audit trail knows by then."""
    fields = take(json_body(), {"reason": text})
    answer = studio().pictures.open(person().actor, picture_id, reason=fields["reason"])
    return jsonify(answer)


@pit.post("/rounds/<round_id>/correction")
@allow(Role.PIT_SUPERVISOR)
def preview_correction(round_id: str) -> ResponseReturnValue:
    """Return what a correction of a settled round would do; writes nothing.

    `cards` maps places to faces; null: the round is annulled.
    """
    body = take(json_body(), {"version": integer, "cards": _as_it_is})
    answer = studio().tables.preview_correction(
        name(round_id, "round_id"), version=body["version"], cards=body["cards"]
    )
    return jsonify(answer)


@pit.post("/tables/<table>/refund")
@allow(Role.PIT_SUPERVISOR, Role.AUDITOR)
def preview_refund(table: str) -> ResponseReturnValue:
    """Return what the refund of several settled rounds would do; writes nothing.

    `rounds` maps round ids to the versions that stand.
    """
    body = take(json_body(), {"rounds": _as_it_is})
    answer = studio().tables.preview_refund(name(table, "table"), rounds=body["rounds"])
    return jsonify(answer)


@pit.get("/tables/<table>/shoes/<int:epoch>/rounds")
@allow(Role.PIT_SUPERVISOR, Role.AUDITOR)
def rounds_of_shoe(table: str, epoch: int) -> ResponseReturnValue:
    """Return the rounds of one shoe, in order."""
    answer = studio().reports.rounds_of_shoe(name(table, "table"), epoch=epoch)
    return jsonify({"rounds": answer})


def _as_it_is(value: object, _: str) -> Json:
    """Let the service read it: the command takes the same."""
    return value


@pit.get("/trail")
@allow(*READERS)
def trail() -> ResponseReturnValue:
    """Return lines of the audit trail, newest first."""
    before_id = query_integer("before", default=None)
    limit = query_integer("limit", default=TRAIL_LINES, most=TRAIL_LINES_MAX)
    return jsonify(studio().reports.trail(before_id=before_id, limit=limit or TRAIL_LINES))


@pit.get("/figures")
@allow(*READERS)
def figures() -> ResponseReturnValue:
    """Return revenue by hour, actual and theoretical return, and the quality of the scans."""
    table = request.args.get("table") or None
    hours = query_integer("hours", default=HOURS_DEFAULT, most=HOURS_MAX)
    return jsonify(
        studio().figures.figures(
            table=None if table is None else name(table, "table"),
            hours=HOURS_DEFAULT if hours is None else hours,
        )
    )


@pit.get("/tables/<table>/rounds")
@allow(*READERS)
def rounds(table: str) -> ResponseReturnValue:
    """Return a table's rounds with what was settled in them, newest first."""
    before = request.args.get("before") or None
    limit = query_integer("limit", default=TABLE_ROUNDS, most=TABLE_ROUNDS_MAX)
    return jsonify(
        studio().reports.rounds_of_table(
            table,
            before=None if before is None else name(before, "before"),
            limit=limit or TABLE_ROUNDS,
        )
    )


@pit.get("/deck-sets")
@allow(Role.DEALER, *READERS)
def deck_sets() -> ResponseReturnValue:
    """Return the registered deck sets."""
    return jsonify({"deck_sets": studio().reports.deck_sets()})
