"""People in both kinds of database: what is stored is what was meant, and no secret is readable."""

import json
import threading

import argon2
import pytest
from sqlalchemy import text

from studio.domain.errors import MalformedError, RefusedError
from studio.joining import open_store
from studio.services.people import LoginPolicy, NewPerson, PeopleService, PersonChange
from studio.services.ports import Actor, Role
from studio.store.people import SqlPeopleUnits
from studio.web.passwords import Argon2Hasher
from studio.web.system import SystemRandomness

SYSTEM = Actor(id=0, name="studio", role=None)
PASSWORD = "correct horse battery"


@pytest.fixture
def store(database_url):
    engine, units = open_store(database_url, currency="JPY")
    yield engine, units
    engine.dispose()


@pytest.fixture
def people(store, clock):
    return PeopleService(
        units=SqlPeopleUnits(store[1]),
        clock=clock,
        randomness=SystemRandomness(),
        hasher=Argon2Hasher(argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)),
        policy=LoginPolicy(idle_ms=60_000, lifetime_ms=600_000, failures_max=2, window_ms=1_000),
        languages=("en", "ja"),
        games=("pok_deng", "other_game"),
    )


def add(people, username="sato", **changed):
    fields = {
        "username": username,
        "display_name": "佐藤",
        "role": Role.DEALER,
        "password": PASSWORD,
        "language": "ja",
        "badge": None,
        "pin": None,
    }
    return people.create(SYSTEM, NewPerson(**{**fields, **changed}))


def test_a_person_is_kept_changed_and_listed(people):
    sato = add(people, badge="300000000001", pin="4711")
    assert people.get(sato.id) == sato
    changed = people.change(SYSTEM, sato.id, PersonChange(display_name="佐藤 花", active=False))
    assert (changed.display_name, changed.active, changed.badge) == ("佐藤 花", False, sato.badge)
    add(people, "abe")
    assert [one.username for one in people.list()] == ["abe", "sato"]


BOTH_GAMES = frozenset({"pok_deng", "other_game"})


def last_line(store):
    """Return (before, after) of the latest line of the trail."""
    with store[1].read() as unit:
        (line,) = unit.trail.read(limit=1, before_id=None)
    return line.before, line.after


def test_a_dealers_games_are_kept_changed_and_told_from_anothers(people, store):
    sato = add(people, games=BOTH_GAMES, badge="300000000001", pin="4711")
    abe = add(people, "abe", games=frozenset({"other_game"}))
    token = people.login_by_badge("300000000001", "4711", address="a").token
    assert people.recognise(token) == people.get(sato.id) == sato
    assert sato.games == BOTH_GAMES
    changed = people.change(SYSTEM, sato.id, PersonChange(games=frozenset({"pok_deng"})))
    assert {one.id: one.games for one in people.list()} == {
        sato.id: {"pok_deng"},
        abe.id: {"other_game"},
    }
    assert people.recognise(token) == changed, "a login goes on, and knows the games of now"
    people.change(SYSTEM, sato.id, PersonChange(display_name="佐藤 花"))
    assert people.get(sato.id).games == {"pok_deng"}
    people.change(SYSTEM, sato.id, PersonChange(games=frozenset()))
    assert people.get(sato.id).games == frozenset()
    with store[1].read() as unit:
        found = [unit.qualifications.games(one.id) for one in (sato, abe)]
    assert found == [frozenset(), {"other_game"}]


def test_the_trail_says_what_a_dealer_might_open_before_and_after(people, store):
    sato = add(people, games=BOTH_GAMES)
    assert last_line(store)[1]["games"] == ["other_game", "pok_deng"]
    people.change(SYSTEM, sato.id, PersonChange(games=frozenset({"pok_deng"})))
    before, after = last_line(store)
    assert (before["games"], after["games"]) == (["other_game", "pok_deng"], ["pok_deng"])
    assert "pok_deng" in json.dumps(before)


def test_who_is_no_dealer_any_more_is_qualified_for_nothing(people, store):
    sato = add(people, games=BOTH_GAMES)
    changed = people.change(SYSTEM, sato.id, PersonChange(role=Role.PIT_SUPERVISOR))
    assert changed.games == people.get(sato.id).games == frozenset()
    again = people.change(SYSTEM, sato.id, PersonChange(role=Role.DEALER))
    assert again.games == frozenset(), "the old qualification does not come back by itself"
    with store[1].read() as unit:
        assert unit.qualifications.games(sato.id) == frozenset()


