"""A whole round through the doors, and that no door tells a card before its reveal."""

import csv
import io
import json
import logging
import re
import uuid

import pytest

from tests.web.floor import BURN, HANDS, TABLE, bet, give_cash, make_floor

FACE = re.compile(r'"(?:[2-9TJQKA][SHDC])"')


@pytest.fixture
def floor(studio, clock, login):
    return make_floor(studio, clock, login)


def test_a_round_is_bet_dealt_revealed_settled_and_kept(floor, login, people):
    give_cash(login, people["player"].id, 5_000)
    player = login("player")
    round_id = floor.open_round()
    placed = bet(player, round_id, "p1", 500)
    assert placed.status_code == 201
    assert placed.json["wager"]["hold_minor"] == 1_000
    assert (placed.json["balance_minor"], placed.json["held_minor"]) == (4_000, 1_000)
    floor.deal([BURN, *HANDS])
    floor.close()
    floor.reveal_all()

    view = floor.view()
    assert view["phase"] == "settled"
    mine = player.get(f"/api/rounds/{round_id}/wagers").json["wagers"]
    history = player.get("/api/history").json
    money = player.get("/api/me").json
    payout = mine[0]["ending"]["payout_minor"]
    assert mine[0]["ending"]["kind"] == "settled"
    assert payout == view["round"]["payouts_minor"]
    assert (money["balance_minor"], money["held_minor"]) == (4_000 + payout, 0)
    assert history["rounds"][0]["round_id"] == round_id
    assert history["rounds"][0]["payout_minor"] == payout
    assert history["rounds"][0]["hands"][0]["cards"] == [HANDS[0], HANDS[6]]
    assert history["next"] is None

    record = player.get(f"/api/rounds/{round_id}").json
    assert record["round"]["id"] == round_id
    assert [event["kind"] for event in record["events"]][-1] == "RoundSettled"
    rows = list(csv.DictReader(io.StringIO(player.get("/api/history.csv").text)))
    assert [(row["bet"], row["payout_minor"]) for row in rows] == [("p1", str(payout))]


def test_other_players_see_nothing_of_ones_wagers_but_the_pit_does(floor, login, people):
    give_cash(login, people["player"].id, 5_000)
    round_id = floor.open_round()
    bet(login("player"), round_id, "p1", 500)
    assert login("player2").get(f"/api/rounds/{round_id}/wagers").json == {"wagers": []}
    assert login("player2").get("/api/history").json["rounds"] == []
    seen = login("pit_supervisor").get(f"/api/rounds/{round_id}/wagers").json["wagers"]
    assert [(one["player"], one["stake_minor"]) for one in seen] == [("Player", 500)]
    pit = login("pit_supervisor").get("/api/pit").json["tables"][0]
    assert (pit["wagers"], pit["stake_minor"]) == (1, 500)


def test_an_undone_wager_comes_back_whole_and_counts_for_nothing(floor, login, people):
    give_cash(login, people["player"].id, 5_000)
    player = login("player")
    round_id = floor.open_round()
    wager = bet(player, round_id, "p1", 500).json["wager"]
    undone = player.post(f"/api/wagers/{wager['id']}/undo", {})
    ending = undone.json["wager"]["ending"]
    assert (ending["kind"], ending["payout_minor"]) == ("undone", 1_000)
    assert undone.json["balance_minor"] == 5_000
    shown = player.get("/api/history").json["rounds"]
    assert sum(one["stake_minor"] for one in shown) == 0


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({"stake_minor": 0}, 400, "amount_not_positive"),
        ({"stake_minor": -1}, 400, "amount_not_positive"),
        ({"stake_minor": 1e30}, 400, "amount_not_integer"),
        ({"stake_minor": "１００"}, 400, "amount_not_integer"),
        ({"stake_minor": 99}, 409, "stake_below_minimum"),
        ({"stake_minor": 100_001}, 409, "bet_limit_exceeded"),
        ({"stake_minor": 2_501}, 409, "balance_short"),
        ({"bet": "p9"}, 400, "unknown_bet"),
        ({"bet": 1}, 400, "not_a_name"),
        ({"id": "1"}, 400, "id_not_uuid"),
        ({"player_id": 1}, 400, "unknown_field"),
    ],
)
def test_a_wrong_wager_changes_nothing(floor, login, people, changed, status, code):
    give_cash(login, people["player"].id, 5_000)
    player = login("player")
    answer = bet(player, floor.open_round(), "p1", 500, **changed)
    assert (answer.status_code, answer.json["error"]["code"]) == (status, code)
    assert player.get("/api/me").json["balance_minor"] == 5_000


