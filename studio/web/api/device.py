"""Doors for scanners and streams, which show a key of their own."""

from flask import Blueprint, jsonify, request
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import Forbidden

from studio.domain.errors import MalformedError
from studio.domain.game import Json
from studio.services.scan_reasons import REASONS
from studio.web.guard import device, devices_only
from studio.web.parse import integer, json_body, name, one_of, take
from studio.web.studio import studio

PICTURE_BODY_BYTES_MAX = 800 * 1024
"""A whole frame and a card in base64, and what is said of them."""

device_doors = Blueprint("device", __name__)


@device_doors.post("/device/reports")
@devices_only
def report() -> ResponseReturnValue:
    """Take what a scanner read, once per report id."""
    body = json_body()
    _own_table(body.get("table"))
    _own_report(body.get("id"), "id")
    return jsonify(studio().devices.report(device().name, body))


@device_doors.post("/device/pictures")
@devices_only
def picture() -> ResponseReturnValue:
    """Take the picture of a report, once."""
    request.max_content_length = PICTURE_BODY_BYTES_MAX
    fields = take(
        json_body(),
        {"table": name, "report": _own_report, "frame": _any, "captured_ms": integer},
        {"card": _any, "reason": one_of(*sorted(REASONS))},
    )
    _own_table(fields["table"])
    answer = studio().pictures.take(
        device().name,
        table=fields["table"],
        report_id=fields["report"],
        captured_ms=fields["captured_ms"],
        frame=fields["frame"],
        card=fields["card"],
    )
    return jsonify(answer)


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


def _own_report(value: object, _: str) -> str:
    if not isinstance(value, str) or not value.startswith(f"{device().name}-"):
        raise MalformedError(
            "report_id", f"A report's id must begin with the device's name: {device().name}-."
        )
    return value


def _any(value: object, _: str) -> Json:
    """Leave a value to the use case, which knows what a picture is."""
    return value


def _own_table(value: Json) -> str:
    table = name(value, "table")
    if table not in device().tables:
        raise Forbidden(f"The device {device().name} may not speak for this table.")
    return table
