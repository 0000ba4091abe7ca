"""The audit holds purchases against their transfers and names what a hand changed."""

import uuid
from collections.abc import Callable

import pytest
from sqlalchemy import Connection, Engine, delete, insert, select, update

from studio.services.audit import audit
from studio.services.club_ports import Purchase
from studio.services.inspection import FAULTS_PER_CHECK_MAX, Fault
from studio.services.play_ports import PlayKind
from studio.store.club_tables import purchase
from studio.store.engine import write_transaction
from studio.store.tables import LEG_WALLET, entry, player_balance, transfer
from tests.store.house import OPENED_MS, House

RICH, OTHER = 1, 2


@pytest.fixture
def shopped(house: House) -> House:
    """A house in which two players bought something."""
    for player_id, item, price_minor in (
        (house.player(10_000), "felt_wine", 300),
        (house.player(10_000), "back_gold", 500),
    ):
        id = str(uuid.uuid4())
        with house.units.write() as unit:
            unit.ledger.play_transfer(
                kind=PlayKind.SHOP,
                player_id=player_id,
                amount_minor=-price_minor,
                id=id,
                reason=item,
            )
            bought = Purchase(
                player_id=player_id, item=item, price_minor=price_minor, bought_ms=OPENED_MS
            )
            unit.club.add_purchase(bought, id=id)
            unit.commit()
    return house


def test_a_shop_as_the_studio_keeps_it_has_no_fault(shopped):
    assert audit(shopped.units) == []


def change_price(connection: Connection) -> None:
    connection.execute(update(purchase).where(purchase.c.player_id == RICH).values(price_minor=299))


def change_item(connection: Connection) -> None:
    connection.execute(update(purchase).where(purchase.c.player_id == RICH).values(item="gold"))


def give_away(connection: Connection) -> None:
    """Let another player have what this one paid for."""
    connection.execute(update(purchase).where(purchase.c.player_id == RICH).values(player_id=OTHER))


def change_kind(connection: Connection) -> None:
    connection.execute(update(transfer).where(transfer.c.kind == "shop").values(kind="purse"))


def pay_from_another_wallet(connection: Connection) -> None:
    wallets = connection.execute(
        select(player_balance.c.wallet_id).order_by(player_balance.c.player_id)
    ).all()
    paid = select(purchase.c.transfer_id).where(purchase.c.player_id == RICH).scalar_subquery()
    connection.execute(
        update(entry)
        .where(entry.c.origin_id == paid, entry.c.leg == LEG_WALLET)
        .values(account_id=wallets[1][0])
    )


def lose_entries(connection: Connection) -> None:
    paid = select(purchase.c.transfer_id).where(purchase.c.player_id == RICH).scalar_subquery()
    connection.execute(delete(entry).where(entry.c.origin_id == paid))


def lose_purchase(connection: Connection) -> None:
    connection.execute(delete(purchase).where(purchase.c.player_id == RICH))


def hand_over_unpaid(connection: Connection) -> None:
    cash = select(transfer.c.id).where(transfer.c.kind == "cash").limit(1).scalar_subquery()
    row = {"player_id": RICH, "item": "plate", "price_minor": 10_000, "bought_ms": 1}
    connection.execute(insert(purchase).values(**row, transfer_id=cash))


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (change_price, {"purchase_differs"}),
        (change_item, {"purchase_differs"}),
        (give_away, {"purchase_differs"}),
        (change_kind, {"purchase_differs", "play_transfer_differs"}),
        (pay_from_another_wallet, {"purchase_differs", "balance_differs"}),
        (lose_entries, {"purchase_differs", "transfer_empty", "balance_differs"}),
        (lose_purchase, {"purchase_missing"}),
        (hand_over_unpaid, {"purchase_differs"}),
    ],
)
def test_a_change_by_hand_is_found(
    shopped: House, spoil: Callable[[Connection], None], found: set[str]
):
    with write_transaction(shopped.engine) as connection:
        spoil(connection)
    assert {fault.code for fault in audit(shopped.units)} >= found


def test_a_fault_says_where_and_what(shopped):
    with write_transaction(shopped.engine) as connection:
        change_price(connection)
    assert audit(shopped.units) == [
        Fault(
            code="purchase_differs",
            where=f"player {RICH}",
            what="felt_wine was not paid for as noted: 300 left this wallet for it.",
        )
    ]


def test_a_damaged_table_does_not_drown_the_report(engine: Engine, house: House):
    with write_transaction(engine) as connection:
        connection.execute(
            insert(transfer),
            [{"kind": "shop", "at_ms": 1, "reason": "x"} for _ in range(2 * FAULTS_PER_CHECK_MAX)],
        )
    codes = [fault.code for fault in audit(house.units)]
    assert codes.count("purchase_missing") == FAULTS_PER_CHECK_MAX
