"""Wagers against the bets that the rules of their round know."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from sqlalchemy import BigInteger, Connection, case, func, literal, select

from studio.services.inspection import FAULTS_PER_CHECK_MAX
from studio.store.tables import round_, wager


def impossible(
    connection: Connection,
    table: str,
    *,
    epoch: int,
    rule_version: str,
    exposures: Mapping[str, Fraction],
) -> Sequence[str]:
    """Return ids of wagers on no bet of the game, or with another hold; see the port."""
    # As `money.hold_minor`; never null, for a shoe without bets takes no wager either.
    held = {
        bet: (
            wager.c.stake_minor * literal(exposure.numerator, BigInteger)
            + literal(exposure.denominator - 1, BigInteger)
        )
        // literal(exposure.denominator, BigInteger)
        for bet, exposure in sorted(exposures.items())
    }
    due = case(held, value=wager.c.bet) if held else literal(0, BigInteger)
    wrong = (
        select(wager.c.id)
        .join(round_, round_.c.id == wager.c.round_id)
        .where(
            round_.c.table_code == table,
            round_.c.epoch == epoch,
            round_.c.rule_version == rule_version,
            func.coalesce(due, 0) != wager.c.hold_minor,
        )
        .order_by(wager.c.number)
    )
    return list(connection.scalars(wrong.limit(FAULTS_PER_CHECK_MAX)))
