"""Reading requests: exactly the fields that are known, exactly the types that are meant.

A number in a string, a float for an amount, an unknown or repeated field: nothing is guessed,
everything is answered with the name of the field.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from flask import request

from studio.domain.errors import MalformedError
from studio.domain.game import Json
from studio.domain.money import parse_amount_minor
from studio.services.wagers import parse_uuid

TEXT_CHARS_MAX: Final = 300
INTEGER_MAX: Final = 2**53 - 1
"""JSON numbers beyond this are not exact in a browser."""
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
DIGITS: Final = re.compile(r"[0-9]{1,15}")

Parser: TypeAlias = Callable[[object, str], Json]


def json_body() -> Mapping[str, Json]:
    """Return the request's JSON object.

    Raises:
        MalformedError: `not_json`, `not_an_object`, `field_repeated`.
    """
    if not request.is_json:
        raise MalformedError("not_json", "Send a JSON object with Content-Type: application/json.")
    try:
        body = json.loads(
            request.get_data(cache=True), object_pairs_hook=_object, parse_constant=_no_constant
        )
    except (ValueError, RecursionError) as error:
        raise MalformedError("not_json", "The request's body is not JSON.") from error
    if not isinstance(body, dict):
        raise MalformedError("not_an_object", "The request's body must be a JSON object.")
    return body


def take(
    body: Mapping[str, Json],
    required: Mapping[str, Parser],
    optional: Mapping[str, Parser] | None = None,
) -> dict[str, Json]:
    """Return the fields of `body`, each parsed; an optional field that is absent is None.

    Raises:
        MalformedError: `unknown_field`, `missing_field`, or what a parser says.
    """
    optional = optional or {}
    for key in body:
        if key not in required and key not in optional:
            allowed = ", ".join([*required, *optional]) or "none"
            raise MalformedError("unknown_field", f"Unknown field; allowed: {allowed}.")
    for key in required:
        if key not in body:
            raise MalformedError("missing_field", f"The field {key} is missing.", name=key)
    taken = {key: parser(body[key], key) for key, parser in required.items()}
    for key, parser in optional.items():
        taken[key] = parser(body[key], key) if body.get(key) is not None else None
    return taken


def amount(value: object, name: str) -> int:
    """Return a positive whole number of minor units."""
    return parse_amount_minor(value, name=name)


def integer(value: object, name: str) -> int:
    """Return a whole number of 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= INTEGER_MAX:
        raise MalformedError(
            "not_an_integer", f"{name} must be a whole number, 0 to {INTEGER_MAX}.", name=name
        )
    return value


def boolean(value: object, name: str) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise MalformedError("not_a_boolean", f"{name} must be true or false.", name=name)
    return value


def text(value: object, name: str) -> str:
    """Return a printable text without spaces round it."""
    if not isinstance(value, str) or not value.isprintable() or not value.strip():
        raise MalformedError("not_a_text", f"{name} must be a printable text.", name=name)
    if len(value) > TEXT_CHARS_MAX:
        raise MalformedError(
            "text_too_long", f"{name} must be at most {TEXT_CHARS_MAX} characters.", name=name
        )
    return value.strip()


def secret(value: object, name: str) -> str:
    """Return a password or PIN as it is typed, spaces included."""
    if not isinstance(value, str) or not value.isprintable() or len(value) > TEXT_CHARS_MAX:
        raise MalformedError("not_a_text", f"{name} must be a printable text.", name=name)
    return value


def name(value: object, field: str) -> str:
    """Return a name as tables, bets and rounds have one."""
    if not isinstance(value, str) or NAME.fullmatch(value) is None:
        raise MalformedError(
            "not_a_name", f"{field} must be letters, digits, dot, dash, underscore.", name=field
        )
    return value


def one_of(*allowed: str) -> Parser:
    """Return a parser for one of some words."""

    def parse(value: object, field: str) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise MalformedError(
                "not_allowed", f"{field} must be one of {', '.join(allowed)}.", name=field
            )
        return value

    return parse


def uuid_text(value: object, field: str) -> str:
    """Return a UUID in its one spelling."""
    return parse_uuid(value, name=field)


def query_integer(field: str, *, default: int | None, most: int = INTEGER_MAX) -> int | None:
    """Return a whole number of the address's query.

    Raises:
        MalformedError: `not_an_integer`.
    """
    value = request.args.get(field)
    if value is None:
        return default
    if DIGITS.fullmatch(value) is None or int(value) > most:
        raise MalformedError(
            "not_an_integer", f"{field} must be a whole number, 0 to {most}.", name=field
        )
    return int(value)


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise MalformedError("field_repeated", "A field is named twice.")
    return found


def _no_constant(word: str) -> None:
    raise MalformedError("not_json", f"{word} is not JSON.")
