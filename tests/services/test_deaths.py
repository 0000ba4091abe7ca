"""A process may die at any statement: what it was doing is done as a whole or not at all.

Every operation is run once for each of its statements, with the process dying just before it and
once more just after the commit; then a new process does it, and the books must close.
"""

import uuid
from collections.abc import Callable
from contextlib import contextmanager

import pytest
from sqlalchemy import event

from studio.domain.round import Phase
from tests.support.floor import ADMINISTRATOR, OTHER_PIT, PIT, PLAYER, Floor, code_of, serial_of
from tests.support.jpegs import jpeg, text

STATEMENTS_MAX = 200
"""No operation has as many statements."""


class Death(BaseException):
    """The process is gone."""


@contextmanager
def dying(engine, at: int):
    """Let the process die before its statement number `at`, from 1; 0: after its first commit."""
    seen = 0

    def statement(_, cursor, *__):
        nonlocal seen
        seen += 1
        if seen == at:
            cursor.close()  # a streaming one would complain that nobody did
            raise Death

    def committed(_):
        if at == 0:
            raise Death

    event.listen(engine, "before_cursor_execute", statement)
    event.listen(engine, "commit", committed)
    try:
        yield
    finally:
        event.remove(engine, "before_cursor_execute", statement)
        event.remove(engine, "commit", committed)


def everything(floor: Floor) -> object:
    """Return all that is stored, as far as an operation could leave it half done."""
    with floor.units.read() as unit:
        rows = unit.rounds.recent(None, limit=50, before_ms=None)
        wagers = [unit.wagers.of_round(row.id) for row in rows]
        trail = len(unit.trail.read(limit=500, before_id=None))
    money = [floor.money(player) for player in (PLAYER,)]
    return floor.state(), rows, wagers, trail, money, floor.ledger_sum()


def load(floor: Floor) -> None:
    floor.command("take_seat")


def to_dealt_with_bets(floor: Floor) -> None:
    floor.to_dealt()
    floor.bet("p1", 500, id=str(uuid.UUID(int=1)))
    floor.bet("p2_pair", 100, id=str(uuid.UUID(int=2)))


def to_the_deadline(floor: Floor) -> None:
    to_dealt_with_bets(floor)
    floor.clock.ms = floor.state().round.window_closes_ms


def to_the_last_hand(floor: Floor) -> None:
    to_the_deadline(floor)
    floor.tables.tick("T1")
    for _ in range(5):
        floor.command("reveal")


def report(floor: Floor, number: int, face: str) -> object:
    body = {
        "id": f"cam-{number}",
        "table": "T1",
        "kind": "card_seen",
        "code": code_of(serial_of(face)),
        "reason": None,
    }
    return floor.devices.report("cam", body)


def id_of(number: int) -> str:
    return str(uuid.UUID(int=number))


def to_two_settled(floor: Floor) -> None:
    to_the_last_hand(floor)
    floor.command("reveal")
    while floor.state().round_number < 2:
        floor.step()
    floor.bet("p1", 300, id=id_of(3))
    while floor.state().round.running:
        floor.step()


ROUNDS = {"T1-1-1": 1, "T1-1-2": 1}


def refund(floor: Floor) -> object:
    return floor.command("refund_rounds", PIT, id=id_of(96), rounds=ROUNDS, reason="a slip")


def to_a_proposal(floor: Floor) -> None:
    to_two_settled(floor)
    refund(floor)


def approve(floor: Floor) -> object:
    return floor.command("approve_correction", OTHER_PIT, id=id_of(97), proposal=id_of(96))


def to_an_announcement(floor: Floor) -> None:
    to_a_proposal(floor)
    approve(floor)
    floor.clock.ms += floor.policy.notice_ms


def to_the_last_of_two(floor: Floor) -> None:
    to_an_announcement(floor)
    floor.tables.run("T1", floor.tables.corrections.execute)


def to_unread(floor: Floor) -> None:
    floor.to_betting()
    for number in range(3):
        floor.report(id=f"cam-80{number}", kind="read_failed", code=None, reason="unreadable")
    floor.pictures.take(
        "cam", table="T1", report_id="cam-800", captured_ms=5, frame=text(jpeg()), card=None
    )


