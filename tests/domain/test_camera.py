"""Cards at the camera that must not be there, cards that do not read, and links that fail."""

from dataclasses import replace

import pytest

from studio.domain.cards import CodeVersion
from studio.domain.commands import CallPit, MarkLink, ReleaseHeld, Resume, RevealNext, Stop
from studio.domain.errors import RefusedError
from studio.domain.events import CardHeld, PitCalled, ReadFailed
from studio.domain.round import Phase
from studio.domain.table import STUDIO
from studio.domain.view import instruction, table_view
from tests.support.tables import (
    MANIFEST,
    betting,
    closed,
    dealt,
    due,
    face,
    fail,
    in_play,
    revealing,
    see,
    see_foreign,
    settle_command,
    settled,
    shuffled,
    void_command,
)

RELEASE = ReleaseHeld(by="Mori", reason="set aside")


# Cards that must not be there -------------------------------------------------------------------


@pytest.mark.parametrize("make", [shuffled, in_play, betting, dealt, closed, revealing, settled])
def test_a_card_of_another_deck_set_is_held_and_belongs_to_nobody(make):
    table = make()
    before = table.state.shoe
    (event,) = table.do(see_foreign())
    assert event == CardHeld(fault="other_deck_set", scope="T1-1", commitment=None)
    assert instruction(table.game, table.state) == {"code": "held", "fault": "other_deck_set"}
    table.do(RELEASE)
    assert table.state.shoe == before
    assert table.state.fault is None


def test_a_domino_with_our_deck_sets_number_is_of_another_deck_set():
    table = betting()
    seen = see(3)
    (event,) = table.do(replace(seen, code=replace(seen.code, version=CodeVersion.TILE)))
    assert event.fault == "other_deck_set"


def test_a_card_of_our_deck_set_that_is_not_in_the_manifest_has_an_unknown_serial():
    table = betting()
    (event,) = table.do(see(3, known=False))
    assert event == CardHeld(fault="unknown_serial", scope="T1-1", commitment=None)


def test_a_card_that_comes_up_again_later_is_doubled():
    table = betting()
    table.deal("9S", "9H")
    (event,) = table.do(see(9))
    assert event.fault == "doubled_card"
    counts = (table.state.shoe.in_shoe, table.state.shoe.burnt, table.state.shoe.dealt)
    table.do(RELEASE)
    shoe = table.state.shoe
    assert (shoe.in_shoe, shoe.burnt, shoe.dealt) == counts, "it was counted when it first passed"


def test_the_same_card_again_is_the_card_that_still_lies_there():
    table = betting()
    card = table.fresh("9S")
    table.do(card)
    assert table.do(card) == ()
    assert len(table.state.round.drawn) == 1


def test_a_face_that_comes_up_more_often_than_the_decks_hold_it_is_held_and_burnt():
    # No deck set like this is loaded any more; a shoe of the release before may still lie there.
    table = in_play()
    ninth = [serial for serial, number in MANIFEST.items() if number == MANIFEST[9]]
    for serial in ninth:
        table.state = replace(
            table.state, shoe=table.state.shoe.pass_card(face(9), serial + 1000, burnt=True)
        )
    before = table.state.shoe
    (event,) = table.do(see(9))
    assert (event.fault, event.commitment is None) == ("extra_copy", False)
    table.do(RELEASE)
    assert table.state.shoe.burnt == before.burnt + 1


@pytest.mark.parametrize("make", [in_play, dealt, revealing, due, settled])
def test_a_card_that_nobody_needs_is_held_and_burnt_when_released(make):
    table = make()
    before = table.state.shoe
    (event,) = table.do(table.fresh("JC"))
    assert event.fault == "unneeded_card"
    assert event.commitment is not None
    assert table.state.shoe == before, "until released nothing moved"
    table.do(RELEASE)
    assert table.state.shoe.burnt == before.burnt + 1
    assert table.state.shoe.in_shoe == before.in_shoe - 1
    assert [card.card for card in table.state.shoe.opening_burns][-1] == "JC"


