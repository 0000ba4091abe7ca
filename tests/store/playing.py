"""A real table on a real database: the engine deals, players bet, rounds end."""

import hashlib
import itertools
import uuid
from dataclasses import dataclass, field

from sqlalchemy import Engine

from studio.domain.cards import ALL_CARDS, card_code
from studio.domain.commands import (
    CloseShoe,
    Command,
    ConfirmShuffle,
    LoadShoe,
    OpenRound,
    RevealNext,
    SeeCard,
    TakeSeat,
    TurnCutCard,
)
from studio.domain.dealing import expected_card
from studio.domain.decide import results_due
from studio.domain.game import GameConfig
from studio.domain.money import CURRENCIES
from studio.domain.round import Phase
from studio.domain.table import Stage, TableState
from studio.games import game
from studio.services.live import LiveTables
from studio.services.ports import Actor, DeckSet, Role
from studio.services.proposing import void
from studio.services.runner import TableRunner
from studio.services.setup import BetLimits, TableSetup
from studio.services.wagers import WagerService
from studio.store.units import SqlUnits
from tests.store.house import FrozenClock

WINDOW_MS = 15_000

SETUP = TableSetup(
    code="T1",
    name="Table 1",
    game="pok_deng",
    config=GameConfig(decks=2),
    currency=CURRENCIES["JPY"],
    window_ms=WINDOW_MS,
    limits={
        "main": BetLimits(min_minor=100, max_minor=50_000),
        "pair": BetLimits(min_minor=100, max_minor=5_000),
    },
    player_max_minor=100_000,
    table_max_minor=1_000_000,
    cut_depth_min=10,
    cut_depth_max=60,
    deck_sets=(1,),
)


@dataclass
class Heard:
    """A publisher that remembers."""

    events: list = field(default_factory=list)
    wallets: list = field(default_factory=list)

    def event(self, envelope) -> None:
        self.events.append(envelope)

    def wallet(self, player_id, message) -> None:
        self.wallets.append((player_id, message))

    def pit(self, message) -> None:
        pass


@dataclass
class Playing:
    """One table with two players."""

    engine: Engine
    seed: int = 7
    clock: FrozenClock = field(default_factory=FrozenClock)
    heard: Heard = field(default_factory=Heard)

    def __post_init__(self) -> None:
        self.drawn = itertools.count()
        self.units = SqlUnits(
            self.engine, clock=self.clock, currency="JPY", simulated_clock=self.clock
        )
        games = {"pok_deng": game("pok_deng")}
        self.tables = LiveTables({"T1": SETUP}, games)
        self.runner = TableRunner(units=self.units, tables=self.tables, publisher=self.heard)
        self.wagers = WagerService(
            units=self.units, setups={"T1": SETUP}, games=games, publisher=self.heard
        )
        self.players = [
            Actor(id=number, name=f"player {number}", role=Role.PLAYER) for number in (1, 2)
        ]
        self.manifest = {serial: (serial - 1) % 52 + 1 for serial in range(1, 105)}
        self.order: list[int] = []

    @property
    def state(self) -> TableState:
        return self.runner.live("T1").state

    def do(self, command: Command) -> None:
        self.clock.at_ms += 10
        self.runner.run("T1", lambda _: command)

    def chance(self) -> str:
        """Return the next 64 hex digits: the same ones for the same seed."""
        return hashlib.sha256(f"{self.seed}|{next(self.drawn)}".encode()).hexdigest()

    def id(self) -> str:
        return str(uuid.UUID(hex=self.chance()[:32]))

    def open_house(self) -> None:
        with self.units.write() as unit:
            unit.deck_sets.register(DeckSet(number=1, decks=2, manifest=self.manifest))
            for player in self.players:
                unit.ledger.cash(
                    id=self.id(), player_id=player.id, amount_minor=1_000_000, reason="t", by=9
                )
            unit.commit()
        self.do(TakeSeat(dealer_id=5, name="Sato"))

    def open_shoe(self) -> None:
        self.do(
            LoadShoe(
                deck_set=1,
                decks=2,
                manifest=self.manifest,
                scan_at="draw",
                burn_per_round=1,
                options={},
            )
        )
        self.do(ConfirmShuffle(cut_depth=20, cut_depth_min=10, cut_depth_max=60))
        self.order = sorted(self.manifest, key=lambda _: self.chance())
        while self.state.stage is Stage.OPENING:
            self.card()

    def card(self) -> None:
        serial = self.order.pop()
        face = ALL_CARDS[self.manifest[serial] - 1]
        self.do(
            SeeCard(
                code=card_code(face, deck_set=1, serial=serial),
                known=True,
                nonce=self.chance(),
            )
        )

    def bet(self, player: int, bet: str, stake_minor: int) -> str:
        assert self.state.round is not None
        placed = self.wagers.place(
            self.players[player],
            round_id=self.state.round.id,
            wager_id=self.id(),
            bet=bet,
            stake_minor=stake_minor,
        )
        return placed.wager.id

    def open_round(self) -> str:
        self.do(OpenRound(now_ms=self.clock.at_ms, window_ms=WINDOW_MS))
        assert self.state.round is not None
        return self.state.round.id

    def play_round(self) -> str:
        """Play a round with three wagers that stand and one that is taken back."""
        round_id = self.open_round()
        self.bet(0, "p1", 1_000)
        self.bet(0, "p1_pair", 300)
        taken_back = self.bet(1, "p2", 500)
        self.wagers.undo(self.players[1], wager_id=taken_back)
        self.bet(1, "p5", 700)
        self.finish_round()
        return round_id

    def finish_round(self) -> None:
        live = self.runner.live("T1")
        while expected_card(live.game, live.state) is not None:
            self.card()
            live = self.runner.live("T1")
        self.clock.at_ms += WINDOW_MS
        self.runner.tick("T1")
        while not results_due(live.game, self.state):
            self.do(RevealNext())
        self.runner.tick("T1")
        assert self.state.phase is Phase.SETTLED

    def void_round(self) -> str:
        """Open a round, bet, draw three cards, and annul it."""
        round_id = self.open_round()
        self.bet(0, "p3", 400)
        for _ in range(3):
            self.card()
        self.runner.run("T1", void(round_id=round_id, reason="spilled drink", by="Mori"))
        return round_id

    def close_shoe(self) -> None:
        self.do(CloseShoe(cards_left=len(self.order), by="Sato", early=True))

    def whole_story(self) -> None:
        """Two shoes, rounds settled and annulled, one round left open with a wager."""
        self.open_house()
        self.open_shoe()
        self.play_round()
        self.void_round()
        self.play_round()
        self.do(TurnCutCard())
        self.close_shoe()
        self.open_shoe()
        self.play_round()
        self.open_round()
        self.bet(1, "p4", 900)
