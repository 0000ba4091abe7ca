"""The whole stack with bad cables between every two parts, and processes that pause and die.

The real server on PostgreSQL, a Redis of its own, the real scanner, a player at the doors and a
screen at the socket; a cable of the tests lies before each. A seed chooses what goes wrong at
which card. However it goes, the started round is dealt to its end and paid once.
"""

import contextlib
import json
import os
import secrets
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random  # noqa: TID251 - seeded below
from typing import Any

import requests
from sqlalchemy.engine import make_url

from studio.demo.client import DoorClient, DoorError, Watcher
from studio.demo.processes import free_port
from studio.services.ports import EndingKind
from tests.faults.grounds import POSTGRESQL, connected
from tests.faults.outcome import Outcome
from tests.process.cable import Cable
from tests.process.playhouse import (
    DEVICE,
    DEVICE_KEY,
    PASSWORD,
    TABLE,
    WAIT_S,
    Playhouse,
    inside,
    until,
)

WINDOW_MS = 5_000
ROUNDS = 3
UNDISTURBED = 2
"""Cards at the start of a round: one that has not begun is rightly cancelled without a scanner."""
PAUSE_S = (0.5, 6.0)
"""How long a process stays paused; the links' limit is 4 s."""
MENDED = 0.6
"""How often all is mended before the next card."""
IDENTICAL = 32
REFUSED = 409
UNKNOWN = 500
"""From this status on it is not known whether a request counted."""


class Stack(Playhouse):
    """A playhouse on PostgreSQL and Redis, its parts joined by cables."""

    def __init__(self, folder: Path, database_url: str) -> None:
        self.direct_url = database_url
        self.redis_port = free_port()
        server, found = free_port(), make_url(database_url)
        self.cables = {
            "scanner": Cable(server),
            "player": Cable(server),
            "database": Cable(found.port or 5432),
            "redis": Cable(self.redis_port),
        }
        self.redis: subprocess.Popen[bytes] | None = None
        super().__init__(
            folder=folder,
            window_ms=WINDOW_MS,
            port=server,
            scanner_port=self.cables["scanner"].port,
        )

    @property
    def database_url(self) -> str:
        return self.direct_url

    @property
    def environment(self) -> dict[str, str]:
        cabled = make_url(self.direct_url).set(host="127.0.0.1", port=self.cables["database"].port)
        return super().environment | {
            "STUDIO_DATABASE_URL": cabled.render_as_string(hide_password=False),
            "STUDIO_REDIS_URL": f"redis://127.0.0.1:{self.cables['redis'].port}/0",
        }

    def start_redis(self) -> None:
        program = shutil.which("redis-server")
        assert program is not None, "redis-server is missing"
        self.redis = subprocess.Popen(
            [program, "--port", str(self.redis_port), "--bind", "127.0.0.1", "--save", ""],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
        )

    def end_redis(self) -> None:
        if self.redis is not None:
            self.redis.kill()
            self.redis.wait()
            self.redis = None

    def close(self) -> None:
        self.wake()
        super().close()
        self.end_redis()
        for cable in self.cables.values():
            cable.close()

    def snapshot(self) -> dict[str, Any]:
        """Ask until there is an answer: the first connection after a cut may be a dead one."""
        found: dict[str, Any] = until(lambda: self._snapshot(), "a snapshot")
        return found

    def _snapshot(self) -> dict[str, Any] | None:
        try:
            return super().snapshot()
        except DoorError as error:
            if error.status < UNKNOWN:
                raise
            return None

    # What goes wrong ---------------------------------------------------------------------------

    def wake(self) -> None:
        for process in self.processes.started.values():
            os.killpg(process.pid, signal.SIGCONT)

    def pause(self, name: str, seconds: float) -> None:
        """Stop a part with all its processes, as a machine does that swaps or sleeps."""
        os.killpg(self.processes.started[name].pid, signal.SIGSTOP)
        time.sleep(seconds)
        self.wake()

    def mend(self) -> None:
        """Let everything be well again."""
        for cable in self.cables.values():
            cable.mend()
        if self.redis is None:
            self.start_redis()
        if "server" not in self.processes.started:
            self.start_server()
        if "scanner" not in self.processes.started:
            self.start_scanner()

    def disturb(self, random: Random) -> str:
        """Let something go wrong; return what."""
        trouble = random.choice(("cable", "cable", "cable", "kill", "pause", "redis"))
        if trouble == "cable":
            name, way = random.choice(list(self.cables)), random.choice(WAYS)
            WAYS_TO_BREAK[way](self.cables[name])
            return f"{name} {way}"
        name = random.choice(("server", "scanner"))
        if trouble == "redis":
            self.end_redis()
        elif name in self.processes.started and trouble == "kill":
            self.kill(name)
        elif name in self.processes.started:
            self.pause(name, random.uniform(*PAUSE_S))
        return f"{trouble} {name}" if trouble != "redis" else "redis killed"

    def lay_kept(self, digits: str) -> None:
        """Lay a card until the scanner has a report of it on its disk, if need be once more."""
        before = self.last_report()
        if "scanner" not in self.processes.started:
            self.start_scanner()
        self.lay(digits)
        until(lambda: self.last_report() > before, "a report of the card on the disk")

    def last_report(self) -> int:
        """Return the number of the newest report that the scanner has kept."""
        file = self.folder / "reports.db"
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as queue:
            found = queue.execute("SELECT seq FROM sqlite_sequence").fetchone()
        return int(found[0]) if found else 0


