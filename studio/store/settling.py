"""Settling and refunding a round: a fixed number of set statements, whatever the wagers' number.

The game says once what a unit on each bet brings; the database does the rest in one transaction.
One reading of the book works out what is due to whom into a temporary table; endings, two entries
a wager, one entry of the house and the balances are written from there, in the order of their
keys. What was written is counted and summed up against what was due, so that a sum that does not
close stops the unit.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    FromClause,
    Integer,
    MetaData,
    SmallInteger,
    String,
    Table,
    and_,
    case,
    cast,
    column,
    func,
    insert,
    literal,
    null,
    select,
    true,
    union_all,
    update,
    values,
)
from sqlalchemy.exc import DataError

from studio.domain.errors import InvariantError
from studio.services.ports import BookSettled, EndingKind
from studio.store.clock import UnitClock
from studio.store.ending import (
    ENTRY_COLUMNS,
    Ending,
    begin_ending,
    ended_twice,
    need_equal,
    write_endings,
    written_rows,
)
from studio.store.forfeits import any_in_round, without_stake_if_forfeited
from studio.store.ledger import HouseAccounts, write_house
from studio.store.sums import total
from studio.store.tables import (
    LEG_HELD,
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

due = Table(
    "due",
    MetaData(),
    Column("number", BigInteger),
    Column("player_id", BigInteger),
    Column("bet", String),
    Column("held_id", BigInteger),
    Column("wallet_id", BigInteger),
    Column("stake_minor", BigInteger),
    Column("hold_minor", BigInteger),
    Column("payout_minor", BigInteger),
    Column("ended", Integer),
)
"""One settlement's working paper: the wagers that stand, their accounts and what each pays.
Nothing of it outlives the transaction. `payout_minor` is null for a bet without a result, the
accounts for a player without balances, `ended` for a wager without an ending."""


@dataclass(frozen=True, kw_only=True)
class _Due:
    """What the working paper sums up to."""

    count: int
    """Wagers; the next three count those with a result, with accounts, with an ending."""
    with_result: int
    with_accounts: int
    ended: int
    paid: int
    """Wagers that get something back."""
    stake_minor: int
    hold_minor: int
    payout_minor: int
    least_payout_minor: int
    stake_max_minor: int
    hold_max_minor: int


def settle(
    connection: Connection,
    clock: UnitClock,
    house: HouseAccounts,
    *,
    round_id: str,
    version: int,
    nets: Mapping[str, Fraction],
) -> BookSettled:
    """End every open wager by its bet's net, a forfeited one by nothing; see the port."""
    lock_round(connection, round_id)
    try:
        payout = payout_formula(nets)
        if any_in_round(connection, round_id):
            payout = without_stake_if_forfeited(payout)
        sums = _work_out(connection, round_id, payout=payout)
    except DataError as error:
        raise too_large(round_id) from error
    if sums.with_result != sums.count:
        raise _without_result(connection, round_id)
    _need_64_bits(connection, round_id, sums, nets)
    return _end(
        connection,
        clock,
        house,
        round_id=round_id,
        version=version,
        kind=EndingKind.SETTLED,
        sums=sums,
    )


def refund(
    connection: Connection, clock: UnitClock, house: HouseAccounts, *, round_id: str, version: int
) -> BookSettled:
    """Give every open wager its whole hold back; see the port `Wagers.refund`."""
    lock_round(connection, round_id)
    sums = _work_out(connection, round_id, payout=wager.c.hold_minor)
    return _end(
        connection,
        clock,
        house,
        round_id=round_id,
        version=version,
        kind=EndingKind.REFUNDED,
        sums=sums,
    )


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


# What is due -----------------------------------------------------------------------------------


def lock_round(connection: Connection, round_id: str) -> None:
    """Wait until no wager of the round is in flight."""
    locked = connection.execute(
        select(round_.c.id).where(round_.c.id == round_id).with_for_update()
    ).first()
    if locked is None:
        raise InvariantError("unknown_round", f"There is no round {round_id}.", round_id=round_id)


