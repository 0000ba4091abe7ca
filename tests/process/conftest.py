"""Demos that several tests look at, each played once."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.process.playhouse import run_app

SEED = "7"
SHORT_ROUNDS = 3
FEW_ROUNDS = 2


def play(*arguments: str, rounds: int, url: str) -> dict[str, Any]:
    """Play a headless demo on a database and return its summary."""
    ended = run_app(
        *("demo", "--headless", "--json", "--seed", SEED, "--rounds", str(rounds)),
        *("--database-url", url, *arguments),
    )
    assert ended.returncode == 0, ended.stderr
    summary: dict[str, Any] = json.loads(ended.stdout)
    return summary


@pytest.fixture(scope="session")
def short_demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Three rounds with the seed of these tests: the SQLite file, and what the demo said."""
    file = tmp_path_factory.mktemp("demo") / "studio.db"
    return file, play(rounds=SHORT_ROUNDS, url=f"sqlite:///{file}")


@pytest.fixture(scope="session")
def few_baccarat(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Two rounds of baccarat with the same seed."""
    file = tmp_path_factory.mktemp("baccarat") / "studio.db"
    return file, play("--game", "baccarat", rounds=FEW_ROUNDS, url=f"sqlite:///{file}")


@pytest.fixture(scope="session")
def few_of_both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Two rounds with the same seed at each of two tables in one studio."""
    file = tmp_path_factory.mktemp("both") / "studio.db"
    return file, play("--game", "all", rounds=FEW_ROUNDS, url=f"sqlite:///{file}")
