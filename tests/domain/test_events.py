"""Every event: its stored form, and what it changes; a new event without a row fails here."""

import json
from collections.abc import Callable
from dataclasses import fields, replace

import pytest

from studio.domain.commands import (
    CallPit,
    MarkLink,
    ReleaseHeld,
    RevealNext,
    StartVerification,
    Stop,
    TurnCutCard,
)
from studio.domain.errors import InvariantError
from studio.domain.event_bodies import from_body, to_body
from studio.domain.event_parts import BetResult, HandResult, Mark, OpenCard, SealedCard
from studio.domain.events import (
    EVENT_KINDS,
    BettingClosed,
    BurnConfirmed,
    CardDrawn,
    CardHeld,
    CardKeyed,
    CardsRevealed,
    CardVerified,
    CorrectedFace,
    CorrectionAnnounced,
    CorrectionDropped,
    CorrectionProposed,
    CutCardOut,
    DealerLeft,
    DealerSeated,
    DealingResumed,
    DealingStopped,
    Event,
    FirstCardTurned,
    HeldReleased,
    KeyConfirmed,
    KeyDropped,
    LinkLost,
    LinkRestored,
    PitCalled,
    ReadFailed,
    RoundCorrected,
    RoundOpened,
    RoundSettled,
    RoundToCorrect,
    RoundVoided,
    ShoeClosed,
    ShoeLoaded,
    ShoeShuffled,
    TableLocked,
    TableUnlocked,
    VerificationEnded,
    VerificationStarted,
)
from studio.domain.log import canonical
from studio.domain.round import Phase
from studio.domain.table import Dealer, Stage, TableState
from studio.domain.view import instruction
from tests.support.tables import (
    MemoryTable,
    apply,
    betting,
    closed,
    dealt,
    due,
    empty,
    in_play,
    keyed,
    loaded,
    revealing,
    see_foreign,
    settled,
    shuffled,
    unread,
)

SEALED = SealedCard(card="9S", serial=9, nonce="ab" * 32)
OPENED = OpenCard(position="P1", index=0, card="4H", serial=17, nonce="cd" * 32)
CARD = CardDrawn(scope="T1-1-1", position="burn", index=0, commitment="0" * 64, sealed=SEALED)
HELD = CardHeld(fault="unneeded_card", scope="T1-1", commitment="1" * 64, sealed=SEALED)
KEYED = CardKeyed(position="burn", index=0, by="Sato", sealed=SEALED)
CONFIRMED = KeyConfirmed(
    position="burn", index=0, dealer="Sato", by="Mori", reason="破れ", picture=7
)
DROPPED = KeyDropped(
    position="burn", index=0, why="differs", dealer="Sato", by="Mori", reason="why", picture=7
)
LOADED = ShoeLoaded(
    game="pok_deng",
    deck_set=2,
    decks=1,
    registered=52,
    rule_version="r",
    paytable_version="p",
    scan_at="reveal",
    burn_per_round=2,
    options={},
    round_number=41,
    dealer_id=9,
    dealer_name="Abe",
    links_lost=("video",),
    carry={},
)
OPENED_ROUND = RoundOpened(
    round_id="T1-1-1",
    number=1,
    opened_ms=5,
    window_closes_ms=9,
    rule_version="r",
    paytable_version="p",
)
BOOK = BettingClosed(
    round_id="T1-1-1", count=2, turnover_minor=300, held_minor=500, digest="e" * 64
)
SETTLED = RoundSettled(
    round_id="T1-1-1",
    version=1,
    results=(BetResult(bet="p1", net="19/20", reason="win"),),
    marks=(Mark(position="P1", result="win", rings=("flush", "pair")),),
    hands=(HandResult(position="P1", points="7.4", name="special_pair"),),
    count=2,
    turnover_minor=300,
    payouts_minor=-1,
)
VOIDED = RoundVoided(
    round_id="T1-1-1",
    version=1,
    reason="誤配",
    by="Mori",
    count=2,
    turnover_minor=300,
    payouts_minor=500,
    cards=(OPENED,),
)
CORRECTED = RoundCorrected(
    round_id="T1-1-1",
    epoch=1,
    number=1,
    version=2,
    void=False,
    faces=(CorrectedFace(position="P1", index=0, card="AC"),),
    results=SETTLED.results,
    marks=SETTLED.marks,
    hands=SETTLED.hands,
    reason="誤配",
    by="Mori",
    count=2,
    turnover_minor=300,
    payouts_minor=500,
    players=2,
    paid_minor=300,
    taken_minor=100,
    owed_minor=40,
)
PROPOSED = CorrectionProposed(
    id="8",
    kind="correct",
    rounds=(RoundToCorrect(round_id="T1-1-1", epoch=1, number=1, version=2),),
    faces=CORRECTED.faces,
    reason="誤配",
    by="Mori",
    by_id=20,
    needs_approval=True,
    players=2,
    paid_minor=300,
    taken_minor=100,
    owed_minor=40,
)
ANNOUNCED = CorrectionAnnounced(id="8", approved_by="Kato", approved_by_id=21, due_ms=9)
CLOSED = ShoeClosed(cards_left=3, expected=4, closes=False, scope="T1-1", cards=(OPENED,))