WAYS_TO_BREAK: dict[str, Callable[[Cable], None]] = {
    "cut": Cable.cut,
    "half open": Cable.deafen,
    "mute": Cable.hold,
    "reset": Cable.reset,
    "slow": lambda cable: cable.delay(0.2),
}
WAYS = tuple(WAYS_TO_BREAK)


@dataclass
class Bettor:
    """A player behind a bad cable: each wager under one id until it is answered."""

    client: DoorClient
    round_id: str
    random: Random
    over: threading.Event = field(default_factory=threading.Event)
    acknowledged: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        thread = threading.Thread(target=self._bet)
        thread.start()
        try:
            yield
        finally:
            self.over.set()
            thread.join(WAIT_S)
            assert not thread.is_alive()

    def _bet(self) -> None:
        while not self.over.wait(0.1):
            body = {
                "id": str(uuid.UUID(int=self.random.getrandbits(128))),
                "bet": self.random.choice(("p2", "p3", "p4")),
                "stake_minor": 100,
            }
            while not self.over.wait(0.1):
                try:
                    self.client.post(f"/api/rounds/{self.round_id}/wagers", body)
                except requests.RequestException:
                    continue
                except DoorError as error:
                    if error.status >= UNKNOWN:
                        continue
                    if error.status != REFUSED:
                        self.errors.append(str(error))
                    return  # too late
                self.acknowledged.add(body["id"])
                break


def identical(house: Stack, round_id: str, outcome: Outcome) -> str:
    """Submit the same wager from many connections at once: one counts, all are told the same."""
    body = {"id": str(uuid.uuid4()), "bet": "p1", "stake_minor": 500}
    clients = [house.player.beside() for _ in range(IDENTICAL)]
    with ThreadPoolExecutor(IDENTICAL) as pool:
        path = f"/api/rounds/{round_id}/wagers"
        answers = list(pool.map(lambda client: client.post(path, body), clients))
    for client in clients:
        client.close()
    told = {json.dumps(answer, sort_keys=True) for answer in answers}
    outcome.need(len(told) == 1, f"{len(told)} answers to one wager")
    return str(body["id"])


def run(outcome: Outcome, *, share: float = 1.0) -> None:
    """Play rounds in which everything that may go wrong between the parts does."""
    random = Random(f"stack {outcome.seed}")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="studio-stack-")))
        house = Stack(folder, stack.enter_context(database()))
        house.start_redis()
        stack.callback(house.close)
        house.open()
        house.open_shoe()
        client = DoorClient(f"http://127.0.0.1:{house.cables['player'].port}")
        client.login("player", PASSWORD)
        stack.callback(client.close)
        watcher = Watcher(client, TABLE)
        stack.callback(watcher.close)
        for _ in range(max(1, round(ROUNDS * share))):
            if outcome.over:
                return
            try:
                play_round(house, client, watcher, random, outcome, share=share)
                deal_at_the_door(house, random, outcome)
            except BaseException:
                for name in ("server", "scanner"):
                    outcome.violations.append(house.log(name)[-3_000:])
                raise


