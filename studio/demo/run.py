"""The demo from start to end: settings, people, processes, play, summary."""

import json
import os
import secrets
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import requests
from socketio.exceptions import SocketIOError

from studio.demo.camera import CameraHand
from studio.demo.client import DoorClient
from studio.demo.dealer import Pace, SimulatedDealer
from studio.demo.player import SimulatedPlayer
from studio.demo.processes import ProcessError, Processes, free_port, wait_until_ready
from studio.demo.world import manifest
from studio.domain.errors import RefusedError
from studio.domain.game import Json
from studio.services.people import NewPerson, PeopleService, PersonChange
from studio.services.ports import Actor, DeckSet, Role
from studio.store.units import SqlUnits

PLAYERS = tuple(f"player{number}" for number in range(1, 6))
GUEST = "guest"
STAFF = (
    ("dealer", Role.DEALER),
    ("pit", Role.PIT_SUPERVISOR),
    ("auditor", Role.AUDITOR),
    ("admin", Role.ADMINISTRATOR),
)
PURSE_MINOR = 1_000_000
DECKS = 8
DECK_SETS = (1, 2)
DEVICE = "demo-camera"
CAMERA_READY_S = 30
FOLDER_BYTES_MAX = 60
"""A longer path of the system's temporary folder leaves too little for the camera's socket."""
STOP_S = 15.0
"""How long the dealer's last request is waited for."""
NOTICE_S = 2.0
"""How long after a broken connection a process may take to be seen as ended."""
STUDIO = Actor(id=0, name="studio", role=None)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to play."""

    rounds: int | None
    seed: int | None
    headless: bool
    database_url: str | None
    host: str = "127.0.0.1"
    port: int | None = None


@dataclass(frozen=True, kw_only=True)
class Inside:
    """The store behind the doors: used before the server starts and after it has ended."""

    units: SqlUnits
    people: PeopleService
    close: Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class Played:
    """What the demo leaves behind for the summary."""

    table: str
    rounds: int
    seconds: float
    interrupted: bool
    wagers_placed: int
    wagers_undone: int
    wagers_refused: list[str]


Say = Callable[[str], None]


def _short_folder() -> str | None:
    """Return where to make the folder: a socket's path has to be short on every system."""
    own = tempfile.gettempdir()
    return "/tmp" if len(os.fsencode(own)) > FOLDER_BYTES_MAX else None  # noqa: S108


