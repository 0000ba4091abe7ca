"""How a benchmark speaks: progress on stderr, one table for people, one object for machines."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import click

from studio.domain.game import Json

Say = Callable[[str], None]


def progress(line: str) -> None:
    """Say on stderr what is being done."""
    click.echo(line, err=True)


@dataclass(frozen=True, kw_only=True)
class Goal:
    """One goal: a ratio and the side of the limit it has to be on."""

    name: str
    value: float | None
    """None: this run could not measure it."""
    at_most: float | None = None
    at_least: float | None = None

    @property
    def reached(self) -> bool | None:
        """Whether the goal is reached; None when nothing was measured."""
        if self.value is None:
            return None
        if self.at_most is not None:
            return self.value <= self.at_most
        return self.at_least is not None and self.value >= self.at_least

    def as_json(self) -> dict[str, Json]:
        """Return the goal for machines."""
        limit = {"at_most": self.at_most} if self.at_least is None else {"at_least": self.at_least}
        value = None if self.value is None else round(self.value, 3)
        return {"goal": self.name, "value": value, **limit, "reached": self.reached}

    def as_line(self) -> str:
        """Return the goal for people."""
        limit = f"at most {self.at_most}" if self.at_least is None else f"at least {self.at_least}"
        if self.value is None:
            return f"not measured  {self.name} ({limit})"
        verdict = "reached" if self.reached else "NOT REACHED"
        return f"{verdict:<13} {self.name}: {self.value:.2f} ({limit})"


def show(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table: the first column to the left, figures to the right."""
    lines = [tuple(heads), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    click.echo(f"\n{title}")
    for line in lines:
        cells = [
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        click.echo("  " + "  ".join(cells).rstrip())


def show_goals(goals: Iterable[Goal]) -> None:
    """Print which goals were reached."""
    click.echo("\nGoals")
    for goal in goals:
        click.echo(f"  {goal.as_line()}")


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` of all values do not exceed (nearest rank); 0 over none."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1))]


def median(values: Sequence[float]) -> float:
    """Return the median; 0 over none."""
    return statistics.median(values) if values else 0.0


def print_faults(faults: Sequence[str], *, checked: str) -> None:
    """Print what was found wrong in what was measured; `checked` says by whom."""
    if faults:
        click.echo(f"\n{checked} found {len(faults)} faults: {', '.join(faults[:5])}")
    else:
        click.echo(f"\n{checked} found nothing wrong.")
