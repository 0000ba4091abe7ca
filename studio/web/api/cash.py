"""Cash in and out of players' wallets, by an administrator."""

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue

from studio.domain.errors import RefusedError
from studio.services.ports import Role
from studio.web.guard import allow, person
from studio.web.parse import amount, integer, json_body, one_of, take, text, uuid_text
from studio.web.studio import studio

cash = Blueprint("cash", __name__)


@cash.post("/cash")
@allow(Role.ADMINISTRATOR)
def move() -> ResponseReturnValue:
    """Move cash once per id; only players have wallets."""
    body = take(
        json_body(),
        {
            "id": uuid_text,
            "player_id": integer,
            "direction": one_of("in", "out"),
            "amount_minor": amount,
            "reason": text,
        },
    )
    player = studio().people.get(body["player_id"])
    if player is None or player.role is not Role.PLAYER:
        raise RefusedError("unknown_player", "There is no such player.")
    sign = 1 if body["direction"] == "in" else -1
    balance = studio().cash.move(
        person().actor,
        id=body["id"],
        player_id=player.id,
        amount_minor=sign * body["amount_minor"],
        reason=body["reason"],
    )
    return jsonify({"balance_minor": balance.balance_minor, "held_minor": balance.held_minor})
