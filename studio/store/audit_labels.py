"""What stands beside the figures of the ledger: currencies, kinds, times, what a line is."""

from collections.abc import Iterator

from sqlalchemy import Connection, or_, select

from studio.services.inspection import FAULTS_PER_CHECK_MAX, Fault
from studio.store.audit_money import Check
from studio.store.tables import (
    LEG_CASH,
    LEG_WALLET,
    AccountKind,
    TransferKind,
    account,
    entry,
    transfer,
    wager,
)

_CURRENCY = select(account.c.currency).where(account.c.kind == AccountKind.HOUSE_BANK.value)

_CASH_LEGS = (LEG_WALLET, LEG_CASH)

CHECKS = (
    Check(
        code="cash_line_unknown",
        where="transfer {}",
        what="A line of cash that came or went is marked {}, which none is.",
        query=select(entry.c.transfer_id, entry.c.leg)
        .join(transfer, transfer.c.id == entry.c.transfer_id)
        .where(transfer.c.kind == TransferKind.CASH.value, entry.c.leg.not_in(_CASH_LEGS))
        .order_by(entry.c.transfer_id),
    ),
    Check(
        code="account_currency_differs",
        where="account {}",
        what="Its currency is {}, not the house's.",
        query=select(account.c.id, account.c.currency)
        .where(account.c.currency.not_in(_CURRENCY))
        .order_by(account.c.id),
    ),
    Check(
        code="transfer_kind_unknown",
        where="transfer {}",
        what="It was made at {}, and nobody can tell why: its kind is none.",
        query=select(transfer.c.id, transfer.c.at_ms)
        .where(transfer.c.kind.not_in(kind.value for kind in TransferKind))
        .order_by(transfer.c.id),
    ),
    Check(
        code="accepted_differs",
        where="wager {}",
        what="The transfer that reserved its hold is none, or was not made at {}.",
        query=select(wager.c.id, wager.c.accepted_ms)
        .join(transfer, transfer.c.id == wager.c.number)
        .where(
            or_(
                transfer.c.kind != TransferKind.HOLD.value,
                transfer.c.at_ms != wager.c.accepted_ms,
            )
        )
        .order_by(wager.c.number),
    ),
)


def faults(connection: Connection) -> Iterator[Fault]:
    """Run every check."""
    for check in CHECKS:
        yield from check.run(connection, limit=FAULTS_PER_CHECK_MAX)
