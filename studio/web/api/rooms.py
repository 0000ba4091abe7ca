"""Rooms of a play-money studio: mine, opening, joining, starting, leaving."""

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue

from studio.services.ports import Role
from studio.web.guard import allow, person
from studio.web.parse import json_body, name, take, text, uuid_text
from studio.web.studio import play_money

rooms = Blueprint("rooms", __name__)


@rooms.get("/rooms/mine")
@allow(Role.PLAYER)
def mine() -> ResponseReturnValue:
    """Return the room that the player is in, and what leaving it would forfeit."""
    return jsonify(play_money().rooms.mine(person().actor))


@rooms.post("/rooms")
@allow(Role.PLAYER)
def open_one() -> ResponseReturnValue:
    """Open a room at a table."""
    service = play_money().rooms
    body = take(json_body(), {"id": uuid_text, "table": name})
    return jsonify(service.open(person().actor, room_id=body["id"], table=body["table"])), 201


@rooms.post("/rooms/join")
@allow(Role.PLAYER)
def join() -> ResponseReturnValue:
    """Come into an open room by its invitation code."""
    service = play_money().rooms
    body = take(json_body(), {"code": text})
    return jsonify(service.join(person().actor, code=body["code"]))


@rooms.post("/rooms/<room_id>/start")
@allow(Role.PLAYER)
def start(room_id: str) -> ResponseReturnValue:
    """Start a room, as its owner."""
    service = play_money().rooms
    take(json_body(), {})
    return jsonify(service.start(person().actor, room_id=uuid_text(room_id, "id")))


@rooms.post("/rooms/<room_id>/leave")
@allow(Role.PLAYER)
def leave(room_id: str) -> ResponseReturnValue:
    """Leave a room; what stands in its running round is forfeited."""
    service = play_money().rooms
    take(json_body(), {})
    return jsonify(service.leave(person().actor, room_id=uuid_text(room_id, "id")))
