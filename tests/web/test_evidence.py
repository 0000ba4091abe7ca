"""Evidence through the doors: a player's own, everybody's for the house, the key for anybody."""

import json

import pytest
from click.testing import CliRunner

import app as entrance
from tests.web.floor import BURN, HANDS, bet, give_cash, make_floor


@pytest.fixture
def played(studio, clock, login, people):
    """A settled round in which two players bet."""
    floor = make_floor(studio, clock, login)
    for player in ("player", "player2"):
        give_cash(login, people[player].id, 5_000)
    round_id = floor.open_round()
    bet(login("player"), round_id, "p1", 500)
    bet(login("player2"), round_id, "p2", 300)
    floor.deal([BURN, *HANDS])
    floor.close()
    floor.reveal_all()
    return round_id


def verify(tmp_path, answer, *options):
    path = tmp_path / "bundle.json"
    path.write_bytes(answer.data)
    return CliRunner().invoke(entrance.main, ["verify", str(path), *options])


def test_a_player_downloads_the_own_wagers_and_anybody_can_check_them(played, login, tmp_path):
    player = login("player")
    key = player.get("/api/signing-key").json["public_key"]
    answer = player.get(f"/api/rounds/{played}/bundle")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{played}.json"'
    assert answer.headers["Cache-Control"] == "no-store"
    assert [wager["bet"] for wager in answer.json["wagers"]] == ["p1"]
    checked = verify(tmp_path, answer, "--key", key)
    assert checked.exit_code == 0, checked.output
    assert "the player's own wagers paid by them" in checked.output


def test_the_house_takes_everybody_s_with_a_reason_and_it_stands_in_the_trail(
    played, login, tmp_path
):
    auditor = login("auditor")
    refused = auditor.post(f"/api/rounds/{played}/bundle", {"reason": " "})
    assert refused.status_code == 400
    answer = auditor.post(f"/api/rounds/{played}/bundle", {"reason": "a complaint"})
    assert [wager["bet"] for wager in answer.json["wagers"]] == ["p1", "p2"]
    assert verify(tmp_path, answer).exit_code == 0
    (line, *_) = auditor.get("/api/trail").json["lines"]
    assert (line["action"], line["reason"]) == ("export_round", "a complaint")


def test_a_forged_bundle_fails_and_says_why(played, login, tmp_path):
    answer = login("player").get(f"/api/rounds/{played}/bundle")
    forged = json.loads(answer.data)
    forged["wagers"][0]["ending"]["payout_minor"] += 1_000
    path = tmp_path / "forged.json"
    path.write_text(json.dumps(forged))
    checked = CliRunner().invoke(entrance.main, ["verify", str(path), "--json"])
    assert checked.exit_code == 1
    codes = {fault["code"] for fault in json.loads(checked.output)["faults"]}
    assert codes == {"signature_broken", "payout_differs"}
    shown = CliRunner().invoke(entrance.main, ["verify", str(path)])
    assert shown.output.splitlines()[-1] == "Faults: 2. This bundle does not hold."


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": "studio.round.1"}', "not JSON"])
def test_a_file_that_is_no_bundle_is_named_in_one_line(content, tmp_path):
    path = tmp_path / "file"
    path.write_text(content)
    checked = CliRunner().invoke(entrance.main, ["verify", str(path)])
    assert checked.exit_code == 1
    assert len(checked.output.splitlines()) == 1
