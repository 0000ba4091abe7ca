"""What the simulated studio has none of: pictures of cards, and play that is disabled."""

from collections.abc import Collection, Mapping, Sequence
from typing import NoReturn

from studio.domain.errors import InvariantError, RefusedError
from studio.services.club_ports import Club
from studio.services.disabled_ports import Disabled, DisabledRow
from studio.services.figure_rows import Figures
from studio.services.picture_ports import (
    NewPicture,
    Picture,
    PictureRow,
    Pictures,
    WantedPicture,
)
from studio.services.play_ports import Rooms
from studio.services.retention_ports import Forgetting


class NoPictures(Pictures):
    """See the port for every method; nothing is kept."""

    def want(self, wanted: WantedPicture) -> None:
        """See the port; it is not asked for."""

    def wants(self, *, device: str, report_id: str) -> bool:
        """See the port."""
        return False

    def take(self, picture: NewPicture) -> bool:
        """See the port."""
        raise RefusedError("picture_not_wanted", "The simulated studio wants no pictures.")

    def forget(self, *, before_ms: int) -> int:
        """See the port."""
        return 0

    def taken(self, table: str, *, limit: int) -> Sequence[PictureRow]:
        """See the port."""
        return ()

    def newest(self) -> Mapping[str, int]:
        """See the port."""
        return {}

    def wanted_at(self, times_ms: Collection[int]) -> Mapping[tuple[str, int], int]:
        """See the port."""
        return {}

    def open(self, picture_id: int) -> Picture:
        """See the port."""
        raise RefusedError("unknown_picture", "The simulated studio keeps no pictures.")


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