def test_a_wager_counts_once_per_id_and_never_at_the_deadline(floor, login, people, clock):
    give_cash(login, people["player"].id, 5_000)
    player, wager_id = login("player"), str(uuid.uuid4())
    round_id = floor.open_round()
    clock.advance(14_999)
    first = bet(player, round_id, "p1", 500, id=wager_id)
    clock.advance(1)
    again = bet(player, round_id, "p1", 500, id=wager_id)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json == first.json
    other = bet(player, round_id, "p1", 600, id=wager_id)
    assert (other.status_code, other.json["error"]["code"]) == (409, "wager_id_reused")
    late = bet(player, round_id, "p1", 500)
    assert (late.status_code, late.json["error"]["code"]) == (409, "betting_window_closed")
    assert player.get("/api/me").json["held_minor"] == 1_000


def test_a_void_gives_stake_and_deposit_back(floor, login, people):
    give_cash(login, people["player"].id, 5_000)
    player, pit = login("player"), login("pit_supervisor")
    round_id = floor.open_round()
    bet(player, round_id, "p1", 500)
    body = {"id": str(uuid.uuid4()), "command": "void_round", "round_id": round_id}
    silent = pit.post(f"/api/tables/{TABLE}/commands", {**body, "reason": " "})
    assert silent.status_code == 400
    assert (
        pit.post(f"/api/tables/{TABLE}/commands", {**body, "reason": "wet card"}).status_code == 200
    )
    assert player.get("/api/me").json["balance_minor"] == 5_000
    line = pit.get("/api/trail").json["lines"][0]
    assert (line["action"], line["reason"]) == ("void_round", "wet card")
    assert (line["before"]["phase"], line["after"]["phase"]) == ("betting", "void")


def test_a_dealer_commands_only_the_table_they_have_taken(floor, login):
    answer = login("dealer2").post(
        f"/api/tables/{TABLE}/commands", {"id": str(uuid.uuid4()), "command": "start_round"}
    )
    assert (answer.status_code, answer.json["error"]["code"]) == (403, "not_your_table")
    beat = login("dealer2").post(f"/api/tables/{TABLE}/station", {})
    assert (beat.status_code, beat.json["error"]["code"]) == (403, "not_your_table")


def test_no_door_tells_a_card_before_its_reveal(floor, login, people, caplog):
    """Every answer that any role can get while the cards lie face down is searched."""
    caplog.set_level(logging.DEBUG)
    give_cash(login, people["player"].id, 5_000)
    round_id = floor.open_round()
    bet(login("player"), round_id, "p1", 500)
    floor.deal([BURN, *HANDS])
    paths = [
        "/api/tables",
        f"/api/tables/{TABLE}",
        f"/api/tables/{TABLE}/events?epoch=1&after=0",
        f"/api/rounds/{round_id}",
        f"/api/rounds/{round_id}/wagers",
        "/api/history",
        "/api/history.csv",
        "/api/pit",
        "/api/trail",
        "/metrics",
        f"/pit/rounds/{round_id}",
        "/play/T1",
        "/station?table=T1",
        "/pit",
    ]
    first_card_and_burns = {"2H", "5D", "6D"}
    for role in ("player", "dealer", "pit_supervisor", "auditor", "administrator"):
        browser = login(role)
        for path in paths:
            answer = browser.get(path)
            found = {face.strip('"') for face in FACE.findall(answer.text)}
            assert found <= first_card_and_burns, (role, path, found)
    assert '"serial"' not in json.dumps(floor.view()["round"])
    digits = {floor.printed(face) for face in ("3C", "4H")}
    for record in caplog.records:
        assert not FACE.search(record.getMessage())
        assert not any(code in record.getMessage() for code in digits)


def test_the_reveal_proves_what_was_committed(floor):
    import hashlib

    floor.open_round()
    floor.deal([BURN, *HANDS])
    sealed = {
        (one["position"], one["index"]): one["commitment"]
        for one in floor.view()["round"]["commitments"]
    }
    floor.close()
    floor.reveal_all()
    current = floor.view()["round"]
    assert len(current["reveals"]) >= len(HANDS)
    for one in current["reveals"]:
        line = "|".join(
            str(one[key]) if key != "id" else current["id"]
            for key in ("nonce", "id", "position", "index", "card", "serial")
        )
        digest = hashlib.sha256(line.encode()).hexdigest()
        assert digest == sealed[one["position"], one["index"]]


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"id": "other-1"}, 400),
        ({"id": 5}, 400),
        ({"table": "T9"}, 403),
        ({"table": None}, 400),
        ({"kind": "dreamt"}, 400),
        ({"code": "123"}, 400),
        ({"code": None}, 400),
        ({"kind": "read_failed", "reason": "bored"}, 400),
    ],
)
def test_a_wrong_report_moves_nothing(floor, changed, status):
    floor.open_round()
    before = floor.view()
    answer = floor.report(floor.printed("3C"), **changed)
    assert answer.status_code == status, answer.text
    assert floor.view() == before


