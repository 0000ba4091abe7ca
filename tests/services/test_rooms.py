"""Rooms: who comes in, who starts, who bets where, and what leaving costs."""

import uuid
from collections.abc import Callable

import pytest

from studio.domain.errors import MalformedError, RefusedError, StudioError
from studio.services import rooms as rooms_module
from studio.services import wagers as wagers_module
from studio.services.ports import Actor, Role
from studio.services.rooms import CODE_ALPHABET, CODE_CHARS, RoomService
from tests.support.fakes import SeededRandomness
from tests.support.floor import DEALER, HANDS, PIT
from tests.support.playfloor import AYA, BEN, CHO, DAN, EVA, PURSE_MINOR, PlayFloor
from tests.support.source import codes_raised

Work = Callable[[PlayFloor], object]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def play(request: pytest.FixtureRequest) -> PlayFloor:
    """A play-money floor on each kind of database in turn."""
    made = PlayFloor(engine=request.getfixturevalue(f"{request.param}_engine"))
    made.furnish()
    return made


@pytest.fixture
def floor(sqlite_engine) -> PlayFloor:
    made = PlayFloor(engine=sqlite_engine)
    made.furnish()
    return made


def members(room) -> list[str]:
    return [member["name"] for member in room["members"]]


def deal(play: PlayFloor) -> None:
    play.show("3S", *HANDS)


# Coming in --------------------------------------------------------------------------------------


def test_whoever_is_in_no_room_has_none(floor):
    assert floor.mine(AYA) == {"room": None, "standing_minor": 0}


def test_an_opened_room_has_its_owner_in_it_and_a_code_to_invite_by(play):
    room_id = str(uuid.uuid4())
    room = play.rooms.open(AYA, room_id=room_id, table="T1")["room"]
    assert len(room["code"]) == CODE_CHARS
    assert set(room["code"]) <= set(CODE_ALPHABET)
    now_ms = play.clock.now_ms()
    assert room == {
        "id": room_id,
        "table": "T1",
        "table_name": "Table T1",
        "code": room["code"],
        "state": "open",
        "owner_id": AYA.id,
        "opened_ms": now_ms,
        "started_ms": None,
        "seats_min": 2,
        "seats_max": 4,
        "members": [
            {
                "player_id": AYA.id,
                "name": "Aya",
                "owner": True,
                "joined_ms": now_ms,
                "plate": None,
            }
        ],
        "round": None,
    }
    assert play.mine(AYA) == {"room": room, "standing_minor": 0}
    assert play.publisher.rooms == [((AYA.id,), room_id)]


def test_opening_again_by_the_same_id_is_answered_the_same(play):
    room_id = str(uuid.uuid4())
    first = play.rooms.open(AYA, room_id=room_id, table="T1")
    assert play.rooms.open(AYA, room_id=room_id.upper(), table="T1") == first
    assert len(play.publisher.rooms) == 1


def test_a_code_is_read_in_small_letters_and_with_spaces_round_it(play):
    room = play.open_room()
    joined = play.rooms.join(BEN, code=f" {room['code'].lower()} ")["room"]
    assert members(joined) == ["Aya", "Ben"]
    assert [member["owner"] for member in joined["members"]] == [True, False]
    assert play.publisher.rooms[-1] == ((AYA.id, BEN.id), room["id"])


def test_joining_twice_is_answered_the_same_and_told_once(play):
    room = play.open_room()
    first = play.rooms.join(BEN, code=room["code"])
    told = len(play.publisher.rooms)
    assert play.rooms.join(BEN, code=room["code"]) == first
    play.rooms.start(AYA, room_id=room["id"])
    assert members(play.rooms.join(BEN, code=room["code"])["room"]) == ["Aya", "Ben"]
    assert len(play.publisher.rooms) == told + 1


