"""The demo as its user runs it: same seed, same play, on any database; nothing left behind."""

import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import pytest

from studio.demo.camera import CameraHand
from studio.demo.client import DoorClient
from studio.demo.dealer import Pace, SimulatedDealer
from studio.demo.processes import clean_environment, free_port
from studio.services.people import NewPerson
from studio.services.ports import Actor, Role
from tests.process.conftest import FEW_ROUNDS, SEED, SHORT_ROUNDS, play
from tests.process.playhouse import ROOT, WAIT_S, inside, run_app, until

pytestmark = pytest.mark.process

KEYS = {
    *("rounds", "shoes", "cards_read", "rescans", "wagers", "turnover_minor", "payouts_minor"),
    *("ledger_sum_minor", "audit_faults", "wagers_refused", "results", "table", "game", "voided"),
    *("wagers_undone", "seconds"),
}
SAME = ("rounds", "cards_read", "wagers", "turnover_minor", "payouts_minor", "results")
"""What the same seed gives again, on whatever database; how often a camera looks is chance."""
START_S = 3 * WAIT_S
"""A demo starts several processes and makes ten logins before its first card."""
ROUNDS_OF_TWO_SHOES = 14
"""The demo's shoes end in their thirteenth round at the latest."""


def alike(summary: dict[str, Any]) -> dict[str, Any]:
    return {key: summary[key] for key in SAME}


def need_sound(summary: dict[str, Any]) -> None:
    assert set(summary) - {"tables"} == KEYS
    for key in ("ledger_sum_minor", "audit_faults", "wagers_refused", "voided"):
        assert summary[key] == 0
    assert len(summary["results"]) == summary["rounds"]


def test_a_demo_says_what_it_played(short_demo):
    _, summary = short_demo
    need_sound(summary)
    assert (summary["rounds"], summary["shoes"]) == (SHORT_ROUNDS, 1)
    assert (summary["game"], "tables" in summary) == ("pok_deng", False)
    assert summary["cards_read"] >= 13 * SHORT_ROUNDS
    assert summary["wagers"] >= 5 * SHORT_ROUNDS - summary["wagers_undone"]
    assert summary["turnover_minor"] > 0


def test_a_longer_demo_on_the_same_database_takes_a_fresh_table_and_begins_alike(
    short_demo, tmp_path
):
    file, short = short_demo
    for part in file.parent.glob(f"{file.name}*"):
        shutil.copy(part, tmp_path)
    longer = play(rounds=ROUNDS_OF_TWO_SHOES, url=f"sqlite:///{tmp_path / file.name}")
    need_sound(longer)
    assert (short["table"], longer["table"]) == ("T1", "T2")
    assert (longer["rounds"], longer["shoes"]) == (ROUNDS_OF_TWO_SHOES, 2)
    assert longer["results"][:SHORT_ROUNDS] == short["results"]
    assert settled(tmp_path / file.name, "T2")[:SHORT_ROUNDS] == settled(file, "T1")
    assert longer["rescans"] >= 1


# Both games -------------------------------------------------------------------------------------


def need_both(summary: dict[str, Any]) -> None:
    """Two tables in one studio, and the totals are their sums."""
    need_sound(summary)
    tables = summary["tables"]
    named = [(one["table"], one["game"]) for one in tables]
    assert named == [("T1", "pok_deng"), ("T2", "baccarat")]
    assert (summary["table"], summary["game"]) == ("T1, T2", "all")
    for one in tables:
        need_sound(one)
        assert one["rounds"] == FEW_ROUNDS
    for key in SAME:
        assert summary[key] == tables[0][key] + tables[1][key]


def settled(file: Path, table: str) -> list[dict[str, Any]]:
    """Return what hands, results and money of each round were."""
    asked = "SELECT body FROM event WHERE table_code = ? AND kind = 'RoundSettled' ORDER BY at_ms"
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        bodies = [json.loads(body) for (body,) in database.execute(asked, (table,))]
    return [{key: body[key] for key in body if key != "round_id"} for body in bodies]


def test_baccarat_alone(few_baccarat):
    file, summary = few_baccarat
    need_sound(summary)
    assert (summary["table"], summary["game"]) == ("T1", "baccarat")
    assert (summary["rounds"], summary["shoes"]) == (FEW_ROUNDS, 1)
    for line in summary["results"]:
        assert re.fullmatch(r"P=\d B=\d", line)
    results = [{one["bet"] for one in body["results"]} for body in settled(file, "T1")]
    assert results == [{"player", "banker", "tie", "player_pair", "banker_pair"}] * FEW_ROUNDS
    assert summary["turnover_minor"] > 0


def test_two_tables_in_one_studio_play_what_each_plays_alone(short_demo, few_baccarat, few_of_both):
    file, summary = few_of_both
    need_both(summary)
    assert alike(summary["tables"][1]) == alike(few_baccarat[1])
    assert settled(file, "T2") == settled(few_baccarat[0], "T1")
    assert settled(file, "T1") == settled(short_demo[0], "T1")[:FEW_ROUNDS]