@pytest.mark.parametrize(
    ("role", "games", "code"),
    [
        (Role.DEALER, {"pok_deng", "faro"}, "unknown_game"),
        (Role.PLAYER, {"pok_deng"}, "games_without_dealer"),
        (Role.ADMINISTRATOR, {"faro"}, "unknown_game"),
    ],
)
def test_games_that_nobody_can_have_are_refused_and_nothing_is_stored(people, role, games, code):
    games = frozenset(games)
    with pytest.raises(MalformedError) as fault:
        add(people, role=role, games=games)
    assert fault.value.code == code
    if code == "unknown_game":
        assert fault.value.details == {"game": "faro"}
        assert "pok_deng, other_game" in fault.value.message
    assert people.list() == []
    kato = add(people, "kato", role=role)
    with pytest.raises(MalformedError) as fault:
        people.change(SYSTEM, kato.id, PersonChange(games=games, display_name="Kato"))
    assert fault.value.code == code
    assert people.get(kato.id) == kato


def test_games_go_with_the_new_role_in_the_same_change(people):
    sato = add(people)
    with pytest.raises(MalformedError) as fault:
        people.change(
            SYSTEM, sato.id, PersonChange(role=Role.AUDITOR, games=frozenset({"pok_deng"}))
        )
    assert fault.value.code == "games_without_dealer"
    kato = add(people, "kato", role=Role.AUDITOR)
    changed = people.change(SYSTEM, kato.id, PersonChange(role=Role.DEALER, games=BOTH_GAMES))
    assert people.get(kato.id).games == changed.games == BOTH_GAMES


def test_a_change_waits_for_another_change_of_the_same_person(people):
    """Else a new name would bring back a game that was withdrawn at the same time."""
    sato = add(people, games=BOTH_GAMES)
    withdrawal = threading.Thread(
        target=people.change, args=(SYSTEM, sato.id, PersonChange(games=frozenset()))
    )
    with people.units.write() as unit:
        before, secrets = unit.people.locked(sato.id)
        withdrawal.start()
        withdrawal.join(0.2)
        assert withdrawal.is_alive()
        unit.people.change(before, secrets)
        unit.commit()
    withdrawal.join(10)
    assert people.get(sato.id).games == frozenset()


def test_sessions_and_failures_come_and_go(people, clock):
    add(people)
    for _ in range(2):
        with pytest.raises(RefusedError, match="is not right"):
            people.login_by_password("sato", "wrong", address="a")
    with pytest.raises(RefusedError, match="Too many"):
        people.login_by_password("sato", PASSWORD, address="a")
    clock.advance(1_001)
    token = people.login_by_password("sato", PASSWORD, address="a").token
    clock.advance(59_999)
    assert people.recognise(token) is not None
    clock.advance(59_999)
    assert people.recognise(token) is not None
    clock.advance(60_000)
    assert people.recognise(token) is None


def test_all_sessions_of_a_person_can_be_ended_at_once(people):
    sato, abe = add(people), add(people, "abe")
    tokens = [people.login_by_password("sato", PASSWORD, address="a").token for _ in range(2)]
    other = people.login_by_password("abe", PASSWORD, address="a").token
    people.revoke(SYSTEM, sato.id)
    assert [people.recognise(token) for token in tokens] == [None, None]
    assert people.recognise(other) == abe


def test_a_copy_of_the_database_opens_no_door(people, store):
    add(people, badge="300000000001", pin="4711")
    token = people.login_by_password("sato", PASSWORD, address="a").token
    with pytest.raises(RefusedError):
        people.login_by_password("sato", "my other password", address="a")
    with store[0].connect() as connection:
        stored = "".join(
            str(tuple(row))
            for table in ("person", "login_session", "login_failure", "trail")
            for row in connection.execute(text(f"select * from {table}"))
        )
    assert "$argon2id$" in stored
    for secret in (PASSWORD, "4711", token, "my other password"):
        assert secret not in stored


def test_names_and_badges_belong_to_one_person(people):
    add(people, badge="300000000001")
    with pytest.raises(RefusedError) as name:
        add(people)
    with pytest.raises(RefusedError) as badge:
        add(people, "abe", badge="300000000001")
    assert (name.value.code, badge.value.code) == ("username_taken", "badge_taken")
    assert len(people.list()) == 1


@pytest.mark.parametrize("work", ["change", "revoke"])
def test_nobody_cannot_be_changed(people, work):
    with pytest.raises(RefusedError) as refusal:
        people.change(SYSTEM, 99, PersonChange()) if work == "change" else people.revoke(SYSTEM, 99)
    assert refusal.value.code == "unknown_person"
