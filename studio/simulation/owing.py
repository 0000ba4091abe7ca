"""What players owe in the simulated studio."""

from collections.abc import Sequence

from studio.domain.errors import RefusedError
from studio.services.owed_ports import Owed, OwedChange, OwedDeed
from studio.simulation.book import Hook
from studio.simulation.disk import ADJUSTMENTS, Disk


class MemoryOwed(Owed):
    """See the port; nobody there asks why something is owed."""

    def __init__(self, disk: Disk, *, hook: Hook) -> None:
        self._disk = disk
        self._hook = hook

    def settle(
        self, deed: OwedDeed, *, id: str, player_id: int, amount_minor: int, reason: str, by: int
    ) -> bool:
        """See the port."""
        self._hook("settle_owed")
        content = (deed, player_id, amount_minor)
        known = self._disk.cash_ids.get(id)
        if known is not None:
            if known != content:
                raise RefusedError("transfer_id_reused", "The id was used.", id=id)
            return False
        have = self._disk.balances[player_id]
        if amount_minor > have.owed_minor:
            raise RefusedError("more_than_owed", "Less is owed.")
        if deed is OwedDeed.COLLECT and amount_minor > have.balance_minor:
            raise RefusedError("balance_short", "Less is there.")
        self._disk.set_item(self._disk.cash_ids, id, content)
        transfer = self._disk.new_transfer()
        self._disk.owe(transfer, player_id, -amount_minor)
        if deed is OwedDeed.COLLECT:
            self._disk.move(transfer, player_id, free_minor=-amount_minor, held_minor=0)
        else:
            self._disk.post(transfer, ADJUSTMENTS, -amount_minor)
        return True

    def changes(self, player_id: int, *, limit: int) -> Sequence[OwedChange]:
        """See the port."""
        return ()
