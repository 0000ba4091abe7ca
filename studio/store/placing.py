"""Placing and undoing one wager.

Order of locks, the same everywhere, so that nobody waits in a circle: the round's row, then the
player's balances, then the share of the table limit. A settlement takes the round's row and then
balances in order of the players' ids.

The round's row is only shared (FOR SHARE), so wagers don't wait for one another there, but the
close of the window, which updates it, waits for every wager in flight. The player's row is
exclusive: limits of bet and player, and the same id sent twice at once, are decided one after
the other. The table limit is cut into shares held by a CHECK; a wager takes from its player's
share alone, and only when that is used up are all shares locked and what is left dealt out anew.
So the limit is exact at any concurrency without a row that every wager updates.

SQLite has one writer at a time and ignores the locks.
"""

from dataclasses import dataclass

from sqlalchemy import (
    BigInteger,
    BindParameter,
    Connection,
    Integer,
    String,
    Uuid,
    bindparam,
    case,
    func,
    insert,
    select,
    update,
)

from studio.domain.errors import RefusedError
from studio.domain.round import Phase
from studio.services.ports import EndingKind, Placed, Wager, WagerRequest
from studio.services.retry import TryAgainError
from studio.store import book
from studio.store.clock import UnitClock
from studio.store.ledger import (
    VERSION_PLACED,
    LockedPlayer,
    balance_short,
    lock_player,
    move,
    new_transfer,
    player_balance_of,
)
from studio.store.rounds import shards
from studio.store.rows import insert_new
from studio.store.sums import total
from studio.store.tables import (
    LEG_HELD,
    LEG_WALLET,
    TransferKind,
    entry,
    round_,
    stake_quota,
    wager,
    wager_ending,
)

VERSION_UNDONE = 1
"""A wager taken back ends in the round's first version, whose settlement then can't end it."""

_ROUND: BindParameter[str] = bindparam("round_id_", type_=String)
_PLAYER: BindParameter[int] = bindparam("player", type_=BigInteger)
_BET: BindParameter[str] = bindparam("bet_", type_=String)
_ID: BindParameter[str] = bindparam("wager_id", type_=Uuid(as_uuid=False))
_SHARD: BindParameter[int] = bindparam("shard_", type_=Integer)
_STAKE: BindParameter[int] = bindparam("stake", type_=BigInteger)
_FREE: BindParameter[int] = bindparam("free", type_=BigInteger)
_OWN_FREE: BindParameter[int] = bindparam("own_free", type_=BigInteger)

_LOCK_ROUND = (
    select(round_.c.phase, round_.c.window_closes_ms)
    .where(round_.c.id == _ROUND)
    .with_for_update(read=True)
)
_STANDING = (
    select(
        total(wager.c.stake_minor),
        total(case((wager.c.bet == _BET, wager.c.stake_minor), else_=0)),
        func.count(case((wager.c.id == _ID, 1))),
    )
    .select_from(wager)
    .outerjoin(wager_ending, wager_ending.c.wager_number == wager.c.number)
    .where(
        wager.c.player_id == _PLAYER,
        wager.c.round_id == _ROUND,
        wager_ending.c.wager_number.is_(None),
    )
)
_TAKE_SHARE = (
    update(stake_quota)
    .where(
        stake_quota.c.round_id == _ROUND,
        stake_quota.c.shard == _SHARD,
        stake_quota.c.stake_minor + _STAKE <= stake_quota.c.quota_minor,
    )
    .values(stake_minor=stake_quota.c.stake_minor + _STAKE)
)
_LOCK_SHARES = (
    select(stake_quota.c.stake_minor)
    .where(stake_quota.c.round_id == _ROUND)
    .order_by(stake_quota.c.shard)
    .with_for_update()
)
_OWN = stake_quota.c.shard == _SHARD
_DEAL_OUT = (
    update(stake_quota)
    .where(stake_quota.c.round_id == _ROUND)
    .values(
        stake_minor=stake_quota.c.stake_minor + case((_OWN, _STAKE), else_=0),
        quota_minor=stake_quota.c.stake_minor + case((_OWN, _OWN_FREE), else_=_FREE),
    )
)
_GIVE_BACK = (
    update(stake_quota)
    .where(stake_quota.c.round_id == _ROUND, stake_quota.c.shard == _SHARD)
    .values(stake_minor=stake_quota.c.stake_minor - _STAKE)
)


