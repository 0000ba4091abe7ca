"""The void of a running round that holds much takes two people; nothing settles under it."""

import uuid

import pytest

from studio.domain.game import Json
from studio.domain.round import Phase
from tests.services.test_proposing import (
    correct,
    drop,
    money,
    one_round,
    refused,
    told,
    with_policy,
)
from tests.support.floor import CASH_MINOR, PIT, PLAYERS, Floor


def void(floor: Floor) -> dict[str, Json]:
    """Return the choice of a void as the pit sees it."""
    exposed = floor.tables.choices("T1")["situations"][3]
    assert exposed["code"] == "card_exposed"
    return next(one for one in exposed["choices"] if one["code"] == "void")


@pytest.mark.parametrize(("over", "waits"), [(0, False), (1, True)])
def test_a_running_round_that_holds_much_is_annulled_by_two(both, over, waits):
    both.to_dealt()
    both.bet("p1", 500)
    both.bet("p3", 300, player=PLAYERS[1])
    floor = with_policy(both, void_approval_minor=1_600 - over)
    said = void(floor)
    assert (said["why_not"], said["refund_minor"], said["needs_approval"]) == (None, 1_600, waits)
    id = str(uuid.uuid4())
    answers = [
        floor.command("void_round", PIT, id=id, round_id=floor.round_id, reason="two cards at once")
        for _ in range(2)
    ]
    assert [answer["waits"] for answer in answers] == [waits, waits]
    assert (floor.state().phase is Phase.VOID) is not waits
    if not waits:
        return
    pending = floor.state().correction
    assert (pending.proposed.players, pending.proposed.paid_minor) == (2, 1_600)
    assert floor.state().stopped
    refused(
        "correction_waits",
        lambda: floor.command("resume", PIT, reason="go on"),
    )
    assert (void(floor)["why_not"], void(floor)["needs_approval"]) == ("correction_waits", False)
    refused("approval_by_same_person", lambda: floor.approve(PIT))
    assert floor.state().phase is not Phase.VOID
    floor.approve()
    assert floor.state().phase is Phase.VOID
    assert floor.live().view["round"]["void"] == {"reason": "two cards at once", "by": "Mori"}
    assert floor.live().view["correction"] is None
    assert money(floor) == [CASH_MINOR] * 3
    assert not floor.state().stopped
    assert floor.alarm_codes() == []
    assert [message["reason"] for message in told(floor)] == ["void"]
    assert floor.faults() == []


def test_a_dropped_void_leaves_the_round_stopped_until_it_is_resumed_and_settled(both):
    both.to_dealt()
    both.bet("p1", 500)
    floor = with_policy(both, void_approval_minor=0)
    floor.command("void_round", PIT, reason="two cards at once")
    drop(floor)
    assert floor.state().stopped
    floor.command("resume", PIT, reason="all in order")
    floor.close()
    floor.finish()
    assert floor.state().phase is Phase.SETTLED
    assert floor.faults() == []


def test_the_studios_own_void_needs_nobody_and_ends_the_proposal(both):
    both.to_betting()
    both.bet("p1", 500)
    floor = with_policy(both, void_approval_minor=0)
    floor.command("void_round", PIT, reason="a slip")
    floor.wait(4_000)
    floor.links.check("T1")
    floor.wait(6_000)
    floor.links.check("T1")
    assert floor.state().phase is Phase.VOID
    assert floor.state().correction is None
    assert floor.live().view["round"]["void"]["by"] == "studio"


def test_a_void_of_much_is_shut_while_another_correction_stands(both):
    one_round(both)
    floor = with_policy(both, void_approval_minor=0)
    correct(floor)
    floor.command("start_round")
    floor.bet("p1", 500)
    assert void(floor)["why_not"] == "correction_waits"
    refused("correction_waits", lambda: floor.command("void_round", PIT, reason="a slip"))
