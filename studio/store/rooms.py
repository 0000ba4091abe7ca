"""Rooms of a play-money studio, and what leaving one forfeits.

Locks in the order that holds everywhere, the room before it: the room's row, the round's row
(shared, so that the settlement waits), the player's balances. SQLite has one writer and ignores
them.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Connection,
    Row,
    Select,
    String,
    Uuid,
    and_,
    bindparam,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from studio.domain.round import Phase
from studio.services.play_ports import (
    Forfeited,
    Room,
    RoomMember,
    RoomRound,
    Rooms,
    RoomState,
    RoomWager,
)
from studio.services.ports import EndingKind
from studio.services.retry import TryAgainError
from studio.store.book import LATEST, ended
from studio.store.forfeits import forfeited
from studio.store.ledger import lock_player
from studio.store.people_tables import person
from studio.store.play_tables import forfeit, room, room_member
from studio.store.rows import insert_new
from studio.store.sums import total
from studio.store.tables import round_, wager, wager_ending

_OVER = (Phase.SETTLED.value, Phase.VOID.value)

_ROOM: BindParameter[str] = bindparam("in_room", type_=Uuid(as_uuid=False))
_PLAYER: BindParameter[int] = bindparam("player", type_=BigInteger)
_TABLE: BindParameter[str] = bindparam("at_table", type_=String)

_mine = room_member.alias("mine")
_MEMBERS = (
    select(
        room,
        room_member.c.player_id.label("member_id"),
        person.c.display_name.label("member_name"),
        room_member.c.joined_ms,
    )
    .select_from(room)
    .outerjoin(
        room_member, and_(room_member.c.room_id == room.c.id, room_member.c.left_ms.is_(None))
    )
    .outerjoin(person, person.c.id == room_member.c.player_id)
    .order_by(room_member.c.number)
)
"""A room a member; a closed one has a row without any."""

_BY_ID = _MEMBERS.where(room.c.id == _ROOM)
_OF_PLAYER = _MEMBERS.join(
    _mine,
    and_(_mine.c.room_id == room.c.id, _mine.c.player_id == _PLAYER, _mine.c.left_ms.is_(None)),
)
_LOCK = select(room.c.id).where(room.c.id == _ROOM).with_for_update()
_ID_OF_CODE = select(room.c.id).where(room.c.code == bindparam("code", type_=String))
_WAS_IN = select(_mine.c.number).where(_mine.c.room_id == _ROOM, _mine.c.player_id == _PLAYER)
_LATEST_ROUND = (
    select(round_.c.id, round_.c.phase, round_.c.window_closes_ms)
    .where(round_.c.table_code == _TABLE)
    .order_by(round_.c.opened_ms.desc(), round_.c.id.desc())
    .limit(1)
)


class SqlRooms(Rooms):
    """See the port for every method."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def open(self, *, id: str, table: str, code: str, owner_id: int, at_ms: int) -> None:
        """See the port."""
        values = {
            "id": id,
            "table_code": table,
            "code": code,
            "state": RoomState.OPEN.value,
            "owner_id": owner_id,
            "opened_ms": at_ms,
        }
        if insert_new(self._connection, room, values) is None:
            raise TryAgainError(f"Room {id} or its code came into being meanwhile.")
        self.join(id, owner_id, at_ms=at_ms)

    def get(self, room_id: str, *, lock: bool = False) -> Room | None:
        """See the port."""
        if lock:
            self._connection.execute(_LOCK, {"in_room": room_id})
        return self._one(_BY_ID, in_room=room_id)

    def of_player(self, player_id: int) -> Room | None:
        """See the port."""
        return self._one(_OF_PLAYER, player=player_id)

    def by_code(self, code: str, *, lock: bool = False) -> Room | None:
        """See the port."""
        found = self._connection.execute(_ID_OF_CODE, {"code": code}).first()
        return None if found is None else self.get(found.id, lock=lock)

    def was_in(self, room_id: str, player_id: int) -> bool:
        """See the port."""
        found = self._connection.execute(_WAS_IN, {"in_room": room_id, "player": player_id})
        return found.first() is not None

    def join(self, room_id: str, player_id: int, *, at_ms: int) -> None:
        """See the port."""
        values = {"room_id": room_id, "player_id": player_id, "joined_ms": at_ms}
        if insert_new(self._connection, room_member, values) is None:
            raise TryAgainError(f"Player {player_id} came into a room meanwhile.")

    def start(self, room_id: str, *, at_ms: int) -> None:
        """See the port."""
        self._change(room_id, state=RoomState.STARTED.value, started_ms=at_ms)

    def leave(self, room: Room, player_id: int, *, at_ms: int) -> None:
        """See the port."""
        self._connection.execute(
            update(room_member)
            .where(
                room_member.c.room_id == room.id,
                room_member.c.player_id == player_id,
                room_member.c.left_ms.is_(None),
            )
            .values(left_ms=at_ms)
        )
        left = [other for other in room.player_ids if other != player_id]
        if not left:
            self._change(room.id, state=RoomState.CLOSED.value, closed_ms=at_ms)
        elif room.owner_id == player_id:
            self._change(room.id, owner_id=left[0])

    def forfeit(self, room: Room, player_id: int, *, at_ms: int) -> None:
        """See the port."""
        round_id = self._running_round(room, lock=True)
        if round_id is None:
            return
        lock_player(self._connection, player_id)
        rows = select(
            wager.c.number,
            wager.c.round_id,
            literal(at_ms, BigInteger),
            literal(room.id, Uuid(as_uuid=False)),
        ).where(*_standing(room, player_id, round_id))
        names = ["wager_number", "round_id", "at_ms", "room_id"]
        self._connection.execute(insert(forfeit).from_select(names, rows))

    def standing(self, room: Room, player_id: int) -> Forfeited:
        """See the port."""
        round_id = self._running_round(room, lock=False)
        if round_id is None:
            return Forfeited(wagers=0, minor=0)
        return self._sum(_STAKED.where(*_standing(room, player_id, round_id)))

    def forfeited(self, room_id: str, player_id: int) -> Forfeited:
        """See the port."""
        return self._sum(
            _STAKED.join(forfeit, forfeit.c.wager_number == wager.c.number).where(
                forfeit.c.room_id == room_id, wager.c.player_id == player_id
            )
        )

    def round(self, room: Room) -> RoomRound | None:
        """See the port."""
        if room.started_ms is None or room.state is RoomState.CLOSED:
            return None
        latest = self._connection.execute(_LATEST_ROUND, {"at_table": room.table}).first()
        if latest is None or latest.window_closes_ms <= room.started_ms:
            return None
        rows = self._connection.execute(_wagers_of(room, latest.id))
        return RoomRound(
            id=latest.id, phase=latest.phase, wagers=tuple(_room_wager(row) for row in rows)
        )

    def _one(self, wanted: Select[Any], **values: object) -> Room | None:
        rows = self._connection.execute(wanted, values).all()
        return _room(rows) if rows else None

    def _change(self, room_id: str, **values: object) -> None:
        self._connection.execute(update(room).where(room.c.id == room_id).values(**values))

    def _running_round(self, at: Room, *, lock: bool) -> str | None:
        """Return the round in which a room's wagers may stand."""
        if at.state is not RoomState.STARTED:
            return None
        wanted = _LATEST_ROUND.with_for_update(read=True) if lock else _LATEST_ROUND
        latest = self._connection.execute(wanted, {"at_table": at.table}).first()
        return None if latest is None or latest.phase in _OVER else str(latest.id)

    def _sum(self, wanted: Select[int, int]) -> Forfeited:
        count, minor = self._connection.execute(wanted).one()
        return Forfeited(wagers=count, minor=minor)


