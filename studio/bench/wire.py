"""WebSockets at their barest, on gevent's sockets: what listeners and the floor speak.

A comfortable client would cost more than the broadcast that is measured.
"""

import base64
import hashlib
import os
import struct
from collections.abc import Mapping
from typing import Any

from gevent import socket

MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
"""The constant of RFC 6455, section 1.3."""

HEAD_MAX = 16_384
TEXT, CLOSE, PING = 0x1, 0x8, 0x9
MASK = b"\0\0\0\0"
"""A mask is demanded of clients; this one costs nothing and hides nothing on a loopback."""


class WireClosedError(Exception):
    """The other side has gone."""


class Wire:
    """One open WebSocket."""

    def __init__(self, raw: Any, rest: bytes = b"") -> None:
        """Take over a connected socket after the handshake."""
        self._raw = raw
        self._rest = rest

    def read(self) -> str:
        """Return the next text.

        Raises:
            WireClosedError: the other side closed.
        """
        while True:
            head = self._exactly(2)
            opcode, length = head[0] & 0x0F, head[1] & 0x7F
            if length == 126:
                length = struct.unpack("!H", self._exactly(2))[0]
            elif length == 127:
                length = struct.unpack("!Q", self._exactly(8))[0]
            mask = self._exactly(4) if head[1] & 0x80 else b""
            payload = self._exactly(length)
            if opcode == CLOSE:
                raise WireClosedError
            if opcode == TEXT:
                assert mask in {b"", MASK}
                return payload.decode()

    def write(self, text: str) -> None:
        """Send a text as a client."""
        self._raw.sendall(frame(text.encode(), masked=True))

    def close(self) -> None:
        """Hang up."""
        self._raw.close()

    def _exactly(self, count: int) -> bytes:
        while len(self._rest) < count:
            try:
                part = self._raw.recv(65_536)
            except OSError as error:
                raise WireClosedError from error
            if not part:
                raise WireClosedError
            self._rest += part
        found, self._rest = self._rest[:count], self._rest[count:]
        return found


def frame(payload: bytes, *, masked: bool = False) -> bytes:
    """Return one text frame."""
    flag = 0x80 if masked else 0
    length = len(payload)
    if length < 126:
        head = struct.pack("!BB", 0x80 | TEXT, flag | length)
    elif length < 65_536:
        head = struct.pack("!BBH", 0x80 | TEXT, flag | 126, length)
    else:
        head = struct.pack("!BBQ", 0x80 | TEXT, flag | 127, length)
    return head + (MASK if masked else b"") + payload


def accept_key(key: bytes) -> bytes:
    """Return the answer to a handshake's key."""
    return base64.b64encode(hashlib.sha1(key + MAGIC).digest())  # noqa: S324  RFC 6455 demands it


def connect(host: str, port: int, path: str, headers: Mapping[str, str]) -> Wire:
    """Open a WebSocket.

    Raises:
        ConnectionError: the server refused.
    """
    raw = socket.create_connection((host, port), timeout=60)
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    lines = {
        "Host": f"{host}:{port}",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        **headers,
    }
    raw.sendall(
        f"GET {path} HTTP/1.1\r\n".encode()
        + "".join(f"{name}: {value}\r\n" for name, value in lines.items()).encode()
        + b"\r\n"
    )
    head, rest = read_head(raw)
    if b" 101 " not in head.split(b"\r\n", 1)[0]:
        raise ConnectionError(f"The server refused a socket: {head[:80]!r}")
    raw.settimeout(None)
    return Wire(raw, rest)


def read_head(raw: Any) -> tuple[bytes, bytes]:
    """Return the head of an HTTP message and what came after it.

    Raises:
        ConnectionError: it does not come, or is too long.
    """
    got = b""
    while b"\r\n\r\n" not in got:
        part = raw.recv(4096)
        if not part or len(got) > HEAD_MAX:
            raise ConnectionError("No HTTP head came.")
        got += part
    head, _, rest = got.partition(b"\r\n\r\n")
    return head, rest