def verifying() -> MemoryTable:
    table = loaded()
    table.do(StartVerification())
    return table


def stopped() -> MemoryTable:
    table = betting()
    table.do(Stop(by="Sato"))
    table.do(CallPit(by="Sato"))
    return table


def held() -> MemoryTable:
    table = betting()
    table.do(see_foreign())
    return table


def link_lost() -> MemoryTable:
    table = betting()
    table.do(MarkLink(link="video", up=False, cancels_ms=8))
    return table


def locked() -> MemoryTable:
    table = in_play()
    table.state = replace(table.state, locked="why", pit_called=True)
    return table


def proposed() -> MemoryTable:
    table = settled()
    table.state = apply(table.game, table.state, PROPOSED)
    return table


def announced() -> MemoryTable:
    table = proposed()
    table.state = apply(table.game, table.state, ANNOUNCED)
    return table


def opened_by_hand() -> MemoryTable:
    table = shuffled(scan_at="reveal")
    table.state = apply(table.game, table.state, FirstCardTurned(card="5S", serial=5, burn=5))
    return table


Look = Callable[[TableState], object]

EVOLVED: list[tuple[Callable[[], MemoryTable], Event, Look, object]] = [
    (
        MemoryTable,
        DealerSeated(dealer_id=9, name="Abe"),
        lambda s: s.dealer,
        Dealer(id=9, name="Abe"),
    ),
    (empty, DealerLeft(dealer_id=7, name="Sato"), lambda s: s.dealer, None),
    (empty, LOADED, lambda s: (s.stage, s.epoch, s.round_number), (Stage.LOADED, 1, 41)),
    (empty, LOADED, lambda s: s.dealer, Dealer(id=9, name="Abe")),
    (empty, LOADED, lambda s: s.links_lost, frozenset({"video"})),
    (loaded, VerificationStarted(), lambda s: s.stage, Stage.VERIFYING),
    (
        verifying,
        CardVerified(count=1, problem=None, sealed=SEALED),
        lambda s: s.verified,
        frozenset({9}),
    ),
    (verifying, CardVerified(count=0, problem="foreign"), lambda s: s.verified_foreign, 1),
    (verifying, CardVerified(count=0, problem="doubled"), lambda s: s.verified_doubled, 1),
    (
        verifying,
        VerificationEnded(complete=True, missing=(), foreign=0, doubled=0),
        lambda s: s.stage,
        Stage.LOADED,
    ),
    (
        verifying,
        VerificationEnded(complete=False, missing=("01/0001",), foreign=0, doubled=0),
        lambda s: s.verification_failed,
        True,
    ),
    (loaded, ShoeShuffled(cut_depth=60), lambda s: s.stage, Stage.OPENING),
    (
        shuffled,
        FirstCardTurned(card="9S", serial=9, burn=9),
        lambda s: (s.stage, s.shoe.burnt, s.shoe.to_burn, s.shoe.first_card),
        (Stage.OPENING, 1, 9, "9S"),
    ),
    (betting, CARD, lambda s: (s.round.started, s.shoe.burnt, s.round.burnt), (True, 4, 1)),
    (
        opened_by_hand,
        BurnConfirmed(count=5),
        lambda s: (s.stage, s.shoe.burnt, s.shoe.to_burn),
        (Stage.IN_PLAY, 6, 0),
    ),
    (betting, CutCardOut(), lambda s: s.shoe.cut_card_out, True),
    (in_play, OPENED_ROUND, lambda s: (s.phase, s.round_number), (Phase.BETTING, 1)),
    (betting, BOOK, lambda s: (s.phase, s.round.book), (Phase.NO_MORE_BETS, BOOK)),
    (dealt, BOOK, lambda s: s.phase, Phase.REVEAL),
    (
        revealing,
        CardsRevealed(
            scope="T1-1-1",
            positions=("P1",),
            cards=(replace(OPENED, index=0), replace(OPENED, index=1)),
        ),
        lambda s: [card.index for card in s.round.drawn if card.open],
        [0, 1],
    ),
    (
        due,
        SETTLED,
        lambda s: (s.phase, [line.marks for line in s.road]),
        (Phase.SETTLED, [SETTLED.marks]),
    ),
    (
        dealt,
        VOIDED,
        lambda s: (s.phase, {card.open for card in s.round.drawn}),
        (Phase.VOID, {True}),
    ),
    (
        settled,
        CORRECTED,
        lambda s: (s.phase, [line.marks for line in s.road], s.round.corrected),
        (Phase.SETTLED, [CORRECTED.marks], CORRECTED),
    ),
    (
        settled,
        replace(CORRECTED, void=True, results=(), marks=(), hands=()),
        lambda s: (s.phase, s.road),
        (Phase.VOID, ()),
    ),
    (
        settled,
        PROPOSED,
        lambda s: s.correction and (s.correction.waits, s.correction.rounds),
        (True, PROPOSED.rounds),
    ),
    (proposed, ANNOUNCED, lambda s: s.correction.announced, ANNOUNCED),
    (announced, CORRECTED, lambda s: s.correction, None),
    (
        announced,
        CorrectionDropped(id="8", by="studio", reason="rules_changed"),
        lambda s: s.correction,
        None,
    ),
    (
        betting,
        ReadFailed(reason="no_code", tries=2, position="burn", index=0),
        lambda s: s.fault and (s.fault.code, s.fault.tries, s.fault.held),
        ("read_failed", 2, False),
    ),
    (
        unread,
        KEYED,
        lambda s: s.fault.keyed and (s.fault.keyed.by, s.fault.keyed.card),
        ("Sato", SEALED),
    ),
    (keyed, DROPPED, lambda s: (s.fault.keyed, s.fault.key_dropped), (None, "differs")),
    (keyed, CONFIRMED, lambda s: s.fault, None),
    (
        betting,
        HELD,
        lambda s: s.fault and (s.fault.code, s.fault.held),
        ("unneeded_card", True),
    ),
    (
        held,
        HeldReleased(action="continue", by="Mori", reason="why"),
        lambda s: s.fault,
        None,
    ),
    (betting, PitCalled(by="Sato"), lambda s: s.pit_called, True),
    (betting, DealingStopped(by="Sato"), lambda s: s.stopped, True),
    (
        stopped,
        DealingResumed(by="Mori", reason="why"),
        lambda s: (s.stopped, s.pit_called),
        (False, False),
    ),
    (
        stopped,
        DealingResumed(by="Mori", reason="why", choice="re_lay"),
        lambda s: s.stopped,
        False,
    ),
    (betting, LinkLost(link="video"), lambda s: s.links_lost, frozenset({"video"})),
    (dealt, LinkLost(link="video"), lambda s: s.round.interrupted, True),
    (betting, LinkLost(link="video", cancels_ms=9), lambda s: s.round.cancels_ms, 9),
    (link_lost, LinkRestored(link="video"), lambda s: s.links_lost, frozenset()),
    (link_lost, LinkRestored(link="video"), lambda s: s.round.cancels_ms, None),
    (settled, CLOSED, lambda s: (s.stage, s.shoe, s.round), (Stage.NO_SHOE, None, None)),
    (in_play, TableLocked(reason="why", by="Mori"), lambda s: s.locked, "why"),
    (
        locked,
        TableUnlocked(reason="why", by="Mori"),
        lambda s: (s.locked, s.pit_called),
        (None, False),
    ),
]


