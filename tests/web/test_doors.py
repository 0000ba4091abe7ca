"""The edge: who may pass, what is answered, what is refused."""

import uuid

import pytest

from studio.services.ports import Role
from studio.web.guard import audience_of

ROLES = [role.value for role in Role]
PIT = {"pit_supervisor", "auditor", "administrator"}


def test_every_route_says_whom_it_serves(app):
    silent = [
        rule.endpoint
        for rule in app.url_map.iter_rules()
        if audience_of(app, rule.endpoint) is None
    ]
    assert silent == []


def test_a_route_that_says_nothing_is_closed_to_everybody(app, login):
    app.add_url_rule("/api/forgotten", "forgotten", lambda: "secret")
    answer = login("administrator").get("/api/forgotten")
    assert answer.status_code == 403
    assert "secret" not in answer.text


DOORS = [
    ("GET", "/api/me", set(ROLES)),
    ("GET", "/api/clock", set(ROLES)),
    ("GET", "/api/tables", set(ROLES)),
    ("GET", "/api/tables/T1", set(ROLES)),
    ("GET", "/api/tables/T1/events?epoch=0&after=0", set(ROLES)),
    ("GET", "/api/history", {"player"}),
    ("GET", "/api/history.csv", {"player"}),
    ("GET", "/api/club", {"player"}),
    ("POST", "/api/club/purchases", {"player"}),
    ("POST", "/api/club/options", {"player"}),
    ("GET", "/api/rooms/mine", {"player"}),
    ("POST", "/api/rooms", {"player"}),
    ("POST", "/api/rooms/join", {"player"}),
    ("POST", f"/api/rooms/{uuid.uuid4()}/start", {"player"}),
    ("POST", f"/api/rooms/{uuid.uuid4()}/leave", {"player"}),
    ("GET", "/api/pit", PIT),
    ("GET", "/api/trail", PIT),
    ("GET", "/api/deck-sets", PIT | {"dealer"}),
    ("GET", "/api/people", {"administrator", "auditor"}),
    ("GET", "/api/rounds/T1-1-1", set(ROLES)),
    ("GET", "/api/rounds/T1-1-1/bundle", {"player"}),
    ("POST", "/api/rounds/T1-1-1/bundle", PIT),
    ("POST", "/api/rounds/T1-1-1/correction", {"pit_supervisor"}),
    ("POST", "/api/tables/T1/refund", {"pit_supervisor", "auditor"}),
    ("GET", "/api/tables/T1/shoes/1/rounds", {"pit_supervisor", "auditor"}),
    ("GET", "/api/rounds/T1-1-1/wagers", PIT | {"player"}),
    ("POST", "/api/rounds/T1-1-1/wagers", {"player"}),
    ("POST", f"/api/wagers/{uuid.uuid4()}/undo", {"player"}),
    ("POST", "/api/tables/T1/commands", {"dealer", "pit_supervisor"}),
    ("POST", "/api/tables/T1/station", {"dealer"}),
    ("POST", "/api/alarms/1/acknowledge", {"pit_supervisor"}),
    ("GET", "/api/tables/T1/choices", PIT),
    ("GET", "/api/tables/T1/pictures", PIT),
    ("POST", "/api/pictures/1/open", {"pit_supervisor"}),
    ("POST", "/api/cash", {"administrator"}),
    ("POST", "/api/owed", {"administrator"}),
    ("GET", "/api/owed", {"player"}),
    ("GET", "/api/people/1/owed", {"administrator", "auditor"}),
    ("GET", "/api/disabled", PIT),
    ("POST", "/api/disabled", {"administrator"}),
    ("POST", "/api/people", {"administrator"}),
    ("POST", "/api/people/1", {"administrator"}),
    ("POST", "/api/people/1/logout", {"administrator"}),
    ("GET", "/play", {"player"}),
    ("GET", "/history", {"player"}),
    ("GET", "/station", {"dealer"}),
    ("GET", "/pit", PIT),
    ("GET", "/pit/shoes/T1/1", {"pit_supervisor", "auditor"}),
    ("GET", "/admin", {"administrator"}),
    ("POST", "/api/device/reports", set()),
    ("POST", "/api/device/heartbeat", set()),
    ("POST", "/api/device/pictures", set()),
    ("GET", "/api/device/shoe?table=T1", set()),
]


