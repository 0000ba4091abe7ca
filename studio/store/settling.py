"""Settling and refunding a round: a fixed number of set statements, whatever the wagers' number.

The game says once what a unit on each bet brings; the database does the rest in one transaction:
endings, two entries a wager, one entry of the house, the balances. Every statement's result is
checked against the book, so that a sum that does not close stops the unit.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    FromClause,
    Integer,
    Select,
    SmallInteger,
    String,
    and_,
    case,
    column,
    func,
    insert,
    literal,
    select,
    true,
    update,
    values,
)
from sqlalchemy.exc import IntegrityError

from studio.domain.errors import InvariantError
from studio.services.ports import BookSettled, EndingKind
from studio.store.book import taken_back
from studio.store.clock import UnitClock
from studio.store.ledger import HouseAccounts, new_transfer
from studio.store.sums import total
from studio.store.tables import (
    LEG_HELD,
    LEG_HOUSE,
    LEG_WALLET,
    TransferKind,
    entry,
    player_balance,
    round_,
    wager,
    wager_ending,
)

INTEGER_MAX = 2**63 - 1
"""The database's integers: no product of the payout formula may leave them."""


@dataclass(frozen=True, kw_only=True)
class _BetSums:
    """What stands on one bet."""

    bet: str
    count: int
    stake_minor: int
    hold_minor: int
    stake_max_minor: int
    hold_max_minor: int


@dataclass(frozen=True, kw_only=True)
class _Settlement:
    """One settlement or refund under way."""

    round_id: str
    version: int
    transfer_id: int
    kind: EndingKind


@dataclass(frozen=True, kw_only=True)
class _EndingsWritten:
    """What the database says it wrote: endings, their payouts, and how many payouts above 0."""

    count: int
    payouts_minor: int
    paid: int


@dataclass(frozen=True, kw_only=True)
class _LinesWritten:
    """What the database says it wrote: entries, and their sums by leg."""

    count: int
    held_minor: int
    wallet_minor: int


