"""Correcting a settled round: what was paid is taken back, what is due is paid, in set statements.

Locks in the order that holds everywhere: the log of the table (the caller's), the round's row,
the players' balances in order of their ids. A wager of a round that runs meanwhile locks that
round's row and its player, never a round after a player.

Entries of a version n+1 add up beside the old ones, which stay: the reversal and the new payout
of each wager on the wallet, their difference on the bank. A wallet that does not reach is filled
up to 0 from the player's own account of what is owed.
"""

from collections.abc import Mapping
from fractions import Fraction

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    FromClause,
    Integer,
    MetaData,
    Select,
    SmallInteger,
    String,
    Table,
    and_,
    case,
    exists,
    func,
    insert,
    literal,
    select,
    true,
    union_all,
    update,
)
from sqlalchemy.exc import DataError

from studio.domain.errors import InvariantError
from studio.services.correction_ports import BetChange, BookCorrected, PayoutChange
from studio.services.ports import EndingKind
from studio.store.book import taken_back
from studio.store.clock import UnitClock
from studio.store.correction_tables import player_owed
from studio.store.ending import (
    ENTRY_COLUMNS,
    Ending,
    begin_ending,
    need_equal,
    write_endings,
    written_rows,
)
from studio.store.forfeits import any_in_round, without_stake_if_forfeited
from studio.store.ledger import HouseAccounts, write_house
from studio.store.settling import fits, lock_round, payout_formula, too_large
from studio.store.sums import total
from studio.store.tables import (
    LEG_OWED,
    LEG_REVERSAL,
    LEG_SHORT,
    LEG_WALLET,
    AccountKind,
    TransferKind,
    account,
    entry,
    player_balance,
    wager,
    wager_ending,
)

amend = Table(
    "amend",
    MetaData(),
    Column("number", BigInteger),
    Column("player_id", BigInteger),
    Column("bet", String),
    Column("stake_minor", BigInteger),
    Column("hold_minor", BigInteger),
    Column("before_minor", BigInteger),
    Column("payout_minor", BigInteger),
)
"""One correction's working paper: the wagers that stand, what each was paid and what it is due."""

lack = Table(
    "lack",
    MetaData(),
    Column("number", BigInteger),
    Column("player_id", BigInteger),
    Column("wallet_id", BigInteger),
    Column("minor", BigInteger),
)
"""What wallets lack, a row for each player who can't give back all; `number` is the player's
first wager of the round."""


def correct(
    connection: Connection,
    clock: UnitClock,
    house: HouseAccounts,
    *,
    round_id: str,
    version: int,
    nets: Mapping[str, Fraction] | None,
) -> BookCorrected:
    """End every wager anew; see the port `Wagers.correct`."""
    lock_round(connection, round_id)
    _lock_players(connection, round_id)
    changes = _changes(connection, round_id, version=version, nets=nets)
    try:
        connection.execute(changes.into(amend.name, temporary=True))
        booked = _summed_up(connection, amend, round_id, nets=nets)
    except DataError as error:
        raise too_large(round_id) from error
    under_way = begin_ending(
        connection,
        clock,
        round_id=round_id,
        version=version,
        kind=EndingKind.REFUNDED if nets is None else EndingKind.SETTLED,
        transfer=TransferKind.CORRECTION,
    )
    write_endings(connection, under_way, amend, count=booked.count)
    _write_entries(connection, under_way)
    write_house(
        connection,
        house,
        transfer_id=under_way.transfer_id,
        version=version,
        amount_minor=booked.taken_minor - booked.paid_minor,
    )
    _write_owed(connection, under_way, booked)
    _move_balances(connection)
    for paper in (amend, lack):
        paper.drop(connection, checkfirst=False)
    return booked


def would_correct(
    connection: Connection, *, round_id: str, version: int, nets: Mapping[str, Fraction] | None
) -> BookCorrected:
    """Return what a correction would do now; see the port."""
    changes = _changes(connection, round_id, version=version, nets=nets)
    try:
        return _summed_up(connection, changes.subquery(), round_id, nets=nets)
    except DataError as error:
        raise too_large(round_id) from error


def payout_changes(
    connection: Connection, *, round_id: str, version: int
) -> Mapping[int, PayoutChange]:
    """Return per player what two versions paid; see the port."""
    last = wager_ending.c.version == version

    def of(condition: ColumnElement[bool]) -> ColumnElement[int]:
        return total(case((condition, wager_ending.c.payout_minor), else_=0))

    rows = connection.execute(
        select(wager.c.player_id, of(~last), of(last))
        .join(wager_ending, wager_ending.c.wager_number == wager.c.number)
        .where(
            wager.c.round_id == round_id,
            ~taken_back,
            wager_ending.c.version.in_((version - 1, version)),
        )
        .group_by(wager.c.player_id)
    )
    return {
        player_id: PayoutChange(before_minor=before, after_minor=after)
        for player_id, before, after in rows
    }