@dataclass(frozen=True, kw_only=True)
class _Window:
    """The betting window as the locked row of the round says."""

    phase: str
    closes_ms: int

    def need_open(self, now_ms: int) -> None:
        """Refuse at and after the deadline."""
        if self.phase != Phase.BETTING or now_ms >= self.closes_ms:
            raise RefusedError(
                "betting_window_closed", "No more bets: the betting window has closed."
            )


def place(connection: Connection, clock: UnitClock, request: WagerRequest) -> Placed:
    """Accept a wager; see the port `Wagers.place`."""
    if (repeated := _repeated(connection, request)) is not None:
        return repeated
    window = _lock_window(connection, request.round_id)
    window.need_open(clock.now_ms(connection))
    player = lock_player(connection, request.player_id)
    player_minor, bet_minor, same_id = connection.execute(
        _STANDING,
        {
            "player": request.player_id,
            "round_id_": request.round_id,
            "bet_": request.bet,
            "wager_id": request.id,
        },
    ).one()
    # The same request may have been accepted while this one waited for the player's row.
    if same_id and (repeated := _repeated(connection, request)) is not None:
        return repeated
    # All locks are held: this reading of the clock decides.
    now_ms = clock.now_ms(connection)
    window.need_open(now_ms)
    _need_limits(request, player_minor=player_minor, bet_minor=bet_minor)
    if player is None or player.balance_minor < request.hold_minor:
        have = player.balance_minor if player else 0
        raise balance_short(needed_minor=request.hold_minor, balance_minor=have)
    _take_share(connection, request)
    _book(connection, request, player=player, now_ms=now_ms)
    placed = Wager(
        id=request.id,
        player_id=request.player_id,
        round_id=request.round_id,
        bet=request.bet,
        stake_minor=request.stake_minor,
        hold_minor=request.hold_minor,
        accepted_ms=now_ms,
        ending=None,
    )
    return Placed(
        wager=placed,
        balance_minor=player.balance_minor - request.hold_minor,
        held_minor=player.held_minor + request.hold_minor,
        repeated=False,
    )


def undo(connection: Connection, clock: UnitClock, wager_id: str, *, player_id: int) -> Placed:
    """Take a wager back; see the port `Wagers.undo`."""
    found = _own(connection, wager_id, player_id=player_id)
    window = _lock_window(connection, found.round_id)
    player = lock_player(connection, player_id)
    assert player is not None
    number, taken = book.find(connection, wager_id) or (0, found)
    if taken.ending is not None:
        if taken.ending.kind is EndingKind.UNDONE:
            return _again(connection, taken)
        raise RefusedError("wager_ended", "This wager has already ended.", id=wager_id)
    now_ms = clock.now_ms(connection)
    window.need_open(now_ms)
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
    move(connection, player_id, free_minor=back_minor, held_minor=-back_minor)
    shard = player_id % shards(connection)
    share = {"round_id_": taken.round_id, "shard_": shard, "stake": taken.stake_minor}
    connection.execute(_GIVE_BACK, share)
    _, undone = book.find(connection, wager_id) or (0, taken)
    return Placed(
        wager=undone,
        balance_minor=player.balance_minor + back_minor,
        held_minor=player.held_minor - back_minor,
        repeated=False,
    )


def _repeated(connection: Connection, request: WagerRequest) -> Placed | None:
    found = book.find(connection, request.id)
    if found is None:
        return None
    first = found[1]
    same = (
        first.player_id == request.player_id
        and first.round_id == request.round_id
        and first.bet == request.bet
        and first.stake_minor == request.stake_minor
    )
    if not same:
        raise RefusedError(
            "wager_id_reused",
            "This wager id was used before for another wager; nothing was placed.",
            id=request.id,
        )
    return _again(connection, first)


