"""What every command does when it is accepted; a new command without a row fails here."""

from collections.abc import Callable
from typing import get_args

import pytest

from studio.domain.commands import (
    CallPit,
    CloseShoe,
    Command,
    ConfirmBurn,
    DropKey,
    EndVerification,
    FreeSeat,
    LeaveSeat,
    Lock,
    MarkLink,
    OpenRound,
    Refunded,
    ReleaseHeld,
    Resume,
    RevealNext,
    StartVerification,
    Stop,
    TakeSeat,
    TurnCutCard,
    Unlock,
)
from studio.domain.decide import can, decide
from studio.domain.event_parts import HandResult, Mark
from studio.domain.events import CardsRevealed, RoundSettled, RoundToCorrect, RoundVoided
from studio.domain.round import Phase
from tests.support.tables import (
    MANIFEST,
    WINDOW_MS,
    MemoryTable,
    approve_command,
    betting,
    close_command,
    closed,
    confirm_key,
    correct_command,
    dealt,
    drop_command,
    due,
    empty,
    fail,
    in_play,
    key,
    keyed,
    load_command,
    loaded,
    propose_command,
    revealing,
    see,
    see_foreign,
    settle_command,
    settled,
    shuffle_command,
    shuffled,
    unread,
    void_command,
)

OPEN = OpenRound(now_ms=2_000_000, window_ms=WINDOW_MS)


def after(make: Callable[[], MemoryTable], *commands: Command) -> Callable[[], MemoryTable]:
    def build() -> MemoryTable:
        table = make()
        for command in commands:
            table.do(command)
        return table

    return build


LOST = MarkLink(link="video", up=False)
RESTORED = MarkLink(link="video", up=True)
COUNTED = CloseShoe(cards_left=413, by="Sato", early=False)

ANNOUNCED = (propose_command(), approve_command())
RUNNING = {
    "kind": "void_running",
    "rounds": (RoundToCorrect(round_id="T1-1-1", epoch=1, number=1, version=1),),
}

ACCEPTED: list[tuple[Callable[[], MemoryTable], Command, list[str]]] = [
    (MemoryTable, TakeSeat(dealer_id=7, name="Sato"), ["DealerSeated"]),
    (empty, TakeSeat(dealer_id=7, name="Sato"), []),
    (empty, LeaveSeat(dealer_id=7), ["DealerLeft"]),
    (settled, LeaveSeat(dealer_id=7), ["DealerLeft"]),
    (empty, FreeSeat(reason="went home"), ["DealerLeft"]),
    (betting, FreeSeat(reason="unwell"), ["DealerLeft"]),
    (empty, load_command(), ["ShoeLoaded"]),
    (loaded, StartVerification(), ["VerificationStarted"]),
    (
        after(loaded, StartVerification()),
        EndVerification(manifest=MANIFEST),
        ["VerificationEnded", "TableLocked"],
    ),
    (loaded, shuffle_command(), ["ShoeShuffled"]),
    (shuffled, see(1), ["FirstCardTurned"]),
    (betting, see(3), ["CardDrawn"]),
    (betting, see_foreign(), ["CardHeld"]),
    (betting, fail(), ["ReadFailed"]),
    (after(betting, fail(), fail()), fail(), ["ReadFailed", "PitCalled"]),
    (in_play, fail(), []),
    (unread, key(9), ["CardKeyed"]),
    (keyed, key(10), ["CardKeyed"]),
    (keyed, confirm_key(9), ["KeyConfirmed", "CardDrawn"]),
    (keyed, confirm_key(10), ["KeyDropped"]),
    (keyed, DropKey(by="Mori", reason="not the card"), ["KeyDropped"]),
    (after(lambda: shuffled(scan_at="reveal"), see(1)), ConfirmBurn(), ["BurnConfirmed"]),
    (in_play, TurnCutCard(), ["CutCardOut"]),
    (after(in_play, TurnCutCard()), TurnCutCard(), []),
    (in_play, OPEN, ["RoundOpened"]),
    (settled, OPEN, ["RoundOpened"]),
    (betting, close_command(9_999_999), ["BettingClosed"]),
    (revealing, RevealNext(), ["CardsRevealed"]),
    (due, settle_command(), ["RoundSettled"]),
    (betting, void_command(), ["RoundVoided"]),
    (dealt, void_command(), ["RoundVoided"]),
    (closed, void_command(), ["RoundVoided"]),
    (revealing, void_command(), ["RoundVoided"]),
    (due, void_command(), ["RoundVoided"]),
    (settled, propose_command(), ["CorrectionProposed"]),
    (
        settled,
        propose_command(needs_approval=False),
        ["CorrectionProposed", "CorrectionAnnounced"],
    ),
    (betting, propose_command(**RUNNING), ["CorrectionProposed", "DealingStopped"]),
    (after(betting, Stop(by="Sato")), propose_command(**RUNNING), ["CorrectionProposed"]),
    (after(settled, propose_command()), approve_command(), ["CorrectionAnnounced"]),
    (
        after(betting, propose_command(**RUNNING)),
        approve_command(refunded=Refunded(count=0, turnover_minor=0, payouts_minor=0)),
        ["CorrectionAnnounced", "RoundVoided"],
    ),
    (after(betting, propose_command(**RUNNING)), void_command(), ["RoundVoided"]),
    (after(settled, propose_command()), drop_command(), ["CorrectionDropped"]),
    (after(settled, *ANNOUNCED), drop_command(), ["CorrectionDropped"]),
    (after(settled, *ANNOUNCED), correct_command(), ["RoundCorrected"]),
    (after(settled, OPEN, *ANNOUNCED), correct_command(), ["RoundCorrected"]),
    (after(empty, *ANNOUNCED), correct_command(), ["RoundCorrected"]),
    (
        after(settled, Stop(by="Sato"), Lock(reason="why", by="Mori"), *ANNOUNCED),
        correct_command(),
        ["RoundCorrected"],
    ),
    (after(betting, see_foreign()), ReleaseHeld(by="Mori", reason="away"), ["HeldReleased"]),
    (empty, CallPit(by="Sato"), ["PitCalled"]),
    (after(empty, CallPit(by="Sato")), CallPit(by="Sato"), []),
    (betting, Stop(by="Sato"), ["DealingStopped"]),
    (after(betting, Stop(by="Sato")), Stop(by="Mori"), []),
    (after(betting, Stop(by="Sato")), Resume(by="Mori", reason="why"), ["DealingResumed"]),
    (after(betting, CallPit(by="Sato")), Resume(by="Mori", reason="why"), ["DealingResumed"]),
    (betting, LOST, ["LinkLost"]),
    (betting, RESTORED, []),
    (after(betting, LOST), LOST, []),
    (after(betting, LOST), RESTORED, ["LinkRestored"]),
    (after(in_play, TurnCutCard(), OPEN, void_command()), COUNTED, ["ShoeClosed"]),
    (in_play, CloseShoe(cards_left=412, by="Mori", early=True), ["ShoeClosed", "TableLocked"]),
    (loaded, CloseShoe(cards_left=416, by="Mori", early=True), ["ShoeClosed"]),
    (betting, Lock(reason="why", by="Mori"), ["TableLocked"]),
    (
        after(empty, Lock(reason="why", by="Mori")),
        Unlock(reason="ok", by="Mori"),
        ["TableUnlocked"],
    ),
]


