"""`app.py demo`: the command line of the studio that plays by itself."""

import json
import signal
import sys
from collections.abc import Callable
from functools import partial

import click

from studio.cli.lines import FAILED, MISUSED, fail, one_line_errors
from studio.cli.stores import audited
from studio.demo.client import DoorError
from studio.demo.furnish import Inside
from studio.demo.plan import EVERY_GAME, GAMES, Plan, chosen_games
from studio.demo.processes import ProcessError
from studio.demo.run import Demo
from studio.demo.summary import as_json as summary_as_json
from studio.demo.summary import as_text
from studio.joining import make_people, open_store
from studio.settings import currency_of, load_settings
from studio.web.ports import need_free_port

PORT_FOR_PEOPLE = 8000

_rounds = click.option(
    "--rounds",
    type=click.IntRange(1),
    help="Deal so many rounds at each table; --headless ends after them.",
)
_game = click.option(
    "--game",
    type=click.Choice([*GAMES, EVERY_GAME]),
    default=next(iter(GAMES)),
    show_default=True,
    help="What is played; all: a table each in one studio.",
)


@click.command()
@_rounds
@click.option("--seed", type=int, help="Same seed, same cards, wagers and payouts.")
@_game
@click.option("--play-money", is_flag=True, help="For G instead of money, with rooms.")
@click.option("--headless", is_flag=True, help="No pauses for people; end with a summary.")
@click.option("--database-url", help="Else a fresh embedded database.")
@click.option("--port", type=click.IntRange(1, 65535), help="Of the studio; 8000 for people.")
@click.option("--json", "as_json", is_flag=True, help="The summary for machines.")
@one_line_errors
def demo(
    rounds: int | None,
    seed: int | None,
    game: str,
    database_url: str | None,
    port: int | None,
    *,
    play_money: bool,
    headless: bool,
    as_json: bool,
) -> None:
    """A studio that plays by itself: simulated hands and players, everything else real."""
    if headless and rounds is None:
        fail("--headless needs --rounds: it ends after so many", status=MISUSED)
    if port is None and not headless:
        port = PORT_FOR_PEOPLE
    if port is not None:
        need_free_port("127.0.0.1", port)
    plan = Plan(
        rounds=rounds,
        seed=seed,
        headless=headless,
        database_url=database_url,
        games=chosen_games(game),
        play_money=play_money,
        port=port,
    )
    _play(plan, as_json=as_json)


def _play(plan: Plan, *, as_json: bool) -> None:
    for number in (signal.SIGTERM, signal.SIGHUP):
        # However the demo is told to stop, it ends its own processes first; nohup stays nohup.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)
    say: Callable[[str], None] = partial(click.echo, err=as_json)
    try:
        played, inside = Demo(plan, make_inside=_make_inside, say=say).run()
    except (ProcessError, DoorError, TimeoutError) as error:
        fail(str(error), status=FAILED)
    try:
        faults = audited(inside.units)
        summary = summary_as_json(inside.units, played.tables, audit_faults=len(faults))
    finally:
        inside.close()
    click.echo(json.dumps(summary) if as_json else as_text(summary))
    for fault in faults:
        click.echo(f"audit: {fault.code}  {fault.where}: {fault.what}", err=True)
    if plan.headless and played.interrupted:
        rounds = (plan.rounds or 0) * len(plan.games)
        fail(f"Stopped after {played.rounds} of {rounds} rounds.", status=FAILED)
    if faults or summary["ledger_sum_minor"]:
        sys.exit(FAILED)


def _make_inside() -> Inside:
    """Open the store that the settings name, with the use cases of its people."""
    settings = load_settings()
    engine, units = open_store(settings.database_url, currency=currency_of(settings).code)
    return Inside(units=units, people=make_people(settings, units), close=engine.dispose)