def test_four_fill_a_room_and_the_fifth_stays_outside(play):
    room = play.room_of(AYA, BEN, CHO, DAN)
    with pytest.raises(RefusedError) as refused:
        play.rooms.join(EVA, code=room["code"])
    assert (refused.value.code, refused.value.details) == ("room_full", {"seats_max": 4})
    assert members(play.mine(AYA)["room"]) == ["Aya", "Ben", "Cho", "Dan"]


def test_whoever_left_an_open_room_may_come_back_to_the_end_of_the_row(play):
    room = play.room_of(AYA, BEN, CHO)
    play.rooms.leave(BEN, room_id=room["id"])
    assert members(play.rooms.join(BEN, code=room["code"])["room"]) == ["Aya", "Cho", "Ben"]


def test_a_taken_code_is_drawn_anew(floor):
    class Stuck(SeededRandomness):
        drawn = 0

        def nonce(self) -> bytes:
            Stuck.drawn += 1
            return bytes(32) if Stuck.drawn < 3 else super().nonce()

    service = RoomService(
        units=floor.units,
        setups=floor.setups,
        randomness=Stuck(),
        publisher=floor.publisher,
        seats_min=2,
        seats_max=4,
    )
    codes = {
        service.open(player, room_id=str(uuid.uuid4()), table="T1")["room"]["code"]
        for player in (AYA, BEN)
    }
    assert len(codes) == 2
    assert "AAAAAAAA" in codes
    assert Stuck.drawn == 3


def test_the_alphabet_is_unambiguous_and_every_letter_equally_likely():
    assert 256 % len(CODE_ALPHABET) == 0
    assert len(set(CODE_ALPHABET)) == len(CODE_ALPHABET)
    assert not set("O0I1") & set(CODE_ALPHABET)


def test_name_plates_are_shown_where_the_club_tells_them(floor):
    service = RoomService(
        units=floor.units,
        setups=floor.setups,
        randomness=SeededRandomness(5),
        publisher=floor.publisher,
        seats_min=2,
        seats_max=4,
        plates=lambda unit, ids: {ids[0]: "plate_gold"},
    )
    room = service.open(AYA, room_id=str(uuid.uuid4()), table="T1")["room"]
    floor.rooms.join(BEN, code=room["code"])
    shown = service.mine(AYA)["room"]
    assert [member["plate"] for member in shown["members"]] == ["plate_gold", None]


# Starting and owning ----------------------------------------------------------------------------


def test_the_owner_starts_it_with_two_and_a_second_time_it_is_started_already(play):
    room = play.room_of(AYA, BEN)
    play.clock.advance(5)
    started = play.rooms.start(AYA, room_id=room["id"])
    assert (started["room"]["state"], started["room"]["started_ms"]) == (
        "started",
        play.clock.now_ms(),
    )
    told = len(play.publisher.rooms)
    play.clock.advance(5)
    assert play.rooms.start(AYA, room_id=room["id"]) == started
    assert len(play.publisher.rooms) == told
    assert play.publisher.rooms[-1] == ((AYA.id, BEN.id), room["id"])


def test_when_the_owner_leaves_an_open_room_the_longest_standing_member_owns_it(play):
    room = play.room_of(AYA, BEN, CHO)
    assert play.rooms.leave(AYA, room_id=room["id"]) == {"forfeited_minor": 0, "wagers": 0}
    left = play.mine(CHO)["room"]
    assert (left["owner_id"], members(left)) == (BEN.id, ["Ben", "Cho"])
    assert play.publisher.rooms[-1] == ((AYA.id, BEN.id, CHO.id), room["id"])
    assert play.rooms.start(BEN, room_id=room["id"])["room"]["state"] == "started"


def test_the_last_one_closes_the_room_and_its_code_leads_nowhere(play):
    room = play.room_of(AYA, BEN)
    play.rooms.leave(AYA, room_id=room["id"])
    play.rooms.leave(BEN, room_id=room["id"])
    with play.units.read() as unit:
        closed = unit.rooms.get(room["id"])
    assert (closed.state, closed.members) == ("closed", ())
    with pytest.raises(RefusedError) as refused:
        play.rooms.join(CHO, code=room["code"])
    assert refused.value.code == "room_code_wrong"
    assert play.mine(AYA)["room"] is None
    play.open_room(AYA)  # free again


