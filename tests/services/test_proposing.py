"""Corrections in two steps: two people where much moves, players told before their money moves."""

import uuid
from dataclasses import replace

import pytest

from studio.domain.errors import RefusedError
from studio.domain.round import Phase
from studio.services.correction_ports import RoundRefund
from studio.services.proposing import CorrectionPolicy
from studio.services.runner import CORRECTED_A_TURN
from tests.support.fakes import Recorder
from tests.support.floor import CASH_MINOR, OTHER_PIT, PIT, PLAYER, PLAYERS, Floor
from tests.support.source import codes_raised

EXCHANGED = {"P1/0": "8C", "B/0": "4H"}
"""P1 and the banker tie then; P1 had lost."""


def with_policy(floor: Floor, **changes: int) -> Floor:
    """Return a process with other rules for corrections."""
    policy = CorrectionPolicy(**changes)
    return replace(floor, policy=policy, publisher=Recorder())


def one_round(floor: Floor) -> str:
    """Play a round in which P1 loses 500, and the third player's P3 is settled too."""
    floor.to_dealt()
    floor.bet("p1", 500)
    floor.bet("p3", 300, player=PLAYERS[1])
    floor.close()
    floor.finish()
    return floor.round_id


def more_rounds(floor: Floor, count: int) -> dict[str, int]:
    """Play further rounds by the procedure; return all that are settled, with their version."""
    ids = [floor.round_id]
    while len(ids) <= count:
        floor.step()
        current = floor.state().round
        if current is not None and current.phase is Phase.BETTING and not current.started:
            floor.bet("p1", 200 + 100 * len(ids))
            floor.bet("p2", 100, player=PLAYERS[1])
            while floor.state().round.running:
                floor.step()
            ids.append(floor.round_id)
    return dict.fromkeys(ids, 1)


@pytest.fixture
def settled(both):
    one_round(both)
    return both


@pytest.fixture
def rounds(both):
    one_round(both)
    return more_rounds(both, 2)


def correct(floor, cards=EXCHANGED, *, actor=PIT):
    floor.command(
        "correct_round", actor, round_id=floor.round_id, version=1, cards=cards, reason="misread"
    )


def refund(floor, rounds, *, actor=PIT):
    floor.command("refund_rounds", actor, rounds=rounds, reason="a short shoe")


def drop(floor, *, actor=PIT):
    proposal = floor.state().correction.proposed.id
    floor.command("drop_correction", actor, proposal=proposal, reason="looked again")


def money(floor):
    return [floor.money(player)[0] for player in PLAYERS]


def told(floor, player=PLAYER):
    return [message for person, message in floor.publisher.wallets if person == player.id]


def refused(code, work):
    with pytest.raises(RefusedError) as refusal:
        work()
    assert refusal.value.code == code


# Step by step -----------------------------------------------------------------------------------


def test_the_alarm_names_the_round_that_is_to_be_corrected_not_the_one_on_the_table(floor):
    one_round(floor)
    ids = more_rounds(floor, 1)
    first = next(iter(ids))
    assert first != floor.round_id
    floor.command("void_settled", PIT, round_id=first, version=1, reason="a short shoe")
    assert [row.round_id for row in floor.alarms()] == [first]
    drop(floor)
    refund(floor, ids)
    assert [row.round_id for row in floor.alarms()] == [None]


def test_nothing_moves_before_another_person_agrees_and_the_players_had_their_notice(settled):
    before = money(settled)
    correct(settled)
    assert settled.live().view["correction"] is None
    assert settled.alarm_codes() == ["correction_waits"]
    refused("approval_by_same_person", lambda: settled.approve(PIT))
    settled.wait(60_000)
    settled.tables.tick("T1")
    assert money(settled) == before
    settled.publisher.wallets.clear()
    settled.approve()
    assert settled.alarm_codes() == []
    due_ms = settled.clock.ms + settled.policy.notice_ms
    assert settled.live().view["correction"] == {"numbers": [1], "void": False, "due_ms": due_ms}
    settled.clock.ms = due_ms - 1
    settled.tables.tick("T1")
    assert money(settled) == before
    settled.clock.ms = due_ms
    settled.tables.tick("T1")
    assert money(settled)[0] == CASH_MINOR
    assert settled.live().view["correction"] is None
    event = settled.live().envelopes()[-1]["body"]
    assert (event["by"], event["approved_by"]) == ("Mori", "Kato")
    reasons = [message["reason"] for message in told(settled)]
    assert reasons == ["correction_due", "corrected"]
    assert settled.faults() == []


