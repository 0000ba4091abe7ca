"""Every refusal of the table's rules, each with the state and the command that it answers."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from studio.domain import dealing, decide, guards, keying, proposing
from studio.domain.commands import (
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
    ReleaseHeld,
    Resume,
    RevealNext,
    StartVerification,
    Stop,
    TakeSeat,
    TurnCutCard,
    Unlock,
)
from studio.domain.correcting import Resettled
from studio.domain.errors import RefusedError
from studio.domain.events import RoundToCorrect
from tests.support.source import codes_raised
from tests.support.tables import (
    DUE_MS,
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
COUNT_OUT = CloseShoe(cards_left=413, by="Sato", early=False)
COUNT_OUT_EARLY = CloseShoe(cards_left=413, by="Mori", early=True)


def after(make: Callable[[], MemoryTable], *commands: Command) -> Callable[[], MemoryTable]:
    """Return the factory of a table at which these commands were carried out, too."""

    def build() -> MemoryTable:
        table = make()
        for command in commands:
            table.do(command)
        return table

    return build


def held(make: Callable[[], MemoryTable]) -> Callable[[], MemoryTable]:
    return after(make, see_foreign())


def stopped(make: Callable[[], MemoryTable]) -> Callable[[], MemoryTable]:
    return after(make, Stop(by="Sato"))


def locked(make: Callable[[], MemoryTable]) -> Callable[[], MemoryTable]:
    return after(make, Lock(reason="cleaning", by="Mori"))


def verifying() -> MemoryTable:
    return after(loaded, StartVerification())()


def verification_failed() -> MemoryTable:
    return after(
        verifying, EndVerification(manifest=MANIFEST), Unlock(reason="checked", by="Mori")
    )()


def last_round_done() -> MemoryTable:
    return after(in_play, TurnCutCard(), OPEN, void_command())()


def short() -> MemoryTable:
    table = in_play()
    assert table.state.shoe is not None
    # 404 burnt and dealt of 416: 12 are left, and a round needs 13.
    table.state = replace(table.state, shoe=replace(table.state.shoe, dealt=401))
    return table


def at_the_deadline(make: Callable[[], MemoryTable], offset_ms: int) -> Command:
    return close_command(make().deadline_ms + offset_ms)


def scanned_when_opened() -> MemoryTable:
    return after(lambda: shuffled(scan_at="reveal"), see(2), ConfirmBurn(), OPEN, ConfirmBurn())()


def proposed() -> MemoryTable:
    return after(settled, propose_command())()


def announced() -> MemoryTable:
    return after(proposed, approve_command())()


def begun() -> MemoryTable:
    rounds = tuple(
        RoundToCorrect(round_id=f"T1-1-{number}", epoch=1, number=number, version=2)
        for number in (1, 2)
    )
    return after(settled, propose_command(rounds=rounds), approve_command(), correct_command())()


def running_void_proposed() -> MemoryTable:
    return after(betting, propose_command(kind="void_running"))()


ANEW = Resettled(nets={}, reasons={}, marks=(), hands=())

REFUSALS: list[tuple[str, Callable[[], MemoryTable], Command]] = [
    ("seat_taken", empty, TakeSeat(dealer_id=8, name="Abe")),
    ("seat_not_yours", empty, LeaveSeat(dealer_id=8)),
    ("seat_not_yours", MemoryTable, LeaveSeat(dealer_id=7)),
    ("seat_free", MemoryTable, FreeSeat(reason="went home")),
    ("reason_missing", empty, FreeSeat(reason=" ")),
    ("round_running", betting, LeaveSeat(dealer_id=7)),
    ("round_running", betting, OPEN),
    ("round_running", due, OPEN),
    ("round_running", betting, COUNT_OUT_EARLY),
    ("reason_missing", empty, Lock(reason=" ", by="Mori")),
    ("reason_missing", locked(empty), Unlock(reason="", by="Mori")),
    ("reason_missing", stopped(empty), Resume(reason="\t", by="Mori")),
    ("reason_missing", betting, void_command(reason="")),
    ("reason_missing", held(betting), ReleaseHeld(reason=" ", by="Mori")),
    ("table_locked", locked(empty), Lock(reason="again", by="Mori")),
    ("table_locked", locked(empty), load_command()),
    ("table_locked", locked(loaded), shuffle_command()),
    ("table_locked", locked(in_play), OPEN),
    ("not_locked", empty, Unlock(reason="why", by="Mori")),
    ("not_stopped", empty, Resume(reason="why", by="Mori")),
    ("shoe_on_table", loaded, load_command()),
    ("shoe_on_table", settled, load_command()),
    ("deck_set_size", empty, load_command(decks=7)),
    ("deck_set_size", empty, load_command(manifest=dict(list(MANIFEST.items())[:411]))),
    ("deck_set_size", empty, load_command(manifest=MANIFEST | {417: 1})),
    ("deck_set_uneven", empty, load_command(manifest=MANIFEST | {1: 2})),
    ("wrong_stage", empty, StartVerification()),
    ("wrong_stage", shuffled, StartVerification()),
    ("wrong_stage", loaded, EndVerification(manifest=MANIFEST)),
    ("wrong_stage", empty, shuffle_command()),
    ("wrong_stage", verifying, shuffle_command()),
    ("wrong_stage", in_play, shuffle_command()),
    ("wrong_stage", loaded, TurnCutCard()),
    ("wrong_stage", last_round_done, TurnCutCard()),
    ("wrong_stage", shuffled, OPEN),
    ("wrong_stage", empty, COUNT_OUT_EARLY),
    ("wrong_stage", in_play, COUNT_OUT),
    ("verification_failed", verification_failed, shuffle_command()),
    ("cut_depth", loaded, shuffle_command(29)),
    ("cut_depth", loaded, shuffle_command(121)),
    ("last_round_done", last_round_done, OPEN),
    ("dealer_missing", after(in_play, LeaveSeat(dealer_id=7)), OPEN),
    ("link_lost", after(in_play, MarkLink(link="scanner", up=False)), OPEN),
    ("link_lost", after(in_play, MarkLink(link="station", up=False)), OPEN),
    ("link_lost", after(in_play, MarkLink(link="video", up=False)), OPEN),
    ("shoe_short", short, OPEN),
    ("betting_not_open", closed, close_command(9_999_999)),
    ("betting_not_open", due, close_command(9_999_999)),
    ("betting_window_running", betting, at_the_deadline(betting, -1)),
    ("betting_window_running", dealt, at_the_deadline(dealt, -WINDOW_MS)),
    ("no_round_running", in_play, close_command(9_999_999)),
    ("no_round_running", settled, void_command()),
    ("no_round_running", settled, settle_command()),
    ("no_round_running", in_play, RevealNext()),
    ("reveal_not_due", dealt, RevealNext()),
    ("reveal_not_due", closed, RevealNext()),
    ("reveal_not_due", due, RevealNext()),
    ("reveal_not_due", scanned_when_opened, RevealNext()),
    ("results_not_due", revealing, settle_command()),
    ("results_not_due", closed, settle_command()),
    ("round_not_settled", due, propose_command()),
    ("reason_missing", settled, propose_command(reason=" ")),
    ("reason_missing", proposed, drop_command(reason=" ")),
    ("correction_waits", proposed, propose_command()),
    ("correction_waits", after(proposed, COUNT_OUT_EARLY), load_command()),
    ("correction_waits", running_void_proposed, Resume(reason="why", by="Mori")),
    ("no_round_running", settled, propose_command(kind="void_running")),
    ("no_correction_waits", settled, approve_command()),
    ("no_correction_waits", proposed, approve_command(proposal="9")),
    ("no_correction_waits", proposed, drop_command(proposal="9")),
    ("no_correction_waits", after(announced, correct_command()), drop_command()),
    ("approval_not_due", announced, approve_command()),
    ("approval_not_due", after(settled, propose_command(needs_approval=False)), approve_command()),
    ("approval_by_same_person", proposed, approve_command(by_id=20)),
    ("approval_by_same_person", running_void_proposed, approve_command(by_id=20)),
    ("correction_not_due", settled, correct_command()),
    ("correction_not_due", proposed, correct_command()),
    ("correction_not_due", announced, correct_command(now_ms=DUE_MS - 1)),
    ("correction_not_due", announced, correct_command(version=3)),
    ("correction_not_due", announced, correct_command(round_id="T1-1-2")),
    ("correction_not_due", announced, correct_command(resettled=ANEW)),
    ("correction_begun", begun, drop_command()),
    ("no_card_held", betting, ReleaseHeld(reason="why", by="Mori")),
    ("keying_not_due", in_play, key(9)),
    ("keying_not_due", betting, key(9)),
    ("keying_not_due", after(betting, fail(), fail()), key(9)),
    ("keying_not_due", after(unread, see(9)), key(10)),
    ("code_unknown", unread, key(9, known=False)),
    ("code_unknown", keyed, replace(confirm_key(9), seen=see(9, known=False))),
    ("no_card_keyed", unread, confirm_key(9)),
    ("no_card_keyed", unread, DropKey(by="Mori", reason="why")),
    ("no_card_keyed", after(keyed, see(9)), confirm_key(9)),
    ("picture_missing", keyed, confirm_key(9, picture_seq=None)),
    ("picture_missing", keyed, confirm_key(9, picture_seq=6)),
    ("reason_missing", keyed, confirm_key(9, reason=" ")),
    ("reason_missing", keyed, DropKey(by="Mori", reason=" ")),
    ("burn_is_scanned", betting, ConfirmBurn()),
    ("burn_not_due", scanned_when_opened, ConfirmBurn()),
    ("card_held", held(in_play), OPEN),
    ("card_held", held(revealing), RevealNext()),
    ("card_held", held(loaded), shuffle_command()),
    ("card_held", held(loaded), StartVerification()),
    ("card_held", held(last_round_done), COUNT_OUT),
    ("card_held", held(in_play), COUNT_OUT_EARLY),
    ("card_held", held(shuffled), ConfirmBurn()),
    ("card_held", held(keyed), confirm_key(9)),
    ("dealing_stopped", stopped(unread), key(9)),
    ("dealing_stopped", stopped(empty), load_command()),
    ("dealing_stopped", stopped(loaded), StartVerification()),
    ("dealing_stopped", stopped(verifying), EndVerification(manifest=MANIFEST)),
    ("dealing_stopped", stopped(loaded), shuffle_command()),
    ("dealing_stopped", stopped(in_play), OPEN),
    ("dealing_stopped", stopped(revealing), RevealNext()),
    ("dealing_stopped", stopped(due), settle_command()),
    ("dealing_stopped", stopped(last_round_done), COUNT_OUT),
    ("dealing_stopped", stopped(shuffled), ConfirmBurn()),
]


@pytest.mark.parametrize(
    ("code", "make", "command"),
    REFUSALS,
    ids=[f"{code}-{type(command).__name__}-{n}" for n, (code, _, command) in enumerate(REFUSALS)],
)
def test_a_refused_command_names_its_rule_and_changes_nothing(code, make, command):
    table = make()
    before, length = table.state, len(table.log)
    with pytest.raises(RefusedError) as refusal:
        table.do(command)
    assert refusal.value.code == code
    assert refusal.value.message
    assert (table.state, len(table.log)) == (before, length)
    assert not decide.can(table.game, table.state, command)


def test_every_refusal_has_a_row():
    assert codes_raised([decide, dealing, guards, keying, proposing], error="RefusedError") == {
        code for code, _, _ in REFUSALS
    }


@pytest.mark.parametrize("offset_ms", [0, 1, 60_000])
def test_the_window_closes_at_its_deadline_and_after(offset_ms):
    table = betting()
    assert table.kinds(close_command(table.deadline_ms + offset_ms)) == ["BettingClosed"]


@pytest.mark.parametrize("depth", [30, 31, 119, 120])
def test_the_cut_card_lies_within_its_limits(depth):
    assert loaded().kinds(shuffle_command(depth)) == ["ShoeShuffled"]


def test_a_round_opens_on_exactly_the_cards_it_may_need():
    table = short()
    assert table.state.shoe is not None
    table.state = replace(table.state, shoe=replace(table.state.shoe, dealt=400))
    assert table.kinds(OPEN) == ["RoundOpened"]
