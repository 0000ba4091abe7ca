"""A person at the studio's doors: logs in as the browser does, asks, commands, listens."""

import re
import threading
import uuid
from collections.abc import Callable, Mapping
from typing import Any

import requests
import socketio

from studio.domain.game import Json

TIMEOUT_S = 10.0
_TOKEN = re.compile(r'name="csrf[-_]token"[^>]*(?:content|value)="([^"]+)"')


class DoorError(Exception):
    """A door answered with a refusal."""

    def __init__(self, status: int, code: str, message: str) -> None:
        """Keep what the door said."""
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code


class DoorClient:
    """One login: a cookie jar, the CSRF token, JSON requests."""

    def __init__(self, base_url: str) -> None:
        """Start without a login."""
        self.base_url = base_url
        self.http = requests.Session()
        self._token = ""

    def login(self, name: str, password: str) -> None:
        """Log in through the login page.

        Raises:
            DoorError: `login_failed`.
        """
        page = self.http.get(f"{self.base_url}/login", timeout=TIMEOUT_S)
        self._read_token(page.text)
        answer = self.http.post(
            f"{self.base_url}/login",
            data={"username": name, "password": password, "csrf_token": self._token},
            headers={"Referer": f"{self.base_url}/login"},
            timeout=TIMEOUT_S,
        )
        if answer.status_code != requests.codes.ok or answer.url.rstrip("/").endswith("/login"):
            raise DoorError(answer.status_code, "login_failed", f"{name} can't log in.")
        self._read_token(answer.text)

    def beside(self) -> "DoorClient":
        """Return another connection of the same login, as a second page has it."""
        other = DoorClient(self.base_url)
        other.http.cookies.update(self.http.cookies)
        other._token = self._token
        return other

    def _read_token(self, page: str) -> None:
        found = _TOKEN.search(page)
        if found is not None:
            self._token = found.group(1)

    def get(self, path: str) -> Json:
        """Return the JSON answer of a GET.

        Raises:
            DoorError: any refusal.
        """
        return self._answer(self.http.get(self.base_url + path, timeout=TIMEOUT_S))

    def post(self, path: str, body: Mapping[str, Json]) -> Json:
        """Return the JSON answer of a POST.

        Raises:
            DoorError: any refusal.
        """
        return self._answer(
            self.http.post(
                self.base_url + path,
                json=body,
                headers={"X-CSRFToken": self._token},
                timeout=TIMEOUT_S,
            )
        )

    def _answer(self, answer: requests.Response) -> Json:
        if answer.ok:
            return answer.json()
        try:
            error = answer.json()["error"]
        except (ValueError, KeyError, TypeError):
            error = {"code": "http_error", "message": answer.text[:200]}
        raise DoorError(answer.status_code, error["code"], error["message"])

    def command(self, table: str, command: str, **values: Json) -> Json:
        """Give a command at a table, under an id of its own."""
        body = {"id": str(uuid.uuid4()), "command": command, **values}
        return self.post(f"/api/tables/{table}/commands", body)

    def close(self) -> None:
        """Let go of the connections: a server that ends waits for open ones."""
        self.http.close()

    @property
    def cookies(self) -> str:
        """The cookie header, for the socket."""
        return "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.http.cookies)


class Watcher:
    """A live view of one table: snapshot first, then patches, gaps asked for again."""

    def __init__(
        self, client: DoorClient, table: str, *, on_event: Callable[[Json], None] | None = None
    ) -> None:
        """Connect and start to watch."""
        self._client = client
        self._table = table
        self._on_event = on_event
        self.changed = threading.Condition()
        self.view: dict[str, Json] = {}
        self.position: tuple[int, int] = (-1, 0)
        self._socket: Any = socketio.Client(
            reconnection_delay=0.2, reconnection_delay_max=1, handle_sigint=False
        )
        self._socket.on("event", self._event, namespace="/live")
        self._socket.on("connect", self._watch, namespace="/live")
        self._socket.connect(
            client.base_url,
            headers={"Cookie": client.cookies},
            transports=["websocket"],
            namespaces=["/live"],
            wait_timeout=10,
        )

    def _watch(self) -> None:
        epoch, seq = self.position
        ask = {"table": self._table, "epoch": None if epoch < 0 else epoch, "seq": seq}
        self._socket.emit("watch", ask, namespace="/live", callback=self._caught_up)

    def _caught_up(self, answer: Json) -> None:
        if "snapshot" in answer:
            snapshot = answer["snapshot"]
            with self.changed:
                self.view = dict(snapshot["view"])
                self.position = (snapshot["epoch"], snapshot["seq"])
                self.changed.notify_all()
        for envelope in answer.get("events", ()):
            self._event(envelope)

    def _event(self, envelope: Json) -> None:
        with self.changed:
            epoch, seq = self.position
            here = (envelope["epoch"], envelope["seq"])
            if here <= self.position:
                return
            if here not in {(epoch, seq + 1), (epoch + 1, 1)}:
                self._watch()
                return
            self.view.update(envelope["patch"])
            self.position = here
            self.changed.notify_all()
        if self._on_event is not None:
            self._on_event(envelope)

    def beat(self) -> None:
        """Tell the studio that the station is there."""
        if self._socket.connected:
            self._socket.emit("station", {"table": self._table}, namespace="/live")

    def wait(self, ready: Callable[[Mapping[str, Json]], bool], *, timeout_s: float) -> bool:
        """Wait until `ready(view)`; return whether it came."""
        with self.changed:
            return self.changed.wait_for(
                lambda: bool(self.view) and ready(self.view), timeout=timeout_s
            )

    def close(self) -> None:
        """Leave; works without a server too."""
        self._socket.shutdown()
