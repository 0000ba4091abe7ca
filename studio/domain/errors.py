"""Three faults, three classes: unreadable, not now, our own bug.

Every error carries a `code` (snake_case, named after the broken rule; the screens translate it),
a `message` (one English sentence that says what was wrong and what to do) and `details`
(plain values for the message, never a card that is still sealed).
"""

from collections.abc import Mapping
from typing import TypeAlias

Detail: TypeAlias = str | int | bool | None


class StudioError(Exception):
    """Base of the three; never raised itself."""

    def __init__(self, code: str, message: str, **details: Detail) -> None:
        """Keep `code`, the sentence and the values it speaks of."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.details: Mapping[str, Detail] = details


class MalformedError(StudioError):
    """The request can't be read: wrong type, unknown name, impossible number (HTTP 400)."""


class RefusedError(StudioError):
    """The request is readable but a rule forbids it now (HTTP 409)."""


class InvariantError(StudioError):
    """Something that is always true is not: freeze the table, call the pit, never swallow."""
