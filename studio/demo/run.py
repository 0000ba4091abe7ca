"""The demo from start to end: settings, people, processes, play."""

import json
import os
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import requests
from socketio.exceptions import SocketIOError

from studio.demo.cast import Cast, Stage, TablePlayed, make_cast
from studio.demo.client import DoorClient
from studio.demo.furnish import GUEST, PLAYERS, Inside, free_codes, furnish, pay_in
from studio.demo.plan import DemoTable, Plan, line_up
from studio.demo.processes import ProcessError, Processes, free_port, wait_until_ready
from studio.demo.rooms import start_room
from studio.demo.settings import camera_socket, scanner_file, scanner_settings, studio_settings

CAMERA_READY_S = 30
FOLDER_BYTES_MAX = 60
"""A longer path of the system's temporary folder leaves too little for the cameras' sockets."""
STOP_S = 15.0
"""How long the dealers' last requests are waited for."""
NOTICE_S = 2.0
"""How long after a broken connection a process may take to be seen as ended."""


@dataclass(frozen=True, kw_only=True)
class Played:
    """What the demo leaves behind for the summary."""

    tables: tuple[TablePlayed, ...]
    interrupted: bool

    @property
    def rounds(self) -> int:
        """Rounds of all tables."""
        return sum(table.rounds for table in self.tables)


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
        self._tables = line_up(plan, [f"T{number}" for number in range(1, len(plan.games) + 1)])
        self._keys = {table.device: secrets.token_urlsafe(32) for table in self._tables}
        self._url = ""
        self._interrupted = False

    # Files -------------------------------------------------------------------------------------

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
            "STUDIO_DEVICE_KEYS": json.dumps(self._keys),
            "STUDIO_HOST": self._plan.host,
            "STUDIO_PORT": str(port),
        }

    def _write_settings(self, folder: Path) -> None:
        (folder / "studio.toml").write_text(studio_settings(self._plan, self._tables))
        for table in self._tables:
            text = scanner_settings(self._plan, table, folder=folder, url=self._url)
            scanner_file(folder, table).write_text(text)

    # Play --------------------------------------------------------------------------------------

    def run(self) -> tuple[Played, Inside]:
        """Play, and return what was played with the store still open.

        Raises:
            ProcessError: server or scanner did not start, or ended.
            DoorError: a door refused its own people.
            TimeoutError: a table stood still.
        """
        port = self._plan.port or free_port()
        self._url = f"http://{self._plan.host}:{port}"
        with ExitStack() as leaving:
            folder = leaving.enter_context(self._folder())
            self._write_settings(folder)
            environment = self._environment(folder, port)
            os.environ.update(environment)
            inside = self._make_inside()
            self._tables = line_up(self._plan, free_codes(inside.units, len(self._tables)))
            self._write_settings(folder)
            furnish(inside, self._tables, self._password)
            inside.close()
            with Processes(folder=folder) as processes:
                try:
                    played = self._play(processes, folder, environment)
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

    def _play(self, processes: Processes, folder: Path, environment: dict[str, str]) -> Played:
        processes.start("server", ["app.py", "serve"], environment)
        wait_until_ready(processes, self._url)
        for table in self._tables:
            name = "scanner" if len(self._tables) == 1 else f"scanner {table.code}"
            scanner = ["-m", "scanner", "--config", str(scanner_file(folder, table))]
            processes.start(name, scanner, {"STUDIO_DEVICE_KEY": self._keys[table.device]})
        stage = Stage(
            plan=self._plan,
            tables=self._tables,
            folder=folder,
            stopping=threading.Event(),
            on_round=self._on_round,
        )
        casts = self._casts(stage)
        self._wait_for_cameras(processes, folder)
        for cast in casts:
            cast.sit_down()
        try:
            self._deal(casts, stage.stopping, processes)
        finally:
            for cast in casts:
                cast.get_up()
        return Played(tables=tuple(cast.played() for cast in casts), interrupted=self._interrupted)

    def _casts(self, stage: Stage) -> tuple[Cast, ...]:
        players = {name: self._login(name) for name in PLAYERS}
        if self._plan.play_money:
            start_room(players, self._tables)  # and the purse was full when they came in
        else:
            admin = self._login("admin")
            pay_in(admin, self._plan)
            admin.close()
        casts = tuple(
            make_cast(stage, table, dealer=self._login(table.dealer), players=players)
            for table in self._tables
        )
        for client in players.values():
            client.close()
        return casts

    def _login(self, name: str) -> DoorClient:
        client = DoorClient(self._url)
        client.login(name, self._password)
        return client

    def _deal(self, casts: Sequence[Cast], stopping: threading.Event, processes: Processes) -> None:
        """Let all dealers deal until their rounds are played, or one can't go on."""
        failures: list[BaseException] = []
        ended = threading.Event()

        def deal(cast: Cast) -> None:
            try:
                cast.dealer.run()
            except Exception as error:  # noqa: BLE001  raised again in the main thread
                failures.append(error)
            finally:
                ended.set()

        threads = [
            threading.Thread(target=deal, args=(cast,), name=cast.table.dealer, daemon=True)
            for cast in casts
        ]
        for thread in threads:
            thread.start()
        try:
            # Who reads this may press Ctrl-C: from here on it is the regular end.
            self._announce(processes)
            self._watch(casts, ended, processes)
        except KeyboardInterrupt:
            self._say("Stopping.")
            self._interrupted = True
        finally:
            stopping.set()
            for thread in threads:
                thread.join(timeout=STOP_S)
        if failures and not self._interrupted:
            raise failures[0]

    def _watch(self, casts: Sequence[Cast], ended: threading.Event, processes: Processes) -> None:
        """Return when a dealer has gone or, without people, when all rounds are played."""
        told = False
        while not ended.wait(timeout=0.2):
            processes.check()
            if told or not all(cast.dealer.done.is_set() for cast in casts):
                continue
            if self._plan.headless:
                return
            self._say("These were the rounds; the studio stays up until Ctrl-C.")
            told = True

    def _on_round(self, table: DemoTable, number: int) -> None:
        of = f" of {self._plan.rounds}" if self._plan.rounds else ""
        where = "Round" if len(self._tables) == 1 else f"{table}: round"
        self._say(f"{where} {number}{of} settled.")

    def _wait_for_cameras(self, processes: Processes, folder: Path) -> None:
        pause = threading.Event()
        sockets = [camera_socket(folder, table) for table in self._tables]
        for _ in range(CAMERA_READY_S * 10):
            processes.check()
            if all(socket.exists() for socket in sockets):
                return
            pause.wait(0.1)
        raise TimeoutError("The scanner's simulated camera does not come up.")

    # Words -------------------------------------------------------------------------------------

    def _announce(self, processes: Processes) -> None:
        if self._plan.headless:
            return
        self._say(
            f"The studio is up at {self._url}; processes "
            + ", ".join(f"{name} {process.pid}" for name, process in processes.started.items())
        )
        self._say(f"Every demo login has the password  {self._password}")
        for name, path, what in self._pages():
            self._say(f"  {name:<8} {self._url}{path:<22} {what}")
        self._say("Ctrl-C ends the demo.")

    def _pages(self) -> Iterator[tuple[str, str, str]]:
        """Give who goes where for what."""
        yield GUEST, "/play", "bet and watch"
        if self._plan.play_money:
            yield GUEST, "/rooms", "open or join a room and bet together"
        for table in self._tables:
            path = f"/station?table={table.code}"
            yield table.dealer, path, f"the dealer's station of {table} (deals by itself)"
        yield "pit", "/pit", "the pit's dashboard"
        yield "pit2", "/pit", "a second supervisor, who approves corrections"
        yield "auditor", "/pit", "reads all, changes nothing"
        yield "admin", "/admin", "people, cash, deck sets"