def test_the_announcement_tells_each_player_both_payouts_before_the_money(settled):
    correct(settled)
    settled.publisher.wallets.clear()
    settled.approve()
    (message,) = told(settled)
    assert message == {
        "reason": "correction_due",
        "rounds": [settled.round_id],
        "before_minor": 1_000 - (CASH_MINOR - settled.money()[0]),
        "payout_minor": 1_000,
        "due_ms": settled.clock.ms + settled.policy.notice_ms,
        "balance_minor": settled.money()[0],
        "held_minor": 0,
        "owed_minor": 0,
    }
    due = settled.tables.corrections_due(PLAYER.id)
    assert due == [
        {
            "round_ids": message["rounds"],
            "before_minor": message["before_minor"],
            "after_minor": 1_000,
            "due_ms": message["due_ms"],
        }
    ]
    assert settled.tables.corrections_due(PLAYERS[2].id) == []
    settled.book()
    assert settled.tables.corrections_due(PLAYER.id) == []


def test_what_moves_little_is_announced_at_once_by_one_person(settled):
    floor = with_policy(settled, approval_minor=10_000, notice_ms=1_000)
    correct(floor)
    assert floor.state().correction.announced.approved_by is None
    assert floor.alarm_codes() == []
    refused("approval_not_due", floor.approve)
    floor.book()
    assert floor.money()[0] == CASH_MINOR
    assert floor.faults() == []


@pytest.mark.parametrize(("over", "needs"), [(0, False), (1, True)])
def test_exactly_the_amount_takes_no_second_person(settled, over, needs):
    seen = settled.tables.preview_correction(settled.round_id, version=1, cards=None)
    moved = seen["paid_minor"] + seen["taken_minor"]
    floor = with_policy(settled, approval_minor=moved - over)
    again = floor.tables.preview_correction(floor.round_id, version=1, cards=None)
    assert (again["needs_approval"], again["notice_s"]) == (needs, 10)
    floor.command("void_settled", PIT, round_id=floor.round_id, version=1, reason="x")
    assert floor.state().correction.waits is needs


def test_players_learn_nothing_of_a_proposal_and_never_who_and_why(settled):
    settled.publisher.events.clear()
    correct(settled)
    settled.approve()
    drop(settled)
    said = str(settled.publisher.events)
    assert len(settled.publisher.events) == 3
    for word in ("misread", "Mori", "Kato", "8C", "looked again"):
        assert word not in said


def test_an_old_view_and_the_missed_patches_are_the_fresh_view(settled):
    shown = dict(settled.live().view)
    seq = settled.state().seq
    correct(settled)
    settled.approve()
    drop(settled)
    correct(settled)
    settled.carry_out()
    missed = settled.restarted().tables.events_since("T1", epoch=1, seq=seq)["events"]
    for envelope in missed:
        shown |= envelope["patch"]
    assert shown == settled.live().view
    assert [envelope["kind"] for envelope in missed if "correction" in envelope["patch"]] == [
        "CorrectionAnnounced",
        "CorrectionDropped",
        "CorrectionAnnounced",
        "RoundCorrected",
    ]


def test_a_drop_leaves_everything_as_it_was_and_says_so_to_whom_it_was_announced(settled):
    before = money(settled)
    correct(settled)
    settled.publisher.wallets.clear()
    drop(settled)
    assert settled.publisher.wallets == []
    assert settled.alarm_codes() == []
    correct(settled)
    settled.approve()
    settled.publisher.wallets.clear()
    drop(settled, actor=OTHER_PIT)
    assert [message["reason"] for message in told(settled)] == ["correction_dropped"]
    assert told(settled)[0]["rounds"] == [settled.round_id]
    settled.wait(60_000)
    settled.tables.tick("T1")
    assert money(settled) == before
    assert settled.faults() == []


def test_one_correction_at_a_time_and_no_shoe_over_it(settled):
    correct(settled)
    refused("correction_waits", lambda: correct(settled))
    refused("correction_waits", lambda: refund(settled, {settled.round_id: 1}))
    left = settled.state().shoe.in_shoe
    settled.command("close_shoe", PIT, cards_left=left, reason="worn")
    refused("correction_waits", lambda: settled.command("load_shoe", deck_set=2))
    settled.command("lock", PIT, reason="cleaning")
    settled.approve()
    settled.restarted().book()
    assert settled.money()[0] == CASH_MINOR
    settled.command("unlock", PIT, reason="clean")
    settled.command("load_shoe", deck_set=2)
    assert settled.faults() == []


