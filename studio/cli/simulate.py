"""`app.py simulate`: seeded simulation with faults, a violation is printed and reproduces."""

import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import islice

import click

from studio.cli.lines import one_line_errors
from studio.domain.game import Json
from studio.simulation.guards import Guard, guards_without
from studio.simulation.world import STEPS, Outcome, run_seed

JOBS_MAX = 64
BATCH = 20
"""Seeds handed to a process at a time."""
PROGRESS_EVERY_S = 5.0
VIOLATIONS_SHOWN_MAX = 10


@click.command()
@click.option("--seeds", type=click.IntRange(1), default=100, show_default=True, help="How many.")
@click.option("--start", type=click.IntRange(0), default=0, show_default=True, help="The first.")
@click.option("--steps", type=click.IntRange(1), default=STEPS, show_default=True, help="A seed.")
@click.option("--jobs", type=click.IntRange(1, JOBS_MAX), default=1, show_default=True)
@click.option("--seconds", type=click.FloatRange(0, min_open=True), help="Stop after this long.")
@click.option(
    "--without",
    type=click.Choice([guard.value for guard in Guard]),
    help="Switch one guard off, to see that the hunt notices.",
)
@click.option("--trace", is_flag=True, help="Print the last steps before a violation.")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
@one_line_errors
def simulate(
    *,
    seeds: int,
    start: int,
    steps: int,
    jobs: int,
    seconds: float | None,
    without: str | None,
    trace: bool,
    as_json: bool,
) -> None:
    """Hunt for faults in a simulated studio; fails when anything that is always true was not."""
    begun_s = time.monotonic()
    deadline_s = None if seconds is None else begun_s + seconds
    counts: Counter[str] = Counter()
    violations: list[Outcome] = []
    done, told_s = 0, begun_s
    outcomes = _outcomes(range(start, start + seeds), steps=steps, jobs=jobs, without=without)
    try:
        for outcome in outcomes:
            done += 1
            counts.update(outcome.counts)
            if outcome.violation is not None:
                violations.append(outcome)
            now_s = time.monotonic()
            if now_s - told_s >= PROGRESS_EVERY_S:
                told_s = now_s
                click.echo(
                    f"{done} of {seeds} seeds, {counts['rounds']} rounds, "
                    f"{len(violations)} violations, {now_s - begun_s:.0f} s",
                    err=True,
                )
            if deadline_s is not None and now_s >= deadline_s:
                break
    except KeyboardInterrupt:
        click.echo("Stopped: what was found so far is told.", err=True)
    spent_s = time.monotonic() - begun_s
    summary = _summary(start, done, counts, violations, spent_s=spent_s)
    click.echo(json.dumps(summary) if as_json else "\n".join(_lines(summary)))
    if trace:
        for outcome in violations[:VIOLATIONS_SHOWN_MAX]:
            click.echo(f"seed {outcome.seed}: " + " ".join(outcome.trace), err=True)
    if violations:
        sys.exit(1)


def _one(seed: int, *, steps: int, without: str | None) -> Outcome:
    return run_seed(seed, steps=steps, guards=guards_without(without))


def _outcomes(
    seeds: Iterable[int], *, steps: int, jobs: int, without: str | None
) -> Iterator[Outcome]:
    """Yield each seed's outcome, in the order of the seeds; a few batches are under way at most."""
    work = partial(_one, steps=steps, without=without)
    if jobs == 1:
        yield from map(work, seeds)
        return
    with ExitStack() as stack:
        pool = stack.enter_context(ProcessPoolExecutor(jobs))
        stack.callback(pool.shutdown, wait=False, cancel_futures=True)
        left = iter(seeds)
        while batch := list(islice(left, BATCH * jobs)):
            yield from pool.map(work, batch, chunksize=BATCH)


def _summary(
    start: int,
    done: int,
    counts: Counter[str],
    violations: list[Outcome],
    *,
    spent_s: float,
) -> dict[str, Json]:
    return {
        "start": start,
        "seeds": done,
        "seconds": round(spent_s, 1),
        "rounds_per_s": round(counts["rounds"] / max(spent_s, 1e-9), 1),
        "counts": dict(sorted(counts.items())),
        "violations": [
            {
                "seed": outcome.seed,
                "code": outcome.violation.code,
                "what": outcome.violation.what,
            }
            for outcome in violations
            if outcome.violation is not None
        ],
    }


def _lines(summary: dict[str, Json]) -> Iterator[str]:
    counts = summary["counts"]
    last = summary["start"] + summary["seeds"] - 1
    yield (
        f"Seeds {summary['start']} to {last}: {counts['rounds']} rounds, "
        f"{counts['wagers']} wagers, {counts['reports']} reports, {counts['commands']} commands, "
        f"{counts['crashes']} processes killed; {summary['seconds']} s, "
        f"{summary['rounds_per_s']} rounds/s."
    )
    violations = summary["violations"]
    for found in violations[:VIOLATIONS_SHOWN_MAX]:
        yield f"seed {found['seed']}: {found['code']}: {found['what']}"
    if violations:
        yield f"{len(violations)} violations. Again: simulate --start SEED --seeds 1 --trace"
    else:
        yield "No violation."
