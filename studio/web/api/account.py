"""Who am I, what do I have, what time is it."""

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue

from studio.services.ports import Role
from studio.web.guard import EVERYONE, allow, person
from studio.web.studio import studio

account = Blueprint("account", __name__)


@account.get("/me")
@allow(*EVERYONE)
def me() -> ResponseReturnValue:
    """Return the person who asks; a player's money with it."""
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
    return jsonify(answer)


@account.get("/clock")
@allow(*EVERYONE)
def clock() -> ResponseReturnValue:
    """Return the server's time, by which every deadline is meant."""
    return jsonify({"now_ms": studio().clock.now_ms()})
