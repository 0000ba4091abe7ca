"""Set queries over ledger, balances, wagers and decks; each finds one kind of fault, or nothing.

A query selects (where, detail) of what is wrong. None fetches what is right, so that a clean
past of any length costs no memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import (
    Connection,
    FromClause,
    Select,
    Text,
    and_,
    cast,
    exists,
    func,
    or_,
    select,
)

from studio.domain.round import Phase
from studio.services.inspection import FAULTS_PER_CHECK_MAX, Fault
from studio.services.ports import EndingKind
from studio.store.book import ended, taken_back
from studio.store.ledger import HOUSE, VERSION_PLACED
from studio.store.play_tables import forfeit, room, room_member
from studio.store.sums import total
from studio.store.tables import (
    LEG_HELD,
    LEG_PLAY,
    LEG_WALLET,
    AccountKind,
    TransferKind,
    account,
    deck_card,
    deck_set,
    entry,
    player_balance,
    round_,
    stake_quota,
    transfer,
    wager,
    wager_ending,
)

Query: TypeAlias = Select[*tuple[Any, ...]]
"""Selects two columns: where the fault is, and a figure that says more."""

VERSION_ENDED = 1
"""The first version in which a wager may end."""

OVER = (Phase.SETTLED.value, Phase.VOID.value)
NEVER_EMPTY = (TransferKind.HOLD, TransferKind.CASH, TransferKind.PURSE, TransferKind.SHOP)


@dataclass(frozen=True, kw_only=True)
class Check:
    """One kind of fault: `query` selects where it is and a number that says more."""

    code: str
    where: str
    what: str
    query: Query

    def run(self, connection: Connection, *, limit: int) -> Iterator[Fault]:
        """Yield at most `limit` places of the fault."""
        for where, detail in connection.execute(self.query.limit(limit)).all():
            yield Fault(
                code=self.code, where=self.where.format(where), what=self.what.format(detail)
            )


def faults(connection: Connection) -> Iterator[Fault]:
    """Run every check; name at most FAULTS_PER_CHECK_MAX places each."""
    for check in CHECKS:
        yield from check.run(connection, limit=FAULTS_PER_CHECK_MAX)


def _ledger_sum() -> Query:
    return select(cast(func.count(), Text), total(entry.c.amount_minor)).having(
        total(entry.c.amount_minor) != 0
    )


def _unbalanced() -> Query:
    return (
        select(entry.c.transfer_id, total(entry.c.amount_minor))
        .group_by(entry.c.transfer_id)
        .having(total(entry.c.amount_minor) != 0)
        .order_by(entry.c.transfer_id)
    )


def _dangling() -> Query:
    return (
        select(entry.c.origin_id, entry.c.transfer_id)
        .outerjoin(transfer, transfer.c.id == entry.c.transfer_id)
        .outerjoin(account, account.c.id == entry.c.account_id)
        .where(or_(transfer.c.id.is_(None), account.c.id.is_(None)))
        .order_by(entry.c.origin_id)
    )


def _empty_transfer() -> Query:
    """Money was to move and did not: a settlement alone may be empty (a round without wagers)."""
    line = exists().where(entry.c.origin_id == transfer.c.id, entry.c.version == VERSION_PLACED)
    return (
        select(transfer.c.id, transfer.c.at_ms)
        .where(
            transfer.c.kind.in_(kind.value for kind in NEVER_EMPTY),
            ~line,
        )
        .order_by(transfer.c.id)
    )


def _balances(kind: AccountKind) -> Query:
    folded = (
        select(account.c.owner_id, total(entry.c.amount_minor).label("minor"))
        .join(entry, entry.c.account_id == account.c.id)
        .where(account.c.kind == kind.value)
        .group_by(account.c.owner_id)
        .subquery()
    )
    stored = player_balance.c
    column = stored.balance_minor if kind is AccountKind.WALLET else stored.held_minor
    owners = select(account.c.owner_id).where(
        account.c.kind == kind.value, account.c.owner_id != HOUSE
    )
    players = owners.subquery()
    return (
        select(players.c.owner_id, func.coalesce(folded.c.minor, 0))
        .select_from(players)
        .outerjoin(folded, folded.c.owner_id == players.c.owner_id)
        .outerjoin(player_balance, stored.player_id == players.c.owner_id)
        .where(func.coalesce(column, -1) != func.coalesce(folded.c.minor, 0))
        .order_by(players.c.owner_id)
    )


_undone = wager_ending.c.kind == EndingKind.UNDONE.value


def _ended_twice() -> Query:
    """More endings than the keys can tell apart: one taken back has no other in any version."""
    other = wager_ending.alias("other")
    return (
        select(wager.c.id, other.c.version)
        .join(wager_ending, wager_ending.c.wager_number == wager.c.number)
        .join(
            other,
            and_(
                other.c.wager_number == wager.c.number,
                other.c.version != wager_ending.c.version,
            ),
        )
        .where(_undone)
        .order_by(wager.c.number)
    )


def _unsettled() -> Query:
    return (
        select(wager.c.id, wager.c.hold_minor)
        .join(round_, round_.c.id == wager.c.round_id)
        .where(round_.c.phase.in_(OVER), ~ended)
        .order_by(wager.c.number)
    )


def _ended_early() -> Query:
    return (
        select(wager.c.id, wager_ending.c.payout_minor)
        .join(round_, round_.c.id == wager.c.round_id)
        .join(wager_ending, wager_ending.c.wager_number == wager.c.number)
        .where(round_.c.phase.not_in(OVER), ~_undone)
        .order_by(wager.c.number)
    )


def _ending_of_nothing() -> Query:
    return (
        select(wager_ending.c.wager_number, wager_ending.c.payout_minor)
        .outerjoin(wager, wager.c.number == wager_ending.c.wager_number)
        .outerjoin(transfer, transfer.c.id == wager_ending.c.transfer_id)
        .where(or_(wager.c.number.is_(None), transfer.c.id.is_(None)))
        .order_by(wager_ending.c.wager_number)
    )


def _lines(version: Any, *, held_minor: Any, wallet_minor: Any, source: Any) -> Query:
    """Return wagers whose two lines of a version are not these amounts on these accounts."""
    held, wallet = entry.alias("held_line"), entry.alias("wallet_line")
    joined = source.outerjoin(player_balance, player_balance.c.player_id == wager.c.player_id)
    for line, leg, owner in (
        (held, LEG_HELD, player_balance.c.held_id),
        (wallet, LEG_WALLET, player_balance.c.wallet_id),
    ):
        joined = joined.outerjoin(
            line,
            and_(
                line.c.origin_id == wager.c.number,
                line.c.version == version,
                line.c.leg == leg,
                line.c.account_id == owner,
            ),
        )
    return (
        select(wager.c.id, func.coalesce(held.c.amount_minor, 0))
        .select_from(joined)
        .where(
            or_(
                func.coalesce(held.c.amount_minor, 0) != held_minor,
                func.coalesce(wallet.c.amount_minor, 0) != wallet_minor,
            )
        )
        .order_by(wager.c.number)
    )


def _hold_lines() -> Query:
    return _lines(
        VERSION_PLACED,
        held_minor=wager.c.hold_minor,
        wallet_minor=-wager.c.hold_minor,
        source=wager,
    )


def _ending_lines() -> Query:
    return _lines(
        wager_ending.c.version,
        held_minor=-wager.c.hold_minor,
        wallet_minor=wager_ending.c.payout_minor,
        # Later versions are corrections, with lines of their own.
        source=wager.join(
            wager_ending,
            and_(
                wager_ending.c.wager_number == wager.c.number,
                wager_ending.c.version == VERSION_ENDED,
            ),
        ),
    )


def _undone_whole() -> Query:
    return (
        select(wager.c.id, wager_ending.c.payout_minor)
        .join(wager_ending, wager_ending.c.wager_number == wager.c.number)
        .where(_undone, wager_ending.c.payout_minor != wager.c.hold_minor)
        .order_by(wager.c.number)
    )


def _untimely() -> Query:
    return (
        select(wager.c.id, wager.c.accepted_ms)
        .join(round_, round_.c.id == wager.c.round_id)
        .where(
            or_(
                wager.c.accepted_ms >= round_.c.window_closes_ms,
                wager.c.accepted_ms < round_.c.opened_ms,
            )
        )
        .order_by(wager.c.number)
    )


def _quotas() -> Query:
    standing = (
        select(wager.c.round_id, total(wager.c.stake_minor).label("minor"))
        .where(~taken_back)
        .group_by(wager.c.round_id)
        .subquery()
    )
    taken = (
        select(stake_quota.c.round_id, total(stake_quota.c.stake_minor).label("minor"))
        .group_by(stake_quota.c.round_id)
        .subquery()
    )
    return (
        select(round_.c.id, func.coalesce(standing.c.minor, 0))
        .outerjoin(standing, standing.c.round_id == round_.c.id)
        .outerjoin(taken, taken.c.round_id == round_.c.id)
        .where(func.coalesce(taken.c.minor, 0) != func.coalesce(standing.c.minor, 0))
        .order_by(round_.c.id)
    )


def _play_lines() -> Query:
    """Purse and shop: one line on a player's wallet, its opposite on the play account."""
    free, house = entry.alias("wallet_line"), entry.alias("play_line")
    wallet, play = account.alias("wallet"), account.alias("play")
    joined: FromClause = transfer
    for line, leg, owner, kind in (
        (free, LEG_WALLET, wallet, AccountKind.WALLET),
        (house, LEG_PLAY, play, AccountKind.PLAY),
    ):
        of_transfer = and_(
            line.c.origin_id == transfer.c.id,
            line.c.version == VERSION_PLACED,
            line.c.leg == leg,
        )
        of_owner = and_(owner.c.id == line.c.account_id, owner.c.kind == kind.value)
        joined = joined.outerjoin(line, of_transfer).outerjoin(owner, of_owner)
    purse, shop = (
        transfer.c.kind == kind.value for kind in (TransferKind.PURSE, TransferKind.SHOP)
    )
    return (
        select(transfer.c.id, func.coalesce(free.c.amount_minor, 0))
        .select_from(joined)
        .where(
            or_(purse, shop),
            or_(
                wallet.c.id.is_(None),
                play.c.id.is_(None),
                free.c.amount_minor + house.c.amount_minor != 0,
                and_(purse, free.c.amount_minor < 0),
                and_(shop, free.c.amount_minor > 0),
            ),
        )
        .order_by(transfer.c.id)
    )


