"""Taking a wager back while the window is open.

Locks in the order that holds everywhere: the round's row (shared, so that the close waits), the
player's balances, the share of the table limit. SQLite has one writer and ignores them.
"""

from sqlalchemy import (
    BigInteger,
    BindParameter,
    Connection,
    Integer,
    String,
    bindparam,
    insert,
    select,
    update,
)

from studio.domain.errors import RefusedError
from studio.domain.round import Phase
from studio.services.ports import EndingKind, Placed, Wager
from studio.store import book
from studio.store.clock import UnitClock
from studio.store.forfeits import is_forfeited
from studio.store.ledger import LockedPlayer, lock_player, move, new_transfer
from studio.store.placing import answered_again, window_closed
from studio.store.rounds import shards
from studio.store.tables import (
    LEG_HELD,
    LEG_WALLET,
    TransferKind,
    entry,
    round_,
    stake_quota,
    wager_ending,
)

VERSION_UNDONE = 1
"""A wager taken back ends in the round's first version, whose settlement then can't end it."""

_ROUND: BindParameter[str] = bindparam("in_round", type_=String)
_SHARD: BindParameter[int] = bindparam("own_shard", type_=Integer)
_STAKE: BindParameter[int] = bindparam("stake", type_=BigInteger)

_LOCK_ROUND = (
    select(round_.c.phase, round_.c.opened_ms, round_.c.window_closes_ms)
    .where(round_.c.id == _ROUND)
    .with_for_update(read=True)
)
_GIVE_BACK = (
    update(stake_quota)
    .where(stake_quota.c.round_id == _ROUND, stake_quota.c.shard == _SHARD)
    .values(stake_minor=stake_quota.c.stake_minor - _STAKE)
)


def undo(connection: Connection, clock: UnitClock, wager_id: str, *, player_id: int) -> Placed:
    """Take a wager back; see the port `Wagers.undo`."""
    found = _own(connection, wager_id, player_id=player_id)
    window = connection.execute(_LOCK_ROUND, {"in_round": found.round_id}).one()
    player = lock_player(connection, player_id)
    assert player is not None
    # Read again under the locks: the same request may just have been carried out.
    number, taken = _known(connection, wager_id)
    if taken.ending is not None:
        if taken.ending.kind is EndingKind.UNDONE:
            return answered_again(connection, taken)
        raise RefusedError("wager_ended", "This wager has already ended.", id=wager_id)
    if is_forfeited(connection, number):
        raise RefusedError(
            "wager_forfeited", "This stake was forfeited when you left the room.", id=wager_id
        )
    now_ms = clock.now_ms(connection)
    in_time = window.opened_ms <= now_ms < window.window_closes_ms
    if window.phase != Phase.BETTING or not in_time:
        raise window_closed()
    _book(connection, taken, number=number, player=player, now_ms=now_ms)
    _, undone = _known(connection, wager_id)
    return Placed(
        wager=undone,
        balance_minor=player.balance_minor + taken.hold_minor,
        held_minor=player.held_minor - taken.hold_minor,
        repeated=False,
    )


def _own(connection: Connection, wager_id: str, *, player_id: int) -> Wager:
    found = book.find(connection, wager_id)
    # Somebody else's wager is as unknown as none: ids tell nothing about others.
    if found is None or found[1].player_id != player_id:
        raise RefusedError("unknown_wager", "There is no such wager of yours.", id=wager_id)
    return found[1]


def _known(connection: Connection, wager_id: str) -> tuple[int, Wager]:
    found = book.find(connection, wager_id)
    assert found is not None
    return found


def _book(
    connection: Connection, taken: Wager, *, number: int, player: LockedPlayer, now_ms: int
) -> None:
    back_minor = taken.hold_minor
    moved = {"kind": TransferKind.UNDO.value, "at_ms": now_ms}
    transfer_id = new_transfer(connection, moved)
    ending = {
        "wager_number": number,
        "version": VERSION_UNDONE,
        "kind": EndingKind.UNDONE.value,
        "payout_minor": back_minor,
        "transfer_id": transfer_id,
    }
    connection.execute(insert(wager_ending), ending)
    line = {"origin_id": number, "version": VERSION_UNDONE, "transfer_id": transfer_id}
    held = {"leg": LEG_HELD, "account_id": player.held_id, "amount_minor": -back_minor}
    wallet = {"leg": LEG_WALLET, "account_id": player.wallet_id, "amount_minor": back_minor}
    connection.execute(insert(entry), [{**line, **held}, {**line, **wallet}])
    move(connection, player.player_id, free_minor=back_minor, held_minor=-back_minor)
    shard = player.player_id % shards(connection)
    share = {"in_round": taken.round_id, "own_shard": shard, "stake": taken.stake_minor}
    connection.execute(_GIVE_BACK, share)