_STAKED = select(func.count(), total(wager.c.stake_minor)).select_from(wager)


def _standing(room: Room, player_id: int, round_id: str) -> Sequence[ColumnElement[bool]]:
    """Return what makes a wager one that leaving forfeits.

    Wagers from before the room's start are the player's own affair.
    """
    return (
        wager.c.player_id == player_id,
        wager.c.round_id == round_id,
        wager.c.accepted_ms >= room.started_ms,
        ~ended,
        ~forfeited,
    )


def _wagers_of(room: Room, round_id: str) -> Select[Any]:
    """Return the query of the members' wagers and of those that others forfeited by leaving."""
    return (
        select(
            wager.c.player_id,
            person.c.display_name,
            wager.c.bet,
            wager.c.stake_minor,
            forfeit.c.room_id.label("forfeited_in"),
            wager_ending.c.kind,
            wager_ending.c.payout_minor,
        )
        .select_from(wager)
        .outerjoin(wager_ending, LATEST)
        .outerjoin(forfeit, forfeit.c.wager_number == wager.c.number)
        .outerjoin(person, person.c.id == wager.c.player_id)
        .where(
            wager.c.round_id == round_id,
            wager.c.accepted_ms >= room.started_ms,
            or_(
                forfeit.c.room_id == room.id,
                and_(forfeit.c.room_id.is_(None), wager.c.player_id.in_(room.player_ids)),
            ),
            func.coalesce(wager_ending.c.kind, "") != EndingKind.UNDONE.value,
        )
        .order_by(wager.c.number)
    )


def _room_wager(row: Row[Any]) -> RoomWager:
    return RoomWager(
        player_id=row.player_id,
        name=row.display_name or "",
        bet=row.bet,
        stake_minor=row.stake_minor,
        forfeited=row.forfeited_in is not None,
        ending_kind=row.kind,
        payout_minor=row.payout_minor or 0,
    )


def _room(rows: Sequence[Row[Any]]) -> Room:
    first = rows[0]
    return Room(
        id=first.id,
        table=first.table_code,
        code=first.code,
        state=RoomState(first.state),
        owner_id=first.owner_id,
        opened_ms=first.opened_ms,
        started_ms=first.started_ms,
        members=tuple(
            RoomMember(player_id=row.member_id, name=row.member_name or "", joined_ms=row.joined_ms)
            for row in rows
            if row.member_id is not None
        ),
    )
