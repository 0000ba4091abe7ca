"""What the store shows an audit: the log as a stream, the money as set queries."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from sqlalchemy import BigInteger, ColumnElement, Connection, case, func, literal, or_, select

from studio.services.inspection import FAULTS_PER_CHECK_MAX, Endings, Fault, Inspection
from studio.services.ports import ClosedBook, EndingKind, RoundRow, StoredEvent
from studio.store import (
    audit_club,
    audit_corrections,
    audit_file,
    audit_labels,
    audit_money,
    audit_pictures,
    audit_wagers,
    book,
)
from studio.store.events import SqlEventLog, events_of, stored_event
from studio.store.forfeits import without_stake_if_forfeited
from studio.store.pit import SqlDeckSets
from studio.store.rounds import round_row
from studio.store.settling import factor_table
from studio.store.sums import total
from studio.store.tables import round_, table_log, wager, wager_ending

STREAM_EVENTS = 500


class SqlInspection(Inspection):
    """See the port for every method."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._manifests: dict[int, Mapping[int, int] | None] = {}

    def tables(self) -> Sequence[str]:
        """See the port."""
        codes = select(table_log.c.table_code).order_by(table_log.c.table_code)
        return list(self._connection.scalars(codes))

    def events(self, table: str) -> Iterator[StoredEvent]:
        """See the port."""
        with self._connection.execute(
            events_of(table), execution_options={"yield_per": STREAM_EVENTS}
        ) as rows:
            for row in rows:
                yield stored_event(row)

    def log_end(self, table: str) -> tuple[int, int, str]:
        """See the port."""
        return SqlEventLog(self._connection).position(table)

    def rounds(self, table: str, epoch: int) -> Mapping[str, RoundRow]:
        """See the port."""
        rows = self._connection.execute(
            select(round_).where(round_.c.table_code == table, round_.c.epoch == epoch)
        )
        return {row.id: round_row(row) for row in rows}

    def round_count(self, table: str) -> int:
        """See the port."""
        return self._connection.execute(
            select(func.count()).select_from(round_).where(round_.c.table_code == table)
        ).scalar_one()

    def corrections(self, table: str, epoch: int) -> Sequence[StoredEvent]:
        """See the port."""
        return SqlEventLog(self._connection).corrections(table, epoch=epoch)

    def epoch_events(self, table: str, epoch: int) -> Sequence[StoredEvent]:
        """See the port."""
        return SqlEventLog(self._connection).read(table, epoch=epoch, after_seq=0)

    def manifest(self, deck_set: int) -> Mapping[int, int] | None:
        """See the port."""
        if deck_set not in self._manifests:
            found = SqlDeckSets(self._connection).get(deck_set)
            self._manifests[deck_set] = found.manifest if found else None
        return self._manifests[deck_set]

    def book(self, round_id: str) -> ClosedBook:
        """See the port."""
        return book.closed_book(self._connection, round_id)

    def endings(
        self, round_id: str, *, version: int, nets: Mapping[str, Fraction] | None
    ) -> Endings:
        """See the port."""
        ended = (
            wager.c.round_id == round_id,
            wager_ending.c.version == version,
            wager_ending.c.kind != EndingKind.UNDONE.value,
        )
        joined = wager.join(wager_ending, wager_ending.c.wager_number == wager.c.number)
        sums = self._connection.execute(
            select(func.count(), total(wager.c.stake_minor), total(wager_ending.c.payout_minor))
            .select_from(joined)
            .where(*ended)
        ).one()
        wrong = select(wager.c.id).where(*ended).order_by(wager.c.number)
        due: ColumnElement[int]
        if nets is None:
            kind, due = EndingKind.REFUNDED, wager.c.hold_minor
            wrong = wrong.select_from(joined)
        else:
            factors = factor_table(nets)
            kind = EndingKind.SETTLED
            due = without_stake_if_forfeited(_due(factors.c.num, factors.c.den))
            wrong = wrong.select_from(joined.outerjoin(factors, factors.c.bet == wager.c.bet))
        differs = or_(
            wager_ending.c.kind != kind.value,
            wager_ending.c.payout_minor != func.coalesce(due, -1),
        )
        ids = self._connection.scalars(wrong.where(differs).limit(FAULTS_PER_CHECK_MAX))
        return Endings(
            count=sums[0], turnover_minor=sums[1], payouts_minor=sums[2], wrong=list(ids)
        )

    def impossible_wagers(
        self, table: str, epoch: int, *, rule_version: str, exposures: Mapping[str, Fraction]
    ) -> Sequence[str]:
        """See the port."""
        return audit_wagers.impossible(
            self._connection,
            table,
            epoch=epoch,
            rule_version=rule_version,
            exposures=exposures,
        )

    def money(self) -> Iterator[Fault]:
        """See the port."""
        yield from audit_money.faults(self._connection)
        yield from audit_labels.faults(self._connection)
        yield from audit_corrections.faults(self._connection)
        yield from audit_club.faults(self._connection)
        yield from audit_pictures.faults(self._connection)
        yield from audit_file.faults(self._connection)


def _due(num: ColumnElement[int], den: ColumnElement[int]) -> ColumnElement[int]:
    exact = wager.c.hold_minor * den + wager.c.stake_minor * num
    return case((exact < 0, literal(-1, BigInteger)), else_=exact // den)
