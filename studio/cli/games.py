"""`app.py rules check` and `app.py rtp`: the games by themselves, without a studio."""

import json
import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import click

from studio.cli.lines import fail, one_line_errors
from studio.domain.errors import MalformedError
from studio.domain.game import GameConfig, Json
from studio.domain.theory import TheoreticalReturn
from studio.games import game as game_by_code
from studio.services.vectors import check_vectors

RTP_DECIMALS = 15


@click.group()
def rules() -> None:
    """The rules that settle."""


@rules.command("check")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--game", "code", help="Only this game's vectors.")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
@one_line_errors
def rules_check(files: tuple[Path, ...], code: str | None, *, as_json: bool) -> None:
    """Run test vectors through the product's own rules; one line per failing vector."""
    report = check_vectors({str(path): _json_of(path) for path in files}, game=code)
    if as_json:
        unsupported_here = len(report.unsupported_of_registered_game)
        _echo_json(
            {
                "passed": report.passed,
                "failed": len(report.failures),
                "unsupported": len(report.unsupported),
                "unsupported_of_registered_games": unsupported_here,
                "lines": list(report.lines[:-1]),
            }
        )
    else:
        click.echo("\n".join(report.lines))
    if not report.ok:
        sys.exit(1)


def _json_of(path: Path) -> Json:
    try:
        return json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except (OSError, ValueError) as error:
        fail(f"{path} is no JSON file: {error}", status=1)


def _echo_json(answer: Json) -> None:
    click.echo(json.dumps(answer, ensure_ascii=False, default=str))


@click.command()
@click.argument("game", metavar="GAME")
@click.option("--bet", help="Only this bet; every kind when none is named.")
@click.option("--decks", type=click.IntRange(1, 16), default=8, show_default=True)
@click.option(
    "--option",
    "options",
    metavar="NAME=VALUE",
    multiple=True,
    help="An option of the game as in the settings, e.g. tie_gross=9; may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="For machines.")
@one_line_errors
def rtp(game: str, bet: str | None, decks: int, options: tuple[str, ...], *, as_json: bool) -> None:
    """Exact return of GAME's bets, enumerated through the same rules that settle."""
    plugin = game_by_code(game)
    config = GameConfig(decks=decks, options=_options(options))
    kinds = {one.settles_on: None for one in plugin.describe(config).bets}
    exact = [plugin.theoretical(kind, config) for kind in ([bet] if bet else kinds)]
    answers = [_return_as_json(game, one) for one in exact]
    if as_json:
        _echo_json(answers[0] if bet or len(answers) == 1 else {**answers[0], "bets": answers})
        return
    for answer in answers:
        click.echo(
            f"{game} {answer['bet']}, {decks} decks: {answer['rtp']}  ({answer['fraction']})"
        )
        for net, chance in answer["outcomes"].items():
            click.echo(f"  {net:>5}  {chance}")


def _options(given: Sequence[str]) -> Mapping[str, Json]:
    """Read NAME=VALUE pairs; values as in JSON (9, true), anything else is a text.

    Raises:
        MalformedError: `option_malformed`.
    """
    options: dict[str, Json] = {}
    for pair in given:
        name, sign, value = pair.partition("=")
        if not name or not sign:
            raise MalformedError("option_malformed", f"Write --option NAME=VALUE, not {pair!r}.")
        try:
            options[name] = json.loads(value)
        except ValueError:
            options[name] = value
    return options


def _return_as_json(game: str, exact: TheoreticalReturn) -> dict[str, Json]:
    return {
        "game": game,
        "bet": exact.bet,
        "decks": exact.decks,
        "rtp": _digits(exact.rtp),
        "fraction": str(exact.rtp),
        "outcomes": {str(net): _digits(exact.outcomes[net]) for net in sorted(exact.outcomes)},
    }


def _digits(value: Fraction) -> float:
    return round(float(value), RTP_DECIMALS)