@pytest.mark.parametrize("role", ROLES)
def test_each_role_passes_its_own_doors_only(login, role):
    browser = login(role)
    for method, path, allowed in DOORS:
        answer = browser.get(path) if method == "GET" else browser.post(path, {"unknown": 1})
        expected = (200, 400, 404, 409) if role in allowed else (401, 403)
        assert answer.status_code in expected, (method, path, answer.text)


def test_a_stranger_passes_no_door(stranger):
    for method, path, _ in DOORS:
        answer = stranger.client.open(path, method=method, json={} if method == "POST" else None)
        assert answer.status_code in (302, 401), (method, path)


@pytest.mark.parametrize("path", ["/api/cash", "/api/people", "/logout", "/login"])
def test_a_post_without_the_token_of_the_page_is_refused(login, path):
    browser = login("administrator")
    answer = browser.client.post(path, json={})
    assert answer.status_code == 400
    assert browser.get("/api/me").status_code == 200


def test_the_token_of_another_session_does_not_count(login):
    one, other = login("player"), login("player2")
    one.token = other.token
    assert one.post("/api/rounds/T1-1-1/wagers", {}).status_code == 400


def test_headers_keep_strangers_scripts_and_frames_out(stranger):
    headers = stranger.get("/login").headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert "HttpOnly" in headers["Set-Cookie"]
    assert "SameSite=Lax" in headers["Set-Cookie"]


@pytest.mark.parametrize(
    ("content_type", "data", "code"),
    [
        ("text/plain", "{}", "not_json"),
        ("application/json", "{", "not_json"),
        ("application/json", b"\xff", "not_json"),
        ("application/json", "[]", "not_an_object"),
        ("application/json", '{"id": NaN}', "not_json"),
        ("application/json", '{"id": 1, "id": 2}', "field_repeated"),
        ("application/json", "[" * 30_000, "not_json"),
        ("application/json", '{"amount_minor": ' + "9" * 5_000 + "}", "not_json"),
        ("application/json", "{}", "missing_field"),
        ("application/json", '{"surprise": 1}', "unknown_field"),
    ],
)
def test_a_body_that_cannot_be_read_is_malformed(login, content_type, data, code):
    browser = login("administrator")
    answer = browser.client.post(
        "/api/cash",
        data=data,
        content_type=content_type,
        headers={"X-CSRFToken": browser.token},
    )
    assert answer.status_code == 400
    assert answer.json["error"]["code"] == code
    assert set(answer.json["error"]) == {"code", "message", "details"}


def test_a_body_that_is_too_large_is_refused(login):
    answer = login("administrator").post("/api/cash", {"reason": "x" * 70_000})
    assert answer.status_code == 413


def cash(people, **changed):
    return {
        "id": str(uuid.uuid4()),
        "player_id": people["player"].id,
        "direction": "in",
        "amount_minor": 1000,
        "reason": "buy-in",
        **changed,
    }


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("amount_minor", 0, "amount_not_positive"),
        ("amount_minor", -1, "amount_not_positive"),
        ("amount_minor", 1e30, "amount_not_integer"),
        ("amount_minor", 1.0, "amount_not_integer"),
        ("amount_minor", True, "amount_not_integer"),
        ("amount_minor", "100", "amount_not_integer"),
        ("amount_minor", "１００", "amount_not_integer"),
        ("amount_minor", 10**12 + 1, "amount_too_large"),
        ("amount_minor", None, "amount_not_integer"),
        ("id", "not-a-uuid", "id_not_uuid"),
        ("id", 7, "id_not_uuid"),
        ("direction", "sideways", "not_allowed"),
        ("reason", "", "not_a_text"),
        ("reason", "\ud800", "not_a_text"),
        ("reason", "a\x00b", "not_a_text"),
        ("reason", "x" * 301, "text_too_long"),
        ("player_id", "1", "not_an_integer"),
        ("player_id", -1, "not_an_integer"),
    ],
)
def test_wrong_cash_changes_nothing(login, people, field, value, code):
    answer = login("administrator").post("/api/cash", cash(people, **{field: value}))
    assert answer.status_code == 400
    assert answer.json["error"]["code"] == code
    assert login("player").get("/api/me").json["balance_minor"] == 0


