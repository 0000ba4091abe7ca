"""People's commands: who may give them, how they are refused, how a retry is answered."""

import threading
import uuid

import pytest

from studio.domain.errors import MalformedError, RefusedError
from studio.services import devices, live, proposing, runner, table_commands, tables
from studio.services.ports import Actor, Role
from studio.services.table_commands import COMMANDS
from tests.support.floor import (
    ADMINISTRATOR,
    AUDITOR,
    DEALER,
    OTHER_DEALER,
    PIT,
    PLAYER,
    Floor,
    code_of,
)
from tests.support.source import codes_raised

ARGUMENTS = {
    "deck_set": 1,
    "cut_depth": 20,
    "cards_left": 52,
    "reason": "why",
    "round_id": "T1-1-1",
    "version": 1,
    "cards": {},
    "rounds": {"T1-1-1": 1},
    "proposal": "8",
    "digits": code_of(5),
    "picture": 1,
}


# Idempotency ------------------------------------------------------------------------------------


def test_the_same_command_again_gives_the_first_answer_and_nothing_more(both):
    id = str(uuid.uuid4())
    first = both.command("take_seat", id=id)
    assert first == {"epoch": 0, "seq": 1, "waits": False}
    both.command("call_pit")
    assert both.command("take_seat", id=id) == first
    assert both.state().seq == 2


def test_a_retry_is_answered_although_the_command_would_be_refused_by_now(floor):
    floor.command("take_seat")
    id = str(uuid.uuid4())
    first = floor.command("leave_seat", id=id)
    floor.command("take_seat", OTHER_DEALER)
    assert floor.command("leave_seat", id=id) == first
    assert floor.state().dealer.id == OTHER_DEALER.id


@pytest.mark.parametrize(
    "other",
    [
        {"name": "load_shoe", "deck_set": 2},
        {"name": "load_shoe", "deck_set": 1, "actor": OTHER_DEALER},
        {"name": "load_shoe", "deck_set": 1, "table": "T2"},
        {"name": "take_seat"},
    ],
    ids=["content", "person", "table", "command"],
)
def test_the_same_id_with_anything_else_is_refused_and_changes_nothing(both, other):
    both.command("take_seat")
    both.command("take_seat", OTHER_DEALER, table="T2")
    id = str(uuid.uuid4())
    both.command("load_shoe", id=id, deck_set=1)
    before = (both.state("T1").seq, both.state("T2").seq)
    with pytest.raises(RefusedError) as refusal:
        both.command(**other, id=id)
    assert refusal.value.code == "command_id_reused"
    assert (both.state("T1").seq, both.state("T2").seq) == before


def test_a_refused_command_is_not_kept_and_may_be_sent_again(floor):
    id = str(uuid.uuid4())
    with pytest.raises(RefusedError) as refusal:
        floor.command("load_shoe", id=id, deck_set=1)
    assert refusal.value.code == "not_your_table"
    floor.command("take_seat")
    assert floor.command("load_shoe", id=id, deck_set=1) == {"epoch": 1, "seq": 1, "waits": False}


