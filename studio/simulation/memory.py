"""Simulated units of work: every repository on one `Disk`, and a place to die at each statement."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from studio.domain.errors import InvariantError, RefusedError
from studio.domain.game import Json
from studio.domain.log import canonical
from studio.services.answers import Commands
from studio.services.disabled_ports import Disabled
from studio.services.leases import Leases
from studio.services.owed_ports import Owed
from studio.services.picture_ports import Pictures
from studio.services.ports import (
    Actor,
    Alarms,
    DeckSet,
    DeckSets,
    EventLog,
    Reports,
    Rounds,
    StoredEvent,
    Trail,
    UnitOfWork,
    Units,
)
from studio.services.qualification import Qualifications
from studio.services.records import AlarmRow, TrailRow
from studio.simulation.absent import NothingDisabled, NotSimulated
from studio.simulation.book import Hook, MemoryLedger, MemoryWagers
from studio.simulation.disk import Disk, Lease, LeaseChange
from studio.simulation.guards import Guard, Guards
from studio.simulation.owing import MemoryOwed
from studio.simulation.pictures import MemoryPictures
from studio.simulation.rounds import MemoryRounds


class MemoryEventLog(EventLog):
    """The logs of the tables."""

    def __init__(self, disk: Disk, *, guards: Guards, hook: Hook) -> None:
        self._disk = disk
        self._guards = guards
        self._hook = hook

    def lock(self, table: str) -> None:
        """See the port; one unit writes at a time."""
        self._hook("lock")

    def position(self, table: str) -> tuple[int, int, str]:
        """See the port."""
        return self._disk.positions.get(table, (0, 0, ""))

    def read(self, table: str, *, epoch: int, after_seq: int) -> Sequence[StoredEvent]:
        """See the port."""
        return self._disk.logs.get((table, epoch), [])[after_seq:]

    def append(self, event: StoredEvent) -> None:
        """See the port."""
        self._hook("append")
        epoch, seq, hash_ = self.position(event.table)
        follows = (event.epoch, event.seq) in {(epoch, seq + 1), (epoch + 1, 1)}
        if self._guards.stands(Guard.FENCE) and not (follows and event.prev_hash == hash_):
            taken = (event.epoch, event.seq) <= (epoch, seq)
            raise InvariantError(
                "log_position_taken" if taken else "log_gap",
                f"Event {event.epoch}/{event.seq} does not follow {epoch}/{seq}.",
            )
        # Through JSON, as a database keeps it: a tuple comes back as a list.
        body = json.loads(canonical(event.body))
        log = self._disk.logs.setdefault((event.table, event.epoch), [])
        self._disk.add(log, replace(event, body=body))
        at = (event.epoch, event.seq, event.hash)
        self._disk.set_item(self._disk.positions, event.table, at)

    def orders(self, table: str, *, before_epoch: int, shoes: int) -> Sequence[Sequence[str]]:
        """See the port."""
        found = []
        for epoch in range(max(0, before_epoch - shoes), before_epoch):
            events = self._disk.logs.get((table, epoch), [])
            drawn = [event.sealed for event in events if event.kind == "CardDrawn"]
            found.append([str(sealed["card"]) for sealed in drawn if sealed is not None])
        return [faces for faces in found if faces]

    def corrections(self, table: str, *, epoch: int) -> Sequence[StoredEvent]:
        """See the port."""
        return self._disk.corrections_of(table, epoch)


class MemoryDeckSets(DeckSets):
    """Registered deck sets."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def register(self, deck_set: DeckSet) -> None:
        """See the port."""
        if deck_set.number in self._disk.deck_sets:
            raise RefusedError("deck_set_registered", "This deck set is already registered.")
        self._disk.set_item(self._disk.deck_sets, deck_set.number, deck_set)

    def get(self, number: int) -> DeckSet | None:
        """See the port."""
        return self._disk.deck_sets.get(number)

    def numbers(self) -> Sequence[int]:
        """See the port."""
        return sorted(self._disk.deck_sets)

    def lies_at(self, number: int, *, tables: Iterable[str]) -> str | None:
        """See the port."""
        for table in tables:
            epoch, _, _ = self._disk.positions.get(table, (0, 0, ""))
            events = self._disk.logs.get((table, epoch), [])
            loaded = bool(events) and events[0].body.get("deck_set") == number
            if loaded and not any(event.kind == "ShoeClosed" for event in events):
                return table
        return None


