"""The rows of rounds on the simulated disk."""

from collections.abc import Sequence
from dataclasses import replace

from studio.domain.errors import InvariantError
from studio.services.ports import RoundRow, Rounds
from studio.simulation.book import Hook
from studio.simulation.disk import Disk


class MemoryRounds(Rounds):
    """The rows of the rounds."""

    def __init__(self, disk: Disk, *, hook: Hook) -> None:
        self._disk = disk
        self._hook = hook

    def insert(self, row: RoundRow) -> None:
        """See the port."""
        self._hook("insert_round")
        assert row.id not in self._disk.rounds
        self._disk.set_item(self._disk.rounds, row.id, row)

    def update_phase(self, round_id: str, phase: str, *, settlement_version: int) -> None:
        """See the port."""
        self._hook("update_phase")
        row = self._disk.rounds.get(round_id)
        if row is None:
            raise InvariantError("unknown_round", f"There is no round {round_id}.")
        changed = replace(row, phase=str(phase), settlement_version=settlement_version)
        self._disk.set_item(self._disk.rounds, round_id, changed)

    def note_correction(self, round_id: str, *, version: int, epoch: int, seq: int) -> None:
        """See the port."""
        self._hook("note_correction")
        self._disk.set_item(self._disk.corrections, (round_id, version), (epoch, seq))

    def get(self, round_id: str) -> RoundRow | None:
        """See the port."""
        return self._disk.rounds.get(round_id)

    def recent(self, table: str | None, *, limit: int, before_ms: int | None) -> Sequence[RoundRow]:
        """See the port."""
        rows = [row for row in self._disk.rounds.values() if table in (None, row.table)]
        rows.sort(key=lambda row: (row.opened_ms, row.id), reverse=True)
        return [row for row in rows if before_ms is None or row.opened_ms < before_ms][:limit]