@pytest.mark.postgresql
def test_two_tables_on_postgresql_play_the_same(few_of_both, postgresql_url):
    summary = play("--game", "all", rounds=FEW_ROUNDS, url=postgresql_url)
    need_both(summary)
    for here, there in zip(summary["tables"], few_of_both[1]["tables"], strict=True):
        assert alike(here) == alike(there)
    audited = run_app("audit", "--json", "--database-url", postgresql_url)
    assert (audited.returncode, json.loads(audited.stdout)["count"]) == (0, 0)


def test_for_play_money_two_players_bet_in_a_room(tmp_path):
    file = tmp_path / "studio.db"
    url = f"sqlite:///{file}"
    summary = play("--game", "baccarat", "--play-money", rounds=FEW_ROUNDS, url=url)
    need_sound(summary)
    assert summary["turnover_minor"] > 0
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        (currency,) = database.execute("SELECT DISTINCT currency FROM account").fetchone()
        (room,) = database.execute("SELECT table_code, state FROM room").fetchall()
        in_room = {row[0] for row in database.execute("SELECT player_id FROM room_member")}
        stakes = dict(
            database.execute("SELECT player_id, sum(stake_minor) FROM wager GROUP BY player_id")
        )
        odd = database.execute(
            "SELECT count(*) FROM wager WHERE stake_minor % 100 OR stake_minor > 99900"
        ).fetchone()
    assert (currency, room, odd) == ("G", ("T1", "started"), (0,))
    assert len(in_room) == 2
    assert in_room < stakes.keys()


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("--headless",), 2, "--headless needs --rounds"),
        (("--headless", "--rounds", "0"), 2, "--rounds"),
        (("--headless", "--rounds", "x"), 2, "--rounds"),
        (("--headless", "--rounds", "1", "--seed", "1.5"), 2, "--seed"),
        (("--headless", "--rounds", "1", "--database-url", "mysql://x/y"), 2, "database_url"),
        (
            (
                "--headless",
                "--rounds",
                "1",
                "--database-url",
                "postgresql+psycopg://x@127.0.0.1:9/y",
            ),
            1,
            "can't be opened",
        ),
        (("--rounds", "1", "--port", "99999"), 2, "--port"),
        (("--hedless",), 2, "No such option"),
        (("--game", "ludo"), 2, "'ludo' is not one of 'pok_deng', 'baccarat', 'all'"),
    ],
)
def test_wrong_options_are_named_and_nothing_starts(arguments, status, said):
    ended = run_app("demo", *arguments)
    assert ended.returncode == status
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""


def test_a_busy_port_is_named():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        for mode in ((), ("--headless", "--rounds", "1")):
            ended = run_app("demo", "--port", str(port), *mode)
            assert ended.returncode == 1
            assert ended.stderr.startswith(f"port {port} is in use")
            assert len(ended.stderr.splitlines()) == 1


# Being ended ------------------------------------------------------------------------------------


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A temporary folder for the demo's own; the path of a socket in it may not be long."""
    with tempfile.TemporaryDirectory(prefix="t-") as name:
        yield Path(name)


class Running:
    """A demo that runs, and what it has said so far."""

    def __init__(self, process: "subprocess.Popen[bytes]", out: Path) -> None:
        self.process = process
        self._out = out

    def said(self) -> str:
        return self._out.read_text(errors="replace")

    def children(self) -> list[int]:
        file = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in file.read_text().split()]

    def wait(self) -> int:
        return self.process.wait(timeout=WAIT_S)


def _as_in_a_terminal() -> None:
    # A test run in the background ignores Ctrl-C, and a child inherits that.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def demo(short_folder: Path, *arguments: str) -> Iterator[Running]:
    """Start a demo; whatever happens, it and its processes end with the test."""
    out = short_folder / "said.txt"
    with out.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "app.py", "demo", "--seed", SEED, *arguments],
            cwd=ROOT,
            env=clean_environment() | {"PYTHONUNBUFFERED": "1", "TMPDIR": str(short_folder)},
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_as_in_a_terminal,
        )
    running = Running(process, out)
    seen: set[int] = set()
    try:
        until(running.children, "the first process of the demo")
        seen.update(running.children())
        yield running
    finally:
        if process.poll() is None:
            seen.update(running.children())
            process.kill()
            process.wait(timeout=WAIT_S)
            for pid in seen:
                if alive(pid):
                    os.killpg(pid, signal.SIGKILL)


