"""Double entry: accounts, transfers, entries, and the balances folded from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    func,
    insert,
    select,
    update,
)

from studio.domain.errors import MalformedError, RefusedError
from studio.services.play_ports import Filled, PlayKind, PlayMoved
from studio.services.ports import Balance, Cashed, Ledger
from studio.services.retry import TryAgainError
from studio.store.clock import UnitClock
from studio.store.correction_tables import player_owed
from studio.store.rows import insert_new
from studio.store.sums import total
from studio.store.tables import (
    LEG_CASH,
    LEG_HOUSE,
    LEG_PLAY,
    LEG_WALLET,
    AccountKind,
    TransferKind,
    account,
    entry,
    player_balance,
    transfer,
    wager,
)

HOUSE = 0
"""Owner of the house's accounts."""

HOUSE_KINDS = (
    AccountKind.HOUSE_BANK,
    AccountKind.ADJUSTMENTS,
    AccountKind.CASH,
    AccountKind.PLAY,
)

VERSION_PLACED = 0
"""Entry version of money that moves before any settlement."""

_PLAYER: BindParameter[int] = bindparam("player", type_=BigInteger)
_FREE: BindParameter[int] = bindparam("free_minor", type_=BigInteger)
_HELD: BindParameter[int] = bindparam("held_minor_change", type_=BigInteger)
_BALANCES: Select[Any] = select(
    player_balance.c.player_id,
    player_balance.c.balance_minor,
    player_balance.c.held_minor,
    func.coalesce(player_owed.c.owed_minor, 0).label("owed_minor"),
).outerjoin(player_owed, player_owed.c.player_id == player_balance.c.player_id)
_BALANCE = _BALANCES.where(player_balance.c.player_id == _PLAYER)
_LOCK_PLAYER = select(player_balance).where(player_balance.c.player_id == _PLAYER).with_for_update()
_MOVE = (
    update(player_balance)
    .where(player_balance.c.player_id == _PLAYER)
    .values(
        balance_minor=player_balance.c.balance_minor + _FREE,
        held_minor=player_balance.c.held_minor + _HELD,
    )
)


@dataclass(frozen=True, kw_only=True)
class HouseAccounts:
    """Ids of the house's accounts that money moves to and from."""

    adjustments: int
    bank: int
    cash: int
    play: int


@dataclass(frozen=True, kw_only=True)
class Movement:
    """Money between an account of a player and another one, outside any round."""

    kind: TransferKind
    player_id: int
    amount_minor: int
    """Onto the player's account; negative: off it."""
    client_id: str | None
    reason: str
    by: int | None


@dataclass(frozen=True, kw_only=True)
class LockedPlayer:
    """A player's balances, locked until the unit ends."""

    player_id: int
    wallet_id: int
    held_id: int
    balance_minor: int
    held_minor: int


def open_house(connection: Connection, *, currency: str) -> HouseAccounts:
    """Return the house's accounts; the first call makes them in the studio's currency.

    Raises:
        MalformedError: `currency_differs` when the stored money is in another currency.
    """
    for kind in HOUSE_KINDS:
        values = {"kind": kind.value, "owner_id": HOUSE, "currency": currency}
        insert_new(connection, account, values)
    rows = connection.execute(select(account).where(account.c.owner_id == HOUSE)).all()
    stored = {row.currency for row in rows}
    if stored != {currency}:
        raise MalformedError(
            "currency_differs",
            f"The database keeps money in {', '.join(sorted(stored))}, the settings say "
            f"{currency}.",
            settings=currency,
        )
    ids = {row.kind: row.id for row in rows}
    return HouseAccounts(
        adjustments=ids[AccountKind.ADJUSTMENTS],
        bank=ids[AccountKind.HOUSE_BANK],
        cash=ids[AccountKind.CASH],
        play=ids[AccountKind.PLAY],
    )


def player_balance_of(connection: Connection, player_id: int) -> Balance:
    """Return a player's balances without locking them; zeros for one who never had money."""
    row = connection.execute(_BALANCE, {"player": player_id}).first()
    if row is None:
        return Balance(balance_minor=0, held_minor=0)
    return _balance(row)


def _balance(row: Row[Any]) -> Balance:
    return Balance(
        balance_minor=row.balance_minor, held_minor=row.held_minor, owed_minor=row.owed_minor
    )


def lock_player(connection: Connection, player_id: int) -> LockedPlayer | None:
    """Lock and return a player's balances; None for a player who never had money."""
    row = connection.execute(_LOCK_PLAYER, {"player": player_id}).first()
    if row is None:
        return None
    return LockedPlayer(
        player_id=player_id,
        wallet_id=row.wallet_id,
        held_id=row.held_id,
        balance_minor=row.balance_minor,
        held_minor=row.held_minor,
    )


