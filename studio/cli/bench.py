"""`app.py bench ...`: the measurements, each in one run with its peers."""

import json
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import ParamSpec, Protocol

import click
import requests

from studio.bench.report import progress
from studio.cli.lines import FAILED, OneLineGroup, fail, one_line_errors
from studio.demo.client import DoorError
from studio.demo.processes import ProcessError
from studio.domain.game import Json

P = ParamSpec("P")

WAGERS_MAX = 2_000_000
CLIENTS_MAX = 3_900
"""The server's worker holds 4,000 connections."""

SECONDS_MAX = 120.0
FRAMES_MAX = 1_000_000

_database = click.option(
    "--database-url",
    help="Whose server (PostgreSQL) or folder (SQLite) to use; a fresh database is made there. "
    "Else a temporary SQLite file.",
)
_json = click.option("--json", "as_json", is_flag=True, help="One object for machines.")


class Result(Protocol):
    """What every measurement returns."""

    @property
    def faults(self) -> Sequence[str]:
        """What is wrong in the database afterwards."""

    def as_json(self) -> dict[str, Json]:
        """Return everything for machines."""

    def show(self) -> None:
        """Print everything for people."""


@click.group(cls=OneLineGroup)
def bench() -> None:
    """Measure this studio with peers beside it, all in one run."""


def _measured(command: Callable[P, Result]) -> Callable[P, None]:
    """Turn what a person can mend into one line; fail when what was measured is not whole."""

    @wraps(command)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            result = command(*args, **kwargs)
        except (ProcessError, DoorError, TimeoutError, requests.RequestException) as error:
            fail(str(error), status=FAILED)
        if result.faults:
            sys.exit(FAILED)

    return one_line_errors(guarded)


def _tell(result: Result, *, as_json: bool) -> Result:
    if as_json:
        click.echo(json.dumps(result.as_json(), ensure_ascii=False))
    else:
        result.show()
    return result


@bench.command()
@click.option("--wagers", type=click.IntRange(10, WAGERS_MAX), default=100_000, show_default=True)
@_database
@_json
@_measured
def settle(wagers: int, database_url: str | None, *, as_json: bool) -> Result:
    """Settle rounds of N wagers; beside it the bare entry rows and an ORM loop."""
    from studio.bench.settle import measure_settling

    return _tell(measure_settling(database_url, wagers=wagers, say=progress), as_json=as_json)


@bench.command()
@click.option("--clients", type=click.IntRange(1, 64), default=32, show_default=True)
@click.option(
    "--seconds",
    type=click.FloatRange(0.2, SECONDS_MAX),
    default=5.0,
    show_default=True,
    help="Length of each measurement.",
)
@_database
@_json
@_measured
def wagers(clients: int, seconds: float, database_url: str | None, *, as_json: bool) -> Result:
    """Place wagers: direct at 1, 8 and N clients, then over HTTP; beside it the bare statement."""
    from studio.bench.wagers import measure_wagers

    result = measure_wagers(database_url, clients=clients, seconds=seconds, say=progress)
    return _tell(result, as_json=as_json)


@bench.command()
@click.option("--clients", type=click.IntRange(1, CLIENTS_MAX), default=500, show_default=True)
@click.option(
    "--events",
    type=click.IntRange(1, 200),
    default=20,
    show_default=True,
    help="How many events are published.",
)
@_json
@_measured
def fanout(clients: int, events: int, *, as_json: bool) -> Result:
    """Publish table events to N live connections; beside it a bare broadcast."""
    from studio.bench.fanout import measure_fanout

    return _tell(measure_fanout(clients=clients, events=events, say=progress), as_json=as_json)


@bench.command()
@click.option(
    "--frames",
    type=click.IntRange(10, FRAMES_MAX),
    default=2_000,
    show_default=True,
    help="Length of the film; half as many single frames go before all three readers.",
)
@click.option(
    "--photos",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder of real photos, each with its text in a .txt file beside it.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@_json
@_measured
def scan(frames: int, photos: Path | None, seed: int, *, as_json: bool) -> Result:
    """Read drawn cards and real photos; beside it pyzbar alone and zxing-cpp alone."""
    from scanner.decode import DecoderMissingError
    from studio.bench.scan import measure_scan

    try:
        result = measure_scan(frames=frames, photos=photos, seed=seed, say=progress)
    except DecoderMissingError as error:
        fail(str(error), status=FAILED)
    return _tell(result, as_json=as_json)
