"""The doors of rooms: for players of a play-money studio; everybody else stays outside."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from studio.settings import DEFAULT_FILE, Settings, load_settings
from studio.web.live import NAMESPACE
from tests.conftest import DEVICE_KEY, Browser
from tests.web.floor import HANDS, TABLE, Floor, bet, make_floor

PURSE_MINOR = 100_000


@pytest.fixture
def settings(sqlite_url, tmp_path) -> Settings:
    """The project's own tables, for play money."""
    file = tmp_path / "play.toml"
    text = DEFAULT_FILE.read_text(encoding="utf-8").replace('"JPY"', '"G"')
    file.write_text(text, encoding="utf-8")
    return load_settings(
        file,
        database_url=sqlite_url,
        secret_key="s" * 40,
        device_keys={"cam": DEVICE_KEY},
        log_level="warning",
    )


@pytest.fixture
def one(login: Callable[[str], Browser]) -> Browser:
    return login("player")


@pytest.fixture
def other(login: Callable[[str], Browser]) -> Browser:
    return login("player2")


@pytest.fixture
def floor(studio, clock, login) -> Floor:
    return make_floor(studio, clock, login)


def refusal(answer) -> tuple[int, str]:
    return answer.status_code, answer.json["error"]["code"]


def open_room(browser: Browser, **changed: Any) -> dict[str, Any]:
    answer = browser.post("/api/rooms", {"id": str(uuid.uuid4()), "table": TABLE, **changed})
    assert answer.status_code == 201, answer.text
    return answer.json["room"]


def started(one: Browser, other: Browser) -> dict[str, Any]:
    room = open_room(one)
    assert other.post("/api/rooms/join", {"code": room["code"]}).status_code == 200
    answer = one.post(f"/api/rooms/{room['id']}/start", {})
    assert answer.status_code == 200, answer.text
    return answer.json["room"]


def test_a_player_comes_in_with_a_purse_and_knows_that_it_is_play_money(one, login):
    me = one.get("/api/me").json
    assert (me["balance_minor"], me["held_minor"]) == (PURSE_MINOR, 0)
    assert me["currency"] == {"code": "G", "decimals": 2}
    assert me["play_money"] is True
    assert "play_money" not in login("dealer").get("/api/me").json


def test_logging_in_again_fills_nothing_up(one, login):
    assert login("player").get("/api/me").json["balance_minor"] == PURSE_MINOR


def test_a_room_from_its_opening_to_its_end(one, other, people):
    assert one.get("/api/rooms/mine").json == {"room": None, "standing_minor": 0}
    room = open_room(one)
    assert (room["state"], room["owner_id"]) == ("open", people["player"].id)
    joined = other.post("/api/rooms/join", {"code": room["code"]}).json
    assert set(joined) == {"room", "standing_minor"}
    assert [member["name"] for member in joined["room"]["members"]] == ["Player", "Player2"]
    assert one.get("/api/rooms/mine").json == joined
    assert one.post(f"/api/rooms/{room['id']}/start", {}).json["room"]["state"] == "started"
    for browser in (one, other):
        answer = browser.post(f"/api/rooms/{room['id']}/leave", {})
        assert (answer.status_code, answer.json) == (200, {"forfeited_minor": 0, "wagers": 0})
    assert one.get("/api/rooms/mine").json["room"] is None


def test_a_retried_opening_is_the_same_room(one):
    body = {"id": str(uuid.uuid4()), "table": TABLE}
    answers = [one.post("/api/rooms", body) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json == answers[1].json


AN_ID = "0b7f4d5e-6f0c-4a77-9d0a-2f1f3b9c8e11"


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/api/rooms", {}, 400, "missing_field"),
        ("/api/rooms", {"id": "x", "table": TABLE}, 400, "id_not_uuid"),
        ("/api/rooms", {"id": AN_ID, "table": 7}, 400, "not_a_name"),
        ("/api/rooms", {"id": AN_ID, "table": "T9"}, 404, "unknown_table"),
        ("/api/rooms", {"id": AN_ID, "table": TABLE, "x": 1}, 400, "unknown_field"),
        ("/api/rooms/join", {}, 400, "missing_field"),
        ("/api/rooms/join", {"code": 7}, 400, "not_a_text"),
        ("/api/rooms/join", {"code": "ABCD2345"}, 409, "room_code_wrong"),
        (f"/api/rooms/{AN_ID}/start", {}, 404, "unknown_room"),
        (f"/api/rooms/{AN_ID}/leave", {}, 404, "unknown_room"),
        ("/api/rooms/x/start", {}, 400, "id_not_uuid"),
        ("/api/rooms/x/leave", {"really": True}, 400, "unknown_field"),
    ],
)
def test_a_wrong_request_is_named(one, path, body, status, code):
    assert refusal(one.post(path, body)) == (status, code)


