"""One process of the simulated studio: the real services, and how it dies."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from studio.domain.commands import Command
from studio.domain.game import Json
from studio.domain.table import TableState
from studio.games import GAMES, by_code
from studio.services.cash import CashService
from studio.services.clockwork import Clockwork
from studio.services.devices import DeviceService
from studio.services.jobs import Build, Job
from studio.services.links import LinkWatch
from studio.services.live import Live, LiveTables
from studio.services.ports import Actor, Publisher, UnitOfWork
from studio.services.proposing import Corrections
from studio.services.reading import CardReading
from studio.services.retry import TryAgainError
from studio.services.setup import TableSetup
from studio.services.tables import TableService
from studio.services.wagers import WagerService
from studio.simulation.chance import Chance
from studio.simulation.disk import Disk
from studio.simulation.floor import POLICY
from studio.simulation.guards import Guard, Guards
from studio.simulation.memory import MemoryUnits

LOST_RACE_ONE_IN = 400
"""One statement in so many loses a race inside the database: the unit is run anew."""


class Crash(BaseException):
    """The process died here. Nobody inside it can catch that."""


class SimClock:
    """The studio's clock, which may be set wrong."""

    def __init__(self, ms: int) -> None:
        """Start at `ms`."""
        self.ms = ms
        self.wrong_ms = 0

    def now_ms(self) -> int:
        """See `Clock`."""
        return self.ms + self.wrong_ms


class Bus(Publisher):
    """What was published since it was looked at last; a hint may be lost, the log may not."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.events: list[Mapping[str, Json]] = []
        self.said: list[Mapping[str, Json]] = []

    def event(self, envelope: Mapping[str, Json]) -> None:
        """See the port."""
        self.events.append(envelope)
        self.said.append(envelope)

    def wallet(self, player_id: int, message: Mapping[str, Json]) -> None:
        """See the port."""
        self.said.append(message)

    def pit(self, message: Mapping[str, Json]) -> None:
        """See the port."""
        self.said.append(message)

    def room(self, player_ids: Sequence[int], room_id: str) -> None:
        """See the port; there are no rooms in a studio for money."""


class LeakyBus(Bus):
    """The bus of a process whose seal is broken: it tells what the log keeps to itself."""

    def __init__(self, bus: Bus, disk: Disk) -> None:
        """Speak on the same bus."""
        self.events, self.said = bus.events, bus.said
        self._disk = disk

    def event(self, envelope: Mapping[str, Json]) -> None:
        """Publish an event with its sealed part."""
        log = self._disk.logs[envelope["table"], envelope["epoch"]]
        self.said.append({**envelope, "sealed": log[envelope["seq"] - 1].sealed})


class BlindTables(LiveTables):
    """The tables of a process that writes on from what it saw, whatever others wrote since."""

    def caught_up(self, uow: UnitOfWork, table: str) -> Live:
        """Return what was kept, not what the log says."""
        return self._kept[table]


class HastyCorrections(Corrections):
    """Corrections of a process that books at once whatever is announced."""

    def are_due(self, state: TableState, now_ms: int) -> bool:
        """Take no notice of the time."""
        return state.correction is not None and state.correction.announced is not None

    def execute(self, job: Job) -> Command:
        """Book as if the time had come."""
        pending = job.state.correction
        if pending is not None and pending.announced is not None:
            job = replace(job, now_ms=max(job.now_ms, pending.announced.due_ms))
        return super().execute(job)


class TrustingCorrections(Corrections):
    """Corrections of a process that does not ask who approves."""

    def approve(self, proposal: str, *, actor: Actor) -> Build:
        """Take everybody for somebody else."""
        return super().approve(proposal, actor=replace(actor, id=-actor.id))


class Server:
    """The services of one process over the disk that all of them share."""

    def __init__(
        self,
        name: str,
        *,
        disk: Disk,
        setups: Mapping[str, TableSetup],
        clock: SimClock,
        bus: Bus,
        guards: Guards,
        chance: Chance,
        meanwhile: Callable[[], None],
    ) -> None:
        """Start the process; `meanwhile` is called where others may get in between."""
        self.name = name
        self.dies_in: int | None = None
        """Statements until this process dies; None: it lives on."""
        self.dead = False
        self._guards = guards
        self._chance = chance
        self._meanwhile = meanwhile
        bus = bus if guards.stands(Guard.SEAL) else LeakyBus(bus, disk)
        self._setups, self._clock, self._bus = setups, clock, bus
        units = MemoryUnits(disk, now_ms=clock.now_ms, guards=guards, hook=self._statement)
        self.join(units)

    def join(self, units: MemoryUnits) -> None:
        """Put the services together over these units."""
        games, setups, bus = by_code(GAMES), self._setups, self._bus
        tables = LiveTables if self._guards.stands(Guard.FENCE) else BlindTables
        self.units = units
        live = tables(setups, games)
        self.tables = TableService(
            units=units,
            tables=live,
            publisher=bus,
            corrections=self._corrections(live),
            reading=CardReading(self._chance),
            holder=self.name,
        )
        self.links = LinkWatch(runner=self.tables, clock=self._clock)
        self.devices = DeviceService(
            runner=self.tables, links=self.links, reading=self.tables.reading
        )
        self.clockwork = Clockwork(runner=self.tables, links=self.links)
        self.cash = CashService(units=units, publisher=bus)
        self.wagers = WagerService(units=units, setups=setups, games=games, publisher=bus)

    def _corrections(self, live: LiveTables) -> Corrections:
        if not self._guards.stands(Guard.NOTICE):
            return HastyCorrections(live, POLICY)
        if not self._guards.stands(Guard.APPROVAL):
            return TrustingCorrections(live, POLICY)
        return Corrections(live, POLICY)

    def _statement(self, name: str) -> None:
        """Let others in before a unit begins, die at a statement, lose a race at another."""
        if self.dies_in is not None:
            self.dies_in -= 1
            if self.dies_in <= 0:
                self.dead = True
        if name == "begin" and not self.dead:
            self._meanwhile()
        if self.dead:
            raise Crash(f"{self.name} dies at {name}")
        if name == "begin":
            return
        if name not in {"commit", "committed"} and self._chance.one_in(LOST_RACE_ONE_IN):
            raise TryAgainError(f"lost a race at {name}")
