"""Placing and undoing wagers: by request, with the client's own id, never by socket."""

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue

from studio.services.ports import Placed, Role
from studio.services.reports import wager_json
from studio.web.guard import READERS, allow, person
from studio.web.parse import amount, json_body, name, take, uuid_text
from studio.web.studio import studio

wagers = Blueprint("wagers", __name__)


@wagers.post("/rounds/<round_id>/wagers")
@allow(Role.PLAYER)
def place(round_id: str) -> ResponseReturnValue:
    """Accept a wager: 201, or 200 when the same request was answered before."""
    body = take(json_body(), {"id": uuid_text, "bet": name, "stake_minor": amount})
    placed = studio().wagers.place(
        person().actor,
        round_id=name(round_id, "round_id"),
        wager_id=body["id"],
        bet=body["bet"],
        stake_minor=body["stake_minor"],
    )
    return jsonify(_answer(placed)), 200 if placed.repeated else 201


@wagers.post("/wagers/<wager_id>/undo")
@allow(Role.PLAYER)
def undo(wager_id: str) -> ResponseReturnValue:
    """Take a wager back while the window is open."""
    take(json_body(), {})
    placed = studio().wagers.undo(person().actor, wager_id=uuid_text(wager_id, "id"))
    return jsonify(_answer(placed))


@wagers.get("/rounds/<round_id>/wagers")
@allow(Role.PLAYER, *READERS)
def of_round(round_id: str) -> ResponseReturnValue:
    """Return a player's own wagers; to the pit and the auditor everybody's, with names."""
    one = person()
    own = one.id if one.role is Role.PLAYER else None
    found = studio().reports.wagers_of_round(name(round_id, "round_id"), player_id=own)
    return jsonify({"wagers": found})


def _answer(placed: Placed) -> dict[str, object]:
    return {
        "wager": wager_json(placed.wager),
        "balance_minor": placed.balance_minor,
        "held_minor": placed.held_minor,
    }
