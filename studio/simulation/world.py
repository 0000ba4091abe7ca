"""One seed: a studio is opened, things happen and go wrong, and at the end the books must close."""

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from studio.domain.errors import StudioError
from studio.domain.table import Link, TableState
from studio.services.owed_ports import OwedDeed
from studio.services.setup import TableSetup
from studio.simulation.chance import Chance
from studio.simulation.dealing import Dealer, Scanner
from studio.simulation.disk import Disk
from studio.simulation.floor import (
    ADMINISTRATOR,
    CASH_MINOR,
    DEALERS,
    DECK_SETS,
    GAMES_PLAYED,
    PLAYERS,
    deck_set,
    random_setups,
)
from studio.simulation.guards import Guards
from studio.simulation.network import Network, ViolationError
from studio.simulation.pit import Pit
from studio.simulation.players import Player
from studio.simulation.server import Bus, Crash, Server, SimClock
from studio.simulation.watch import Watch

START_MS = 1_800_000_000_000
SERVERS = 2
STEPS = 400
CALM_STEPS_MAX = 3_000
"""So long the studio may take to come to rest once nothing goes wrong any more."""
CORRECTIONS_AT_REST = 3
TRACE_LINES = 40
STATEMENTS_TO_DEATH_MAX = 40
CLOCK_JUMP_MS = 3_600_000
TELL_LOST_ONE_IN = 10
"""Events of the stream that never reach a player."""


@dataclass
class Outcome:
    """What one seed did, and what it found."""

    seed: int
    violation: ViolationError | None = None
    counts: Counter[str] = field(default_factory=Counter)
    trace: tuple[str, ...] = ()
    digest: str = ""
    """Of all logs and balances at the end: the same seed gives the same, anywhere."""


