"""A PostgreSQL of one's own that stops at once while wagers and settlements run, and starts again.

The studio's processes stay: their pool finds the new server by itself. What was acknowledged is
there once, and the audit is clean.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random  # noqa: TID251 - seeded below

import psycopg

from studio.demo.processes import free_port
from studio.domain.errors import RefusedError
from studio.domain.round import Phase
from studio.services.ports import EndingKind
from studio.services.retry import StorageError
from studio.store.engine import make_engine
from studio.store.schema import upgrade
from tests.faults.outcome import Outcome
from tests.kill.nursery import BETS, TABLES
from tests.support.fakes import WallClock
from tests.support.floor import PLAYERS, Floor, setup_of

STOPS = 6
"""Of one seed."""
LIFE_MAX_S = 2.0
WINDOW_MS = 700
PAUSE_S = 0.002
WAIT_S = 60.0
OWNER = "postgres"
"""Root must not run a server; this account of the installed package does then."""


class AbsentError(Exception):
    """The programs of a PostgreSQL server are not here."""


def programs() -> Path:
    """Return the folder of the newest server's programs.

    Raises:
        AbsentError: there is none, or nobody who may run it.
    """
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda one: one.parts[-2])
    if not folders:
        raise AbsentError("PostgreSQL's initdb")
    if os.geteuid() == 0 and (
        shutil.which("runuser") is None or OWNER not in {one.pw_name for one in pwd.getpwall()}
    ):
        raise AbsentError(f"an account {OWNER} to run PostgreSQL's own server")
    return folders[-1]


class Cluster:
    """One server in a folder, on a port of its own."""

    def __init__(self) -> None:
        self._programs = programs()
        self._folder = Path(tempfile.mkdtemp(prefix="studio-cluster-"))
        if os.geteuid() == 0:
            owner = pwd.getpwnam(OWNER)
            os.chown(self._folder, owner.pw_uid, owner.pw_gid)
        self._data, self._port = self._folder / "data", free_port()
        self._run("initdb", "--auth=trust", f"--username={OWNER}", "--no-sync")
        self.url = f"postgresql+psycopg://{OWNER}@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        options = f"-p {self._port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''"
        log = str(self._folder / "log")
        self._run("pg_ctl", "--wait", f"--log={log}", f"--options={options}", "start")

    def stop(self) -> None:
        """Stop at once, as a power cut would."""
        self._run("pg_ctl", "--wait", "--mode=immediate", "stop")

    def kill_a_backend(self) -> None:
        """Kill -9 the process of one connection: the server drops all and recovers."""
        with psycopg.connect(self.url.replace("+psycopg", ""), connect_timeout=5) as connection:
            found = connection.execute(
                "select pid from pg_stat_activity where backend_type = 'client backend' "
                "and pid <> pg_backend_pid() limit 1"
            ).fetchone()
        if found is not None:
            os.kill(found[0], signal.SIGKILL)

    def close(self) -> None:
        if (self._data / "postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self._folder)

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), f"--pgdata={self._data}", *arguments]
        if os.geteuid() == 0:
            command = ["runuser", "-u", OWNER, "--", *command]
        ended = subprocess.run(
            command,
            cwd=self._folder,
            # A server keeps what it inherits: a pipe would never end.
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=WAIT_S,
            check=False,
        )
        assert ended.returncode == 0, f"{program} {arguments[-1]} ends with {ended.returncode}"


@dataclass
class People:
    """Threads that bet and deal until they are told to stop."""

    floor: Floor
    seed: int
    stopped: threading.Event = field(default_factory=threading.Event)
    acknowledged: set[str] = field(default_factory=set)
    taken_back: set[str] = field(default_factory=set)
    failures: int = 0
    """How often the storage failed somebody."""
    errors: list[str] = field(default_factory=list)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        works = (self.deal, self.bet, self.bet)
        threads = [
            threading.Thread(target=self._keep_on, args=(work, Random(f"{self.seed} {number}")))
            for number, work in enumerate(works)
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.stopped.set()
            for thread in threads:
                thread.join(WAIT_S)
            assert not any(thread.is_alive() for thread in threads)

    def _keep_on(self, work, random: Random) -> None:
        while not self.stopped.wait(PAUSE_S):
            try:
                work(random)
            except StorageError:
                self.failures += 1
            except RefusedError:
                continue  # too late, too much, or done by the attempt before
            except Exception as error:  # noqa: BLE001 - nobody may ever see another one
                self.errors.append(repr(error))
                return

    def deal(self, random: Random) -> None:
        self.floor.step(random.choice(TABLES))

    def bet(self, random: Random) -> None:
        """Place a wager, under the same id until there is an answer; now and then take it back."""
        current = self.floor.state(random.choice(TABLES)).round
        if current is None or current.phase is not Phase.BETTING:
            return
        id, player = str(uuid.UUID(int=random.getrandbits(128))), random.choice(PLAYERS)
        wager = {
            "round_id": current.id,
            "wager_id": id,
            "bet": random.choice(BETS),
            "stake_minor": random.randrange(100, 300),
        }
        self._until_answered(lambda: self.floor.wagers.place(player, **wager))
        self.acknowledged.add(id)
        if random.random() < 0.2:
            self._until_answered(lambda: self.floor.wagers.undo(player, wager_id=id))
            self.taken_back.add(id)

    def _until_answered(self, ask) -> None:
        while True:
            try:
                ask()
            except StorageError:
                self.failures += 1
                if self.stopped.wait(10 * PAUSE_S):
                    raise
            else:
                return


def run(outcome: Outcome, *, share: float = 1.0) -> None:
    """Stop the server again and again under load."""
    cluster = Cluster()
    try:
        cluster.start()
        engine = make_engine(cluster.url)
        upgrade(engine)
        setups = {code: setup_of(code, window_ms=WINDOW_MS) for code in TABLES}
        floor = Floor(engine=engine, clock=WallClock(), setups=setups, seed=outcome.seed)
        floor.furnish()
        people = People(floor, outcome.seed)
        random = Random(f"stop {outcome.seed}")
        with people.at_work():
            for _ in range(max(1, round(STOPS * share))):
                if outcome.over:
                    break
                time.sleep(random.uniform(0.2, LIFE_MAX_S))
                disturb(cluster, random, outcome)
            time.sleep(LIFE_MAX_S)
        need_sound(people, outcome)
        engine.dispose()
    finally:
        cluster.close()


def disturb(cluster: Cluster, random: Random, outcome: Outcome) -> None:
    outcome.cases += 1
    if random.random() < 0.3:
        cluster.kill_a_backend()
        outcome.counts["backend killed"] += 1
        return
    cluster.stop()
    time.sleep(random.uniform(0, 0.3))
    cluster.start()
    outcome.counts["server stopped"] += 1


def need_sound(people: People, outcome: Outcome) -> None:
    """End the rounds; need everything that was acknowledged, once, and clean books."""
    floor = people.floor.restarted()
    for error in people.errors:
        outcome.violations.append(f"somebody was told {error}")
    for code in TABLES:
        while (current := floor.state(code).round) is not None and current.running:
            time.sleep(PAUSE_S)
            floor.step(code)
    endings = {}
    with floor.units.read() as unit:
        for row in unit.rounds.recent(None, limit=10_000, before_ms=None):
            for wager in unit.wagers.of_round(row.id):
                outcome.need(wager.id not in endings, "a wager is there twice")
                endings[wager.id] = wager.ending.kind if wager.ending else None
    outcome.counts["wagers"] += len(endings)
    outcome.counts["failures told"] += people.failures
    outcome.need(people.acknowledged <= endings.keys(), "an acknowledged wager is lost")
    outcome.need(None not in endings.values(), "a wager never ended")
    outcome.need(
        {endings.get(id) for id in people.taken_back} <= {EndingKind.UNDONE},
        "a wager that was taken back came back",
    )
    outcome.need(bool(people.acknowledged) and people.failures > 0, "nothing happened")
    outcome.need(floor.faults() == [], "the audit finds faults")
    outcome.need(floor.ledger_sum() == 0, "the ledger's sum is not 0")