def settle(
    connection: Connection,
    clock: UnitClock,
    house: HouseAccounts,
    *,
    round_id: str,
    version: int,
    nets: Mapping[str, Fraction],
) -> BookSettled:
    """End every open wager by its bet's net; see the port `Wagers.settle`."""
    sums = _open_book(connection, round_id)
    for bet in sums:
        if bet.bet not in nets:
            raise InvariantError(
                "bet_without_result",
                f"Round {round_id}: {bet.count} wagers on {bet.bet} have no result.",
                round_id=round_id,
                bet=bet.bet,
            )
        _need_64_bits(bet, nets[bet.bet])
    under_way = _begin(
        connection, clock, round_id=round_id, version=version, kind=EndingKind.SETTLED
    )
    factors = factor_table(nets)
    joined = wager.join(factors, factors.c.bet == wager.c.bet)
    exact = wager.c.hold_minor * factors.c.den + wager.c.stake_minor * factors.c.num
    # A loss beyond the hold must not be rounded to 0: -1 runs into the column's check.
    payout = case((exact < 0, literal(-1, BigInteger)), else_=exact // factors.c.den)
    return _end(connection, house, under_way, sums=sums, source=joined, payout=payout)


def refund(
    connection: Connection, clock: UnitClock, house: HouseAccounts, *, round_id: str, version: int
) -> BookSettled:
    """Give every open wager its whole hold back; see the port `Wagers.refund`."""
    sums = _open_book(connection, round_id)
    under_way = _begin(
        connection, clock, round_id=round_id, version=version, kind=EndingKind.REFUNDED
    )
    return _end(connection, house, under_way, sums=sums, source=wager, payout=wager.c.hold_minor)


def _open_book(connection: Connection, round_id: str) -> list[_BetSums]:
    """Lock the round, so that no wager is in flight, and sum up what stands on each bet."""
    locked = connection.execute(
        select(round_.c.id).where(round_.c.id == round_id).with_for_update()
    ).first()
    if locked is None:
        raise InvariantError("unknown_round", f"There is no round {round_id}.", round_id=round_id)
    rows = connection.execute(
        select(
            wager.c.bet,
            func.count().label("wagers"),
            total(wager.c.stake_minor).label("stake_minor"),
            total(wager.c.hold_minor).label("hold_minor"),
            func.max(wager.c.stake_minor).label("stake_max_minor"),
            func.max(wager.c.hold_minor).label("hold_max_minor"),
            func.count(wager_ending.c.wager_number).label("ended"),
        )
        .select_from(wager)
        .outerjoin(wager_ending, wager_ending.c.wager_number == wager.c.number)
        .where(
            wager.c.round_id == round_id,
            func.coalesce(wager_ending.c.kind, "") != EndingKind.UNDONE.value,
        )
        .group_by(wager.c.bet)
    ).all()
    if any(row.ended for row in rows):
        raise _ended_twice(round_id)
    return [
        _BetSums(
            bet=row.bet,
            count=row.wagers,
            stake_minor=row.stake_minor,
            hold_minor=row.hold_minor,
            stake_max_minor=row.stake_max_minor,
            hold_max_minor=row.hold_max_minor,
        )
        for row in rows
    ]


def _need_64_bits(bet: _BetSums, net: Fraction) -> None:
    # |hold x den + stake x num| <= hold_max x den + stake_max x |num|, and the latter is an
    # ordinary Python integer: what passes here can't overflow in the database.
    most = bet.hold_max_minor * net.denominator + bet.stake_max_minor * abs(net.numerator)
    if most > INTEGER_MAX:
        raise InvariantError(
            "payout_too_large", f"A payout on {bet.bet} does not fit 64 bits.", bet=bet.bet
        )


def _begin(
    connection: Connection, clock: UnitClock, *, round_id: str, version: int, kind: EndingKind
) -> _Settlement:
    settles = kind is EndingKind.SETTLED
    moved = {
        "kind": (TransferKind.SETTLEMENT if settles else TransferKind.REFUND).value,
        "at_ms": clock.now_ms(connection),
        "round_id": round_id,
        "version": version,
    }
    try:
        transfer_id = new_transfer(connection, moved)
    except IntegrityError as error:
        raise _ended_twice(round_id) from error
    return _Settlement(round_id=round_id, version=version, transfer_id=transfer_id, kind=kind)


def factor_table(nets: Mapping[str, Fraction]) -> FromClause:
    """Return (bet, num, den): what one unit on each bet brings, as a table to join."""
    return (
        values(
            column("bet", String),
            column("num", BigInteger),
            column("den", BigInteger),
        )
        .data([(bet, net.numerator, net.denominator) for bet, net in sorted(nets.items())])
        .cte("factor")
    )


def _end(
    connection: Connection,
    house: HouseAccounts,
    under_way: _Settlement,
    *,
    sums: list[_BetSums],
    source: FromClause,
    payout: ColumnElement[int],
) -> BookSettled:
    count = sum(bet.count for bet in sums)
    held_minor = sum(bet.hold_minor for bet in sums)
    endings = _write_endings(connection, under_way, source=source, payout=payout)
    _need_equal("endings", under_way, found=endings.count, expected=count)
    lines = _write_entries(connection, under_way)
    _need_equal("entries", under_way, found=lines.count, expected=count + endings.paid)
    _need_equal("holds", under_way, found=lines.held_minor, expected=-held_minor)
    _need_equal("payouts", under_way, found=lines.wallet_minor, expected=endings.payouts_minor)
    _write_house(connection, house, under_way, amount_minor=held_minor - endings.payouts_minor)
    _move_balances(connection, under_way)
    return BookSettled(
        count=count,
        turnover_minor=sum(bet.stake_minor for bet in sums),
        payouts_minor=endings.payouts_minor,
    )


def _write_endings(
    connection: Connection,
    under_way: _Settlement,
    *,
    source: FromClause,
    payout: ColumnElement[int],
) -> _EndingsWritten:
    rows = (
        select(
            wager.c.number,
            literal(under_way.version, Integer),
            literal(under_way.kind.value, String),
            payout,
            literal(under_way.transfer_id, BigInteger),
        )
        .select_from(source)
        .where(wager.c.round_id == under_way.round_id, ~taken_back)
        .order_by(wager.c.number)
    )
    names = ["wager_number", "version", "kind", "payout_minor", "transfer_id"]
    written = insert(wager_ending).from_select(names, rows)
    try:
        if connection.dialect.name == "postgresql":
            ended = written.returning(wager_ending.c.payout_minor).cte("ended")
            row = connection.execute(_endings_of(ended.c.payout_minor, ended)).one()
        else:
            connection.execute(written)
            wanted = _endings_of(wager_ending.c.payout_minor, _ended_here(under_way))
            here = wager.c.round_id == under_way.round_id
            row = connection.execute(wanted.where(here)).one()
    except IntegrityError as error:
        if "payout_not_negative" in str(error.orig):
            raise InvariantError(
                "payout_negative",
                f"Round {under_way.round_id}: a bet lost more than was held for it.",
                round_id=under_way.round_id,
            ) from error
        raise _ended_twice(under_way.round_id) from error
    return _EndingsWritten(count=row[0], payouts_minor=row[1], paid=row[2])


def _endings_of(payout: ColumnElement[int], source: FromClause) -> Select[int, int, int]:
    paid = func.count(case((payout > 0, 1)))
    return select(func.count(), total(payout), paid).select_from(source)


def _ended_here(under_way: _Settlement) -> FromClause:
    """Return wagers of the round joined with the ending that this settlement gave them."""
    return wager.join(
        wager_ending,
        and_(
            wager_ending.c.wager_number == wager.c.number,
            wager_ending.c.version == under_way.version,
            wager_ending.c.transfer_id == under_way.transfer_id,
        ),
    )


def _write_entries(connection: Connection, under_way: _Settlement) -> _LinesWritten:
    legs = values(column("leg", SmallInteger)).data([(LEG_HELD,), (LEG_WALLET,)]).cte("leg")
    on_held = legs.c.leg == LEG_HELD
    rows = (
        select(
            wager.c.number,
            literal(under_way.version, Integer),
            legs.c.leg,
            literal(under_way.transfer_id, BigInteger),
            case((on_held, player_balance.c.held_id), else_=player_balance.c.wallet_id),
            case((on_held, -wager.c.hold_minor), else_=wager_ending.c.payout_minor),
        )
        .select_from(
            _ended_here(under_way)
            .join(player_balance, player_balance.c.player_id == wager.c.player_id)
            .join(legs, true())
        )
        .where(wager.c.round_id == under_way.round_id, on_held | (wager_ending.c.payout_minor > 0))
        .order_by(wager.c.number, legs.c.leg)
    )
    names = ["origin_id", "version", "leg", "transfer_id", "account_id", "amount_minor"]
    written = insert(entry).from_select(names, rows)
    if connection.dialect.name == "postgresql":
        booked = written.returning(entry.c.leg, entry.c.amount_minor).cte("booked")
        row = connection.execute(_lines_of(booked.c.leg, booked.c.amount_minor, booked)).one()
    else:
        connection.execute(written)
        stored = wager.join(
            entry,
            and_(
                entry.c.origin_id == wager.c.number,
                entry.c.version == under_way.version,
                entry.c.transfer_id == under_way.transfer_id,
            ),
        )
        wanted = _lines_of(entry.c.leg, entry.c.amount_minor, stored)
        here = wager.c.round_id == under_way.round_id
        row = connection.execute(wanted.where(here)).one()
    return _LinesWritten(count=row[0], held_minor=row[1], wallet_minor=row[2])


def _lines_of(
    leg: ColumnElement[int], amount: ColumnElement[int], source: FromClause
) -> Select[int, int, int]:
    return select(
        func.count(),
        total(case((leg == LEG_HELD, amount), else_=0)),
        total(case((leg == LEG_WALLET, amount), else_=0)),
    ).select_from(source)


def _write_house(
    connection: Connection, house: HouseAccounts, under_way: _Settlement, *, amount_minor: int
) -> None:
    if amount_minor == 0:
        return
    line = {
        "origin_id": under_way.transfer_id,
        "version": under_way.version,
        "leg": LEG_HOUSE,
        "transfer_id": under_way.transfer_id,
        "account_id": house.bank,
        "amount_minor": amount_minor,
    }
    connection.execute(insert(entry), line)


def _move_balances(connection: Connection, under_way: _Settlement) -> None:
    """Fold the settlement into the players' balances.

    Rows are locked in order of the players' ids first: settlements of two tables with the same
    players would else lock them in different orders.
    """
    here = wager.c.round_id == under_way.round_id
    players = (
        select(player_balance.c.player_id)
        .where(player_balance.c.player_id.in_(select(wager.c.player_id).where(here)))
        .order_by(player_balance.c.player_id)
        .with_for_update()
        .subquery()
    )
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.count()).select_from(players))
    moved = (
        select(
            wager.c.player_id,
            total(wager.c.hold_minor).label("hold_minor"),
            total(wager_ending.c.payout_minor).label("payout_minor"),
        )
        .select_from(_ended_here(under_way))
        .where(here)
        .group_by(wager.c.player_id)
        .subquery("moved")
    )
    connection.execute(
        update(player_balance)
        .where(player_balance.c.player_id == moved.c.player_id)
        .values(
            balance_minor=player_balance.c.balance_minor + moved.c.payout_minor,
            held_minor=player_balance.c.held_minor - moved.c.hold_minor,
        )
    )


def _need_equal(what: str, under_way: _Settlement, *, found: int, expected: int) -> None:
    if found != expected:
        raise InvariantError(
            "settlement_sums_differ",
            f"Round {under_way.round_id}: {what} are {found}, the book says {expected}.",
            round_id=under_way.round_id,
            what=what,
        )


def _ended_twice(round_id: str) -> InvariantError:
    return InvariantError(
        "wager_ended_twice",
        f"Round {round_id}: its wagers have already ended; nothing was booked.",
        round_id=round_id,
    )
