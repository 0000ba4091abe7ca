"""A studio's services over a real database, and the procedure at its tables step by step."""

import itertools
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random  # noqa: TID251 - seeded below

from sqlalchemy import Engine, insert

from studio.domain.cards import ALL_CARDS, CodeVersion, PrintedCode
from studio.domain.dealing import expected_card
from studio.domain.decide import results_due
from studio.domain.game import GameConfig, Json
from studio.domain.money import Currency
from studio.domain.round import Phase
from studio.domain.table import Link, Stage, TableState
from studio.games import GAMES, by_code
from studio.services.audit import audit
from studio.services.clockwork import Clockwork
from studio.services.devices import DeviceService
from studio.services.inspection import Fault
from studio.services.links import LinkWatch
from studio.services.live import Live, LiveTables
from studio.services.pictures import PictureService
from studio.services.ports import Actor, Clock, DeckSet, Placed, Role
from studio.services.proposing import CorrectionPolicy, Corrections
from studio.services.reading import CardReading
from studio.services.records import AlarmRow
from studio.services.replay import GameReplay
from studio.services.runner import OnSettled
from studio.services.setup import BetLimits, LinkLimits, TableSetup
from studio.services.tables import TableService
from studio.services.wagers import WagerService
from studio.store.people_tables import person, qualification
from studio.store.units import SqlUnits
from tests.support.fakes import ManualClock, Recorder, SeededRandomness

DEALER = Actor(id=7, name="Sato", role=Role.DEALER)
OTHER_DEALER = Actor(id=8, name="Abe", role=Role.DEALER)
DEALERS = (DEALER, OTHER_DEALER)
PIT = Actor(id=20, name="Mori", role=Role.PIT_SUPERVISOR)
OTHER_PIT = Actor(id=21, name="Kato", role=Role.PIT_SUPERVISOR)
AUDITOR = Actor(id=30, name="Ono", role=Role.AUDITOR)
ADMINISTRATOR = Actor(id=40, name="Ueda", role=Role.ADMINISTRATOR)
PLAYERS = tuple(
    Actor(id=number, name=f"Player {number}", role=Role.PLAYER) for number in (101, 102, 103)
)
PLAYER = PLAYERS[0]

JPY = Currency(code="JPY", decimals=0)
DECKS = 1
CASH_MINOR = 100_000
MANIFEST = {serial: (serial - 1) % 52 + 1 for serial in range(1, 52 * DECKS + 1)}
DECK_SETS = (1, 2)

HANDS = ("4H", "6C", "9C", "KD", "5S", "8C", "7S", "7C", "2D", "QD", "5D", "AC")
"""P1..P5, banker, twice: P1 holds 1, the banker 9."""


def setup_of(code: str = "T1", **changes: object) -> TableSetup:
    """Return a table's settings."""
    values: dict[str, object] = {
        "code": code,
        "name": f"Table {code}",
        "game": "pok_deng",
        "config": GameConfig(decks=DECKS),
        "currency": JPY,
        "window_ms": 15_000,
        "limits": {
            "main": BetLimits(min_minor=100, max_minor=5_000),
            "pair": BetLimits(min_minor=100, max_minor=1_000),
        },
        "player_max_minor": 10_000,
        "table_max_minor": 50_000,
        "cut_depth_min": 14,
        "cut_depth_max": 30,
        "deck_sets": DECK_SETS,
        "links": LinkLimits(),
    }
    return TableSetup(**(values | changes))  # type: ignore[arg-type]


def serial_of(face: str) -> int:
    """Return the serial of a face; the deck holds each once."""
    return next(s for s, number in MANIFEST.items() if ALL_CARDS[number - 1].code == face)


def code_of(serial: int, *, deck_set: int = 1) -> str:
    """Return the twelve digits printed on a card."""
    number = MANIFEST[serial]
    return PrintedCode(
        version=CodeVersion.CARD, number=number, deck_set=deck_set, serial=serial
    ).digits


def _row(dealer: Actor) -> dict[str, object]:
    return {
        "id": dealer.id,
        "username": dealer.name.lower(),
        "display_name": dealer.name,
        "role": Role.DEALER,
        "password_hash": "",
        "language": "en",
        "active": True,
        "created_ms": 0,
    }


