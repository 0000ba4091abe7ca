"""The shoe: opening, verification, cut card, counting out."""

import pytest

from studio.domain.commands import (
    CloseShoe,
    ConfirmBurn,
    EndVerification,
    Lock,
    OpenRound,
    ReleaseHeld,
    StartVerification,
    TurnCutCard,
    Unlock,
)
from studio.domain.errors import RefusedError
from studio.domain.events import ShoeClosed, VerificationEnded
from studio.domain.round import BURN
from studio.domain.table import Stage
from studio.domain.view import instruction
from tests.support.tables import (
    HANDS,
    MANIFEST,
    WINDOW_MS,
    MemoryTable,
    betting,
    face,
    fail,
    in_play,
    load_command,
    loaded,
    revealing,
    see,
    see_foreign,
    serials_of,
    shuffle_command,
    shuffled,
    void_command,
)

OPEN = OpenRound(now_ms=2_000_000, window_ms=WINDOW_MS)


# Opening ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "burns"), [("AS", 1), ("2H", 2), ("7D", 7), ("TC", 10), ("JS", 10), ("KD", 10)]
)
def test_the_first_card_is_burnt_and_as_many_as_its_value(first, burns):
    table = shuffled()
    table.deal(first)
    assert table.state.stage is Stage.OPENING
    assert table.state.shoe.first_card == first
    rest = [face(serial) for serial in range(105, 105 + burns)]
    for number, code in enumerate(rest, start=1):
        assert instruction(table.game, table.state) == {"code": "burn", "card": number, "of": burns}
        assert table.state.stage is Stage.OPENING
        table.deal(code)
    assert table.state.stage is Stage.IN_PLAY
    assert (table.state.shoe.burnt, table.state.shoe.dealt) == (burns + 1, 0)
    assert table.state.shoe.in_shoe == 416 - burns - 1


def test_burnt_cards_stay_sealed_until_the_shoe_is_closed():
    table = in_play()
    assert [event.position for event in table.log[-2:]] == [BURN, BURN]
    (closed,) = table.do(CloseShoe(cards_left=413, by="Mori", early=True))
    assert isinstance(closed, ShoeClosed)
    assert [card.card for card in closed.cards] == ["KS", "KH"]


# Verification -----------------------------------------------------------------------------------


def verify(table: MemoryTable, serials) -> VerificationEnded:
    table.do(StartVerification())
    for serial in serials:
        table.do(see(serial))
    return end(table)


def end(table: MemoryTable) -> VerificationEnded:
    verdict = table.do(EndVerification(manifest=MANIFEST))[0]
    assert isinstance(verdict, VerificationEnded)
    return verdict


def test_a_complete_deck_set_is_verified_and_shuffled():
    table = loaded()
    verdict = verify(table, MANIFEST)
    assert verdict == VerificationEnded(complete=True, missing=(), foreign=0, doubled=0)
    assert table.state.locked is None
    assert table.kinds(shuffle_command()) == ["ShoeShuffled"]


def test_missing_cards_are_named_and_the_shoe_does_not_open():
    table = loaded()
    verdict = verify(table, [serial for serial in MANIFEST if serial not in {1, 52, 60, 200, 416}])
    # Card number and serial of each of the five.
    assert verdict.missing == ("01/0001", "52/0052", "08/0060", "44/0200", "52/0416")
    assert not verdict.complete
    assert table.state.locked == "verification_failed"
    with pytest.raises(RefusedError):
        table.do(shuffle_command())
    table.do(Unlock(reason="looked at", by="Mori"))
    with pytest.raises(RefusedError) as refusal:
        table.do(shuffle_command())
    assert refusal.value.code == "verification_failed", "an unlock does not find the cards"
    assert instruction(table.game, table.state)["code"] == "verify_cards"


def test_a_ninth_copy_and_a_foreign_card_are_counted():
    table = loaded()
    table.do(StartVerification())
    for serial in MANIFEST:
        table.do(see(serial))
    assert table.kinds(see(3)) == ["CardVerified"]
    assert table.kinds(see_foreign()) == ["CardVerified"]
    verdict = end(table)
    assert (verdict.complete, verdict.missing, verdict.foreign, verdict.doubled) == (
        False,
        (),
        1,
        1,
    )


def test_the_card_that_still_lies_under_the_camera_is_not_doubled():
    table = loaded()
    table.do(StartVerification())
    table.do(see(3))
    assert table.do(see(3)) == ()
    assert table.state.verified_doubled == 0


def test_a_second_verification_starts_from_nothing():
    table = loaded()
    table.do(StartVerification())
    table.do(see(1))
    table.do(see(2))
    table.do(see(1))
    table.do(see_foreign())
    assert not end(table).complete
    table.do(Unlock(reason="card taken out", by="Mori"))
    assert verify(table, MANIFEST).complete
    assert table.kinds(shuffle_command()) == ["ShoeShuffled"]


def test_cards_that_pass_the_camera_while_shuffled_by_hand_stay_in_the_shoe():
    table = loaded()
    assert table.do(see(3)) == ()
    assert table.state.shoe.in_shoe == 416
    assert table.kinds(see_foreign()) == ["CardHeld"], "a foreign one has no business there"


# Cut card ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", range(14))
def test_the_cut_card_may_come_up_at_any_draw_and_ends_the_shoe_after_the_round(draw):
    table = betting()
    for number, code in enumerate(("3S", *HANDS)):
        if number == draw:
            table.do(TurnCutCard())
        table.deal(code)
    if draw == 13:
        table.do(TurnCutCard())
    table.close()
    table.reveal_all()
    assert table.state.stage is Stage.IN_PLAY, "the round runs to its end"
    table.settle()
    assert table.state.stage is Stage.LAST_ROUND_DONE


