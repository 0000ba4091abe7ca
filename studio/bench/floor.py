"""The floor of a fan-out: one frame, built once, written to every socket. Nothing else.

No login, no rooms, no protocol above the WebSocket, no database. `POST /publish` sends a message
of the given length to everybody.
"""

import json
import sys
import time
from typing import Any

from gevent import socket
from gevent.server import StreamServer

from studio.bench.doors import allow_many_files
from studio.bench.wire import Wire, WireClosedError, accept_key, frame, read_head

BACKLOG = 4_096


class Floor:
    """All open sockets and the number of the last message."""

    def __init__(self, message_bytes: int) -> None:
        """Messages are padded to `message_bytes`."""
        self._padding = "." * message_bytes
        self._message_bytes = message_bytes
        self._open: set[Any] = set()
        self._seq = 0

    def serve(self, raw: Any, _address: object) -> None:
        """Serve one connection."""
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            head, rest = read_head(raw)
        except OSError:
            return
        if not head.startswith(b"GET /ws"):
            if head.startswith(b"POST /publish"):
                self._publish()
            raw.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        key = next(
            line.partition(b":")[2].strip()
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"sec-websocket-key:")
        )
        raw.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + accept_key(key) + b"\r\n\r\n"
        )
        self._open.add(raw)
        try:
            wire = Wire(raw, rest)
            while True:
                wire.read()
        except WireClosedError:
            self._open.discard(raw)

    def _publish(self) -> None:
        self._seq += 1
        envelope = {"seq": self._seq, "at_ms": time.time_ns() // 1_000_000, "padding": ""}
        envelope["padding"] = self._padding[len(json.dumps(envelope)) :]
        message = frame(json.dumps(envelope).encode())
        for raw in list(self._open):
            try:
                raw.sendall(message)
            except OSError:
                self._open.discard(raw)


def main() -> None:
    """Serve on the loopback: `floor PORT MESSAGE_BYTES`."""
    allow_many_files()
    floor = Floor(int(sys.argv[2]))
    StreamServer(("127.0.0.1", int(sys.argv[1])), floor.serve, backlog=BACKLOG).serve_forever()


if __name__ == "__main__":
    main()