@pytest.mark.parametrize(
    ("make", "command", "kinds"),
    ACCEPTED,
    ids=[f"{type(command).__name__}-{n}" for n, (_, command, _) in enumerate(ACCEPTED)],
)
def test_an_accepted_command_gives_its_events(make, command, kinds):
    table = make()
    before = table.state
    assert can(table.game, table.state, command)
    assert table.state is before, "asking whether is not doing"
    assert table.kinds(command) == kinds


def test_every_command_has_a_row():
    assert {type(command) for _, command, _ in ACCEPTED} == set(get_args(Command))


def test_decide_changes_nothing_and_answers_the_same_again():
    table = betting()
    before = table.state
    command = table.fresh("9S")
    assert decide(table.game, table.state, command) == decide(table.game, table.state, command)
    assert table.state == before


def test_hands_open_in_order_and_the_burnt_card_with_the_last():
    table = revealing()
    opened = []
    while not isinstance(table.log[-1], CardsRevealed) or opened[-1] != ("burn",):
        opened += [event.positions for event in table.do(RevealNext())]
    assert opened == [("P1",), ("P2",), ("P3",), ("P4",), ("P5",), ("B",), ("burn",)]
    assert all(card.open for card in table.state.round.drawn)


def test_a_settled_round_says_what_was_shown():
    table = due()
    (event,) = table.do(settle_command())
    assert isinstance(event, RoundSettled)
    # P1 holds 4H 7S, worth 1; the banker 8C AC, worth 9.
    assert HandResult(position="P1", points="1", name="plain") in event.hands
    assert [mark.position for mark in event.marks] == ["P1", "P2", "P3", "P4", "P5"]
    assert Mark(position="P1", result="lose", rings=()) in event.marks
    assert table.state.road[-1].marks == event.marks
    assert [result.net for result in event.results] == ["1", "-1"]


def test_a_voided_round_opens_every_card_that_was_not():
    table = revealing()
    table.do(RevealNext())
    (event,) = table.do(void_command())
    assert isinstance(event, RoundVoided)
    assert {card.position for card in event.cards} == {"burn", "P2", "P3", "P4", "P5", "B"}
    assert len(event.cards) == 11
    assert table.state.phase is Phase.VOID


def test_rounds_are_numbered_on_through_shoes():
    table = settled()
    table.do(CloseShoe(cards_left=400, by="Mori", early=True))
    table.do(load_command())
    table.do(shuffle_command())
    table.used.clear()
    table.deal("AS", "2S")
    table.open_round()
    assert table.state.round.id == "T1-2-2"
