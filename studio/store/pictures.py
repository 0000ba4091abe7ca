"""Pictures of cards in SQL."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from studio.domain.errors import RefusedError
from studio.services.picture_ports import (
    NewPicture,
    Picture,
    PictureRow,
    Pictures,
    WantedPicture,
)
from studio.store.picture_tables import scan_picture

_ABOUT = [
    scan_picture.c[name]
    for name in ("id", "table_code", "round_id", "why", "report_id", "wanted_ms", "captured_ms")
]
_WHOLE = [*_ABOUT, scan_picture.c.frame, scan_picture.c.card]
_THERE = scan_picture.c.taken_ms.is_not(None)


class SqlPictures(Pictures):
    """See the port for every method."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def want(self, wanted: WantedPicture) -> None:
        """See the port."""
        self._connection.execute(
            insert(scan_picture),
            {
                "device": wanted.device,
                "report_id": wanted.report_id,
                "table_code": wanted.table,
                "epoch": wanted.epoch,
                "seq": wanted.seq,
                "round_id": wanted.round_id,
                "why": wanted.why,
                "wanted_ms": wanted.at_ms,
            },
        )

    def wants(self, *, device: str, report_id: str) -> bool:
        """See the port."""
        found = select(scan_picture.c.id).where(
            scan_picture.c.device == device, scan_picture.c.report_id == report_id, ~_THERE
        )
        return self._connection.execute(found).first() is not None

    def take(self, picture: NewPicture) -> bool:
        """See the port."""
        own = (
            scan_picture.c.device == picture.device,
            scan_picture.c.report_id == picture.report_id,
            scan_picture.c.table_code == picture.table,
        )
        kept = self._connection.execute(
            update(scan_picture)
            .where(*own, ~_THERE)
            .values(
                frame=picture.frame,
                card=picture.card,
                captured_ms=picture.captured_ms,
                taken_ms=picture.at_ms,
            )
        )
        if kept.rowcount == 1:
            return True
        if self._connection.execute(select(scan_picture.c.id).where(*own)).first() is None:
            raise RefusedError(
                "picture_not_wanted",
                f"The studio wants no picture of report {picture.report_id}.",
                report_id=picture.report_id,
            )
        return False

    def taken(self, table: str, *, limit: int) -> Sequence[PictureRow]:
        """See the port."""
        rows = self._connection.execute(
            select(*_ABOUT)
            .where(scan_picture.c.table_code == table, _THERE)
            .order_by(scan_picture.c.id.desc())
            .limit(limit)
        )
        return [_row(row) for row in rows]

    def newest(self) -> Mapping[str, int]:
        """See the port."""
        rows = self._connection.execute(
            select(scan_picture.c.table_code, func.max(scan_picture.c.id))
            .where(_THERE)
            .group_by(scan_picture.c.table_code)
        )
        return {table: picture_id for table, picture_id in rows}

    def wanted_at(self, times_ms: Collection[int]) -> Mapping[tuple[str, int], int]:
        """See the port."""
        rows = self._connection.execute(
            select(scan_picture.c.table_code, scan_picture.c.wanted_ms, scan_picture.c.id)
            .where(scan_picture.c.wanted_ms.in_(sorted(times_ms)), _THERE)
            .order_by(scan_picture.c.id)
        )
        return {(table, wanted_ms): picture_id for table, wanted_ms, picture_id in rows}

    def place(self, picture_id: int, *, table: str) -> tuple[int, int] | None:
        """See the port."""
        row = self._connection.execute(
            select(scan_picture.c.epoch, scan_picture.c.seq).where(
                scan_picture.c.id == picture_id, scan_picture.c.table_code == table, _THERE
            )
        ).first()
        return None if row is None else (row.epoch, row.seq)

    def open(self, picture_id: int) -> Picture:
        """See the port."""
        row = self._connection.execute(
            select(*_WHOLE).where(scan_picture.c.id == picture_id, _THERE)
        ).first()
        if row is None:
            raise RefusedError(
                "unknown_picture", "There is no such picture, or it is no longer kept."
            )
        return Picture(about=_row(row), frame=row.frame, card=row.card)


def _row(row: Row[Any]) -> PictureRow:
    return PictureRow(
        id=row.id,
        table=row.table_code,
        round_id=row.round_id,
        why=row.why,
        report_id=row.report_id,
        wanted_ms=row.wanted_ms,
        captured_ms=row.captured_ms,
    )