def test_it_goes_on_under_a_running_round_and_on_a_stopped_table(settled):
    first = settled.round_id
    correct(settled)
    settled.step()
    settled.bet("p2", 100)
    settled.command("stop", PIT)
    settled.approve()
    settled.clock.ms += settled.policy.notice_ms
    settled.tables.tick("T1")
    assert settled.state().correction is None
    with settled.units.read() as unit:
        assert unit.rounds.get(first).settlement_version == 2


def test_what_the_rules_refuse_by_then_is_dropped_by_the_studio_and_the_pit_is_told(
    settled, monkeypatch
):
    correct(settled)
    settled.approve()
    before = money(settled)
    game = settled.tables.tables.game("pok_deng")
    described = game.describe
    monkeypatch.setattr(
        type(game), "describe", lambda self, config: replace(described(config), rule_version="9")
    )
    assert settled.tables.corrections_due(PLAYER.id) == []
    settled.book()
    assert settled.state().correction is None
    (alarm,) = settled.alarms()
    assert (alarm.code, dict(alarm.details)) == ("correction_dropped", {"reason": "rules_changed"})
    assert money(settled) == before
    with settled.units.read() as unit:
        line = unit.trail.read(limit=1, before_id=None)[0]
    assert (line.actor, line.action) == ("studio", "drop_correction")
    settled.tables.acknowledge(PIT, alarm.id)
    assert settled.alarms() == []


def test_only_the_holder_of_the_tables_lease_books(settled):
    correct(settled)
    settled.approve()
    settled.clock.ms += settled.policy.notice_ms
    with settled.units.write() as unit:
        unit.leases.take(
            "T1",
            holder="another",
            fence=None,
            now_ms=settled.clock.ms + 10**6,
            until_ms=settled.clock.ms + 10**7,
        )
        unit.commit()
    settled.tables.tick("T1")
    assert settled.state().correction is not None
    with settled.units.read() as unit:
        assert unit.rounds.get(settled.round_id).settlement_version == 1


def test_a_job_that_comes_twice_or_too_early_books_nothing(settled):
    correct(settled)
    refused(
        "correction_not_due",
        lambda: settled.tables.run("T1", settled.tables.corrections.execute),
    )


# Many rounds ------------------------------------------------------------------------------------


def test_rounds_are_refunded_as_one_and_one_after_the_other(both, rounds):
    seen = both.tables.preview_refund("T1", rounds=rounds)
    assert [one["refusal"] for one in seen["rounds"]] == [None] * 3
    refund(both, rounds)
    pending = both.state().correction
    assert [one.number for one in pending.rounds] == [1, 2, 3]
    for key in ("players", "paid_minor", "taken_minor", "owed_minor"):
        assert seen[key] == getattr(pending.proposed, key)
    both.publisher.wallets.clear()
    both.approve()
    (message,) = told(both)
    assert message["rounds"] == list(rounds)
    assert message["payout_minor"] - message["before_minor"] == CASH_MINOR - both.money()[0]
    both.book()
    assert money(both) == [CASH_MINOR] * 3
    bodies = [one["body"] for one in both.live().envelopes() if one["kind"] == "RoundCorrected"]
    assert sum(body["paid_minor"] for body in bodies) == seen["paid_minor"]
    assert sum(body["taken_minor"] for body in bodies) == seen["taken_minor"]
    with both.units.read() as unit:
        actions = [line.action for line in unit.trail.read(limit=5, before_id=None)]
        shown = unit.rounds.of_shoe("T1", epoch=1)
    assert actions == ["correction_booked"] * 3 + ["approve_correction", "refund_rounds"]
    assert [(one.phase, one.version) for one in shown] == [("void", 2)] * 3
    assert shown[0].wagers == 2
    assert shown[0].payouts_minor == 1_600
    assert both.faults() == []


def test_what_the_wallets_will_lack_is_foretold_to_the_unit(both):
    both.to_dealt()
    both.bet("p2", 300)
    both.bet("p4", 400)
    both.close()
    both.finish()
    rounds = more_rounds(both, 3)
    with both.units.write() as unit:
        unit.ledger.cash(
            id=str(uuid.uuid4()),
            player_id=PLAYER.id,
            amount_minor=-both.money()[0] + 50,
            reason="home",
            by=1,
        )
        unit.commit()
    seen = both.tables.preview_refund("T1", rounds=rounds)
    refund(both, rounds)
    both.carry_out()
    bodies = [one["body"] for one in both.live().envelopes() if one["kind"] == "RoundCorrected"]
    for one, body in zip(seen["rounds"], bodies, strict=True):
        assert one["owed_minor"] == body["owed_minor"]
        assert one["payouts_minor"] == body["payouts_minor"]
        assert (one["wagers"], one["players"]) == (body["count"], body["players"])
    assert seen["owed_minor"] == sum(body["owed_minor"] for body in bodies)
    assert both.faults() == []


