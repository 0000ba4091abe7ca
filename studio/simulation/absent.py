"""What the simulated studio has none of, such as play that is disabled."""

from collections.abc import Collection, Sequence
from typing import NoReturn

from studio.domain.errors import InvariantError, RefusedError
from studio.services.club_ports import Club
from studio.services.disabled_ports import Disabled, DisabledRow
from studio.services.figure_rows import Figures
from studio.services.play_ports import Rooms
from studio.services.retention_ports import Forgetting


class NothingDisabled(Disabled):
    """See the port for every method; everything may be opened."""

    def all(self) -> Sequence[DisabledRow]:
        """See the port."""
        return ()

    def first_of(self, scopes: Collection[str]) -> DisabledRow | None:
        """See the port."""
        return None

    def add(self, row: DisabledRow) -> bool:
        """See the port."""
        raise RefusedError("not_simulated", "Nothing is disabled in the simulated studio.")

    def remove(self, scope: str) -> bool:
        """See the port."""
        return False


class NotSimulated:
    """What no simulated unit offers, since nothing there asks for it."""

    @property
    def forgetting(self) -> Forgetting:
        """Not simulated: nothing there is old enough."""
        _not_simulated("retention")

    @property
    def rooms(self) -> Rooms:
        """Not simulated: the simulated studio plays for money."""
        _not_simulated("rooms")

    @property
    def club(self) -> Club:
        """Not simulated: the simulated studio plays for money."""
        _not_simulated("club")

    @property
    def figures(self) -> Figures:
        """Not simulated: sums for the pit change nothing."""
        _not_simulated("figures")


def _not_simulated(what: str) -> NoReturn:
    raise InvariantError("not_simulated", f"The simulated studio has no {what}.")
