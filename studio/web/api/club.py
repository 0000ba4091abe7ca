"""The club of a play-money studio: medals, shop, options."""

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue

from studio.services.ports import Role
from studio.web.guard import allow, person
from studio.web.parse import json_body, name, take, uuid_text
from studio.web.studio import club

club_doors = Blueprint("club", __name__)


@club_doors.get("/club")
@allow(Role.PLAYER)
def show() -> ResponseReturnValue:
    """Return the player's medals, the shop and what is in use."""
    return jsonify(club().club(person().actor))


@club_doors.post("/club/purchases")
@allow(Role.PLAYER)
def buy() -> ResponseReturnValue:
    """Buy an item: 201, or 200 when the same request was answered before."""
    service = club()
    body = take(json_body(), {"id": uuid_text, "item": name})
    bought = service.buy(person().actor, id=body["id"], item=body["item"])
    return jsonify(bought.club), 200 if bought.repeated else 201


@club_doors.post("/club/options")
@allow(Role.PLAYER)
def choose() -> ResponseReturnValue:
    """Change the options that are named; everything else stays."""
    service = club()
    return jsonify(service.choose(person().actor, json_body()))
