"""Who am I, what do I have, what time is it."""

from dataclasses import asdict

from flask import Blueprint, jsonify, session
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import Unauthorized

from studio.services.ports import Role
from studio.services.sessions import session_left
from studio.web.guard import EVERYONE, allow, person
from studio.web.login import SESSION_KEY
from studio.web.parse import json_body, take
from studio.web.studio import studio

account = Blueprint("account", __name__)


@account.get("/me")
@allow(*EVERYONE)
def me() -> ResponseReturnValue:
    """Return the person who asks; a player's money and a dealer's games with it."""
    one = person()
    currency = studio().currency
    answer: dict[str, object] = {
        "id": one.id,
        "name": one.display_name,
        "role": one.role.value,
        "language": one.language,
        "currency": {"code": currency.code, "decimals": currency.decimals},
    }
    if one.role is Role.PLAYER:
        balance = studio().reports.balance(one.id)
        answer["balance_minor"] = balance.balance_minor
        answer["held_minor"] = balance.held_minor
        answer["owed_minor"] = balance.owed_minor
        answer["correction_due"] = studio().tables.corrections_due(one.id)
        answer["play_money"] = currency.play
        club = studio().club
        if club is not None:
            answer["options"] = club.options(one.id)
    if one.role is Role.DEALER:
        answer["games"] = sorted(one.games)
    return jsonify(answer)


@account.get("/clock")
@allow(*EVERYONE)
def clock() -> ResponseReturnValue:
    """Return the server's time, by which every deadline is meant."""
    return jsonify({"now_ms": studio().clock.now_ms()})


@account.get("/session")
@allow(*EVERYONE)
def session_end() -> ResponseReturnValue:
    """Return when the session ends; a page that asks by itself says so and keeps nothing open."""
    return _session()


@account.post("/session")
@allow(*EVERYONE)
def stay() -> ResponseReturnValue:
    """Note that the person is there: the request itself puts the end by inactivity off."""
    take(json_body(), {})
    return _session()


def _session() -> ResponseReturnValue:
    left = session_left(studio().people, session[SESSION_KEY])
    if left is None:
        raise Unauthorized("Log in first.")
    return jsonify(asdict(left))