def _again(connection: Connection, first: Wager) -> Placed:
    balance = player_balance_of(connection, first.player_id)
    return Placed(
        wager=first,
        balance_minor=balance.balance_minor,
        held_minor=balance.held_minor,
        repeated=True,
    )


def _own(connection: Connection, wager_id: str, *, player_id: int) -> Wager:
    found = book.find(connection, wager_id)
    # Somebody else's wager is as unknown as none: ids tell nothing about others.
    if found is None or found[1].player_id != player_id:
        raise RefusedError("unknown_wager", "There is no such wager of yours.", id=wager_id)
    return found[1]


def _lock_window(connection: Connection, round_id: str) -> _Window:
    row = connection.execute(_LOCK_ROUND, {"round_id_": round_id}).first()
    if row is None:
        raise RefusedError("unknown_round", f"There is no round {round_id}.", round_id=round_id)
    return _Window(phase=row.phase, closes_ms=row.window_closes_ms)


def _need_limits(request: WagerRequest, *, player_minor: int, bet_minor: int) -> None:
    limits = request.limits
    if request.stake_minor < limits.bet_min_minor:
        raise RefusedError(
            "stake_below_minimum",
            f"The least stake on this bet is {limits.bet_min_minor} minor units.",
            limit_minor=limits.bet_min_minor,
            stake_minor=request.stake_minor,
        )
    for code, taken_minor, limit_minor, what in (
        ("bet_limit_exceeded", bet_minor, limits.bet_max_minor, "on this bet"),
        ("player_limit_exceeded", player_minor, limits.player_max_minor, "in one round"),
    ):
        if taken_minor + request.stake_minor > limit_minor:
            raise RefusedError(
                code,
                f"At most {limit_minor} minor units may stand {what}; {taken_minor} stand.",
                limit_minor=limit_minor,
                taken_minor=taken_minor,
                stake_minor=request.stake_minor,
            )


def _take_share(connection: Connection, request: WagerRequest) -> None:
    parts = shards(connection)
    share = {
        "round_id_": request.round_id,
        "shard_": request.player_id % parts,
        "stake": request.stake_minor,
    }
    if connection.execute(_TAKE_SHARE, share).rowcount == 1:
        return
    taken = connection.scalars(_LOCK_SHARES, {"round_id_": request.round_id}).all()
    assert len(taken) == parts
    limit_minor = request.limits.table_max_minor
    free_minor = limit_minor - sum(taken) - request.stake_minor
    if free_minor < 0:
        raise RefusedError(
            "table_limit_exceeded",
            f"At most {limit_minor} minor units may stand at the table; {sum(taken)} stand.",
            limit_minor=limit_minor,
            taken_minor=sum(taken),
            stake_minor=request.stake_minor,
        )
    each_minor, rest_minor = divmod(free_minor, parts)
    own_minor = request.stake_minor + each_minor + rest_minor
    connection.execute(_DEAL_OUT, {**share, "free": each_minor, "own_free": own_minor})


def _book(
    connection: Connection, request: WagerRequest, *, player: LockedPlayer, now_ms: int
) -> None:
    number = new_transfer(connection, {"kind": TransferKind.HOLD.value, "at_ms": now_ms})
    row = {
        "number": number,
        "id": request.id,
        "player_id": request.player_id,
        "round_id": request.round_id,
        "bet": request.bet,
        "stake_minor": request.stake_minor,
        "hold_minor": request.hold_minor,
        "accepted_ms": now_ms,
    }
    if insert_new(connection, wager, row) is None:
        # Another player or another round used this id a moment ago: the next try says so.
        raise TryAgainError(f"Wager id {request.id} was used meanwhile.")
    hold_minor = request.hold_minor
    line = {"origin_id": number, "version": VERSION_PLACED, "transfer_id": number}
    held = {"leg": LEG_HELD, "account_id": player.held_id, "amount_minor": hold_minor}
    wallet = {"leg": LEG_WALLET, "account_id": player.wallet_id, "amount_minor": -hold_minor}
    connection.execute(insert(entry), [{**line, **held}, {**line, **wallet}])
    move(connection, request.player_id, free_minor=-hold_minor, held_minor=hold_minor)