def play_round(
    house: Stack,
    client: DoorClient,
    watcher: Watcher,
    random: Random,
    outcome: Outcome,
    *,
    share: float,
) -> None:
    """Deal a round through troubles that the seed chooses, and look at what came of it."""
    house.wait_for(lambda view: set(view["links"].values()) == {"up"}, "every link")
    round_id, cards = house.start_round()
    bettor = Bettor(client, round_id, random=Random(random.random()))
    wagers = {identical(house, round_id, outcome)}
    with bettor.at_work():
        for digits in cards[:UNDISTURBED]:
            house.draw(digits)
        for digits in cards[UNDISTURBED:-1]:
            if random.random() < ROUNDS * share:
                outcome.counts[house.disturb(random)] += 1
                outcome.cases += 1
            house.lay_kept(digits)
            if random.random() < MENDED:
                house.mend()
        house.mend()
        until(lambda: house.queued() == 0, "an empty queue")
        until(lambda: house.cards_drawn() == len(cards) - 1, "every card but the last")
        opened = house.finish(cards[-1:])
    wagers |= bettor.acknowledged
    for error in bettor.errors:
        outcome.violations.append(f"the player was told {error}")
    outcome.need(len(opened["commitments"]) == len(cards), "a card counted not once")
    need_paid_once(house, round_id, wagers, outcome)
    until(lambda: watcher.view == house.view, "the player's screen to show what a fresh one shows")


def deal_at_the_door(house: Stack, random: Random, outcome: Outcome) -> None:
    """Be a scanner whose reports come doubled, at once, late, and behind younger ones."""
    round_id, cards = house.start_round()
    wagers = {identical(house, round_id, outcome)}
    bodies = [
        {
            "id": f"{DEVICE}-door-{round_id}-{number}",
            "table": TABLE,
            "kind": "card_seen",
            "code": digits,
            "reason": None,
        }
        for number, digits in enumerate(cards)
    ]

    def send(body: dict[str, Any]) -> None:
        answer = requests.post(
            f"{house.url}/api/device/reports",
            json=body,
            headers={"X-Device-Key": DEVICE_KEY},
            timeout=WAIT_S,
        )
        outcome.need(answer.ok, f"a report was answered {answer.status_code} {answer.text}")

    with ThreadPoolExecutor(3) as pool:
        for number, body in enumerate(bodies):
            late = random.sample(bodies[:number], min(number, random.randrange(3)))
            list(pool.map(send, [body, body, *late]))
            outcome.cases += 1
            outcome.counts["reports doubled, late, reordered"] += 1 + len(late)
    outcome.need(house.cards_drawn() == len(cards), "a card counted not once")
    house.finish(())
    need_paid_once(house, round_id, wagers, outcome)


def need_paid_once(house: Stack, round_id: str, wagers: set[str], outcome: Outcome) -> None:
    """Need every acknowledged wager once, in time and ended, and clean books."""
    with inside(house.database_url) as (units, _), units.read() as unit:
        stored = unit.wagers.of_round(round_id)
        rows = {row.id: row for row in unit.rounds.recent(None, limit=99, before_ms=None)}
        outcome.need(unit.ledger.sum_minor() == 0, "the ledger's sum is not 0")
    closes_ms = rows[round_id].window_closes_ms
    outcome.need(wagers <= {wager.id for wager in stored}, "an acknowledged wager is lost")
    for wager in stored:
        outcome.need(wager.accepted_ms < closes_ms, "a wager was accepted late")
        ended = wager.ending is not None and wager.ending.kind is EndingKind.SETTLED
        outcome.need(ended, "a wager was not settled")
    outcome.counts["wagers"] += len(stored)
    for fault in house.faults():
        outcome.violations.append(f"audit: {fault}")


@contextmanager
def database() -> Iterator[str]:
    """Give the address of a database of one's own."""
    name = f"studio_fault_{secrets.token_hex(6)}"
    with contextlib.closing(connected(make_url(POSTGRESQL))) as server:
        server.execute(f'create database "{name}"')
        yield make_url(POSTGRESQL).set(database=name).render_as_string(hide_password=False)
        server.execute(f'drop database "{name}" with (force)')
