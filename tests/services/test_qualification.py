"""A dealer opens only tables of the games the dealer is qualified for; a deck set lies on one."""

import threading
import uuid
from dataclasses import replace

import pytest
from sqlalchemy import delete, insert

from studio.domain.errors import RefusedError
from studio.domain.round import Phase
from studio.services import qualification
from studio.services.ports import Role
from studio.services.setup import BetLimits
from studio.services.table_commands import COMMANDS
from studio.store.people_tables import qualification as rows
from tests.support.floor import DEALER, HANDS, OTHER_DEALER, PIT, Floor, setup_of
from tests.support.source import codes_raised

OPENING = {"take_seat": {}, "load_shoe": {"deck_set": 1}, "start_round": {}}
LIMITS = BetLimits(min_minor=100, max_minor=5_000)


def withdraw(floor, dealer=DEALER):
    """Take every qualification away, as an administrator does: in a transaction of its own."""
    with floor.units.write() as unit:
        unit.connection.execute(delete(rows).where(rows.c.person_id == dealer.id))
        unit.commit()


def qualify(floor, game, dealer=DEALER):
    with floor.units.write() as unit:
        unit.connection.execute(insert(rows), {"person_id": dealer.id, "game": game})
        unit.commit()


def refused(floor, name, *, table="T1", actor=DEALER, **args):
    """Give a command that is refused; return the refusal, having seen that nothing changed."""
    before = floor.state(table)
    with pytest.raises(RefusedError) as refusal:
        floor.command(name, actor, table=table, **args)
    assert floor.state(table) == before
    return refusal.value


def two_games(floor):
    """Return the floor with a second table, of another game."""
    other = setup_of(
        "T2", game="baccarat", limits=dict.fromkeys(("player", "banker", "tie"), LIMITS)
    )
    return replace(floor, setups=dict(floor.setups) | {"T2": other})


def before_opening(floor, name):
    """Bring the table to where the command would be carried out."""
    if name == "load_shoe":
        floor.command("take_seat")
    elif name == "start_round":
        floor.to_play()


# Qualified or not -------------------------------------------------------------------------------


def test_these_commands_open_something():
    assert {name for name, spec in COMMANDS.items() if spec.opens} == set(OPENING)
    assert all(COMMANDS[name].roles == {Role.DEALER} for name in OPENING)


def test_the_refusal_of_the_qualification_is_tested():
    assert codes_raised([qualification], error="RefusedError") == {"dealer_not_qualified"}


@pytest.mark.parametrize("name", OPENING)
def test_who_is_not_qualified_opens_nothing_and_who_is_again_does(both, name):
    before_opening(both, name)
    withdraw(both)
    refusal = refused(both, name, **OPENING[name])
    assert refusal.code == "dealer_not_qualified"
    assert refusal.details == {"game": "pok_deng"}
    assert "pok_deng" in refusal.message
    assert "supervisor" in refusal.message
    assert "administrator" in refusal.message
    qualify(both, "pok_deng")
    both.command(name, **OPENING[name])


def test_a_dealer_of_one_game_can_not_open_the_other(both):
    floor = two_games(both)
    refusal = refused(floor, "take_seat", table="T2")
    assert (refusal.code, refusal.details["game"]) == ("dealer_not_qualified", "baccarat")
    floor.command("take_seat")
    withdraw(floor, OTHER_DEALER)
    qualify(floor, "baccarat", OTHER_DEALER)
    assert refused(floor, "take_seat", actor=OTHER_DEALER).details["game"] == "pok_deng"
    floor.command("take_seat", OTHER_DEALER, table="T2")
    floor.command("load_shoe", OTHER_DEALER, table="T2", deck_set=1)


def test_a_round_that_runs_is_played_to_its_end_and_no_other_begins(both):
    both.to_betting()
    both.bet("p1")
    withdraw(both)
    both.show("3S", *HANDS)
    both.close()
    both.finish()
    assert both.state().phase is Phase.SETTLED
    assert refused(both, "start_round").code == "dealer_not_qualified"
    both.command("leave_seat")
    assert refused(both, "take_seat").code == "dealer_not_qualified"
    both.command("take_seat", OTHER_DEALER)
    both.command("start_round", OTHER_DEALER)


def test_the_pit_hears_of_each_dealer_and_table_once_until_it_is_taken(both):
    withdraw(both)
    withdraw(both, OTHER_DEALER)
    tries = [("T1", DEALER), ("T1", OTHER_DEALER), ("T2", DEALER), ("T1", DEALER)]
    for table, dealer in tries:
        refused(both, "take_seat", table=table, actor=dealer)
    alarms = both.tables.pit(both.links)["alarms"]
    assert sorted((one["table"], one["details"]["name"]) for one in alarms) == [
        ("T1", "Abe"),
        ("T1", "Sato"),
        ("T2", "Sato"),
    ]
    assert both.publisher.hints.count({"kind": "alarm", "table": "T1"}) == 2
    of_sato = next(one for one in alarms if one["details"]["name"] == "Sato")
    both.tables.acknowledge(PIT, of_sato["id"])
    left = both.tables.pit(both.links)["alarms"]
    assert [one["id"] for one in left] == [one["id"] for one in alarms if one != of_sato]
    refused(both, "take_seat", table=of_sato["table"])
    assert len(both.tables.pit(both.links)["alarms"]) == 3, "another try after it was taken"


