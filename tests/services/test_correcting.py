"""Correcting settled rounds: refused where the rules say so, else booked to the unit and told."""

import json
import uuid
from dataclasses import replace

import pytest

from studio.domain.errors import MalformedError, RefusedError
from studio.domain.round import Phase
from studio.games import GAMES, by_code
from studio.services import correcting
from studio.services.bundle_check import check_bundle
from studio.services.evidence import EvidenceService
from studio.services.figures import FigureService
from studio.services.reports import ReportService
from studio.signing import Signer
from tests.support.floor import (
    ADMINISTRATOR,
    AUDITOR,
    CASH_MINOR,
    DEALER,
    PIT,
    PLAYER,
    PLAYERS,
)
from tests.support.source import codes_raised

EXCHANGED = {"P1/0": "8C", "B/0": "4H"}
"""P1 holds 5 then, and the banker 5: a tie instead of 1 against 9."""
ALL_FOUR = {"P1/0": "8C", "P1/1": "AC", "B/0": "4H", "B/1": "7S"}
"""The hands of P1 and the banker exchanged: P1 wins."""


@pytest.fixture
def settled(both):
    """A floor with one settled round in which two players bet."""
    both.to_dealt()
    both.bet("p1", 500)
    both.bet("p3", 300, player=PLAYERS[1])
    both.close()
    both.finish()
    return both


def correct(floor, cards, *, version=1, round_id=None, actor=PIT, id="", reason="misread"):
    """Propose to exchange cards, and let it be carried out."""
    answer = floor.command(
        "correct_round",
        actor,
        id=id,
        round_id=round_id or floor.round_id,
        version=version,
        cards=cards,
        reason=reason,
    )
    floor.carry_out()
    return answer


def void(floor, *, version=1, round_id=None, actor=PIT):
    """Propose to annul a settled round, and let it be carried out."""
    floor.command(
        "void_settled",
        actor,
        round_id=round_id or floor.round_id,
        version=version,
        reason="a slip",
    )
    floor.carry_out()


def preview(floor, cards, *, version=1, round_id=None):
    return floor.tables.preview_correction(round_id or floor.round_id, version=version, cards=cards)


def worth(floor, player=PLAYER):
    with floor.units.read() as unit:
        have = unit.ledger.balance(player.id)
    return have.balance_minor + have.held_minor - have.owed_minor


def refused(code, work):
    with pytest.raises(RefusedError) as refusal:
        work()
    assert refusal.value.code == code


def test_a_void_gives_every_player_the_balance_before(settled):
    seen = preview(settled, None)
    assert seen["void"]
    void(settled)
    assert [worth(settled, player) for player in PLAYERS] == [CASH_MINOR] * 3
    view = settled.live().view
    assert view["round"]["phase"] == "void"
    assert view["round"]["version"] == 2
    assert view["road"] == []
    assert settled.ledger_sum() == 0
    assert settled.faults() == []


def test_exchanged_cards_are_settled_by_the_rules_and_the_old_version_stays(settled):
    lost = settled.money()[0]
    correct(settled, EXCHANGED)
    assert settled.money()[0] == CASH_MINOR
    assert lost < CASH_MINOR
    shown = settled.live().view["round"]
    assert shown["phase"] == "settled"
    assert shown["hands"][0]["cards"] == ["8C", "7S"]
    assert shown["corrected"]["version"] == 2
    with settled.units.read() as unit:
        (mine,) = unit.wagers.of_round(settled.round_id, player_id=PLAYER.id)
    assert (mine.ending.version, mine.ending.payout_minor) == (2, 1_000)
    assert mine.ending.before_minor == 1_000 - (CASH_MINOR - lost)
    assert settled.faults() == []


def test_the_preview_is_what_the_click_does_and_writes_nothing(settled):
    before = settled.state()
    seen = preview(settled, ALL_FOUR)
    assert settled.state() == before
    correct(settled, ALL_FOUR)
    (event,) = [one for one in settled.live().envelopes() if one["kind"] == "RoundCorrected"]
    for key in ("players", "paid_minor", "taken_minor", "owed_minor", "payouts_minor", "results"):
        assert seen[key] == event["body"][key]
    assert sum(bet["after_minor"] for bet in seen["bets"]) == seen["payouts_minor"]


