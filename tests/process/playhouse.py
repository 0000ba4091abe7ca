"""A studio of real processes over a database of one's own, with known cards in the dealer's hand.

Server and scanner are started, killed and started again by their own ids; dealer and players come
in through the doors. The test lays the cards on the simulated camera, so that it knows each.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import argon2
import requests

from studio import joining
from studio.cli.stores import audited
from studio.demo.camera import CameraHand
from studio.demo.client import DoorClient, DoorError
from studio.demo.processes import Processes, clean_environment, free_port, wait_until_ready
from studio.demo.world import manifest
from studio.domain.cards import CodeVersion, PrintedCode, parse_card
from studio.joining import open_store
from studio.services.inspection import Fault
from studio.services.people import NewPerson, PeopleService
from studio.services.ports import Actor, DeckSet, Role
from studio.settings import currency_of, load_settings
from studio.store.units import SqlUnits
from studio.web.passwords import Argon2Hasher

ROOT = Path(__file__).resolve().parents[2]
TABLE = "T1"
DECKS = 8
DEVICE = "cam"
DEVICE_KEY = "0123456789abcdef-camera"
PASSWORD = "correct horse battery"
PURSE_MINOR = 100_000
WAIT_S = 40.0
"""Longest wait for anything; a loaded machine takes a multiple of the usual second."""
CUT_DEPTH = 60

FIRST_CARD, OPENING_BURN, BURN = "AS", "KS", "JS"
HANDS = ("4H", "6H", "9C", "KD", "3S", "2C", "5S", "7C", "2D", "QC", "8D", "4D")
"""P1..P5 and the banker, twice round: P1 has 9, the banker 6, so that P1 wins once its stake."""
PLACES = [(place, index) for index in (0, 1) for place in ("P1", "P2", "P3", "P4", "P5", "B")]
P1_STAKE_MINOR, PAIR_STAKE_MINOR = 500, 200
GAIN_MINOR = P1_STAKE_MINOR - PAIR_STAKE_MINOR
"""The main wager wins 1:1, the pair wager loses."""

SETTINGS = """\
log_level = "debug"

[tables.T1]
name = "Pok Deng"
game = "pok_deng"
currency = "JPY"
decks = 8
window_ms = {window_ms}
cut_depth_min = 50
cut_depth_max = 70
deck_sets = [1]
player_max_minor = 500000
table_max_minor = 5000000

[tables.T1.limits.main]
min_minor = 100
max_minor = 100000

[tables.T1.limits.pair]
min_minor = 100
max_minor = 20000

[tables.T1.links]
scanner_lost_ms = 4000
station_lost_ms = 4000
video_lost_ms = 4000
grace_ms = 1000

[rates]
wagers_per_minute = 100000
commands_per_minute = 100000
reads_per_minute = 100000
logins_per_minute = 1000
"""

SCANNER = """\
[camera]
kind = "simulated"
socket = "{folder}/camera.sock"
width = 960
height = 540
frames_per_s = 60