class Demo:
    """One run; `make_inside` opens the store that the settings in the environment name."""

    def __init__(self, plan: Plan, *, make_inside: Callable[[], Inside], say: Say) -> None:
        """Keep the plan."""
        self._plan = plan
        self._make_inside = make_inside
        self._say = say
        self._password = secrets.token_urlsafe(9)
        self._key = secrets.token_urlsafe(32)
        self._table = "T1"
        self._interrupted = False

    # Files and people --------------------------------------------------------------------------

    @contextmanager
    def _folder(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="studio-demo-", dir=_short_folder()) as name:
            yield Path(name)

    def _environment(self, folder: Path, port: int) -> dict[str, str]:
        url = self._plan.database_url or f"sqlite:///{folder / 'studio.db'}"
        return {
            "STUDIO_CONFIG": str(folder / "studio.toml"),
            "STUDIO_DATABASE_URL": url,
            "STUDIO_SECRET_KEY": secrets.token_urlsafe(48),
            "STUDIO_DEVICE_KEYS": json.dumps({DEVICE: self._key}),
            "STUDIO_HOST": self._plan.host,
            "STUDIO_PORT": str(port),
        }

    def _write_settings(self, folder: Path, port: int) -> None:
        headless = self._plan.headless
        (folder / "studio.toml").write_text(
            TABLE_SETTINGS.format(
                table=self._table,
                window_ms=1_500 if headless else 15_000,
                cut_depth_min=240 if headless else 60,
                cut_depth_max=250 if headless else 120,
                per_minute=100_000 if headless else 1_200,
            )
        )
        (folder / "scanner.toml").write_text(
            SCANNER_SETTINGS.format(
                socket=folder / "camera.sock",
                queue=folder / "reports.db",
                url=f"http://{self._plan.host}:{port}",
                table=self._table,
                device=DEVICE,
                fps=120 if headless else 30,
                gap_frames=6 if headless else 4,
            )
        )

    def _choose_table(self, inside: Inside) -> None:
        """Take the first table that this database has never seen: a demo starts a fresh log."""
        number = 1
        with inside.units.read() as uow:
            while uow.events.position(f"T{number}") != (0, 0, ""):
                number += 1
        self._table = f"T{number}"

    def _prepare(self, inside: Inside) -> None:
        known = {one.username: one for one in inside.people.list()}
        names = [*STAFF, *((name, Role.PLAYER) for name in (*PLAYERS, GUEST))]
        _need_demo_people(inside, {name for name, _ in names})
        for name, role in names:
            if name in known:
                change = PersonChange(password=self._password, active=True)
                inside.people.change(STUDIO, known[name].id, change)
                continue
            inside.people.create(
                STUDIO,
                NewPerson(
                    username=name,
                    display_name=_display_name(name),
                    role=role,
                    password=self._password,
                    language="en",
                ),
            )
        with inside.units.write() as uow:
            for number in DECK_SETS:
                if uow.deck_sets.get(number) is None:
                    deck_set = DeckSet(number=number, decks=DECKS, manifest=manifest(DECKS))
                    uow.deck_sets.register(deck_set)
            uow.commit()

    # Play --------------------------------------------------------------------------------------

    def run(self) -> tuple[Played, Inside]:
        """Play, and return what was played with the store still open.

        Raises:
            ProcessError: server or scanner did not start, or ended.
            DoorError: a door refused its own people.
            TimeoutError: the table stood still.
        """
        port = self._plan.port or free_port()
        with ExitStack() as leaving:
            folder = leaving.enter_context(self._folder())
            self._write_settings(folder, port)
            environment = self._environment(folder, port)
            os.environ.update(environment)
            inside = self._make_inside()
            self._choose_table(inside)
            self._write_settings(folder, port)
            self._prepare(inside)
            inside.close()
            with Processes(folder=folder) as processes:
                try:
                    played = self._play(processes, folder, environment, port)
                except (requests.RequestException, SocketIOError, ConnectionError) as error:
                    self._explain(error, processes)
            inside = self._make_inside()
            leaving.callback(inside.close)
            # The folder, and the embedded database in it, stay until the summary is made.
            keep = leaving.pop_all()
        return played, Inside(units=inside.units, people=inside.people, close=keep.close)

    def _explain(self, error: Exception, processes: Processes) -> NoReturn:
        """A connection broke: most likely because the process behind it has ended."""
        until_s = time.monotonic() + NOTICE_S
        while time.monotonic() < until_s:
            processes.check()
            threading.Event().wait(0.05)
        raise ProcessError(f"The demo lost a connection: {type(error).__name__}.") from error

    def _play(
        self, processes: Processes, folder: Path, environment: dict[str, str], port: int
    ) -> Played:
        url = f"http://{self._plan.host}:{port}"
        processes.start("server", ["app.py", "serve"], environment)
        wait_until_ready(processes, url)
        scanner = ["-m", "scanner", "--config", str(folder / "scanner.toml")]
        processes.start("scanner", scanner, {"STUDIO_DEVICE_KEY": self._key})
        players = self._players(url)
        self._wait_for_camera(processes, folder)
        dealer = self._dealer(url, folder)
        for player in players:
            player.start()
        started = time.perf_counter()
        try:
            self._deal(dealer, processes, url)
        finally:
            seconds = time.perf_counter() - started
            for player in players:
                player.stop()
        return Played(
            table=self._table,
            rounds=dealer.played,
            seconds=round(seconds, 1),
            interrupted=self._interrupted,
            wagers_placed=sum(player.placed for player in players),
            wagers_undone=sum(player.undone for player in players),
            wagers_refused=[code for player in players for code in player.refused],
        )

    def _deal(self, dealer: SimulatedDealer, processes: Processes, url: str) -> None:
        failures: list[BaseException] = []

        def deal() -> None:
            try:
                dealer.run()
            except Exception as error:  # noqa: BLE001  raised again in the main thread
                failures.append(error)

        thread = threading.Thread(target=deal, name="dealer", daemon=True)
        thread.start()
        try:
            # Who reads this may press Ctrl-C: from here on it is the regular end.
            self._announce(url, processes)
            while thread.is_alive():
                thread.join(timeout=0.2)
                processes.check()
        except KeyboardInterrupt:
            self._say("Stopping.")
            self._interrupted = True
        finally:
            dealer.stopping.set()
            thread.join(timeout=STOP_S)
        if failures and not self._interrupted:
            raise failures[0]

    def _players(self, url: str) -> list[SimulatedPlayer]:
        admin = DoorClient(url)
        admin.login("admin", self._password)
        people = {one["username"]: one["id"] for one in admin.get("/api/people")["people"]}
        players = []
        for name in (*PLAYERS, GUEST):
            admin.post(
                "/api/cash",
                {
                    "id": str(uuid.uuid4()),
                    "player_id": people[name],
                    "direction": "in",
                    "amount_minor": PURSE_MINOR,
                    "reason": "demo purse",
                },
            )
            if name == GUEST:
                continue
            client = DoorClient(url)
            client.login(name, self._password)
            bets = tuple(bet["code"] for bet in client.get(f"/api/tables/{self._table}")["bets"])
            players.append(
                SimulatedPlayer(
                    client=client, name=name, table=self._table, seed=self._plan.seed, bets=bets
                )
            )
        admin.close()
        return players

    def _dealer(self, url: str, folder: Path) -> SimulatedDealer:
        client = DoorClient(url)
        client.login("dealer", self._password)
        headless = self._plan.headless
        return SimulatedDealer(
            client=client,
            hand=CameraHand(folder / "camera.sock"),
            table=self._table,
            decks=DECKS,
            deck_sets=DECK_SETS,
            cut_depths=range(240, 251) if headless else range(60, 121),
            seed=self._plan.seed,
            pace=Pace() if headless else Pace(card_s=0.7, reveal_s=1.2, between_rounds_s=6.0),
            rounds=self._plan.rounds,
            stays=not headless,
            on_round=self._on_round,
        )

    def _on_round(self, number: int) -> None:
        of = f" of {self._plan.rounds}" if self._plan.rounds else ""
        self._say(f"Round {number}{of} settled.")
        if number == self._plan.rounds and not self._plan.headless:
            self._say("These were the rounds; the studio stays up until Ctrl-C.")

    def _wait_for_camera(self, processes: Processes, folder: Path) -> None:
        pause = threading.Event()
        for _ in range(CAMERA_READY_S * 10):
            processes.check()
            if (folder / "camera.sock").exists():
                return
            pause.wait(0.1)
        raise TimeoutError("The scanner's simulated camera does not come up.")

    def _announce(self, url: str, processes: Processes) -> None:
        if self._plan.headless:
            return
        pages = (
            (GUEST, "/play", "bet and watch"),
            ("dealer", f"/station?table={self._table}", "the dealer's station (deals by itself)"),
            ("pit", "/pit", "the pit's dashboard"),
            ("auditor", "/pit", "reads all, changes nothing"),
            ("admin", "/admin", "people, cash, deck sets"),
        )
        self._say(
            f"The studio is up at {url}; processes "
            + ", ".join(f"{name} {process.pid}" for name, process in processes.started.items())
        )
        self._say(f"Every demo login has the password  {self._password}")
        for name, path, what in pages:
            self._say(f"  {name:<8} {url}{path:<22} {what}")
        self._say("Ctrl-C ends the demo.")


