"""Cash in and out of players' wallets, and what they owe, by an administrator."""

from collections.abc import Mapping
from dataclasses import asdict

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue

from studio.domain.errors import RefusedError
from studio.domain.game import Json
from studio.services.owed_ports import OwedDeed
from studio.services.ports import Role
from studio.web.guard import allow, person
from studio.web.parse import amount, integer, json_body, one_of, take, text, uuid_text
from studio.web.studio import studio

cash = Blueprint("cash", __name__)

_MOVEMENT = {"id": uuid_text, "player_id": integer, "amount_minor": amount, "reason": text}


@cash.post("/cash")
@allow(Role.ADMINISTRATOR)
def move() -> ResponseReturnValue:
    """Move cash once per id; only players have wallets."""
    body = take(json_body(), {**_MOVEMENT, "direction": one_of("in", "out")})
    sign = 1 if body.pop("direction") == "in" else -1
    body["amount_minor"] *= sign
    _need_player(body["player_id"])
    return jsonify(asdict(studio().cash.move(person().actor, **body)))


@cash.post("/owed")
@allow(Role.ADMINISTRATOR)
def settle_owed() -> ResponseReturnValue:
    """Collect from the wallet what a player owes, or write it off, once per id."""
    body = take(json_body(), {**_MOVEMENT, "deed": one_of(*OwedDeed)})
    deed = OwedDeed(body.pop("deed"))
    _need_player(body["player_id"])
    return jsonify(asdict(studio().cash.settle_owed(person().actor, deed, **body)))


@cash.get("/owed")
@allow(Role.PLAYER)
def own_owed() -> ResponseReturnValue:
    """Return what the player who asks owes, and why, newest first."""
    return jsonify(_owed(person().id))


@cash.get("/people/<int:player_id>/owed")
@allow(Role.ADMINISTRATOR, Role.AUDITOR)
def owed_of(player_id: int) -> ResponseReturnValue:
    """Return what a player owes, and why, newest first."""
    _need_player(player_id)
    return jsonify(_owed(player_id))


def _owed(player_id: int) -> Mapping[str, Json]:
    balance, changes = studio().cash.owed(player_id)
    return {**asdict(balance), "changes": [asdict(change) for change in changes]}


def _need_player(player_id: int) -> None:
    player = studio().people.get(player_id)
    if player is None or player.role is not Role.PLAYER:
        raise RefusedError("unknown_player", "There is no such player.")