# What changes ----------------------------------------------------------------------------------


def _lock_players(connection: Connection, round_id: str) -> None:
    """Lock the balances before they are looked at: what a wallet lacks depends on them."""
    players = (
        select(player_balance.c.player_id)
        .where(
            player_balance.c.player_id.in_(
                select(wager.c.player_id).where(wager.c.round_id == round_id)
            )
        )
        .order_by(player_balance.c.player_id)
        .with_for_update()
        .subquery()
    )
    connection.execute(select(func.count()).select_from(players))


def _changes(
    connection: Connection, round_id: str, *, version: int, nets: Mapping[str, Fraction] | None
) -> Select[tuple[int, int, str, int, int, int, int]]:
    """Return the query for the wagers that stand, with what they were paid and are due."""
    payout: ColumnElement[int] = wager.c.hold_minor
    if nets is not None:
        payout = payout_formula(nets)
        if any_in_round(connection, round_id):
            payout = without_stake_if_forfeited(payout)
    here = wager.c.round_id == round_id
    ends = [
        select(end(wager.c.number)).where(here).scalar_subquery() for end in (func.min, func.max)
    ]
    first, last = connection.execute(select(*ends)).one()
    # The bounds spare PostgreSQL the endings of all the past: it would hash them whole.
    before = and_(
        wager_ending.c.wager_number == wager.c.number,
        wager_ending.c.version == version - 1,
        wager_ending.c.wager_number.between(first or 0, last or 0),
    )
    return (
        select(
            wager.c.number,
            wager.c.player_id,
            wager.c.bet,
            wager.c.stake_minor,
            wager.c.hold_minor,
            wager_ending.c.payout_minor.label("before_minor"),
            payout.label("payout_minor"),
        )
        .select_from(wager)
        .outerjoin(wager_ending, before)
        .where(here, ~taken_back)
        .order_by(wager.c.number)
    )


def _summed_up(
    connection: Connection,
    paper: FromClause,
    round_id: str,
    *,
    nets: Mapping[str, Fraction] | None,
) -> BookCorrected:
    """Return what the working paper sums up to; every fault of it stops the correction."""
    of = paper.c
    rows = connection.execute(
        select(
            of.bet,
            func.count(),
            func.count(of.before_minor),
            func.count(of.payout_minor),
            func.coalesce(func.min(of.payout_minor), 0),
            func.max(of.hold_minor),
            func.max(of.stake_minor),
            total(of.stake_minor),
            total(of.before_minor),
            total(of.payout_minor),
        )
        .group_by(of.bet)
        .order_by(of.bet)
    ).all()
    for bet, count, with_before, with_payout, least_minor, hold_minor, stake_minor, *_ in rows:
        if with_before != count:
            raise _broken("version_missing", round_id, "a wager has not ended in the last version")
        if with_payout != count:
            raise _broken("bet_without_result", round_id, f"wagers on {bet} have no result")
        if nets is not None and not fits(hold_minor, stake_minor, nets[bet]):
            raise too_large(round_id, bet=bet)
        if least_minor < 0:
            raise _broken("payout_negative", round_id, "a bet lost more than was held for it")
    bets = tuple(
        BetChange(
            bet=row[0], count=row[1], stake_minor=row[7], before_minor=row[8], after_minor=row[9]
        )
        for row in rows
    )
    players, paid_minor, taken_minor, owed_minor = _by_player(connection, paper)
    return BookCorrected(
        count=sum(bet.count for bet in bets),
        turnover_minor=sum(bet.stake_minor for bet in bets),
        payouts_minor=sum(bet.after_minor for bet in bets),
        players=players,
        paid_minor=paid_minor,
        taken_minor=taken_minor,
        owed_minor=owed_minor,
        bets=bets,
    )


def _by_player(connection: Connection, paper: FromClause) -> tuple[int, int, int, int]:
    """Return players whose money changes, what is paid, what is taken, what is not there."""
    moved = _moved(paper)
    minor = moved.c.minor
    left_minor = player_balance.c.balance_minor + minor
    row = connection.execute(
        select(
            func.count(case((minor != 0, 1))),
            total(case((minor > 0, minor), else_=0)),
            total(case((minor < 0, -minor), else_=0)),
            total(case((left_minor < 0, -left_minor), else_=0)),
        ).join_from(moved, player_balance, player_balance.c.player_id == moved.c.player_id)
    ).one()
    return row[0], row[1], row[2], row[3]


