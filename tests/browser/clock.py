"""The studio on a clock that a browser test sets forward: nobody waits for a window to close.

gunicorn runs `tests.browser.clock:create_app()` instead of the studio's own entrance; all else is
the studio as it is served. By how much the clock goes before the machine's lies in a small file
that both processes map.
"""

import mmap
import os
from pathlib import Path

from flask import Flask

import app
from studio.web.system import SystemClock

VARIABLE = "BROWSER_TEST_CLOCK"
_BYTES = 8


class Forward:
    """How many milliseconds a studio's clock goes before the machine's; kept in a file."""

    def __init__(self, file: Path) -> None:
        if not file.exists():
            file.write_bytes(bytes(_BYTES))
        with file.open("r+b") as opened:
            self._map = mmap.mmap(opened.fileno(), _BYTES)

    @property
    def ms(self) -> int:
        return int.from_bytes(self._map[:], "little")

    def add(self, ms: int) -> None:
        """Let so much time pass; a clock is never set back."""
        assert ms >= 0
        self._map[:] = (self.ms + ms).to_bytes(_BYTES, "little")


def create_app() -> Flask:
    forward, machine_ms = Forward(Path(os.environ[VARIABLE])), SystemClock.now_ms
    SystemClock.now_ms = lambda clock: machine_ms(clock) + forward.ms  # type: ignore[method-assign]
    return app.create_app(async_mode="gevent")
