"""`bench fanout`: how long until the last of many screens has a table's event.

Time runs from the event's own `at_ms`, which is taken before its commit, to the moment that the
last client has read the message. Clients are processes of their own on the same machine, so that
what they cost is in the figures, ours and the floor's alike.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import requests

from studio.bench.doors import (
    DEALER,
    TABLE,
    answers_of,
    memory_kib,
    own_processes,
    running_studio,
    start_worker,
)
from studio.bench.report import Goal, Say, median, percentile, print_faults, show, show_goals
from studio.bench.scratch import scratch_database
from studio.demo.processes import Processes, free_port, wait_until_ready
from studio.domain.game import Json

CLIENT_PROCESSES = 2
OPEN_S = 120
LATE_S = 30
PAUSE_S = 0.2
PAUSE_A_CLIENT_S = 0.0005
KIB_A_CLIENT_MAX = 60.0
OVER_WEBSOCKETS_MAX = 2.2
FLOOR = "floor: bare gevent sockets, one frame built once"


@dataclass(frozen=True, kw_only=True)
class Spread:
    """What the clients of one server heard."""

    method: str
    clients: int
    events: int
    last_ms: list[float]
    """For each event, until the last client had it."""
    mean_ms: list[float]
    missing: int
    doubled: int
    disordered: int
    message_bytes: int
    kib_a_client: float | None

    def as_json(self) -> dict[str, Json]:
        """Return the figures for machines."""
        kib = None if self.kib_a_client is None else round(self.kib_a_client, 1)
        return {
            "method": self.method,
            "last_ms": {
                "median": round(median(self.last_ms), 2),
                "p95": round(percentile(self.last_ms, 0.95), 2),
            },
            "mean_ms": round(median(self.mean_ms), 2),
            "kib_per_client": kib,
            "message_bytes": self.message_bytes,
            "missing": self.missing,
            "doubled": self.doubled,
            "out_of_order": self.disordered,
        }


@dataclass(frozen=True, kw_only=True)
class FanoutResult:
    """What one run measured."""

    studio: Spread
    floor: Spread

    @property
    def ratio(self) -> float:
        """Ours over the floor, medians of the last client."""
        return median(self.studio.last_ms) / max(median(self.floor.last_ms), 0.001)

    @property
    def faults(self) -> list[str]:
        """Events that a client of the studio did not get once and in order."""
        return [
            f"{what} {count}"
            for what, count in (
                ("missing", self.studio.missing),
                ("doubled", self.studio.doubled),
                ("out_of_order", self.studio.disordered),
            )
            if count
        ]

    @property
    def goals(self) -> list[Goal]:
        """The goals; the peer that the first one names is no dependency of this project."""
        return [
            Goal(
                name="last client over the websockets library, one worker",
                value=None,
                at_most=OVER_WEBSOCKETS_MAX,
            ),
            Goal(
                name="memory of the server a client, KiB",
                value=self.studio.kib_a_client,
                at_most=KIB_A_CLIENT_MAX,
            ),
        ]

    def as_json(self) -> dict[str, Json]:
        """Return everything for machines."""
        return {
            "bench": "fanout",
            "clients": self.studio.clients,
            "events": self.studio.events,
            "studio": self.studio.as_json(),
            "floor": self.floor.as_json(),
            "ratio": round(self.ratio, 3),
            "goals": [goal.as_json() for goal in self.goals],
            "faults": self.faults,
        }

    def show(self) -> None:
        """Print everything for people."""
        show(
            f"{self.studio.events} events to {self.studio.clients:,} clients",
            ("server", "last, median ms", "last, p95 ms", "mean ms", "KiB a client", "bytes"),
            [_line(self.studio), _line(self.floor)],
        )
        show_goals(self.goals)
        print_faults(self.faults, checked="The count of messages")


def measure_fanout(*, clients: int, events: int, say: Say) -> FanoutResult:
    """Measure the studio's live connection and the floor.

    Raises:
        ProcessError: a server or its clients did not start.
        TimeoutError: clients could not connect in time.
    """
    say(f"The studio, {clients:,} clients")
    studio = _studio(clients=clients, events=events)
    say(f"The floor, {clients:,} clients")
    floor = _floor(clients=clients, events=events, message_bytes=studio.message_bytes)
    return FanoutResult(studio=studio, floor=floor)


def _studio(*, clients: int, events: int) -> Spread:
    with (
        scratch_database(None) as scratch,
        running_studio(scratch, players=1, betting=False) as studio,
        own_processes() as processes,
    ):
        dealer = studio.login(DEALER)
        seats = ("take_seat", "leave_seat")

        def publish(number: int) -> None:
            dealer.command(TABLE, seats[number % 2])

        return _spread(
            processes,
            method="the studio: gunicorn gevent, one worker",
            plan={
                "port": studio.port,
                "path": "/socket.io/?EIO=4&transport=websocket",
                "headers": {"Cookie": studio.login("player1").cookies},
                "watch": TABLE,
            },
            clients=clients,
            events=events,
            publish=publish,
            held_kib=studio.memory_kib,
        )


def _floor(*, clients: int, events: int, message_bytes: int) -> Spread:
    port = free_port()
    with own_processes() as processes:
        processes.start("floor", ["-m", "studio.bench.floor", str(port), str(message_bytes)], {})
        wait_until_ready(processes, f"http://127.0.0.1:{port}")
        pid = processes.started["floor"].pid

        def publish(_: int) -> None:
            requests.post(f"http://127.0.0.1:{port}/publish", timeout=LATE_S)

        return _spread(
            processes,
            method=FLOOR,
            plan={"port": port, "path": "/ws", "headers": {}, "watch": None},
            clients=clients,
            events=events,
            publish=publish,
            held_kib=lambda: memory_kib(pid),
        )


def _spread(
    processes: Processes,
    *,
    method: str,
    plan: Mapping[str, Json],
    clients: int,
    events: int,
    publish: Callable[[int], None],
    held_kib: Callable[[], int | None],
) -> Spread:
    before_kib = held_kib()
    pause_s = PAUSE_S + clients * PAUSE_A_CLIENT_S
    shares = [clients // CLIENT_PROCESSES] * CLIENT_PROCESSES
    shares[0] += clients - sum(shares)
    files, signs = [], []
    for number, share in enumerate(share for share in shares if share):
        name = f"clients{number}"
        sign = processes.folder / f"{name}.ready"
        whole = {
            **plan,
            "host": "127.0.0.1",
            "clients": share,
            "events": events,
            "ready": str(sign),
            "timeout_s": events * (pause_s + 1) + LATE_S,
        }
        files.append((name, start_worker(processes, name, "listeners", whole)))
        signs.append(sign)
    _wait_for(processes, signs, clients)
    after_kib = held_kib()
    pause = threading.Event()
    for number in range(events):
        publish(number)
        pause.wait(pause_s)
    answers = answers_of(processes, files, timeout_s=events * (pause_s + 1) + 2 * LATE_S)
    grown = None if before_kib is None or after_kib is None else after_kib - before_kib
    return _joined(
        answers,
        method=method,
        clients=clients,
        events=events,
        kib_a_client=None if grown is None else grown / clients,
    )


def _wait_for(processes: Processes, signs: list[Path], clients: int) -> None:
    until_s = time.monotonic() + OPEN_S
    pause = threading.Event()
    while not all(sign.exists() and sign.read_text() for sign in signs):
        processes.check()
        if time.monotonic() > until_s:
            raise TimeoutError(f"{clients} clients did not connect within {OPEN_S} s.")
        pause.wait(0.05)
    connected = sum(int(sign.read_text(encoding="ascii")) for sign in signs)
    if connected != clients:
        raise TimeoutError(f"Only {connected} of {clients} clients could connect.")


def _joined(
    answers: list[Json], *, method: str, clients: int, events: int, kib_a_client: float | None
) -> Spread:
    heard: dict[str, list[Json]] = {}
    for answer in answers:
        for seq, one in answer["events"].items():
            heard.setdefault(seq, []).append(one)
    counts = [sum(one["heard"] for one in parts) for parts in heard.values()]
    counts += [0] * (events - len(counts))
    return Spread(
        method=method,
        clients=clients,
        events=events,
        last_ms=[max(one["last_ms"] for one in parts) for parts in heard.values()],
        mean_ms=[
            sum(one["sum_ms"] for one in parts) / sum(one["heard"] for one in parts)
            for parts in heard.values()
        ],
        missing=sum(max(0, clients - count) for count in counts),
        doubled=sum(max(0, count - clients) for count in counts),
        disordered=sum(answer["disordered"] for answer in answers),
        message_bytes=max(answer["message_bytes"] for answer in answers),
        kib_a_client=kib_a_client,
    )


def _line(one: Spread) -> tuple[str, ...]:
    figures = one.as_json()
    kib = figures["kib_per_client"]
    return (
        one.method,
        f"{figures['last_ms']['median']:.1f}",
        f"{figures['last_ms']['p95']:.1f}",
        f"{figures['mean_ms']:.1f}",
        "?" if kib is None else f"{kib:.1f}",
        f"{one.message_bytes:,}",
    )