class World:
    """Everything of one seed."""

    def __init__(self, seed: int, *, guards: Guards | None = None) -> None:
        """Furnish the studio and start its processes."""
        self.chance = Chance(seed)
        self.guards = guards or Guards()
        self.clock = SimClock(START_MS)
        self.disk = Disk()
        self.bus = Bus()
        self.setups = random_setups(self.chance)
        self.servers: list[Server | None] = [None] * SERVERS
        self.network = Network(self.servers, chance=self.chance)
        self.watch = Watch(self.disk, setups=self.setups, bus=self.bus)
        self.trace: deque[str] = deque(maxlen=TRACE_LINES)
        self.counts: Counter[str] = Counter()
        self._calm = False
        self._nested = False
        self._furnish()
        for at in range(SERVERS):
            self._start(at)
        taken: set[int] = set()
        network, chance = self.network, self.chance
        self.scanners = {
            code: Scanner(code, network=network, chance=chance) for code in self.setups
        }
        self.dealers = {
            code: Dealer(code, scanner=scanner, network=network, chance=chance, taken=taken)
            for code, scanner in self.scanners.items()
        }
        self.pits = {
            code: Pit(code, dealer=dealer, network=network, chance=chance)
            for code, dealer in self.dealers.items()
        }
        self.players = [
            Player(actor, self._setup(), disk=self.disk, network=network, chance=chance)
            for actor in PLAYERS
        ]
        self.stations_cut: set[tuple[str, Link]] = set()

    def _furnish(self) -> None:
        for number in DECK_SETS:
            self.disk.deck_sets[number] = deck_set(number)
        for dealer in DEALERS:
            self.disk.qualified[dealer.id] = frozenset(GAMES_PLAYED)
        for player in PLAYERS:
            transfer = self.disk.new_transfer()
            self.disk.move(transfer, player.id, free_minor=CASH_MINOR, held_minor=0)
            self.disk.post(transfer, "cash", -CASH_MINOR)
        self.disk.commit()

    def _start(self, at: int) -> None:
        self.servers[at] = Server(
            f"server {at}",
            disk=self.disk,
            setups=self.setups,
            clock=self.clock,
            bus=self.bus,
            guards=self.guards,
            chance=self.chance,
            meanwhile=self._meanwhile,
        )

    # Steps -------------------------------------------------------------------------------------

    def step(self) -> None:
        """Let one thing happen, then look at everything."""
        names = tuple(_ACTIONS)
        name = self.chance.weighted(names, tuple(_ACTIONS[name][0] for name in names))
        self._do(name)
        self._tell()
        self.watch.look(self.servers)

    def _do(self, name: str) -> None:
        self.counts[name] += 1
        self.trace.append(name)
        _ACTIONS[name][1](self)

    def _meanwhile(self) -> None:
        """Between a process's reading and its writing others may do anything."""
        if self._nested or self._calm or not self.chance.one_in(30):
            return
        self._nested = True
        try:
            self._do(self.chance.choice(("scanner", "player", "clockwork", "clockwork", "pit")))
        finally:
            self._nested = False

    def _tell(self) -> None:
        """Carry the stream to the players; a lost message is what `resync` is for."""
        for envelope in self.bus.events:
            for player in self.players:
                if self._calm or not self.chance.one_in(TELL_LOST_ONE_IN):
                    player.hear(envelope)
        self.bus.events.clear()

    def _table(self) -> str:
        return self.chance.choice(tuple(self.setups))

    def _setup(self) -> TableSetup:
        return self.setups[self._table()]

    def deal(self) -> None:
        """Let a dealer do something."""
        self.dealers[self._table()].act()

    def scan(self) -> None:
        """Let a scanner send something."""
        self.scanners[self._table()].send()

    def play(self) -> None:
        """Let a player do something."""
        self.chance.choice(self.players).act()

    def supervise(self) -> None:
        """Let the pit do something."""
        self.pits[self._table()].act()

    def turn(self) -> None:
        """Let the clockwork of one process turn."""
        server = self.network.any_server()
        if server is None:
            return
        try:
            server.clockwork.turn()
        except Crash:
            self.network.bury(server)
        if server.clockwork.broken:
            raise ViolationError("invariant_broken", "The clockwork met a broken invariant.")

    def wait(self) -> None:
        """Let time pass, and every link that is not cut give a sign of life."""
        span_ms = self.chance.weighted((200, 1_000, 4_000, 15_000), (8, 6, 2, 2))
        self.clock.ms += span_ms
        for code in self.setups:
            for link in Link:
                cut = (code, link) in self.stations_cut
                if not cut and not (link is Link.SCANNER and self.scanners[code].cut):
                    self._beat(code, link)

    def _beat(self, code: str, link: Link) -> None:
        for server in self.servers:
            if server is not None:
                server.links.beat(code, link)

    def cash_out(self) -> None:
        """Let a player take money home: what is taken back later may not be there."""
        player = self.chance.choice(PLAYERS)
        have = self.disk.balances[player.id]
        if have.owed_minor and self.chance.one_in(2):
            self._settle_owed(player.id, have.owed_minor)
            return
        if not have.balance_minor:
            return
        id, minor = self.chance.uuid(), -self.chance.number(1, have.balance_minor)
        self.network.ask(
            lambda to: to.cash.move(
                ADMINISTRATOR, id=id, player_id=player.id, amount_minor=minor, reason="going home"
            )
        )

    def _settle_owed(self, player_id: int, owed_minor: int) -> None:
        deed, minor = self.chance.choice(tuple(OwedDeed)), self.chance.number(1, owed_minor)
        id = self.chance.uuid()
        self.network.ask(
            lambda to: to.cash.settle_owed(
                ADMINISTRATOR, deed, id=id, player_id=player_id, amount_minor=minor, reason="desk"
            )
        )

    def cut(self) -> None:
        """Cut a link, or mend all of them."""
        code = self._table()
        if self.stations_cut or self.scanners[code].cut or self.chance.one_in(3):
            self.stations_cut.clear()
            self.scanners[code].cut = False
        elif self.chance.one_in(2):
            self.scanners[code].cut = True
        else:
            self.stations_cut.add((code, self.chance.choice(tuple(Link))))

    def kill(self) -> None:
        """Let a process die at one of its next statements, or start one that is dead."""
        at = self.chance.number(0, SERVERS - 1)
        server = self.servers[at]
        if server is None:
            self._start(at)
        elif server.dies_in is None:
            server.dies_in = self.chance.number(1, STATEMENTS_TO_DEATH_MAX)

    def jump(self) -> None:
        """Set the clock wrong by up to an hour, forward or back, or set it right again."""
        wrong_ms = self.chance.number(-CLOCK_JUMP_MS, CLOCK_JUMP_MS)
        self.clock.wrong_ms = 0 if self.clock.wrong_ms else wrong_ms

    # The end -----------------------------------------------------------------------------------

    def come_to_rest(self) -> None:
        """Mend everything, play to the end of every round, and close the books.

        Raises:
            ViolationError: something that was started never ends, or the books do not close.
        """
        self._calm = self.network.calm = True
        self.clock.wrong_ms = 0
        self.stations_cut.clear()
        for at in range(SERVERS):
            self._start(at)
        for code in self.setups:
            self.scanners[code].cut = False
            self.dealers[code].careful = self.pits[code].careful = True
        for _ in range(CALM_STEPS_MAX):
            if self._at_rest():
                break
            for code in self.setups:
                self.scanners[code].send()
                self.pits[code].act()
                if not self._idle(code):
                    self.dealers[code].act()
            for player in self.players:
                if player.pending:
                    player.act()
            self.turn()
            self.wait()
            self._tell()
            self.watch.look(self.servers)
        else:
            raise ViolationError("never_at_rest", "A round does not come to its end.")
        self._correct_at_rest()
        self._close_books()

    def _correct_at_rest(self) -> None:
        """Few rounds have ended before: most corrections are made now."""
        for pit in self.pits.values():
            self._see_through(pit)
            for _ in range(CORRECTIONS_AT_REST):
                pit.correct()
                self._tell()
                self.watch.look(self.servers)
                self._see_through(pit)

    def _see_through(self, pit: Pit) -> None:
        """Let what a table's correction waits for come: another person, or its time."""
        for _ in range(CALM_STEPS_MAX):
            pending = self.watch.shadows[pit.table].state.correction
            if pending is None:
                break
            if pending.announced is None:
                pit.decide(pending)
            else:
                self.clock.ms = max(self.clock.ms, pending.announced.due_ms - 1)
                self.wait()
                self.turn()
            self._tell()
            self.watch.look(self.servers)
        else:
            raise ViolationError("never_at_rest", "A correction does not come to its end.")

    def _idle(self, code: str) -> bool:
        current = self.watch.shadows[code].state.round
        return current is None or not current.running

    def _at_rest(self) -> bool:
        return (
            all(self._idle(code) and not self.scanners[code].queue for code in self.setups)
            and not any(player.pending for player in self.players)
            and not any(self._held(shadow.state) for shadow in self.watch.shadows.values())
        )

    @staticmethod
    def _held(state: TableState) -> bool:
        return state.fault is not None and state.fault.held

    def _close_books(self) -> None:
        for wager in self.disk.wagers.values():
            if wager.ending is None:
                raise ViolationError("wager_open", f"Wager {wager.id} has no ending.")
        for player in self.players:
            held_minor = self.disk.balances[player.actor.id].held_minor
            if held_minor:
                raise ViolationError("hold_left", f"{player.actor.name}: {held_minor} held.")
            for id in player.told:
                if id not in self.disk.wagers:
                    raise ViolationError("wager_lost", f"Wager {id} was told and is gone.")
            player.resync()
        for code, shadow in self.watch.shadows.items():
            dealer, shoe = self.dealers[code], shadow.state.shoe
            dealer.see_what_was_taken(shadow.state)
            cards = dealer.cards
            if cards is not None and shoe is not None and cards.left != shoe.in_shoe:
                raise ViolationError(
                    "shoe_count", f"{code}: {cards.left} cards lie there, {shoe.in_shoe} counted."
                )