def _moved(paper: FromClause) -> FromClause:
    """Return per player the first wager and what changes on balance."""
    return (
        select(
            paper.c.player_id,
            func.min(paper.c.number).label("number"),
            (total(paper.c.payout_minor) - total(paper.c.before_minor)).label("minor"),
        )
        .group_by(paper.c.player_id)
        .subquery("moved")
    )


def _broken(code: str, round_id: str, what: str) -> InvariantError:
    return InvariantError(code, f"Round {round_id}: {what}.", round_id=round_id)


# What is written -------------------------------------------------------------------------------


def _legs(*legs: int) -> FromClause:
    return union_all(*(select(literal(leg, SmallInteger).label("leg")) for leg in legs)).subquery(
        "legs"
    )


def _write_entries(connection: Connection, under_way: Ending) -> None:
    legs = _legs(LEG_WALLET, LEG_REVERSAL)
    pays = legs.c.leg == LEG_WALLET
    amount = case((pays, amend.c.payout_minor), else_=-amend.c.before_minor)
    rows = (
        select(
            amend.c.number,
            literal(under_way.version, Integer),
            legs.c.leg,
            literal(under_way.transfer_id, BigInteger),
            player_balance.c.wallet_id,
            amount,
        )
        .select_from(
            amend.join(player_balance, player_balance.c.player_id == amend.c.player_id).outerjoin(
                legs, true()
            )
        )
        .where(amount != 0)
    )
    due = connection.execute(
        select(
            func.count(case((amend.c.payout_minor > 0, 1)))
            + func.count(case((amend.c.before_minor > 0, 1)))
        )
    ).scalar_one()
    written = written_rows(connection, insert(entry).from_select(ENTRY_COLUMNS, rows))
    need_equal("entries", under_way.round_id, found=written, expected=due)


def _write_owed(connection: Connection, under_way: Ending, booked: BookCorrected) -> None:
    """Book what wallets lack as owed; the players' rows are locked, so nobody else does."""
    moved = _moved(amend)
    left_minor = player_balance.c.balance_minor + moved.c.minor
    lacking = (
        select(
            moved.c.number,
            moved.c.player_id,
            player_balance.c.wallet_id,
            (-left_minor).label("minor"),
        )
        .join_from(moved, player_balance, player_balance.c.player_id == moved.c.player_id)
        .where(left_minor < 0)
    )
    connection.execute(lacking.into(lack.name, temporary=True))
    if not booked.owed_minor:
        return
    _open_accounts(connection)
    legs = _legs(LEG_SHORT, LEG_OWED)
    lends = legs.c.leg == LEG_SHORT
    rows = select(
        lack.c.number,
        literal(under_way.version, Integer),
        legs.c.leg,
        literal(under_way.transfer_id, BigInteger),
        case((lends, lack.c.wallet_id), else_=player_owed.c.owed_id),
        case((lends, lack.c.minor), else_=-lack.c.minor),
    ).select_from(
        lack.join(player_owed, player_owed.c.player_id == lack.c.player_id).outerjoin(legs, true())
    )
    connection.execute(insert(entry).from_select(ENTRY_COLUMNS, rows))
    connection.execute(
        update(player_owed)
        .where(player_owed.c.player_id == lack.c.player_id)
        .values(owed_minor=player_owed.c.owed_minor + lack.c.minor)
    )
    found = connection.execute(select(total(lack.c.minor))).scalar_one()
    need_equal("owed", under_way.round_id, found=found, expected=booked.owed_minor)


def _open_accounts(connection: Connection) -> None:
    """Give an account of what is owed to each player who lacks money and has none yet."""
    owed = AccountKind.OWED.value
    mine = account.alias("mine")
    has = exists().where(mine.c.owner_id == lack.c.player_id, mine.c.kind == owed)
    wallets = (
        select(literal(owed, String), lack.c.player_id, account.c.currency)
        .join_from(lack, account, account.c.id == lack.c.wallet_id)
        .where(~has)
    )
    connection.execute(insert(account).from_select(["kind", "owner_id", "currency"], wallets))
    noted = exists().where(player_owed.c.player_id == lack.c.player_id)
    rows = (
        select(lack.c.player_id, account.c.id, literal(0, BigInteger))
        .join_from(
            lack, account, and_(account.c.owner_id == lack.c.player_id, account.c.kind == owed)
        )
        .where(~noted)
    )
    connection.execute(
        insert(player_owed).from_select(["player_id", "owed_id", "owed_minor"], rows)
    )


def _move_balances(connection: Connection) -> None:
    moved = _moved(amend)
    after_minor = player_balance.c.balance_minor + moved.c.minor
    connection.execute(
        update(player_balance)
        .where(player_balance.c.player_id == moved.c.player_id)
        .values(balance_minor=case((after_minor < 0, 0), else_=after_minor))
    )
