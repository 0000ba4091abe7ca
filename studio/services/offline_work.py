"""Work of a scanner whose reports do not come through: since when, and how many came afterwards.

A spell begins when the scanner's link is lost or its heart-beat says that reports wait, and ends
with the first heart-beat that says none does. Kept in memory: worth nothing after a restart.
"""

import threading
from dataclasses import dataclass

from studio.domain.game import Json
from studio.services.ports import Clock


@dataclass(kw_only=True)
class _Spell:
    """One stretch of offline work."""

    since_ms: int
    sent: int = 0
    """Reports that came in since."""
    ended_ms: int | None = None


class OfflineWork:
    """Remembers the spell of each table's scanner, and how the one before ended."""

    def __init__(self, *, clock: Clock) -> None:
        """Begin with every scanner at hand."""
        self._clock = clock
        self._lock = threading.Lock()
        self._latest: dict[str, _Spell] = {}

    def heard(self, table: str, *, queued: int) -> None:
        """Take a heart-beat that says how many reports wait."""
        with self._lock:
            now_ms = self._clock.now_ms()
            spell = self._running(table)
            if queued > 0 and spell is None:
                self._latest[table] = _Spell(since_ms=now_ms)
            elif queued <= 0 and spell is not None:
                spell.ended_ms = now_ms

    def silent(self, table: str, *, since_ms: int) -> None:
        """Note that the scanner has not been heard for longer than its limit."""
        with self._lock:
            if self._running(table) is None:
                self._latest[table] = _Spell(since_ms=since_ms)

    def report_taken(self, table: str) -> None:
        """Count a report that came in and is no repetition."""
        with self._lock:
            spell = self._running(table)
            if spell is not None:
                spell.sent += 1

    def of(self, table: str) -> dict[str, Json]:
        """Return how long the scanner has worked offline, or how long ago it did last.

        `offline_ms` is None when it does not, `back_ms` when it does or never did; `sent` counts
        the reports that came in since that spell began.
        """
        with self._lock:
            now_ms = self._clock.now_ms()
            spell = self._latest.get(table)
            if spell is None:
                return {"offline_ms": None, "back_ms": None, "sent": 0}
            ended_ms = spell.ended_ms
            return {
                "offline_ms": now_ms - spell.since_ms if ended_ms is None else None,
                "back_ms": None if ended_ms is None else now_ms - ended_ms,
                "sent": spell.sent,
            }

    def _running(self, table: str) -> _Spell | None:
        spell = self._latest.get(table)
        return spell if spell is not None and spell.ended_ms is None else None
