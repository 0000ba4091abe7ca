"""Play money in the store: transfers to and from the play account, purses, forfeits."""

import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
from sqlalchemy import event, func, select, text

from studio.domain.errors import InvariantError, RefusedError
from studio.services.audit import audit
from studio.services.play_ports import Filled, Forfeited, PlayKind, PlayMoved, RoomState
from studio.services.ports import EndingKind
from studio.services.retry import TryAgainError, again
from studio.store.tables import AccountKind, account, entry
from tests.store.house import OPENED_MS, House

TABLE = "T1"


def transfer(house: House, player: int, minor: int, **values) -> PlayMoved:
    def once() -> PlayMoved:
        with house.units.write() as unit:
            moved = unit.ledger.play_transfer(
                **{"kind": PlayKind.SHOP, "player_id": player, "amount_minor": minor} | values
            )
            unit.commit()
        return moved

    return again(once)


def folded(house: House, kind: AccountKind) -> int:
    with house.engine.connect() as connection:
        return connection.execute(
            select(func.coalesce(func.sum(entry.c.amount_minor), 0))
            .join(account, account.c.id == entry.c.account_id)
            .where(account.c.kind == kind.value)
        ).scalar_one()


# Transfers --------------------------------------------------------------------------------------


def test_play_money_moves_between_the_wallet_and_the_play_account(house):
    player = house.player()
    moved = transfer(house, player, 1_000, kind=PlayKind.PURSE)
    assert moved == PlayMoved(balance_minor=1_000, held_minor=0, repeated=False)
    moved = transfer(house, player, -300, id=str(uuid.uuid4()), reason="felt_wine")
    assert moved == PlayMoved(balance_minor=700, held_minor=0, repeated=False)
    assert house.money(player) == (700, 0)
    assert folded(house, AccountKind.PLAY) == -700
    assert folded(house, AccountKind.HOUSE_BANK) == folded(house, AccountKind.CASH) == 0
    assert house.ledger_sum() == 0
    # Nothing but that the club knows of no purchase.
    assert {fault.code for fault in audit(house.units)} == {"purchase_missing"}


def test_a_transfer_is_made_once_per_id(house):
    player, id = house.player(1_000), str(uuid.uuid4())
    first = transfer(house, player, -300, id=id, reason="felt_wine")
    second = transfer(house, player, -300, id=id, reason="felt_wine")
    assert (first.repeated, second.repeated) == (False, True)
    assert (first.balance_minor, second.balance_minor) == (700, 700)


@pytest.mark.parametrize(
    "changed",
    [{"amount_minor": -301}, {"reason": "felt_green"}, {"kind": PlayKind.PURSE}],
)
def test_the_same_id_for_another_transfer_is_refused(house, changed):
    player, id = house.player(1_000), str(uuid.uuid4())
    transfer(house, player, -300, id=id, reason="felt_wine")
    values = {"id": id, "reason": "felt_wine"} | changed
    with pytest.raises(RefusedError) as refused:
        transfer(house, player, values.pop("amount_minor", -300), **values)
    assert refused.value.code == "transfer_id_reused"
    assert house.money(player) == (700, 0)


def test_an_id_of_a_cash_movement_is_none_for_the_shop(house):
    player, id = house.player(), str(uuid.uuid4())
    with house.units.write() as unit:
        unit.ledger.cash(id=id, player_id=player, amount_minor=500, reason="", by=1)
        unit.commit()
    with pytest.raises(RefusedError) as refused:
        transfer(house, player, 500, id=id)
    assert refused.value.code == "transfer_id_reused"


@pytest.mark.parametrize(("has_minor", "code"), [(299, "balance_short"), (300, None)])
def test_a_wallet_never_falls_below_nought(house, has_minor, code):
    player = house.player(has_minor)
    if code is None:
        transfer(house, player, -300)
        assert house.money(player) == (0, 0)
        return
    with pytest.raises(RefusedError) as refused:
        transfer(house, player, -300)
    assert refused.value.code == code
    assert refused.value.details == {"needed_minor": 300, "balance_minor": has_minor}


def test_sixteen_of_one_id_at_once_move_once(house):
    player, id = house.player(1_000), str(uuid.uuid4())
    with ThreadPoolExecutor(16) as pool:
        answers = list(
            pool.map(lambda _: transfer(house, player, -300, id=id), range(16), timeout=60)
        )
    assert Counter(answer.repeated for answer in answers) == {False: 1, True: 15}
    assert house.money(player) == (700, 0)


# Purses -----------------------------------------------------------------------------------------


def fill_up(house: House, player: int) -> Filled | None:
    with house.units.write() as unit:
        filled = unit.ledger.fill_up(player, below_minor=100, to_minor=1_000)
        unit.commit()
    return filled


def test_a_purse_is_filled_up_to_the_full_and_says_whether_it_is_the_first(house):
    player = house.player()
    assert fill_up(house, player) == Filled(balance_minor=1_000, held_minor=0, first=True)
    assert fill_up(house, player) is None
    house.place(house.request(house.round(), player, stake_minor=901, hold_minor=901))
    house.settle("T1-1-2", {"p1": -1})
    assert fill_up(house, player) == Filled(balance_minor=1_000, held_minor=0, first=False)
    assert folded(house, AccountKind.PLAY) == -1_901
    assert house.ledger_sum() == 0


