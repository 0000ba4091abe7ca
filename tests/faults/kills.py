"""kill -9 of a process at every statement of every operation, and in the middle of a write.

Each case forks a process that does one operation and kills itself; the database must then be, row
for row, what it was after the last commit before. A new process repeats the operation under the
same id: it is done once.
"""

import math
import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random  # noqa: TID251 - seeded below

from sqlalchemy import Engine, event

from studio.store.engine import make_engine
from tests.faults.grounds import Ground, SqliteGround, digest
from tests.faults.operations import OPERATIONS, Done, done_again, played
from tests.faults.outcome import Outcome, in_child
from tests.support.fakes import ManualClock
from tests.support.floor import PLAYERS, Floor

SOME = 4
TORN_WRITES = 12
"""Cases of each operation in which the kernel ends the process at a byte of its write."""
REPEATED = frozenset({"", "wager_undone", "round_corrected", "results_not_due"})


@dataclass
class Passed:
    """What an undisturbed run passes, in order: the moments at which a process may die."""

    points: list[str] = field(default_factory=list)
    commits: list[int] = field(default_factory=list)
    """For each point, how many commits came before it."""
    states: list[str] = field(default_factory=list)
    """The database after so many commits."""
    sizes: list[int] = field(default_factory=list)
    """The write-ahead log after so many commits, in bytes."""
    clean: set[str] = field(default_factory=set)
    """Databases that were audited: the same rows need it once."""


@dataclass(frozen=True)
class Prepared:
    """An operation that is due on a database that was kept."""

    name: str
    work: Done
    clock_ms: int
    seed: int
    passed: Passed
    books: object
    """What is stored once the operation was done."""

    def floor(self, engine: Engine) -> Floor:
        """Return the services of a new process."""
        return Floor(engine=engine, clock=ManualClock(self.clock_ms), seed=self.seed)


def run(ground: Ground, outcome: Outcome, *, share: float = 1.0) -> None:
    """Kill a process at every moment of every operation; `share` leaves some of them out."""
    random = Random(f"kill {outcome.seed}")
    names, share = some(random, share)
    for name in names:
        prepared = prepare(ground, name, outcome)
        for what, die, state in cases(ground, prepared, random):
            if random.random() >= share:
                continue
            if outcome.over:
                return
            kill(ground, prepared, die, state, outcome, f"{name}: {what}")
            ground.reset()
            outcome.cases += 1
            outcome.counts[name] += 1


def some(random: Random, share: float) -> tuple[list[str], float]:
    """Return operations, and the share of their cases, that make up a share of everything.

    Each operation has to be played to first: few of them, seen at many moments, cost less.
    """
    count = max(1, math.ceil(len(OPERATIONS) * min(1.0, SOME * share)))
    return random.sample(list(OPERATIONS), count), share * len(OPERATIONS) / count


def prepare(ground: Ground, name: str, outcome: Outcome) -> Prepared:
    """Play to where the operation is due, keep that, and do it once undisturbed."""
    ground.clear()
    seed = outcome.seed
    random = Random(f"{name} {seed}")
    with ground.engine() as engine:
        floor = Floor(engine=engine, seed=seed)
        floor.furnish()
        played(floor, random)
        work = OPERATIONS[name](floor, random)
        assert isinstance(floor.clock, ManualClock)
        clock_ms = floor.clock.ms
    ground.keep()
    passed = Passed()
    with ground.engine() as engine:
        floor = Floor(engine=engine, clock=ManualClock(clock_ms), seed=seed)
        other = make_engine(ground.url)
        watcher = Floor(engine=other, clock=ManualClock(clock_ms), seed=seed)

        def look() -> None:
            passed.states.append(digest(other))
            passed.clean.add(passed.states[-1])
            outcome.need(watcher.faults() == [], f"{name}: the audit finds faults")
            sized = isinstance(ground, SqliteGround) and ground.wal.exists()
            passed.sizes.append(ground.wal.stat().st_size if sized else 0)

        look()
        with watched(engine, passed.points, passed.commits, look):
            work(floor)
        floor.clockwork.turn()
        found = books(floor)
        other.dispose()
    ground.reset()
    return Prepared(name=name, work=work, clock_ms=clock_ms, seed=seed, passed=passed, books=found)


