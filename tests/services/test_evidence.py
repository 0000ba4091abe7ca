"""A round as evidence: whole, signed, and checked by nothing but the bundle and the rules."""

import json

import pytest

from studio.domain.errors import MalformedError, RefusedError
from studio.domain.round import Phase
from studio.games import GAMES, by_code
from studio.services.bundle_check import check_bundle
from studio.services.evidence import EvidenceService
from studio.signing import Signer, signature_holds
from tests.support.floor import AUDITOR, PIT, PLAYER, PLAYERS

SIGNER = Signer("a secret of the tests, long enough for anybody")


def evidence(floor) -> EvidenceService:
    return EvidenceService(units=floor.units, clock=floor.clock, signer=SIGNER)


def faults(bundle, *, key=None) -> list[str]:
    """Return what a check finds in a bundle that has travelled as JSON."""
    found = check_bundle(
        json.loads(json.dumps(bundle)),
        games=by_code(GAMES),
        signature_holds=lambda told, by, signature: signature_holds(
            told, public_key=by, signature=signature
        ),
        public_key=key,
    )
    return sorted({fault.code for fault in found})


def signed_anew(bundle):
    """Return a changed bundle with a signature that holds: what only the studio could make."""
    content = {key: value for key, value in bundle.items() if key != "signature"}
    return EvidenceService(units=None, clock=None, signer=SIGNER)._signed(content)


@pytest.fixture
def settled(both):
    """A floor with one settled round in which two players bet, and one took a wager back."""
    both.to_dealt()
    both.bet("p1", 500)
    both.bet("p2_pair", 100)
    both.bet("p3", 300, player=PLAYERS[1])
    taken = both.bet("p4", 200)
    both.wagers.undo(PLAYER, wager_id=taken.wager.id)
    both.close()
    both.finish()
    return both


def whole(floor, round_id=None):
    return evidence(floor).of_all(
        AUDITOR, round_id or floor.round_id, reason="a complaint", pictures=False
    )


def test_a_settled_round_holds_for_everybody(settled):
    bundle = whole(settled)
    assert len(bundle["wagers"]) == 4
    assert faults(bundle, key=SIGNER.public_key) == []
    own = evidence(settled).of_player(PLAYERS[1], settled.round_id)
    assert [wager["bet"] for wager in own["wagers"]] == ["p3"]
    assert faults(own) == []
    stranger = evidence(settled).of_player(PLAYERS[2], settled.round_id)
    assert stranger["wagers"] == []
    assert faults(stranger) == []


def test_a_void_round_holds_and_so_does_the_round_after_it(both):
    both.to_dealt()
    both.bet("p1", 500)
    void = both.round_id
    both.command("void_round", PIT, reason="a slip", round_id=void)
    both.command("start_round")
    assert both.state().phase is Phase.BETTING
    assert faults(whole(both, void)) == []


def test_the_tenth_round_of_a_busy_shoe_holds(floor):
    for _ in range(200):
        floor.step()
    with floor.units.read() as unit:
        rows = unit.rounds.recent("T1", limit=20, before_ms=None)
    ended = [row.id for row in rows if row.settlement_version]
    assert len(ended) >= 3
    for round_id in ended:
        assert faults(whole(floor, round_id)) == []


def test_taking_everybody_s_wagers_stands_in_the_trail(settled):
    whole(settled)
    with settled.units.read() as unit:
        (line, *_) = unit.trail.read(limit=1, before_id=None)
    assert (line.action, line.subject, line.reason) == (
        "export_round",
        settled.round_id,
        "a complaint",
    )
    assert line.after == {"wagers": 4, "pictures": 0}


def test_a_running_round_is_no_evidence_yet(both):
    both.to_dealt()
    service = evidence(both)
    for work in (
        lambda: service.of_player(PLAYER, both.round_id),
        lambda: service.of_all(PIT, both.round_id, reason="curious", pictures=True),
    ):
        with pytest.raises(RefusedError) as refusal:
            work()
        assert refusal.value.code == "round_running"


@pytest.mark.parametrize(
    ("round_id", "reason", "code"),
    [("T9-1-1", "a complaint", "unknown_round"), (None, "  ", "reason_missing")],
)
def test_a_bad_request_is_named(settled, round_id, reason, code):
    with pytest.raises(MalformedError) as error:
        evidence(settled).of_all(PIT, round_id or settled.round_id, reason=reason, pictures=False)
    assert error.value.code == code


def body_of(bundle, kind):
    return next(event["body"] for event in bundle["events"] if event["kind"] == kind)


def test_any_change_breaks_the_signature(settled):
    bundle = whole(settled)
    bundle["wagers"][0]["stake_minor"] += 1
    assert "signature_broken" in faults(bundle)
    other = Signer("another studio's secret, just as long as ours")
    assert faults(whole(settled), key=other.public_key) == ["signed_by_another"]


def changed_event(bundle):
    body_of(bundle, "BettingClosed")["turnover_minor"] += 1


def cut_event(bundle):
    del bundle["events"][5]


def cut_end(bundle):
    del bundle["events"][-1]


def other_card(bundle):
    body_of(bundle, "CardsRevealed")["cards"][0]["card"] = "AS"


def sealed_card(bundle):
    body_of(bundle, "CardsRevealed")["cards"].pop()


def other_result(bundle):
    results = body_of(bundle, "RoundSettled")["results"]
    results[0]["net"] = "7"


def other_payout(bundle):
    bundle["wagers"][0]["ending"]["payout_minor"] += 1


def unpaid(bundle):
    bundle["wagers"][0]["ending"] = None


def lost_wager(bundle):
    del bundle["wagers"][1]


def late_stake(bundle):
    bundle["wagers"][0]["accepted_ms"] += 1


def unknown_game(bundle):
    bundle["game"] = "roulette"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (changed_event, "event_changed"),
        (cut_event, "chain_broken"),
        (cut_end, "end_missing"),
        (other_card, "commitment_broken"),
        (sealed_card, "card_never_opened"),
        (other_result, "result_differs"),
        (other_payout, "payout_differs"),
        (unpaid, "payout_differs"),
        (lost_wager, "book_differs"),
        (late_stake, "book_differs"),
        (unknown_game, "game_unknown"),
    ],
)
def test_a_forged_bundle_is_found_out_even_when_it_is_signed(settled, change, code):
    bundle = json.loads(json.dumps(whole(settled)))
    change(bundle)
    assert code in faults(signed_anew(bundle))


@pytest.mark.parametrize("format", [None, "studio.round.9", "studio.round.1"])
def test_what_is_no_bundle_is_named(format):
    with pytest.raises(MalformedError) as error:
        faults({"format": format} if format else {})
    assert error.value.code == "not_a_bundle"
