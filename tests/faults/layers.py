"""The layers of the fault tests: each runs one seed in a folder of its own."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from studio.simulation.world import run_seed
from tests.faults import cluster, damage, disk, kills, stack
from tests.faults.grounds import PostgresqlGround, SqliteGround
from tests.faults.outcome import Outcome


@dataclass(frozen=True)
class Layer:
    """One way to hunt for faults."""

    weight: int
    """Its part of the time."""
    run: Callable[[Path, Outcome, float], None]
    """Runs the outcome's seed in an empty folder; the number says how much of it."""


def simulate(_: Path, outcome: Outcome, share: float) -> None:
    """Play a seed of the simulated studio."""
    found = run_seed(outcome.seed)
    outcome.cases = 1
    outcome.counts.update({"rounds": found.counts["rounds"], "deaths": found.counts["crashes"]})
    if found.violation is not None:
        outcome.violations.append(f"{found.violation.code}: {found.violation.what}")


def kill_sqlite(folder: Path, outcome: Outcome, share: float) -> None:
    kills.run(SqliteGround(folder), outcome, share=share)


def kill_postgresql(_: Path, outcome: Outcome, share: float) -> None:
    with contextlib.closing(PostgresqlGround()) as ground:
        kills.run(ground, outcome, share=share)


def damage_sqlite(folder: Path, outcome: Outcome, share: float) -> None:
    damage.run(SqliteGround(folder), outcome, share=share)


def full_disk(folder: Path, outcome: Outcome, share: float) -> None:
    disk.run(SqliteGround(folder), outcome, share=share)


def stop_postgresql(_: Path, outcome: Outcome, share: float) -> None:
    cluster.run(outcome, share=share)


def whole_stack(_: Path, outcome: Outcome, share: float) -> None:
    stack.run(outcome, share=share)


LAYERS = {
    "simulate": Layer(3, simulate),
    "kill-sqlite": Layer(4, kill_sqlite),
    "kill-postgresql": Layer(2, kill_postgresql),
    "damage": Layer(1, damage_sqlite),
    "disk": Layer(1, full_disk),
    "stop-postgresql": Layer(1, stop_postgresql),
    "stack": Layer(2, whole_stack),
}
