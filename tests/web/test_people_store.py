"""People in both kinds of database: what is stored is what was meant, and no secret is readable."""

import argon2
import pytest
from sqlalchemy import text

import app as entrance
from studio.domain.errors import RefusedError
from studio.services.people import LoginPolicy, NewPerson, PeopleService, PersonChange
from studio.services.ports import Actor, Role
from studio.store.people import SqlPeopleUnits
from studio.web.passwords import Argon2Hasher
from studio.web.system import SystemRandomness

SYSTEM = Actor(id=0, name="studio", role=None)
PASSWORD = "correct horse battery"


@pytest.fixture
def store(database_url):
    engine, units = entrance.open_store(database_url, currency="JPY")
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