def to_keyed(floor: Floor) -> None:
    to_unread(floor)
    floor.command("key_card", digits=code_of(3))


OPERATIONS: dict[str, tuple[Callable[[Floor], None], Callable[[Floor], object]]] = {
    "load": (load, lambda floor: floor.command("load_shoe", id=id_of(90), deck_set=1)),
    "open": (Floor.to_play, lambda floor: floor.command("start_round", id=id_of(91))),
    "scan": (Floor.to_betting, lambda floor: report(floor, 900, "3S")),
    "held": (Floor.to_play, lambda floor: report(floor, 900, "9H")),
    "key": (to_unread, lambda floor: floor.command("key_card", id=id_of(96), digits=code_of(3))),
    "confirm": (
        to_keyed,
        lambda floor: floor.command(
            "confirm_key",
            PIT,
            id=id_of(97),
            digits=code_of(3),
            picture=floor.pictures.of_table("T1")[0]["id"],
            reason="torn",
        ),
    ),
    "bet": (Floor.to_dealt, lambda floor: floor.bet("p3", 300, id=id_of(92))),
    "undo": (to_dealt_with_bets, lambda floor: floor.wagers.undo(PLAYER, wager_id=id_of(1))),
    "close": (to_the_deadline, lambda floor: floor.tables.tick("T1")),
    "settle": (to_the_last_hand, lambda floor: floor.command("reveal", id=id_of(93))),
    "void": (
        to_dealt_with_bets,
        lambda floor: floor.command("void_round", PIT, id=id_of(94), reason="a slip"),
    ),
    "propose": (to_two_settled, refund),
    "approve": (to_a_proposal, approve),
    "drop": (
        to_an_announcement,
        lambda floor: floor.command(
            "drop_correction", PIT, id=id_of(98), proposal=id_of(96), reason="a slip"
        ),
    ),
    "correct": (to_an_announcement, lambda floor: floor.tables.tick("T1")),
    "correct the last": (to_the_last_of_two, lambda floor: floor.tables.tick("T1")),
    "cash": (
        Floor.to_play,
        lambda floor: floor_cash(floor),
    ),
}


def floor_cash(floor: Floor) -> None:
    with floor.units.write() as unit:
        unit.ledger.cash(
            id=id_of(95), player_id=PLAYER.id, amount_minor=700, reason="in", by=ADMINISTRATOR.id
        )
        unit.commit()


@pytest.mark.parametrize("name", list(OPERATIONS))
def test_whatever_statement_it_dies_at_nothing_is_half_done_or_done_twice(both, name):
    prepare, operation = OPERATIONS[name]
    prepare(both)
    before = everything(both)
    deaths = 0
    for at in range(1, STATEMENTS_MAX):
        victim = both.restarted()
        with dying(both.engine, at):
            try:
                operation(victim)
            except Death:
                deaths += 1
            else:
                break
        after = everything(both.restarted())
        # A command that closes a second unit (a settlement after the last hand) may have done the
        # first of the two, as may the correction of two rounds: then the rest is done below.
        if after != before:
            break
    else:
        pytest.fail("the operation never came to its end")
    assert deaths > 3
    operation(both.restarted())
    both.restarted().clockwork.turn()
    done = everything(both.restarted())
    assert done != before
    operation(both.restarted())
    assert everything(both.restarted()) == done, "done twice"
    assert both.faults() == []
    assert both.ledger_sum() == 0


@pytest.mark.parametrize("name", list(OPERATIONS))
def test_whoever_dies_after_the_commit_has_done_it(both, name):
    prepare, operation = OPERATIONS[name]
    prepare(both)
    before = everything(both)
    with dying(both.engine, 0), pytest.raises(Death):
        operation(both.restarted())
    operation(both.restarted())
    both.restarted().clockwork.turn()
    done = everything(both.restarted())
    assert done != before
    assert both.faults() == []
    if name.startswith("correct"):
        assert done[0].correction is None
    if name == "settle":
        assert done[0].phase is Phase.SETTLED
