"""Tallies and purses after a correction: as if the round had come out like that at first."""

import pytest
from sqlalchemy import delete, update

from studio.services.club import ClubService
from studio.services.club_data import ClubData, Item, ItemKind, Medal, Tally
from studio.store.club_tables import tallied_round, tally
from studio.store.engine import write_transaction
from tests.support.floor import HANDS, PIT
from tests.support.playfloor import AYA, BEN, PURSE_MINOR, PlayFloor

PAIR = "hit.pok_deng.pair"
DATA = ClubData(
    medals=(
        Medal(code="first_win", tally=Tally.WINS, at_least=1),
        Medal(code="two_in_a_row", tally=Tally.WINS_IN_A_ROW, at_least=2),
        Medal(code="second_chance", tally=Tally.REFILLS, at_least=1),
    ),
    items=tuple(Item(code=f"plain_{kind}", kind=kind, price_minor=0) for kind in ItemKind),
)
CARDS = ("3S", *HANDS)
"""The burnt card of a round and its hands: P1 loses, P5 is a pair."""
OTHERS = ("4S", "2H", "3C", "4C", "5C", "6H", "9D", "2C", "3D", "4D", "6D", "7D", "TH")
"""P1 loses again."""
EXCHANGED = {"P1/0": "8C", "P1/1": "AC", "B/0": "4H", "B/1": "7S"}
"""The hands of P1 and the banker exchanged: P1 wins against 1 instead of losing against 9."""
NO_PAIR = {"P5/0": "TD"}
"""P5 is none then."""


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def play(request):
    engine = request.getfixturevalue(f"{request.param}_engine")
    club = ClubService(
        units=PlayFloor(engine=engine).units, data=DATA, publisher=None, least_minor=100
    )
    made = PlayFloor(engine=engine, club=club)
    made.furnish()
    made.to_play()
    return made


def a_round(play, bet="p1", *, player=AYA, stake_minor=500, cards=CARDS):
    """Play a round with one wager; return its id."""
    play.command("start_round")
    play.bet(bet, stake_minor, player=player)
    play.show(*cards)
    play.close()
    play.finish()
    return play.round_id


def correct(play, cards, *, version=1, round_id=None):
    wanted = {"round_id": round_id or play.round_id, "version": version, "reason": "misread"}
    if cards is None:
        play.command("void_settled", PIT, **wanted)
    else:
        play.command("correct_round", PIT, cards=cards, **wanted)
    play.publisher.wallets.clear()
    play.carry_out()


def tallies(play, player=AYA):
    with play.units.read() as unit:
        return {name: value for name, value in unit.club.tallies(player.id).items() if value}


def medals(play, player=AYA):
    with play.units.read() as unit:
        return set(unit.club.medals(player.id))


def test_a_loss_that_was_a_win_is_counted_as_one_and_brings_its_medal(play):
    a_round(play)
    assert tallies(play) == {"rounds": 1, "losses": 1}
    correct(play, EXCHANGED)
    won_minor = play.money(AYA)[0] - PURSE_MINOR
    assert tallies(play) == {
        "rounds": 1,
        "wins": 1,
        "wins_in_a_row": 1,
        "won_minor_max": won_minor,
        "hit.pok_deng.main": 1,
    }
    player_id, message = play.publisher.wallets[-1]
    assert (player_id, message["reason"], message["medals"]) == (
        AYA.id,
        "corrected",
        ["first_win"],
    )
    assert play.faults() == []


def test_a_round_annulled_afterwards_never_was_and_its_medal_stays(play):
    a_round(play, "p5_pair")
    assert tallies(play)[PAIR] == 1
    correct(play, None)
    assert tallies(play) == {}
    assert medals(play) == {"first_win"}
    assert play.faults() == []


def test_a_round_annulled_and_settled_after_all_counts_again_once(play):
    a_round(play, "p5_pair")
    before = tallies(play)
    correct(play, None)
    correct(play, {}, version=2)
    assert tallies(play) == before
    assert play.faults() == []


def test_a_hit_that_was_none_is_taken_back(play):
    a_round(play, "p5_pair")
    correct(play, NO_PAIR)
    assert tallies(play) == {"rounds": 1, "losses": 1}


def test_a_row_of_wins_and_the_best_round_are_those_of_all_rounds_that_count(play):
    first = a_round(play, "p5_pair", stake_minor=700)
    a_round(play, cards=OTHERS)
    assert tallies(play) == {
        "rounds": 2,
        "wins": 1,
        "losses": 1,
        "won_minor_max": 11 * 700,
        PAIR: 1,
    }
    correct(play, None)
    assert tallies(play)["wins_in_a_row"] == 1
    correct(play, None, round_id=first)
    assert tallies(play) == {}
    correct(play, {}, version=2, round_id=first)
    assert tallies(play)["won_minor_max"] == 11 * 700


def test_a_round_of_a_shoe_before_is_counted_anew_too(play):
    first = a_round(play, "p5_pair")
    while play.state().epoch == 1:
        play.step()
    correct(play, NO_PAIR, round_id=first)
    assert tallies(play) == {"rounds": 1, "losses": 1}
    assert play.faults() == []


def test_others_keep_their_tallies(play):
    play.command("start_round")
    play.bet("p1", player=AYA)
    play.bet("p5_pair", player=BEN)
    play.show(*CARDS)
    play.close()
    play.finish()
    before = tallies(play, BEN)
    correct(play, EXCHANGED)
    assert tallies(play, BEN) == before


def test_a_round_that_is_not_counted_is_not_counted_by_its_correction(play):
    a_round(play)
    with write_transaction(play.engine) as connection:
        connection.execute(delete(tallied_round))
        connection.execute(delete(tally))
    correct(play, EXCHANGED)
    assert tallies(play) == {}
    assert medals(play) == set()


def test_a_purse_that_a_correction_emptied_is_filled_up(play):
    a_round(play, "p5_pair")
    with play.units.write() as unit:
        spent_minor = unit.ledger.balance(AYA.id).balance_minor
        unit.ledger.cash(
            id="00000000-0000-4000-8000-000000000001",
            player_id=AYA.id,
            amount_minor=-spent_minor,
            reason="test",
            by=1,
        )
        unit.commit()
    correct(play, NO_PAIR)
    assert play.money(AYA) == (PURSE_MINOR, 0)
    assert tallies(play)["refills"] == 1
    _, message = play.publisher.wallets[-1]
    assert message["refilled"]
    assert message["balance_minor"] == PURSE_MINOR
    assert message["owed_minor"] > 0
    assert message["medals"] == ["second_chance"]
    assert play.faults() == []


@pytest.mark.parametrize("name", ["rounds", "wins", "losses", "won_minor_max", PAIR])
def test_a_tally_that_its_rounds_do_not_come_to_is_named(play, name):
    a_round(play, "p5_pair")
    a_round(play, cards=OTHERS)
    with write_transaction(play.engine) as connection:
        connection.execute(update(tally).where(tally.c.name == name).values(value=99))
    assert [(fault.code, fault.where) for fault in play.faults()] == [
        ("tally_differs", f"player {AYA.id}")
    ]