def test_a_released_card_that_still_lies_there_is_not_doubled():
    table = in_play()
    card = table.fresh("JC")
    table.do(card)
    table.do(RELEASE)
    assert table.do(card) == ()


def test_nothing_is_taken_while_a_card_is_held():
    table = betting()
    table.do(see_foreign())
    waiting = table.fresh("9S")
    assert table.do(waiting) == ()
    assert table.do(fail()) == ()
    assert table.state.round.drawn == ()
    table.do(RELEASE)
    assert table.kinds(waiting) == ["CardDrawn"]


def test_a_void_leaves_the_held_card_to_the_supervisor():
    table = revealing()
    table.do(table.fresh("JC"))
    table.do(void_command())
    assert table.state.fault.code == "unneeded_card"
    table.do(RELEASE)
    # First card, two burns, the round's burn and this one.
    assert (table.state.shoe.burnt, table.state.shoe.dealt) == (5, 12)


# Cards that do not read -------------------------------------------------------------------------


def test_failed_reads_are_counted_and_the_third_calls_the_pit():
    table = betting()
    tries = [event.tries for _ in range(2) for event in table.do(fail("no_code"))]
    assert tries == [1, 2]
    failed, called = table.do(fail("no_code"))
    assert failed == ReadFailed(reason="no_code", tries=3, position="burn", index=0)
    assert called == PitCalled(by=STUDIO)
    assert table.kinds(fail()) == ["ReadFailed"], "the pit is called once for a card"
    assert instruction(table.game, table.state) == {
        "code": "rescan",
        "reason": "unreadable",
        "tries": 4,
        "position": "burn",
        "card": 1,
    }


def test_nothing_advances_until_the_card_is_read():
    table = betting()
    table.do(fail())
    assert table.state.round.drawn == ()
    table.deal("9S")
    assert table.state.fault is None
    assert len(table.state.round.drawn) == 1


def test_each_card_counts_its_own_tries():
    table = betting()
    table.do(fail())
    table.do(fail())
    table.deal("9S")
    (failed,) = table.do(fail())
    assert (failed.tries, failed.position) == (1, "P1")


def test_a_card_that_nobody_touched_since_is_no_further_try():
    table = betting()
    still = replace(fail(), still=True)
    assert table.kinds(still) == ["ReadFailed"], "the first report may be lost"
    assert table.do(still) == ()
    assert table.state.fault.tries == 1
    assert table.kinds(fail()) == ["ReadFailed"]
    assert table.state.fault.tries == 2


def test_a_pit_called_before_is_called_for_the_next_unreadable_card_too():
    table = betting()
    for _ in range(3):
        table.do(fail())
    table.deal("9S")
    assert table.state.pit_called
    for _ in range(2):
        table.do(fail())
    assert PitCalled(by=STUDIO) in table.do(fail())


def test_a_supervisor_who_resumes_is_called_again_at_the_next_failure():
    table = betting()
    for _ in range(3):
        table.do(fail())
    table.do(Resume(by="Mori", reason="try once more"))
    assert PitCalled(by=STUDIO) in table.do(fail())


@pytest.mark.parametrize("make", [in_play, dealt, revealing, due, settled])
def test_a_failed_read_is_no_news_when_no_card_is_waited_for(make):
    assert make().do(fail()) == ()


@pytest.mark.parametrize("make", [shuffled, betting])
def test_a_badge_under_the_camera_is_said_once_and_is_no_try(make):
    table = make()
    for _ in range(5):
        table.do(fail("staff_badge"))
    told = [event for event in table.log if isinstance(event, ReadFailed)]
    assert [(event.reason, event.tries) for event in told] == [("staff_badge", 0)]
    assert not table.state.pit_called
    assert instruction(table.game, table.state)["reason"] == "staff_badge"
    (failed,) = table.do(fail("no_code"))
    assert failed.tries == 1, "the card after it begins to count"


def test_a_badge_between_two_tries_neither_adds_a_try_nor_takes_one_away():
    table = betting()
    table.do(fail())
    table.do(fail("staff_badge"))
    table.do(fail())
    assert table.state.fault.tries == 2
    table.deal("9S")
    assert table.state.fault is None