def test_wallet_and_held_together_decide(house):
    player, round_id = house.player(200), house.round()
    house.place(house.request(round_id, player))
    assert fill_up(house, player) is None
    house.settle(round_id, {"p1": -2})
    with house.units.write() as unit:
        unit.ledger.play_transfer(kind=PlayKind.PURSE, player_id=player, amount_minor=50)
        unit.commit()
    assert fill_up(house, player).balance_minor == 1_000


def test_a_round_fills_up_those_of_its_players_who_have_too_little(house):
    round_id, other_round = house.round(), house.round()
    poor, rich, elsewhere = house.player(200), house.player(500), house.player(200)
    for player, where in ((poor, round_id), (rich, round_id), (elsewhere, other_round)):
        house.place(house.request(where, player))
    with house.units.write() as unit:
        unit.wagers.settle(round_id, version=1, nets={"p1": Fraction(-2)})
        unit.rounds.update_phase(round_id, "settled", settlement_version=1)
        filled = unit.ledger.fill_up_round(round_id, below_minor=100, to_minor=1_000)
        again = unit.ledger.fill_up_round(round_id, below_minor=100, to_minor=1_000)
        unit.commit()
    assert (list(filled), list(again)) == ([poor], [])
    assert [house.money(player) for player in (poor, rich, elsewhere)] == [
        (1_000, 0),
        (300, 0),
        (0, 200),
    ]
    assert house.ledger_sum() == 0


# Rooms ------------------------------------------------------------------------------------------


def open_room(house: House, *players: int, started: bool = True) -> str:
    room_id = str(uuid.uuid4())
    with house.units.write() as unit:
        unit.rooms.open(
            id=room_id, table=TABLE, code=room_id[:8], owner_id=players[0], at_ms=OPENED_MS
        )
        for player in players[1:]:
            unit.rooms.join(room_id, player, at_ms=OPENED_MS)
        if started:
            unit.rooms.start(room_id, at_ms=OPENED_MS)
        unit.commit()
    return room_id


def leave(house: House, room_id: str, player: int) -> Forfeited:
    with house.units.write() as unit:
        room = unit.rooms.get(room_id, lock=True)
        unit.rooms.forfeit(room, player, at_ms=OPENED_MS)
        unit.rooms.leave(room, player, at_ms=OPENED_MS)
        forfeited = unit.rooms.forfeited(room_id, player)
        unit.commit()
    return forfeited


def test_the_database_keeps_a_player_in_one_room(house):
    first, second = house.player(), house.player()
    open_room(house, first)
    room_id = open_room(house, second)
    with house.units.write() as unit, pytest.raises(TryAgainError):
        unit.rooms.join(room_id, first, at_ms=OPENED_MS)
    with house.units.write() as unit, pytest.raises(TryAgainError):
        unit.rooms.open(
            id=str(uuid.uuid4()), table=TABLE, code="OTHER234", owner_id=first, at_ms=OPENED_MS
        )
    leave(house, room_id, second)
    open_room(house, second)  # who left is free again


def test_an_id_and_a_code_belong_to_one_room(house):
    room_id = open_room(house, house.player())
    for id, code in ((room_id, "OTHER234"), (str(uuid.uuid4()), room_id[:8])):
        with house.units.write() as unit, pytest.raises(TryAgainError):
            unit.rooms.open(id=id, table=TABLE, code=code, owner_id=house.player(), at_ms=OPENED_MS)


def test_rooms_are_found_by_id_by_code_and_by_player(house):
    player, stranger = house.player(), house.player()
    room_id = open_room(house, player)
    with house.units.read() as unit:
        room = unit.rooms.get(room_id)
        assert room == unit.rooms.of_player(player) == unit.rooms.by_code(room_id[:8])
        assert (room.state, room.player_ids, room.members[0].name) == (
            RoomState.STARTED,
            (player,),
            "",
        )
        assert unit.rooms.of_player(stranger) is None
        assert unit.rooms.by_code("OTHER234") is None
        assert unit.rooms.get(str(uuid.uuid4())) is None
        assert unit.rooms.was_in(room_id, player)
        assert not unit.rooms.was_in(room_id, stranger)


def test_the_members_are_asked_for_by_an_index(house):
    """Every wager of a play-money studio asks which room its player is in."""
    player = house.player()
    open_room(house, player)
    seen: list[str] = []

    def note(_connection, _cursor, statement, *_rest) -> None:
        seen.append(statement)

    with house.units.read() as unit:
        event.listen(house.engine, "before_cursor_execute", note)
        unit.rooms.of_player(player)
        event.remove(house.engine, "before_cursor_execute", note)
    assert len(seen) == 1


# Forfeits ---------------------------------------------------------------------------------------


