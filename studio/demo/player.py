"""A simulated player: bets when the window opens, repeats requests, now and then takes one back."""

import random
import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

import requests

from studio.demo.client import DoorClient, DoorError, Watcher
from studio.demo.world import generator
from studio.domain.game import Json

CHIPS_MINOR = (100, 200, 500, 1_000, 5_000)
BETS_MAX = 3
REPEAT_ONE_IN = 10
UNDO_ONE_IN = 20


@dataclass
class SimulatedPlayer:
    """One player at one table; what it bets depends only on seed, name and round."""

    client: DoorClient
    name: str
    table: str
    seed: int | None
    bets: tuple[str, ...]
    placed: int = 0
    undone: int = 0
    refused: list[str] = field(default_factory=list)
    watcher: Watcher | None = None
    _seen: int = 0
    _rounds: int = 0
    _busy: threading.Lock = field(default_factory=threading.Lock)

    def start(self) -> None:
        """Watch the table from now on."""
        self.watcher = Watcher(self.client, self.table, on_event=self._event)
        self.watcher.wait(bool, timeout_s=10)

    def stop(self) -> None:
        """Leave the table once the last request is answered."""
        with self._busy:
            if self.watcher is not None:
                self.watcher.close()
            self.client.close()

    def _event(self, envelope: Json) -> None:
        if envelope["kind"] != "RoundOpened":
            return
        body = envelope["body"]
        with self._busy:
            if body["number"] > self._seen:
                self._seen = body["number"]
                self._bet(body)

    def _bet(self, opened: Mapping[str, Json]) -> None:
        # A player's chance depends on the round's place in this run, not on what the database
        # held before, so that the same seed gives the same wagers anywhere.
        self._rounds += 1
        rng = generator(self.seed, "player", self.name, self._rounds)
        for bet in rng.sample(self.bets, k=rng.randint(1, BETS_MAX)):
            try:
                self._place(str(opened["round_id"]), bet, rng)
            except DoorError as error:
                self.refused.append(error.code)
            except requests.RequestException:
                self.refused.append("no_answer")

    def _place(self, round_id: str, bet: str, rng: random.Random) -> None:
        body = {"id": str(uuid.uuid4()), "bet": bet, "stake_minor": rng.choice(CHIPS_MINOR)}
        path = f"/api/rounds/{round_id}/wagers"
        answer = self.client.post(path, body)
        if rng.randrange(REPEAT_ONE_IN) == 0:
            again = self.client.post(path, body)
            assert again["wager"]["id"] == answer["wager"]["id"]
        self.placed += 1
        if rng.randrange(UNDO_ONE_IN) == 0:
            self.client.post(f"/api/wagers/{body['id']}/undo", {})
            self.undone += 1
