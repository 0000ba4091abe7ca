"""Checks of the club: tallies against the endings, every purchase against its own transfer.

Set queries as those of `studio.store.audit_money`: each fetches only what is wrong.
"""

from collections.abc import Iterator

from sqlalchemy import Connection, and_, case, func, or_, select, true, union

from studio.services.club_data import Tally
from studio.services.inspection import FAULTS_PER_CHECK_MAX, Fault
from studio.store.audit_money import Query
from studio.store.club_counts import counted
from studio.store.club_tables import purchase, tally
from studio.store.ledger import VERSION_PLACED
from studio.store.sums import total
from studio.store.tables import (
    LEG_WALLET,
    AccountKind,
    TransferKind,
    account,
    entry,
    transfer,
)

HITS = "hits"
"""All tallies of wagers won, together: which bet counts for which is the game's to say."""

# A row of wins is left out: of two tables that settle at one moment either may come first.
_PROVED = (Tally.ROUNDS, Tally.WINS, Tally.LOSSES, Tally.WON_MINOR_MAX)


def _tallies() -> Query:
    """Return the query for players whose tallies are not what their rounds come to."""
    of_hits = tally.c.name.startswith("hit.", autoescape=True)
    conditions = {**{name.value: tally.c.name == name.value for name in _PROVED}, HITS: of_hits}
    stored = (
        select(
            tally.c.player_id,
            *(
                total(case((condition, tally.c.value), else_=0)).label(name)
                for name, condition in conditions.items()
            ),
        )
        .group_by(tally.c.player_id)
        .subquery()
    )
    due = counted(true()).subquery()
    players = union(select(stored.c.player_id), select(due.c.player_id)).subquery()
    differs = {
        name: func.coalesce(stored.c[name], 0) != func.coalesce(due.c[name], 0)
        for name in conditions
    }
    return (
        select(players.c.player_id, case(*((differ, name) for name, differ in differs.items())))
        .select_from(players)
        .outerjoin(stored, stored.c.player_id == players.c.player_id)
        .outerjoin(due, due.c.player_id == players.c.player_id)
        .where(or_(*differs.values()))
        .order_by(players.c.player_id)
        .limit(FAULTS_PER_CHECK_MAX)
    )


_IS_SHOP = transfer.c.kind == TransferKind.SHOP.value

_DIFFERS = (
    select(purchase.c.player_id, purchase.c.item, func.coalesce(-entry.c.amount_minor, 0))
    .select_from(purchase)
    .outerjoin(
        transfer,
        and_(
            transfer.c.id == purchase.c.transfer_id,
            transfer.c.reason == purchase.c.item,
            _IS_SHOP,
        ),
    )
    .outerjoin(
        entry,
        and_(
            entry.c.origin_id == transfer.c.id,
            entry.c.version == VERSION_PLACED,
            entry.c.leg == LEG_WALLET,
        ),
    )
    .outerjoin(
        account,
        and_(
            account.c.id == entry.c.account_id,
            account.c.kind == AccountKind.WALLET.value,
            account.c.owner_id == purchase.c.player_id,
        ),
    )
    .where(or_(account.c.id.is_(None), entry.c.amount_minor != -purchase.c.price_minor))
    .order_by(purchase.c.player_id, purchase.c.item)
    .limit(FAULTS_PER_CHECK_MAX)
)
"""Transfer, wallet or price of a purchase are not its own."""

_MISSING = (
    select(transfer.c.id, transfer.c.reason)
    .outerjoin(purchase, purchase.c.transfer_id == transfer.c.id)
    .where(_IS_SHOP, purchase.c.item.is_(None))
    .order_by(transfer.c.id)
    .limit(FAULTS_PER_CHECK_MAX)
)
"""Paid, but nothing was handed over."""


def faults(connection: Connection) -> Iterator[Fault]:
    """Run every check; name at most FAULTS_PER_CHECK_MAX places each."""
    for player_id, name in connection.execute(_tallies()):
        yield Fault(
            code="tally_differs",
            where=f"player {player_id}",
            what=f"The tally {name} is not what the counted rounds come to.",
        )
    for player_id, item, paid_minor in connection.execute(_DIFFERS):
        yield Fault(
            code="purchase_differs",
            where=f"player {player_id}",
            what=f"{item} was not paid for as noted: {paid_minor} left this wallet for it.",
        )
    for transfer_id, item in connection.execute(_MISSING):
        yield Fault(
            code="purchase_missing",
            where=f"transfer {transfer_id}",
            what=f"It paid for {item}, but that was not bought.",
        )
