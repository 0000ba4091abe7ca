"""Forfeited wagers as settlement, undo and audit ask about them."""

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Connection,
    String,
    and_,
    bindparam,
    case,
    exists,
    select,
)

from studio.store.play_tables import forfeit
from studio.store.tables import wager

_ROUND: BindParameter[str] = bindparam("in_round", type_=String)
_NUMBER: BindParameter[int] = bindparam("number", type_=BigInteger)
_OF_ROUND = select(forfeit.c.wager_number).where(forfeit.c.round_id == _ROUND).limit(1)
_ONE = select(forfeit.c.wager_number).where(forfeit.c.wager_number == _NUMBER)

forfeited = exists().where(forfeit.c.wager_number == wager.c.number)
"""Condition: the player left the room while the wager stood."""


def any_in_round(connection: Connection, round_id: str) -> bool:
    """Return whether a wager of the round is forfeited: one look into an index."""
    return connection.execute(_OF_ROUND, {"in_round": round_id}).first() is not None


def is_forfeited(connection: Connection, number: int) -> bool:
    """Return whether a wager is forfeited."""
    return connection.execute(_ONE, {"number": number}).first() is not None


def without_stake_if_forfeited(payout: ColumnElement[int]) -> ColumnElement[int]:
    """Return the payout formula of a round with forfeits: the stake at least is lost.

    A deposit comes back unless the hand lost it too, so that leaving is never the cheaper way
    out. What is below already stays: a bet without a result (null) and a loss beyond the hold
    (negative) are faults that stop a settlement.
    """
    deposit = wager.c.hold_minor - wager.c.stake_minor
    return case((and_(forfeited, payout > deposit), deposit), else_=payout)
