"""Placing without a door: threads through the unit of work, and the same statement alone."""

import os
import shutil
import sqlite3
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast

import psycopg
from sqlalchemy import Connection, make_url

from studio.bench.filling import HOLD_MINOR, STAKE_MINOR, Filling
from studio.bench.report import percentile
from studio.bench.scratch import Scratch, libpq
from studio.domain.errors import RefusedError
from studio.domain.game import Json
from studio.services.ports import WagerLimits, WagerRequest
from studio.services.retry import again
from studio.store.placing_sqlite import decide_on_sqlite
from studio.store.rounds import SHARDS_POSTGRESQL
from studio.web.system import SystemClock

LIMITS = WagerLimits(
    bet_min_minor=1, bet_max_minor=10**12, player_max_minor=10**12, table_max_minor=10**12
)
PLACE_SQL = (
    "SELECT outcome, accepted_ms, balance_minor, held_minor, taken_minor"
    " FROM place_wager(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
)
PGBENCH_SCRIPT = (
    "\\set player random(1, {players})\n"
    "SELECT outcome, accepted_ms, balance_minor, held_minor, taken_minor"
    " FROM place_wager(gen_random_uuid(), :player, '{round_id}', 'p1', {stake}, {hold},"
    " 1, 1000000000000, 1000000000000, 1000000000000, {shards}, NULL);\n"
)
REPEAT_EVERY = 50
BUSY_S = 30
STEP = 7_919


@dataclass
class Measured:
    """What one measurement saw; `twice` counts ids that were accepted a second time."""

    method: str
    clients: int
    round_id: str = ""
    loses_answers: bool = False
    """Whether the last wagers may be stored without anybody having read the answer."""
    seconds: float = 0.0
    accepted: int = 0
    repeated: int = 0
    twice: int = 0
    latencies_ms: list[float] = field(default_factory=list)

    @property
    def per_s(self) -> float:
        """Accepted wagers a second."""
        return self.accepted / self.seconds if self.seconds else 0.0

    def as_json(self) -> dict[str, Json]:
        """Return the figures for machines."""
        return {
            "method": self.method,
            "per_s": round(self.per_s, 1),
            "p50_ms": round(percentile(self.latencies_ms, 0.5), 3),
            "p99_ms": round(percentile(self.latencies_ms, 0.99), 3),
            "accepted": self.accepted,
        }

    def add(self, other: "Measured") -> None:
        """Take in what another client saw."""
        self.accepted += other.accepted
        self.repeated += other.repeated
        self.twice += other.twice
        self.latencies_ms.extend(other.latencies_ms)


Client = Callable[[Measured, int], None]
"""Places wagers until its time is over: (its tally, its number)."""


def request_of(wanted: Mapping[str, Any]) -> WagerRequest:
    """Return the request of a JSON body or of plain values."""
    return WagerRequest(
        id=wanted["id"],
        player_id=wanted["player_id"],
        round_id=wanted["round_id"],
        bet=wanted["bet"],
        stake_minor=wanted["stake_minor"],
        hold_minor=HOLD_MINOR,
        limits=LIMITS,
    )


def place_parameters(request: WagerRequest) -> tuple[object, ...]:
    """Return the parameters of PLACE_SQL."""
    limits = request.limits
    return (
        request.id,
        request.player_id,
        request.round_id,
        request.bet,
        request.stake_minor,
        request.hold_minor,
        limits.bet_min_minor,
        limits.bet_max_minor,
        limits.player_max_minor,
        limits.table_max_minor,
        SHARDS_POSTGRESQL,
        None,
    )


def _request(round_id: str, *, players: int, client: int, turn: int) -> WagerRequest:
    return request_of(
        {
            "id": str(uuid.uuid4()),
            "player_id": 1 + (client * 1_009 + turn * STEP) % players,
            "round_id": round_id,
            "bet": "p1",
            "stake_minor": STAKE_MINOR,
        }
    )


def in_threads(method: str, *, clients: int, client: Client) -> Measured:
    """Run so many clients at once and add up what they saw."""
    tallies = [Measured(method=method, clients=1) for _ in range(clients)]
    failures: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            client(tallies[number], number)
        except Exception as error:  # noqa: BLE001  raised again in the main thread
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(clients)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    found = Measured(method=method, clients=clients, seconds=time.perf_counter() - started)
    for tally in tallies:
        found.add(tally)
    return found


def place_directly(scratch: Scratch, filling: Filling, *, clients: int, seconds: float) -> Measured:
    """Place through the unit of work; the window's own deadline ends the measurement.

    Every client bets until it is refused: the measurement runs into the deadline at full speed.
    """
    round_id = filling.open_round(window_ms=max(1, int(seconds * 1000)))

    def client(tally: Measured, number: int) -> None:
        turn = 0
        while True:
            turn += 1
            request = _request(round_id, players=filling.players, client=number, turn=turn)

            def once(request: WagerRequest = request) -> bool:
                with scratch.units.write() as unit:
                    placed = unit.wagers.place(request)
                    unit.commit()
                return placed.repeated

            started = time.perf_counter()
            try:
                again(once)
            except RefusedError:
                return
            tally.latencies_ms.append((time.perf_counter() - started) * 1000)
            tally.accepted += 1
            if turn % REPEAT_EVERY == 1:
                known = again(once)
                tally.repeated += known
                tally.twice += not known

    found = in_threads("unit of work", clients=clients, client=client)
    found.round_id = round_id
    filling.close_round(round_id)
    return found