def test_a_report_is_taken_once_and_another_under_its_id_is_refused(floor):
    floor.open_round()
    code = floor.printed(BURN)
    floor.report(code, id="cam-x")
    seq = floor.dealer.get(f"/api/tables/{TABLE}").json["seq"]
    again = floor.report(code, id="cam-x")
    assert again.json == {"taken": True, "duplicate": True}
    other = floor.report(floor.printed("4H"), id="cam-x")
    assert (other.status_code, other.json["error"]["code"]) == (409, "report_id_reused")
    assert floor.dealer.get(f"/api/tables/{TABLE}").json["seq"] == seq


def test_a_device_without_a_known_key_is_shut_out(app):
    for headers in ({}, {"X-Device-Key": "guess"}, {"X-Device-Key": ""}):
        answer = app.test_client().get("/api/device/shoe?table=T1", headers=headers)
        assert answer.status_code == 401


def test_the_manifest_tells_which_codes_exist_not_their_order(floor):
    from tests.conftest import DEVICE_KEY

    answer = floor.camera.get(
        "/api/device/shoe?table=T1", headers={"X-Device-Key": DEVICE_KEY}
    ).json
    assert answer["deck_set"] == 1
    assert len(answer["codes"]) == 416
    assert list(answer["codes"]) == sorted(answer["codes"], key=int)


def give(browser, command, **values):
    body = {"id": str(uuid.uuid4()), "command": command, **values}
    return browser.post(f"/api/tables/{TABLE}/commands", body).status_code


def test_a_supervisor_looks_at_a_correction_another_approves_it_and_the_player_sees_both_payouts(
    floor, login, people
):
    give_cash(login, people["player"].id, 5_000)
    player, pit = login("player"), login("pit_supervisor")
    round_id = floor.open_round()
    bet(player, round_id, "p1", 500)
    floor.deal([BURN, *HANDS])
    floor.close()
    floor.reveal_all()
    seen = pit.post(f"/api/rounds/{round_id}/correction", {"version": 1, "cards": None})
    assert seen.status_code == 200
    before = player.get("/api/me").json
    assert before["owed_minor"] == 0
    assert (seen.json["needs_approval"], seen.json["notice_s"]) == (True, 10)
    refund = pit.post(f"/api/tables/{TABLE}/refund", {"rounds": {round_id: 1}}).json
    assert (refund["paid_minor"], refund["wagers"]) == (seen.json["paid_minor"], 1)
    assert give(pit, "void_settled", round_id=round_id, version=1, reason="wet card") == 200
    item = pit.get("/api/pit").json["tables"][0]
    proposal = item["proposal"]
    assert (proposal["kind"], proposal["by_me"], proposal["announced"]) == ("void", True, False)
    assert player.get("/api/me").json == before
    assert give(pit, "approve_correction", proposal=proposal["id"]) == 409
    other = login("pit_supervisor2")
    assert not other.get("/api/pit").json["tables"][0]["proposal"]["by_me"]
    assert give(other, "approve_correction", proposal=proposal["id"]) == 200
    told = player.get("/api/me").json
    assert told["balance_minor"] == before["balance_minor"]
    (due,) = told["correction_due"]
    assert due["round_ids"] == [round_id]
    assert floor.view()["correction"]["due_ms"] == due["due_ms"]
    floor.clock.advance(10_000)
    floor.beat()
    floor.studio.clockwork.turn()
    after = player.get("/api/me").json
    moved = seen.json["paid_minor"] - seen.json["taken_minor"]
    assert after["balance_minor"] - before["balance_minor"] == moved
    assert after["balance_minor"] == 5_000
    (shown,) = player.get("/api/history").json["rounds"]
    assert shown["version"] == 2
    assert shown["payout_minor"] - shown["before_minor"] == moved
    (row,) = pit.get(f"/api/tables/{TABLE}/shoes/1/rounds").json["rounds"]
    assert (row["round_id"], row["phase"], row["version"], row["wagers"]) == (
        round_id,
        "void",
        2,
        1,
    )
    late = pit.post(f"/api/rounds/{round_id}/correction", {"version": 1, "cards": None})
    assert (late.status_code, late.json["error"]["code"]) == (409, "correction_outdated")