def alive(group: int) -> bool:
    """Return whether any process of a group is left; one that only waits to be reaped is not."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, of_group = stat.read_text().rpartition(")")[2].split()[:3]
            if int(of_group) == group and state != "Z":
                return True
    return False


def up(running: Running) -> list[int]:
    """Wait until people may come; return the processes of server and scanner."""

    def announced() -> bool:
        assert running.process.poll() is None, running.said()
        return "Ctrl-C ends the demo." in running.said()

    until(announced, "the demo's addresses", limit_s=START_S)
    found = re.search(r"; processes (server .*)", running.said())
    assert found is not None
    return [int(one.rpartition(" ")[2]) for one in found.group(1).split(", ")]


def need_nothing_left(running: Running, groups: list[int], short_folder: Path) -> None:
    end_s = time.monotonic() + 5
    while any(map(alive, groups)) and time.monotonic() < end_s:
        time.sleep(0.05)
    assert not any(map(alive, groups))
    assert [path for path in short_folder.iterdir() if path.name.startswith("studio-demo-")] == []
    assert "Traceback" not in running.said()


def test_a_demo_that_is_told_to_end_leaves_nothing_behind_even_in_a_long_folder(tmp_path):
    port = free_port()
    folder = tmp_path / ("x" * 100)  # too long for the path of a socket
    folder.mkdir()
    with demo(folder, "--port", str(port), "--game", "all", "--play-money") as running:
        groups = up(running)
        assert sorted(running.children()) == sorted(groups)
        assert len(groups) == 3, "a server and two scanners"
        home = rf"http://127\.0\.0\.1:{port}"
        for line in (
            rf"guest +{home}/play +bet and watch",
            rf"guest +{home}/rooms +open or join a room and bet together",
            rf"dealer +{home}/station\?table=T1 .*T1 Pok Deng",
            rf"dealer2 +{home}/station\?table=T2 .*T2 Baccarat",
            *(rf"{who} +{home}/" for who in ("pit", "auditor", "admin")),
        ):
            assert re.search(rf"^  {line}", running.said(), re.MULTILINE)
        running.process.send_signal(signal.SIGTERM)
        assert running.wait() == 0
        assert "Stopping." in running.said()
        assert re.search(r"^audit_faults +0 +0 +0$", running.said(), re.MULTILINE)
        need_nothing_left(running, groups, folder)


def test_a_demo_that_is_told_to_end_while_it_starts_leaves_nothing_behind(short_folder):
    with demo(short_folder, "--port", str(free_port())) as running:
        groups = running.children()
        running.process.send_signal(signal.SIGTERM)
        assert running.wait() == 1
        need_nothing_left(running, groups, short_folder)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parent")
def test_a_demo_that_is_killed_takes_its_processes_with_it(short_folder):
    with demo(short_folder, "--port", str(free_port())) as running:
        groups = up(running)
        running.process.kill()
        running.wait()
        until(lambda: not any(map(alive, groups)), "the end of the children")


def test_a_headless_demo_that_is_cut_short_is_no_success(short_folder):
    with demo(short_folder, "--headless", "--rounds", "50") as running:
        first = "Round 1 of 50 settled."
        until(lambda: first in running.said(), "the first round", limit_s=START_S)
        groups = running.children()
        running.process.send_signal(signal.SIGINT)
        assert running.wait() == 1
        assert re.search(r"^Stopped after \d+ of 50 rounds\.$", running.said(), re.MULTILINE)
        need_nothing_left(running, groups, short_folder)


@pytest.mark.parametrize("name", ["server", "scanner"])
def test_a_demo_whose_process_is_killed_says_so_in_a_line(short_folder, name):
    with demo(short_folder, "--port", str(free_port())) as running:
        groups = up(running)
        before = running.said()
        os.kill(groups[name == "scanner"], signal.SIGKILL)
        assert running.wait() == 1
        said = running.said().removeprefix(before)
        assert said == f"The {name} was ended from outside (SIGKILL).\n"
        need_nothing_left(running, groups, short_folder)


class Settled:
    """A table whose round is settled, and nothing else happens."""

    changed = threading.Condition()
    position = (1, 9)
    view: ClassVar[dict[str, Any]] = {
        "round": {"id": "T1-1-1", "phase": "settled"},
        "instruction": {"code": "start_round"},
    }


def test_a_dealer_keeps_the_seat_after_the_rounds_until_told_to_stop():
    dealer = SimulatedDealer(
        client=DoorClient("http://127.0.0.1:9"),  # nothing is asked of it any more
        hand=CameraHand(Path("absent.sock")),
        table="T1",
        decks=8,
        deck_sets=(1,),
        cut_depths=range(60, 70),
        seed=None,
        salt=(),
        pace=Pace(),
        rounds=1,
    )
    thread = threading.Thread(target=dealer._deal, args=(Settled(),))
    thread.start()
    assert dealer.done.wait(timeout=WAIT_S)
    thread.join(timeout=0.3)
    assert (dealer.played, thread.is_alive()) == (1, True)
    dealer.stopping.set()
    thread.join(timeout=WAIT_S)
    assert not thread.is_alive()


def test_a_database_with_people_that_no_demo_made_is_refused(tmp_path):
    url = f"sqlite:///{tmp_path / 'studio.db'}"
    theirs = NewPerson(
        username="admin",
        display_name="Administrator",
        role=Role.ADMINISTRATOR,
        password="a-password-of-theirs",
        language="en",
    )
    with inside(url) as (_, people):
        people.create(Actor(id=0, name="studio", role=None), theirs)
    ended = run_app("demo", "--rounds", "1", "--headless", "--database-url", url)
    assert ended.returncode == 1
    assert ended.stderr.startswith("This database holds the login admin, which no demo made")
    assert ended.stderr.count("\n") == 1
    with inside(url) as (_, people):
        people.login_by_password("admin", "a-password-of-theirs", address="127.0.0.1")
