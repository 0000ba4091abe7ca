"""The real server under load: a table in play, its people, and the server's own processes."""

import json
import os
import re
import resource
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import argon2

from studio.bench.scratch import Scratch
from studio.demo.client import TIMEOUT_S, DoorClient, DoorError
from studio.demo.processes import ProcessError, Processes, free_port, wait_until_ready
from studio.demo.world import VirtualShoe, generator, manifest
from studio.domain.cards import CodeVersion, PrintedCode
from studio.domain.commands import (
    Command,
    ConfirmShuffle,
    LoadShoe,
    OpenRound,
    SeeCard,
    TakeSeat,
)
from studio.domain.game import Json
from studio.domain.table import Stage
from studio.games import GAMES, by_code
from studio.services.live import LiveTables
from studio.services.people import LoginPolicy, NewPerson, PeopleService
from studio.services.ports import Actor, DeckSet, Publisher, Role
from studio.services.runner import TableRunner
from studio.settings import load_settings, table_setups
from studio.store.people import SqlPeopleUnits
from studio.web.passwords import Argon2Hasher
from studio.web.system import SystemClock, SystemRandomness

TABLE = "T1"
DEALER = "dealer"
DECKS = 8
CUT_DEPTH = 100
WINDOW_MS = 600_000
HOUR_MS = 3_600_000
_TOKEN = re.compile(r'name="csrf-token" content="([^"]+)"')
STUDIO = Actor(id=0, name="studio", role=None)

SETTINGS = f"""\
[rates]
wagers_per_minute = 1000000
commands_per_minute = 1000000
logins_per_minute = 1000000
reads_per_minute = 1000000

[tables.{TABLE}]
name = "Bench"
game = "pok_deng"
currency = "JPY"
decks = {DECKS}
window_ms = {WINDOW_MS}
cut_depth_min = 52
cut_depth_max = 208
deck_sets = [1]
player_max_minor = 1000000000000
table_max_minor = 1000000000000

[tables.{TABLE}.limits.main]
min_minor = 1
max_minor = 1000000000000

[tables.{TABLE}.limits.pair]
min_minor = 1
max_minor = 1000000000000

[tables.{TABLE}.links]
scanner_lost_ms = {HOUR_MS}
station_lost_ms = {HOUR_MS}
video_lost_ms = {HOUR_MS}
grace_ms = {HOUR_MS}
"""


class _Silence(Publisher):
    """Nobody listens while a table is being prepared."""

    def event(self, envelope: object) -> None:
        """Drop it."""

    def wallet(self, player_id: int, message: object) -> None:
        """Drop it."""

    def pit(self, message: object) -> None:
        """Drop it."""

    def room(self, player_ids: object, room_id: object) -> None:
        """Drop it."""


@dataclass(frozen=True, kw_only=True)
class RunningStudio:
    """A served table."""

    url: str
    port: int
    password: str
    master_pid: int

    def login(self, name: str) -> DoorClient:
        """Return a logged-in client.

        Raises:
            DoorError: `login_failed`.
        """
        client = DoorClient(self.url)
        client.login(name, self.password)
        return client

    def memory_kib(self) -> int | None:
        """Return what the server's processes hold; None where the system does not tell."""
        pids = [self.master_pid, *children(self.master_pid)]
        held = [memory_kib(pid) for pid in pids]
        return None if None in held else sum(one for one in held if one is not None)


@contextmanager
def running_studio(scratch: Scratch, *, players: int, betting: bool) -> Iterator[RunningStudio]:
    """Serve a table on the loopback: `app.py serve` in its own process until the block ends.

    Args:
        scratch: the database.
        players: how many logins `player1`... are made; their ids count from 1.
        betting: open a round with a window of an hour.

    Raises:
        ProcessError: the server does not start.
    """
    allow_many_files()
    password = secrets.token_urlsafe(12)
    folder = Path(scratch.path).parent if scratch.is_sqlite else None
    with _folder(folder) as here:
        settings = here / "studio.toml"
        settings.write_text(SETTINGS)
        port = free_port()
        environment = {
            "STUDIO_CONFIG": str(settings),
            "STUDIO_DATABASE_URL": scratch.url,
            "STUDIO_SECRET_KEY": secrets.token_urlsafe(48),
            "STUDIO_HOST": "127.0.0.1",
            "STUDIO_PORT": str(port),
            "STUDIO_LOG_LEVEL": "warning",
        }
        _make_people(scratch, players=players, password=password)
        _prepare_table(scratch, settings, betting=betting)
        with Processes(folder=here) as processes:
            processes.start("server", ["app.py", "serve"], environment)
            url = f"http://127.0.0.1:{port}"
            wait_until_ready(processes, url)
            yield RunningStudio(
                url=url,
                port=port,
                password=password,
                master_pid=processes.started["server"].pid,
            )
            processes.check()


@contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    if given is not None:
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="studio-bench-") as name:
        yield Path(name)


