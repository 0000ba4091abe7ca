"""What was played: a player's rounds, one round to its last event."""

import csv
import io
from collections.abc import Iterator, Sequence

from flask import Blueprint, Response, jsonify, request
from flask.typing import ResponseReturnValue

from studio.domain.game import Json
from studio.services.ports import Role
from studio.services.reports import HISTORY_ROUNDS_MAX
from studio.web.guard import EVERYONE, READERS, allow, person, public
from studio.web.parse import json_body, name, query_integer, take, text
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


@history.get("/rounds/<round_id>/bundle")
@allow(Role.PLAYER)
def own_bundle(round_id: str) -> ResponseReturnValue:
    """Return a round as signed evidence, with the player's own wagers."""
    bundle = studio().evidence.of_player(person().actor, name(round_id, "round_id"))
    return _download(bundle)


@history.post("/rounds/<round_id>/bundle")
@allow(*READERS)
def whole_bundle(round_id: str) -> ResponseReturnValue:
    """Return a round as signed evidence, with all wagers; it stands in the audit trail."""
    fields = take(json_body(), {"reason": text})
    bundle = studio().evidence.of_all(
        person().actor,
        name(round_id, "round_id"),
        reason=fields["reason"],
        pictures=person().role is Role.PIT_SUPERVISOR,
    )
    return _download(bundle)


@history.get("/signing-key")
@public
def signing_key() -> ResponseReturnValue:
    """Return the public key that the studio's evidence is signed with."""
    return jsonify({"algorithm": "Ed25519", "public_key": studio().evidence.signer.public_key})


def _download(bundle: dict[str, Json]) -> Response:
    answer = jsonify(bundle)
    file = f"{bundle['round_id']}.json"
    answer.headers["Content-Disposition"] = f'attachment; filename="{file}"'
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _csv(rows: Iterator[Sequence[Json]]) -> Iterator[str]:
    for row in rows:
        line = io.StringIO()
        csv.writer(line).writerow(row)
        yield line.getvalue()
