"""The audit proves the order of a correction's steps from the log alone."""

from dataclasses import replace

import pytest

from studio.domain.events import CorrectionDropped, RoundVoided
from studio.services.audit_proposals import ProposalCheck
from tests.domain.test_events import ANNOUNCED, CORRECTED, LOADED, PROPOSED

DUE_MS = ANNOUNCED.due_ms
BOOKED = replace(CORRECTED, approved_by="Kato")
DROPPED = CorrectionDropped(id="8", by="Mori", reason="looked again")
VOID = replace(PROPOSED, kind="void_running")
VOIDED = RoundVoided(
    round_id="T1-1-1",
    version=1,
    reason="a slip",
    by="Mori",
    count=0,
    turnover_minor=0,
    payouts_minor=0,
    cards=(),
)


def codes(*events, at_ms=DUE_MS):
    check = ProposalCheck()
    return [code for event in events for code, _ in check.see(event, at_ms=at_ms)]


@pytest.mark.parametrize(
    "events",
    [
        (PROPOSED, ANNOUNCED, BOOKED, PROPOSED, ANNOUNCED),
        (PROPOSED, DROPPED, LOADED),
        (PROPOSED, ANNOUNCED, DROPPED, PROPOSED),
        (VOID, ANNOUNCED, VOIDED, LOADED),
        (
            replace(PROPOSED, needs_approval=False),
            replace(ANNOUNCED, approved_by=None, approved_by_id=None),
            CORRECTED,
        ),
    ],
)
def test_steps_in_their_order_have_no_fault(events):
    assert codes(*events) == []


@pytest.mark.parametrize(
    ("events", "found"),
    [
        ((BOOKED,), ["correction_unannounced"]),
        ((PROPOSED, BOOKED), ["correction_unannounced"]),
        ((PROPOSED, ANNOUNCED, replace(BOOKED, round_id="T1-1-2")), ["correction_unannounced"]),
        ((PROPOSED, ANNOUNCED, replace(BOOKED, version=3)), ["correction_unannounced"]),
        ((PROPOSED, ANNOUNCED, BOOKED, BOOKED), ["correction_unannounced"]),
        ((PROPOSED, ANNOUNCED, CORRECTED), ["correction_unannounced"]),
        ((PROPOSED, ANNOUNCED, replace(BOOKED, by="Abe")), ["correction_unannounced"]),
        ((PROPOSED, ANNOUNCED, replace(BOOKED, void=True)), ["correction_unannounced"]),
        ((PROPOSED, ANNOUNCED, DROPPED, BOOKED), ["correction_unannounced"]),
        ((ANNOUNCED,), ["correction_unproposed"]),
        ((PROPOSED, replace(ANNOUNCED, id="9")), ["correction_unproposed"]),
        ((PROPOSED, ANNOUNCED, ANNOUNCED), ["correction_unproposed"]),
        ((PROPOSED, replace(ANNOUNCED, approved_by_id=PROPOSED.by_id)), ["approval_missing"]),
        (
            (PROPOSED, replace(ANNOUNCED, approved_by=None, approved_by_id=None)),
            ["approval_missing"],
        ),
        ((PROPOSED, PROPOSED), ["correction_unfinished"]),
        ((PROPOSED, ANNOUNCED, LOADED), ["correction_unfinished"]),
        ((PROPOSED, VOIDED, LOADED), ["correction_unfinished"]),
    ],
)
def test_each_fault_has_its_name(events, found):
    assert codes(*events) == found


@pytest.mark.parametrize(("offset_ms", "found"), [(-1, ["correction_early"]), (0, []), (1, [])])
def test_money_moves_at_the_announced_time_at_the_earliest(offset_ms, found):
    assert codes(PROPOSED, ANNOUNCED, BOOKED, at_ms=DUE_MS + offset_ms) == found
