"""A floor for play money: purse and rooms beside the table, five players with full purses."""

import uuid
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import insert

from studio.domain.money import CURRENCIES, Currency
from studio.games import GAMES, by_code
from studio.services.play_money import ClubTally, PlayMoney, PlayPolicy
from studio.services.ports import Actor, DeckSet, Role
from studio.services.runner import OnSettled
from studio.services.setup import TableSetup
from studio.services.wagers import WagerService
from studio.store.people_tables import person
from tests.support.fakes import SeededRandomness
from tests.support.floor import DECK_SETS, DECKS, MANIFEST, Floor, setup_of

G = CURRENCIES["G"]
PURSE_MINOR = 20_000
SEATS_MAX = 4
AYA, BEN, CHO, DAN, EVA = ALL = tuple(
    Actor(id=number, name=name, role=Role.PLAYER)
    for number, name in enumerate(("Aya", "Ben", "Cho", "Dan", "Eva"), start=101)
)


def play_setups() -> dict[str, TableSetup]:
    return {code: setup_of(code, currency=G) for code in ("T1", "T2")}


@dataclass
class PlayFloor(Floor):
    """One process of a play-money studio."""

    currency: Currency = G
    setups: dict[str, TableSetup] = field(default_factory=play_setups)
    club: ClubTally | None = None

    def on_settled(self) -> OnSettled:
        self.play = PlayMoney(
            policy=PlayPolicy(purse_minor=PURSE_MINOR, room_seats_max=SEATS_MAX, room_seats_min=2),
            units=self.units,
            setups=self.setups,
            games=by_code(GAMES),
            randomness=SeededRandomness(self.seed),
            publisher=self.publisher,
            club=self.club,
        )
        self.rooms = self.play.rooms
        return self.play.settled

    def __post_init__(self) -> None:
        super().__post_init__()
        self.wagers = WagerService(
            units=self.units,
            setups=self.setups,
            games=by_code(GAMES),
            publisher=self.publisher,
            play_money=True,
        )

    def furnish(self) -> None:
        """Hire the dealers, register the deck sets, let the players in with their purses."""
        with self.units.write() as unit:
            for number in DECK_SETS:
                unit.deck_sets.register(DeckSet(number=number, decks=DECKS, manifest=MANIFEST))
            unit.connection.execute(insert(person), [_row(player) for player in ALL])
            unit.commit()
        self.hire()
        for player in ALL:
            self.play.purse.greet(player.id)
        self.publisher.wallets.clear()

    # Rooms -------------------------------------------------------------------------------------

    def open_room(self, owner: Actor = AYA, *, table: str = "T1") -> dict[str, Any]:
        answer = self.rooms.open(owner, room_id=str(uuid.uuid4()), table=table)
        return dict(answer["room"])

    def room_of(self, *players: Actor, table: str = "T1") -> dict[str, Any]:
        """Return an open room with these players in it, the first one its owner."""
        room = self.open_room(players[0], table=table)
        for player in players[1:]:
            room = self.rooms.join(player, code=room["code"])["room"]
        return dict(room)

    def started_room(self, *players: Actor) -> dict[str, Any]:
        """Return a started room with these players in it."""
        room = self.room_of(*players)
        return dict(self.rooms.start(players[0], room_id=room["id"])["room"])

    def mine(self, player: Actor) -> dict[str, Any]:
        return dict(self.rooms.mine(player))


def _row(player: Actor) -> dict[str, object]:
    return {
        "id": player.id,
        "username": player.name.lower(),
        "display_name": player.name,
        "role": player.role,
        "password_hash": "",
        "language": "en",
        "active": True,
        "created_ms": 0,
    }
