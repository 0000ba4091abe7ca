"""The audit on a schedule, in a process of its own: play does not wait for it. Then old records go.

The process raises and clears the pit's alarm itself; here is only when it runs, and what happens
when it can't.
"""

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import structlog

HOUR_S: Final = 3_600
FIRST_AFTER_S: Final = 60.0
"""The start of the studio is busy enough."""
AGAIN_AFTER_S: Final = 600.0
"""An audit that could not run is tried again so soon."""
CLEAN, FAULTS = 0, 1

log = structlog.get_logger(__name__)

Run = Callable[[], int]
"""Runs one audit to its end and returns its exit status."""


class Audits:
    """Runs audit after audit until the process ends."""

    def __init__(
        self,
        *,
        run: Run,
        every_hours: float,
        sleep: Callable[[float], None],
        tell: Callable[[], None],
    ) -> None:
        """Keep the parts; `tell` hints the pit that alarms may have changed."""
        self._run = run
        self._every_s = every_hours * HOUR_S
        self._sleep = sleep
        self._tell = tell

    def forever(self) -> None:
        """Wait, audit, wait."""
        self._sleep(FIRST_AFTER_S)
        while True:
            self._sleep(self.once())

    def once(self) -> float:
        """Audit once and return how long to wait for the next, seconds."""
        try:
            status = self._run()
        except OSError:
            log.exception("audit_not_run")
            return AGAIN_AFTER_S
        if status not in (CLEAN, FAULTS):
            log.error("audit_not_run", status=status)
            return AGAIN_AFTER_S
        log.log(40 if status == FAULTS else 20, "audited", clean=status == CLEAN)
        self._tell()
        return self._every_s


def audit_process(root: Path, *, database_url: str, environment: Mapping[str, str]) -> Run:
    """Return what runs `app.py audit --alarm` and, when all is well, `prune`, to their ends."""

    def ask(*command: str) -> int:
        done = subprocess.run(  # noqa: S603  our own program
            [sys.executable, str(root / "app.py"), *command, "--json"],
            env={**environment, "STUDIO_DATABASE_URL": database_url},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        return done.returncode

    def run() -> int:
        status = ask("audit", "--alarm")
        if status == CLEAN:
            # Nothing is deleted from a studio in which something is wrong.
            ask("prune")
        return status

    return run