def test_a_card_that_still_lies_there_after_a_badge_is_told_again():
    table = betting()
    table.do(fail("staff_badge"))
    assert table.kinds(replace(fail(), still=True)) == ["ReadFailed"]


def test_a_card_taken_away_too_early_is_a_try():
    table = betting()
    for _ in range(3):
        table.do(fail("taken_away"))
    assert table.state.pit_called, "whoever never leaves a card there needs help"


# STOP -------------------------------------------------------------------------------------------


def test_nothing_advances_at_a_stopped_table_until_the_supervisor_resumes():
    table = betting()
    table.do(Stop(by="Sato"))
    waiting = table.fresh("9S")
    assert table.do(waiting) == ()
    assert table.do(fail()) == ()
    assert instruction(table.game, table.state) == {"code": "stopped"}
    table.do(Resume(by="Mori", reason="looked at"))
    assert table.kinds(waiting) == ["CardDrawn"]


def test_a_stopped_table_closes_its_window_but_neither_opens_nor_settles():
    table = dealt()
    table.do(Stop(by="Sato"))
    table.close()
    assert table.state.phase is Phase.REVEAL
    with pytest.raises(RefusedError):
        table.do(RevealNext())
    table.do(Resume(by="Mori", reason="looked at"))
    table.reveal_all()
    table.do(Stop(by="Mori"))
    with pytest.raises(RefusedError):
        table.do(settle_command())
    table.do(Resume(by="Mori", reason="all right"))
    assert table.kinds(settle_command()) == ["RoundSettled"]


@pytest.mark.parametrize(("by", "stands"), [("Mori", False), (STUDIO, True)])
def test_a_supervisors_void_answers_stop_and_call_the_studios_own_does_not(by, stands):
    table = betting()
    table.do(Stop(by="Sato"))
    table.do(CallPit(by="Sato"))
    table.do(void_command(by=by))
    assert (table.state.stopped, table.state.pit_called) == (stands, stands)


# Links ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("link", ["scanner", "station", "video"])
def test_a_link_lost_after_the_start_marks_the_round_and_lets_it_run(link):
    table = dealt()
    table.do(MarkLink(link=link, up=False))
    assert table.state.round.interrupted
    table.close()
    table.reveal_all()
    table.settle()
    assert table.state.round.interrupted, "the mark stays, the link may be back or not"
    table.do(MarkLink(link=link, up=True))
    assert table.state.links_lost == frozenset()


def test_a_link_lost_before_the_start_does_not_mark_the_round():
    table = betting()
    table.do(MarkLink(link="video", up=False))
    table.do(MarkLink(link="video", up=True))
    table.deal("9S")
    assert not table.state.round.interrupted


def test_a_round_that_starts_while_a_link_is_lost_is_interrupted():
    table = betting()
    table.do(MarkLink(link="video", up=False))
    assert not table.state.round.interrupted
    table.deal("9S")
    assert table.state.round.interrupted


@pytest.mark.parametrize(("make", "cancels_ms"), [(betting, 8), (dealt, None), (settled, None)])
def test_only_a_round_that_has_not_started_has_a_time_when_it_is_cancelled(make, cancels_ms):
    table = make()
    (lost,) = table.do(MarkLink(link="video", up=False, cancels_ms=8))
    assert lost.cancels_ms == cancels_ms
    assert table_view(table.game, table.state)["round"]["cancels_ms"] == cancels_ms
    table.do(MarkLink(link="station", up=False, cancels_ms=9))
    table.do(MarkLink(link="video", up=True))
    assert table_view(table.game, table.state)["round"]["cancels_ms"] == cancels_ms
    if cancels_ms is not None:
        table.deal("9S")
        assert table_view(table.game, table.state)["round"]["cancels_ms"] is None


def test_the_screen_names_the_lost_link_instead_of_a_new_round():
    table = settled()
    table.do(MarkLink(link="video", up=False))
    assert instruction(table.game, table.state) == {"code": "link_lost", "link": "video"}
