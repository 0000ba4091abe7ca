"""A process that posts wagers over HTTP: one connection a client, kept alive, one at a time.

Plain sockets, because a comfortable client would cost more than the server that is measured.
"""

import json
import socket
import threading
import time
import uuid
from dataclasses import dataclass, field

from studio.bench.doors import worker_files
from studio.domain.game import Json

TIMEOUT_S = 20
REPEAT_EVERY = 50
"""So many wagers apart one is sent twice, as a browser does that lost the answer."""


class Connection:
    """One kept-alive HTTP connection."""

    def __init__(self, host: str, port: int) -> None:
        """Connect."""
        self._socket = socket.create_connection((host, port), timeout=TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = b""

    def post(self, head: bytes, body: bytes) -> int:
        """Send a request and return the answer's status.

        Raises:
            ConnectionError: the server hung up.
        """
        self._socket.sendall(head + b"%d\r\n\r\n" % len(body) + body)
        while b"\r\n\r\n" not in self._rest:
            self._more()
        answer_head, _, rest = self._rest.partition(b"\r\n\r\n")
        length = 0
        for line in answer_head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                length = int(value)
        self._rest = rest
        while len(self._rest) < length:
            self._more()
        self._rest = self._rest[length:]
        return int(answer_head[9:12])

    def _more(self) -> None:
        part = self._socket.recv(65_536)
        if not part:
            raise ConnectionError("The server closed the connection.")
        self._rest += part

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


@dataclass
class Tally:
    """What one client saw."""

    accepted: int = 0
    repeated: int = 0
    twice: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    latencies_ms: list[float] = field(default_factory=list)


def run_client(plan: Json, client: Json, tally: Tally, until_s: float) -> None:
    """Post wagers until the time is over."""
    connection = Connection(plan["host"], plan["port"])
    headers = {
        "Host": f"{plan['host']}:{plan['port']}",
        "Content-Type": "application/json",
        **client["headers"],
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"POST {plan['path']} HTTP/1.1\r\n{lines}Content-Length: ".encode()
    try:
        while time.monotonic() < until_s:
            body = json.dumps({"id": str(uuid.uuid4()), **client["body"]}).encode()
            started = time.perf_counter()
            status = connection.post(head, body)
            tally.latencies_ms.append((time.perf_counter() - started) * 1000)
            if status == 201:
                tally.accepted += 1
            else:
                tally.refused[str(status)] = tally.refused.get(str(status), 0) + 1
            if tally.accepted % REPEAT_EVERY == 1 and status == 201:
                again = connection.post(head, body)
                tally.repeated += again == 200
                tally.twice += again == 201
    finally:
        connection.close()


def main() -> None:
    """Run the plan of the command line and write the answer."""
    plan_file, answer_file = worker_files()
    plan = json.loads(plan_file.read_text(encoding="utf-8"))
    tallies = [Tally() for _ in plan["clients"]]
    until_s = time.monotonic() + plan["seconds"]
    threads = [
        threading.Thread(target=run_client, args=(plan, client, tally, until_s))
        for client, tally in zip(plan["clients"], tallies, strict=True)
    ]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - started
    refused: dict[str, int] = {}
    for tally in tallies:
        for status, count in tally.refused.items():
            refused[status] = refused.get(status, 0) + count
    answer = {
        "seconds": seconds,
        "accepted": sum(tally.accepted for tally in tallies),
        "repeated": sum(tally.repeated for tally in tallies),
        "twice": sum(tally.twice for tally in tallies),
        "refused": refused,
        "latencies_ms": [one for tally in tallies for one in tally.latencies_ms],
    }
    answer_file.write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main()
