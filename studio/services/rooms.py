"""Rooms: up to four players who bet on the same table together, in play money only.

One player opens a room, others join by its invitation code, its owner starts it. Every change is
decided under the lock of the room's row, in one transaction, and told to the members afterwards
as a hint: their pages ask `mine` again.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from studio.domain.errors import MalformedError, RefusedError
from studio.domain.game import Json
from studio.services.club_data import Tally
from studio.services.club_ports import ClubCounts
from studio.services.play_ports import Forfeited, Room, RoomRound, RoomState, RoomWager
from studio.services.ports import Actor, Publisher, Randomness, UnitOfWork, Units
from studio.services.retry import again
from studio.services.setup import TableSetup
from studio.services.wagers import need_player, parse_uuid

CODE_ALPHABET: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""No O and 0, no I and 1: a code is read out and typed. 32 letters, so that a random byte falls on
each equally often."""

CODE_CHARS: Final = 8

Plates = Callable[[UnitOfWork, Sequence[int]], Mapping[int, str]]
"""Returns the name plates that players chose, by player; who chose none may be left out."""

NOTHING: Final = Forfeited(wagers=0, minor=0)


class RoomService:
    """The rooms as their players use them."""

    def __init__(
        self,
        *,
        units: Units,
        setups: Mapping[str, TableSetup],
        randomness: Randomness,
        publisher: Publisher,
        seats_min: int,
        seats_max: int,
        club: ClubCounts | None = None,
        plates: Plates | None = None,
    ) -> None:
        """Keep the ports.

        Args:
            units: the store's.
            setups: by table code.
            randomness: draws the invitation codes.
            publisher: hints the members.
            seats_min: with fewer members a room does not start.
            seats_max: with so many a room is full.
            club: counts the rooms that a player starts.
            plates: tells the members' name plates.
        """
        self._units = units
        self._setups = setups
        self._randomness = randomness
        self._publisher = publisher
        self._seats_min = seats_min
        self._seats_max = seats_max
        self._club = club
        self._plates = plates

    def mine(self, player: Actor) -> Mapping[str, Json]:
        """Return the room that a player is in, and what leaving it now would forfeit."""
        with self._units.read() as unit:
            room = unit.rooms.of_player(player.id)
            if room is None:
                return {"room": None, "standing_minor": 0}
            standing = unit.rooms.standing(room, player.id)
            current = unit.rooms.round(room)
            plates = self._plates(unit, room.player_ids) if self._plates else {}
        return {
            "room": self._room_json(room, current, plates),
            "standing_minor": standing.minor,
        }

    def open(self, player: Actor, *, room_id: str, table: str) -> Mapping[str, Json]:
        """Open a room at a table, or answer again for one that was opened by the same id.

        Raises:
            MalformedError: `id_not_uuid`, `unknown_table`.
            RefusedError: `room_already`, `room_id_reused`, `only_players_bet`, `studio_busy`.
        """
        need_player(player)
        room_id = parse_uuid(room_id, name="id")
        if table not in self._setups:
            raise MalformedError("unknown_table", f"There is no table {table!r}.", table=table)

        def decide(unit: UnitOfWork) -> tuple[int, ...]:
            first = unit.rooms.get(room_id)
            if first is not None:
                if first.table != table or not unit.rooms.was_in(room_id, player.id):
                    raise RefusedError(
                        "room_id_reused",
                        "This room id was used before for another room; nothing was opened.",
                        id=room_id,
                    )
                return ()
            now_in = unit.rooms.of_player(player.id)
            if now_in is not None and now_in.id == room_id:
                return ()  # the same request, carried out between the two looks
            if now_in is not None:
                raise _room_already()
            unit.rooms.open(
                id=room_id,
                table=table,
                code=self._code(),
                owner_id=player.id,
                at_ms=unit.now_ms(),
            )
            return (player.id,)

        self._change(decide, room_id=room_id)
        return self.mine(player)

    def join(self, player: Actor, *, code: str) -> Mapping[str, Json]:
        """Come into an open room by its invitation code; whoever is in it already stays.

        Raises:
            RefusedError: `room_code_wrong`, `room_already`, `room_started`, `room_full`,
                `only_players_bet`, `studio_busy`.
        """
        need_player(player)
        code = code.strip().upper()

        def once() -> Room:
            with self._units.write() as unit:
                room = unit.rooms.by_code(code, lock=True)
                if room is None or room.state is RoomState.CLOSED:
                    raise RefusedError("room_code_wrong", "There is no room with this code.")
                if room.has(player.id):
                    return room
                self._need_seat(unit, player, room)
                unit.rooms.join(room.id, player.id, at_ms=unit.now_ms())
                unit.commit()
            return room

        room = again(once)
        if not room.has(player.id):
            self._publisher.room((*room.player_ids, player.id), room.id)
        return self.mine(player)

    def start(self, player: Actor, *, room_id: str) -> Mapping[str, Json]:
        """Start a room: from now on its members bet, and nobody joins.

        Raises:
            MalformedError: `id_not_uuid`.
            RefusedError: `unknown_room`, `room_not_yours`, `room_needs_two`, `studio_busy`.
        """
        room_id = parse_uuid(room_id, name="id")
        medals: Mapping[int, tuple[str, ...]] = {}

        def decide(unit: UnitOfWork) -> tuple[int, ...]:
            nonlocal medals
            room = unit.rooms.get(room_id, lock=True)
            if room is None or not room.has(player.id):
                raise _unknown_room()
            if room.owner_id != player.id:
                raise RefusedError("room_not_yours", "Only the room's owner starts it.")
            if room.state is RoomState.STARTED:
                return ()
            self._need_company(room)
            now_ms = unit.now_ms()
            unit.rooms.start(room_id, at_ms=now_ms)
            if self._club is not None:
                medals = self._club.counted(unit, [player.id], Tally.ROOMS_STARTED, at_ms=now_ms)
            return room.player_ids

        if self._change(decide, room_id=room_id):
            self._tell_medals(medals)
        return self.mine(player)

    def leave(self, player: Actor, *, room_id: str) -> Mapping[str, Json]:
        """Leave a room. In a started one, what stands in the running round is forfeited.

        Leaving twice answers the same.

        Raises:
            MalformedError: `id_not_uuid`.
            RefusedError: `unknown_room`, `studio_busy`.
        """
        room_id = parse_uuid(room_id, name="id")
        forfeited = NOTHING

        def decide(unit: UnitOfWork) -> tuple[int, ...]:
            nonlocal forfeited
            room = unit.rooms.get(room_id, lock=True)
            if room is None or not unit.rooms.was_in(room_id, player.id):
                raise _unknown_room()
            members = room.player_ids if room.has(player.id) else ()
            if members:
                now_ms = unit.now_ms()
                unit.rooms.forfeit(room, player.id, at_ms=now_ms)
                unit.rooms.leave(room, player.id, at_ms=now_ms)
            forfeited = unit.rooms.forfeited(room_id, player.id)
            return members

        self._change(decide, room_id=room_id)
        return {"forfeited_minor": forfeited.minor, "wagers": forfeited.wagers}

    def _change(
        self, decide: Callable[[UnitOfWork], tuple[int, ...]], *, room_id: str
    ) -> tuple[int, ...]:
        """Run a decision in a unit of its own; it returns whom to tell, nobody: nothing changed."""

        def once() -> tuple[int, ...]:
            with self._units.write() as unit:
                player_ids = decide(unit)
                if player_ids:
                    unit.commit()
            return player_ids

        player_ids = again(once)
        if player_ids:
            self._publisher.room(player_ids, room_id)
        return player_ids

    def _code(self) -> str:
        drawn = self._randomness.nonce()[:CODE_CHARS]
        return "".join(CODE_ALPHABET[byte % len(CODE_ALPHABET)] for byte in drawn)

    def _need_seat(self, unit: UnitOfWork, player: Actor, room: Room) -> None:
        if unit.rooms.of_player(player.id) is not None:
            raise _room_already()
        if room.state is RoomState.STARTED:
            raise RefusedError("room_started", "The room has started; nobody joins any more.")
        if len(room.members) >= self._seats_max:
            raise RefusedError(
                "room_full",
                f"The room is full: {self._seats_max} players are in it.",
                seats_max=self._seats_max,
            )

    def _need_company(self, room: Room) -> None:
        if len(room.members) < self._seats_min:
            raise RefusedError(
                "room_needs_two",
                f"A room starts with at least {self._seats_min} players; "
                f"{len(room.members)} are in it.",
                seats_min=self._seats_min,
            )

    def _tell_medals(self, medals: Mapping[int, tuple[str, ...]]) -> None:
        for player_id, codes in medals.items():
            with self._units.read() as unit:
                has = unit.ledger.balance(player_id)
            self._publisher.wallet(
                player_id,
                {
                    "balance_minor": has.balance_minor,
                    "held_minor": has.held_minor,
                    "reason": "medals",
                    "round_id": None,
                    "medals": list(codes),
                },
            )

    def _room_json(
        self, room: Room, current: RoomRound | None, plates: Mapping[int, str]
    ) -> Mapping[str, Json]:
        setup = self._setups.get(room.table)
        return {
            "id": room.id,
            "table": room.table,
            "table_name": setup.name if setup else room.table,
            "code": room.code,
            "state": room.state.value,
            "owner_id": room.owner_id,
            "opened_ms": room.opened_ms,
            "started_ms": room.started_ms,
            "seats_min": self._seats_min,
            "seats_max": self._seats_max,
            "members": [
                {
                    "player_id": member.player_id,
                    "name": member.name,
                    "owner": member.player_id == room.owner_id,
                    "joined_ms": member.joined_ms,
                    "plate": plates.get(member.player_id),
                }
                for member in room.members
            ],
            "round": None if current is None else _round_json(current),
        }


def _room_already() -> RefusedError:
    return RefusedError("room_already", "You are in a room already; leave it first.")


def _unknown_room() -> RefusedError:
    # A room one never was in is as unknown as none: ids tell nothing about others.
    return RefusedError("unknown_room", "There is no such room of yours.")


def _round_json(current: RoomRound) -> Mapping[str, Json]:
    return {
        "id": current.id,
        "phase": current.phase,
        "wagers": [_wager_json(wager) for wager in current.wagers],
    }


def _wager_json(wager: RoomWager) -> Mapping[str, Json]:
    ended = wager.ending_kind is not None
    return {
        "player_id": wager.player_id,
        "name": wager.name,
        "bet": wager.bet,
        "stake_minor": wager.stake_minor,
        "forfeited": wager.forfeited,
        "ending": {"kind": wager.ending_kind, "payout_minor": wager.payout_minor}
        if ended
        else None,
    }