def test_a_player_who_went_home_with_the_winnings_owes_them(settled):
    correct(settled, ALL_FOUR)
    won_minor = settled.money()[0] - CASH_MINOR
    assert won_minor > 0
    with settled.units.write() as unit:
        unit.ledger.cash(
            id=str(uuid.uuid4()),
            player_id=PLAYER.id,
            amount_minor=-settled.money()[0],
            reason="home",
            by=1,
        )
        unit.commit()
    seen = preview(settled, None, version=2)
    void(settled, version=2)
    with settled.units.read() as unit:
        have = unit.ledger.balance(PLAYER.id)
    assert (have.balance_minor, have.owed_minor) == (0, won_minor)
    assert seen["owed_minor"] == won_minor
    told = [message for player, message in settled.publisher.wallets if player == PLAYER.id][-1]
    assert (told["reason"], told["owed_minor"]) == ("void", won_minor)
    assert (told["before_minor"] - told["payout_minor"], told["version"]) == (won_minor, 3)
    assert settled.faults() == []


def test_a_round_of_an_earlier_shoe_is_corrected_while_another_runs(settled):
    first = settled.round_id
    left = settled.state().shoe.in_shoe
    settled.command("close_shoe", PIT, cards_left=left, reason="worn")
    settled.command("load_shoe", deck_set=2)
    settled.command("confirm_shuffle", cut_depth=20)
    for serial in (2, 13, 12):
        settled.show_serial(serial, deck_set=2)
    settled.step()
    while settled.state().phase is not Phase.BETTING:
        settled.step()
    running = settled.state().round
    correct(settled, EXCHANGED, round_id=first)
    assert settled.state().round == running
    assert settled.money()[0] == CASH_MINOR
    record = settled.tables.round_record(first)
    assert record["round"]["corrected"]["version"] == record["settlement_version"] == 2
    assert record["events"][-1]["kind"] == "RoundCorrected"
    while settled.state().round.running:
        settled.step()
    assert settled.faults() == []


def test_back_to_the_cards_as_they_were_read(settled):
    before = settled.money()
    correct(settled, EXCHANGED)
    correct(settled, {"P1/0": "4H", "B/0": "8C"}, version=2)
    assert settled.money() == before
    shown = settled.tables.round_record(settled.round_id)["round"]
    assert shown["hands"][0]["cards"] == ["4H", "7S"]
    assert shown["corrected"]["faces"] == []
    assert settled.faults() == []


def test_a_settled_round_that_was_annulled_may_be_settled_again(settled):
    before = settled.money()
    void(settled)
    correct(settled, {}, version=2)
    assert settled.money() == before
    assert settled.faults() == []


def test_the_same_command_again_moves_nothing(settled):
    id = str(uuid.uuid4())
    first = correct(settled, EXCHANGED, id=id)
    money = settled.money()
    assert correct(settled, EXCHANGED, id=id) == first
    assert settled.money() == money


def test_what_cannot_be_corrected_is_refused_by_its_own_code(settled):
    refused("correction_changes_nothing", lambda: correct(settled, {"P1/0": "4H"}))
    refused("correction_outdated", lambda: correct(settled, EXCHANGED, version=2))
    refused("place_not_dealt", lambda: correct(settled, {"P1/2": "8C"}))
    refused("face_too_often", lambda: correct(settled, {"P1/0": "2S"}))
    for actor in (DEALER, AUDITOR, ADMINISTRATOR):
        refused("role_forbids", lambda actor=actor: correct(settled, EXCHANGED, actor=actor))
    void(settled)
    refused("correction_changes_nothing", lambda: void(settled, version=2))
    assert settled.faults() == []


def test_a_refusal_never_tells_a_sealed_card(settled):
    first = settled.round_id
    settled.command("start_round")
    settled.show("TD")
    correct(settled, {"P1/0": "TD"}, round_id=first)


def test_a_round_that_runs_or_was_void_before_its_settlement_is_not_corrected(both):
    both.to_dealt()
    refused("round_not_settled", lambda: void(both, version=0))
    both.command("void_round", PIT, reason="a slip", round_id=both.round_id)
    refused("round_final", lambda: void(both))
    refused("round_final", lambda: correct(both, EXCHANGED))


def test_a_round_is_corrected_at_its_own_table(settled):
    refused(
        "round_not_here",
        lambda: settled.command(
            "void_settled", PIT, table="T2", round_id=settled.round_id, version=1, reason="x"
        ),
    )


