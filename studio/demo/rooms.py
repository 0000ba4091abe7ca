"""A room of simulated players, who bet on the same table together in play money."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Final

from studio.demo.client import DoorClient
from studio.demo.furnish import PLAYERS
from studio.demo.plan import DemoTable, Plan

MEMBERS: Final = PLAYERS[:2]


def tables_of(name: str, plan: Plan, tables: Sequence[DemoTable]) -> Sequence[DemoTable]:
    """Return the tables where a player bets: all of them, but the room's only from a room."""
    return tables[-1:] if plan.play_money and name in MEMBERS else tables


def start_room(players: Mapping[str, DoorClient], tables: Sequence[DemoTable]) -> None:
    """Let the members open, join and start a room at their table.

    Raises:
        DoorError: a door refused.
    """
    for name in MEMBERS:
        _leave(players[name])
    owner, *others = (players[name] for name in MEMBERS)
    room = owner.post("/api/rooms", {"id": str(uuid.uuid4()), "table": tables[-1].code})["room"]
    for other in others:
        other.post("/api/rooms/join", {"code": room["code"]})
    owner.post(f"/api/rooms/{room['id']}/start", {})


def _leave(client: DoorClient) -> None:
    """Leave the room that an earlier demo on this database has left behind."""
    room = client.get("/api/rooms/mine")["room"]
    if room is not None:
        client.post(f"/api/rooms/{room['id']}/leave", {})
