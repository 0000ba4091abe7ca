"""The dealer's hand over the simulated camera: puts drawn cards under it and takes them away."""

import json
import socket
from pathlib import Path

REPLY_BYTES_MAX = 4096


class CameraHand:
    """Talks to the simulated camera over its local socket, one line a request."""

    def __init__(self, path: Path, *, timeout_s: float = 10.0) -> None:
        """Remember where the camera listens."""
        self._path = path
        self._timeout_s = timeout_s

    def place(self, digits: str, *, trouble: str = "none") -> None:
        """Put a card down; `trouble` says what keeps it from being read."""
        self._ask({"op": "place", "code": digits, "trouble": trouble})

    def clear(self) -> None:
        """Take the card away."""
        self._ask({"op": "clear"})

    def cut_card(self) -> None:
        """Show the cut card."""
        self._ask({"op": "cut_card"})

    def _ask(self, message: dict[str, str]) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(self._timeout_s)
            line.connect(str(self._path))
            line.sendall(json.dumps(message).encode() + b"\n")
            reply = json.loads(line.makefile("rb").readline(REPLY_BYTES_MAX) or b"{}")
        if not reply.get("ok"):
            raise ConnectionError(f"The simulated camera refused {message['op']}: {reply}")