class MemoryReports(Reports):
    """Scanner reports, each taken once."""

    def __init__(self, disk: Disk, *, guards: Guards, hook: Hook) -> None:
        self._disk = disk
        self._guards = guards
        self._hook = hook

    def take(self, *, device: str, report_id: str, digest: str, at_ms: int) -> bool:
        """See the port."""
        self._hook("take_report")
        first = self._disk.reports.get((device, report_id))
        if first is not None and self._guards.stands(Guard.REPORT_KEY):
            if first != digest:
                raise RefusedError("report_id_reused", "This report came with other content.")
            return False
        self._disk.set_item(self._disk.reports, (device, report_id), digest)
        self._disk.add(self._disk.reports_taken, (device, report_id))
        return True


class MemoryAlarms(Alarms):
    """The pit's alarms."""

    def __init__(self, disk: Disk, *, hook: Hook) -> None:
        self._disk = disk
        self._hook = hook

    def raise_alarm(
        self,
        *,
        priority: int,
        code: str,
        table: str,
        round_id: str | None,
        at_ms: int,
        details: Mapping[str, Json],
    ) -> None:
        """See the port."""
        self._hook("raise_alarm")
        if any(row.table == table and row.code == code for row in self.open()):
            return
        number = len(self._disk.alarms) + 1
        row = AlarmRow(
            id=number,
            priority=priority,
            code=code,
            table=table,
            round_id=round_id,
            raised_ms=at_ms,
            acknowledged_by=None,
            acknowledged_ms=None,
            cleared_ms=None,
            details=details,
        )
        self._disk.set_item(self._disk.alarms, number, row)

    def clear(self, *, table: str, codes: Iterable[str], at_ms: int) -> None:
        """See the port."""
        gone = frozenset(codes)
        for row in self.open():
            if row.table == table and row.code in gone:
                self._disk.set_item(self._disk.alarms, row.id, replace(row, cleared_ms=at_ms))

    def acknowledge(self, alarm_id: int, *, by: str, at_ms: int) -> AlarmRow:
        """See the port."""
        row = self._disk.alarms.get(alarm_id)
        if row is None:
            raise RefusedError("unknown_alarm", "There is no such alarm.")
        if row.acknowledged_by is not None:
            raise RefusedError("alarm_acknowledged", "Somebody has already taken this alarm.")
        row = replace(row, acknowledged_by=by, acknowledged_ms=at_ms)
        self._disk.set_item(self._disk.alarms, alarm_id, row)
        return row

    def open(self) -> Sequence[AlarmRow]:
        """See the port."""
        return [row for row in self._disk.alarms.values() if row.cleared_ms is None]


class MemoryTrail(Trail):
    """The audit trail."""

    def __init__(self, disk: Disk, *, hook: Hook) -> None:
        self._disk = disk
        self._hook = hook

    def write(
        self,
        *,
        at_ms: int,
        actor: Actor,
        action: str,
        subject: str,
        reason: str,
        before: Mapping[str, Json],
        after: Mapping[str, Json],
    ) -> None:
        """See the port."""
        self._hook("write_trail")
        row = TrailRow(
            id=len(self._disk.trail) + 1,
            at_ms=at_ms,
            actor_id=actor.id,
            actor=actor.name,
            action=action,
            subject=subject,
            reason=reason,
            before=before,
            after=after,
        )
        self._disk.add(self._disk.trail, row)

    def read(self, *, limit: int, before_id: int | None) -> Sequence[TrailRow]:
        """See the port."""
        rows = [row for row in self._disk.trail if before_id is None or row.id < before_id]
        return rows[::-1][:limit]


class MemoryCommands(Commands):
    """Answers to commands."""

    def __init__(self, disk: Disk, *, guards: Guards, hook: Hook) -> None:
        self._disk = disk
        self._guards = guards
        self._hook = hook

    def find(self, *, id: str, digest: str) -> Mapping[str, Json] | None:
        """See the port."""
        known = self._disk.answers.get(id)
        if known is None or not self._guards.stands(Guard.COMMAND_KEY):
            return None
        if known[0] != digest:
            raise RefusedError("command_id_reused", "This command came with other content.")
        return known[1]

    def store(self, *, id: str, digest: str, at_ms: int, answer: Mapping[str, Json]) -> None:
        """See the port."""
        self._hook("store_answer")
        self._disk.set_item(self._disk.answers, id, (digest, dict(answer)))
        self._disk.add(self._disk.commands_done, id)