def test_cash_moves_once_per_id(login, people):
    administrator, body = login("administrator"), cash(people)
    for _ in range(2):
        answer = administrator.post("/api/cash", body)
        assert answer.json == {"balance_minor": 1000, "held_minor": 0, "owed_minor": 0}
    reused = administrator.post("/api/cash", {**body, "amount_minor": 2000})
    assert (reused.status_code, reused.json["error"]["code"]) == (409, "transfer_id_reused")
    short = administrator.post("/api/cash", cash(people, direction="out", amount_minor=1001))
    assert (short.status_code, short.json["error"]["code"]) == (409, "balance_short")
    assert login("player").get("/api/me").json["balance_minor"] == 1000


def test_only_players_have_wallets(login, people):
    answer = login("administrator").post("/api/cash", cash(people, player_id=people["dealer"].id))
    assert (answer.status_code, answer.json["error"]["code"]) == (409, "unknown_player")


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({}, 409, "more_than_owed"),
        ({"deed": "forgive"}, 400, "not_allowed"),
        ({"amount_minor": -1}, 400, "amount_not_positive"),
        ({"player_id": 2**40}, 409, "unknown_player"),
        ({"direction": "in"}, 400, "unknown_field"),
    ],
)
def test_owed_money_is_settled_only_as_it_is_meant(login, people, changed, status, code):
    body = {**cash(people), "deed": "collect", **changed}
    if "direction" not in changed:
        del body["direction"]
    answer = login("administrator").post("/api/owed", body)
    assert (answer.status_code, answer.json["error"]["code"]) == (status, code)


def test_a_player_and_the_house_read_what_is_owed(login, people):
    nothing = {"balance_minor": 0, "held_minor": 0, "owed_minor": 0, "changes": []}
    assert login("player").get("/api/owed").json == nothing
    of_player = f"/api/people/{people['player'].id}/owed"
    assert login("auditor").get(of_player).json == nothing
    dealer = login("auditor").get(f"/api/people/{people['dealer'].id}/owed")
    assert dealer.json["error"]["code"] == "unknown_player"


@pytest.mark.parametrize("query", ["limit=-1", "limit=１", "limit=1e3", "limit=201", "before=%00"])
def test_a_wrong_query_is_malformed(login, query):
    assert login("player").get(f"/api/history?{query}").status_code == 400


@pytest.mark.parametrize("path", ["/api/nope", "/api/tables/T1/nope", "/api/wagers/x/undo"])
def test_an_unknown_address_of_the_api_is_answered_in_json(login, path):
    answer = login("player").get(path)
    assert answer.status_code in (404, 405)
    assert answer.json["error"]["code"] in ("not_found", "method_not_allowed")


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/api/tables/T9", "unknown_table"),
        ("/api/tables/T9/events?epoch=1&after=1", "unknown_table"),
        ("/api/rounds/T1-1-1", "unknown_round"),
        ("/api/rounds/T1-1-1/wagers", "unknown_round"),
    ],
)
def test_what_does_not_exist_is_404(login, path, code):
    answer = login("player").get(path)
    assert (answer.status_code, answer.json["error"]["code"]) == (404, code)


def test_an_unknown_page_is_a_page(login):
    answer = login("player").get("/nope")
    assert answer.status_code == 404
    assert answer.content_type.startswith("text/html")


def test_an_unforeseen_exception_tells_nothing(app, login, studio, monkeypatch):
    app.testing = False

    def breaks() -> None:
        message = "the ace of spades is AS"
        raise RuntimeError(message)

    monkeypatch.setattr(type(studio.reports), "deck_sets", lambda _: breaks())
    answer = login("dealer").get("/api/deck-sets")
    assert answer.status_code == 500
    assert answer.json["error"]["code"] == "internal_server_error"
    assert "spades" not in answer.text


@pytest.mark.parametrize("language", ["en", "ja"])
def test_both_languages_are_shown(stranger, language):
    stranger.open("/login")
    assert stranger.send_form("/language", language=language, next="/login").status_code == 303
    page = stranger.open("/login")
    assert f'<html lang="{language}"' in page.text


def test_metrics_are_for_this_machine_only(app, stranger):
    assert stranger.get("/metrics").status_code == 200
    elsewhere = app.test_client().get("/metrics", environ_base={"REMOTE_ADDR": "192.0.2.7"})
    assert elsewhere.status_code == 403