_Action = tuple[int, Callable[[World], None]]
_ACTIONS: dict[str, _Action] = {
    "dealer": (40, World.deal),
    "scanner": (40, World.scan),
    "player": (45, World.play),
    "pit": (12, World.supervise),
    "clockwork": (20, World.turn),
    "wait": (14, World.wait),
    "cut": (2, World.cut),
    "kill": (3, World.kill),
    "jump": (1, World.jump),
    "cash": (2, World.cash_out),
}
"""What may happen, and how often in comparison."""


def run_seed(seed: int, *, steps: int = STEPS, guards: Guards | None = None) -> Outcome:
    """Run one seed; the outcome names what it found, if it found anything."""
    outcome = Outcome(seed=seed)
    world = World(seed, guards=guards)
    try:
        for _ in range(steps):
            world.step()
        world.come_to_rest()
    except ViolationError as violation:
        outcome.violation = violation
    except (StudioError, AssertionError) as error:
        outcome.violation = ViolationError("studio_failed", f"{type(error).__name__}: {error}")
    outcome.counts = Counter(
        steps=sum(world.counts.values()),
        rounds=world.watch.rounds,
        corrections=world.watch.corrections,
        events=world.watch.events,
        wagers=len(world.disk.wagers),
        reports=len(world.disk.reports_taken),
        commands=len(world.disk.commands_done),
        crashes=world.network.crashes,
    )
    outcome.trace = tuple(world.trace)
    outcome.digest = world.disk.digest()
    return outcome