# The limit --------------------------------------------------------------------------------------


def limit(scratch: Scratch, filling: Filling, *, clients: int, seconds: float) -> Measured:
    """Run the same statement with as little as possible around it."""
    round_id = filling.open_round()
    run = _psycopg_loop if shutil.which("pgbench") is None else _pgbench
    if scratch.is_sqlite:
        run = _sqlite_loop
    found = run(scratch, filling, round_id, clients=clients, seconds=seconds)
    found.round_id = round_id
    filling.close_round(round_id)
    return found


class _One(Protocol):
    def one(self) -> Any: ...
    def scalar_one(self) -> Any: ...


class BareSqlite:
    """sqlite3 behind the one method that placing calls."""

    def __init__(self, path: str) -> None:
        """Open the file as the studio does."""
        self._connection = sqlite3.connect(
            path, isolation_level=None, timeout=BUSY_S, check_same_thread=False
        )
        for pragma in ("synchronous = FULL", "foreign_keys = ON"):
            self._connection.execute(f"PRAGMA {pragma}")

    def execute(self, sql: str) -> None:
        """Run a statement without parameters."""
        self._connection.execute(sql)

    def exec_driver_sql(self, sql: str, parameters: tuple[Any, ...]) -> _One:
        """Run a statement as SQLAlchemy's connection would."""
        return _Rows(self._connection.execute(sql, parameters))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


class _Rows:
    def __init__(self, cursor: sqlite3.Cursor) -> None:
        self._cursor = cursor

    def one(self) -> Any:
        return self._cursor.fetchone()

    def scalar_one(self) -> Any:
        return self._cursor.fetchone()[0]


def _sqlite_loop(
    scratch: Scratch, filling: Filling, round_id: str, *, clients: int, seconds: float
) -> Measured:
    until_s = time.monotonic() + seconds
    clock = SystemClock()

    def client(tally: Measured, number: int) -> None:
        connection = BareSqlite(scratch.path)
        turn = 0
        try:
            while time.monotonic() < until_s:
                turn += 1
                request = _request(round_id, players=filling.players, client=number, turn=turn)
                started = time.perf_counter()
                connection.execute("BEGIN IMMEDIATE")
                bare = cast("Connection", connection)
                made = decide_on_sqlite(bare, request, now_ms=clock.now_ms())
                connection.execute("COMMIT")
                tally.latencies_ms.append((time.perf_counter() - started) * 1000)
                tally.accepted += made.outcome == "placed"
        finally:
            connection.close()

    return in_threads("sqlite3, BEGIN IMMEDIATE, same SQL", clients=clients, client=client)


def _psycopg_loop(
    scratch: Scratch, filling: Filling, round_id: str, *, clients: int, seconds: float
) -> Measured:
    until_s = time.monotonic() + seconds

    def client(tally: Measured, number: int) -> None:
        turn = 0
        with psycopg.connect(scratch.conninfo, autocommit=True) as connection:
            while time.monotonic() < until_s:
                turn += 1
                request = _request(round_id, players=filling.players, client=number, turn=turn)
                started = time.perf_counter()
                row = connection.execute(PLACE_SQL.encode(), place_parameters(request)).fetchone()
                tally.latencies_ms.append((time.perf_counter() - started) * 1000)
                tally.accepted += row is not None and row[0] == "placed"

    return in_threads("psycopg loop, same SQL (no pgbench here)", clients=clients, client=client)


def _pgbench(
    scratch: Scratch, filling: Filling, round_id: str, *, clients: int, seconds: float
) -> Measured:
    whole_s = max(1, round(seconds))
    with tempfile.TemporaryDirectory(prefix="studio-bench-") as name:
        script = Path(name) / "place.sql"
        script.write_text(
            PGBENCH_SCRIPT.format(
                players=filling.players,
                round_id=round_id,
                stake=STAKE_MINOR,
                hold=HOLD_MINOR,
                shards=SHARDS_POSTGRESQL,
            )
        )
        arguments = ["pgbench", "-n", "-M", "prepared", "-c", str(clients), "-j", "1"]
        arguments += ["-T", str(whole_s), "-l", "-f", str(script)]
        arguments.append(libpq(scratch.url, password=False))
        password = make_url(scratch.url).password
        ended = subprocess.run(  # noqa: S603  a known program, no shell
            arguments,
            cwd=name,
            env=os.environ | ({} if password is None else {"PGPASSWORD": password}),
            capture_output=True,
            text=True,
            timeout=whole_s + 60,
            check=False,
        )
        if ended.returncode != 0:
            raise TimeoutError(f"pgbench failed: {ended.stderr.strip()[-300:]}")
        lines = [
            line.split()
            for log in Path(name).glob("pgbench_log.*")
            for line in log.read_text().splitlines()
        ]
    latencies_ms = [int(line[2]) / 1000 for line in lines if line[2].isdigit()]
    return Measured(
        method="pgbench, same SQL",
        loses_answers=True,
        clients=clients,
        seconds=float(whole_s),
        accepted=len(latencies_ms),
        latencies_ms=latencies_ms,
    )