@pytest.mark.parametrize(
    ("make", "event", "look", "expected"),
    EVOLVED,
    ids=[f"{type(event).__name__}-{n}" for n, (_, event, _, _) in enumerate(EVOLVED)],
)
def test_an_event_changes_the_state(make, event, look, expected):
    table = make()
    assert look(table.state) != expected
    assert look(apply(table.game, table.state, event)) == expected


@pytest.mark.parametrize(
    "event",
    [event for _, event, _, _ in EVOLVED],
    ids=[f"{type(event).__name__}-{n}" for n, (_, event, _, _) in enumerate(EVOLVED)],
)
def test_an_event_comes_back_from_the_store_as_it_went_in(event):
    body = json.loads(canonical(to_body(event)))
    assert from_body(type(event).__name__, body, event.sealed) == event
    assert "sealed" not in body
    assert set(body) == {field.name for field in fields(event)} - {"sealed"}


def test_every_event_has_a_row():
    assert {type(event).__name__ for _, event, _, _ in EVOLVED} == set(EVENT_KINDS)


@pytest.mark.parametrize("event", [CARD, HELD, KEYED], ids=["drawn", "held", "keyed"])
def test_a_sealed_card_stands_neither_in_the_body_nor_in_the_text_of_its_event(event):
    for text in (canonical(to_body(event)), repr(event), str(event)):
        assert SEALED.nonce not in text
        assert '"9S"' not in text
        assert "'9S'" not in text