@dataclass
class Floor:
    """One process's services; another floor over the same engine is another process."""

    engine: Engine
    clock: Clock = field(default_factory=ManualClock)
    setups: Mapping[str, TableSetup] = field(
        default_factory=lambda: {code: setup_of(code) for code in ("T1", "T2")}
    )
    publisher: Recorder = field(default_factory=Recorder)
    currency: Currency = JPY
    seed: int = 1
    reports: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))
    holder: str = "studio"
    policy: CorrectionPolicy = field(default_factory=CorrectionPolicy)

    def __post_init__(self) -> None:
        """Join the services."""
        games = by_code(GAMES)
        self.units = SqlUnits(
            self.engine, clock=self.clock, currency=self.currency.code, simulated_clock=self.clock
        )
        live = LiveTables(self.setups, games)
        self.tables = TableService(
            units=self.units,
            tables=live,
            corrections=Corrections(live, self.policy),
            publisher=self.publisher,
            reading=CardReading(SeededRandomness(self.seed)),
            on_settled=self.on_settled(),
            holder=self.holder,
        )
        self.links = LinkWatch(runner=self.tables, clock=self.clock)
        self.devices = DeviceService(
            runner=self.tables, links=self.links, reading=self.tables.reading
        )
        self.clockwork = Clockwork(runner=self.tables, links=self.links)
        self.pictures = PictureService(
            units=self.units, publisher=self.publisher, setups=self.setups
        )
        self.wagers = WagerService(
            units=self.units, setups=self.setups, games=games, publisher=self.publisher
        )

    def on_settled(self) -> OnSettled | None:
        """Return what a settlement brings besides; nothing where money is played for."""
        return None

    def furnish(self) -> None:
        """Hire the dealers, register the deck sets, give players cash; once per database."""
        with self.units.write() as unit:
            if unit.deck_sets.numbers():
                return
            for number in DECK_SETS:
                unit.deck_sets.register(DeckSet(number=number, decks=DECKS, manifest=MANIFEST))
            for player in PLAYERS:
                unit.ledger.cash(
                    id=str(uuid.UUID(int=player.id)),
                    player_id=player.id,
                    amount_minor=CASH_MINOR,
                    reason="test",
                    by=ADMINISTRATOR.id,
                )
            unit.commit()
        self.hire()

    def hire(self) -> None:
        """Store the dealers and qualify them for Pok Deng."""
        with self.units.write() as unit:
            unit.connection.execute(insert(person), [_row(dealer) for dealer in DEALERS])
            unit.connection.execute(
                insert(qualification),
                [{"person_id": dealer.id, "game": "pok_deng"} for dealer in DEALERS],
            )
            unit.commit()

    def restarted(self, *, holder: str = "studio") -> "Floor":
        """Return the services of a new process over the same database."""
        return Floor(
            engine=self.engine,
            clock=self.clock,
            setups=self.setups,
            currency=self.currency,
            seed=self.seed,
            reports=self.reports,
            holder=holder,
            policy=self.policy,
        )

    # Looking -----------------------------------------------------------------------------------

    def live(self, table: str = "T1") -> Live:
        """Return a table as its log says."""
        return self.tables.live(table)

    def state(self, table: str = "T1") -> TableState:
        """Return a table's state, sealed cards included."""
        return self.live(table).state

    def money(self, player: Actor = PLAYER) -> tuple[int, int]:
        """Return (balance, held)."""
        with self.units.read() as unit:
            found = unit.ledger.balance(player.id)
        return found.balance_minor, found.held_minor

    def ledger_sum(self) -> int:
        """Return the sum of all entries."""
        with self.units.read() as unit:
            return unit.ledger.sum_minor()

    def alarms(self) -> list[AlarmRow]:
        """Return the open alarms."""
        with self.units.read() as unit:
            return list(unit.alarms.open())

    def alarm_codes(self, table: str = "T1") -> list[str]:
        """Return the codes of a table's open alarms."""
        return sorted(row.code for row in self.alarms() if row.table == table)

    def faults(self) -> list[Fault]:
        """Return what an audit of everything stored finds, the replay by the rules included."""
        return audit(
            self.units,
            replay=lambda table, seen: GameReplay(table, by_code(GAMES), seen),
        )

    @property
    def round_id(self) -> str:
        """The latest round of the first table."""
        current = self.state().round
        assert current is not None
        return current.id

    # Doing -------------------------------------------------------------------------------------

    def command(
        self, name: str, actor: Actor = DEALER, *, table: str = "T1", id: str = "", **args: Json
    ) -> dict[str, Json]:
        """Give a person's command."""
        body = {"id": id or str(uuid.uuid4()), "command": name, **args}
        return self.tables.execute(actor, table, body)

    def report(self, *, table: str = "T1", device: str = "cam", **body: Json) -> dict[str, Json]:
        """Send a device's report; each gets an id of its own unless one is given."""
        body = {"id": f"{device}-{next(self.reports)}", "table": table, **body}
        return self.devices.report(device, body)

    def show(self, *faces: str, table: str = "T1") -> None:
        """Let these cards pass the camera."""
        for face in faces:
            self.show_serial(serial_of(face), table=table)

    def show_serial(self, serial: int, *, table: str = "T1", deck_set: int = 1) -> None:
        """Let a card pass the camera."""
        code = code_of(serial, deck_set=deck_set)
        self.report(table=table, kind="card_seen", code=code, reason=None)

    def fail_read(self, *, table: str = "T1") -> None:
        """Let a card lie under the camera that can't be read."""
        self.report(table=table, kind="read_failed", code=None, reason="unreadable")

    def bet(
        self, bet: str = "p1", stake_minor: int = 500, *, player: Actor = PLAYER, id: str = ""
    ) -> Placed:
        """Place a wager in the running round."""
        return self.wagers.place(
            player,
            round_id=self.round_id,
            wager_id=id or str(uuid.uuid4()),
            bet=bet,
            stake_minor=stake_minor,
        )

    def wait(self, ms: int) -> None:
        """Let time pass on a clock that the test moves."""
        assert isinstance(self.clock, ManualClock)
        self.clock.advance(ms)

    # Places of the procedure -------------------------------------------------------------------

    def to_play(self) -> None:
        """Seat the dealer and open a shoe: first card 2♠, two burnt."""
        self.command("take_seat")
        self.command("load_shoe", deck_set=1)
        self.command("confirm_shuffle", cut_depth=20)
        self.show("2S", "KS", "KH")

    def to_betting(self) -> None:
        """Open a round."""
        self.to_play()
        self.command("start_round")

    def to_dealt(self) -> None:
        """Deal all its cards while bets are open."""
        self.to_betting()
        self.show("3S", *HANDS)

    def close(self, table: str = "T1") -> None:
        """Let the clock close the window."""
        current = self.state(table).round
        assert current is not None
        assert isinstance(self.clock, ManualClock)
        self.clock.ms = current.window_closes_ms
        self.tables.tick(table)

    def finish(self) -> None:
        """Open hand after hand until the round is settled."""
        while self.state().phase is not Phase.SETTLED:
            self.command("reveal")

    def approve(self, actor: Actor = OTHER_PIT, *, table: str = "T1", id: str = "") -> None:
        """Let a supervisor approve the correction that waits."""
        pending = self.state(table).correction
        assert pending is not None
        self.command("approve_correction", actor, table=table, id=id, proposal=pending.proposed.id)

    def carry_out(self, table: str = "T1") -> None:
        """Let the correction that stands be approved and its time come."""
        pending = self.state(table).correction
        if pending is not None and pending.waits:
            self.approve(table=table)
        self.book(table)

    def book(self, table: str = "T1") -> None:
        """Let the time of an announced correction come."""
        pending = self.state(table).correction
        if pending is None:
            return
        assert pending.announced is not None
        assert isinstance(self.clock, ManualClock)
        self.clock.ms = max(self.clock.ms, pending.announced.due_ms)
        self.tables.tick(table)

    # The whole procedure -----------------------------------------------------------------------

    def step(self, table: str = "T1") -> None:
        """Do the one thing that the procedure calls for at a table."""
        state = self.state(table)
        if state.locked is not None:
            self.command("unlock", PIT, table=table, reason="looked at")
        elif state.fault is not None and state.fault.held:
            self.command("release_held", PIT, table=table, reason="set aside")
        elif state.dealer is None:
            self.command("take_seat", table=table)
        elif expected_card(self.live(table).game, state) is not None:
            self._draw(table, state)
        elif state.round is not None and state.round.running:
            self._round(table, state)
        else:
            self._shoe(table, state)

    def _draw(self, table: str, state: TableState) -> None:
        shoe = state.shoe
        assert shoe is not None
        if shoe.cut_depth is not None and shoe.in_shoe <= shoe.cut_depth and not shoe.cut_card_out:
            self.command("cut_card", table=table)
            return
        order = sorted(MANIFEST)
        Random(f"{self.seed} {table} {state.epoch}").shuffle(order)
        serial = next(serial for serial in order if serial not in shoe.seen)
        self.show_serial(serial, table=table, deck_set=shoe.deck_set)

    def _round(self, table: str, state: TableState) -> None:
        current = state.round
        assert current is not None
        if current.phase is Phase.BETTING:
            if isinstance(self.clock, ManualClock):
                self.clock.ms = max(self.clock.ms, current.window_closes_ms)
            self.tables.tick(table)
        elif results_due(self.live(table).game, state):
            self.tables.tick(table)
        else:
            self.command("reveal", table=table)

    def _shoe(self, table: str, state: TableState) -> None:
        shoe = state.shoe
        if shoe is None:
            others = [self.state(code).shoe for code in self.setups if code != table]
            taken = {other.deck_set for other in others if other is not None}
            free = [number for number in DECK_SETS if number not in taken]
            self.command("load_shoe", table=table, deck_set=free[state.epoch % len(free)])
        elif state.stage is Stage.LOADED:
            self.command("confirm_shuffle", table=table, cut_depth=20)
        elif state.stage is Stage.LAST_ROUND_DONE:
            self.command("close_shoe", table=table, cards_left=shoe.in_shoe)
        else:
            for link in Link:
                self.links.beat(table, link)
            self.command("start_round", table=table)


def with_setup(floor: Floor, **changes: object) -> Floor:
    """Return a floor whose first table is set up differently."""
    setups = dict(floor.setups) | {"T1": replace(floor.setups["T1"], **changes)}  # type: ignore[arg-type]
    return replace(floor, setups=setups, publisher=Recorder())
