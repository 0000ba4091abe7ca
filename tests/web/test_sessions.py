"""How long a login lasts: told before it ends, kept by what a person does, by nothing else."""

import pytest
from flask_socketio import SocketIO

from studio.web.live import NAMESPACE
from tests.web.floor import TABLE, make_floor

MINUTE_MS = 60_000
IDLE_MS = 30 * MINUTE_MS
BY_ITSELF = {"X-By-Itself": "1"}


def left(browser):
    """Ask as a page asks by itself: how long the session lasts, milliseconds."""
    answer = browser.client.get("/api/session", headers=BY_ITSELF)
    assert answer.status_code == 200, answer.text
    return answer.json["idle_ends_ms"] - answer.json["now_ms"]


def test_a_page_is_told_when_the_session_ends_and_when_to_warn(login, clock):
    browser = login("player")
    clock.advance(10 * MINUTE_MS)
    answer = browser.client.get("/api/session", headers=BY_ITSELF).json
    assert answer == {
        "now_ms": clock.ms,
        "idle_ends_ms": clock.ms + 20 * MINUTE_MS,
        "ends_ms": clock.ms + 710 * MINUTE_MS,
        "warn_ms": MINUTE_MS,
    }


def test_what_a_page_asks_by_itself_keeps_no_session(login, clock):
    browser = login("pit_supervisor")
    for _ in range(29):
        clock.advance(MINUTE_MS)
        assert browser.client.get("/api/pit", headers=BY_ITSELF).status_code == 200
    assert left(browser) == MINUTE_MS
    clock.advance(MINUTE_MS)
    assert browser.client.get("/api/pit", headers=BY_ITSELF).status_code == 401


def test_one_press_keeps_the_session_again_and_again(login, clock):
    browser = login("player")
    for _ in range(12):
        clock.advance(IDLE_MS - 20_000)
        answer = browser.post("/api/session", {})
        assert answer.json["idle_ends_ms"] - clock.ms == IDLE_MS
    assert browser.get("/api/me").status_code == 200


def test_the_press_needs_the_pages_token_and_says_nothing_else(login):
    browser = login("player")
    assert browser.client.post("/api/session", json={}).status_code == 400
    assert browser.post("/api/session", {"more": 1}).status_code == 400


def test_a_session_that_ended_cannot_be_kept(login, clock, stranger):
    browser = login("player")
    clock.advance(IDLE_MS)
    assert browser.client.get("/api/session", headers=BY_ITSELF).status_code == 401
    assert browser.post("/api/session", {}).status_code in (400, 401)
    assert stranger.get("/api/session").status_code == 401


@pytest.fixture
def connect(app):
    opened = []
    socketio: SocketIO = app.extensions["socketio"]

    def connected(browser):
        client = socketio.test_client(
            app, namespace=NAMESPACE, flask_test_client=browser.client, headers={}
        )
        opened.append(client)
        return client

    yield connected
    for client in opened:
        if client.is_connected(NAMESPACE):
            client.disconnect(NAMESPACE)


def beat(client):
    return client.emit("station", {"table": TABLE}, namespace=NAMESPACE, callback=True)


def test_a_dealer_who_deals_by_scanner_alone_stays_logged_in(connect, login, studio, clock):
    floor = make_floor(studio, clock, login)
    client = connect(floor.dealer)
    for _ in range(45):
        clock.advance(MINUTE_MS)
        assert beat(client)["taken"]
    assert left(floor.dealer) == IDLE_MS


def test_a_station_where_nobody_sits_keeps_nobody_logged_in(connect, login, studio, clock):
    make_floor(studio, clock, login)
    other = login("dealer2")
    client = connect(other)
    clock.advance(29 * MINUTE_MS)
    assert beat(client)["error"]["code"] == "not_your_table"
    assert left(other) == MINUTE_MS


def test_a_screen_that_connects_again_by_itself_keeps_nobody_logged_in(connect, login, clock):
    browser = login("player")
    clock.advance(20 * MINUTE_MS)
    assert connect(browser).is_connected(NAMESPACE)
    assert left(browser) == 10 * MINUTE_MS


# What the scanner could not hand over ------------------------------------------------------------


def test_the_station_is_told_how_many_reports_its_scanner_keeps(connect, login, studio, clock):
    floor = make_floor(studio, clock, login)
    client = connect(floor.dealer)
    near = {
        "taken": True,
        "queued": None,
        "scanner": "up",
        "offline_ms": None,
        "back_ms": None,
        "sent": 0,
    }
    assert beat(client) == near
    heartbeat = {"table": TABLE, "link": "scanner", "queued": 3}
    floor.camera.post(
        "/api/device/heartbeat",
        json=heartbeat,
        headers={"X-Device-Key": "0123456789abcdef-camera"},
    )
    waiting = {
        "taken": True,
        "queued": 3,
        "scanner": "up",
        "offline_ms": 0,
        "back_ms": None,
        "sent": 0,
    }
    assert beat(client) == waiting
    # A report is a sign of life too, but says nothing of the queue.
    floor.report(None, kind="read_failed", reason="no_code")
    assert beat(client) == {**waiting, "sent": 1}
    clock.advance(4_000)
    studio.clockwork.turn()
    by_request = floor.dealer.post(f"/api/tables/{TABLE}/station", {})
    assert by_request.json == {**waiting, "scanner": "lost", "offline_ms": 4_000, "sent": 1}
