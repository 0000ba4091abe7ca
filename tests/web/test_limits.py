"""How often one may ask; with Redis gone the limits go on in memory."""

import pytest

from studio import joining
from studio.settings import DEFAULT_FILE, load_settings
from studio.web.passwords import Argon2Hasher
from tests.conftest import Browser


@pytest.fixture
def settings(sqlite_url):
    """Limits that a test can reach."""
    return load_settings(
        DEFAULT_FILE,
        database_url=sqlite_url,
        secret_key="s" * 40,
        device_keys={"cam": "0123456789abcdef-camera"},
        log_level="warning",
        rates={
            "wagers_per_minute": 3,
            "commands_per_minute": 3,
            "logins_per_minute": 6,
            "reads_per_minute": 30,
        },
    )


def statuses(count, ask):
    found = []
    for _ in range(count):
        answer = ask()
        found.append(answer.status_code)
        answer.close()
    return found


def test_wagers_are_limited_per_player(login):
    one, other = login("player"), login("player2")
    path = "/api/rounds/T1-1-1/wagers"
    assert statuses(4, lambda: one.post(path, {})) == [400, 400, 400, 429]
    assert other.post(path, {}).status_code == 400
    answer = one.post(path, {})
    assert answer.json["error"]["code"] == "too_many_requests"


def test_rooms_are_limited_as_wagers_are_each_door_for_itself(login):
    browser = login("player")
    path = "/api/rooms/join"  # a code could be guessed
    assert statuses(4, lambda: browser.post(path, {})) == [409, 409, 409, 429]
    assert browser.post("/api/rooms", {}).status_code == 409


def test_commands_are_limited_per_dealer(login):
    dealer = login("dealer")
    path = "/api/tables/T1/commands"
    assert statuses(4, lambda: dealer.post(path, {})) == [400, 400, 400, 429]


def test_pictures_are_limited_per_supervisor_and_per_device(app, login):
    pit = login("pit_supervisor")
    body = {"reason": "look"}
    assert statuses(4, lambda: pit.post("/api/pictures/1/open", body)) == [404, 404, 404, 429]
    client = app.test_client()
    headers = {"X-Device-Key": "0123456789abcdef-camera"}
    found = statuses(4, lambda: client.post("/api/device/pictures", json={}, headers=headers))
    assert found == [400, 400, 400, 429]


def test_logins_are_limited_per_address_whatever_the_name(stranger, people):
    stranger.open("/login")
    found = [
        stranger.send_form("/login", username=f"nobody{n}", password="guess").status_code
        for n in range(7)
    ]
    assert found == [401] * 6 + [429]


def test_reads_are_limited_and_assets_are_not(login):
    browser = login("player")
    assert 429 in statuses(31, lambda: browser.get("/api/clock"))
    assert statuses(31, lambda: browser.get("/static/css/base.css"))[-1] == 200


def test_devices_are_limited_by_their_name(app):
    client = app.test_client()
    headers = {"X-Device-Key": "0123456789abcdef-camera"}
    found = statuses(31, lambda: client.get("/api/device/shoe?table=T1", headers=headers))
    assert found == [200] * 30 + [429]


def test_without_its_redis_the_studio_limits_in_memory(settings, monkeypatch):
    monkeypatch.setattr(joining, "Argon2Hasher", lambda: Argon2Hasher(None))
    gone = settings.model_copy(update={"redis_url": "redis://127.0.0.1:9/0"})
    app = joining.make_app(gone)
    try:
        stranger = Browser(app)
        assert statuses(31, lambda: stranger.client.get("/login")) == [200] * 30 + [429]
    finally:
        app.extensions["studio"].close()