def test_an_unknown_kind_of_event_is_an_invariant_broken():
    with pytest.raises(InvariantError) as broken:
        from_body("CardEaten", {}, None)
    assert broken.value.code == "unknown_event"


@pytest.mark.parametrize(
    ("kind", "body"),
    [("LinkLost", {}), ("CardsRevealed", {"scope": "x", "positions": ["P1"], "cards": [3]})],
)
def test_a_body_that_we_did_not_write_is_an_invariant_broken(kind, body):
    with pytest.raises(InvariantError) as broken:
        from_body(kind, body, None)
    assert broken.value.code == "event_body"


@pytest.mark.parametrize(
    ("make", "event", "code"),
    [
        (MemoryTable, CARD, "no_shoe"),
        (in_play, replace(CARD, scope="T1-1-9"), "no_round"),
        (betting, replace(CARD, sealed=None), "sealed_card_missing"),
        (empty, replace(LOADED, game="baccarat"), "game_differs"),
        (settled, ANNOUNCED, "no_correction"),
    ],
)
def test_an_event_that_does_not_fit_the_state_is_an_invariant_broken(make, event, code):
    table = make()
    if code == "no_round":
        event = replace(event, position="P1")
    with pytest.raises(InvariantError) as broken:
        apply(table.game, table.state, event)
    assert broken.value.code == code
    assert "9S" not in broken.value.message


def test_a_card_that_left_the_shoe_cannot_leave_it_again():
    table = betting()
    table.do(table.fresh("9S"))
    drawn = table.log[-1]
    with pytest.raises(AssertionError):
        apply(table.game, table.state, drawn)


def test_what_outlives_a_shoe_goes_into_the_next_one():
    table = due()
    table.do(MarkLink(link="station", up=False))
    table.settle()
    table.do(TurnCutCard())
    assert table.state.stage is Stage.IN_PLAY
    before = table.state
    table.state = apply(table.game, before, CLOSED)
    loaded_again = replace(LOADED, links_lost=("station",), round_number=before.round_number)
    table.state = apply(table.game, table.state, loaded_again)
    assert table.state.links_lost == before.links_lost
    assert table.state.round_number == before.round_number
    assert table.state.epoch == before.epoch + 1


def test_the_book_is_kept_and_a_late_card_still_opens_the_hands():
    table = closed()
    assert table.state.phase is Phase.NO_MORE_BETS
    table.deal("AC")
    assert table.state.phase is Phase.REVEAL
    assert table.kinds(RevealNext()) == ["CardsRevealed"]


@pytest.mark.parametrize("fault", ["foreign_card", "doubled_card", "unneeded_card"])
def test_a_card_held_in_a_log_of_the_first_release_is_held_and_released(fault):
    table = betting()
    sealed = SEALED if fault == "unneeded_card" else None
    body = {"fault": fault, "scope": "T1-1", "commitment": "1" * 64 if sealed else None}
    before = table.state.shoe
    table.state = apply(table.game, table.state, from_body("CardHeld", body, sealed))
    assert instruction(table.game, table.state) == {"code": "held", "fault": fault}
    table.do(ReleaseHeld(by="Mori", reason="set aside"))
    assert table.state.fault is None
    assert table.state.shoe.burnt == before.burnt + (sealed is not None)


def test_a_table_that_went_on_in_a_log_of_the_first_release_names_no_choice():
    event = from_body("DealingResumed", {"by": "Mori", "reason": "why"}, None)
    assert event == DealingResumed(by="Mori", reason="why", choice=None)


def test_a_failed_read_in_a_log_of_the_first_release_keeps_its_reason():
    table = betting()
    body = {"reason": "not_in_shoe", "tries": 2, "position": "burn", "index": 0}
    table.state = apply(table.game, table.state, from_body("ReadFailed", body, None))
    assert (table.state.fault.reason, table.state.fault.tries) == ("not_in_shoe", 2)


def test_a_correction_of_a_log_without_approvals_is_read_as_approved_by_nobody():
    body = to_body(CORRECTED)
    del body["approved_by"]
    assert from_body("RoundCorrected", body, None).approved_by is None
