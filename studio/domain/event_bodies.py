"""The JSON form of the events: what is stored, hashed and published, and the way back."""

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias, cast, get_args, get_origin, get_type_hints

from studio.domain.errors import InvariantError
from studio.domain.event_parts import SealedCard
from studio.domain.events import EVENT_KINDS, Event
from studio.domain.game import Json

_Read: TypeAlias = Callable[[Json], Json]


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
    try:
        values = {
            name: read(body[name])
            for name, read, needed in _fields(cast(type, event_type))
            if needed or name in body
        }
    except (KeyError, TypeError) as error:
        raise InvariantError("event_body", f"The body of a {kind} can't be read.") from error
    return event_type(**values, sealed=sealed)


def _plain(value: Json) -> Json:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


@cache
def _fields(of: type) -> tuple[tuple[str, _Read, bool], ...]:
    """Return a dataclass's fields: name, how it is read, and whether every line has it.

    A field that came later has a default, and older lines are without it.
    """
    hints = get_type_hints(of)
    return tuple(
        (field.name, _reader(hints[field.name]), field.default is dataclasses.MISSING)
        for field in dataclasses.fields(of)
        if field.name != "sealed"
    )


@cache
def _reader(hint: Any) -> _Read:
    """Return what makes a field's value of its JSON; worked out once, a replay asks so often."""
    if get_origin(hint) is tuple:
        read = _reader(get_args(hint)[0])
        return lambda value: tuple(read(item) for item in value)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return lambda value: hint(**{name: read(value[name]) for name, read, _ in _fields(hint)})
    return lambda value: value
