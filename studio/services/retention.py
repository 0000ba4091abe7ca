"""How long each kind of record is kept. What was played and what was paid is never forgotten.

The log, sealed cards, rounds, wagers, endings, entries and the audit trail stay for good: `audit`
works from them. The rest serves for a while and then goes, a little at a time.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from studio.services.ports import Units
from studio.services.retention_ports import DAY_MS, Kept

ROWS_AT_A_TIME = 2_000
"""So many rows go in one transaction: play hardly waits for it."""
TURNS_MAX = 10_000
"""No studio has more to forget in a day; the rest goes the next time."""


@dataclass(frozen=True, kw_only=True)
class RetentionService:
    """Forgets what has been kept long enough."""

    units: Units
    days: Mapping[Kept, int]

    def run(self) -> dict[str, int]:
        """Forget everything that is due, in many small transactions; return counts by kind."""
        return {kind.value: self._forget(kind) for kind in Kept}

    def _forget(self, kind: Kept) -> int:
        gone = 0
        for _ in range(TURNS_MAX):
            with self.units.write() as uow:
                before_ms = uow.now_ms() - self.days[kind] * DAY_MS
                count = uow.forgetting.forget(kind, before_ms=before_ms, rows_max=ROWS_AT_A_TIME)
                uow.commit()
            gone += count
            if count < ROWS_AT_A_TIME:
                break
        return gone
