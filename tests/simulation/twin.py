"""Units that do everything twice, in the simulated book and in SQL, and compare the answers."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from studio.domain.errors import StudioError
from studio.services.choice_ports import OpenBook
from studio.services.correction_ports import (
    BookCorrected,
    PayoutChange,
    PlayerChange,
    Refund,
)
from studio.services.owed_ports import Owed, OwedDeed
from studio.services.ports import Balance, BookSettled, Cashed, ClosedBook, Placed, WagerRequest
from studio.simulation.book import MemoryLedger, MemoryWagers
from studio.simulation.memory import MemoryUnit, MemoryUnits
from studio.store.units import SqlUnit, SqlUnits

T = TypeVar("T")


def both(simulated: Callable[[], T], stored: Callable[[], T]) -> T:
    """Return what both say; a refusal has to be the same refusal."""
    answers: list[T] = []
    refusals: list[StudioError] = []
    for work in (simulated, stored):
        try:
            answers.append(work())
        except StudioError as refusal:
            refusals.append(refusal)
    if refusals:
        assert len(refusals) == 2, f"one refuses and one answers: {refusals} {answers}"
        assert refusals[0].code == refusals[1].code
        raise refusals[0]
    assert answers[0] == answers[1]
    return answers[0]


class TwinWagers(MemoryWagers):
    """The book, twice."""

    def __init__(self, first: MemoryWagers, sql: SqlUnit) -> None:
        self._first = first
        self._sql = sql

    def place(self, request: WagerRequest) -> Placed:
        return both(lambda: self._first.place(request), lambda: self._sql.wagers.place(request))

    def undo(self, wager_id: str, *, player_id: int) -> Placed:
        return both(
            lambda: self._first.undo(wager_id, player_id=player_id),
            lambda: self._sql.wagers.undo(wager_id, player_id=player_id),
        )

    def close(self, round_id: str) -> ClosedBook:
        return both(lambda: self._first.close(round_id), lambda: self._sql.wagers.close(round_id))

    def settle(self, round_id: str, *, version: int, nets: Mapping[str, Fraction]) -> BookSettled:
        return both(
            lambda: self._first.settle(round_id, version=version, nets=nets),
            lambda: self._sql.wagers.settle(round_id, version=version, nets=nets),
        )

    def refund(self, round_id: str, *, version: int) -> BookSettled:
        return both(
            lambda: self._first.refund(round_id, version=version),
            lambda: self._sql.wagers.refund(round_id, version=version),
        )

    def correct(self, round_id: str, *, version: int, nets) -> BookCorrected:
        return both(
            lambda: self._first.correct(round_id, version=version, nets=nets),
            lambda: self._sql.wagers.correct(round_id, version=version, nets=nets),
        )

    def would_correct(self, round_id: str, *, version: int, nets) -> BookCorrected:
        return both(
            lambda: self._first.would_correct(round_id, version=version, nets=nets),
            lambda: self._sql.wagers.would_correct(round_id, version=version, nets=nets),
        )

    def payout_changes(self, round_id: str, *, version: int) -> Mapping[int, PayoutChange]:
        return both(
            lambda: dict(self._first.payout_changes(round_id, version=version)),
            lambda: dict(self._sql.wagers.payout_changes(round_id, version=version)),
        )

    def would_refund(self, round_ids) -> Refund:
        return both(
            lambda: self._first.would_refund(round_ids),
            lambda: self._sql.wagers.would_refund(round_ids),
        )

    def player_changes(self, round_ids, *, nets, player_id=None) -> Sequence[PlayerChange]:
        wanted = {"nets": nets, "player_id": player_id}
        return both(
            lambda: self._first.player_changes(round_ids, **wanted),
            lambda: self._sql.wagers.player_changes(round_ids, **wanted),
        )

    def standing(self, round_id: str) -> OpenBook:
        return both(
            lambda: self._first.standing(round_id), lambda: self._sql.wagers.standing(round_id)
        )

    def of_round(self, round_id: str, *, player_id: int | None = None) -> Sequence[object]:
        return both(
            lambda: list(self._first.of_round(round_id, player_id=player_id)),
            lambda: list(self._sql.wagers.of_round(round_id, player_id=player_id)),
        )


class TwinLedger(MemoryLedger):
    """The balances, twice."""

    def __init__(self, first: MemoryLedger, sql: SqlUnit) -> None:
        self._first = first
        self._sql = sql

    def balance(self, player_id: int) -> Balance:
        return both(
            lambda: self._first.balance(player_id), lambda: self._sql.ledger.balance(player_id)
        )

    def cash(self, **moved) -> Cashed:
        return both(lambda: self._first.cash(**moved), lambda: self._sql.ledger.cash(**moved))

    def balances_of_round(self, round_id: str) -> Mapping[int, object]:
        return both(
            lambda: dict(self._first.balances_of_round(round_id)),
            lambda: dict(self._sql.ledger.balances_of_round(round_id)),
        )


class TwinOwed:
    """What is owed, twice."""

    def __init__(self, first: Owed, second: Owed) -> None:
        self._first, self._second = first, second

    def settle(self, deed: OwedDeed, **moved) -> bool:
        return both(
            lambda: self._first.settle(deed, **moved), lambda: self._second.settle(deed, **moved)
        )


class TwinUnit(MemoryUnit):
    """A unit on the simulated disk with a unit of the real store beside it."""

    def __init__(self, sql: SqlUnit, **parts) -> None:
        super().__init__(**parts)
        self._sql = sql
        self._twin_wagers = TwinWagers(super().wagers, sql)
        self._twin_ledger = TwinLedger(super().ledger, sql)

    def __enter__(self):
        super().__enter__()
        self._sql.__enter__()
        return self

    def __exit__(self, kind, error, trace) -> None:
        self._sql.__exit__(kind, error, trace)
        super().__exit__(kind, error, trace)

    def commit(self) -> None:
        self._hook("commit")
        self._sql.commit()
        self._disk.commit()
        self._ended = True
        self._hook("committed")

    @property
    def wagers(self) -> TwinWagers:
        return self._twin_wagers

    @property
    def ledger(self) -> TwinLedger:
        return self._twin_ledger

    @property
    def owed(self) -> TwinOwed:
        return TwinOwed(super().owed, self._sql.owed)

    @property
    def rounds(self):
        return TwinRounds(super().rounds, self._sql.rounds)

    @property
    def events(self):
        return TwinEvents(super().events, self._sql.events)


class TwinRounds:
    """The rows of rounds, twice."""

    def __init__(self, first, second) -> None:
        self._first, self._second = first, second

    def insert(self, row) -> None:
        both(lambda: self._first.insert(row), lambda: self._second.insert(row))

    def update_phase(self, round_id, phase, *, settlement_version) -> None:
        both(
            lambda: self._first.update_phase(
                round_id, phase, settlement_version=settlement_version
            ),
            lambda: self._second.update_phase(
                round_id, phase, settlement_version=settlement_version
            ),
        )

    def note_correction(self, round_id, *, version, epoch, seq) -> None:
        at = {"version": version, "epoch": epoch, "seq": seq}
        both(
            lambda: self._first.note_correction(round_id, **at),
            lambda: self._second.note_correction(round_id, **at),
        )

    def of_shoe(self, table, *, epoch):
        return both(
            lambda: self._first.of_shoe(table, epoch=epoch),
            lambda: self._second.of_shoe(table, epoch=epoch),
        )

    def recent(self, table, *, limit, before_ms):
        # Rounds that open in the same millisecond have no order of their own.
        return self._first.recent(table, limit=limit, before_ms=before_ms)

    def get(self, round_id):
        return both(lambda: self._first.get(round_id), lambda: self._second.get(round_id))


class TwinEvents:
    """The logs, twice."""

    def __init__(self, first, second) -> None:
        self._first, self._second = first, second

    def lock(self, table) -> None:
        both(lambda: self._first.lock(table), lambda: self._second.lock(table))

    def position(self, table):
        return both(lambda: self._first.position(table), lambda: self._second.position(table))

    def read(self, table, *, epoch, after_seq):
        return both(
            lambda: list(self._first.read(table, epoch=epoch, after_seq=after_seq)),
            lambda: list(self._second.read(table, epoch=epoch, after_seq=after_seq)),
        )

    def corrections(self, table, *, epoch):
        return both(
            lambda: list(self._first.corrections(table, epoch=epoch)),
            lambda: list(self._second.corrections(table, epoch=epoch)),
        )

    def append(self, event) -> None:
        both(lambda: self._first.append(event), lambda: self._second.append(event))

    def orders(self, table, *, before_epoch, shoes):
        return both(
            lambda: [
                list(o) for o in self._first.orders(table, before_epoch=before_epoch, shoes=shoes)
            ],
            lambda: [
                list(o) for o in self._second.orders(table, before_epoch=before_epoch, shoes=shoes)
            ],
        )


class TwinUnits(MemoryUnits):
    """Makes units that write and read twice."""

    def __init__(self, first: MemoryUnits, sql: SqlUnits) -> None:
        self.__dict__.update(first.__dict__)
        self._sql = sql

    def _unit(self, *, writes: bool) -> TwinUnit:
        return TwinUnit(
            self._sql.write() if writes else self._sql.read(),
            disk=self.disk,
            now_ms=self._now_ms,
            guards=self._guards,
            hook=self._hook,
            writes=writes,
        )