@pytest.mark.parametrize(
    ("cards", "code"),
    [
        ([], "cards_not_mapping"),
        (None, "cards_not_mapping"),
        ({"P1": "4H"}, "cards_not_mapping"),
        ({"P1/x": "4H"}, "cards_not_mapping"),
        ({"P1/0": 4}, "cards_not_mapping"),
        ({"P1/0": "1Z"}, "unknown_card"),
        ({f"P1/{at}": "4H" for at in range(60)}, "cards_not_mapping"),
    ],
)
def test_cards_that_cannot_be_read_are_malformed(settled, cards, code):
    with pytest.raises(MalformedError) as malformed:
        correct(settled, cards)
    assert malformed.value.code == code


def test_the_rules_of_the_round_must_still_be_those_of_the_studio(settled, monkeypatch):
    game = settled.tables.tables.game("pok_deng")
    described = game.describe

    monkeypatch.setattr(
        type(game), "describe", lambda self, config: replace(described(config), rule_version="9")
    )
    refused("rules_changed", lambda: correct(settled, EXCHANGED))


def test_the_evidence_of_a_corrected_round_holds_and_a_forged_correction_does_not(settled):
    correct(settled, EXCHANGED)
    signer = Signer("a secret of the tests, long enough for anybody")
    service = EvidenceService(units=settled.units, clock=settled.clock, signer=signer)
    bundle = service.of_all(AUDITOR, settled.round_id, reason="a complaint", pictures=False)
    bundle = json.loads(json.dumps(bundle))

    def faults(told):
        found = check_bundle(
            told, games=by_code(GAMES), signature_holds=lambda *_: True, public_key=None
        )
        return sorted({fault.code for fault in found})

    assert faults(bundle) == []
    forged = json.loads(json.dumps(bundle))
    forged["corrections"][0]["body"]["results"][0]["net"] = "2"
    assert {"event_changed", "result_differs"} <= set(faults(forged))
    assert "payout_differs" in faults({**bundle, "corrections": []})


def test_the_players_history_tells_version_and_both_payouts(settled):
    lost_minor = CASH_MINOR - settled.money()[0]
    correct(settled, EXCHANGED)
    reports = ReportService(units=settled.units, tables=settled.tables.tables, names=dict)
    (shown,) = reports.history(PLAYER.id, before=None, limit=5)["rounds"]
    assert shown["version"] == 2
    assert shown["payout_minor"] - shown["before_minor"] == lost_minor
    assert shown["hands"][0]["cards"] == ["8C", "7S"]


def test_the_figures_count_what_stands_after_a_correction(settled):
    def line():
        service = FigureService(
            units=settled.units, setups=settled.setups, games=by_code(GAMES), time_zone="Asia/Tokyo"
        )
        (found,) = service.figures(table="T1", hours=1)["by_table"][:1]
        return found

    before = line()
    seen = preview(settled, EXCHANGED)
    correct(settled, EXCHANGED)
    after = line()
    moved_minor = seen["paid_minor"] - seen["taken_minor"]
    assert after["ggr_minor"] == before["ggr_minor"] - moved_minor
    assert (after["rounds"], after["voided"], after["wagers"]) == (1, 0, 2)
    assert after["turnover_minor"] == before["turnover_minor"] == 800
    void(settled, version=2)
    annulled = line()
    assert (annulled["rounds"], annulled["voided"]) == (0, 1)
    assert (annulled["ggr_minor"], annulled["turnover_minor"], annulled["wagers"]) == (0, 0, 0)


def test_the_trail_tells_sums_before_and_after(settled):
    correct(settled, EXCHANGED)
    with settled.units.read() as unit:
        line = next(one for one in unit.trail.read(limit=9, before_id=None))
    assert (line.action, line.subject, line.reason) == (
        "correction_booked",
        settled.round_id,
        "misread",
    )
    assert (line.before["version"], line.after["version"]) == (1, 2)
    assert (
        line.after["payouts_minor"] - line.before["payouts_minor"]
        == line.after["paid_minor"] - line.after["taken_minor"]
    )


def test_every_refusal_of_a_correction_is_tested_here():
    assert codes_raised([correcting], error="RefusedError") == {
        "round_not_settled",
        "round_final",
        "correction_outdated",
        "correction_changes_nothing",
        "rules_changed",
    }