def test_a_code_leads_into_an_open_room_only(one, other, login):
    room = open_room(one)
    alone = one.post(f"/api/rooms/{room['id']}/start", {})
    assert refusal(alone) == (409, "room_needs_two")
    assert alone.json["error"]["details"] == {"seats_min": 2}
    other.post("/api/rooms/join", {"code": room["code"]})
    again = other.post("/api/rooms", {"id": str(uuid.uuid4()), "table": TABLE})
    assert refusal(again) == (409, "room_already")
    assert refusal(other.post(f"/api/rooms/{room['id']}/start", {})) == (409, "room_not_yours")
    one.post(f"/api/rooms/{room['id']}/start", {})
    one.post(f"/api/rooms/{room['id']}/leave", {})
    assert refusal(one.post("/api/rooms/join", {"code": room["code"]})) == (409, "room_started")


def test_a_post_without_the_pages_token_is_refused(one):
    for path in ("/api/rooms", "/api/rooms/join", f"/api/rooms/{uuid.uuid4()}/leave"):
        assert one.client.post(path, json={}).status_code == 400
    assert one.get("/api/rooms/mine").json["room"] is None


def test_a_round_with_a_leave_through_the_doors(one, other, floor, people):
    room = started(one, other)
    round_id = floor.open_round()
    assert bet(one, round_id, "p1", 500).status_code == 201
    assert bet(other, round_id, "p1", 500).status_code == 201
    mine = other.get("/api/rooms/mine").json
    assert mine["standing_minor"] == 500
    assert mine["room"]["round"]["id"] == round_id
    assert len(mine["room"]["round"]["wagers"]) == 2
    left = other.post(f"/api/rooms/{room['id']}/leave", {})
    assert left.json == {"forfeited_minor": 500, "wagers": 1}
    own = other.get(f"/api/rounds/{round_id}/wagers").json["wagers"]
    assert [(wager["forfeited"], wager["ending"]) for wager in own] == [(True, None)]
    floor.deal(["3C", *HANDS])
    floor.close()
    floor.reveal_all()
    floor.studio.clockwork.turn()
    shown = one.get("/api/rooms/mine").json["room"]["round"]
    assert shown["phase"] == "settled"
    assert [
        (wager["player_id"], wager["forfeited"], wager["ending"]["kind"])
        for wager in shown["wagers"]
    ] == [(people["player"].id, False, "settled"), (people["player2"].id, True, "settled")]
    assert shown["wagers"][1]["ending"]["payout_minor"] == 0
    assert other.get("/api/me").json["balance_minor"] == PURSE_MINOR - 1_000


def test_a_member_of_an_open_room_cannot_bet_and_is_told_why(one, floor):
    open_room(one)
    answer = bet(one, floor.open_round(), "p1", 500)
    assert refusal(answer) == (409, "room_not_started")


def test_a_room_at_another_table_keeps_its_members_there(one, other, floor):
    room = open_room(one, table="T2")
    other.post("/api/rooms/join", {"code": room["code"]})
    one.post(f"/api/rooms/{room['id']}/start", {})
    answer = bet(one, floor.open_round(), "p1", 500)
    assert refusal(answer) == (409, "room_elsewhere")
    assert answer.json["error"]["details"] == {"table": "T2"}


def test_the_members_alone_are_hinted_of_every_change(app, one, other, login, floor):
    socketio = app.extensions["socketio"]
    clients = [
        socketio.test_client(app, namespace=NAMESPACE, flask_test_client=browser.client)
        for browser in (one, other, login("auditor"))
    ]

    def hints() -> list[list[Any]]:
        return [
            [
                message["args"][0]
                for message in client.get_received(NAMESPACE)
                if message["name"] == "room"
            ]
            for client in clients
        ]

    room = open_room(one)
    hint = {"room": room["id"]}
    assert hints() == [[hint], [], []]
    other.post("/api/rooms/join", {"code": room["code"]})
    assert hints() == [[hint], [hint], []]
    one.post(f"/api/rooms/{room['id']}/start", {})
    assert hints() == [[hint], [hint], []]
    bet(one, floor.open_round(), "p1", 500)
    assert hints() == [[hint], [hint], []]
    other.post(f"/api/rooms/{room['id']}/leave", {})
    assert hints() == [[hint], [hint], []]
    for client in clients:
        client.disconnect(NAMESPACE)


class TestForMoney:
    """The same doors where the tables are for money."""

    @pytest.fixture
    def settings(self, sqlite_url) -> Settings:
        return load_settings(
            DEFAULT_FILE,
            database_url=sqlite_url,
            secret_key="s" * 40,
            device_keys={"cam": DEVICE_KEY},
            log_level="warning",
        )

    def test_they_are_closed(self, one):
        assert refusal(one.get("/api/rooms/mine")) == (409, "play_money_only")
        for path in ("/api/rooms", "/api/rooms/join", "/api/rooms/x/start", "/api/rooms/x/leave"):
            assert refusal(one.post(path, {})) == (409, "play_money_only")

    def test_nobody_gets_a_purse(self, one):
        me = one.get("/api/me").json
        assert (me["balance_minor"], me["play_money"]) == (0, False)