@pytest.mark.parametrize("draw", range(3))
def test_a_cut_card_during_the_opening_leaves_one_round(draw):
    table = shuffled()
    for number, code in enumerate(("2S", "KS", "KH")):
        if number == draw:
            table.do(TurnCutCard())
        table.deal(code)
    assert table.state.stage is Stage.IN_PLAY
    table.open_round()
    table.do(void_command())
    assert table.state.stage is Stage.LAST_ROUND_DONE


def test_a_cut_card_between_rounds_leaves_one_round():
    table = in_play()
    table.open_round()
    table.do(void_command())
    table.do(TurnCutCard())
    assert table.state.stage is Stage.IN_PLAY
    table.do(OPEN)
    table.do(void_command())
    assert table.state.stage is Stage.LAST_ROUND_DONE
    assert instruction(table.game, table.state)["code"] == "last_round_done"


# Counting out -----------------------------------------------------------------------------------


def count_out(cards_left: int) -> MemoryTable:
    table = in_play()
    table.do(TurnCutCard())
    table.do(OPEN)
    table.do(void_command())
    table.do(CloseShoe(cards_left=cards_left, by="Sato", early=False))
    return table


def test_a_shoe_that_counts_out_makes_room_for_the_next():
    table = count_out(413)
    assert table.state.locked is None
    assert table.state.stage is Stage.NO_SHOE
    assert table.kinds(load_command(deck_set=2)) == ["ShoeLoaded"]


@pytest.mark.parametrize("cards_left", [0, 412, 414])
def test_a_shoe_that_does_not_count_out_locks_the_table(cards_left):
    table = count_out(cards_left)
    closed = table.log[-2]
    assert (closed.expected, closed.cards_left, closed.closes) == (413, cards_left, False)
    assert table.state.locked == "shoe_count"
    with pytest.raises(RefusedError):
        table.do(load_command())
    table.do(Unlock(reason="card found on the floor", by="Mori"))
    assert table.kinds(load_command()) == ["ShoeLoaded"]


def test_a_new_shoe_forgets_the_cards_of_the_old_one():
    table = in_play()
    table.do(CloseShoe(cards_left=413, by="Mori", early=True))
    table.do(load_command())
    table.do(shuffle_command())
    again = serials_of(["2S"], used=set())[0]
    assert table.kinds(see(again)) == ["FirstCardTurned"]


# Burn per round ---------------------------------------------------------------------------------


def test_without_a_burn_the_first_card_goes_to_player_one():
    table = betting(burn_per_round=0)
    assert instruction(table.game, table.state)["position"] == "P1"
    table.deal(*HANDS)
    table.close()
    table.reveal_all()
    table.settle()
    assert (table.state.shoe.burnt, table.state.shoe.dealt) == (3, 12)


def test_two_burns_come_before_player_one():
    table = betting(burn_per_round=2)
    assert instruction(table.game, table.state)["code"] == "burn_one"
    table.deal("3S")
    assert instruction(table.game, table.state)["code"] == "burn_one"
    table.deal("3H")
    assert instruction(table.game, table.state)["position"] == "P1"
    table.deal(*HANDS)
    burns = [card for card in table.state.round.drawn if card.position == BURN]
    assert [card.index for card in burns] == [0, 1]
    table.close()
    table.reveal_all()
    table.settle()
    assert table.state.shoe.burnt == 5


# Cards read when opened ---------------------------------------------------------------------------


def test_a_whole_round_whose_cards_are_read_when_opened():
    table = shuffled(scan_at="reveal")
    table.deal("2S")
    assert table.kinds(ConfirmBurn()) == ["BurnConfirmed"]
    assert table.state.stage is Stage.IN_PLAY
    table.open_round()
    assert not table.state.round.started
    table.do(ConfirmBurn())
    assert table.state.round.started
    early = table.fresh("4H")
    assert table.kinds(early) == ["CardHeld"], "no card is opened while bets are taken"
    table.do(ReleaseHeld(by="Mori", reason="opened too early"))
    table.close()
    assert instruction(table.game, table.state)["code"] == "deal"
    for code in HANDS:
        assert table.kinds(table.fresh(code)) == ["CardDrawn", "CardsRevealed"]
    table.settle()
    assert [card.card for card in table.state.round.drawn] == list(HANDS)
    assert all(card.open for card in table.state.round.drawn)
    # First card, two burns, the one of the round and the one released; twelve dealt.
    assert (table.state.shoe.burnt, table.state.shoe.dealt) == (5, 12)
    table.do(CloseShoe(cards_left=399, by="Mori", early=True))
    assert table.state.locked is None


def test_a_burn_confirmed_by_hand_ends_a_failed_read():
    table = shuffled(scan_at="reveal")
    table.deal("2S")
    table.do(fail())
    assert instruction(table.game, table.state)["code"] == "rescan"
    table.do(ConfirmBurn())
    assert table.state.fault is None
    assert instruction(table.game, table.state)["code"] == "start_round"


# Lock -------------------------------------------------------------------------------------------


def test_a_locked_table_plays_its_round_to_the_end_and_opens_no_other():
    table = revealing()
    table.do(Lock(reason="audit", by="Mori"))
    assert instruction(table.game, table.state)["code"] == "reveal"
    table.reveal_all()
    table.settle()
    assert instruction(table.game, table.state) == {"code": "locked", "reason": "audit"}
    with pytest.raises(RefusedError) as refusal:
        table.do(OPEN)
    assert refusal.value.code == "table_locked"
    table.do(Unlock(reason="audited", by="Mori"))
    assert table.kinds(OPEN) == ["RoundOpened"]
