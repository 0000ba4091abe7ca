"""Placing and undoing wagers: from what a player sent to what the book answers.

The table's settings give limits and hold; the book decides inside the database; the player's
screens are told after the commit.
"""

import re
from collections.abc import Callable, Mapping

from studio.domain.errors import MalformedError, RefusedError
from studio.domain.game import AnyGame, Bet
from studio.domain.money import hold_minor, parse_amount_minor
from studio.services.play_ports import Room, RoomState
from studio.services.ports import (
    Actor,
    Placed,
    Publisher,
    Role,
    UnitOfWork,
    Units,
    WagerRequest,
)
from studio.services.retry import again
from studio.services.setup import TableSetup

KEPT_ROUNDS_MAX = 10_000
"""How many rounds' tables are remembered: a round never moves to another table."""

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def parse_uuid(value: object, *, name: str) -> str:
    """Return `value` as the one spelling of a UUID: 36 ASCII characters, lower case.

    Raises:
        MalformedError: `id_not_uuid`.
    """
    if isinstance(value, str) and _UUID.fullmatch(value.lower()):
        return value.lower()
    raise MalformedError("id_not_uuid", f"{name} must be a UUID.", name=name)


class WagerService:
    """The book of wagers as players use it."""

    def __init__(
        self,
        *,
        units: Units,
        setups: Mapping[str, TableSetup],
        games: Mapping[str, AnyGame],
        publisher: Publisher,
        play_money: bool = False,
    ) -> None:
        """Work out every table's bets once; `setups` by table code, `games` by game code.

        `play_money`: players may be in rooms, which say where they bet.

        Raises:
            MalformedError: `table_setup_wrong` when a bet of a table has no limits.
        """
        self._units = units
        self._setups = setups
        self._games = games
        self._publisher = publisher
        self._play_money = play_money
        self._bets = {code: setup.bets(games[setup.game]) for code, setup in setups.items()}
        for code, setup in setups.items():
            for bet in self._bets[code].values():
                setup.wager_limits(bet)
        self._tables: dict[str, str] = {}

    def place(
        self, player: Actor, *, round_id: str, wager_id: str, bet: str, stake_minor: int
    ) -> Placed:
        """Accept a wager, or answer again what was answered before.

        Raises:
            MalformedError: `id_not_uuid`, `unknown_bet`, `amount_not_integer`,
                `amount_not_positive`, `amount_too_large`.
            RefusedError: as `Wagers.place`; `only_players_bet`, `studio_busy`; in play money
                `room_not_started`, `room_elsewhere`.
        """
        need_player(player)
        wager_id = parse_uuid(wager_id, name="id")
        stake_minor = parse_amount_minor(stake_minor, name="stake_minor")
        table = self._table_of(round_id)
        setup, known = self._setups[table], self._bet(table, bet)
        exposure, _ = self._games[setup.game].exposure(None, known.code, None)
        request = WagerRequest(
            id=wager_id,
            player_id=player.id,
            round_id=round_id,
            bet=known.code,
            stake_minor=stake_minor,
            hold_minor=hold_minor(stake_minor=stake_minor, exposure=exposure),
            limits=setup.wager_limits(known),
        )
        return self._run(lambda unit: unit.wagers.place(request), reason="placed", table=table)

    def undo(self, player: Actor, *, wager_id: str) -> Placed:
        """Take a wager back while the window is open; taking it back twice is answered twice.

        Raises:
            MalformedError: `id_not_uuid`.
            RefusedError: as `Wagers.undo`; `only_players_bet`, `studio_busy`.
        """
        need_player(player)
        wager_id = parse_uuid(wager_id, name="id")
        return self._run(
            lambda unit: unit.wagers.undo(wager_id, player_id=player.id), reason="undone"
        )

    def _run(
        self, work: Callable[[UnitOfWork], Placed], *, reason: str, table: str | None = None
    ) -> Placed:
        """Carry out `work`, unless the player's room forbids a new wager at `table`."""

        def once() -> tuple[Placed, Room | None]:
            room = None
            with self._units.write() as unit:
                placed = work(unit)
                # After the wager: a request that was answered before is answered again, and
                # whoever leaves the room waits for the player's row and finds this wager.
                if self._play_money and not placed.repeated:
                    room = unit.rooms.of_player(placed.wager.player_id)
                if room is not None and table is not None:
                    _need_room_at(room, table)
                unit.commit()
            return placed, room

        placed, room = again(once)
        if room is not None:
            self._publisher.room(room.player_ids, room.id)
        if not placed.repeated:
            self._publisher.wallet(
                placed.wager.player_id,
                {
                    "balance_minor": placed.balance_minor,
                    "held_minor": placed.held_minor,
                    "reason": reason,
                    "round_id": placed.wager.round_id,
                },
            )
        return placed

    def _table_of(self, round_id: str) -> str:
        table = self._tables.get(round_id)
        if table is None:
            with self._units.read() as unit:
                row = unit.rounds.get(round_id)
            # A round of a table that is no longer set up takes no wagers either.
            if row is None or row.table not in self._setups:
                raise RefusedError(
                    "unknown_round", f"There is no round {round_id}.", round_id=round_id
                )
            if len(self._tables) >= KEPT_ROUNDS_MAX:
                self._tables.clear()
            table = self._tables[round_id] = row.table
        return table

    def _bet(self, table: str, code: str) -> Bet:
        bets = self._bets[table]
        if code not in bets:
            raise MalformedError(
                "unknown_bet",
                f"{code!r} is not a bet of this table; there are: {', '.join(bets)}.",
                bet=code,
            )
        return bets[code]


def need_player(player: Actor) -> None:
    """Do nothing for a player.

    Raises:
        RefusedError: `only_players_bet`.
    """
    if player.role is not Role.PLAYER:
        raise RefusedError("only_players_bet", "Only players bet; staff cannot play.")


def _need_room_at(room: Room, table: str) -> None:
    if room.state is RoomState.OPEN:
        raise RefusedError(
            "room_not_started", "Your room has not started; its owner starts it, or you leave it."
        )
    if room.table != table:
        raise RefusedError(
            "room_elsewhere",
            f"Your room plays at table {room.table}; leave it to bet elsewhere.",
            table=room.table,
        )
