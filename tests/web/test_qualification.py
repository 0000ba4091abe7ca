"""The doors know what a dealer may open: on the way in, in the lists, for the administrator."""

import uuid

import pytest

from studio.games import GAMES
from studio.settings import DEFAULT_FILE, load_settings
from tests.conftest import DEVICE_KEY
from tests.web.floor import BURN, HANDS, make_floor

LIMITS = {"min_minor": 100, "max_minor": 100_000}
SECOND_TABLE = {
    "name": "Baccarat 1",
    "game": "baccarat",
    "currency": "JPY",
    "decks": 8,
    "window_ms": 15_000,
    "cut_depth_min": 52,
    "cut_depth_max": 208,
    "deck_sets": [1],
    "player_max_minor": 500_000,
    "table_max_minor": 5_000_000,
    "limits": dict.fromkeys(("player", "banker", "tie"), LIMITS),
}


@pytest.fixture
def settings(sqlite_url):
    """A studio with a table of each of two games."""
    return load_settings(
        DEFAULT_FILE,
        database_url=sqlite_url,
        secret_key="s" * 40,
        device_keys={"cam": DEVICE_KEY},
        log_level="warning",
        tables={"T2": SECOND_TABLE},
    )


def command(browser, table, name, **values):
    body = {"id": str(uuid.uuid4()), "command": name, **values}
    return browser.post(f"/api/tables/{table}/commands", body)


def set_games(login, person, *games):
    answer = login("administrator").post(f"/api/people/{person.id}", {"games": list(games)})
    assert answer.status_code == 200, answer.text
    return answer.json["person"]


# What a dealer meets ----------------------------------------------------------------------------


def test_a_dealer_of_one_game_sees_both_tables_and_opens_one(login, people):
    dealer = login("dealer")
    assert dealer.get("/api/me").json["games"] == ["pok_deng"]
    tables = {one["table"]: one["game"] for one in dealer.get("/api/tables").json}
    assert tables == {"T1": "pok_deng", "T2": "baccarat"}
    refused = command(dealer, "T2", "take_seat")
    assert refused.status_code == 409
    assert refused.json["error"]["code"] == "dealer_not_qualified"
    assert refused.json["error"]["details"] == {"game": "baccarat"}
    assert "administrator" in refused.json["error"]["message"]
    assert dealer.get("/api/tables/T2").json["view"]["dealer"] is None
    assert command(dealer, "T1", "take_seat").status_code == 200


def test_a_new_qualification_counts_at_once_and_a_withdrawn_one_too(login, people):
    dealer = login("dealer")
    set_games(login, people["dealer"], "baccarat", "pok_deng")
    assert dealer.get("/api/me").json["games"] == ["baccarat", "pok_deng"]
    assert command(dealer, "T2", "take_seat").status_code == 200
    set_games(login, people["dealer"])
    assert dealer.get("/api/me").json["games"] == [], "the same login"
    assert command(dealer, "T1", "take_seat").json["error"]["code"] == "dealer_not_qualified"


def test_a_running_round_outlives_the_qualification_and_the_login_with_it(
    studio, clock, login, people
):
    floor = make_floor(studio, clock, login)
    floor.open_round()
    set_games(login, people["dealer"], "baccarat")
    floor.deal([BURN, *HANDS])
    floor.close()
    floor.reveal_all()
    assert floor.view()["phase"] == "settled"
    answer = command(floor.dealer, "T1", "start_round")
    assert answer.json["error"]["details"] == {"game": "pok_deng"}


def test_a_deck_set_is_loaded_at_one_table(studio, clock, login, people):
    make_floor(studio, clock, login)
    set_games(login, people["dealer2"], "baccarat")
    other = login("dealer2")
    assert command(other, "T2", "take_seat").status_code == 200
    refused = command(other, "T2", "load_shoe", deck_set=1)
    assert refused.status_code == 409
    assert refused.json["error"]["code"] == "deck_set_in_use"
    assert refused.json["error"]["details"] == {"deck_set": 1, "table": "T1"}


@pytest.mark.parametrize("role", ["pit_supervisor", "auditor", "administrator", "player"])
def test_only_a_dealer_has_games(login, role):
    assert "games" not in login(role).get("/api/me").json


# What an administrator does ---------------------------------------------------------------------


def new(**changed):
    return {
        "username": "kato",
        "display_name": "Kato",
        "role": "dealer",
        "password": "long enough it is",
        **changed,
    }


def test_an_administrator_sees_the_games_and_who_has_which(login, people):
    answer = login("administrator").get("/api/people").json
    shown = {one["username"]: one for one in answer["people"]}
    assert answer["games"] == [game.code for game in GAMES]
    assert shown["dealer"]["games"] == ["pok_deng"]
    assert all(("games" in one) == (one["role"] == "dealer") for one in shown.values())


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({}, []),
        ({"games": []}, []),
        ({"games": ["pok_deng", "baccarat"]}, ["baccarat", "pok_deng"]),
    ],
)
def test_a_dealer_is_made_with_the_games_named(login, given, stored):
    answer = login("administrator").post("/api/people", new(**given))
    assert answer.status_code == 201
    assert answer.json["person"]["games"] == stored


def test_a_change_that_names_no_games_leaves_them(login, people):
    admin = login("administrator")
    path = f"/api/people/{people['dealer'].id}"
    assert admin.post(path, {"display_name": "Sato"}).json["person"]["games"] == ["pok_deng"]
    assert admin.post(path, {"games": None}).json["person"]["games"] == ["pok_deng"]
    assert admin.post(path, {"games": []}).json["person"]["games"] == []


@pytest.mark.parametrize(
    ("role", "games", "code"),
    [
        ("dealer", ["faro"], "unknown_game"),
        ("dealer", "pok_deng", "not_a_list_of_games"),
        ("dealer", {"pok_deng": True}, "not_a_list_of_games"),
        ("dealer", ["pok_deng", 1], "not_a_list_of_games"),
        ("dealer", ["pok_deng", "pok_deng"], "not_a_list_of_games"),
        ("player", ["pok_deng"], "games_without_dealer"),
        ("pit_supervisor", ["pok_deng"], "games_without_dealer"),
    ],
)
def test_games_that_can_not_be_are_malformed(login, people, role, games, code):
    admin = login("administrator")
    before = admin.get("/api/people").json
    path = f"/api/people/{people[role].id}"
    for answer in (
        admin.post("/api/people", new(role=role, games=games)),
        admin.post(path, {"games": games}),
    ):
        assert answer.status_code == 400
        assert answer.json["error"]["code"] == code
    assert admin.get("/api/people").json == before


def test_the_trail_shows_the_games_before_and_after(login, people):
    set_games(login, people["dealer"], "baccarat")
    line = login("auditor").get("/api/trail").json["lines"][0]
    assert (line["action"], line["subject"]) == ("person_changed", "person:dealer")
    assert (line["before"]["games"], line["after"]["games"]) == (["pok_deng"], ["baccarat"])
