"""The pictures of the simulated studio: whether they have come, not what they show."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from studio.domain.errors import RefusedError
from studio.services.picture_ports import (
    NewPicture,
    Picture,
    PictureRow,
    Pictures,
    WantedPicture,
)
from studio.simulation.disk import Disk, KeptPicture


class MemoryPictures(Pictures):
    """See the port for every method."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def want(self, wanted: WantedPicture) -> None:
        """See the port."""
        kept = self._disk.pictures
        self._disk.set_item(kept, len(kept) + 1, KeptPicture(wanted=wanted, came=False))

    def _of(self, *, device: str, report_id: str) -> tuple[int, KeptPicture] | None:
        for picture_id, kept in self._disk.pictures.items():
            if (kept.wanted.device, kept.wanted.report_id) == (device, report_id):
                return picture_id, kept
        return None

    def wants(self, *, device: str, report_id: str) -> bool:
        """See the port."""
        found = self._of(device=device, report_id=report_id)
        return found is not None and not found[1].came

    def take(self, picture: NewPicture) -> bool:
        """See the port."""
        found = self._of(device=picture.device, report_id=picture.report_id)
        if found is None or found[1].wanted.table != picture.table:
            raise RefusedError("picture_not_wanted", "The studio wants no such picture.")
        picture_id, kept = found
        self._disk.set_item(self._disk.pictures, picture_id, replace(kept, came=True))
        return not kept.came

    def taken(self, table: str, *, limit: int) -> Sequence[PictureRow]:
        """See the port; nobody there asks for the list."""
        return ()

    def newest(self) -> Mapping[str, int]:
        """See the port."""
        came = [(id, kept) for id, kept in self._disk.pictures.items() if kept.came]
        return {kept.wanted.table: id for id, kept in came}

    def wanted_at(self, times_ms: Collection[int]) -> Mapping[tuple[str, int], int]:
        """See the port; nobody there looks at alarms' pictures."""
        return {}

    def place(self, picture_id: int, *, table: str) -> tuple[int, int] | None:
        """See the port."""
        kept = self._disk.pictures.get(picture_id)
        if kept is None or not kept.came or kept.wanted.table != table:
            return None
        return kept.wanted.epoch, kept.wanted.seq

    def open(self, picture_id: int) -> Picture:
        """See the port."""
        raise RefusedError("unknown_picture", "The simulated studio keeps no content.")
