"""Reading the book of wagers: one wager, a round's, a player's, sums and digest."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, Uuid, and_, bindparam, exists, func, select

from studio.services.choice_ports import OpenBook
from studio.services.ports import ClosedBook, Ending, EndingKind, RoundRow, Wager
from studio.store.forfeits import forfeited
from studio.store.rounds import latest_first, round_row
from studio.store.sums import total
from studio.store.tables import round_, wager, wager_ending

STREAM_ROWS = 2_000
"""Rows fetched at a time where a round's whole book is read: memory stays the same."""

_newer = wager_ending.alias("newer")
_any = wager_ending.alias("any_ending")
LATEST = and_(
    wager_ending.c.wager_number == wager.c.number,
    ~exists().where(
        _newer.c.wager_number == wager_ending.c.wager_number,
        _newer.c.version > wager_ending.c.version,
    ),
)
"""Condition of a join: the ending that stands."""
_before = wager_ending.alias("before")
_WAGERS = (
    select(
        wager,
        wager_ending.c.kind,
        wager_ending.c.version,
        wager_ending.c.payout_minor,
        _before.c.payout_minor.label("before_minor"),
        forfeited.label("forfeited"),
    )
    .select_from(wager)
    .outerjoin(wager_ending, LATEST)
    .outerjoin(
        _before,
        and_(
            _before.c.wager_number == wager_ending.c.wager_number,
            _before.c.version == wager_ending.c.version - 1,
        ),
    )
)
_BY_ID = _WAGERS.where(wager.c.id == bindparam("wager_id", type_=Uuid(as_uuid=False)))

ended = exists().where(_any.c.wager_number == wager.c.number)
"""Condition: the wager has an ending."""

taken_back = exists().where(
    _any.c.wager_number == wager.c.number, _any.c.kind == EndingKind.UNDONE.value
)
"""Condition: the player undid the wager."""


def wager_of(row: Row[Any]) -> Wager:
    """Return the port's shape of a stored wager and its latest ending."""
    ending = None
    if row.kind is not None:
        ending = Ending(
            kind=EndingKind(row.kind),
            version=row.version,
            payout_minor=row.payout_minor,
            before_minor=row.before_minor,
        )
    return Wager(
        id=row.id,
        player_id=row.player_id,
        round_id=row.round_id,
        bet=row.bet,
        stake_minor=row.stake_minor,
        hold_minor=row.hold_minor,
        accepted_ms=row.accepted_ms,
        ending=ending,
        forfeited=row.forfeited,
    )


def find(connection: Connection, wager_id: str) -> tuple[int, Wager] | None:
    """Return a wager with its number."""
    row = connection.execute(_BY_ID, {"wager_id": wager_id}).first()
    return (row.number, wager_of(row)) if row else None


def of_round(connection: Connection, round_id: str, *, player_id: int | None) -> Sequence[Wager]:
    """Return a round's wagers in order of acceptance."""
    wanted = _WAGERS.where(wager.c.round_id == round_id).order_by(wager.c.number)
    if player_id is not None:
        wanted = wanted.where(wager.c.player_id == player_id)
    return [wager_of(row) for row in connection.execute(wanted)]


def of_player(
    connection: Connection, player_id: int, *, limit_rounds: int, before_round_ms: int | None
) -> Sequence[tuple[RoundRow, Sequence[Wager]]]:
    """Return a player's latest rounds with their wagers, newest round first."""
    played = select(wager.c.round_id).where(wager.c.player_id == player_id)
    wanted = select(round_).where(round_.c.id.in_(played))
    page = latest_first(wanted, limit=limit_rounds, before_ms=before_round_ms)
    rounds = [round_row(row) for row in connection.execute(page)]
    book: dict[str, list[Wager]] = {row.id: [] for row in rounds}
    rows = connection.execute(
        _WAGERS.where(wager.c.player_id == player_id, wager.c.round_id.in_(list(book))).order_by(
            wager.c.number
        )
    )
    for row in rows:
        book[row.round_id].append(wager_of(row))
    return [(row, book[row.id]) for row in rounds]


def totals(connection: Connection, round_id: str) -> Mapping[str, tuple[int, int]]:
    """Return per bet (open wagers, open stakes)."""
    rows = connection.execute(
        select(wager.c.bet, func.count(), total(wager.c.stake_minor))
        .where(wager.c.round_id == round_id, ~ended)
        .group_by(wager.c.bet)
        .order_by(wager.c.bet)
    )
    return {bet: (count, stake_minor) for bet, count, stake_minor in rows}


def standing(connection: Connection, round_id: str) -> OpenBook:
    """Return how many open wagers there are, of how many players, and what is held for them."""
    players = func.count(func.distinct(wager.c.player_id))
    count, players_count, held_minor = connection.execute(
        select(func.count(), players, total(wager.c.hold_minor)).where(
            wager.c.round_id == round_id, ~ended
        )
    ).one()
    return OpenBook(count=count, players=players_count, held_minor=held_minor)


def booked_wagers(round_id: str) -> Select[Any]:
    """Return the query for the wagers that a closing counts: all but those taken back."""
    return (
        select(
            wager.c.id,
            wager.c.player_id,
            wager.c.bet,
            wager.c.stake_minor,
            wager.c.hold_minor,
            wager.c.accepted_ms,
        )
        .where(wager.c.round_id == round_id, ~taken_back)
        .order_by(wager.c.number)
    )


def closed_book(connection: Connection, round_id: str) -> ClosedBook:
    """Return count, sums and digest of the wagers that stand.

    The digest is the SHA-256 over one line a wager, in order of acceptance:
    `id|player|bet|stake|hold|accepted_ms` and a line feed, UTF-8.
    """
    digest = hashlib.sha256()
    count = turnover_minor = held_minor = 0
    for row in _streamed(connection, booked_wagers(round_id)):
        digest.update(("|".join(map(str, row)) + "\n").encode())
        count += 1
        turnover_minor += row.stake_minor
        held_minor += row.hold_minor
    return ClosedBook(
        count=count,
        turnover_minor=turnover_minor,
        held_minor=held_minor,
        digest=digest.hexdigest(),
    )


def _streamed(connection: Connection, wanted: Select[Any]) -> Iterator[Row[Any]]:
    with connection.execute(wanted, execution_options={"yield_per": STREAM_ROWS}) as rows:
        yield from rows