def test_a_room_at_a_table_that_is_no_longer_set_up_can_still_be_left(floor):
    room = floor.open_room(table="T2")
    floor.setups.pop("T2")
    assert floor.mine(AYA)["room"]["table_name"] == "T2"
    floor.rooms.leave(AYA, room_id=room["id"])
    assert floor.mine(AYA)["room"] is None


# Refusals ---------------------------------------------------------------------------------------


def opened(play: PlayFloor) -> dict:
    return play.room_of(AYA, BEN)


def opens(player: Actor = AYA, **values: str) -> Work:
    def work(play: PlayFloor) -> None:
        request = {"room_id": str(uuid.uuid4()), "table": "T1"} | values
        play.rooms.open(player, **request)

    return work


def reuses_an_id(play: PlayFloor) -> None:
    room = play.open_room(CHO)
    play.rooms.open(AYA, room_id=room["id"], table="T1")


def reuses_an_id_for_another_table(play: PlayFloor) -> None:
    room = opened(play)
    play.rooms.open(AYA, room_id=room["id"], table="T2")


def opens_a_second(play: PlayFloor) -> None:
    opened(play)
    opens()(play)


def joins_a_second(play: PlayFloor) -> None:
    opened(play)
    play.rooms.join(BEN, code=play.open_room(CHO)["code"])


def joins_a_started(play: PlayFloor) -> None:
    play.rooms.join(CHO, code=play.started_room(AYA, BEN)["code"])


def joins_a_full(play: PlayFloor) -> None:
    play.rooms.join(EVA, code=play.room_of(AYA, BEN, CHO, DAN)["code"])


def starts_alone(play: PlayFloor) -> None:
    play.rooms.start(AYA, room_id=play.open_room()["id"])


def starts_anothers(play: PlayFloor) -> None:
    play.rooms.start(BEN, room_id=opened(play)["id"])


def starts_from_outside(play: PlayFloor) -> None:
    play.rooms.start(CHO, room_id=opened(play)["id"])


def leaves_from_outside(play: PlayFloor) -> None:
    play.rooms.leave(CHO, room_id=opened(play)["id"])


def bets_in_an_open_room(play: PlayFloor) -> None:
    opened(play)
    play.to_betting()
    play.bet("p1", player=BEN)


def bets_elsewhere(play: PlayFloor) -> None:
    room = play.room_of(AYA, BEN, table="T2")
    play.rooms.start(AYA, room_id=room["id"])
    play.to_betting()
    play.bet("p1", player=BEN)


def bets_with_an_id_of_his_own(play: PlayFloor) -> None:
    play.to_betting()
    play.bet("p1", player=DEALER)


def reuses_a_wager_id(play: PlayFloor) -> None:
    play.to_betting()
    id = str(uuid.uuid4())
    play.bet("p1", 500, player=AYA, id=id)
    play.bet("p1", 600, player=AYA, id=id)


def bets_in_no_round(play: PlayFloor) -> None:
    play.wagers.place(AYA, round_id="T1-1-9", wager_id=str(uuid.uuid4()), bet="p1", stake_minor=500)


