"""The demo's processes: started with their own settings, watched, ended by their id."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import requests

ROOT = Path(__file__).resolve().parent.parent.parent
END_S = 10
READY_S = 60


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
            )

    def check(self) -> None:
        """Raise when a process has ended.

        Raises:
            ProcessError: with the last lines of its log.
        """
        for name, process in self.started.items():
            if process.poll() is not None:
                lines = (self.folder / f"{name}.log").read_text(errors="replace").splitlines()
                tail = "\n".join(lines[-15:])
                raise ProcessError(f"The {name} ended with status {process.returncode}.\n{tail}")

    def end(self) -> None:
        """End all, the youngest first: ask, wait, then force."""
        for process in reversed(self.started.values()):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in reversed(self.started.values()):
            try:
                process.wait(timeout=END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.started.clear()

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *error: object) -> None:
        self.end()


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
    for _ in range(READY_S * 10):
        processes.check()
        try:
            if requests.get(f"{url}/login", timeout=2).ok:
                return
        except requests.ConnectionError:
            threading.Event().wait(0.1)
    raise ProcessError(f"The server does not answer at {url}.")
