"""Set queries over corrections and what is owed; each finds one kind of fault, or nothing."""

from collections.abc import Iterator

from sqlalchemy import Connection, FromClause, and_, case, false, func, literal, or_, select

from studio.services.inspection import FAULTS_PER_CHECK_MAX, Fault
from studio.store.audit_money import VERSION_ENDED, Check, Query
from studio.store.correction_tables import player_owed
from studio.store.ledger import VERSION_PLACED
from studio.store.sums import total
from studio.store.tables import (
    LEG_ADJUSTMENT,
    LEG_HELD,
    LEG_OWED,
    LEG_REVERSAL,
    LEG_SHORT,
    LEG_WALLET,
    AccountKind,
    TransferKind,
    account,
    entry,
    player_balance,
    transfer,
    wager,
    wager_ending,
)


def faults(connection: Connection) -> Iterator[Fault]:
    """Run every check; name at most FAULTS_PER_CHECK_MAX places each."""
    for check in CHECKS:
        yield from check.run(connection, limit=FAULTS_PER_CHECK_MAX)


def _lines() -> Query:
    """A correction takes back the payout before and pays its own, both on the wallet."""
    before = wager_ending.alias("before")
    joined = (
        wager.join(
            wager_ending,
            and_(
                wager_ending.c.wager_number == wager.c.number,
                wager_ending.c.version > VERSION_ENDED,
            ),
        )
        .outerjoin(
            before,
            and_(
                before.c.wager_number == wager.c.number,
                before.c.version == wager_ending.c.version - 1,
            ),
        )
        .outerjoin(player_balance, player_balance.c.player_id == wager.c.player_id)
    )
    lines = {}
    for leg in (LEG_WALLET, LEG_REVERSAL, LEG_HELD):
        line = lines[leg] = entry.alias(f"line_{leg}")
        on_account = (
            line.c.account_id == player_balance.c.wallet_id
            if leg != LEG_HELD
            else line.c.leg == leg
        )
        joined = joined.outerjoin(
            line,
            and_(
                line.c.origin_id == wager.c.number,
                line.c.version == wager_ending.c.version,
                line.c.leg == leg,
                on_account,
            ),
        )
    amounts = {leg: func.coalesce(line.c.amount_minor, 0) for leg, line in lines.items()}
    return (
        select(wager.c.id, amounts[LEG_REVERSAL])
        .select_from(joined)
        .where(
            or_(
                before.c.payout_minor.is_(None),
                amounts[LEG_WALLET] != wager_ending.c.payout_minor,
                amounts[LEG_REVERSAL] != -func.coalesce(before.c.payout_minor, 0),
                amounts[LEG_HELD] != 0,
            )
        )
        .order_by(wager.c.number)
    )


def _owed() -> Query:
    folded = (
        select(account.c.owner_id, total(entry.c.amount_minor).label("minor"))
        .join(entry, entry.c.account_id == account.c.id)
        .where(account.c.kind == AccountKind.OWED.value)
        .group_by(account.c.owner_id)
        .subquery()
    )
    return (
        select(folded.c.owner_id, folded.c.minor)
        .outerjoin(player_owed, player_owed.c.player_id == folded.c.owner_id)
        .where(
            or_(folded.c.minor > 0, func.coalesce(player_owed.c.owed_minor, -1) != -folded.c.minor)
        )
        .order_by(folded.c.owner_id)
    )


def _owed_of_nothing() -> Query:
    line = select(entry.c.account_id).where(entry.c.account_id == player_owed.c.owed_id)
    return (
        select(player_owed.c.player_id, player_owed.c.owed_minor)
        .where(player_owed.c.owed_minor != 0, ~line.exists())
        .order_by(player_owed.c.player_id)
    )


def _lent() -> Query:
    """What a wallet was lent in a correction is what was noted as owed."""
    other = entry.alias("owed_line")
    return (
        select(entry.c.transfer_id, entry.c.amount_minor)
        .outerjoin(
            other,
            and_(
                other.c.origin_id == entry.c.origin_id,
                other.c.version == entry.c.version,
                other.c.leg == LEG_OWED,
            ),
        )
        .where(
            entry.c.version > VERSION_ENDED,
            entry.c.leg == LEG_SHORT,
            or_(
                entry.c.amount_minor <= 0,
                func.coalesce(other.c.amount_minor, 0) != -entry.c.amount_minor,
            ),
        )
        .order_by(entry.c.transfer_id)
    )


def _settled() -> Query:
    """What makes a player owe less comes off the own wallet, or off the adjustments."""
    owed, other = entry.alias("owed_line"), entry.alias("other_line")
    mine, theirs = account.alias("owed_account"), account.alias("other_account")
    collects = transfer.c.kind == TransferKind.COLLECT.value
    joined: FromClause = transfer
    for line, on, leg in (
        (owed, mine, literal(LEG_OWED)),
        (other, theirs, case((collects, LEG_WALLET), else_=LEG_ADJUSTMENT)),
    ):
        of_transfer = and_(
            line.c.origin_id == transfer.c.id,
            line.c.version == VERSION_PLACED,
            line.c.leg == leg,
        )
        joined = joined.outerjoin(line, of_transfer).outerjoin(on, on.c.id == line.c.account_id)
    gives = case(
        (
            collects,
            and_(theirs.c.kind == AccountKind.WALLET.value, theirs.c.owner_id == mine.c.owner_id),
        ),
        else_=theirs.c.kind == AccountKind.ADJUSTMENTS.value,
    )
    return (
        select(transfer.c.id, func.coalesce(owed.c.amount_minor, 0))
        .select_from(joined)
        .where(
            or_(collects, transfer.c.kind == TransferKind.WRITE_OFF.value),
            or_(
                func.coalesce(mine.c.kind, "") != AccountKind.OWED.value,
                owed.c.amount_minor <= 0,
                func.coalesce(other.c.amount_minor, 0) != -owed.c.amount_minor,
                ~func.coalesce(gives, false()),
            ),
        )
        .order_by(transfer.c.id)
    )


CHECKS = (
    Check(
        code="correction_differs",
        where="wager {}",
        what="A correction does not take back what was paid and pay what is due ({} came back).",
        query=_lines(),
    ),
    Check(
        code="owed_differs",
        where="player {}",
        what="The entries of what is owed sum to {}; the stored figure differs.",
        query=_owed(),
    ),
    Check(
        code="owed_differs",
        where="player {}",
        what="{} are noted as owed; no entry says so.",
        query=_owed_of_nothing(),
    ),
    Check(
        code="owed_unbooked",
        where="transfer {}",
        what="A wallet was lent {} in a correction, and the player does not owe it.",
        query=_lent(),
    ),
    Check(
        code="owed_settled_wrongly",
        where="transfer {}",
        what="A player owes {} less, and neither the own wallet nor the adjustments gave it.",
        query=_settled(),
    ),
)
