"""A small back office on loopback, and drawn cards."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from scanner.printing import card_manifest
from studio.domain.cards import ALL_CARDS, card_code

PROJECT = Path(__file__).parents[2]
WAIT_S = 20.0
TICK_S = 0.02
KEY = "test-device-key"
DECK_SET = 7


class FakeBackOffice:
    """Takes reports as the real one does; `answers` overrides the next statuses."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.taken: list[dict[str, Any]] = []
        self.requests: list[tuple[str, dict[str, Any], str | None]] = []
        self.beats: list[dict[str, Any]] = []
        self.answers: list[int] = []
        self.page: bytes | None = None
        """What answers in the back office's place, whatever is asked."""
        self.wants_pictures = False
        self.pictures: list[dict[str, Any]] = []
        self.picture_answers: list[int] = []
        self.epoch = 1
        self.deck_set: int | None = DECK_SET
        self.codes = {str(serial): number for serial, number in card_manifest(1).items()}
        self.shoes_given = 0
        self.shoe_extra: dict[str, Any] = {}
        self._server: ThreadingHTTPServer | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        office = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                size = int(self.headers.get("Content-Length", 0))
                body = json.loads(self.rfile.read(size))
                key = self.headers.get("X-Device-Key")
                self.give(*office.answer(self.path, body, key))

            def do_GET(self) -> None:
                assert urlsplit(self.path).path == "/api/device/shoe"
                with office.changed:
                    office.shoes_given += 1
                    shoe = {
                        "epoch": office.epoch,
                        "deck_set": office.deck_set,
                        "codes": dict(office.codes),
                        **office.shoe_extra,
                    }
                    office.changed.notify_all()
                self.give(200, shoe)

            def give(self, status: int, body: dict[str, Any]) -> None:
                content = json.dumps(body).encode() if office.page is None else office.page
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", f"{office.url}/login")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
                if status == 599:
                    self.close_connection = True

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, *_: object) -> None:
                """A client that was killed is part of the tests."""

        self._server = Server(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_port
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()

    def stop(self) -> None:
        """Go out of reach; start() comes back on the same port."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def answer(
        self, path: str, body: dict[str, Any], key: str | None
    ) -> tuple[int, dict[str, Any]]:
        with self.changed:
            try:
                if path == "/api/device/heartbeat":
                    self.beats.append(body)
                    if self.page is not None:
                        return 200, {}
                    return 200, {"now_ms": 0, "epoch": self.epoch}
                if path == "/api/device/pictures":
                    return self.take_picture(body)
                self.requests.append((path, body, key))
                status = self.answers.pop(0) if self.answers else 200
                if self.page is not None:
                    return status, {}
                if status == 201:  # taken, but the answer is lost on the way
                    self.taken.append(body)
                    return 599, {}
                if status != 200:
                    return status, {"error": {"code": "x", "message": "x", "details": {}}}
                known = {before["id"]: before for before in self.taken}
                if known.get(body["id"], body) != body:
                    return 409, {"error": {"code": "report_id_reused", "message": "x"}}
                duplicate = any(body["id"] == before["id"] for before in self.taken)
                if not duplicate:
                    self.taken.append(body)
                answer = {"taken": True, "duplicate": duplicate}
                return 200, answer | ({"picture": True} if self.wants_pictures else {})
            finally:
                self.changed.notify_all()

    def take_picture(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        status = self.picture_answers.pop(0) if self.picture_answers else 200
        if status != 200:
            return status, {"error": {"code": "x", "message": "x", "details": {}}}
        self.pictures.append(body)
        return 200, {"taken": True, "duplicate": False}

    def wait(self, condition: Callable[[], bool]) -> None:
        with self.changed:
            assert self.changed.wait_for(condition, WAIT_S), "the event did not come in time"


def alive(pid: int) -> bool:
    """Tell whether a process lives; one that nobody has buried yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(ready: Callable[[], bool]) -> None:
    """Wait for what nobody tells of."""
    tick = threading.Event()
    for _ in range(int(WAIT_S / TICK_S)):
        if ready():
            return
        tick.wait(TICK_S)
    pytest.fail("it did not come in time")


@pytest.fixture
def office() -> Iterator[FakeBackOffice]:
    office = FakeBackOffice()
    office.start()
    yield office
    office.stop()


@pytest.fixture
def short_dir() -> Iterator[Path]:
    """Unix sockets allow short paths only."""
    with tempfile.TemporaryDirectory(prefix="scan") as path:
        yield Path(path)


def digits_of(number: int, *, serial: int | None = None, deck_set: int = DECK_SET) -> str:
    """Return the code of card `number`; deck one's serials equal the card numbers."""
    card = ALL_CARDS[number - 1]
    return card_code(card, deck_set=deck_set, serial=serial or number).digits


class Steering:
    """A client of the simulated camera's socket."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(WAIT_S)
        self._socket.connect(str(path))
        self._lines = self._socket.makefile("rw", encoding="utf-8")

    def send(self, **order: Any) -> dict[str, Any]:
        return self.raw(json.dumps(order))

    def raw(self, line: str) -> dict[str, Any]:
        self._lines.write(line + "\n")
        self._lines.flush()
        answer: dict[str, Any] = json.loads(self._lines.readline())
        return answer

    def close(self) -> None:
        self._lines.close()
        self._socket.close()


@pytest.fixture
def key() -> str:
    return KEY


@pytest.fixture
def digits() -> Callable[..., str]:
    return digits_of


@pytest.fixture
def steer() -> Iterator[Callable[[Path], Steering]]:
    """Connect to simulated cameras; every client is closed at the end."""
    clients: list[Steering] = []

    def connect(path: Path) -> Steering:
        clients.append(Steering(path))
        return clients[-1]

    yield connect
    for client in clients:
        client.close()


@pytest.fixture
def run_python() -> Callable[..., Any]:
    return running


@contextmanager
def running(*arguments: str, environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Run `python ARGUMENTS` from the project's root and end it, whatever happens."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=PROJECT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def config_text(
    office: FakeBackOffice, folder: Path, *, camera: str = "", read: str = "", uplink: str = ""
) -> str:
    camera = camera or (
        f'kind = "simulated"\nsocket = "{folder}/cam.sock"\nwidth = 960\nheight = 540\nseed = 3'
    )
    return f"""
[camera]
{camera}
[read]
{read}
[uplink]
{uplink}
url = "{office.url}"
table = "T1"
device = "scanner-1"
queue = "{folder}/queue.sqlite"
"""


class Started:
    """A running scanner whose log lines can be waited for."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self.process = context.__enter__()
        self._lines: list[str] = []
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def log(self) -> str:
        with self._changed:
            return "".join(self._lines)

    def _read(self) -> None:
        for line in self.process.stderr:
            with self._changed:
                self._lines.append(line)
                self._changed.notify_all()

    def wait_logged(self, word: str, count: int = 1) -> None:
        with self._changed:
            came = self._changed.wait_for(
                lambda: sum(word in line for line in self._lines) >= count, WAIT_S
            )
        assert came, f"{word} was not logged: {self.log}"

    def end(self) -> int:
        self.process.terminate()
        code: int = self.process.wait(WAIT_S)
        self._reader.join(WAIT_S)
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self._reader.join(WAIT_S)
        self._context.__exit__(None, None, None)


@pytest.fixture
def start(
    office: FakeBackOffice, short_dir: Path, key: str, run_python: Callable[..., Any]
) -> Iterator[Callable[..., Started]]:
    """Start scanner processes; every one is ended."""
    config = short_dir / "scanner.toml"
    started: list[Started] = []

    def make(**more: str) -> Started:
        config.write_text(config_text(office, short_dir, **more))
        environment = {"STUDIO_DEVICE_KEY": key, "PYTHONWARNINGS": "error"}
        started.append(
            Started(run_python("-m", "scanner", "--config", str(config), environment=environment))
        )
        return started[-1]

    yield make
    for scanner in started:
        scanner.close()
