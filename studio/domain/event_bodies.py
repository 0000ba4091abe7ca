"""The JSON form of the events: what is stored, hashed and published, and the way back."""

import dataclasses
from collections.abc import Mapping
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from studio.domain.errors import InvariantError
from studio.domain.event_parts import SealedCard
from studio.domain.events import EVENT_KINDS, Event
from studio.domain.game import Json


def to_body(event: Event) -> dict[str, Json]:
    """Return the public JSON body."""
    return {
        field.name: _plain(getattr(event, field.name))
        for field in dataclasses.fields(event)
        if field.name != "sealed"
    }


def from_body(kind: str, body: Mapping[str, Json], sealed: SealedCard | None) -> Event:
    """Return the event of a stored line.

    Raises:
        InvariantError: `unknown_event` or `event_body` when the line was not written by us.
    """
    if kind not in EVENT_KINDS:
        raise InvariantError("unknown_event", f"The log holds an unknown event {kind!r}.")
    event_type = EVENT_KINDS[kind]
    hints = _hints(event_type)
    try:
        values = {
            field.name: _typed(hints[field.name], body[field.name])
            for field in dataclasses.fields(event_type)
            # A field that came later has a default, and older lines are without it.
            if field.name in body or (field.default is dataclasses.MISSING)
        }
    except (KeyError, TypeError) as error:
        raise InvariantError("event_body", f"The body of a {kind} can't be read.") from error
    return event_type(**values, sealed=sealed)


_HINTS: dict[object, Mapping[str, Any]] = {}
"""By dataclass; worked out once, since a replay asks for each event."""


def _hints(of: object) -> Mapping[str, Any]:
    if of not in _HINTS:
        _HINTS[of] = get_type_hints(of)
    return _HINTS[of]


def _plain(value: Json) -> Json:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _typed(hint: Any, value: Json) -> Json:
    origin: Any = get_origin(hint)
    if isinstance(hint, UnionType):
        return value
    if origin is tuple:
        return tuple(_typed(get_args(hint)[0], item) for item in value)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        hints = _hints(hint)
        fields = dataclasses.fields(hint)
        return hint(
            **{field.name: _typed(hints[field.name], value[field.name]) for field in fields}
        )
    return value
