"""Raises processes that play at the tables until they are killed.

`python -m tests.kill.nursery FOLDER` reads lines `SEED play` or `SEED finish` and forks a worker
for each. The worker says `ready PID` and plays over FOLDER/studio.db; with `finish` it ends the
running rounds and leaves. When a worker is gone the nursery says `gone STATUS`. Forking saves
each worker the second that importing takes; nothing is open before the fork.
"""

import json
import os
import sys
import threading
import time
import uuid
from pathlib import Path
from random import Random  # noqa: TID251 - seeded below

from studio.domain.errors import RefusedError
from studio.domain.game import Json
from studio.domain.round import Phase
from studio.store.engine import make_engine
from tests.support.fakes import WallClock
from tests.support.floor import PIT, PLAYERS, Floor, setup_of

TABLES = ("T1", "T2")
WINDOW_MS = 40
BETS = ("p1", "p2", "p5", "p1_pair", "p4_pair")
STEP_PAUSE_S = 0.001
ODD = 0.02
"""How often something goes wrong instead of the next step."""


class Worker(Floor):
    """One process: its scanner keeps each report until it is acknowledged."""

    folder: Path

    def report(self, *, table: str = "T1", device: str = "cam", **body: Json) -> dict[str, Json]:
        """Send a report the way a scanner does: note it, send it, forget it."""
        outbox = self.folder / "outbox.json"
        body = {"id": str(uuid.uuid4()), "table": table, **body}
        outbox.write_text(json.dumps(body), encoding="utf-8")
        answer = self.devices.report(device, body)
        outbox.unlink()
        return answer

    def resend(self) -> None:
        """Send what the process before could not get acknowledged."""
        outbox = self.folder / "outbox.json"
        text = outbox.read_text(encoding="utf-8") if outbox.exists() else ""
        if text.endswith("}"):
            self.devices.report("cam", json.loads(text))
        outbox.unlink(missing_ok=True)


def worker(folder: Path, seed: int) -> Worker:
    """Return the services of this process."""
    setups = {code: setup_of(code, window_ms=WINDOW_MS) for code in TABLES}
    made = Worker(
        engine=make_engine(f"sqlite:///{folder / 'studio.db'}"),
        clock=WallClock(),
        setups=setups,
        seed=seed,
    )
    made.folder = folder
    return made


def bet(floor: Worker, random: Random) -> None:
    """Place wagers without end; what was acknowledged is noted."""
    with (floor.folder / "acknowledged.txt").open("a", encoding="utf-8") as acknowledged:
        while True:
            time.sleep(STEP_PAUSE_S)
            current = floor.state(random.choice(TABLES)).round
            if current is None or current.phase is not Phase.BETTING:
                continue
            player, id = random.choice(PLAYERS), str(uuid.uuid4())
            try:
                floor.wagers.place(
                    player,
                    round_id=current.id,
                    wager_id=id,
                    bet=random.choice(BETS),
                    stake_minor=random.randrange(100, 400),
                )
                acknowledged.write(f"placed {id}\n")
                acknowledged.flush()
                if random.random() < 0.2:
                    floor.wagers.undo(player, wager_id=id)
                    acknowledged.write(f"undone {id}\n")
                    acknowledged.flush()
            except RefusedError:
                continue  # too late, too much, or too little money


def play(floor: Worker, random: Random) -> None:
    """Play on at both tables without end."""
    threading.Thread(target=bet, args=(floor, Random(random.random())), daemon=True).start()
    while True:
        table = random.choice(TABLES)
        time.sleep(STEP_PAUSE_S)
        if random.random() < ODD:
            oddity(floor, table, random)
        else:
            floor.step(table)


def oddity(floor: Worker, table: str, random: Random) -> None:
    """Let something go wrong."""
    try:
        if random.random() < 0.5:
            floor.command("void_round", PIT, table=table, reason="misdeal")
        else:
            floor.show_serial(5, table=table, deck_set=9)
    except RefusedError:
        return  # no round was running


def finish(floor: Worker) -> None:
    """End the rounds that run; open no other."""
    for table in TABLES:
        while (current := floor.state(table).round) is not None and current.running:
            time.sleep(STEP_PAUSE_S)
            floor.step(table)


def live(folder: Path, seed: int, mode: str) -> None:
    """Be a worker."""
    floor = worker(folder, seed)
    sys.stdout.write(f"ready {os.getpid()}\n")
    sys.stdout.flush()
    floor.resend()
    if mode == "play":
        play(floor, Random(seed))
    finish(floor)


def main(folder: Path) -> None:
    """Fork a worker for each line."""
    for line in sys.stdin:
        seed, mode = line.split()
        child = os.fork()
        if child == 0:
            live(folder, int(seed), mode)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"gone {status}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
