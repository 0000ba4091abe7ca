"""What was played: a player's rounds, one round to its last event."""

import csv
import io
from collections.abc import Iterator, Sequence

from flask import Blueprint, Response, jsonify, request
from flask.typing import ResponseReturnValue

from studio.domain.game import Json
from studio.services.ports import Role
from studio.services.reports import HISTORY_ROUNDS_MAX
from studio.web.guard import EVERYONE, allow, person
from studio.web.parse import name, query_integer
from studio.web.studio import studio

HISTORY_ROUNDS = 50

history = Blueprint("history", __name__)


@history.get("/history")
@allow(Role.PLAYER)
def own() -> ResponseReturnValue:
    """Return a player's own rounds, newest first."""
    before = request.args.get("before")
    limit = query_integer("limit", default=HISTORY_ROUNDS, most=HISTORY_ROUNDS_MAX)
    return jsonify(
        studio().reports.history(
            person().id,
            before=name(before, "before") if before is not None else None,
            limit=limit or HISTORY_ROUNDS,
        )
    )


@history.get("/history.csv")
@allow(Role.PLAYER)
def export() -> ResponseReturnValue:
    """Return a player's own wagers as a table for a spreadsheet."""
    answer = Response(
        _csv(studio().reports.export(person().id)), content_type="text/csv; charset=utf-8"
    )
    answer.headers["Content-Disposition"] = 'attachment; filename="history.csv"'
    return answer


@history.get("/rounds/<round_id>")
@allow(*EVERYONE)
def one_round(round_id: str) -> ResponseReturnValue:
    """Return a round with its events; cards that were never opened stay absent."""
    return jsonify(studio().tables.round_record(name(round_id, "round_id")))


def _csv(rows: Iterator[Sequence[Json]]) -> Iterator[str]:
    for row in rows:
        line = io.StringIO()
        csv.writer(line).writerow(row)
        yield line.getvalue()
