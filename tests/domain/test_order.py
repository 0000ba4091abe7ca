"""A shoe that was not shuffled, or comes out as one before it, stops the table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.cards import ALL_CARDS, ALL_TILES
from studio.domain.commands import Resume
from studio.domain.order import repeated, runs
from tests.support.tables import in_play, see, shuffled

RUN = 10


@pytest.mark.parametrize("pieces", [ALL_CARDS, ALL_TILES], ids=["cards", "tiles"])
@pytest.mark.parametrize("step", [1, -1], ids=["up", "down"])
@pytest.mark.parametrize("start", [0, 20, 48])
def test_pieces_as_printed_are_found_in_either_direction(pieces, step, start):
    faces = [pieces[(start + step * place) % len(pieces)].code for place in range(RUN)]
    assert repeated(faces, length=RUN, earlier=())
    assert not repeated(faces[:-1], length=RUN, earlier=()), "one card short of the run"
    swapped = [*faces[:4], faces[5], faces[4], *faces[6:]]
    assert not repeated(swapped, length=RUN, earlier=())


@given(st.permutations([card.code for card in ALL_CARDS]), st.integers(0, 52 - RUN))
def test_any_run_of_an_earlier_shoe_is_found(order, start):
    earlier = (runs(order, RUN),)
    assert repeated(order[start : start + RUN], length=RUN, earlier=earlier)
    assert not repeated(order[start : start + RUN - 1], length=RUN, earlier=earlier)


@pytest.mark.parametrize("length", [0, 1])
def test_no_run_is_no_order(length):
    assert not repeated(["AS", "2S"], length=length, earlier=(frozenset({("2S",)}),))


def _watched(serial, *, earlier=()):
    command = see(serial)
    return type(command)(
        code=command.code, known=True, nonce=command.nonce, order_run=RUN, earlier=earlier
    )


def test_an_unshuffled_shoe_stops_the_table_within_the_run_and_once():
    table = shuffled()
    kinds = []
    for serial in range(10, 10 + RUN):  # first card ten of spades: ten burns follow
        kinds.append([type(event).__name__ for event in table.do(_watched(serial))])
    assert kinds[:-1] == [["FirstCardTurned"]] + [["CardDrawn"]] * (RUN - 2)
    assert kinds[-1] == ["CardDrawn", "DealingStopped"]
    assert table.state.stopped
    assert table.do(_watched(20)) == (), "a stopped table takes no card"
    table.do(Resume(by="Mori", reason="shoe looked at"))
    assert [type(event).__name__ for event in table.do(_watched(20))] == ["CardDrawn"]
    assert not table.state.stopped


def test_the_log_does_not_tell_which_order_was_found():
    table = shuffled()
    for serial in range(10, 10 + RUN):
        table.do(_watched(serial))
    stopped = table.log[-1]
    assert (type(stopped).__name__, stopped.by) == ("DealingStopped", "studio")


def test_a_shuffled_shoe_is_left_alone():
    table = in_play()
    assert table.do(_watched(100, earlier=(runs(["AS"] * 20, RUN),)))[0] is not None
    assert not table.state.stopped