REFUSALS: list[tuple[str, Work]] = [
    ("only_players_bet", opens(PIT)),
    ("only_players_bet", lambda play: play.rooms.join(DEALER, code="ABCDEFGH")),
    ("only_players_bet", bets_with_an_id_of_his_own),
    ("room_id_reused", reuses_an_id),
    ("room_id_reused", reuses_an_id_for_another_table),
    ("room_already", opens_a_second),
    ("room_already", joins_a_second),
    ("room_code_wrong", lambda play: play.rooms.join(AYA, code="ABCDEFGH")),
    ("room_code_wrong", lambda play: play.rooms.join(AYA, code="x" * 300)),
    ("room_started", joins_a_started),
    ("room_full", joins_a_full),
    ("room_needs_two", starts_alone),
    ("room_not_yours", starts_anothers),
    ("unknown_room", starts_from_outside),
    ("unknown_room", leaves_from_outside),
    ("unknown_room", lambda play: play.rooms.start(AYA, room_id=str(uuid.uuid4()))),
    ("unknown_room", lambda play: play.rooms.leave(AYA, room_id=str(uuid.uuid4()))),
    ("room_not_started", bets_in_an_open_room),
    ("room_elsewhere", bets_elsewhere),
    ("unknown_round", bets_in_no_round),
]


@pytest.mark.parametrize(("code", "work"), REFUSALS)
def test_a_refusal_names_its_rule(play, code, work):
    with pytest.raises(RefusedError) as refused:
        work(play)
    assert refused.value.code == code
    assert refused.value.message
    assert play.faults() == []
    assert all(play.money(player) == (PURSE_MINOR, 0) for player in (AYA, BEN, CHO, DAN, EVA))


def test_every_refusal_has_a_row():
    raised = codes_raised([rooms_module, wagers_module], error="RefusedError")
    assert raised == {code for code, _ in REFUSALS}


@pytest.mark.parametrize(
    ("code", "work"),
    [
        ("unknown_table", opens(table="T9")),
        ("id_not_uuid", opens(room_id="1")),
        ("id_not_uuid", lambda play: play.rooms.start(AYA, room_id="x")),
        ("id_not_uuid", lambda play: play.rooms.leave(AYA, room_id="x")),
    ],
)
def test_what_cannot_be_read_is_malformed(floor, code, work):
    with pytest.raises(MalformedError) as wrong:
        work(floor)
    assert wrong.value.code == code


# Betting together -------------------------------------------------------------------------------


def test_a_member_of_a_started_room_bets_and_everybody_in_it_is_hinted(play):
    room = play.started_room(AYA, BEN)
    play.to_betting()
    play.publisher.rooms.clear()
    placed = play.bet("p1", 500, player=BEN)
    assert play.publisher.rooms == [((AYA.id, BEN.id), room["id"])]
    seen = play.mine(AYA)
    assert seen["standing_minor"] == 0
    assert seen["room"]["round"] == {
        "id": play.round_id,
        "phase": "betting",
        "wagers": [
            {
                "player_id": BEN.id,
                "name": "Ben",
                "bet": "p1",
                "stake_minor": 500,
                "forfeited": False,
                "ending": None,
            }
        ],
    }
    assert play.mine(BEN)["standing_minor"] == 500  # the stake; its deposit comes back
    play.wagers.undo(BEN, wager_id=placed.wager.id)
    assert play.publisher.rooms == [((AYA.id, BEN.id), room["id"])] * 2
    assert play.mine(BEN)["standing_minor"] == 0
    assert play.mine(AYA)["room"]["round"]["wagers"] == []


def test_whoever_is_in_no_room_bets_alone_and_nobody_is_hinted(play):
    play.started_room(AYA, BEN)
    play.to_betting()
    play.publisher.rooms.clear()
    play.bet("p1", 500, player=CHO)
    assert play.publisher.rooms == []
    assert play.mine(AYA)["room"]["round"]["wagers"] == []


def test_a_refused_wager_leaves_nothing_behind(play):
    play.room_of(AYA, BEN)
    play.to_betting()
    with pytest.raises(RefusedError):
        play.bet("p1", 500, player=AYA)
    assert play.money(AYA) == (PURSE_MINOR, 0)
    with play.units.read() as unit:
        assert unit.wagers.totals(play.round_id) == {}


def test_a_wager_accepted_before_is_answered_again_whatever_the_room_says_now(play):
    play.to_betting()
    id = str(uuid.uuid4())
    play.bet("p1", 500, player=AYA, id=id)
    play.open_room(AYA)
    assert play.bet("p1", 500, player=AYA, id=id).repeated
    assert play.money(AYA) == (PURSE_MINOR - 1_000, 1_000)