def payout_formula(nets: Mapping[str, Fraction]) -> ColumnElement[int]:
    """Return the payout formula, one branch a bet: no table to look up a hundred thousand times."""

    def of_bet(net: Fraction) -> ColumnElement[int]:
        num, den = literal(net.numerator, BigInteger), literal(net.denominator, BigInteger)
        exact = wager.c.hold_minor * den + wager.c.stake_minor * num
        # A loss beyond the hold must not be rounded to 0: -1 is refused.
        return case((exact < 0, literal(-1, BigInteger)), else_=exact // den)

    branches = {bet: of_bet(net) for bet, net in sorted(nets.items())}
    return case(branches, value=wager.c.bet) if branches else cast(null(), BigInteger)


def _work_out(connection: Connection, round_id: str, *, payout: ColumnElement[int]) -> _Due:
    """Fill the working paper from the book, in order of the wagers, and sum it up."""
    here = wager.c.round_id == round_id
    ends = [
        select(end(wager.c.number)).where(here).scalar_subquery() for end in (func.min, func.max)
    ]
    first, last = connection.execute(select(*ends)).one()
    # The bounds spare PostgreSQL the endings of all the past: it would hash them whole.
    has_ended = and_(
        wager_ending.c.wager_number == wager.c.number,
        wager_ending.c.wager_number.between(first or 0, last or 0),
    )
    standing = (
        select(
            wager.c.number,
            wager.c.player_id,
            wager.c.bet,
            player_balance.c.held_id,
            player_balance.c.wallet_id,
            wager.c.stake_minor,
            wager.c.hold_minor,
            payout.label("payout_minor"),
            wager_ending.c.version.label("ended"),
        )
        .select_from(wager)
        .outerjoin(player_balance, player_balance.c.player_id == wager.c.player_id)
        .outerjoin(wager_ending, has_ended)
        .where(here, func.coalesce(wager_ending.c.kind, "") != EndingKind.UNDONE.value)
        .order_by(wager.c.number)
    )
    connection.execute(standing.into(due.name, temporary=True))
    return _summed_up(connection)


def _summed_up(connection: Connection) -> _Due:
    row = connection.execute(
        select(
            func.count(),
            func.count(due.c.payout_minor),
            func.count(due.c.held_id),
            func.count(due.c.ended),
            func.count(case((due.c.payout_minor > 0, 1))),
            total(due.c.stake_minor),
            total(due.c.hold_minor),
            total(due.c.payout_minor),
            func.coalesce(func.min(due.c.payout_minor), 0),
            func.coalesce(func.max(due.c.stake_minor), 0),
            func.coalesce(func.max(due.c.hold_minor), 0),
        )
    ).one()
    return _Due(
        count=row[0],
        with_result=row[1],
        with_accounts=row[2],
        ended=row[3],
        paid=row[4],
        stake_minor=row[5],
        hold_minor=row[6],
        payout_minor=row[7],
        least_payout_minor=row[8],
        stake_max_minor=row[9],
        hold_max_minor=row[10],
    )


def _without_result(connection: Connection, round_id: str) -> InvariantError:
    bet, count = connection.execute(
        select(due.c.bet, func.count())
        .where(due.c.payout_minor.is_(None))
        .group_by(due.c.bet)
        .order_by(due.c.bet)
    ).first() or ("", 0)
    return InvariantError(
        "bet_without_result",
        f"Round {round_id}: {count} wagers on {bet} have no result.",
        round_id=round_id,
        bet=bet,
    )


def _need_64_bits(
    connection: Connection, round_id: str, sums: _Due, nets: Mapping[str, Fraction]
) -> None:
    """Refuse a payout that the database's integers could not hold on the way.

    |hold x den + stake x num| <= hold_max x den + stake_max x |num|, and the latter is an ordinary
    Python integer: what passes here can't have overflowed in SQLite, which would go on with a
    rounded number. PostgreSQL stops by itself.
    """
    if all(fits(sums.hold_max_minor, sums.stake_max_minor, net) for net in nets.values()):
        return
    by_bet = connection.execute(
        select(due.c.bet, func.max(due.c.hold_minor), func.max(due.c.stake_minor))
        .group_by(due.c.bet)
        .order_by(due.c.bet)
    )
    for bet, hold_minor, stake_minor in by_bet.all():
        if not fits(hold_minor, stake_minor, nets[bet]):
            raise too_large(round_id, bet=bet)


def fits(hold_minor: int, stake_minor: int, net: Fraction) -> bool:
    """Return whether the payout formula stays within 64 bits."""
    return hold_minor * net.denominator + stake_minor * abs(net.numerator) <= INTEGER_MAX


def too_large(round_id: str, *, bet: str | None = None) -> InvariantError:
    """Return the error of a payout beyond 64 bits."""
    return InvariantError(
        "payout_too_large",
        f"Round {round_id}: a payout on {bet or 'some bet'} does not fit 64 bits.",
        round_id=round_id,
        bet=bet,
    )


# What is written -------------------------------------------------------------------------------


def _end(
    connection: Connection,
    clock: UnitClock,
    house: HouseAccounts,
    *,
    round_id: str,
    version: int,
    kind: EndingKind,
    sums: _Due,
) -> BookSettled:
    if sums.ended:
        raise ended_twice(round_id)
    if sums.least_payout_minor < 0:
        raise InvariantError(
            "payout_negative",
            f"Round {round_id}: a bet lost more than was held for it.",
            round_id=round_id,
        )
    need_equal("accounts", round_id, found=sums.with_accounts, expected=sums.count)
    settles = kind is EndingKind.SETTLED
    under_way = begin_ending(
        connection,
        clock,
        round_id=round_id,
        version=version,
        kind=kind,
        transfer=TransferKind.SETTLEMENT if settles else TransferKind.REFUND,
    )
    write_endings(connection, under_way, due, count=sums.count)
    _write_entries(connection, under_way, sums)
    write_house(
        connection,
        house,
        transfer_id=under_way.transfer_id,
        version=version,
        amount_minor=sums.hold_minor - sums.payout_minor,
    )
    _move_balances(connection, under_way)
    due.drop(connection, checkfirst=False)
    return BookSettled(
        count=sums.count, turnover_minor=sums.stake_minor, payouts_minor=sums.payout_minor
    )


def _write_entries(connection: Connection, under_way: Ending, sums: _Due) -> None:
    """Write both lines of every wager, and read back what they sum up to."""
    legs = union_all(
        *(select(literal(leg, SmallInteger).label("leg")) for leg in (LEG_HELD, LEG_WALLET))
    ).subquery("legs")
    on_held = legs.c.leg == LEG_HELD
    rows = (
        select(
            due.c.number,
            literal(under_way.version, Integer),
            legs.c.leg,
            literal(under_way.transfer_id, BigInteger),
            case((on_held, due.c.held_id), else_=due.c.wallet_id),
            case((on_held, -due.c.hold_minor), else_=due.c.payout_minor),
        )
        # Outer, so that SQLite keeps the wagers outside and the keys come in their order.
        .select_from(due.outerjoin(legs, true()))
        .where(on_held | (due.c.payout_minor > 0))
    )
    written = written_rows(connection, insert(entry).from_select(ENTRY_COLUMNS, rows))
    need_equal("entries", under_way.round_id, found=written, expected=sums.count + sums.paid)
    first = select(func.min(due.c.number)).scalar_subquery()
    last = select(func.max(due.c.number)).scalar_subquery()
    stored_minor = connection.execute(
        select(total(entry.c.amount_minor)).where(
            entry.c.origin_id.between(first, last),
            entry.c.version == under_way.version,
            entry.c.transfer_id == under_way.transfer_id,
        )
    ).scalar_one()
    need_equal(
        "amounts",
        under_way.round_id,
        found=stored_minor,
        expected=sums.payout_minor - sums.hold_minor,
    )


def _move_balances(connection: Connection, under_way: Ending) -> None:
    """Fold the settlement into the players' balances.

    Rows are locked in order of the players' ids first: settlements of two tables with the same
    players would else lock them in different orders.
    """
    if connection.dialect.name == "postgresql":
        players = (
            select(player_balance.c.player_id)
            .where(player_balance.c.player_id.in_(select(due.c.player_id)))
            .order_by(player_balance.c.player_id)
            .with_for_update()
            .subquery()
        )
        connection.execute(select(func.count()).select_from(players))
    moved = (
        select(
            due.c.player_id,
            total(due.c.hold_minor).label("hold_minor"),
            total(due.c.payout_minor).label("payout_minor"),
        )
        .group_by(due.c.player_id)
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
