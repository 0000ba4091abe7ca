"""Who there is: added and changed by administrators."""

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue

from studio.domain.errors import MalformedError, RefusedError
from studio.services.people import NewPerson, PersonChange
from studio.services.people_ports import Person
from studio.services.ports import Role
from studio.web.guard import allow, person
from studio.web.parse import boolean, json_body, one_of, secret, take, text
from studio.web.studio import studio

people = Blueprint("people", __name__)

_role = one_of(*(role.value for role in Role))


@people.get("/people")
@allow(Role.ADMINISTRATOR, Role.AUDITOR)
def show_all() -> ResponseReturnValue:
    """List everybody, players with what they have, dealers with their games; and all games."""
    service = studio().people
    shown = [_shown(one) for one in service.list()]
    return jsonify({"people": shown, "games": list(service.games)})


@people.post("/people")
@allow(Role.ADMINISTRATOR)
def add() -> ResponseReturnValue:
    """Add a person."""
    body = take(
        json_body(),
        {"username": text, "display_name": text, "role": _role, "password": secret},
        {"language": text, "badge": text, "pin": secret, "games": _games},
    )
    body["role"] = Role(body["role"])
    body["games"] = body["games"] or frozenset()
    body["language"] = body["language"] or studio().settings.languages[0]
    added = studio().people.create(person().actor, NewPerson(**body))
    return jsonify({"person": _shown(added)}), 201


@people.post("/people/<int:person_id>")
@allow(Role.ADMINISTRATOR)
def change(person_id: int) -> ResponseReturnValue:
    """Change what is named; everything else stays."""
    body = take(
        json_body(),
        {},
        {
            "display_name": text,
            "role": _role,
            "password": secret,
            "language": text,
            "badge": text,
            "pin": secret,
            "active": boolean,
            "games": _games,
        },
    )
    body["role"] = Role(body["role"]) if body["role"] is not None else None
    changed = studio().people.change(person().actor, person_id, PersonChange(**body))
    return jsonify({"person": _shown(changed)})


@people.post("/people/<int:person_id>/logout")
@allow(Role.ADMINISTRATOR)
def end_sessions(person_id: int) -> ResponseReturnValue:
    """End all sessions of a person."""
    take(json_body(), {})
    if studio().people.get(person_id) is None:
        raise RefusedError("unknown_person", "There is no such person.")
    studio().people.revoke(person().actor, person_id)
    return jsonify({"ended": True})


def _games(value: object, field: str) -> frozenset[str]:
    """Return a list of games' codes as a set; a game named twice is a mistake of the sender."""
    if (
        not isinstance(value, list)
        or not all(isinstance(each, str) for each in value)
        or len(set(value)) != len(value)
    ):
        raise MalformedError(
            "not_a_list_of_games", f"{field} must be a list of games' codes, each once.", name=field
        )
    return frozenset(value)


def _shown(one: Person) -> dict[str, object]:
    shown: dict[str, object] = {
        "id": one.id,
        "username": one.username,
        "display_name": one.display_name,
        "role": one.role.value,
        "badge": one.badge,
        "language": one.language,
        "active": one.active,
        "created_ms": one.created_ms,
    }
    if one.role is Role.PLAYER:
        balance = studio().reports.balance(one.id)
        shown["balance_minor"] = balance.balance_minor
        shown["owed_minor"] = balance.owed_minor
        shown["held_minor"] = balance.held_minor
    if one.role is Role.DEALER:
        shown["games"] = sorted(one.games)
    return shown
