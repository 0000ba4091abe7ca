"""A simulated player: bets when the window opens, repeats requests, now and then takes one back."""

import random
import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import requests

from studio.demo.client import DoorClient, DoorError, Watcher
from studio.demo.stakes import Spot, Stakes
from studio.demo.world import generator
from studio.domain.game import Json

BETS_MAX = 3
REPEAT_ONE_IN = 10
UNDO_ONE_IN = 20


@dataclass
class SimulatedPlayer:
    """One player at one table; what it bets depends only on seed, name, table and round."""

    client: DoorClient
    name: str
    table: str
    seed: int | None
    salt: tuple[str, ...]
    """Keeps the player's chances at this table apart from those at another one."""
    spots: tuple[Spot, ...]
    stakes: Stakes
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
        kind, body = envelope["kind"], envelope["body"]
        with self._busy:
            if kind == "RoundOpened" and body["number"] > self._seen:
                self._seen = body["number"]
                self._bet(str(body["round_id"]))
            elif kind in {"RoundSettled", "RoundVoided"}:
                self.stakes.settled(str(body["round_id"]), _nets(body))

    def _bet(self, round_id: str) -> None:
        # A player's chance depends on the round's place in this run, not on what the database
        # held before, so that the same seed gives the same wagers anywhere.
        self._rounds += 1
        rng = generator(self.seed, *self.salt, "player", self.name, self._rounds)
        for spot in rng.sample(self.spots, k=rng.randint(1, BETS_MAX)):
            stake_minor = self.stakes.choose(spot, rng)
            if stake_minor is None:
                continue
            try:
                self._place(round_id, spot, stake_minor, rng)
            except DoorError as error:
                self.refused.append(error.code)
            except requests.RequestException:
                self.refused.append("no_answer")

    def _place(self, round_id: str, spot: Spot, stake_minor: int, rng: random.Random) -> None:
        body = {"id": str(uuid.uuid4()), "bet": spot.code, "stake_minor": stake_minor}
        path = f"/api/rounds/{round_id}/wagers"
        answer = self.client.post(path, body)
        if rng.randrange(REPEAT_ONE_IN) == 0:
            again = self.client.post(path, body)
            assert again["wager"]["id"] == answer["wager"]["id"]
        self.placed += 1
        if rng.randrange(UNDO_ONE_IN) == 0:
            self.client.post(f"/api/wagers/{body['id']}/undo", {})
            self.undone += 1
            return
        self.stakes.placed(round_id, spot, stake_minor)


def _nets(body: Mapping[str, Json]) -> dict[str, Fraction]:
    return {result["bet"]: Fraction(result["net"]) for result in body.get("results", ())}