def _forfeit_of_nothing() -> Query:
    """A forfeit names a wager of its round, whose player was in its room at that room's table."""
    return (
        select(forfeit.c.wager_number, forfeit.c.round_id)
        .outerjoin(
            wager,
            and_(wager.c.number == forfeit.c.wager_number, wager.c.round_id == forfeit.c.round_id),
        )
        .outerjoin(round_, round_.c.id == forfeit.c.round_id)
        .outerjoin(
            room, and_(room.c.id == forfeit.c.room_id, room.c.table_code == round_.c.table_code)
        )
        .where(
            or_(
                wager.c.number.is_(None),
                room.c.id.is_(None),
                ~exists().where(
                    room_member.c.room_id == forfeit.c.room_id,
                    room_member.c.player_id == wager.c.player_id,
                ),
            )
        )
        .order_by(forfeit.c.wager_number)
    )


def _forfeit_paid() -> Query:
    settled = wager_ending.c.kind == EndingKind.SETTLED.value
    deposit = wager.c.hold_minor - wager.c.stake_minor
    return (
        select(wager.c.id, wager_ending.c.payout_minor)
        .join(forfeit, forfeit.c.wager_number == wager.c.number)
        .join(wager_ending, wager_ending.c.wager_number == wager.c.number)
        .where(or_(_undone, and_(settled, wager_ending.c.payout_minor > deposit)))
        .order_by(wager.c.number)
    )


