"""The choices of each trouble: which are open where, and that an open one can be carried out."""

from collections.abc import Callable

import pytest

from studio.domain.commands import (
    CallPit,
    CloseShoe,
    Command,
    Lock,
    ReleaseHeld,
    Resume,
    RevealNext,
    Stop,
    TurnCutCard,
)
from studio.domain.decide import can
from studio.domain.event_parts import Held
from studio.domain.events import CorrectionKind, RoundToCorrect
from studio.domain.procedures import WAYS, Situation, Way, WhyNot, choices, seen
from studio.domain.table import TableState
from tests.support.tables import (
    MemoryTable,
    betting,
    closed,
    confirm_key,
    dealt,
    due,
    empty,
    fail,
    in_play,
    keyed,
    loaded,
    propose_command,
    revealing,
    see,
    see_foreign,
    settled,
    shuffled,
    unread,
    void_command,
)

STOP = Stop(by="Sato")


def after(make: Callable[[], MemoryTable], *commands: Command) -> Callable[[], MemoryTable]:
    def build() -> MemoryTable:
        table = make()
        for command in commands:
            table.do(command)
        return table

    return build


def unneeded(make: Callable[[], MemoryTable] = in_play) -> Callable[[], MemoryTable]:
    def build() -> MemoryTable:
        table = make()
        table.do(table.fresh("JC"))
        return table

    return build


def doubled() -> MemoryTable:
    return after(betting, see(9), see(10), see(9))()


def void_waits() -> MemoryTable:
    table = dealt()
    current = table.state.round
    assert current is not None
    one = RoundToCorrect(round_id=current.id, epoch=1, number=current.number, version=1)
    table.do(propose_command(kind=CorrectionKind.VOID_RUNNING.value, rounds=(one,)))
    return table


TWO_CARDS = after(betting, *[fail("two_cards")] * 3)
OPENING = after(shuffled, see(2), STOP)
FIRST_OPEN = after(revealing, RevealNext(), STOP)

OFFERED: list[tuple[Callable[[], MemoryTable], Situation, dict[Way, WhyNot | None]]] = [
    (unneeded(), Situation.UNNEEDED_CARD, {Way.BURN_IT: None, Way.VOID: WhyNot.NO_ROUND}),
    (unneeded(dealt), Situation.UNNEEDED_CARD, {Way.BURN_IT: None, Way.VOID: None}),
    (betting, Situation.UNNEEDED_CARD, {Way.BURN_IT: WhyNot.NOTHING_HELD, Way.VOID: None}),
    (TWO_CARDS, Situation.TWO_CARDS, {Way.FIRST_THEN_SECOND: None, Way.VOID: None}),
    (
        unneeded(dealt),
        Situation.TWO_CARDS,
        {Way.FIRST_THEN_SECOND: WhyNot.SECOND_IS_BURNT, Way.VOID: None},
    ),
    (
        betting,
        Situation.TWO_CARDS,
        {Way.FIRST_THEN_SECOND: WhyNot.NOTHING_WAITS, Way.VOID: None},
    ),
    (after(dealt, STOP), Situation.POSITION_SKIPPED, {Way.RE_LAY: None, Way.VOID: None}),
    (
        after(in_play, STOP),
        Situation.POSITION_SKIPPED,
        {Way.RE_LAY: WhyNot.NO_ROUND, Way.VOID: WhyNot.NO_ROUND},
    ),
    (
        after(dealt, STOP),
        Situation.CARD_EXPOSED,
        {Way.GO_ON: WhyNot.BETS_OPEN, Way.VOID: None},
    ),
    (after(closed, STOP), Situation.CARD_EXPOSED, {Way.GO_ON: None, Way.VOID: None}),
    (after(revealing, STOP), Situation.BURN_FORGOTTEN, {Way.RE_LAY: None, Way.VOID: None}),
    (FIRST_OPEN, Situation.BURN_FORGOTTEN, {Way.RE_LAY: WhyNot.HAND_OPEN, Way.VOID: None}),
    (FIRST_OPEN, Situation.POSITION_SKIPPED, {Way.RE_LAY: None, Way.VOID: None}),
    (
        unneeded(),
        Situation.BURN_COUNT_WRONG,
        {Way.BURN_IT: None, Way.GO_ON: WhyNot.BURN_IS_OVER, Way.SHOE_OUT: WhyNot.CARD_HELD},
    ),
    (
        OPENING,
        Situation.BURN_COUNT_WRONG,
        {
            Way.BURN_IT: WhyNot.NOTHING_HELD,
            Way.GO_ON: None,
            Way.SHOE_OUT: WhyNot.SHOE_NOT_IN_PLAY,
        },
    ),
    (
        betting,
        Situation.BURN_COUNT_WRONG,
        {
            Way.BURN_IT: WhyNot.NOTHING_HELD,
            Way.GO_ON: WhyNot.BURN_IS_OVER,
            Way.SHOE_OUT: None,
        },
    ),
    (
        after(betting, TurnCutCard()),
        Situation.BURN_COUNT_WRONG,
        {
            Way.BURN_IT: WhyNot.NOTHING_HELD,
            Way.GO_ON: WhyNot.BURN_IS_OVER,
            Way.SHOE_OUT: WhyNot.LAST_ALREADY,
        },
    ),
    (
        doubled,
        Situation.CARD_DOUBLED,
        {Way.SET_ASIDE: None, Way.VOID: None, Way.SHOE_OUT: None},
    ),
    (
        after(settled, see_foreign()),
        Situation.FOREIGN_CARD,
        {Way.SET_ASIDE: None, Way.VOID: WhyNot.NO_ROUND, Way.SHOE_OUT: WhyNot.CARD_HELD},
    ),
    (unneeded(dealt), Situation.OUT_OF_TURN, {Way.BURN_IT: None, Way.VOID: None}),
    (
        unread,
        Situation.CARD_UNREADABLE,
        {Way.CONFIRM_KEY: WhyNot.NOT_KEYED, Way.TRY_AGAIN: None, Way.VOID: None},
    ),
    (
        keyed,
        Situation.CARD_UNREADABLE,
        {Way.CONFIRM_KEY: None, Way.TRY_AGAIN: None, Way.VOID: None},
    ),
    (
        after(keyed, STOP),
        Situation.CARD_UNREADABLE,
        {Way.CONFIRM_KEY: WhyNot.STOPPED, Way.TRY_AGAIN: None, Way.VOID: None},
    ),
    (
        void_waits,
        Situation.POSITION_SKIPPED,
        {Way.RE_LAY: WhyNot.CORRECTION_WAITS, Way.VOID: WhyNot.CORRECTION_WAITS},
    ),
]


