"""Many at once at a room's door: four seats are four, a start and a join have one order."""

import threading
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from studio.domain.errors import RefusedError
from studio.services.ports import Actor, Role
from tests.support.floor import HANDS
from tests.support.playfloor import AYA, BEN, CHO, PURSE_MINOR, PlayFloor

PATIENCE_S = 60
CROWD = tuple(
    Actor(id=number, name=f"player {number}", role=Role.PLAYER) for number in range(201, 217)
)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def play(request: pytest.FixtureRequest) -> PlayFloor:
    made = PlayFloor(engine=request.getfixturevalue(f"{request.param}_engine"))
    made.furnish()
    return made


def at_once(works: Sequence[Callable[[], object]]) -> list[object]:
    """Start all works at the same moment; return answers and refusals' codes in order."""
    start = threading.Barrier(len(works))

    def run(work: Callable[[], object]) -> object:
        start.wait(timeout=PATIENCE_S)
        try:
            return work()
        except RefusedError as refused:
            return refused.code

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works, timeout=PATIENCE_S))


def in_room(play: PlayFloor, room_id: str) -> list[int]:
    with play.units.read() as unit:
        return list(unit.rooms.get(room_id).player_ids)


def test_sixteen_at_once_fill_the_three_seats_that_are_left(play):
    room = play.open_room()
    answers = at_once(
        [lambda player=player: play.rooms.join(player, code=room["code"]) for player in CROWD]
    )
    assert Counter(answer for answer in answers if isinstance(answer, str)) == {"room_full": 13}
    assert len(in_room(play, room["id"])) == 4


def test_one_player_at_eight_doors_at_once_is_in_one_room(play):
    rooms = [play.open_room(player) for player in CROWD[:8]]
    answers = at_once([lambda room=room: play.rooms.join(AYA, code=room["code"]) for room in rooms])
    assert Counter(answer for answer in answers if isinstance(answer, str)) == {"room_already": 7}
    assert sum(AYA.id in in_room(play, room["id"]) for room in rooms) == 1


def test_opening_twice_at_once_by_one_id_is_one_room_and_one_answer(play):
    room_id = str(uuid.uuid4())
    answers = at_once([lambda: play.rooms.open(AYA, room_id=room_id, table="T1")] * 8)
    assert {answer["room"]["code"] for answer in answers} == {play.mine(AYA)["room"]["code"]}
    assert len(play.publisher.rooms) == 1


def test_opening_two_rooms_at_once_is_one_room(play):
    answers = at_once(
        [lambda: play.rooms.open(AYA, room_id=str(uuid.uuid4()), table="T1") for _ in range(8)]
    )
    assert Counter(answer for answer in answers if isinstance(answer, str)) == {"room_already": 7}


def test_nobody_joins_after_the_start_however_close(play):
    """Whoever was let in was in before the start; everybody else is told that it has started."""
    for _ in range(5):
        room = play.room_of(AYA, BEN)
        answers = at_once(
            [
                lambda room=room: play.rooms.start(AYA, room_id=room["id"]),
                lambda room=room: play.rooms.join(CHO, code=room["code"]),
            ]
        )
        let_in = not isinstance(answers[1], str)
        assert answers[1] == "room_started" or let_in
        assert (CHO.id in in_room(play, room["id"])) == let_in
        with play.units.read() as unit:
            stored = unit.rooms.get(room["id"])
        assert stored.state == "started"
        if let_in:
            cho = next(member for member in stored.members if member.player_id == CHO.id)
            assert cho.joined_ms <= stored.started_ms
        for player in (AYA, BEN, *((CHO,) if let_in else ())):
            play.rooms.leave(player, room_id=room["id"])


def test_a_start_and_the_second_members_leaving_have_one_order(play):
    for _ in range(5):
        room = play.room_of(AYA, BEN)
        answers = at_once(
            [
                lambda room=room: play.rooms.start(AYA, room_id=room["id"]),
                lambda room=room: play.rooms.leave(BEN, room_id=room["id"]),
            ]
        )
        with play.units.read() as unit:
            stored = unit.rooms.get(room["id"])
        assert (stored.state == "open") == (answers[0] == "room_needs_two")
        assert stored.player_ids == (AYA.id,)
        play.rooms.leave(AYA, room_id=room["id"])


def test_everybody_leaves_at_once_and_the_room_is_closed_with_one_owner_at_a_time(play):
    room = play.room_of(*CROWD[:4])
    at_once([lambda p=p: play.rooms.leave(p, room_id=room["id"]) for p in CROWD[:4]])
    with play.units.read() as unit:
        stored = unit.rooms.get(room["id"])
    assert (stored.state, stored.members) == ("closed", ())


def test_a_wager_that_races_its_players_leaving_is_forfeited_or_placed_alone(play):
    play.to_betting()
    for number in range(5):
        play.clock.advance(1)
        room = play.started_room(AYA, BEN)
        wager_id = str(uuid.UUID(int=number + 1))
        answers = at_once(
            [
                lambda id=wager_id: play.bet("p1", 100, player=BEN, id=id),
                lambda room=room: play.rooms.leave(BEN, room_id=room["id"]),
            ]
        )
        assert answers[1] in (
            {"forfeited_minor": 100, "wagers": 1},
            {"forfeited_minor": 0, "wagers": 0},
        )
        play.rooms.leave(AYA, room_id=room["id"])
    assert play.money(BEN) == (PURSE_MINOR - 1_000, 1_000)
    assert play.faults() == []


def test_leaving_twice_at_once_forfeits_once(play):
    room = play.started_room(AYA, BEN)
    play.to_betting()
    play.bet("p1", 500, player=BEN)
    answers = at_once([lambda: play.rooms.leave(BEN, room_id=room["id"])] * 8)
    assert answers == [{"forfeited_minor": 500, "wagers": 1}] * 8


def test_a_settlement_and_a_leave_have_one_order(play):
    """Forfeited before it, or paid by it: the payout says which, and the audit agrees."""
    room = play.started_room(AYA, BEN)
    play.to_betting()
    play.bet("p5", 500, player=BEN)
    play.show("3S", *HANDS)
    play.close()
    while play.state().phase != "settled":
        answers = at_once(
            [
                lambda: play.command("reveal"),
                lambda: play.tables.tick("T1"),
                lambda: play.rooms.leave(BEN, room_id=room["id"]),
            ]
        )
    assert answers[2]["wagers"] in (0, 1)
    assert play.faults() == []
    assert play.ledger_sum() == 0


def test_a_purse_is_given_once_however_many_logins_there_are(play):
    newcomer = CROWD[0]
    at_once([lambda: play.play.purse.greet(newcomer.id)] * 8)
    assert play.money(newcomer) == (PURSE_MINOR, 0)
    assert [player for player, _ in play.publisher.wallets] == [newcomer.id]
    assert play.faults() == []
