"""The rows of rounds on the simulated disk."""

from collections.abc import Sequence
from dataclasses import replace

from studio.domain.errors import InvariantError
from studio.services.correction_ports import ShoeRound
from studio.services.ports import RoundRow, Rounds
from studio.services.shoe_rounds import ENDS, shoe_rounds
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

    def of_shoe(self, table: str, *, epoch: int) -> Sequence[ShoeRound]:
        """See the port."""
        disk = self._disk
        rows = [row for row in disk.rounds.values() if (row.table, row.epoch) == (table, epoch)]
        bodies = [one.body for one in disk.logs.get((table, epoch), []) if one.kind in ENDS]
        bodies += [one.body for one in disk.corrections_of(table, epoch)]
        return shoe_rounds(sorted(rows, key=lambda row: row.number), bodies)

    def get(self, round_id: str) -> RoundRow | None:
        """See the port."""
        return self._disk.rounds.get(round_id)

    def recent(self, table: str | None, *, limit: int, before_ms: int | None) -> Sequence[RoundRow]:
        """See the port."""
        rows = [row for row in self._disk.rounds.values() if table in (None, row.table)]
        rows.sort(key=lambda row: (row.opened_ms, row.id), reverse=True)
        return [row for row in rows if before_ms is None or row.opened_ms < before_ms][:limit]
