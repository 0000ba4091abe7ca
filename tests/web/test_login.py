"""Logging in: by password or badge, slowed, expiring, revocable."""

import pytest

from studio.domain.errors import MalformedError, RefusedError
from studio.services.people import NewPerson, PersonChange
from studio.services.ports import Actor, Role

MINUTE_MS = 60_000
SYSTEM = Actor(id=0, name="studio", role=None)


def test_a_stranger_is_sent_to_the_login_and_back_to_the_page(stranger, people):
    answer = stranger.get("/pit")
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/login?next=/pit"
    stranger.open("/login?next=/pit")
    entered = stranger.send_form(
        "/login", username="pit_supervisor", password="correct horse battery", next="/pit"
    )
    assert (entered.status_code, entered.headers["Location"]) == (303, "/pit")


def test_a_stranger_gets_401_from_the_api(stranger):
    answer = stranger.get("/api/me")
    assert answer.status_code == 401
    assert answer.json["error"]["code"] == "unauthorized"


@pytest.mark.parametrize("elsewhere", ["//evil.example", "https://evil.example", "/\\evil.example"])
def test_the_login_leads_nowhere_else(stranger, people, elsewhere):
    stranger.open("/login")
    answer = stranger.send_form(
        "/login", username="player", password="correct horse battery", next=elsewhere
    )
    assert answer.headers["Location"] == "/"


def test_a_badge_with_its_pin_logs_a_dealer_in(stranger, people):
    stranger.open("/login")
    answer = stranger.send_form("/login", way="badge", badge="300000000001", pin="4711")
    assert answer.status_code == 303
    assert stranger.get("/api/me").json["role"] == "dealer"


@pytest.mark.parametrize(
    "fields",
    [
        {"username": "player", "password": "wrong horse battery"},
        {"username": "nobody", "password": "correct horse battery"},
        {"username": "", "password": ""},
        {"badge": "300000000001", "pin": "0000"},
        {"badge": "300000000009", "pin": "4711"},
        {"username": "player", "password": "x" * 299},
    ],
)
def test_a_wrong_login_says_the_same_whatever_was_wrong(stranger, people, fields):
    stranger.open("/login")
    answer = stranger.send_form("/login", **fields)
    assert answer.status_code == 401
    assert 'data-testid="login-error"' in answer.text
    assert stranger.get("/api/me").status_code == 401


def test_an_unreadable_field_is_malformed(stranger):
    stranger.open("/login")
    assert stranger.send_form("/login", username="a\x00b", password="x").status_code == 400


def test_five_failures_slow_a_name_and_the_window_lets_it_in_again(stranger, people, clock):
    for _ in range(5):
        assert stranger.login("player", "wrong horse battery").status_code == 401
    assert stranger.login("player").status_code == 429
    assert stranger.login("player2").status_code == 303
    clock.advance(300_001)
    assert stranger.login("player").status_code == 303


def test_a_success_forgives_the_failures_before_it(stranger, people):
    for _ in range(4):
        stranger.login("player", "wrong horse battery")
    assert stranger.login("player").status_code == 303
    stranger.send_form("/logout")
    assert stranger.login("player", "wrong horse battery").status_code == 401
    assert stranger.login("player").status_code == 303


def test_failures_of_one_address_slow_every_name_from_there(studio, people):
    for number in range(20):
        with pytest.raises(RefusedError):
            studio.people.login_by_password(f"nobody{number}", "guess", address="192.0.2.1")
    with pytest.raises(RefusedError) as refusal:
        studio.people.login_by_password("player", "correct horse battery", address="192.0.2.1")
    assert refusal.value.code == "login_slowed"
    assert studio.people.login_by_password(
        "player", "correct horse battery", address="192.0.2.2"
    ).token


def test_logging_out_ends_the_session_itself_not_only_the_cookie(login, studio):
    browser = login("player")
    with browser.client.session_transaction() as cookie:
        token = cookie["login"]
    assert studio.people.recognise(token) is not None
    assert browser.send_form("/logout").status_code == 303
    assert studio.people.recognise(token) is None
    assert browser.get("/api/me").status_code == 401


def test_the_cookie_starts_anew_at_login(stranger, people):
    stranger.open("/login")
    with stranger.client.session_transaction() as cookie:
        cookie["planted"] = "by somebody else"
        cookie["language"] = "ja"
    stranger.login("player")
    with stranger.client.session_transaction() as cookie:
        assert "planted" not in cookie
        assert cookie["language"] == "ja"