def _make_people(scratch: Scratch, *, players: int, password: str) -> None:
    # The hash says itself what it cost: logging in many people must not take longer than measuring.
    quick = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    people = PeopleService(
        units=SqlPeopleUnits(scratch.units),
        clock=SystemClock(),
        randomness=SystemRandomness(),
        hasher=Argon2Hasher(quick),
        policy=LoginPolicy(idle_ms=HOUR_MS, lifetime_ms=HOUR_MS, failures_max=5, window_ms=HOUR_MS),
        languages=("en", "ja"),
        games=tuple(by_code(GAMES)),
    )
    names = [f"player{number}" for number in range(1, players + 1)]
    for name, role in [*((name, Role.PLAYER) for name in names), (DEALER, Role.DEALER)]:
        people.create(
            STUDIO,
            NewPerson(
                username=name,
                display_name=name,
                role=role,
                password=password,
                language="en",
                games=frozenset(by_code(GAMES)) if role is Role.DEALER else frozenset(),
            ),
        )


def _prepare_table(scratch: Scratch, settings: Path, *, betting: bool) -> None:
    """Seat a dealer and, for betting, open shoe and round as a dealer would."""
    games = by_code(GAMES)
    loaded = load_settings(settings, database_url=scratch.url, secret_key=secrets.token_urlsafe(48))
    tables = LiveTables(table_setups(loaded, games), games)
    runner = TableRunner(units=scratch.units, tables=tables, publisher=_Silence())
    if not betting:
        runner.live(TABLE)
        return
    with scratch.units.write() as unit:
        unit.deck_sets.register(DeckSet(number=1, decks=DECKS, manifest=manifest(DECKS)))
        unit.commit()

    def do(command: Command) -> None:
        runner.run(TABLE, lambda _: command)

    do(TakeSeat(dealer_id=1_000_000, name="Bench"))
    do(
        LoadShoe(
            deck_set=1,
            decks=DECKS,
            manifest=manifest(DECKS),
            scan_at="draw",
            burn_per_round=1,
            options={},
        )
    )
    do(ConfirmShuffle(cut_depth=CUT_DEPTH, cut_depth_min=52, cut_depth_max=208))
    shoe = VirtualShoe(deck_set=1, decks=DECKS, cut_depth=CUT_DEPTH, rng=generator(1))
    while runner.live(TABLE).state.stage is Stage.OPENING:
        do(SeeCard(code=_code(shoe.draw().digits), known=True, nonce=secrets.token_hex(32)))
    runner.run(TABLE, lambda job: OpenRound(now_ms=job.now_ms, window_ms=WINDOW_MS))


def _code(digits: str) -> PrintedCode:
    return PrintedCode(
        version=CodeVersion(int(digits[:1])),
        number=int(digits[1:3]),
        deck_set=int(digits[3:6]),
        serial=int(digits[6:10]),
    )


# Processes --------------------------------------------------------------------------------------


def allow_many_files() -> None:
    """Let this process and those it starts open as many files as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def children(pid: int) -> list[int]:
    """Return a process's children; none where the system does not tell."""
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(child) for child in listed.split()]


def memory_kib(pid: int) -> int | None:
    """Return the memory a process holds; None where the system does not tell."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


@contextmanager
def own_processes() -> Iterator[Processes]:
    """Give processes whose logs and plans lie in a temporary folder."""
    with (
        tempfile.TemporaryDirectory(prefix="studio-bench-") as folder,
        Processes(folder=Path(folder)) as processes,
    ):
        yield processes


def csrf_token(client: DoorClient) -> str:
    """Return the token that a page of a logged-in person carries.

    Raises:
        DoorError: `no_token`.
    """
    page = client.http.get(f"{client.base_url}/play", timeout=TIMEOUT_S)
    found = _TOKEN.search(page.text)
    if found is None:
        raise DoorError(page.status_code, "no_token", "The page carries no CSRF token.")
    return found.group(1)


def start_worker(processes: Processes, name: str, module: str, plan: Json) -> Path:
    """Start a module of this package on a plan; return the file its answer will be in."""
    answer = processes.folder / f"{name}.json"
    task = processes.folder / f"{name}.plan.json"
    task.write_text(json.dumps(plan), encoding="utf-8")
    processes.start(name, ["-m", f"studio.bench.{module}", str(task), str(answer)], {})
    return answer


def answers_of(
    processes: Processes, files: Sequence[tuple[str, Path]], *, timeout_s: float
) -> list[Json]:
    """Wait for workers to end and return their answers.

    Raises:
        ProcessError: a worker failed.
        TimeoutError: a worker is too late.
    """
    answers = []
    for name, file in files:
        try:
            status = processes.started[name].wait(timeout=timeout_s)
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(f"The {name} did not end within {timeout_s:.0f} s.") from error
        del processes.started[name]  # its number may soon be another's
        if status != 0 or not file.exists():
            log = (processes.folder / f"{name}.log").read_text(errors="replace")
            raise ProcessError(f"The {name} ended with status {status}.\n{log[-1500:]}")
        answers.append(json.loads(file.read_text(encoding="utf-8")))
    return answers


def worker_files() -> tuple[Path, Path]:
    """Return plan and answer file of a worker process, from its command line."""
    return Path(sys.argv[1]), Path(sys.argv[2])