@pytest.fixture
def forfeited(house: House) -> tuple[House, str, int, int]:
    """A closed round with 100 of two players on p1, one of whom left the room."""
    round_id, stayer, leaver = house.round(), house.player(1_000), house.player(1_000)
    room_id = open_room(house, stayer, leaver)
    for player in (stayer, leaver):
        house.place(house.request(round_id, player))
    assert leave(house, room_id, leaver) == Forfeited(wagers=1, minor=100)
    house.close(round_id)
    return house, round_id, stayer, leaver


@pytest.mark.parametrize(
    ("net", "back"),
    [(Fraction(2), 100), (Fraction(0), 100), (Fraction(-1), 100), (Fraction(-2), 0)],
)
def test_a_forfeited_wager_loses_its_stake_and_what_the_hand_lost_besides(forfeited, net, back):
    house, round_id, stayer, leaver = forfeited
    with house.units.write() as unit:
        settled = unit.wagers.settle(round_id, version=1, nets={"p1": net})
        unit.rounds.update_phase(round_id, "settled", settlement_version=1)
        unit.commit()
    assert settled.count == 2
    assert settled.payouts_minor == 200 + 100 * net + back
    assert house.money(stayer) == (1_000 + 100 * net, 0)
    assert house.money(leaver) == (800 + back, 0)
    assert house.ledger_sum() == 0
    with house.units.read() as unit:
        endings = [one.ending for one in unit.wagers.of_round(round_id)]
    assert [ending.kind for ending in endings] == [EndingKind.SETTLED] * 2
    assert endings[1].payout_minor == back


def test_a_void_gives_a_forfeited_wager_back(forfeited):
    house, round_id, stayer, leaver = forfeited
    house.refund(round_id)
    assert house.money(stayer) == house.money(leaver) == (1_000, 0)
    assert house.ledger_sum() == 0


@pytest.mark.parametrize(
    ("nets", "code"),
    [({"p2": Fraction(1)}, "bet_without_result"), ({"p1": Fraction(-3)}, "payout_negative")],
)
def test_a_forfeit_hides_no_fault_of_a_settlement(house, nets, code):
    round_id, leaver = house.round(), house.player(1_000)
    room_id = open_room(house, leaver)
    house.place(house.request(round_id, leaver))
    leave(house, room_id, leaver)
    with pytest.raises(InvariantError) as broken:
        house.settle(round_id, nets)
    assert broken.value.code == code
    assert house.money(leaver) == (800, 200)


@pytest.mark.parametrize("phase", ["settled", "void"])
def test_leaving_after_the_round_forfeits_nothing(house, phase):
    round_id, leaver = house.round(), house.player(1_000)
    room_id = open_room(house, leaver)
    house.place(house.request(round_id, leaver))
    house.settle(round_id, {"p1": 1}) if phase == "settled" else house.refund(round_id)
    with house.units.read() as unit:
        room = unit.rooms.get(room_id)
        assert unit.rooms.standing(room, leaver) == Forfeited(wagers=0, minor=0)
    assert leave(house, room_id, leaver) == Forfeited(wagers=0, minor=0)


@pytest.mark.parametrize("phase", ["no_more_bets", "reveal"])
def test_leaving_at_any_time_before_the_settlement_forfeits(house, phase):
    round_id, leaver = house.round(), house.player(1_000)
    room_id = open_room(house, leaver)
    house.place(house.request(round_id, leaver))
    with house.units.write() as unit:
        unit.rounds.update_phase(round_id, phase, settlement_version=0)
        unit.commit()
    assert leave(house, room_id, leaver) == Forfeited(wagers=1, minor=100)


def test_an_open_room_forfeits_nothing(house):
    round_id, leaver = house.round(), house.player(1_000)
    room_id = open_room(house, leaver, started=False)
    house.place(house.request(round_id, leaver))
    assert leave(house, room_id, leaver) == Forfeited(wagers=0, minor=0)


def settlement_statements(house: House, round_id: str) -> int:
    seen: list[str] = []

    def note(_connection, _cursor, statement, *_rest) -> None:
        seen.append(statement)

    event.listen(house.engine, "before_cursor_execute", note)
    house.settle(round_id, {"p1": 1})
    event.remove(house.engine, "before_cursor_execute", note)
    assert sum("forfeit" in statement for statement in seen) in (1, 2)
    return sum("forfeit" in statement for statement in seen)


def test_without_a_forfeit_a_settlement_asks_one_question_more_and_its_formula_is_the_old(house):
    round_id, player = house.round(), house.player(1_000)
    house.place(house.request(round_id, player))
    assert settlement_statements(house, round_id) == 1


def test_with_a_forfeit_the_formula_asks_for_each_wager(forfeited):
    house, round_id, _, _ = forfeited
    assert settlement_statements(house, round_id) == 2


@pytest.mark.postgresql
def test_the_question_for_forfeits_is_answered_by_an_index(postgresql_engine):
    with postgresql_engine.connect() as connection:
        connection.execute(text("SET enable_seqscan = off"))
        plan = connection.execute(
            text("EXPLAIN SELECT wager_number FROM forfeit WHERE round_id = 'T1-1-1' LIMIT 1")
        ).scalars()
        assert "ix_forfeit_round_id" in " ".join(plan)