def move(connection: Connection, player_id: int, *, free_minor: int, held_minor: int) -> None:
    """Change a locked player's balances; the table's checks keep both from going below 0."""
    connection.execute(
        _MOVE, {"player": player_id, "free_minor": free_minor, "held_minor_change": held_minor}
    )


def new_transfer(connection: Connection, values: Mapping[str, object]) -> int:
    """Insert a transfer and return its id."""
    number: int = connection.execute(
        insert(transfer).returning(transfer.c.id), dict(values)
    ).scalar_one()
    return number


def moved_before(connection: Connection, movement: Movement, *, leg: int = LEG_WALLET) -> bool:
    """Return whether this very movement is booked; `leg` is that of the player's line.

    Raises:
        RefusedError: `transfer_id_reused` when its id was used for another one.
    """
    if movement.client_id is None:
        return False
    line = and_(
        entry.c.origin_id == transfer.c.id, entry.c.version == VERSION_PLACED, entry.c.leg == leg
    )
    first = connection.execute(
        select(transfer.c.kind, account.c.owner_id, entry.c.amount_minor, transfer.c.reason)
        .select_from(transfer)
        .outerjoin(entry, line)
        .outerjoin(account, account.c.id == entry.c.account_id)
        .where(transfer.c.client_id == movement.client_id)
    ).first()
    if first is None:
        return False
    content = (movement.kind.value, movement.player_id, movement.amount_minor, movement.reason)
    if tuple(first) != content:
        raise RefusedError(
            "transfer_id_reused",
            "This id was used before for another movement of money; nothing was moved.",
            id=movement.client_id,
        )
    return True


def book(
    connection: Connection,
    clock: UnitClock,
    movement: Movement,
    *,
    onto: tuple[int, int],
    off: tuple[int, int],
) -> None:
    """Write a movement and its two lines; `onto` and `off` are (leg, account id).

    Raises:
        TryAgainError: another unit has booked it since `moved_before` was asked.
    """
    values = {
        "kind": movement.kind.value,
        "at_ms": clock.now_ms(connection),
        "client_id": movement.client_id,
        "reason": movement.reason,
        "by_person": movement.by,
    }
    booked = insert_new(connection, transfer, values)
    if booked is None:
        raise TryAgainError(f"Transfer {movement.client_id} was booked meanwhile.")
    line = {"origin_id": booked.id, "version": VERSION_PLACED, "transfer_id": booked.id}
    lines = [
        {**line, "leg": leg, "account_id": account_id, "amount_minor": amount_minor}
        for (leg, account_id), amount_minor in (
            (onto, movement.amount_minor),
            (off, -movement.amount_minor),
        )
    ]
    connection.execute(insert(entry), lines)


def write_house(
    connection: Connection,
    house: HouseAccounts,
    *,
    transfer_id: int,
    version: int,
    amount_minor: int,
) -> None:
    """Write the bank's one entry of a settlement or correction; none when nothing moves."""
    if amount_minor == 0:
        return
    line = {
        "origin_id": transfer_id,
        "version": version,
        "leg": LEG_HOUSE,
        "transfer_id": transfer_id,
        "account_id": house.bank,
        "amount_minor": amount_minor,
    }
    connection.execute(insert(entry), line)


def balance_short(*, needed_minor: int, balance_minor: int) -> RefusedError:
    """Return the refusal that tells what is needed and what is there."""
    return RefusedError(
        "balance_short",
        f"The balance is too low: {needed_minor} minor units are needed, {balance_minor} are "
        "there.",
        needed_minor=needed_minor,
        balance_minor=balance_minor,
    )


def _owes_money(owed_minor: int) -> RefusedError:
    return RefusedError(
        "owes_money",
        f"The player owes {owed_minor} minor units. Collect or write off what is owed before cash "
        "is paid out.",
        owed_minor=owed_minor,
    )