def test_the_same_command_from_many_threads_at_once_is_carried_out_once(both):
    both.to_play()
    before = both.state()
    id = str(uuid.uuid4())
    answers, together = [], threading.Barrier(8)

    def give() -> None:
        together.wait()
        answers.append(both.command("start_round", id=id))

    threads = [threading.Thread(target=give) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [{"epoch": 1, "seq": before.seq + 1, "waits": False}] * 8
    assert both.state().round_number == 1


def test_different_commands_at_once_are_carried_out_one_after_the_other(both):
    both.command("take_seat")
    together = threading.Barrier(6)

    def give(floor: Floor) -> None:
        together.wait()
        floor.command("call_pit", table="T1")
        floor.command("stop", table="T1")

    floors = [both, both.restarted()] * 3
    threads = [threading.Thread(target=give, args=(floor,)) for floor in floors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kinds = [envelope["kind"] for envelope in both.live().envelopes()]
    assert kinds[0] == "DealerSeated"
    assert sorted(kinds[1:]) == ["DealingStopped", "PitCalled"], "two processes, one log"


# Who may ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(COMMANDS))
@pytest.mark.parametrize(
    "actor",
    [DEALER, PIT, AUDITOR, ADMINISTRATOR, PLAYER, Actor(id=1, name="?", role=None)],
    ids=lambda actor: str(actor.role),
)
def test_only_the_roles_of_a_command_may_give_it(floor, name, actor):
    try:
        floor.command(name, actor, **ARGUMENTS)
        forbidden = False
    except (RefusedError, MalformedError) as refusal:
        forbidden = refusal.code == "role_forbids"
    assert forbidden == (actor.role not in COMMANDS[name].roles)
    if forbidden:
        assert floor.state().seq == 0


@pytest.mark.parametrize(
    "name",
    sorted(
        name for name, spec in COMMANDS.items() if Role.DEALER in spec.roles and name != "take_seat"
    ),
)
def test_a_dealer_commands_only_the_table_taken(floor, name):
    floor.command("take_seat")
    for actor, table in ((OTHER_DEALER, "T1"), (DEALER, "T2")):
        with pytest.raises(RefusedError) as refusal:
            floor.command(name, actor, table=table, **ARGUMENTS)
        assert refusal.value.code == "not_your_table"
    assert (floor.state("T1").seq, floor.state("T2").seq) == (1, 0)


# What may be said -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actor", "body", "code"),
    [
        (DEALER, {"command": "eat_card"}, "unknown_command"),
        (DEALER, {"command": None}, "unknown_command"),
        (DEALER, {"command": ["stop"]}, "unknown_command"),
        (DEALER, {}, "unknown_command"),
        (DEALER, {"command": "stop", "id": "7"}, "command_id"),
        (DEALER, {"command": "stop", "id": 7}, "command_id"),
        (DEALER, {"command": "stop", "id": None}, "command_id"),
        (DEALER, {"command": "load_shoe"}, "deck_set_not_number"),
        (DEALER, {"command": "load_shoe", "deck_set": "1"}, "deck_set_not_number"),
        (DEALER, {"command": "load_shoe", "deck_set": True}, "deck_set_not_number"),
        (DEALER, {"command": "load_shoe", "deck_set": 1.0}, "deck_set_not_number"),
        (DEALER, {"command": "confirm_shuffle", "cut_depth": -1}, "cut_depth_not_number"),
        (DEALER, {"command": "confirm_shuffle", "cut_depth": 10_001}, "cut_depth_not_number"),
        (DEALER, {"command": "close_shoe", "cards_left": "１００"}, "cards_left_not_number"),
        (PIT, {"command": "void_round"}, "reason_missing"),
        (PIT, {"command": "void_round", "reason": "  "}, "reason_missing"),
        (PIT, {"command": "void_round", "reason": 5}, "reason_missing"),
        (PIT, {"command": "void_round", "reason": "x" * 501}, "reason_too_long"),
        (PIT, {"command": "void_round", "reason": "x", "round_id": 5}, "round_id_not_text"),
        (PIT, {"command": "refund_rounds", "reason": "x"}, "rounds_not_mapping"),
        (PIT, {"command": "refund_rounds", "reason": "x", "rounds": {}}, "rounds_not_mapping"),
        (PIT, {"command": "refund_rounds", "reason": "x", "rounds": ["a"]}, "rounds_not_mapping"),
        (
            PIT,
            {"command": "refund_rounds", "reason": "x", "rounds": {"a": True}},
            "rounds_not_mapping",
        ),
        (
            PIT,
            {"command": "refund_rounds", "reason": "x", "rounds": {"a": 0}},
            "rounds_not_mapping",
        ),
        (
            PIT,
            {
                "command": "refund_rounds",
                "reason": "x",
                "rounds": {str(number): 1 for number in range(1_001)},
            },
            "rounds_not_mapping",
        ),
        (PIT, {"command": "refund_rounds", "rounds": {"a": 1}}, "reason_missing"),
        (PIT, {"command": "approve_correction"}, "proposal_missing"),
        (PIT, {"command": "approve_correction", "proposal": "8", "reason": 5}, "reason_missing"),
        (PIT, {"command": "drop_correction", "proposal": "8"}, "reason_missing"),
        (PIT, {"command": "lock"}, "reason_missing"),
        (PIT, {"command": "unlock"}, "reason_missing"),
        (PIT, {"command": "resume"}, "reason_missing"),
        (PIT, {"command": "release_held"}, "reason_missing"),
    ],
)
def test_a_command_that_can_not_be_read_is_malformed_and_changes_nothing(floor, actor, body, code):
    with pytest.raises(MalformedError) as fault:
        floor.tables.execute(actor, "T1", {"id": str(uuid.uuid4()), **body})
    assert fault.value.code == code
    assert floor.state().seq == 0


@pytest.mark.parametrize("name", ["take_seat", "call_pit"])
def test_a_table_that_is_not_there_is_named(floor, name):
    with pytest.raises(MalformedError) as fault:
        floor.command(name, table="T9")
    assert fault.value.code == "unknown_table"


@pytest.mark.parametrize(
    ("make", "name", "actor", "args", "code"),
    [
        (
            lambda f: f.command("take_seat"),
            "load_shoe",
            DEALER,
            {"deck_set": 9},
            "deck_set_not_here",
        ),
        (
            lambda f: f.to_betting(),
            "void_round",
            PIT,
            {"reason": "x", "round_id": "T1-1-9"},
            "round_over",
        ),
        (lambda f: f.to_play(), "void_round", PIT, {"reason": "x"}, "no_round_running"),
    ],
    ids=["deck set", "other round", "no round"],
)
def test_a_refused_command_names_its_rule(floor, make, name, actor, args, code):
    make(floor)
    before = floor.state()
    with pytest.raises(RefusedError) as refusal:
        floor.command(name, actor, **args)
    assert refusal.value.code == code
    assert floor.state() == before


def test_a_deck_set_that_nobody_registered_is_refused(sqlite_engine):
    floor = Floor(engine=sqlite_engine)  # not furnished
    floor.hire()
    floor.command("take_seat")
    with pytest.raises(RefusedError) as refusal:
        floor.command("load_shoe", deck_set=1)
    assert refusal.value.code == "deck_set_unknown"


def test_every_refusal_of_the_services_of_the_tables_is_tested():
    modules = [devices, live, proposing, runner, table_commands, tables]
    assert codes_raised(modules, error="RefusedError") == {
        "role_forbids",
        "not_your_table",
        "deck_set_not_here",
        "deck_set_unknown",
        "round_over",
        # test_correcting
        "round_not_here",
        # test_proposing
        "correction_not_due",
        # test_qualification
        "deck_set_in_use",
        # test_runner
        "round_started",
        "betting_not_open",
        "results_not_due",
        # test_leases
        "lease_held",
        "lease_ended",
    }


# The audit trail --------------------------------------------------------------------------------


def test_a_supervisors_intervention_leaves_a_line_with_before_and_after(both):
    both.to_dealt()
    both.command("void_round", PIT, reason="two cards at once")
    with both.units.read() as unit:
        (line,) = unit.trail.read(limit=10, before_id=None)
    assert (line.actor, line.action, line.reason) == ("Mori", "void_round", "two cards at once")
    assert line.subject == "T1-1-1"
    assert (line.before["phase"], line.after["phase"]) == ("betting", "void")


def test_a_dealers_work_leaves_no_line_in_the_trail(floor):
    floor.to_dealt()
    with floor.units.read() as unit:
        assert unit.trail.read(limit=10, before_id=None) == []


def test_a_retry_leaves_no_second_line(floor):
    floor.to_betting()
    id = str(uuid.uuid4())
    for _ in range(2):
        floor.command("void_round", PIT, id=id, reason="misdeal")
    with floor.units.read() as unit:
        assert len(unit.trail.read(limit=10, before_id=None)) == 1
