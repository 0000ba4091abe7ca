"""The time that decides deadlines."""

from sqlalchemy import BigInteger, ColumnElement, Connection, cast, extract, func, select

from studio.services.ports import Clock

_DATABASE_NOW: ColumnElement[int] = cast(
    func.floor(extract("epoch", func.clock_timestamp()) * 1000), BigInteger
)


class UnitClock:
    """PostgreSQL's own clock there, so that several processes share one; else the injected one.

    `simulated` replaces both: tests and simulations decide what time it is.
    """

    def __init__(self, clock: Clock, *, simulated: Clock | None = None) -> None:
        self._clock = clock
        self._simulated = simulated

    def simulated_ms(self) -> int | None:
        """Return what a simulation says the time is; None where a real clock decides."""
        return None if self._simulated is None else self._simulated.now_ms()

    def now_ms(self, connection: Connection) -> int:
        """Return now, in milliseconds since 1970 UTC."""
        if self._simulated is not None:
            return self._simulated.now_ms()
        if connection.dialect.name == "postgresql":
            return connection.execute(select(_DATABASE_NOW)).scalar_one()
        return self._clock.now_ms()
