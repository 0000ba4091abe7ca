"""Checks of the shop: every purchase was paid for by its own transfer, every one of those bought.

Set queries as those of `studio.store.audit_money`: each fetches only what is wrong.
"""

from collections.abc import Iterator

from sqlalchemy import Connection, and_, func, or_, select

from studio.services.inspection import FAULTS_PER_CHECK_MAX, Fault
from studio.store.club_tables import purchase
from studio.store.ledger import VERSION_PLACED
from studio.store.tables import (
    LEG_WALLET,
    AccountKind,
    TransferKind,
    account,
    entry,
    transfer,
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
    """Run both checks; name at most FAULTS_PER_CHECK_MAX places each."""
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