def _decks() -> Query:
    return (
        select(deck_card.c.deck_set, deck_card.c.card_number)
        .join(deck_set, deck_set.c.number == deck_card.c.deck_set)
        .group_by(deck_card.c.deck_set, deck_card.c.card_number, deck_set.c.decks)
        .having(func.count() != deck_set.c.decks)
        .order_by(deck_card.c.deck_set, deck_card.c.card_number)
    )


CHECKS = (
    Check(
        code="ledger_sum",
        where="ledger of {} entries",
        what="All entries sum to {}, not to 0.",
        query=_ledger_sum(),
    ),
    Check(
        code="transfer_unbalanced",
        where="transfer {}",
        what="Its entries sum to {}, not to 0.",
        query=_unbalanced(),
    ),
    Check(
        code="transfer_empty",
        where="transfer {}",
        what="Nothing was booked for it (made at {}).",
        query=_empty_transfer(),
    ),
    Check(
        code="entry_dangling",
        where="transfer {}",
        what="An entry of it names transfer {} or an account that is not there.",
        query=_dangling(),
    ),
    Check(
        code="balance_differs",
        where="player {}",
        what="The entries of the wallet sum to {}; the stored balance differs.",
        query=_balances(AccountKind.WALLET),
    ),
    Check(
        code="held_differs",
        where="player {}",
        what="The entries of what is held sum to {}; the stored figure differs.",
        query=_balances(AccountKind.HELD),
    ),
    Check(
        code="wager_ended_twice",
        where="wager {}",
        what="It was taken back and ended again in version {}.",
        query=_ended_twice(),
    ),
    Check(
        code="wager_unsettled",
        where="wager {}",
        what="Its round is over, but {} minor units are still held for it.",
        query=_unsettled(),
    ),
    Check(
        code="wager_ended_early",
        where="wager {}",
        what="It ended with {} minor units while its round was still running.",
        query=_ended_early(),
    ),
    Check(
        code="ending_dangling",
        where="wager number {}",
        what="An ending with {} minor units belongs to no wager or no transfer.",
        query=_ending_of_nothing(),
    ),
    Check(
        code="hold_differs",
        where="wager {}",
        what="The entries that reserved its hold are not the hold ({} were held).",
        query=_hold_lines(),
    ),
    Check(
        code="ending_differs",
        where="wager {}",
        what="The entries of its ending are not its ending ({} left what is held).",
        query=_ending_lines(),
    ),
    Check(
        code="undone_differs",
        where="wager {}",
        what="It was taken back, but {} minor units came back instead of the hold.",
        query=_undone_whole(),
    ),
    Check(
        code="accepted_untimely",
        where="wager {}",
        what="It was accepted at {}, outside its round's window.",
        query=_untimely(),
    ),
    Check(
        code="stake_quota_differs",
        where="round {}",
        what="Stakes of {} stand; the shares of the table limit say otherwise.",
        query=_quotas(),
    ),
    Check(
        code="play_transfer_differs",
        where="transfer {}",
        what="Purse and shop move between a wallet and the play account; {} moved in this one.",
        query=_play_lines(),
    ),
    Check(
        code="forfeit_dangling",
        where="wager number {}",
        what="It is noted as forfeited in round {}, but was no wager there of the room's players.",
        query=_forfeit_of_nothing(),
    ),
    Check(
        code="forfeit_paid",
        where="wager {}",
        what="It was forfeited, but {} minor units came back.",
        query=_forfeit_paid(),
    ),
    Check(
        code="deck_set_uneven",
        where="deck set {}",
        what="Card {} is not there once a deck.",
        query=_decks(),
    ),
)
