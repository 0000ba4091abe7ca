"""Checks of the pictures: each belongs to a report that was taken and to what that led to."""

from collections.abc import Iterator

from sqlalchemy import Connection, and_, or_, select

from studio.domain.events import CardHeld, ReadFailed
from studio.services.inspection import FAULTS_PER_CHECK_MAX, Fault
from studio.store.picture_tables import scan_picture
from studio.store.tables import event, scan_report

_KINDS = (ReadFailed.__name__, CardHeld.__name__)

_WITHOUT_REPORT = (
    select(scan_picture.c.id, scan_picture.c.report_id)
    .outerjoin(
        scan_report,
        and_(
            scan_report.c.device == scan_picture.c.device,
            scan_report.c.report_id == scan_picture.c.report_id,
        ),
    )
    .where(scan_report.c.device.is_(None))
    .order_by(scan_picture.c.id)
    .limit(FAULTS_PER_CHECK_MAX)
)

_WITHOUT_EVENT = (
    select(scan_picture.c.id, scan_picture.c.table_code, scan_picture.c.epoch, scan_picture.c.seq)
    .outerjoin(
        event,
        and_(
            event.c.table_code == scan_picture.c.table_code,
            event.c.epoch == scan_picture.c.epoch,
            event.c.seq == scan_picture.c.seq,
        ),
    )
    .where(
        or_(
            event.c.kind.is_(None),
            event.c.kind.not_in(_KINDS),
            event.c.at_ms != scan_picture.c.wanted_ms,
        )
    )
    .order_by(scan_picture.c.id)
    .limit(FAULTS_PER_CHECK_MAX)
)


def faults(connection: Connection) -> Iterator[Fault]:
    """Run both checks; name at most FAULTS_PER_CHECK_MAX places each. No content is read."""
    for picture_id, report_id in connection.execute(_WITHOUT_REPORT):
        yield Fault(
            code="picture_without_report",
            where=f"picture {picture_id}",
            what=f"Its report {report_id} was never taken.",
        )
    for picture_id, table, epoch, seq in connection.execute(_WITHOUT_EVENT):
        yield Fault(
            code="picture_differs",
            where=f"picture {picture_id}",
            what=f"{table} {epoch}/{seq} is no failed read and no held card of its time.",
        )
