"""What stands in a demo's database before the studio opens: people, purses, deck sets."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Final

from studio.demo.client import DoorClient
from studio.demo.plan import DEALERS, DECKS, DemoTable, Plan
from studio.demo.player import BETS_MAX
from studio.demo.stakes import CHIPS_MINOR
from studio.demo.world import manifest
from studio.domain.errors import RefusedError
from studio.domain.money import STAKE_MINOR_MAX
from studio.services.people import NewPerson, PeopleService, PersonChange
from studio.services.ports import Actor, DeckSet, Role
from studio.store.units import SqlUnits

PLAYERS: Final = tuple(f"player{number}" for number in range(1, 6))
GUEST: Final = "guest"
STAFF: Final = {
    "pit": Role.PIT_SUPERVISOR,
    "pit2": Role.PIT_SUPERVISOR,
    "auditor": Role.AUDITOR,
    "admin": Role.ADMINISTRATOR,
}
PURSE_MINOR: Final = 1_000_000
EXPOSURE_MAX: Final = 2
"""Units that the dearest bet of any game can lose."""
STUDIO: Final = Actor(id=0, name="studio", role=None)


@dataclass(frozen=True, kw_only=True)
class Inside:
    """The store behind the doors: used before the server starts and after it has ended."""

    units: SqlUnits
    people: PeopleService
    close: Callable[[], None]


def free_codes(units: SqlUnits, tables: int) -> tuple[str, ...]:
    """Return the first tables that this database has never seen: a demo starts fresh logs."""
    with units.read() as uow:
        unseen = (
            code
            for code in (f"T{number}" for number in count(1))
            if uow.events.position(code) == (0, 0, "")
        )
        return tuple(islice(unseen, tables))


def furnish(inside: Inside, tables: Sequence[DemoTable], password: str) -> None:
    """Let everybody log in with `password`, and register the tables' deck sets.

    Raises:
        RefusedError: `database_not_demo`.
    """
    _need_demo_people(inside)
    known = {one.username: one for one in inside.people.list()}
    games = {table.dealer: frozenset({table.game.code}) for table in tables}
    roles = dict.fromkeys(games, Role.DEALER) | STAFF
    for name, role in (roles | dict.fromkeys((*PLAYERS, GUEST), Role.PLAYER)).items():
        own = games.get(name, frozenset())
        if name in known:
            change = PersonChange(password=password, active=True, games=own)
            inside.people.change(STUDIO, known[name].id, change)
            continue
        person = NewPerson(
            username=name,
            display_name=_display_name(name),
            role=role,
            password=password,
            language="en",
            games=own,
        )
        inside.people.create(STUDIO, person)
    with inside.units.write() as uow:
        for number in (number for table in tables for number in table.game.deck_sets):
            if uow.deck_sets.get(number) is None:
                deck_set = DeckSet(number=number, decks=DECKS, manifest=manifest(DECKS))
                uow.deck_sets.register(deck_set)
        uow.commit()


def _display_name(username: str) -> str:
    return f"{username.capitalize()} (demo)"


def _need_demo_people(inside: Inside) -> None:
    """Refuse a database with people that no demo made: a demo gives its logins new passwords.

    Raises:
        RefusedError: `database_not_demo`.
    """
    names = {*DEALERS, *STAFF, *PLAYERS, GUEST}
    for one in inside.people.list():
        if one.username not in names or one.display_name != _display_name(one.username):
            raise RefusedError(
                "database_not_demo",
                f"This database holds the login {one.username}, which no demo made: give the "
                "demo a database of its own.",
                username=one.username,
            )


def pay_in(admin: DoorClient, plan: Plan) -> None:
    """Give every player a purse that no row of losses empties.

    A wager refused for a short balance would hang on which table was quicker.
    """
    people: Mapping[str, int] = {
        one["username"]: one["id"] for one in admin.get("/api/people")["people"]
    }
    for name in (*PLAYERS, GUEST):
        admin.post(
            "/api/cash",
            {
                "id": str(uuid.uuid4()),
                "player_id": people[name],
                "direction": "in",
                "amount_minor": purse_minor(plan),
                "reason": "demo purse",
            },
        )


def purse_minor(plan: Plan) -> int:
    """Return what a player brings along, minor units: enough to lose every bet."""
    most_minor = BETS_MAX * max(CHIPS_MINOR) * EXPOSURE_MAX
    rounds = (plan.rounds or 0) * len(plan.games)
    return min(max(PURSE_MINOR, rounds * most_minor), STAKE_MINOR_MAX)
