"""The audit finds nothing in what play money wrote, and names what a hand changed afterwards."""

from collections.abc import Callable

import pytest
from sqlalchemy import Connection, delete, func, insert, select, update

from studio.services.audit import audit
from studio.services.play_ports import PlayKind
from studio.store.engine import write_transaction
from studio.store.play_tables import forfeit, room, room_member
from studio.store.tables import (
    LEG_HOUSE,
    LEG_PLAY,
    LEG_WALLET,
    entry,
    player_balance,
    transfer,
    wager,
    wager_ending,
)
from tests.store.playing import Playing

ROOM = "0dc7a4c2-7d3f-4c1b-9d66-2f5e4d1a0b3c"


class RoomPlaying(Playing):
    """A table whose two players share a room that one of them leaves in the middle of a round."""

    def story(self) -> None:
        self.open_house()
        self.open_shoe()
        self.play_round()  # nobody's room
        now_ms = self.clock.now_ms()
        with self.units.write() as unit:
            unit.rooms.open(id=ROOM, table="T1", code="ABCD2345", owner_id=1, at_ms=now_ms)
            unit.rooms.join(ROOM, 2, at_ms=now_ms)
            unit.rooms.start(ROOM, at_ms=now_ms)
            unit.ledger.fill_up(3, below_minor=100, to_minor=100_000)
            unit.ledger.play_transfer(kind=PlayKind.PURSE, player_id=1, amount_minor=500)
            unit.commit()
        self.open_round()
        self.bet(0, "p1", 1_000)
        self.bet(1, "p1", 1_000)
        self.bet(1, "p2", 500)
        with self.units.write() as unit:
            found = unit.rooms.get(ROOM, lock=True)
            unit.rooms.forfeit(found, 2, at_ms=unit.now_ms())
            unit.rooms.leave(found, 2, at_ms=unit.now_ms())
            unit.commit()
        self.finish_round()


@pytest.fixture
def playing(engine) -> RoomPlaying:
    told = RoomPlaying(engine)
    told.story()
    return told


def test_what_play_money_wrote_has_no_fault(playing):
    assert audit(playing.units) == []


# A fault each, written by hand ------------------------------------------------------------------


def a_forfeit(connection: Connection) -> int:
    return connection.execute(select(func.min(forfeit.c.wager_number))).scalar_one()


def a_purse(connection: Connection) -> int:
    purses = select(func.min(transfer.c.id)).where(transfer.c.kind == "purse")
    return connection.execute(purses).scalar_one()


TOO_MUCH = 1_001
"""A unit more than the deposit of 1,000."""


def pay_a_forfeit(connection: Connection) -> None:
    """Pay more than its deposit for a forfeited wager and book it properly."""
    number = a_forfeit(connection)
    ending = wager_ending.c.wager_number == number
    connection.execute(update(wager_ending).where(ending).values(payout_minor=TOO_MUCH))
    transfer_id = connection.execute(select(wager_ending.c.transfer_id).where(ending)).scalar_one()
    wallet_id = connection.execute(
        select(player_balance.c.wallet_id).where(player_balance.c.player_id == 2)
    ).scalar_one()
    line = {"origin_id": number, "version": 1, "leg": LEG_WALLET, "transfer_id": transfer_id}
    connection.execute(insert(entry), {**line, "account_id": wallet_id, "amount_minor": TOO_MUCH})
    connection.execute(
        update(entry)
        .where(entry.c.origin_id == transfer_id, entry.c.leg == LEG_HOUSE)
        .values(amount_minor=entry.c.amount_minor - TOO_MUCH)
    )
    connection.execute(
        update(player_balance)
        .where(player_balance.c.player_id == 2)
        .values(balance_minor=player_balance.c.balance_minor + TOO_MUCH)
    )


def take_a_forfeit_back(connection: Connection) -> None:
    connection.execute(
        update(wager_ending)
        .where(wager_ending.c.wager_number == a_forfeit(connection))
        .values(kind="undone")
    )


def forfeit_a_settled_wager(connection: Connection) -> None:
    """Note a wager of the player who stayed as forfeited: it was paid, or would have been."""
    number, round_id = connection.execute(
        select(wager.c.number, wager.c.round_id)
        .join(wager_ending, wager_ending.c.wager_number == wager.c.number)
        .where(wager_ending.c.kind == "settled", wager_ending.c.payout_minor > 0)
        .limit(1)
    ).one()
    row = {"wager_number": number, "round_id": round_id, "at_ms": 1, "room_id": ROOM}
    connection.execute(insert(forfeit), row)


def forget_a_forfeit(connection: Connection) -> None:
    connection.execute(delete(forfeit))


def move_a_forfeit_to_another_round(connection: Connection) -> None:
    connection.execute(
        update(forfeit)
        .where(forfeit.c.wager_number == a_forfeit(connection))
        .values(round_id="T1-1-1")
    )


def forget_who_was_in_the_room(connection: Connection) -> None:
    connection.execute(delete(room_member).where(room_member.c.player_id == 2))


def move_the_room(connection: Connection) -> None:
    connection.execute(update(room).values(table_code="T9"))


def change_a_purse(connection: Connection) -> None:
    connection.execute(
        update(entry)
        .where(entry.c.origin_id == a_purse(connection), entry.c.leg == LEG_PLAY)
        .values(amount_minor=entry.c.amount_minor - 1)
    )


def lose_a_purse(connection: Connection) -> None:
    connection.execute(delete(entry).where(entry.c.origin_id == a_purse(connection)))


def turn_a_purse_round(connection: Connection) -> None:
    connection.execute(
        update(entry)
        .where(entry.c.origin_id == a_purse(connection))
        .values(amount_minor=-entry.c.amount_minor)
    )


def take_a_purse_from_the_bank(connection: Connection) -> None:
    bank = connection.exec_driver_sql(
        "SELECT id FROM account WHERE kind = 'house_bank'"
    ).scalar_one()
    connection.execute(
        update(entry)
        .where(entry.c.origin_id == a_purse(connection), entry.c.leg == LEG_PLAY)
        .values(account_id=bank)
    )


def call_a_purse_shop(connection: Connection) -> None:
    connection.execute(
        update(transfer).where(transfer.c.id == a_purse(connection)).values(kind="shop")
    )


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (pay_a_forfeit, {"forfeit_paid", "payout_differs", "settlement_differs"}),
        (take_a_forfeit_back, {"forfeit_paid"}),
        (forfeit_a_settled_wager, {"forfeit_paid", "payout_differs"}),
        (forget_a_forfeit, {"payout_differs"}),  # it would have got its deposit back
        (move_a_forfeit_to_another_round, {"forfeit_dangling"}),
        (forget_who_was_in_the_room, {"forfeit_dangling"}),
        (move_the_room, {"forfeit_dangling"}),
        (change_a_purse, {"play_transfer_differs", "transfer_unbalanced", "ledger_sum"}),
        (lose_a_purse, {"play_transfer_differs", "transfer_empty", "balance_differs"}),
        (turn_a_purse_round, {"play_transfer_differs", "balance_differs"}),
        (take_a_purse_from_the_bank, {"play_transfer_differs"}),
        (call_a_purse_shop, {"play_transfer_differs"}),
    ],
)
def test_a_change_by_hand_is_found(
    playing: RoomPlaying, spoil: Callable[[Connection], None], found: set[str]
):
    with write_transaction(playing.engine) as connection:
        spoil(connection)
    faults = audit(playing.units)
    assert found <= {fault.code for fault in faults}
    assert all(fault.where and fault.what for fault in faults)