class MemoryLeases(Leases):
    """Who supervises which table."""

    def __init__(self, disk: Disk, *, guards: Guards, hook: Hook) -> None:
        self._disk = disk
        self._guards = guards
        self._hook = hook

    def take(
        self, table: str, *, holder: str, fence: int | None, now_ms: int, until_ms: int
    ) -> int | None:
        """See the port."""
        self._hook("take_lease")
        had = self._disk.leases.get(table, Lease(holder=holder, fence=0, until_ms=0))
        kept = had.holder == holder and had.fence == fence
        fresh = had.holder == holder and fence is None
        free = had.until_ms <= now_ms
        if not (kept or fresh or free) and self._guards.stands(Guard.LEASE):
            return None
        given = had.fence if kept else had.fence + 1
        lease = Lease(holder=holder, fence=given, until_ms=until_ms)
        self._disk.set_item(self._disk.leases, table, lease)
        self._disk.add(self._disk.lease_changes, LeaseChange(table, now_ms, had, lease))
        return given


class MemoryQualifications(Qualifications):
    """Who may open which game."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def games(self, person_id: int) -> frozenset[str]:
        """See the port."""
        return self._disk.qualified.get(person_id, frozenset())


class MemoryUnit(NotSimulated, UnitOfWork):
    """One transaction on a disk; a unit that only reads sees what is committed."""

    def __init__(
        self, disk: Disk, *, now_ms: Callable[[], int], guards: Guards, hook: Hook, writes: bool
    ) -> None:
        self._disk = disk
        self._now_ms = now_ms
        self._guards = guards
        self._hook = hook
        self._writes = writes
        self._ended = False
        self._events = MemoryEventLog(disk, guards=guards, hook=hook)
        self._rounds = MemoryRounds(disk, hook=hook)
        self._wagers = MemoryWagers(disk, now_ms=now_ms, guards=guards, hook=hook)
        self._ledger = MemoryLedger(disk, hook=hook)
        self._deck_sets = MemoryDeckSets(disk)
        self._reports = MemoryReports(disk, guards=guards, hook=hook)
        self._alarms = MemoryAlarms(disk, hook=hook)
        self._trail = MemoryTrail(disk, hook=hook)
        self._commands = MemoryCommands(disk, guards=guards, hook=hook)
        self._qualifications = MemoryQualifications(disk)
        self._leases = MemoryLeases(disk, guards=guards, hook=hook)
        self._owed = MemoryOwed(disk, hook=hook)

    def __enter__(self) -> Self:
        if self._writes:
            self._hook("begin")
            self._disk.begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._writes or self._ended:
            return
        if self._guards.stands(Guard.ROLLBACK):
            self._disk.roll_back()
        else:
            self._disk.commit()

    def commit(self) -> None:
        """See the port; a process may die just before and just after."""
        if not self._writes:
            return
        self._hook("commit")
        self._disk.commit()
        self._ended = True
        self._hook("committed")

    def now_ms(self) -> int:
        """See the port."""
        return self._now_ms()

    @property
    def events(self) -> EventLog:
        """See the port."""
        return self._events

    @property
    def rounds(self) -> Rounds:
        """See the port."""
        return self._rounds

    @property
    def wagers(self) -> MemoryWagers:
        """See the port."""
        return self._wagers

    @property
    def ledger(self) -> MemoryLedger:
        """See the port."""
        return self._ledger

    @property
    def deck_sets(self) -> DeckSets:
        """See the port."""
        return self._deck_sets

    @property
    def reports(self) -> Reports:
        """See the port."""
        return self._reports

    @property
    def alarms(self) -> Alarms:
        """See the port."""
        return self._alarms

    @property
    def trail(self) -> Trail:
        """See the port."""
        return self._trail

    @property
    def commands(self) -> Commands:
        """See the port."""
        return self._commands

    @property
    def qualifications(self) -> Qualifications:
        """See the port."""
        return self._qualifications

    @property
    def leases(self) -> Leases:
        """See the port."""
        return self._leases

    @property
    def owed(self) -> Owed:
        """See the port."""
        return self._owed

    @property
    def disabled(self) -> Disabled:
        """See the port."""
        return NothingDisabled()

    @property
    def pictures(self) -> Pictures:
        """See the port."""
        return MemoryPictures(self._disk)


class MemoryUnits(Units):
    """Makes units on one disk; each process has its own, with its own clock and its own death."""

    def __init__(
        self, disk: Disk, *, now_ms: Callable[[], int], guards: Guards, hook: Hook
    ) -> None:
        """Keep the disk that all processes share; `hook` is called before every statement."""
        self.disk = disk
        self._now_ms = now_ms
        self._guards = guards
        self._hook = hook

    def write(self) -> MemoryUnit:
        """See the port."""
        return self._unit(writes=True)

    def read(self) -> MemoryUnit:
        """See the port."""
        return self._unit(writes=False)

    def _unit(self, *, writes: bool) -> MemoryUnit:
        return MemoryUnit(
            self.disk, now_ms=self._now_ms, guards=self._guards, hook=self._hook, writes=writes
        )
