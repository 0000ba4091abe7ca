"""What the pictures of cards that did not read, or were held, need from the store.

A picture shows a card that may be sealed: its content is read by `open` alone, one at a time, and
everything else here tells only that it is there.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class WantedPicture:
    """A report whose picture the studio wants, and the event that it led to."""

    device: str
    report_id: str
    table: str
    epoch: int
    seq: int
    round_id: str | None
    why: str
    """Reason of the failed read, or the held card's fault."""
    at_ms: int


@dataclass(frozen=True, kw_only=True)
class NewPicture:
    """What a scanner sends for a report."""

    device: str
    report_id: str
    table: str
    frame: bytes
    """The whole frame, JPEG."""
    card: bytes | None
    """The card alone, straightened, JPEG; None when it was not found."""
    captured_ms: int
    """By the scanner's own clock: a stamp, nothing is decided by it."""
    at_ms: int


@dataclass(frozen=True, kw_only=True)
class PictureRow:
    """What may be said of a picture that is there."""

    id: int
    table: str
    round_id: str | None
    why: str
    report_id: str
    wanted_ms: int
    """When its report was taken: the time of the event and of the alarm it raised."""
    captured_ms: int


@dataclass(frozen=True, kw_only=True)
class Picture:
    """An opened picture."""

    about: PictureRow
    frame: bytes
    card: bytes | None


class Pictures(Protocol):
    """The kept pictures."""

    def want(self, wanted: WantedPicture) -> None:
        """Note that a report's picture is wanted; the report was taken in the same unit."""

    def wants(self, *, device: str, report_id: str) -> bool:
        """Return whether a report's picture is wanted and has not come."""

    def take(self, picture: NewPicture) -> bool:
        """Keep a picture; False when the report's picture was taken before.

        Raises:
            RefusedError: `picture_not_wanted` when no such report of the table wants one.
        """

    def taken(self, table: str, *, limit: int) -> Sequence[PictureRow]:
        """Return a table's latest pictures, newest first, without their content."""

    def newest(self) -> Mapping[str, int]:
        """Return the id of the latest picture by table."""

    def wanted_at(self, times_ms: Collection[int]) -> Mapping[tuple[str, int], int]:
        """Return the ids of the pictures that are there, by table and the time of the report."""

    def place(self, picture_id: int, *, table: str) -> tuple[int, int] | None:
        """Return epoch and number of the event whose report brought a picture of this table.

        None when there is no such picture, or it has not come.
        """

    def open(self, picture_id: int) -> Picture:
        """Return a picture with its content.

        Raises:
            RefusedError: `unknown_picture`.
        """


class PictureUnit(Protocol):
    """What a unit of work offers for pictures; mixed into `ports.UnitOfWork`."""

    @property
    def pictures(self) -> Pictures:
        """Pictures of cards."""