class SqlLedger(Ledger):
    """The ledger in SQL."""

    def __init__(
        self, connection: Connection, *, clock: UnitClock, house: HouseAccounts, currency: str
    ) -> None:
        self._connection = connection
        self._clock = clock
        self._house = house
        self._currency = currency

    def balance(self, player_id: int) -> Balance:
        """See the port."""
        return player_balance_of(self._connection, player_id)

    def balances_of_round(self, round_id: str) -> Mapping[int, Balance]:
        """See the port."""
        players = select(wager.c.player_id).where(wager.c.round_id == round_id)
        rows = self._connection.execute(_BALANCES.where(player_balance.c.player_id.in_(players)))
        return {row.player_id: _balance(row) for row in rows}

    def cash(self, *, id: str, player_id: int, amount_minor: int, reason: str, by: int) -> Cashed:
        """See the port."""
        return self._moved(
            Movement(
                kind=TransferKind.CASH,
                player_id=player_id,
                amount_minor=amount_minor,
                client_id=id,
                reason=reason,
                by=by,
            ),
            house=(LEG_CASH, self._house.cash),
        )

    def play_transfer(
        self,
        *,
        kind: PlayKind,
        player_id: int,
        amount_minor: int,
        id: str | None = None,
        reason: str = "",
    ) -> PlayMoved:
        """See the port."""
        moved = self._moved(
            Movement(
                kind=TransferKind(kind.value),
                player_id=player_id,
                amount_minor=amount_minor,
                client_id=id,
                reason=reason,
                by=None,
            ),
            house=(LEG_PLAY, self._house.play),
        )
        return PlayMoved(
            balance_minor=moved.after.balance_minor,
            held_minor=moved.after.held_minor,
            repeated=moved.repeated,
        )

    def fill_up(self, player_id: int, *, below_minor: int, to_minor: int) -> Filled | None:
        """See the port."""
        found = lock_player(self._connection, player_id)
        if found is None:
            self._open_player(player_id)
        who = player_balance.c.player_id == player_id
        if not self._fill_up(who, below_minor=below_minor, to_minor=to_minor):
            return None
        after = self.balance(player_id)
        return Filled(
            balance_minor=after.balance_minor, held_minor=after.held_minor, first=found is None
        )

    def fill_up_round(self, round_id: str, *, below_minor: int, to_minor: int) -> Sequence[int]:
        """See the port."""
        players = select(wager.c.player_id).where(wager.c.round_id == round_id)
        who = player_balance.c.player_id.in_(players)
        return self._fill_up(who, below_minor=below_minor, to_minor=to_minor)

    def sum_minor(self) -> int:
        """See the port."""
        return self._connection.execute(select(total(entry.c.amount_minor))).scalar_one()

    def _moved(self, movement: Movement, *, house: tuple[int, int]) -> Cashed:
        """Book a movement unless it is booked; the player's row is locked from here on."""
        player = lock_player(self._connection, movement.player_id)
        before = self.balance(movement.player_id)
        if moved_before(self._connection, movement):
            return Cashed(before=before, after=before, repeated=True)
        amount_minor = movement.amount_minor
        if movement.kind is TransferKind.CASH and amount_minor < 0 and before.owed_minor:
            raise _owes_money(before.owed_minor)
        if before.balance_minor + amount_minor < 0:
            raise balance_short(needed_minor=-amount_minor, balance_minor=before.balance_minor)
        player = player or self._open_player(movement.player_id)
        wallet = (LEG_WALLET, player.wallet_id)
        book(self._connection, self._clock, movement, onto=wallet, off=house)
        move(self._connection, movement.player_id, free_minor=amount_minor, held_minor=0)
        return Cashed(before=before, after=self.balance(movement.player_id), repeated=False)

    def _fill_up(
        self, who: ColumnElement[bool], *, below_minor: int, to_minor: int
    ) -> Sequence[int]:
        """Book a purse for each of the locked players who has less; return their ids."""
        has = player_balance.c.balance_minor + player_balance.c.held_minor
        poor = self._connection.execute(
            select(player_balance)
            .where(who, has < below_minor)
            .order_by(player_balance.c.player_id)
        ).all()
        if not poor:
            return ()
        at_ms = self._clock.now_ms(self._connection)
        moved = {"kind": TransferKind.PURSE.value, "at_ms": at_ms, "reason": ""}
        # All alike, so that it does not matter which one becomes whose.
        numbers = self._connection.scalars(
            insert(transfer).returning(transfer.c.id), [moved for _ in poor]
        ).all()
        lines: list[dict[str, object]] = []
        for number, row in zip(numbers, poor, strict=True):
            minor = to_minor - row.balance_minor - row.held_minor
            line = {"origin_id": number, "version": VERSION_PLACED, "transfer_id": number}
            wallet = {"leg": LEG_WALLET, "account_id": row.wallet_id, "amount_minor": minor}
            play = {"leg": LEG_PLAY, "account_id": self._house.play, "amount_minor": -minor}
            lines += [{**line, **wallet}, {**line, **play}]
        self._connection.execute(insert(entry), lines)
        self._connection.execute(
            update(player_balance)
            .where(who, has < below_minor)
            .values(balance_minor=to_minor - player_balance.c.held_minor)
        )
        return [row.player_id for row in poor]

    def _open_player(self, player_id: int) -> LockedPlayer:
        for kind in (AccountKind.WALLET, AccountKind.HELD):
            values = {"kind": kind.value, "owner_id": player_id, "currency": self._currency}
            insert_new(self._connection, account, values)
        ids = {
            row.kind: row.id
            for row in self._connection.execute(
                select(account).where(account.c.owner_id == player_id)
            )
        }
        balances = {
            "player_id": player_id,
            "wallet_id": ids[AccountKind.WALLET],
            "held_id": ids[AccountKind.HELD],
            "balance_minor": 0,
            "held_minor": 0,
        }
        insert_new(self._connection, player_balance, balances)
        player = lock_player(self._connection, player_id)
        assert player is not None
        return player