@pytest.mark.parametrize(("idle_ms", "status"), [(-1, 200), (0, 401), (1, 401)])
def test_a_session_ends_by_inactivity(login, clock, idle_ms, status):
    browser = login("player")
    clock.advance(30 * MINUTE_MS + idle_ms)
    assert browser.get("/api/me").status_code == status


def test_a_session_in_use_ends_after_its_lifetime_in_any_case(login, clock):
    browser = login("player")
    for _ in range(720 // 20 - 1):
        clock.advance(20 * MINUTE_MS)
        assert browser.get("/api/me").status_code == 200
    clock.advance(20 * MINUTE_MS)
    assert browser.get("/api/me").status_code == 401


def test_a_listening_screen_does_not_keep_a_session(login, studio, clock):
    browser = login("player")
    with browser.client.session_transaction() as cookie:
        token = cookie["login"]
    for _ in range(2):
        clock.advance(15 * MINUTE_MS)
        studio.people.recognise(token, keeps=False)
    assert studio.people.recognise(token) is None


def test_a_token_of_ones_own_making_opens_nothing(stranger, studio):
    with stranger.client.session_transaction() as cookie:
        cookie["login"] = "guessed"
    assert stranger.get("/api/me").status_code == 401
    assert studio.people.recognise("") is None


@pytest.mark.parametrize(
    "change",
    [
        PersonChange(password="another long one"),
        PersonChange(pin="1234"),
        PersonChange(active=False),
        PersonChange(role=Role.AUDITOR),
    ],
)
def test_a_change_of_what_lets_somebody_in_ends_their_sessions(login, people, studio, change):
    browser = login("dealer")
    studio.people.change(people["administrator"].actor, people["dealer"].id, change)
    assert browser.get("/api/me").status_code == 401


def test_a_deactivated_person_cannot_log_in(stranger, people, studio):
    studio.people.change(SYSTEM, people["player"].id, PersonChange(active=False))
    assert stranger.login("player").status_code == 401


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("username", "A", "username_wrong"),
        ("username", "Upper", "username_wrong"),
        ("username", "ｗｉｄｅ", "username_wrong"),
        ("username", "x" * 33, "username_wrong"),
        ("display_name", "  ", "display_name_wrong"),
        ("display_name", "x" * 61, "display_name_wrong"),
        ("password", "123456789", "password_wrong"),
        ("password", "x" * 201, "password_wrong"),
        ("badge", "a b", "badge_wrong"),
        ("pin", "123", "pin_wrong"),
        ("pin", "１２３４", "pin_wrong"),
        ("language", "fr", "language_wrong"),
    ],
)
def test_a_person_that_cannot_be_is_refused(studio, field, value, code):
    fields = {
        "username": "somebody",
        "display_name": "Some Body",
        "role": Role.PLAYER,
        "password": "long enough it is",
        "language": "en",
    }
    with pytest.raises(MalformedError) as fault:
        studio.people.create(SYSTEM, NewPerson(**{**fields, field: value}))
    assert fault.value.code == code
    assert studio.people.list() == []


def test_names_and_badges_belong_to_one(studio, people):
    new = {"display_name": "X", "role": Role.DEALER, "password": "p" * 10, "language": "en"}
    with pytest.raises(RefusedError) as taken:
        studio.people.create(SYSTEM, NewPerson(username="dealer", **new))
    assert taken.value.code == "username_taken"
    with pytest.raises(RefusedError) as badge:
        studio.people.create(SYSTEM, NewPerson(username="dealer3", badge="300000000001", **new))
    assert badge.value.code == "badge_taken"


@pytest.mark.parametrize(
    ("who", "role", "code"),
    [
        ("player", Role.DEALER, "player_role_fixed"),
        ("dealer", Role.PLAYER, "player_role_fixed"),
        ("administrator", Role.AUDITOR, "own_account"),
    ],
)
def test_roles_that_may_not_change_do_not(studio, people, who, role, code):
    with pytest.raises(RefusedError) as refusal:
        studio.people.change(people["administrator"].actor, people[who].id, PersonChange(role=role))
    assert refusal.value.code == code


def test_changes_of_people_are_in_the_audit_trail_without_secrets(studio, people):
    studio.people.change(
        people["administrator"].actor, people["dealer"].id, PersonChange(display_name="Sato")
    )
    line = studio.reports.trail(before_id=None, limit=1)["lines"][0]
    assert (line["actor"], line["action"]) == ("Administrator", "person_changed")
    assert (line["before"]["display_name"], line["after"]["display_name"]) == ("Dealer", "Sato")
    assert "hash" not in str(line)
