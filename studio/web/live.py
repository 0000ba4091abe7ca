"""The live connection: one socket a screen, which only listens.

It tells what happened after it is stored; bets and commands go by request. A message that gets
lost only delays: whoever misses a number asks again and gets every missed event or a snapshot.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import structlog
from flask import request, session
from flask_login import current_user
from flask_socketio import Namespace, SocketIO, join_room
from socketio.exceptions import ConnectionRefusedError as RefusedConnection

from studio.domain.errors import MalformedError, StudioError
from studio.domain.game import Json
from studio.services.people_ports import Person
from studio.services.ports import Publisher, Role
from studio.web.errors import error_body
from studio.web.guard import READERS, person
from studio.web.login import SESSION_KEY
from studio.web.metrics import Metrics
from studio.web.parse import INTEGER_MAX, name
from studio.web.stations import beat_station
from studio.web.studio import Studio

NAMESPACE: Final = "/live"
MESSAGES_MAX: Final = 60
MESSAGES_WINDOW_S: Final = 10.0
"""A screen sends a clock question and a sign of life every few seconds; more is no screen."""

MESSAGE_BYTES_MAX: Final = 16 * 1024
PING_EVERY_S: Final = 10
PING_TIMEOUT_S: Final = 10
PIT_ROOM: Final = "pit"

log = structlog.get_logger(__name__)


def socket_options(*, redis_url: str | None, async_mode: str) -> dict[str, Any]:
    """Return the options of the socket server; websocket only, same host only."""
    options: dict[str, Any] = {
        "async_mode": async_mode,
        "transports": ["websocket"],
        "allow_upgrades": False,
        "cors_allowed_origins": None,
        "manage_session": False,
        "max_http_buffer_size": MESSAGE_BYTES_MAX,
        "ping_interval": PING_EVERY_S,
        "ping_timeout": PING_TIMEOUT_S,
        "logger": logging.getLogger("socketio"),
        "engineio_logger": logging.getLogger("engineio"),
    }
    if redis_url is not None:
        options["message_queue"] = redis_url
    return options


class SocketPublisher(Publisher):
    """Tells the screens. Never raises: what is stored is stored, and screens ask again."""

    def __init__(self, socketio: SocketIO) -> None:
        """Publish through `socketio`."""
        self._socketio = socketio

    def event(self, envelope: Mapping[str, Json]) -> None:
        """Publish a table event to everybody at the table."""
        self._emit("event", envelope, _table_room(envelope["table"]))

    def wallet(self, player_id: int, message: Mapping[str, Json]) -> None:
        """Tell one player about the money."""
        self._emit("wallet", message, _player_room(player_id))

    def room(self, player_ids: Sequence[int], room_id: str) -> None:
        """Hint these players that something changed in a room."""
        for player_id in player_ids:
            self._emit("room", {"room": room_id}, _player_room(player_id))

    def pit(self, message: Mapping[str, Json]) -> None:
        """Hint the pit that something changed."""
        self._emit("pit", message, PIT_ROOM)

    def _emit(self, kind: str, message: Mapping[str, Json], room: str) -> None:
        if getattr(self._socketio, "server", None) is None:
            return  # a program without a web edge: nobody is listening
        try:
            self._socketio.emit(kind, dict(message), namespace=NAMESPACE, to=room)
        except Exception:  # noqa: BLE001  whatever the queue's library raises, the log is the truth
            log.warning("publish_failed", kind=kind, room=room)


@dataclass(kw_only=True)
class _Connection:
    """One open socket."""

    token: str
    person: Person
    sent: deque[float] = field(default_factory=deque)
    """When its latest messages came, by the monotonic clock."""


class LiveDoor(Namespace):
    """The namespace /live."""

    def __init__(self, studio: Studio, metrics: Metrics) -> None:
        """Serve the tables of `studio`."""
        super().__init__(NAMESPACE)
        self._studio = studio
        self._metrics = metrics
        self._connections: dict[str, _Connection] = {}
        self._lock = threading.Lock()

    def on_connect(self, _auth: object = None) -> None:
        """Let people in who are logged in."""
        if not current_user.is_authenticated:
            raise RefusedConnection("unauthorized")
        one = person()
        with self._lock:
            self._connections[_sid()] = _Connection(token=session[SESSION_KEY], person=one)
        self._metrics.connections.inc()
        if one.role is Role.PLAYER:
            join_room(_player_room(one.id))
        if one.role in READERS:
            join_room(PIT_ROOM)

    def on_disconnect(self, _reason: object = None) -> None:
        """Forget the connection."""
        with self._lock:
            found = self._connections.pop(_sid(), None)
        if found is not None:
            self._metrics.connections.dec()

    def on_watch(self, question: object = None) -> Json:
        """Follow a table; answer with every missed event, or a snapshot."""

        def answer() -> Json:
            fields = _exactly(question, "table", "epoch", "seq")
            table = name(fields["table"], "table")
            epoch, seq = _position(fields["epoch"], "epoch"), _position(fields["seq"], "seq")
            if table not in self._studio.tables.codes():
                raise MalformedError("unknown_table", "There is no such table.")
            # In the room first: an event between the answer and the joining would be a hole.
            try:
                join_room(_table_room(table))
            except ValueError:
                return {"events": []}  # the screen left while its question was under way
            return self._studio.tables.events_since(table, epoch=epoch, seq=seq)

        return self._answered(answer)

    def on_clock(self, _: object = None) -> Json:
        """Answer with the server's time."""
        return self._answered(lambda: {"now_ms": self._studio.clock.now_ms()})

    def on_station(self, message: object = None) -> Json:
        """Take a dealer station's sign of life."""

        def answer() -> Json:
            table = name(_exactly(message, "table")["table"], "table")
            one = self._connections[_sid()]
            answer = beat_station(self._studio, one.person, table)
            # Whoever deals by scanner alone touches no key for hours: dealing is doing.
            self._studio.people.recognise(one.token, keeps=True)
            return answer

        return self._answered(answer)

    def sweep(self) -> None:
        """Close the connections of people whose session ended."""
        with self._lock:
            connections = dict(self._connections)
        for sid, one in connections.items():
            if self._studio.people.recognise(one.token, keeps=False) is None:
                self.disconnect(sid)

    def _answered(self, work: Callable[[], Json]) -> Json:
        """Return what `work` returns, or the fault in the shape of all faults."""
        connection = self._connections.get(_sid())
        if connection is None or _too_many(connection.sent):
            self.disconnect(_sid())
            return {"error": {"code": "too_many_requests", "message": "", "details": {}}}
        if self._studio.people.recognise(connection.token, keeps=False) is None:
            self.disconnect(_sid())
            return {"error": {"code": "unauthorized", "message": "Log in first.", "details": {}}}
        try:
            return work()
        except StudioError as error:
            return {"error": error_body(error)}


def _too_many(sent: deque[float]) -> bool:
    now = time.monotonic()
    while sent and now - sent[0] > MESSAGES_WINDOW_S:
        sent.popleft()
    sent.append(now)
    return len(sent) > MESSAGES_MAX


def _exactly(message: object, *keys: str) -> Mapping[str, Json]:
    if not isinstance(message, dict) or set(message) != set(keys):
        raise MalformedError("message_wrong", f"Send an object with exactly: {', '.join(keys)}.")
    return message


def _position(value: Json, field_name: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= INTEGER_MAX:
        raise MalformedError("not_an_integer", f"{field_name} must be a whole number or null.")
    return value


def _sid() -> str:
    return str(request.sid)  # type: ignore[attr-defined]  # set by flask_socketio


def _table_room(table: str) -> str:
    return f"table:{table}"


def _player_room(player_id: int) -> str:
    return f"player:{player_id}"
