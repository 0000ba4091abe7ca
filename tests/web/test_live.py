"""The live connection: all missed events or a snapshot, each to whom it is meant for."""

import pytest
from flask_socketio import SocketIO

from studio.services.people import PersonChange
from studio.web.edge import SUPERVISOR
from studio.web.live import MESSAGES_MAX, NAMESPACE
from tests.web.floor import TABLE, bet, give_cash, make_floor


@pytest.fixture
def socketio(app) -> SocketIO:
    return app.extensions["socketio"]


@pytest.fixture
def connect(app, socketio):
    """Return a function that opens a browser's live connection."""
    opened = []

    def connected(browser):
        client = socketio.test_client(
            app, namespace=NAMESPACE, flask_test_client=browser.client if browser else None
        )
        opened.append(client)
        return client

    yield connected
    for client in opened:
        if client.is_connected(NAMESPACE):
            client.disconnect(NAMESPACE)


def ask(client, name, message):
    return client.emit(name, message, namespace=NAMESPACE, callback=True)


def told(client, name):
    return [one["args"][0] for one in client.get_received(NAMESPACE) if one["name"] == name]


def watch(client, epoch=None, seq=None):
    return ask(client, "watch", {"table": TABLE, "epoch": epoch, "seq": seq})


def test_a_stranger_is_not_let_in(connect):
    assert not connect(None).is_connected(NAMESPACE)


def test_a_first_watch_gets_the_snapshot_and_then_every_event(connect, login, studio, clock):
    client = connect(login("player"))
    floor = make_floor(studio, clock, login)
    snapshot = watch(client)["snapshot"]
    assert snapshot["view"] == floor.view()
    floor.open_round()
    events = told(client, "event")
    assert events[0]["seq"] == snapshot["seq"] + 1
    view = dict(snapshot["view"])
    for event in events:
        view.update(event["patch"])
    assert view == floor.view()


def test_whoever_was_away_gets_exactly_what_was_missed(connect, login, studio, clock):
    floor = make_floor(studio, clock, login)
    client = connect(login("player"))
    snapshot = watch(client)["snapshot"]
    client.disconnect(NAMESPACE)
    floor.open_round()
    floor.deal(["3C", "4H"])
    back = connect(login("player"))
    events = watch(back, snapshot["epoch"], snapshot["seq"])["events"]
    view = dict(snapshot["view"])
    for number, event in enumerate(events, start=snapshot["seq"] + 1):
        assert event["seq"] == number
        view.update(event["patch"])
    assert view == floor.view()


@pytest.mark.parametrize(("epoch", "seq"), [(7, 1), (1, 9_999), (None, 3), (1, None)])
def test_a_position_that_is_not_ours_gets_a_snapshot(connect, login, studio, clock, epoch, seq):
    make_floor(studio, clock, login)
    assert "snapshot" in watch(connect(login("player")), epoch, seq)


@pytest.mark.parametrize(
    "message",
    [
        None,
        "T1",
        [],
        {},
        {"table": TABLE},
        {"table": TABLE, "epoch": 1, "seq": 1, "more": 1},
        {"table": TABLE, "epoch": "1", "seq": 1},
        {"table": TABLE, "epoch": True, "seq": 1},
        {"table": TABLE, "epoch": -1, "seq": 1},
        {"table": TABLE, "epoch": 1.5, "seq": 1},
        {"table": "T9", "epoch": None, "seq": None},
        {"table": {"a": 1}, "epoch": None, "seq": None},
    ],
)
def test_a_wrong_question_is_answered_with_its_fault(connect, login, message):
    answer = ask(connect(login("player")), "watch", message)
    assert set(answer["error"]) == {"code", "message", "details"}


def test_the_wallet_is_told_to_its_owner_alone(connect, login, studio, clock, people):
    floor = make_floor(studio, clock, login)
    give_cash(login, people["player"].id, 5_000)
    mine, other = login("player"), login("player2")
    my_client, other_client, pit = connect(mine), connect(other), connect(login("auditor"))
    for client in (my_client, other_client, pit):
        watch(client)
    bet(mine, floor.open_round(), "p1", 500)
    assert [one["balance_minor"] for one in told(my_client, "wallet")] == [4_000]
    assert told(other_client, "wallet") == []
    assert told(pit, "wallet") == []


def test_hints_for_the_pit_reach_the_pit_only(connect, login, studio, clock):
    floor = make_floor(studio, clock, login)
    pit, player = connect(login("pit_supervisor")), connect(login("player"))
    watch(player)
    floor.command("call_pit")
    assert {"kind": "table", "table": TABLE} in told(pit, "pit")
    assert told(player, "pit") == []


def test_the_clock_is_told(connect, login, clock):
    assert ask(connect(login("player")), "clock", {}) == {"now_ms": clock.ms}


def test_only_the_tables_own_dealer_gives_its_station_life(connect, login, studio, clock):
    make_floor(studio, clock, login)
    clock.advance(4_000)
    for name in ("player", "dealer2", "pit_supervisor"):
        assert "error" in ask(connect(login(name)), "station", {"table": TABLE})
    assert studio.links.health(TABLE)["station"]["age_ms"] == 4_000
    answer = ask(connect(login("dealer")), "station", {"table": TABLE})
    assert answer["taken"] is True
    assert studio.links.health(TABLE)["station"]["age_ms"] == 0


def test_a_connection_that_talks_too_much_is_closed(connect, login):
    client = connect(login("player"))
    for _ in range(MESSAGES_MAX):
        assert "now_ms" in ask(client, "clock", {})
    assert ask(client, "clock", {})["error"]["code"] == "too_many_requests"
    assert not client.is_connected(NAMESPACE)


def test_the_connection_ends_with_the_session(connect, login, app, studio, people):
    leaving, staying = connect(login("player")), connect(login("player2"))
    studio.people.change(
        people["administrator"].actor, people["player"].id, PersonChange(active=False)
    )
    app.extensions[SUPERVISOR].turn(300)
    assert not leaving.is_connected(NAMESPACE)
    assert staying.is_connected(NAMESPACE)


def test_a_session_that_ended_gets_no_answer(connect, login, studio, people):
    browser = login("player")
    client = connect(browser)
    browser.send_form("/logout")
    assert watch(client)["error"]["code"] == "unauthorized"
    assert not client.is_connected(NAMESPACE)


def test_only_websockets_are_spoken(stranger):
    answer = stranger.get("/socket.io/?EIO=4&transport=polling")
    assert answer.status_code == 400