def test_wagers_from_before_the_start_are_nobody_elses_and_never_forfeited(play):
    play.to_betting()
    play.bet("p1", 500, player=AYA)
    room = play.room_of(AYA, BEN)
    assert play.mine(AYA)["standing_minor"] == 0
    play.clock.advance(1)
    play.rooms.start(AYA, room_id=room["id"])
    seen = play.mine(AYA)
    assert (seen["standing_minor"], seen["room"]["round"]["wagers"]) == (0, [])
    assert play.rooms.leave(AYA, room_id=room["id"]) == {"forfeited_minor": 0, "wagers": 0}


def test_a_round_from_before_the_start_is_not_the_rooms(play):
    play.to_dealt()
    play.close()
    play.finish()
    play.started_room(AYA, BEN)
    assert play.mine(AYA)["room"]["round"] is None


# Leaving ----------------------------------------------------------------------------------------


def test_leaving_between_rounds_costs_nothing(play):
    room = play.started_room(AYA, BEN)
    play.to_betting()
    play.bet("p1", 500, player=BEN)
    deal(play)
    play.close()
    play.finish()
    has = play.money(BEN)
    assert play.mine(BEN)["standing_minor"] == 0
    assert play.rooms.leave(BEN, room_id=room["id"]) == {"forfeited_minor": 0, "wagers": 0}
    assert play.money(BEN) == has


def test_a_stake_that_was_taken_back_is_not_forfeited(play):
    room = play.started_room(AYA, BEN)
    play.to_betting()
    taken_back = play.bet("p1", 500, player=BEN)
    play.bet("p2", 700, player=BEN)
    play.wagers.undo(BEN, wager_id=taken_back.wager.id)
    assert play.rooms.leave(BEN, room_id=room["id"]) == {"forfeited_minor": 700, "wagers": 1}


def test_a_forfeited_stake_cannot_be_taken_back(play):
    room = play.started_room(AYA, BEN)
    play.to_betting()
    placed = play.bet("p1", 500, player=BEN)
    play.rooms.leave(BEN, room_id=room["id"])
    with pytest.raises(RefusedError) as refused:
        play.wagers.undo(BEN, wager_id=placed.wager.id)
    assert refused.value.code == "wager_forfeited"
    assert play.money(BEN) == (PURSE_MINOR - 1_000, 1_000)


def test_whoever_left_bets_alone_in_the_same_round_and_that_is_not_the_rooms(play):
    room = play.started_room(AYA, BEN)
    play.to_betting()
    play.bet("p1", 500, player=BEN)
    play.rooms.leave(BEN, room_id=room["id"])
    play.publisher.rooms.clear()
    play.bet("p2", 300, player=BEN)
    assert play.publisher.rooms == []
    shown = play.mine(AYA)["room"]["round"]["wagers"]
    assert [(wager["bet"], wager["forfeited"], wager["name"]) for wager in shown] == [
        ("p1", True, "Ben")
    ]
    assert play.rooms.leave(BEN, room_id=room["id"]) == {"forfeited_minor": 500, "wagers": 1}


def test_the_forfeit_of_another_room_of_the_same_round_is_not_shown(play):
    first = play.started_room(AYA, BEN)
    play.to_betting()
    play.bet("p1", 500, player=BEN)
    play.rooms.leave(BEN, room_id=first["id"])
    play.started_room(BEN, CHO)
    play.bet("p2", 300, player=BEN)
    shown = play.mine(CHO)["room"]["round"]["wagers"]
    assert [(wager["bet"], wager["forfeited"]) for wager in shown] == [("p2", False)]


def test_staff_have_no_rooms(floor):
    dealer = Actor(id=AYA.id, name="Sato", role=Role.DEALER)
    with pytest.raises(StudioError):
        floor.rooms.open(dealer, room_id=str(uuid.uuid4()), table="T1")