@pytest.mark.parametrize(
    ("make", "situation", "expected"),
    OFFERED,
    ids=[f"{situation}-{n}" for n, (_, situation, _) in enumerate(OFFERED)],
)
def test_each_way_is_open_or_says_why_not(make, situation, expected):
    table = make()
    assert {one.way: one.why_not for one in choices(table.state, situation)} == expected


def test_every_situation_way_and_reason_has_a_row():
    assert {situation for _, situation, _ in OFFERED} == set(Situation) == set(WAYS)
    assert {way for ways in WAYS.values() for way in ways} == set(Way)
    assert {why for _, _, ways in OFFERED for why in ways.values()} == {*WhyNot, None}


def carried_out(state: TableState, name: str) -> Command:
    """Return the command of this name as a supervisor gives it."""
    return {
        "release_held": ReleaseHeld(by="Mori", reason="why"),
        "resume": Resume(by="Mori", reason="why"),
        "void_round": void_command(),
        "confirm_key": confirm_key(9),
        "lock": Lock(by="Mori", reason="why"),
        "close_shoe": CloseShoe(
            cards_left=state.shoe.in_shoe if state.shoe else 0, by="Mori", early=True
        ),
    }[name]


STATES = [
    void_waits,
    MemoryTable,
    empty,
    loaded,
    shuffled,
    in_play,
    betting,
    unread,
    keyed,
    dealt,
    closed,
    revealing,
    due,
    settled,
    doubled,
    TWO_CARDS,
    *(unneeded(make) for make in (in_play, dealt, revealing, due, settled)),
    *(after(make, see_foreign()) for make in (shuffled, in_play, betting, settled)),
]


@pytest.mark.parametrize("make", STATES)
@pytest.mark.parametrize(
    "also", [(), (STOP,), (CallPit(by="Sato"),), (Lock(by="Mori", reason="why"),)]
)
def test_what_is_offered_can_be_carried_out(make, also):
    table = after(make, *also)()
    offered = [
        (situation, one)
        for situation in Situation
        for one in choices(table.state, situation)
        if one.why_not is None
    ]
    for situation, one in offered:
        assert can(table.game, table.state, carried_out(table.state, one.command)), (situation, one)


@pytest.mark.parametrize(
    ("make", "situation"),
    [
        (betting, None),
        (unneeded(), Situation.UNNEEDED_CARD),
        (doubled, Situation.CARD_DOUBLED),
        (after(betting, see_foreign()), Situation.FOREIGN_CARD),
        (TWO_CARDS, Situation.TWO_CARDS),
        (unread, Situation.CARD_UNREADABLE),
        (after(betting, STOP), None),
    ],
)
def test_the_log_shows_some_situations_by_itself(make, situation):
    assert seen(make().state) is situation


def test_every_held_card_is_a_situation():
    table = unneeded()()
    for held in Held:
        body = table.state.fault.__class__(code=held, reason=held, held=True)
        state = table.state.__class__(table="T1", fault=body)
        assert seen(state) in set(Situation)
