"""The demo's processes: started with their own settings, watched, ended by their id."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import requests

ROOT = Path(__file__).resolve().parent.parent.parent
END_S = 10
READY_S = 60
PR_SET_PDEATHSIG = 1


class ProcessError(Exception):
    """A process of the demo did not start, or ended by itself."""


@dataclass
class Processes:
    """Server and scanner of one demo; leaving the block ends them."""

    folder: Path
    started: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str, arguments: list[str], environment: Mapping[str, str]) -> None:
        """Start a Python program of this project; its output goes to `<name>.log`."""
        with (self.folder / f"{name}.log").open("ab") as log:
            self.started[name] = subprocess.Popen(  # noqa: S603  our own programs, no shell
                [sys.executable, *arguments],
                cwd=ROOT,
                env=clean_environment() | dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # Ctrl-C in a terminal is for the demo alone: it ends its processes in order.
                start_new_session=True,
                preexec_fn=_end_with_parent if sys.platform == "linux" else None,
            )

    def check(self) -> None:
        """Raise when a process has ended.

        Raises:
            ProcessError: what it died of, or the last line of its log.
        """
        for name, process in self.started.items():
            status = process.poll()
            if status is None:
                continue
            if status < 0:
                what = signal.Signals(-status).name
                raise ProcessError(f"The {name} was ended from outside ({what}).")
            lines = (self.folder / f"{name}.log").read_text(errors="replace").split("\n")
            last = next((line.strip() for line in reversed(lines) if line.strip()), "no word")
            raise ProcessError(f"The {name} ended by itself with status {status}: {last}")

    def end(self) -> None:
        """End all, the youngest first: ask, wait, then force."""
        for process in reversed(self.started.values()):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in reversed(self.started.values()):
            try:
                process.wait(timeout=END_S)
            except (subprocess.TimeoutExpired, KeyboardInterrupt):
                # Asked a second time, or deaf: nothing may be left behind.
                process.kill()
                process.wait()
            # A server that was killed leaves its workers behind; they are in its group.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        self.started.clear()

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *error: object) -> None:
        self.end()


def _end_with_parent() -> None:
    """Ask the kernel to end this child when the demo dies without a word (kill -9).

    Only children of the main thread may be bound so: the signal comes when that thread ends.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def clean_environment() -> dict[str, str]:
    """Return the environment without anybody's studio settings: the demo makes its own."""
    return {key: value for key, value in os.environ.items() if not key.startswith("STUDIO_")}


def free_port() -> int:
    """Return a port of the loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_ready(processes: Processes, url: str) -> None:
    """Wait until the server answers.

    Raises:
        ProcessError: it ended, or stayed silent for READY_S.
    """
    until_s = time.monotonic() + READY_S
    while time.monotonic() < until_s:
        processes.check()
        try:
            if requests.get(f"{url}/login", timeout=2).ok:
                return
        except requests.ConnectionError:
            threading.Event().wait(0.05)
        except requests.Timeout:
            continue
    raise ProcessError(f"The server does not answer at {url}.")
