"""A card that two people key in: what counts, what ends an entry, and that nothing tells it."""

from dataclasses import replace

import pytest

from studio.domain.commands import ReleaseHeld, StartVerification, Stop
from studio.domain.errors import InvariantError
from studio.domain.events import CardKeyed, KeyConfirmed, KeyDropped
from studio.domain.log import canonical
from studio.domain.view import instruction, table_view
from tests.support.tables import HANDS as FACES
from tests.support.tables import (
    TRIES_MAX,
    MemoryTable,
    apply,
    betting,
    confirm_key,
    empty,
    fail,
    key,
    keyed,
    loaded,
    see,
    see_foreign,
    shuffled,
    unread,
    void_command,
)


def failing(table: MemoryTable) -> MemoryTable:
    for _ in range(TRIES_MAX):
        table.do(fail())
    return table


def test_a_card_keyed_by_two_people_is_the_card_that_a_read_gives():
    read, typed = betting(), keyed()
    read.do(see(9))
    confirmed, drawn = typed.do(confirm_key(9))
    assert confirmed == KeyConfirmed(
        position="burn", index=0, dealer="Sato", by="Mori", reason="code torn", picture=7
    )
    assert drawn == read.log[-1]
    assert typed.state.fault is None
    assert typed.state.round == read.state.round


def test_two_entries_that_differ_count_for_nothing_and_are_both_made_anew():
    table = keyed()
    (dropped,) = table.do(confirm_key(10))
    assert (dropped.why, dropped.dealer, dropped.by) == ("differs", "Sato", "Mori")
    assert table.state.round.drawn == ()
    assert table_view(table.game, table.state)["fault"]["key"] == "differs"
    table.do(key(10))
    assert table.kinds(confirm_key(10)) == ["KeyConfirmed", "CardDrawn"]


def test_the_same_face_of_another_copy_is_another_card():
    table = keyed()
    assert table.kinds(confirm_key(9 + 52)) == ["KeyDropped"]


def test_an_entry_waits_through_further_tries_until_the_camera_reads_after_all():
    table = keyed()
    table.do(fail())
    assert table.state.fault.keyed is not None
    assert table.kinds(see(11)) == ["CardDrawn"], "what the camera reads is the card"
    assert table.state.fault is None


def test_the_dealer_may_key_again_and_the_later_entry_counts():
    table = keyed()
    table.do(key(10))
    assert table.kinds(confirm_key(10)) == ["KeyConfirmed", "CardDrawn"]


@pytest.mark.parametrize("ending", [void_command(), see_foreign()], ids=["void", "held"])
def test_an_entry_ends_with_its_round_and_when_another_card_is_held(ending):
    table = keyed()
    table.do(ending)
    assert table.state.fault is None or table.state.fault.keyed is None


def test_a_keyed_card_that_has_left_the_shoe_is_held_like_a_read_one():
    table = betting()
    table.deal("9S", "9H")
    failing(table)
    table.do(key(9))
    _, held = table.do(confirm_key(9))
    assert held.fault == "doubled_card"
    assert table.state.fault.held
    table.do(ReleaseHeld(by="Mori", reason="looked at"))
    assert len(table.state.round.drawn) == 2


def test_a_picture_counts_from_the_first_failed_read_of_its_card():
    table = betting()
    first = table.state.seq + 1
    failing(table)
    table.do(key(9))
    assert table.state.fault.since == first
    assert table.kinds(confirm_key(9, picture_seq=first)) == ["KeyConfirmed", "CardDrawn"]


def test_the_next_cards_failed_read_is_told_from_its_own_beginning():
    table = unread()
    table.deal("9S")
    begun = table.state.seq + 1
    failing(table)
    assert table.state.fault.since == begun
    assert table.state.fault.keyed is None


@pytest.mark.parametrize("place", ["first", "verify"])
def test_a_card_outside_a_round_is_keyed_too(place):
    table = shuffled() if place == "first" else loaded()
    if place == "verify":
        table.do(StartVerification())
    failing(table)
    (event,) = table.do(key(9))
    assert (event.position, event.index) == (place, 0)
    kind = "FirstCardTurned" if place == "first" else "CardVerified"
    assert table.kinds(confirm_key(9)) == ["KeyConfirmed", kind]


def test_a_stop_keeps_the_entry():
    table = keyed()
    table.do(Stop(by="Sato"))
    assert table.state.fault.keyed is not None


def test_the_screens_learn_that_an_entry_waits_and_nothing_of_the_card():
    table = keyed()
    view = table_view(table.game, table.state)
    assert view["fault"]["key"] == "waiting"
    assert instruction(table.game, table.state)["code"] == "key_waits"
    told = canonical(view) + repr(table.log[-1]) + repr(table.state.fault)
    sealed = table.state.fault.keyed.card
    assert sealed.card == "9S"
    for secret in ("9S", sealed.nonce, see(9).code.digits):
        assert secret not in told
    assert not {"9S", *FACES} & set(canonical(view).split('"'))


def test_an_entry_replays_from_the_public_log_alone():
    table = unread()
    public = CardKeyed(position="burn", index=0, by="Sato")
    table.state = apply(table.game, table.state, public)
    assert table.state.fault.keyed.card is None
    assert table_view(table.game, table.state)["fault"]["key"] == "waiting"


def test_an_entry_without_a_failed_read_is_an_invariant_broken():
    table = empty()
    dropped = KeyDropped(
        position="burn", index=0, why="differs", dealer="Sato", by="Mori", reason="x", picture=1
    )
    for event in (CardKeyed(position="burn", index=0, by="Sato"), replace(dropped)):
        with pytest.raises(InvariantError) as broken:
            apply(table.game, table.state, event)
        assert broken.value.code == "no_fault"
