"""What the simulated studio has none of: pictures of cards, and play that is disabled."""

from collections.abc import Collection, Mapping, Sequence

from studio.domain.errors import RefusedError
from studio.services.disabled_ports import Disabled, DisabledRow
from studio.services.picture_ports import (
    NewPicture,
    Picture,
    PictureRow,
    Pictures,
    WantedPicture,
)


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