def _display_name(username: str) -> str:
    return f"{username.capitalize()} (demo)"


def _need_demo_people(inside: Inside, names: set[str]) -> None:
    """Refuse a database with people that no demo made: a demo gives its logins new passwords.

    Raises:
        RefusedError: `database_not_demo`.
    """
    for one in inside.people.list():
        if one.username not in names or one.display_name != _display_name(one.username):
            raise RefusedError(
                "database_not_demo",
                f"This database holds the login {one.username}, which no demo made: give the "
                "demo a database of its own.",
                username=one.username,
            )


def as_json(played: Played, totals: dict[str, Json]) -> dict[str, Json]:
    """Return the demo's summary for machines."""
    return {
        **totals,
        "wagers_undone": played.wagers_undone,
        "wagers_refused": len(played.wagers_refused),
        "seconds": played.seconds,
    }


TABLE_SETTINGS = """\
[tables.{table}]
name = "Pok Deng {table}"
game = "pok_deng"
currency = "JPY"
decks = 8
window_ms = {window_ms}
cut_depth_min = {cut_depth_min}
cut_depth_max = {cut_depth_max}
deck_sets = [1, 2]
player_max_minor = 500000
table_max_minor = 5000000

[tables.{table}.limits.main]
min_minor = 100
max_minor = 100000

[tables.{table}.limits.pair]
min_minor = 100
max_minor = 20000

[tables.{table}.links]
scanner_lost_ms = 5000
station_lost_ms = 8000
video_lost_ms = 5000

[rates]
wagers_per_minute = {per_minute}
commands_per_minute = {per_minute}
reads_per_minute = {per_minute}
logins_per_minute = 60
"""

SCANNER_SETTINGS = """\
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
