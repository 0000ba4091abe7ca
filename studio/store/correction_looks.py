"""What corrections would move, asked before they are booked: set queries that write nothing."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Function,
    Select,
    and_,
    case,
    func,
    select,
)

from studio.domain.errors import InvariantError
from studio.services.correction_ports import (
    NOTHING_REFUNDED,
    PlayerChange,
    Refund,
    RoundRefund,
)
from studio.store.book import taken_back
from studio.store.forfeits import any_in_round, without_stake_if_forfeited
from studio.store.settling import payout_formula
from studio.store.sums import total
from studio.store.tables import player_balance, round_, wager, wager_ending


def _by_player(
    connection: Connection,
    round_ids: Sequence[str],
    *,
    nets: Mapping[str, Fraction] | None = None,
) -> Select[tuple[str, int, int, int, int, int, int, int, int]]:
    """Return the query for what each player has in each round, and would have."""
    payout: ColumnElement[int] = wager.c.hold_minor
    if nets is not None:
        payout = payout_formula(nets)
        if any(any_in_round(connection, round_id) for round_id in round_ids):
            payout = without_stake_if_forfeited(payout)
    here = wager.c.round_id.in_(round_ids)
    ends = select(func.min(wager.c.number), func.max(wager.c.number)).where(here)
    first, last = connection.execute(ends).one()
    # The bounds spare PostgreSQL the endings of all the past: it would hash them whole.
    standing = and_(
        wager_ending.c.wager_number == wager.c.number,
        wager_ending.c.version == round_.c.settlement_version,
        wager_ending.c.wager_number.between(first or 0, last or 0),
    )
    return (
        select(
            round_.c.id.label("round_id"),
            round_.c.epoch,
            round_.c.number,
            wager.c.player_id,
            func.count().label("wagers"),
            func.count(wager_ending.c.payout_minor).label("ended"),
            total(wager.c.stake_minor).label("stake_minor"),
            total(wager_ending.c.payout_minor).label("before_minor"),
            total(payout).label("after_minor"),
        )
        .select_from(wager)
        .join(round_, round_.c.id == wager.c.round_id)
        .outerjoin(wager_ending, standing)
        .where(here, ~taken_back)
        .group_by(round_.c.id, round_.c.epoch, round_.c.number, wager.c.player_id)
    )


def _up_to_now(expression: Function[int], of: FromClause) -> ColumnElement[int]:
    """Return what this says of a player's rounds so far."""
    return expression.over(partition_by=of.c.player_id, order_by=(of.c.epoch, of.c.number))


def _with_owed(found: FromClause) -> FromClause:
    """Return per round and player what changes, and what the wallet lacks for it by then.

    What was lent up to a round is how far the wallet would have been below 0 at its lowest.
    """
    minor = (found.c.after_minor - found.c.before_minor).label("minor")
    so_far_minor = _up_to_now(func.sum(minor), found).label("so_far_minor")
    sums = select(*found.c, minor, so_far_minor).subquery()
    lowest_minor = player_balance.c.balance_minor + _up_to_now(func.min(sums.c.so_far_minor), sums)
    lent_minor = case((lowest_minor < 0, -lowest_minor), else_=0).label("lent_minor")
    lent = (
        select(*sums.c, lent_minor)
        .join_from(sums, player_balance, player_balance.c.player_id == sums.c.player_id)
        .subquery()
    )
    before_minor = func.coalesce(_up_to_now(func.lag(lent.c.lent_minor), lent), 0)
    return select(*lent.c, (lent.c.lent_minor - before_minor).label("owed_minor")).subquery()


def would_refund(connection: Connection, round_ids: Sequence[str]) -> Refund:
    """Return what annulling these rounds in their order would move; see the port."""
    by_player = _by_player(connection, round_ids).subquery()
    found = _with_owed(by_player).c
    minor = found.minor
    rows = connection.execute(
        select(
            found.round_id,
            total(found.wagers),
            total(found.ended),
            func.count(case((minor != 0, 1))),
            total(found.stake_minor),
            total(found.after_minor),
            total(case((minor > 0, minor), else_=0)),
            total(case((minor < 0, -minor), else_=0)),
            total(found.owed_minor),
        ).group_by(found.round_id)
    ).all()
    rounds = dict.fromkeys(round_ids, NOTHING_REFUNDED)
    for round_id, wagers, have_ended, *sums in rows:
        if have_ended != wagers:
            raise InvariantError(
                "version_missing", f"Round {round_id}: a wager has not ended in the last version."
            )
        players, turnover_minor, payouts_minor, paid_minor, taken_minor, owed_minor = sums
        rounds[round_id] = RoundRefund(
            wagers=wagers,
            players=players,
            turnover_minor=turnover_minor,
            payouts_minor=payouts_minor,
            paid_minor=paid_minor,
            taken_minor=taken_minor,
            owed_minor=owed_minor,
        )
    moved = by_player.c.after_minor != by_player.c.before_minor
    distinct = select(func.count(by_player.c.player_id.distinct())).where(moved)
    return Refund(rounds=rounds, players=connection.execute(distinct).scalar_one())


def player_changes(
    connection: Connection,
    round_ids: Sequence[str],
    *,
    nets: Mapping[str, Fraction] | None,
    player_id: int | None,
) -> Sequence[PlayerChange]:
    """Return what players would get instead; see the port."""
    wanted = _by_player(connection, round_ids, nets=nets)
    if player_id is not None:
        wanted = wanted.where(wager.c.player_id == player_id)
    wanted = wanted.order_by(round_.c.epoch, round_.c.number, wager.c.player_id)
    return [
        PlayerChange(
            round_id=row.round_id,
            player_id=row.player_id,
            before_minor=row.before_minor,
            after_minor=row.after_minor,
        )
        for row in connection.execute(wanted)
    ]
