"""The words beside the figures of the ledger: currencies, kinds, and what a line is."""

from collections.abc import Iterator

from sqlalchemy import Connection, select

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
)


def faults(connection: Connection) -> Iterator[Fault]:
    """Run every check."""
    for check in CHECKS:
        yield from check.run(connection, limit=FAULTS_PER_CHECK_MAX)
