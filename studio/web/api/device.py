"""Doors for scanners and streams, which show a key of their own."""

from flask import Blueprint, jsonify, request
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import Forbidden

from studio.domain.errors import MalformedError
from studio.domain.game import Json
from studio.web.guard import device, devices_only
from studio.web.parse import json_body, name
from studio.web.studio import studio

device_doors = Blueprint("device", __name__)


@device_doors.post("/device/reports")
@devices_only
def report() -> ResponseReturnValue:
    """Take what a scanner read, once per report id."""
    body = json_body()
    _own_table(body.get("table"))
    report_id = body.get("id")
    if not isinstance(report_id, str) or not report_id.startswith(f"{device().name}-"):
        raise MalformedError(
            "report_id", f"A report's id must begin with the device's name: {device().name}-."
        )
    return jsonify(studio().devices.report(device().name, body))


@device_doors.post("/device/heartbeat")
@devices_only
def heartbeat() -> ResponseReturnValue:
    """Note that a device is alive."""
    body = json_body()
    _own_table(body.get("table"))
    answer = studio().devices.heartbeat(device().name, body)
    return jsonify({**answer, "now_ms": studio().clock.now_ms()})


@device_doors.get("/device/shoe")
@devices_only
def shoe() -> ResponseReturnValue:
    """Return the manifest of the loaded deck set: which codes exist, not their order."""
    table = _own_table(request.args.get("table"))
    return jsonify(studio().devices.shoe(table))


def _own_table(value: Json) -> str:
    table = name(value, "table")
    if table not in device().tables:
        raise Forbidden(f"The device {device().name} may not speak for this table.")
    return table
