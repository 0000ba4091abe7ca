"""Tallies counted anew from the endings of all rounds that are in them."""

from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, func, select

from studio.services.club_data import Tally
from studio.services.ports import EndingKind
from studio.store.club_tables import tallied_round
from studio.store.sums import total
from studio.store.tables import round_, transfer, wager, wager_ending

FIRST_VERSION = 1

SPANS = (20_000, 400_000)
"""How many transfers to look back for a player's last loss, before the whole past is read."""


def counted(whose: ColumnElement[bool], *, since: int = 0) -> Select[*tuple[Any, ...]]:
    """Return the query for a player's tallies by name, `hits` (all wagers won) and `lost_last`.

    `lost_last` is 0 where no round was lost.

    Args:
        whose: a condition on `wager`; whoever has no round that counts is left out.
        since: only of rounds that were settled after this transfer.
    """
    net_minor = wager_ending.c.payout_minor - wager.c.hold_minor
    settled_since = select(transfer.c.round_id).where(
        transfer.c.id > since, transfer.c.version == FIRST_VERSION
    )
    # Rounds follow each other as they were settled first, whatever became of them later.
    rounds = (
        select(
            wager.c.player_id,
            transfer.c.id.label("place"),
            total(net_minor).label("net_minor"),
            func.count(case((net_minor > 0, 1))).label("hits"),
        )
        .select_from(tallied_round)
        .join(round_, round_.c.id == tallied_round.c.round_id)
        .join(
            transfer,
            and_(transfer.c.round_id == round_.c.id, transfer.c.version == FIRST_VERSION),
        )
        .join(wager, wager.c.round_id == round_.c.id)
        .join(
            wager_ending,
            and_(
                wager_ending.c.wager_number == wager.c.number,
                wager_ending.c.version == round_.c.settlement_version,
                wager_ending.c.kind == EndingKind.SETTLED.value,
            ),
        )
        .where(whose, wager.c.round_id.in_(settled_since))
        .group_by(wager.c.player_id, transfer.c.id)
        .subquery()
    )
    lost_last = func.max(case((rounds.c.net_minor < 0, rounds.c.place), else_=0))
    ordered = select(
        *rounds.c, lost_last.over(partition_by=rounds.c.player_id).label("lost_last")
    ).subquery()
    won, of = ordered.c.net_minor > 0, ordered.c
    return select(
        of.player_id,
        func.count().label(Tally.ROUNDS),
        func.count(case((won, 1))).label(Tally.WINS),
        func.count(case((of.net_minor < 0, 1))).label(Tally.LOSSES),
        func.count(case((and_(won, of.place > of.lost_last), 1))).label(Tally.WINS_IN_A_ROW),
        func.max(case((won, of.net_minor), else_=0)).label(Tally.WON_MINOR_MAX),
        total(of.hits).label("hits"),
        func.max(of.lost_last).label("lost_last"),
    ).group_by(of.player_id)
