"""kill -9 at any moment: what was acknowledged is there, the rest never was, and play goes on.

A real process plays at two tables over an SQLite file, with a thread that bets, and is killed
again and again; the next one replays the log and goes on.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random  # noqa: TID251 - its seed is printed

import pytest

from studio.services.ports import EndingKind
from studio.store.engine import make_engine
from studio.store.schema import upgrade
from tests.kill.nursery import TABLES, worker
from tests.support.floor import PLAYERS, Floor

ROOT = Path(__file__).parents[2]
KILLS = 25
KILLS_MAX = 6 * KILLS
"""On a busy machine a life is worth less: more of them follow until enough has happened."""

WAGERS_MIN = 50
LIFE_MAX_S = 0.5
"""Longest life of a process; the window, a whole deal and a settlement fit into it."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a furnished studio in it."""
    engine = make_engine(f"sqlite:///{tmp_path / 'studio.db'}")
    upgrade(engine)
    engine.dispose()
    first = worker(tmp_path, 0)
    first.furnish()
    first.engine.dispose()
    return tmp_path


@pytest.fixture
def nursery(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """The process that raises the others."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.kill.nursery", str(folder)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.terminate()


def ask(nursery: "subprocess.Popen[str]", line: str) -> int:
    """Have a worker raised and return its process id."""
    assert nursery.stdin is not None
    assert nursery.stdout is not None
    nursery.stdin.write(f"{line}\n")
    nursery.stdin.flush()
    word, number = nursery.stdout.readline().split()
    assert word == "ready"
    return int(number)


def gone(nursery: "subprocess.Popen[str]") -> int:
    """Wait for the worker's end and return how it ended."""
    assert nursery.stdout is not None
    word, status = nursery.stdout.readline().split()
    assert word == "gone"
    return int(status)


def acknowledged(folder: Path) -> dict[str, str]:
    """Return what clients were told of each wager: placed or undone."""
    file = folder / "acknowledged.txt"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {id: word for word, id in (line.split() for line in lines if len(line) == 43)}


def need_sound(floor: Floor, folder: Path) -> dict[str, EndingKind | None]:
    """Fail unless everything acknowledged is stored; return every wager's ending."""
    endings: dict[str, EndingKind | None] = {}
    with floor.units.read() as unit:
        for row in unit.rounds.recent(None, limit=10_000, before_ms=None):
            for wager in unit.wagers.of_round(row.id):
                assert wager.id not in endings
                assert wager.accepted_ms < row.window_closes_ms
                endings[wager.id] = wager.ending.kind if wager.ending else None
    for id, word in acknowledged(folder).items():
        assert id in endings, "an acknowledged wager is lost"
        if word == "undone":
            assert endings[id] is EndingKind.UNDONE
    assert floor.ledger_sum() == 0
    for table in TABLES:
        assert floor.live(table).state.seq >= 0
    return endings


@pytest.mark.process
def test_a_process_killed_at_any_moment_loses_nothing_and_doubles_nothing(nursery, folder):
    seed = Random().randrange(10**6)
    random = Random(seed)
    print(f"seed {seed}")  # noqa: T201 - shown when the test fails
    for number in range(KILLS_MAX):
        child = ask(nursery, f"{seed + number} play")
        time.sleep(random.uniform(0, LIFE_MAX_S))
        os.kill(child, signal.SIGKILL)
        assert gone(nursery) == signal.SIGKILL
        after = worker(folder, seed)
        wagers = len(need_sound(after, folder))
        after.engine.dispose()
        if number + 1 >= KILLS and wagers > WAGERS_MIN:
            break
    ask(nursery, f"{seed} finish")
    assert gone(nursery) == 0
    last = worker(folder, seed)
    endings = need_sound(last, folder)
    assert last.faults() == []
    assert None not in endings.values(), "a wager never ended"
    print(f"{len(endings)} wagers, {last.state().round_number} rounds at T1")  # noqa: T201
    # Enough happened for this to mean something.
    assert len(endings) > WAGERS_MIN
    assert sum(last.state(table).round_number for table in TABLES) > 10
    assert set(endings.values()) >= {EndingKind.SETTLED, EndingKind.UNDONE}
    with last.units.read() as unit:
        money = [unit.ledger.balance(player.id) for player in PLAYERS]
        phases = {row.phase for row in unit.rounds.recent(None, limit=10_000, before_ms=None)}
    assert all(balance.held_minor == 0 for balance in money)
    assert phases <= {"settled", "void"}
    last.engine.dispose()
