"""What a seed of a layer did and found, and children that may die."""

import math
import os
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

CHILD_MAX_S = 120
"""A child that lives longer hangs; the kernel ends it."""
FAILED = 70


@dataclass
class Outcome:
    """The cases of one seed."""

    seed: int
    cases: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    """How often what happened: kinds of cases, and what became of them."""
    violations: list[str] = field(default_factory=list)
    until_s: float = math.inf
    """When to leave the rest out, by the monotonic clock."""

    @property
    def over(self) -> bool:
        """Return whether the time is up."""
        return time.monotonic() >= self.until_s

    def need(self, kept: bool, what: str) -> None:
        """Note a violation unless what must hold was kept."""
        if not kept:
            self.violations.append(what)


def in_child(work: Callable[[], int | None]) -> int:
    """Do `work` in a forked process; return how that ended, as `os.waitpid` says.

    What `work` returns is the exit status.

    Nothing may be open that a fork must not share: connections, threads.
    """
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(CHILD_MAX_S)
            os._exit(work() or 0)
        except BaseException:  # noqa: BLE001 - told, and the parent sees the status
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(FAILED)
    return os.waitpid(child, 0)[1]