[uplink]
url = "http://127.0.0.1:{port}"
table = "T1"
device = "cam"
queue = "{folder}/reports.db"
"""

STAFF = (
    ("dealer", Role.DEALER),
    ("pit", Role.PIT_SUPERVISOR),
    ("auditor", Role.AUDITOR),
    ("admin", Role.ADMINISTRATOR),
    ("player", Role.PLAYER),
)


def run_app(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the command line to its end."""
    return subprocess.run(
        [sys.executable, "app.py", *arguments],
        cwd=ROOT,
        env=clean_environment() | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def in_order(faces: Iterable[str], used: set[int]) -> list[str]:
    """Return the digits of the next unused copy of each face in deck set 1."""
    cards = manifest(DECKS)
    digits = []
    for face in faces:
        number = parse_card(face).number
        serial = next(s for s, n in cards.items() if n == number and s not in used)
        used.add(serial)
        digits.append(
            PrintedCode(version=CodeVersion.CARD, number=number, deck_set=1, serial=serial).digits
        )
    return digits


def until(ready: Callable[[], Any], what: str, *, limit_s: float = WAIT_S) -> Any:
    """Wait until `ready()` gives something true and return it."""
    end_s = time.monotonic() + limit_s
    while time.monotonic() < end_s:
        try:
            found = ready()
        except requests.RequestException:
            found = None
        if found:
            return found
        time.sleep(0.02)
    raise TimeoutError(f"waited {limit_s} s in vain for {what}")


@contextmanager
def inside(url: str) -> Iterator[tuple[SqlUnits, PeopleService]]:
    """Open the store behind the doors, with quick hashes for the people made there."""
    settings = load_settings(None, database_url=url, secret_key="s" * 40)
    engine, units = open_store(url, currency=currency_of(settings).code)
    quick = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    with patch.object(joining, "Argon2Hasher", lambda: Argon2Hasher(quick)):
        people = joining.make_people(settings, units)
    try:
        yield units, people
    finally:
        engine.dispose()


@dataclass
class Playhouse:
    """The folder, the processes and the people of one studio."""

    folder: Path
    window_ms: int
    port: int = field(default_factory=free_port)
    scanner_port: int | None = None
    """Where the scanner finds the server; a cable of the test may lie between them."""
    used: set[int] = field(default_factory=set)
    processes: Processes = field(init=False)
    dealer: DoorClient = field(init=False)
    player: DoorClient = field(init=False)
    people: dict[str, DoorClient] = field(default_factory=dict)
    hand: CameraHand = field(init=False)
    _closing: threading.Event = field(default_factory=threading.Event)
    _beats: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self.processes = Processes(folder=self.folder)
        self.hand = CameraHand(self.folder / "camera.sock")
        (self.folder / "studio.toml").write_text(SETTINGS.format(window_ms=self.window_ms))
        (self.folder / "scanner.toml").write_text(
            SCANNER.format(folder=self.folder, port=self.scanner_port or self.port)
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def database_url(self) -> str:
        return f"sqlite:///{self.folder / 'studio.db'}"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "STUDIO_CONFIG": str(self.folder / "studio.toml"),
            "STUDIO_DATABASE_URL": self.database_url,
            "STUDIO_SECRET_KEY": "s" * 40,
            "STUDIO_DEVICE_KEYS": json.dumps({DEVICE: DEVICE_KEY}),
            "STUDIO_PORT": str(self.port),
        }

    # Processes ---------------------------------------------------------------------------------

    def open(self) -> None:
        """Furnish the database, start both processes, let everybody in."""
        with inside(self.database_url) as (units, people):
            for name, role in STAFF:
                people.create(
                    Actor(id=0, name="studio", role=None),
                    NewPerson(
                        username=name,
                        display_name=name.capitalize(),
                        role=role,
                        password=PASSWORD,
                        language="en",
                        games=frozenset({"pok_deng"} if role is Role.DEALER else ()),
                    ),
                )
            with units.write() as unit:
                unit.deck_sets.register(DeckSet(number=1, decks=DECKS, manifest=manifest(DECKS)))
                unit.commit()
        self.start_server()
        self.start_scanner()
        for name, _ in STAFF:
            self.people[name] = DoorClient(self.url)
            self.people[name].login(name, PASSWORD)
        self.dealer, self.player = self.people["dealer"], self.people["player"]
        self.pay_in()
        self._beats = threading.Thread(target=self._beat, daemon=True)
        self._beats.start()

    def start_server(self) -> None:
        self.processes.start("server", ["app.py", "serve"], self.environment)
        wait_until_ready(self.processes, self.url)

    def start_scanner(self) -> None:
        """Start the scanner and wait until its camera takes orders."""
        (self.folder / "camera.sock").unlink(missing_ok=True)
        arguments = ["-m", "scanner", "--config", str(self.folder / "scanner.toml")]
        self.processes.start("scanner", arguments, {"STUDIO_DEVICE_KEY": DEVICE_KEY})
        until((self.folder / "camera.sock").exists, "the simulated camera")

    def kill(self, name: str) -> None:
        """Kill -9 a process with everything it started: what a power cut leaves."""
        process = self.processes.started.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=WAIT_S)

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def close(self) -> None:
        self._closing.set()
        self._beats.join(timeout=WAIT_S)
        for client in self.people.values():
            client.close()
        self.processes.end()

    def _beat(self) -> None:
        """Be the station's screen: a sign of life every second, whenever there is a server."""
        station = DoorClient(self.url)
        station.http.cookies = self.dealer.http.cookies
        station._token = self.dealer._token  # the same login, another connection
        while not self._closing.wait(1.0):
            try:
                station.post(f"/api/tables/{TABLE}/station", {})
            except (requests.RequestException, DoorError):
                continue  # no server, or another dealer at the table: no sign of life
        station.close()

    # Looking -----------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        found: dict[str, Any] = self.dealer.get(f"/api/tables/{TABLE}")
        return found

    @property
    def view(self) -> dict[str, Any]:
        found: dict[str, Any] = self.snapshot()["view"]
        return found

    def cards_drawn(self) -> int:
        """Return how many cards of the running round were read."""
        return len(self.view["round"]["commitments"])

    def wait_for(self, ready: Callable[[Mapping[str, Any]], bool], what: str) -> dict[str, Any]:
        found: dict[str, Any] = until(lambda: view if ready(view := self.view) else None, what)
        return found

    def money(self) -> tuple[int, int]:
        """Return the player's balance and what is held of it."""
        me = self.player.get("/api/me")
        return me["balance_minor"], me["held_minor"]

    def queued(self) -> int:
        """Return how many reports wait on the scanner's disk."""
        with sqlite3.connect(f"file:{self.folder / 'reports.db'}?mode=ro", uri=True) as queue:
            count: int = queue.execute("SELECT count(*) FROM report").fetchone()[0]
        return count

    def faults(self) -> list[Fault]:
        """Audit the database as it is now."""
        with inside(self.database_url) as (units, _):
            return audited(units)

    def sealed(self) -> list[dict[str, Any]]:
        """Return every sealed card in the order drawn: what only the engine may know."""
        with sqlite3.connect(f"file:{self.folder / 'studio.db'}?mode=ro", uri=True) as database:
            database.row_factory = sqlite3.Row
            rows = database.execute("SELECT * FROM sealed_card ORDER BY epoch, seq").fetchall()
        return [dict(row) for row in rows]

    # Hands -------------------------------------------------------------------------------------

    def pay_in(self) -> None:
        player_id = self.player.get("/api/me")["id"]
        body = {
            "id": str(uuid.uuid4()),
            "player_id": player_id,
            "direction": "in",
            "amount_minor": PURSE_MINOR,
            "reason": "purse",
        }
        self.people["admin"].post("/api/cash", body)

    def lay(self, digits: str, *, trouble: str = "none") -> None:
        """Put a card under the camera, in place of what lies there."""
        self.hand.clear()
        self.hand.place(digits, trouble=trouble)

    def draw(self, digits: str) -> None:
        """Deal a card of the round and wait until the table has taken it."""
        before = self.cards_drawn()
        self.lay(digits)
        until(lambda: self.cards_drawn() == before + 1, f"card {before + 1} to be taken")

    def open_shoe(self) -> tuple[str, str]:
        """From nothing to the first round: the ace turned first lets one card be burnt.

        Returns the digits of both cards.
        """
        self.dealer.command(TABLE, "take_seat")
        self.dealer.command(TABLE, "load_shoe", deck_set=1)
        self.dealer.command(TABLE, "confirm_shuffle", cut_depth=CUT_DEPTH)
        first, burnt = in_order((FIRST_CARD, OPENING_BURN), self.used)
        self.lay(first)
        self.wait_for(lambda view: view["shoe"]["first_card"] is not None, "the first card")
        self.lay(burnt)
        self.wait_for(lambda view: view["stage"] == "in_play", "the shoe to open")
        self.hand.clear()
        return first, burnt

    def open_round(self) -> str:
        """Open a round and return its id."""
        self.wait_for(lambda view: view["instruction"]["code"] == "start_round", "a free table")
        pit = self.people["pit"]
        for alarm in pit.get("/api/pit")["alarms"]:
            # What a test before did to the camera or its decoder: somebody has looked at it.
            if alarm["asks_reason"] and not alarm["acknowledged_by"]:
                pit.post(f"/api/alarms/{alarm['id']}/acknowledge", {"reason": "a test did it"})
        self.dealer.command(TABLE, "start_round")
        return str(self.view["round"]["id"])

    def start_round(self) -> tuple[str, list[str]]:
        """Open a round; return its id and the 13 cards that lie next in the shoe."""
        return self.open_round(), in_order((BURN, *HANDS), self.used)

    def bet(self, round_id: str) -> None:
        """Place the player's two wagers of the round."""
        for bet, stake_minor in (("p1", P1_STAKE_MINOR), ("p1_pair", PAIR_STAKE_MINOR)):
            body = {"id": str(uuid.uuid4()), "bet": bet, "stake_minor": stake_minor}
            self.player.post(f"/api/rounds/{round_id}/wagers", body)

    def finish(self, cards: Iterable[str], *, reveals: int = 6) -> dict[str, Any]:
        """Deal the rest, wait for the close, open so many hands; return the round at its end."""
        for digits in cards:
            self.draw(digits)
        self.hand.clear()
        if reveals:
            self.wait_for(lambda view: view["phase"] == "reveal", "the close of betting")
        for _ in range(reveals):
            self.dealer.command(TABLE, "reveal")
        view = self.wait_for(lambda view: view["phase"] == "settled", "the settlement")
        found: dict[str, Any] = view["round"]
        return found


def make_playhouse(folder: Path, *, window_ms: int, **more: int) -> Playhouse:
    """Return a furnished studio whose processes run."""
    house = Playhouse(folder=folder, window_ms=window_ms, **more)
    try:
        house.open()
    except BaseException:
        house.processes.end()
        raise
    return house
