"""The process's two clocks, read here and nowhere else."""

import time


def monotonic_ms() -> int:
    """Return milliseconds that only ever grow; for ages and time-outs."""
    return time.monotonic_ns() // 1_000_000


def wall_ms() -> int:
    """Return milliseconds since 1970 UTC; for the stamp on a report only."""
    return time.time_ns() // 1_000_000
