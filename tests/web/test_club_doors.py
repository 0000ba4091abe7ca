"""The doors of the club in a play-money studio; where money is played for they are shut."""

import uuid

import pytest
from flask_socketio import SocketIO

from studio.joining import make_app
from studio.services.club_data import ItemKind
from studio.settings import DEFAULT_FILE, Settings, load_settings
from studio.settings_error import SettingsError
from studio.web.live import NAMESPACE
from tests.conftest import DEVICE_KEY
from tests.web.floor import BURN, HANDS, bet, make_floor

PURSE_MINOR = 100_000
WINE = "felt_wine"
WINE_MINOR = 30_000


def load(tmp_path, sqlite_url, text: str) -> Settings:
    file = tmp_path / "studio.toml"
    file.write_text(text, encoding="utf-8")
    return load_settings(
        file,
        database_url=sqlite_url,
        secret_key="s" * 40,
        device_keys={"cam": DEVICE_KEY},
        log_level="warning",
        rates={"wagers_per_minute": 30},
    )


MONEY = DEFAULT_FILE.read_text(encoding="utf-8")
PLAY = MONEY.replace('currency = "JPY"', 'currency = "G"')


@pytest.fixture
def settings(tmp_path, sqlite_url) -> Settings:
    """The shipped table, played for G."""
    return load(tmp_path, sqlite_url, PLAY)


def purchase(item: str = WINE) -> dict[str, str]:
    return {"id": str(uuid.uuid4()), "item": item}


def code(answer) -> tuple[int, str]:
    return answer.status_code, answer.json["error"]["code"]


# Medals ----------------------------------------------------------------------------------------


def test_a_new_player_sees_every_medal_and_item(login):
    shown = login("player").get("/api/club").json
    assert set(shown) == {"medals", "items", "options", "balance_minor", "held_minor"}
    assert {tuple(medal) for medal in shown["medals"]} == {
        ("code", "tally", "at_least", "value", "awarded_ms")
    }
    assert {medal["awarded_ms"] for medal in shown["medals"]} == {None}
    assert {tuple(item) for item in shown["items"]} == {("code", "kind", "price_minor", "owned")}
    assert all(item["owned"] == (item["price_minor"] == 0) for item in shown["items"])
    assert set(shown["options"]) == {
        *(kind.value for kind in ItemKind),
        "effects_volume",
        "music_volume",
    }
    assert (shown["balance_minor"], shown["held_minor"]) == (PURSE_MINOR, 0)


def test_a_settled_round_brings_medals_to_screen_and_club(app, login, studio, clock):
    floor = make_floor(studio, clock, login)
    player = login("player")
    socketio: SocketIO = app.extensions["socketio"]
    live = socketio.test_client(app, namespace=NAMESPACE, flask_test_client=player.client)
    round_id = floor.open_round()
    assert bet(player, round_id, "p5_pair", 20_000).status_code == 201
    assert bet(player, round_id, "p1", 100).status_code == 201
    floor.deal([BURN, *HANDS])
    floor.close()
    floor.reveal_all()

    messages = [one["args"][0] for one in live.get_received(NAMESPACE) if one["name"] == "wallet"]
    assert messages[-1]["reason"] == "settled"
    assert messages[-1]["medals"] == ["first_round", "first_win", "big_win", "pair_hit"]
    shown = player.get("/api/club").json
    assert messages[-1]["balance_minor"] == shown["balance_minor"]
    awarded = {medal["code"]: medal["awarded_ms"] for medal in shown["medals"]}
    assert [one for one, at_ms in awarded.items() if at_ms] == messages[-1]["medals"]
    assert awarded["first_win"] == clock.ms
    values = {medal["tally"]: medal["value"] for medal in shown["medals"]}
    assert (values["rounds"], values["wins_in_a_row"], values["hit.pok_deng.pair"]) == (1, 1, 1)
    assert values["won_minor_max"] == shown["balance_minor"] - PURSE_MINOR
    assert {medal["value"] for medal in login("player2").get("/api/club").json["medals"]} == {0}
    live.disconnect(NAMESPACE)


def test_whoever_lost_everything_gets_a_second_chance(login, studio, clock):
    floor = make_floor(studio, clock, login)
    player = login("player")
    round_id = floor.open_round()
    assert bet(player, round_id, "p1", 50_000).status_code == 201
    floor.deal([BURN, *HANDS])
    floor.close()
    floor.reveal_all()
    shown = player.get("/api/club").json
    assert shown["balance_minor"] == PURSE_MINOR
    awarded = [medal["code"] for medal in shown["medals"] if medal["awarded_ms"]]
    assert awarded == ["first_round", "second_chance"]


# The shop --------------------------------------------------------------------------------------