@contextmanager
def watched(
    engine: Engine, points: list[str], commits: list[int], committed: Callable[[], None]
) -> Iterator[None]:
    """Note every point that is passed."""
    done = 0

    def passes(kind: str, detail: str) -> None:
        nonlocal done
        points.append(f"{kind} {detail}")
        if kind == "after" and detail == "COMMIT":
            done += 1
            committed()
        commits.append(done)

    with points_of(engine, passes):
        yield


@contextmanager
def points_of(engine: Engine, passes: Callable[[str, str], None]) -> Iterator[None]:
    """Call `passes` before and after every statement and commit."""

    def before(_: object, cursor: object, statement: str, *__: object) -> None:
        passes("before", " ".join(statement.split())[:60])

    def after(_: object, cursor: object, statement: str, *__: object) -> None:
        passes("after", " ".join(statement.split())[:60])

    right = engine.dialect.do_commit

    def commit(connection: object) -> None:
        passes("before", "COMMIT")
        right(connection)
        passes("after", "COMMIT")

    event.listen(engine, "before_cursor_execute", before)
    event.listen(engine, "after_cursor_execute", after)
    engine.dialect.do_commit = commit
    try:
        yield
    finally:
        engine.dialect.do_commit = right
        event.remove(engine, "before_cursor_execute", before)
        event.remove(engine, "after_cursor_execute", after)


Die = Callable[[Engine, Callable[[], object]], None]


def cases(ground: Ground, prepared: Prepared, random: Random) -> Iterator[tuple[str, Die, str]]:
    """Yield what happens, how the process dies of it, and the database it must leave."""
    passed = prepared.passed
    for at, (point, commits) in enumerate(zip(passed.points, passed.commits, strict=True)):
        yield f"{point} (point {at})", at_point(at), passed.states[commits]
    if not isinstance(ground, SqliteGround) or passed.sizes[-1] == passed.sizes[0]:
        return
    for _ in range(TORN_WRITES):
        size = random.randrange(passed.sizes[0], passed.sizes[-1])
        commits = max(at for at, whole in enumerate(passed.sizes) if whole <= size)
        yield f"write stopped at byte {size}", at_byte(size), passed.states[commits]


def at_point(at: int) -> Die:
    """Return a death by SIGKILL at a point, counted from 0."""

    def die(engine: Engine, work: Callable[[], object]) -> None:
        left = at

        def passes(kind: str, detail: str) -> None:
            nonlocal left
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1

        with points_of(engine, passes):
            work()

    return die


def at_byte(size: int) -> Die:
    """Return a death by the kernel when a file grows beyond a size: its last write is torn."""

    def die(engine: Engine, work: Callable[[], object]) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        work()

    return die


def kill(
    ground: Ground, prepared: Prepared, die: Die, state: str, outcome: Outcome, case: str
) -> None:
    """Do one case."""

    def child() -> None:
        with ground.engine() as engine:
            floor = prepared.floor(engine)
            die(engine, lambda: prepared.work(floor))

    status = in_child(child)
    outcome.need(
        os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGKILL, signal.SIGXFSZ),
        f"{case}: the process was not killed (status {status})",
    )
    ground.settle()
    with ground.engine() as engine:
        found = digest(engine)
        outcome.need(found == state, f"{case}: what is stored is not what was committed")
        floor = prepared.floor(engine)
        refusal = done_again(prepared.work, floor)
        outcome.need(refusal in REPEATED, f"{case}: the repetition is refused: {refusal}")
        floor.clockwork.turn()
        done = books(floor)
        outcome.need(done == prepared.books, f"{case}: what the repetition led to is not the same")
        done_again(prepared.work, prepared.floor(engine))
        outcome.need(books(prepared.floor(engine)) == done, f"{case}: it was done twice")
        end = digest(engine)
        if end not in prepared.passed.clean:
            prepared.passed.clean.add(end)
            outcome.need(floor.faults() == [], f"{case}: the audit finds faults at the end")


def books(floor: Floor) -> object:
    """Return all that an operation leads to, without the numbers a database counts up."""
    with floor.units.read() as unit:
        rows = unit.rounds.recent(None, limit=50, before_ms=None)
        wagers = [unit.wagers.of_round(row.id) for row in rows]
        trail = len(unit.trail.read(limit=500, before_id=None))
    return floor.state(), rows, wagers, trail, [floor.money(player) for player in PLAYERS]
