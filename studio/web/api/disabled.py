"""Disabling play on demand, and enabling it again."""

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue

from studio.services.disabled_ports import EVERYTHING
from studio.services.ports import Role
from studio.web.guard import READERS, allow, person
from studio.web.parse import boolean, json_body, take, text
from studio.web.studio import studio

disabled = Blueprint("disabled", __name__)


@disabled.get("/disabled")
@allow(*READERS)
def shown() -> ResponseReturnValue:
    """Return what can be disabled, and what is."""
    rows = studio().disabling.all()
    return jsonify(
        {
            "scopes": [EVERYTHING, *sorted(studio().disabling.games)],
            "disabled": [
                {"scope": row.scope, "reason": row.reason, "by": row.by, "at_ms": row.at_ms}
                for row in rows
            ],
        }
    )


@disabled.post("/disabled")
@allow(Role.ADMINISTRATOR)
def change() -> ResponseReturnValue:
    """Disable a game or everything, or enable it again; a round in progress may end."""
    body = take(json_body(), {"scope": text, "disabled": boolean, "reason": text})
    studio().disabling.change(
        person().actor, scope=body["scope"], disabled=body["disabled"], reason=body["reason"]
    )
    return shown()