@pytest.mark.parametrize("name", ["load_shoe", "start_round"])
def test_the_pit_hears_of_a_dealer_whose_qualification_is_gone(both, name):
    before_opening(both, name)
    withdraw(both)
    refused(both, name, **OPENING[name])
    assert [one["code"] for one in both.tables.pit(both.links)["alarms"]] == [
        "dealer_not_qualified"
    ]


def test_a_retry_is_answered_although_the_qualification_is_gone(floor):
    id = str(uuid.uuid4())
    first = floor.command("take_seat", id=id)
    withdraw(floor)
    assert floor.command("take_seat", id=id) == first


def test_a_shoe_that_is_being_opened_may_be_closed_without_the_qualification(floor):
    floor.to_play()
    withdraw(floor)
    floor.command("close_shoe", PIT, cards_left=floor.state().shoe.in_shoe)
    assert floor.state().shoe is None


# Deck sets --------------------------------------------------------------------------------------


def load_at_both(floor):
    """Seat a dealer at each table and load set 1 at the first."""
    floor.command("take_seat")
    floor.command("take_seat", OTHER_DEALER, table="T2")
    floor.command("load_shoe", deck_set=1)


@pytest.mark.parametrize("restart", [False, True], ids=["same process", "after a restart"])
def test_a_deck_set_on_one_table_is_not_loaded_at_another(both, restart):
    load_at_both(both)
    floor = both.restarted() if restart else both
    refusal = refused(floor, "load_shoe", table="T2", actor=OTHER_DEALER, deck_set=1)
    assert refusal.code == "deck_set_in_use"
    assert refusal.details == {"deck_set": 1, "table": "T1"}
    assert "T1" in refusal.message
    floor.command("load_shoe", OTHER_DEALER, table="T2", deck_set=2)


def test_a_deck_set_stays_taken_through_the_whole_shoe_and_is_free_when_it_is_closed(both):
    load_at_both(both)
    both.command("confirm_shuffle", cut_depth=20)
    both.show("2S", "KS", "KH")
    both.command("start_round")
    both.command("void_round", PIT, reason="misdeal")
    again = {"table": "T2", "actor": OTHER_DEALER, "deck_set": 1}
    assert refused(both, "load_shoe", **again).code == "deck_set_in_use"
    both.command("close_shoe", PIT, cards_left=both.state().shoe.in_shoe)
    both.command("leave_seat")
    both.command("load_shoe", OTHER_DEALER, table="T2", deck_set=1)
    both.command("take_seat")
    assert refused(both, "load_shoe", deck_set=1).details["table"] == "T2"


def test_the_same_set_goes_back_to_its_own_table(both):
    load_at_both(both)
    assert refused(both, "load_shoe", deck_set=1).code == "shoe_on_table"
    both.command("close_shoe", PIT, cards_left=52)
    both.command("load_shoe", deck_set=1)


def test_a_table_that_is_gone_from_the_settings_keeps_no_deck_set(both):
    load_at_both(both)
    left = replace(both, setups={"T2": both.setups["T2"]})
    left.command("load_shoe", OTHER_DEALER, table="T2", deck_set=1)


def test_a_set_is_found_although_it_no_longer_belongs_to_the_table_it_lies_on(both):
    load_at_both(both)
    setups = dict(both.setups) | {"T1": replace(both.setups["T1"], deck_sets=(2,))}
    floor = replace(both, setups=setups)
    refusal = refused(floor, "load_shoe", table="T2", actor=OTHER_DEALER, deck_set=1)
    assert refusal.details["table"] == "T1"


def test_of_two_tables_that_load_a_set_in_the_same_instant_one_gets_it(both):
    dealers = {"T1": DEALER, "T2": OTHER_DEALER}
    for table, dealer in dealers.items():
        both.command("take_seat", dealer, table=table)
    for _ in range(5):
        together = threading.Barrier(2)
        said = {}

        def load(floor: Floor, table: str, together=together, said=said) -> None:
            together.wait()
            try:
                floor.command("load_shoe", dealers[table], table=table, deck_set=1)
            except RefusedError as refusal:
                said[table] = refusal.code

        # Two processes: what one keeps in memory can't help the other.
        floors = {"T1": both, "T2": both.restarted()}
        threads = [
            threading.Thread(target=load, args=(floor, table)) for table, floor in floors.items()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert list(said.values()) == ["deck_set_in_use"]
        (winner,) = set(dealers) - set(said)
        both.command("close_shoe", PIT, table=winner, cards_left=52)
