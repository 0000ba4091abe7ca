"""What players owe, in SQL: collected from the wallet, written off, and why it is owed.

What is written off comes from the house's account `adjustments`: the bank goes on to say what the
tables won and lost, and what the house gave up stands by itself.
"""

from collections.abc import Sequence

from sqlalchemy import ColumnClause, Connection, literal_column, select, update

from studio.domain.errors import RefusedError
from studio.services.owed_ports import Owed, OwedChange, OwedDeed
from studio.store.clock import UnitClock
from studio.store.correction_tables import player_owed
from studio.store.ledger import (
    HouseAccounts,
    LockedPlayer,
    Movement,
    balance_short,
    book,
    lock_player,
    move,
    moved_before,
)
from studio.store.tables import (
    LEG_ADJUSTMENT,
    LEG_OWED,
    LEG_WALLET,
    TransferKind,
    entry,
    transfer,
)


class SqlOwed(Owed):
    """Owed money on one connection's transaction."""

    def __init__(self, connection: Connection, *, clock: UnitClock, house: HouseAccounts) -> None:
        self._connection = connection
        self._clock = clock
        self._house = house

    def settle(
        self, deed: OwedDeed, *, id: str, player_id: int, amount_minor: int, reason: str, by: int
    ) -> bool:
        """See the port."""
        movement = Movement(
            kind=TransferKind(deed.value),
            player_id=player_id,
            amount_minor=amount_minor,
            client_id=id,
            reason=reason,
            by=by,
        )
        player = lock_player(self._connection, player_id)
        if moved_before(self._connection, movement, leg=LEG_OWED):
            return False
        mine = player_owed.c.player_id == player_id
        owed = self._connection.execute(select(player_owed).where(mine)).first()
        if player is None or owed is None or amount_minor > owed.owed_minor:
            raise RefusedError(
                "more_than_owed",
                "The player owes less than that; nothing was moved.",
                amount_minor=amount_minor,
                owed_minor=owed.owed_minor if owed else 0,
            )
        off = (LEG_ADJUSTMENT, self._house.adjustments)
        if deed is OwedDeed.COLLECT:
            off = self._from_wallet(player, amount_minor)
        book(
            self._connection,
            self._clock,
            movement,
            onto=(LEG_OWED, owed.owed_id),
            off=off,
        )
        less = player_owed.c.owed_minor - amount_minor
        self._connection.execute(update(player_owed).where(mine).values(owed_minor=less))
        return True

    def changes(self, player_id: int, *, limit: int) -> Sequence[OwedChange]:
        """See the port."""
        # Written out: a bound value would keep SQLite from its index of these lines.
        leg: ColumnClause[int] = literal_column(str(LEG_OWED))
        rows = self._connection.execute(
            select(transfer.c.at_ms, transfer.c.kind, transfer.c.round_id, entry.c.amount_minor)
            .select_from(player_owed)
            .join(entry, entry.c.account_id == player_owed.c.owed_id)
            .join(transfer, transfer.c.id == entry.c.transfer_id)
            .where(player_owed.c.player_id == player_id, entry.c.leg == leg)
            .order_by(transfer.c.id.desc())
            .limit(limit)
        )
        return [
            OwedChange(
                at_ms=at_ms,
                deed=None if kind == TransferKind.CORRECTION else OwedDeed(kind),
                round_id=round_id,
                amount_minor=-amount_minor,
            )
            for at_ms, kind, round_id, amount_minor in rows
        ]

    def _from_wallet(self, player: LockedPlayer, amount_minor: int) -> tuple[int, int]:
        if amount_minor > player.balance_minor:
            raise balance_short(needed_minor=amount_minor, balance_minor=player.balance_minor)
        move(self._connection, player.player_id, free_minor=-amount_minor, held_minor=0)
        return LEG_WALLET, player.wallet_id