def test_one_round_that_cannot_be_annulled_refuses_them_all_and_the_preview_names_it(both, rounds):
    first, second, _ = rounds
    both.command("void_settled", PIT, round_id=second, version=1, reason="a slip")
    both.carry_out()
    rounds[second] = 2
    before = money(both)
    refused("correction_changes_nothing", lambda: refund(both, rounds))
    refused("correction_outdated", lambda: refund(both, {first: 2}))
    seen = both.tables.preview_refund("T1", rounds=rounds)
    refusals = {one["round_id"]: one["refusal"] for one in seen["rounds"]}
    assert refusals == {**dict.fromkeys(rounds), second: "correction_changes_nothing"}
    assert both.tables.preview_refund("T2", rounds={first: 1})["rounds"][0]["refusal"] == (
        "round_not_here"
    )
    assert both.state().correction is None
    assert money(both) == before


def test_a_drop_after_the_first_round_is_refused_and_the_rest_goes_on_in_turns(both, monkeypatch):
    one_round(both)
    rounds = more_rounds(both, 2)
    refund(both, rounds)
    both.approve()
    monkeypatch.setattr("studio.services.runner.CORRECTED_A_TURN", 1)
    both.book()
    assert [one.number for one in both.state().correction.rounds] == [2, 3]
    assert both.live().view["correction"]["numbers"] == [2, 3]
    refused("correction_begun", lambda: drop(both))
    other = both.restarted()
    other.tables.tick("T1")
    other.tables.tick("T1")
    assert both.state().correction is None
    assert CORRECTED_A_TURN > 1
    assert both.faults() == []


def test_a_preview_without_any_round_that_fits_is_all_zeros(settled):
    seen = settled.tables.preview_refund("T1", rounds={settled.round_id: 7})
    assert (seen["players"], seen["paid_minor"], seen["needs_approval"]) == (0, 0, False)
    assert set(RoundRefund.__annotations__) <= set(seen["rounds"][0])


# What the pit sees, and the trail ---------------------------------------------------------------


def test_the_pit_sees_the_whole_proposal_and_whose_it_is(settled):
    correct(settled)
    proposal = settled.state().correction.proposed
    for viewer, mine in ((PIT, True), (OTHER_PIT, False)):
        (shown, other) = settled.tables.pit(settled.links, viewer_id=viewer.id)["tables"]
        assert other["proposal"] is None
        assert shown["proposal"] == {
            "id": proposal.id,
            "kind": "correct",
            "rounds": [{"round_id": settled.round_id, "number": 1, "version": 2}],
            "faces": [
                {"position": "P1", "index": 0, "card": "8C"},
                {"position": "B", "index": 0, "card": "4H"},
            ],
            "reason": "misread",
            "by": "Mori",
            "by_me": mine,
            "needs_approval": True,
            "announced": False,
            "approved_by": None,
            "due_ms": None,
            "players": proposal.players,
            "paid_minor": proposal.paid_minor,
            "taken_minor": proposal.taken_minor,
            "owed_minor": 0,
        }


def test_every_step_leaves_its_line(settled):
    correct(settled)
    proposal = settled.state().correction.proposed.id
    settled.command("approve_correction", OTHER_PIT, proposal=proposal, reason="seen on video")
    drop(settled)
    with settled.units.read() as unit:
        lines = unit.trail.read(limit=3, before_id=None)[::-1]
    assert [(line.actor, line.action, line.reason) for line in lines] == [
        ("Mori", "correct_round", "misread"),
        ("Kato", "approve_correction", "seen on video"),
        ("Mori", "drop_correction", "looked again"),
    ]
    assert {line.subject for line in lines} == {settled.round_id}
    assert lines[0].before == {"proposal": None}
    assert (lines[0].after["proposal"], lines[1].before["approved_by"]) == (proposal, None)
    assert lines[1].after["approved_by"] == "Kato"
    assert lines[2].after == {"proposal": None}


def test_every_refusal_of_the_steps_is_tested():
    from studio.domain import proposing

    assert codes_raised([proposing], error="RefusedError") == {
        "round_not_settled",  # test_correcting
        "no_correction_waits",  # test_refusals
        "approval_not_due",
        "approval_by_same_person",
        "correction_begun",
        "correction_not_due",
    }
