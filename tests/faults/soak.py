"""The fault tests for a long time: `python -m tests.faults.soak --minutes 60 --jobs 2`.

Every layer gets its part of the time, seed after seed. A violation is told at once, with the
command that shows it again; the end is a table. Exit status 1 when there was a violation.
"""

import math
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

import click

from tests.faults.layers import LAYERS
from tests.faults.outcome import Outcome

TELL_EVERY_S = 30.0
SHARED_MEMORY = Path("/dev/shm")


@dataclass
class Told:
    """What a layer's seeds have come to."""

    name: str
    next_seed: int
    seeds: list[int] = field(default_factory=list)
    cases: int = 0
    spent_s: float = 0.0
    running: int = 0
    violations: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def turn(self) -> float:
        """The layer with the smallest figure is next."""
        return (self.spent_s + self.running) / LAYERS[self.name].weight

    def take(self, outcome: Outcome, spent_s: float) -> None:
        """Add a seed."""
        self.running -= 1
        self.seeds.append(outcome.seed)
        self.cases += outcome.cases
        self.spent_s += spent_s
        self.counts.update(outcome.counts)
        self.violations += len(outcome.violations)


def run_one(name: str, seed: int, until_s: float) -> tuple[str, Outcome, float]:
    """Run one seed of a layer."""
    outcome = Outcome(seed=seed, until_s=until_s)
    begun_s = time.monotonic()
    memory = SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="studio-soak-", dir=memory) as folder:
        try:
            LAYERS[name].run(Path(folder), outcome, 1.0)
        except Exception as error:  # noqa: BLE001 - whatever fails is a finding of this seed
            outcome.violations.append(f"{error!r}\n{traceback.format_exc()}")
    return name, outcome, time.monotonic() - begun_s


def hunt(layers: list[Told], *, jobs: int, seeds: float, cases: float, until_s: float) -> None:
    """Run seeds until the time is up, or there were enough of them."""
    told_s = time.monotonic()
    with ProcessPoolExecutor(jobs) as pool:
        under_way: set[Future[tuple[str, Outcome, float]]] = set()
        while True:
            open_ = [layer for layer in layers if len(layer.seeds) + layer.running < seeds]
            enough = time.monotonic() >= until_s or sum(one.cases for one in layers) >= cases
            while not enough and len(under_way) < jobs and open_:
                layer = min(open_, key=lambda one: one.turn)
                under_way.add(pool.submit(run_one, layer.name, layer.next_seed, until_s))
                layer.next_seed += 1
                layer.running += 1
                open_ = [one for one in open_ if len(one.seeds) + one.running < seeds]
            if not under_way:
                return
            done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done:
                name, outcome, spent_s = future.result()
                next(layer for layer in layers if layer.name == name).take(outcome, spent_s)
                tell(name, outcome)
            if time.monotonic() - told_s >= TELL_EVERY_S:
                told_s = time.monotonic()
                click.echo(", ".join(f"{one.name} {one.cases}" for one in layers), err=True)


def tell(name: str, outcome: Outcome) -> None:
    for violation in outcome.violations:
        click.echo(f"VIOLATION {name} seed {outcome.seed}: {violation}")
    if outcome.violations:
        click.echo(
            f"Again: python -m tests.faults.soak --layer {name} --start {outcome.seed} --seeds 1"
        )


def table(layers: list[Told]) -> Iterator[str]:
    yield "layer               cases   seeds    from      to  minutes  violations"
    for one in layers:
        first, last = (min(one.seeds), max(one.seeds)) if one.seeds else ("-", "-")
        yield (
            f"{one.name:<16}{one.cases:>9}{len(one.seeds):>8}{first:>8}{last:>8}"
            f"{one.spent_s / 60:>9.1f}{one.violations:>12}"
        )


@click.command()
@click.option("--minutes", type=click.FloatRange(0, min_open=True), help="Stop after this long.")
@click.option("--layer", "names", type=click.Choice(list(LAYERS)), multiple=True, help="Else all.")
@click.option("--start", type=click.IntRange(0), default=0, show_default=True, help="First seed.")
@click.option("--seeds", type=click.IntRange(1), help="So many of each layer at most.")
@click.option("--cases", type=click.IntRange(1), help="Stop after so many cases in all.")
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True)
@click.option("--counts", is_flag=True, help="Also tell what the cases were.")
def main(
    *,
    minutes: float | None,
    names: tuple[str, ...],
    start: int,
    seeds: int | None,
    cases: int | None,
    jobs: int,
    counts: bool,
) -> None:
    """Hunt for faults in every layer; without limits until it is stopped."""
    layers = [Told(name, next_seed=start) for name in names or LAYERS]
    until_s = math.inf if minutes is None else time.monotonic() + minutes * 60
    hunt(layers, jobs=jobs, seeds=seeds or math.inf, cases=cases or math.inf, until_s=until_s)
    click.echo("\n".join(table(layers)))
    if counts:
        for layer in layers:
            for what, count in sorted(layer.counts.items()):
                click.echo(f"{layer.name:<16}{count:>9}  {what}")
    sys.exit(1 if any(layer.violations for layer in layers) else 0)


if __name__ == "__main__":
    main()
