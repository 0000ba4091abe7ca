"""The settings files of a demo's studio and of its scanners."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from studio.demo.plan import (
    DECKS,
    MONEY,
    PLAY_MONEY,
    PLAY_PURSE_MINOR,
    DemoTable,
    Plan,
)
from studio.domain.game import Json

CUT_DEPTHS = range(60, 121)
CUT_DEPTHS_HEADLESS = range(240, 251)
"""Short shoes: a few rounds see a shoe's end and the next one's beginning."""
WINDOW_MS = 15_000
WINDOW_HEADLESS_MS = 1_500
WINDOW_FURTHER_MS = 500
"""Longer by so much for each further table: they share the machine, and no wager may be late."""


def cut_depths(plan: Plan) -> range:
    """Return how deep the simulated dealers put the cut card."""
    return CUT_DEPTHS_HEADLESS if plan.headless else CUT_DEPTHS


def studio_settings(plan: Plan, tables: Sequence[DemoTable]) -> str:
    """Return the studio's settings as TOML."""
    parts = [_table(plan, table, window_ms=_window_ms(plan, len(tables))) for table in tables]
    if plan.play_money:
        parts.append(PLAY.format(purse_minor=PLAY_PURSE_MINOR))
    parts.append(RATES.format(per_minute=100_000 if plan.headless else 1_200))
    return "\n".join(parts)


def scanner_settings(plan: Plan, table: DemoTable, *, folder: Path, url: str) -> str:
    """Return the settings of a table's scanner as TOML."""
    return SCANNER.format(
        socket=camera_socket(folder, table),
        queue=folder / f"reports-{table.code}.db",
        url=url,
        table=table.code,
        device=table.device,
        fps=120 if plan.headless else 30,
        gap_frames=6 if plan.headless else 4,
    )


def scanner_file(folder: Path, table: DemoTable) -> Path:
    """Return where a scanner finds its settings."""
    return folder / f"scanner-{table.code}.toml"


def camera_socket(folder: Path, table: DemoTable) -> Path:
    """Return where a table's simulated camera takes its orders."""
    return folder / f"camera-{table.code}.sock"


def _window_ms(plan: Plan, tables: int) -> int:
    headless_ms = WINDOW_HEADLESS_MS + WINDOW_FURTHER_MS * (tables - 1)
    return headless_ms if plan.headless else WINDOW_MS


def _table(plan: Plan, table: DemoTable, *, window_ms: int) -> str:
    game, depths = table.game, cut_depths(plan)
    terms = game.play if plan.play_money else game.money
    text = TABLE.format(
        table=table.code,
        name=game.name,
        game=game.code,
        currency=PLAY_MONEY if plan.play_money else MONEY,
        decks=DECKS,
        burn_per_round=game.burn_per_round,
        options=_inline(terms.options),
        window_ms=window_ms,
        cut_depth_min=depths[0],
        cut_depth_max=depths[-1],
        deck_sets=list(game.deck_sets),
    )
    for kind, (least, most) in terms.limits_minor.items():
        text += LIMITS.format(table=table.code, kind=kind, least=least, most=most)
    return text


def _inline(values: Mapping[str, Json]) -> str:
    return "{" + ", ".join(f"{key} = {json.dumps(value)}" for key, value in values.items()) + "}"


TABLE = """\
[tables.{table}]
name = "{name} {table}"
game = "{game}"
currency = "{currency}"
decks = {decks}
burn_per_round = {burn_per_round}
options = {options}
window_ms = {window_ms}
cut_depth_min = {cut_depth_min}
cut_depth_max = {cut_depth_max}
deck_sets = {deck_sets}
player_max_minor = 500000
table_max_minor = 5000000

[tables.{table}.links]
scanner_lost_ms = 5000
station_lost_ms = 8000
video_lost_ms = 5000

"""

LIMITS = """\
[tables.{table}.limits.{kind}]
min_minor = {least}
max_minor = {most}

"""

PLAY = """\
[play]
purse_minor = {purse_minor}

"""

RATES = """\
[rates]
wagers_per_minute = {per_minute}
commands_per_minute = {per_minute}
reads_per_minute = {per_minute}
logins_per_minute = 60
"""

SCANNER = """\
[camera]
kind = "simulated"
socket = "{socket}"
width = 960
height = 540
frames_per_s = {fps}
gap_frames = {gap_frames}

[uplink]
url = "{url}"
table = "{table}"
device = "{device}"
queue = "{queue}"
"""
