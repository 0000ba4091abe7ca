"""The doors of the pit's figures and rounds: who may ask, and that nothing sealed comes out."""

import re
import uuid

import pytest

from studio.services.reports import TABLE_ROUNDS_MAX
from tests.web.floor import BURN, HANDS, TABLE, bet, give_cash, make_floor

READERS = ("pit_supervisor", "auditor", "administrator")
FIGURES, ROUNDS = "/api/figures", f"/api/tables/{TABLE}/rounds"


@pytest.fixture
def floor(studio, clock, login, people):
    made = make_floor(studio, clock, login)
    give_cash(login, people["player"].id, 100_000)
    return made


def play(floor, login):
    """Play a round with 500 on P1 and 100 on its pair."""
    round_id = floor.open_round()
    player = login("player")
    for spot, stake in (("p1", 500), ("p1_pair", 100)):
        assert bet(player, round_id, spot, stake).status_code == 201
    floor.deal([BURN, *HANDS])
    floor.close()
    floor.reveal_all()
    return round_id


@pytest.mark.parametrize("path", [FIGURES, ROUNDS, "/pit/figures"])
@pytest.mark.parametrize("role", ["player", "dealer", *READERS])
def test_only_those_who_read_everything_may_ask(login, role, path):
    assert login(role).get(path).status_code == (200 if role in READERS else 403)


def test_before_the_first_round_there_are_hours_and_nothing_in_them(login):
    answer = login("auditor").get(FIGURES).json
    assert len(answer["hours"]) == 24
    assert {hour["turnover_minor"] for hour in answer["hours"]} == {0}
    assert (answer["returns"], answer["scans"], answer["by_table"]) == ([], [], [])
    assert login("auditor").get(ROUNDS).json == {"rounds": [], "next": None}


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("hours=0", 400, "hours_out_of_range"),
        ("hours=169", 400, "not_an_integer"),
        ("hours=-1", 400, "not_an_integer"),
        ("hours=１", 400, "not_an_integer"),
        ("hours=1e3", 400, "not_an_integer"),
        ("table=T9", 404, "unknown_table"),
        ("table='; drop", 400, "not_a_name"),
    ],
)
def test_a_wrong_question_is_answered_with_its_fault(login, query, status, code):
    answer = login("auditor").get(f"{FIGURES}?{query}")
    assert (answer.status_code, answer.json["error"]["code"]) == (status, code)


def test_a_settled_round_is_in_the_figures_of_its_hour_and_table(floor, login):
    play(floor, login)
    answer = login("pit_supervisor").get(f"{FIGURES}?table={TABLE}&hours=2").json
    line = answer["by_table"][0]
    with floor.studio.tables.units.read() as unit:
        (sums,) = unit.figures.of_rounds([floor.view()["round"]["id"]]).values()
    assert (line["table"], line["rounds"], line["wagers"]) == (TABLE, 1, 2)
    assert (line["turnover_minor"], line["ggr_minor"]) == (600, sums.ggr_minor)
    assert sum(hour["ggr_minor"] for hour in answer["hours"]) == sums.ggr_minor
    assert {curve["kind"]: curve["rounds"] for curve in answer["returns"]} == {"main": 1, "pair": 1}
    (scans,) = answer["scans"]
    assert (scans["cards"], scans["failed"], scans["rounds"]) == (3 + 13, 0, 1)


def test_while_cards_are_sealed_no_figure_changes_with_their_faces(floor, login):
    floor.open_round()
    floor.deal([BURN, *HANDS])
    auditor = login("auditor")
    for path in (FIGURES, ROUNDS):
        text = auditor.get(path).text
        assert re.findall(r'"(?:[2-9TJQKA][SHDC])"', text) == []
        assert re.findall(r"serial|nonce|sealed", text) == []
    assert auditor.get(FIGURES).json["scans"][0]["cards"] == 3 + 13


def test_a_tables_rounds_come_newest_first_in_pages(floor, login):
    first = play(floor, login)
    second = floor.open_round()
    supervisor = login("pit_supervisor")
    void = {"id": str(uuid.uuid4()), "command": "void_round", "round_id": second, "reason": "x"}
    assert supervisor.post(f"/api/tables/{TABLE}/commands", void).status_code == 200
    newest = supervisor.get(f"{ROUNDS}?limit=1").json
    assert [one["round_id"] for one in newest["rounds"]] == [second]
    assert newest["rounds"][0] | {"opened_ms": 0} == {
        "round_id": second,
        "shoe": 1,
        "number": 2,
        "opened_ms": 0,
        "phase": "void",
        "wagers": 0,
        "turnover_minor": 0,
        "ggr_minor": 0,
    }
    older = supervisor.get(f"{ROUNDS}?limit=1&before={newest['next']}").json
    assert [one["round_id"] for one in older["rounds"]] == [first]
    assert older["rounds"][0]["turnover_minor"] == 600
    assert supervisor.get(f"{ROUNDS}?before={older['next']}").json["rounds"] == []


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/api/tables/T9/rounds", 404, "unknown_table"),
        (f"{ROUNDS}?before=T1-9-9", 404, "unknown_round"),
        (f"{ROUNDS}?limit={TABLE_ROUNDS_MAX + 1}", 400, "not_an_integer"),
    ],
)
def test_rounds_that_cannot_be_named_are_refused(login, path, status, code):
    answer = login("auditor").get(path)
    assert (answer.status_code, answer.json["error"]["code"]) == (status, code)
