"""A disk that is full or fails while an operation runs, and has room again afterwards.

The same process goes on: what it was asked is refused as a failed storage or done, never done in
part, and once there is room the repetition under the same id leads to what an undisturbed run
leads to. The database's own limit of pages stands for a full disk, the kernel's limit of a file's
size for a disk that fails in the middle of a write.
"""

import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random  # noqa: TID251 - seeded below
from typing import Any

from sqlalchemy import Engine, event

from studio.services.retry import StorageError
from tests.faults.grounds import SqliteGround, digest
from tests.faults.kills import Prepared, books, prepare, some
from tests.faults.operations import done_again
from tests.faults.outcome import Outcome, in_child

CASES = 6
"""Of each operation."""
PAGES_LEFT = range(2)
REFUSED = 3
"""Exit status of a case in which the failed storage was told."""


def run(ground: SqliteGround, outcome: Outcome, *, share: float = 1.0) -> None:
    """Let every operation meet a full disk and a failing one."""
    random = Random(f"disk {outcome.seed}")
    names, share = some(random, share)
    for name in names:
        prepared = prepare(ground, name, outcome)
        for number in range(CASES):
            if random.random() >= share:
                continue
            if outcome.over:
                return
            full = number % 2 == 0
            left = random.choice(PAGES_LEFT if full else range(max(prepared.passed.sizes)))
            case = f"{name}: {left} {'pages' if full else 'bytes'} left"
            status = in_child(Disturbed(ground, prepared, left, full=full))
            refused = os.waitstatus_to_exitcode(status) == REFUSED
            outcome.need(refused or status == 0, f"{case}: see the traceback")
            ground.reset()
            outcome.cases += 1
            what = "full" if full else "failing"
            outcome.counts[f"{what}: {'refused' if refused else 'done'}"] += 1


class Disturbed:
    """One case, in a process of its own."""

    def __init__(self, ground: SqliteGround, prepared: Prepared, left: int, *, full: bool) -> None:
        self._ground = ground
        self._prepared = prepared
        self._limit = full_disk if full else failing_disk
        self._left = left

    def __call__(self) -> int:
        refused = False
        with self._ground.engine() as engine:
            floor = self._prepared.floor(engine)
            with self._limit(engine, self._left):
                try:
                    self._prepared.work(floor)
                    floor.clockwork.turn()
                except StorageError:
                    refused = True
                    assert digest(engine) in self._prepared.passed.states, "done in part"
            # The same chance again, so that the same commitment is made.
            floor.devices = self._prepared.floor(engine).devices
            done_again(self._prepared.work, floor)
            floor.clockwork.turn()
            assert books(floor) == self._prepared.books, "not what an undisturbed run leads to"
            assert floor.faults() == []
        return REFUSED if refused else 0


@contextmanager
def full_disk(engine: Engine, pages: int) -> Iterator[None]:
    """Leave the database so many pages to grow."""
    with engine.connect() as connection:
        used = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    engine.dispose()

    def limit(connection: Any, _: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {used + pages}")

    event.listen(engine, "connect", limit)
    try:
        yield
    finally:
        event.remove(engine, "connect", limit)
        engine.dispose()


@contextmanager
def failing_disk(_: Engine, size: int) -> Iterator[None]:
    """Let no file grow beyond a size: a write fails after its first part."""
    assert signal.getsignal(signal.SIGXFSZ) is signal.SIG_IGN
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