def test_an_item_is_bought_once_and_chosen(login):
    player, body = login("player"), purchase()
    first, second = (player.post("/api/club/purchases", body) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json == second.json == player.get("/api/club").json
    assert first.json["balance_minor"] == PURSE_MINOR - WINE_MINOR
    assert {"code": WINE, "kind": "table_colour", "price_minor": WINE_MINOR, "owned": True} in (
        first.json["items"]
    )
    chosen = player.post("/api/club/options", {"table_colour": WINE, "music_volume": 15})
    assert chosen.status_code == 200
    assert chosen.json["options"]["table_colour"] == WINE
    me = player.get("/api/me").json
    assert me["play_money"] is True
    assert me["options"] == chosen.json["options"]
    assert me["options"]["music_volume"] == 15
    assert me["balance_minor"] == PURSE_MINOR - WINE_MINOR
    other = login("player2").get("/api/me").json
    assert other["options"]["table_colour"] == "felt_green"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (purchase("felt_pink"), (400, "unknown_item")),
        (purchase("felt_green"), (409, "item_owned")),
        (purchase("plate_gold"), (409, "balance_short")),
        ({"id": "7", "item": WINE}, (400, "id_not_uuid")),
        ({"id": str(uuid.uuid4()), "item": 7}, (400, "not_a_name")),
        ({"id": str(uuid.uuid4())}, (400, "missing_field")),
        ({**purchase(), "price_minor": 1}, (400, "unknown_field")),
    ],
)
def test_a_purchase_that_is_refused_takes_nothing(login, body, expected):
    player = login("player")
    assert code(player.post("/api/club/purchases", body)) == expected
    assert player.get("/api/me").json["balance_minor"] == PURSE_MINOR


def test_the_refusal_says_what_must_stay(login, people, studio):
    player = login("player")
    for item in ("back_waves", "felt_navy"):
        assert player.post("/api/club/purchases", purchase(item)).status_code == 201
    short = player.post("/api/club/purchases", purchase("plate_bamboo"))
    assert code(short) == (409, "balance_short")
    assert short.json["error"]["details"] == {"needed_minor": 25_000, "balance_minor": 20_000}
    kept = player.post("/api/club/purchases", purchase("back_red"))
    assert code(kept) == (409, "purse_kept")
    assert kept.json["error"]["details"] == {"least_minor": 100, "balance_minor": 20_000}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"table_colour": WINE}, (409, "item_not_owned")),
        ({"table_colour": "back_blue"}, (400, "unknown_item")),
        ({"table_color": "felt_green"}, (400, "unknown_option")),
        ({"music_volume": 101}, (400, "volume_wrong")),
        ({"music_volume": 10**30}, (400, "volume_wrong")),
        ({"music_volume": None}, (400, "volume_wrong")),
        ([], (400, "not_an_object")),
    ],
)
def test_an_option_that_is_refused_changes_nothing(login, body, expected):
    player = login("player")
    before = player.get("/api/me").json
    assert code(player.post("/api/club/options", body)) == expected
    assert player.get("/api/me").json == before


def test_an_id_belongs_to_its_first_purchase(login):
    body = purchase()
    assert login("player").post("/api/club/purchases", body).status_code == 201
    for name in ("player", "player2"):
        answer = login(name).post("/api/club/purchases", {**body, "item": "felt_navy"})
        assert code(answer) == (409, "transfer_id_reused")
    assert login("player2").get("/api/me").json["balance_minor"] == PURSE_MINOR


DOORS = [
    ("GET", "/api/club", None),
    ("POST", "/api/club/purchases", purchase()),
    ("POST", "/api/club/options", {"music_volume": 5}),
]


@pytest.mark.parametrize("role", ["dealer", "pit_supervisor", "auditor", "administrator"])
def test_staff_does_not_pass(login, role):
    browser = login(role)
    for method, path, body in DOORS:
        answer = browser.get(path) if method == "GET" else browser.post(path, body)
        assert code(answer) == (403, "forbidden"), path
    assert "options" not in browser.get("/api/me").json


@pytest.mark.parametrize("path", ["/api/club/purchases", "/api/club/options"])
def test_a_post_without_the_token_of_the_page_is_refused(login, path):
    player = login("player")
    assert player.client.post(path, json=purchase()).status_code == 400
    assert player.get("/api/me").json["balance_minor"] == PURSE_MINOR


@pytest.mark.parametrize("path", ["/api/club/purchases", "/api/club/options"])
def test_purchases_and_choices_are_limited_per_player(login, path):
    player = login("player")
    statuses = [player.post(path, {"unknown": 1}).status_code for _ in range(31)]
    assert statuses == [400] * 30 + [429]


# The start -------------------------------------------------------------------------------------


def test_a_fault_in_the_clubs_file_stops_the_start(tmp_path, sqlite_url):
    club = tmp_path / "club.toml"
    club.write_text('[[medal]]\ncode = "x"\ntally = "wins"\nat_least = 0\n', encoding="utf-8")
    settings = load(tmp_path, sqlite_url, f'{PLAY}\n[play]\nclub_file = "{club}"\n')
    with pytest.raises(SettingsError) as error:
        make_app(settings)
    assert [line.removeprefix(f"{club}: ") for line in error.value.lines] == [
        "medal x: at_least: Input should be greater than or equal to 1 (it is 0)",
        "item: missing",
    ]
    assert not (tmp_path / "studio.db").exists()


class TestWhereMoneyIsPlayedFor:
    @pytest.fixture
    def settings(self, tmp_path, sqlite_url) -> Settings:
        return load(tmp_path, sqlite_url, MONEY)

    @pytest.mark.parametrize(("method", "path", "body"), DOORS)
    def test_every_door_of_the_club_is_shut(self, login, method, path, body):
        player = login("player")
        for sent in (body, {"unknown": 1}):
            answer = player.get(path) if method == "GET" else player.post(path, sent)
            assert code(answer) == (409, "play_money_only")

    def test_nobody_has_options(self, login):
        me = login("player").get("/api/me").json
        assert me["play_money"] is False
        assert "options" not in me
