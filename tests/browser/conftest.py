"""One studio and one Chromium for all tests of this folder."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import argon2
import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from studio.games import GAMES, by_code
from studio.services.people import LoginPolicy, PeopleService
from studio.store.people import SqlPeopleUnits
from studio.store.units import SqlUnits
from studio.web.passwords import Argon2Hasher
from studio.web.system import SystemClock, SystemRandomness
from tests.browser.dealing import Table
from tests.browser.house import PLANS, House, open_house
from tests.browser.windows import PATIENCE_MS, Windows, closing
from tests.conftest import absent

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
"""The shell draws as the whole browser does, and opens a window in a fifth of the time."""

expect.set_options(timeout=PATIENCE_MS)


def make_people(units: SqlUnits) -> PeopleService:
    """Return the use cases of people with quick hashes."""
    return PeopleService(
        units=SqlPeopleUnits(units),
        clock=SystemClock(),
        randomness=SystemRandomness(),
        hasher=Argon2Hasher(argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)),
        policy=LoginPolicy(
            idle_ms=3_600_000, lifetime_ms=3_600_000, failures_max=5, window_ms=1_000
        ),
        languages=("en", "ja"),
        games=tuple(by_code(GAMES)),
    )


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        absent("Chromium (package chromium-headless-shell)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def house(chromium: Browser) -> Iterator[House]:
    # A socket's path is short on every system, so that the folder is a temporary one.
    with (
        tempfile.TemporaryDirectory(prefix="studio-browser-") as name,
        open_house(Path(name), make_people) as opened,
    ):
        yield opened


@pytest.fixture(scope="session")
def tables(house: House) -> dict[str, Table]:
    return {
        plan.code: Table(house=house, code=plan.code, dealer=plan.dealer, deck_set=number)
        for number, plan in enumerate(PLANS, 1)
    }


@pytest.fixture
def windows(chromium: Browser, house: House) -> Iterator[Windows]:
    with closing(Windows(browser=chromium, house=house)) as made:
        yield made
