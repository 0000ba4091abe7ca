"""Units of work in SQL: one transaction, all repositories on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from types import TracebackType
from typing import Self

from sqlalchemy import Connection, Engine

from studio.domain.errors import InvariantError
from studio.services.ports import Clock, UnitOfWork, Units
from studio.store.audit import SqlInspection
from studio.store.clock import UnitClock
from studio.store.club import SqlClub
from studio.store.disabled import SqlDisabled
from studio.store.engine import WRITE_LOCK, WRITING, is_sqlite, reading, write_transaction
from studio.store.events import SqlEventLog
from studio.store.figures import SqlFigures
from studio.store.forgetting import SqlForgetting
from studio.store.leases import SqlLeases
from studio.store.ledger import HouseAccounts, SqlLedger, open_house
from studio.store.owing import SqlOwed
from studio.store.pictures import SqlPictures
from studio.store.pit import SqlAlarms, SqlCommands, SqlDeckSets, SqlReports, SqlTrail
from studio.store.qualifications import SqlQualifications
from studio.store.rooms import SqlRooms
from studio.store.rounds import SqlRounds
from studio.store.wagers import SqlWagers


class SqlUnit(UnitOfWork):
    """One transaction. `commit` ends it: the turn to write is given away at once."""

    def __init__(
        self,
        engine: Engine,
        *,
        turn: bool,
        clock: UnitClock,
        house: HouseAccounts,
        currency: str,
    ) -> None:
        self._engine = engine
        self._turn = turn
        self._clock = clock
        self._house = house
        self._currency = currency
        self._open: Connection | None = None

    def __enter__(self) -> Self:
        if self._turn:
            WRITE_LOCK.acquire()
        try:
            self._open = self._engine.connect()
            self._open.begin()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._open is not None:
            self._end()

    def commit(self) -> None:
        """See the port."""
        try:
            self.connection.commit()
        finally:
            self._end()

    def now_ms(self) -> int:
        """See the port."""
        return self._clock.now_ms(self.connection)

    @property
    def connection(self) -> Connection:
        """The transaction's connection, for the store's own use.

        Raises:
            InvariantError: `unit_over` before the unit is entered and after its commit.
        """
        if self._open is None:
            raise InvariantError("unit_over", "The unit of work is not open.")
        return self._open

    def _end(self) -> None:
        try:
            if self._open is not None:
                self._open.close()
        finally:
            self._open = None
            if self._turn:
                WRITE_LOCK.release()

    @cached_property
    def events(self) -> SqlEventLog:
        """See the port."""
        return SqlEventLog(self.connection)

    @cached_property
    def rounds(self) -> SqlRounds:
        """See the port."""
        return SqlRounds(self.connection)

    @cached_property
    def wagers(self) -> SqlWagers:
        """See the port."""
        return SqlWagers(self.connection, clock=self._clock, house=self._house)

    @cached_property
    def ledger(self) -> SqlLedger:
        """See the port."""
        return SqlLedger(
            self.connection, clock=self._clock, house=self._house, currency=self._currency
        )

    @cached_property
    def deck_sets(self) -> SqlDeckSets:
        """See the port."""
        return SqlDeckSets(self.connection)

    @cached_property
    def reports(self) -> SqlReports:
        """See the port."""
        return SqlReports(self.connection)

    @cached_property
    def alarms(self) -> SqlAlarms:
        """See the port."""
        return SqlAlarms(self.connection)

    @cached_property
    def trail(self) -> SqlTrail:
        """See the port."""
        return SqlTrail(self.connection)

    @cached_property
    def commands(self) -> SqlCommands:
        """See the port."""
        return SqlCommands(self.connection)

    @cached_property
    def qualifications(self) -> SqlQualifications:
        """See the port."""
        return SqlQualifications(self.connection)

    @cached_property
    def leases(self) -> SqlLeases:
        """See the port."""
        return SqlLeases(self.connection)

    @cached_property
    def owed(self) -> SqlOwed:
        """See the port."""
        return SqlOwed(self.connection, clock=self._clock, house=self._house)

    @cached_property
    def disabled(self) -> SqlDisabled:
        """See the port."""
        return SqlDisabled(self.connection)

    @cached_property
    def forgetting(self) -> SqlForgetting:
        """See the port."""
        return SqlForgetting(self.connection)

    @cached_property
    def club(self) -> SqlClub:
        """See the port."""
        return SqlClub(self.connection)

    @cached_property
    def pictures(self) -> SqlPictures:
        """See the port."""
        return SqlPictures(self.connection)

    @cached_property
    def rooms(self) -> SqlRooms:
        """See the port."""
        return SqlRooms(self.connection)

    @cached_property
    def figures(self) -> SqlFigures:
        """See the port."""
        return SqlFigures(self.connection)


class SqlUnits(Units):
    """Makes units of work on an engine whose schema is up to date.

    Args:
        engine: from `studio.store.engine.make_engine`.
        clock: decides deadlines on SQLite; PostgreSQL's own clock does there.
        currency: ISO code of the one currency this studio keeps.
        simulated_clock: replaces both clocks, for tests and simulations.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        clock: Clock,
        currency: str,
        simulated_clock: Clock | None = None,
    ) -> None:
        self._writing = engine.execution_options(**WRITING)
        self._reading = reading(engine)
        self._turn = is_sqlite(engine)
        self._clock = UnitClock(clock, simulated=simulated_clock)
        self._currency = currency
        with write_transaction(engine) as connection:
            self._house = open_house(connection, currency=currency)

    def write(self) -> SqlUnit:
        """See the port."""
        return self._unit(self._writing, turn=self._turn)

    def read(self) -> SqlUnit:
        """See the port."""
        return self._unit(self._reading, turn=False)

    @contextmanager
    def inspect(self) -> Iterator[SqlInspection]:
        """Give an audit one consistent snapshot."""
        with self.read() as unit:
            yield SqlInspection(unit.connection)

    def _unit(self, engine: Engine, *, turn: bool) -> SqlUnit:
        return SqlUnit(
            engine,
            turn=turn,
            clock=self._clock,
            house=self._house,
            currency=self._currency,
        )
