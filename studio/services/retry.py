"""Running a unit of work again when it lost a race inside the database."""

from collections.abc import Callable
from typing import TypeVar

from studio.domain.errors import RefusedError, StudioError

UNIT_TRIES_MAX = 5
"""How often one unit is run before the caller is told to come back later."""

T = TypeVar("T")


class TryAgainError(Exception):
    """The database undid the whole unit for another's sake: nothing is stored, run it anew.

    A deadlock's victim, a failed serialisation, a lock that took too long. Not one of the three
    faults: nobody did anything wrong.
    """


class StorageError(StudioError):
    """The database can't be reached or written: full disk, lost connection, server stopped.

    Whether the last commit counted may be unknown: whoever asked asks again under the same id.
    Nobody did anything wrong, and no rule refused, so that it is none of the three faults.
    """


def again(work: Callable[[], T], *, tries: int = UNIT_TRIES_MAX) -> T:
    """Return what `work` returns; `work` opens its own unit, so that each try starts clean.

    Raises:
        RefusedError: `studio_busy` when every try lost.
    """
    for _ in range(tries):
        try:
            return work()
        except TryAgainError as error:
            lost = error
    raise RefusedError(
        "studio_busy", "The studio is busy; nothing was changed. Please try again."
    ) from lost
