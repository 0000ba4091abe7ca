"""Who plays at one table of a demo: its dealer and its players, who log in at the real doors."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from studio.demo.camera import CameraHand
from studio.demo.client import DoorClient
from studio.demo.dealer import Pace, SimulatedDealer
from studio.demo.plan import DECKS, PLAY_PURSE_MINOR, DemoTable, Plan
from studio.demo.player import SimulatedPlayer
from studio.demo.rooms import tables_of
from studio.demo.settings import camera_socket, cut_depths
from studio.demo.stakes import Budget, Chips, Stakes, spots

FOR_PEOPLE = Pace(card_s=0.7, reveal_s=1.2, between_rounds_s=6.0)


@dataclass(frozen=True, kw_only=True)
class TablePlayed:
    """What a demo did at one table, as its people counted it."""

    table: DemoTable
    rounds: int
    seconds: float
    """From the first hand to the last settled round."""
    wagers_undone: int
    wagers_refused: int


@dataclass(kw_only=True)
class Cast:
    """The people of one table."""

    table: DemoTable
    dealer: SimulatedDealer
    players: tuple[SimulatedPlayer, ...]
    on_round: Callable[[DemoTable, int], None]
    _started_s: float = 0.0
    _seconds: float = 0.0

    def __post_init__(self) -> None:
        """Have the rounds counted."""
        self.dealer.on_round = self._count

    def sit_down(self) -> None:
        """Let the players watch the table, and the clock run."""
        for player in self.players:
            player.start()
        self._started_s = time.perf_counter()

    def get_up(self) -> None:
        """Let the players leave."""
        for player in self.players:
            player.stop()

    def _count(self, number: int) -> None:
        self._seconds = time.perf_counter() - self._started_s
        self.on_round(self.table, number)

    def played(self) -> TablePlayed:
        """Return what was played."""
        return TablePlayed(
            table=self.table,
            rounds=self.dealer.played,
            seconds=round(self._seconds, 1),
            wagers_undone=sum(player.undone for player in self.players),
            wagers_refused=sum(len(player.refused) for player in self.players),
        )


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What all tables of a demo share."""

    plan: Plan
    tables: tuple[DemoTable, ...]
    folder: Path
    stopping: threading.Event
    """Ends all dealers."""
    on_round: Callable[[DemoTable, int], None]


def make_cast(
    stage: Stage, table: DemoTable, *, dealer: DoorClient, players: Mapping[str, DoorClient]
) -> Cast:
    """Return the people of a table; the players come over connections of their own."""
    plan = stage.plan
    offered = spots(dealer.get(f"/api/tables/{table.code}"))
    return Cast(
        table=table,
        dealer=SimulatedDealer(
            client=dealer,
            hand=CameraHand(camera_socket(stage.folder, table)),
            table=table.code,
            decks=DECKS,
            deck_sets=table.game.deck_sets,
            cut_depths=cut_depths(plan),
            seed=plan.seed,
            salt=table.game.salt,
            pace=Pace() if plan.headless else FOR_PEOPLE,
            rounds=plan.rounds,
            stopping=stage.stopping,
        ),
        players=tuple(
            SimulatedPlayer(
                client=client.beside(),
                name=name,
                table=table.code,
                seed=plan.seed,
                salt=table.game.salt,
                spots=offered,
                stakes=_stakes(plan, client, tables=len(own)),
            )
            for name, client in players.items()
            if table in (own := tables_of(name, plan, stage.tables))
        ),
        on_round=stage.on_round,
    )


def _stakes(plan: Plan, client: DoorClient, *, tables: int) -> Stakes:
    if not plan.play_money:
        return Chips()
    purse_minor = min(PLAY_PURSE_MINOR, client.get("/api/me")["balance_minor"])
    return Budget(left_minor=purse_minor // tables)
