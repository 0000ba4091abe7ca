"""What players owe: collected, written off, never below 0, and why it is owed."""

import threading
import uuid
from fractions import Fraction

import pytest
from sqlalchemy import event, select, update

from studio.domain.errors import RefusedError
from studio.services.owed_ports import OwedChange, OwedDeed
from studio.store.correction_tables import player_owed
from studio.store.tables import (
    LEG_ADJUSTMENT,
    LEG_WALLET,
    AccountKind,
    account,
    entry,
    player_balance,
)
from studio.store.tables import transfer as transfers
from tests.store.house import OPENED_MS, House

WON, LOST = {"p1": Fraction(1)}, {"p1": Fraction(-1)}
OWED_MINOR = 200


@pytest.fixture
def debtor(house) -> int:
    """A player whose winnings were taken back after they were taken home: 200 are owed."""
    player, round_id = house.player(1_000), house.round()
    house.place(house.request(round_id, player))
    house.settle(round_id, WON)
    cash(house, player, -1_100)
    with house.units.write() as unit:
        unit.wagers.correct(round_id, version=2, nets=LOST)
        unit.rounds.update_phase(round_id, "settled", settlement_version=2)
        unit.commit()
    assert have(house, player) == (0, OWED_MINOR)
    return player


def cash(house: House, player: int, amount_minor: int) -> None:
    with house.units.write() as unit:
        unit.ledger.cash(
            id=str(uuid.uuid4()), player_id=player, amount_minor=amount_minor, reason="x", by=1
        )
        unit.commit()


def settle(house: House, player: int, deed: OwedDeed, amount_minor: int, *, id=None, reason="x"):
    with house.units.write() as unit:
        booked = unit.owed.settle(
            deed,
            id=id or str(uuid.uuid4()),
            player_id=player,
            amount_minor=amount_minor,
            reason=reason,
            by=1,
        )
        unit.commit()
    return booked


def have(house: House, player: int) -> tuple[int, int]:
    with house.units.read() as unit:
        balance = unit.ledger.balance(player)
    return balance.balance_minor, balance.owed_minor


def sum_of(house: House, kind: AccountKind) -> int:
    with house.engine.connect() as connection:
        lines = select(entry.c.amount_minor).join(account, account.c.id == entry.c.account_id)
        return sum(connection.scalars(lines.where(account.c.kind == kind.value)))


def faults(house: House) -> list[str]:
    with house.units.inspect() as inspection:
        codes = [fault.code for fault in inspection.money()]
    return [code for code in codes if code != "accepted_untimely"]


def test_cash_paid_in_goes_to_the_wallet_whole_and_nothing_is_taken_unasked(house, debtor):
    cash(house, debtor, 500)
    assert have(house, debtor) == (500, OWED_MINOR)


def test_what_is_owed_is_collected_in_parts_until_nothing_is_left(house, debtor):
    bank_minor = sum_of(house, AccountKind.HOUSE_BANK)
    cash(house, debtor, 150)
    settle(house, debtor, OwedDeed.COLLECT, 150)
    assert have(house, debtor) == (0, 50)
    cash(house, debtor, 500)
    settle(house, debtor, OwedDeed.COLLECT, 50)
    assert have(house, debtor) == (450, 0)
    cash(house, debtor, -450)
    assert sum_of(house, AccountKind.HOUSE_BANK) == bank_minor
    assert house.ledger_sum() == 0
    assert faults(house) == []


def test_what_is_written_off_is_the_houses_cost_and_not_the_tables_loss(house, debtor):
    bank_minor = sum_of(house, AccountKind.HOUSE_BANK)
    settle(house, debtor, OwedDeed.WRITE_OFF, 120)
    settle(house, debtor, OwedDeed.WRITE_OFF, 80)
    assert have(house, debtor) == (0, 0)
    assert sum_of(house, AccountKind.HOUSE_BANK) == bank_minor
    assert sum_of(house, AccountKind.ADJUSTMENTS) == -OWED_MINOR
    assert sum_of(house, AccountKind.OWED) == 0
    assert house.ledger_sum() == 0
    assert faults(house) == []


@pytest.mark.parametrize("deed", OwedDeed)
def test_the_same_id_settles_once_and_other_content_is_refused(house, debtor, deed):
    cash(house, debtor, 150)
    id = str(uuid.uuid4())
    assert settle(house, debtor, deed, 100, id=id)
    before = have(house, debtor)
    assert not settle(house, debtor, deed, 100, id=id)
    other = next(one for one in OwedDeed if one is not deed)
    for changed in (
        lambda: settle(house, debtor, deed, 99, id=id),
        lambda: settle(house, debtor, deed, 100, id=id, reason="y"),
        lambda: settle(house, debtor, other, 100, id=id),
        lambda: settle(house, house.player(), deed, 100, id=id),
    ):
        with pytest.raises(RefusedError) as refused:
            changed()
        assert refused.value.code == "transfer_id_reused"
    assert have(house, debtor) == before


def test_an_id_of_cash_settles_nothing(house, debtor):
    id = str(uuid.uuid4())
    settle(house, debtor, OwedDeed.WRITE_OFF, 100, id=id)
    with pytest.raises(RefusedError) as refused, house.units.write() as unit:
        unit.ledger.cash(id=id, player_id=debtor, amount_minor=100, reason="x", by=1)
    assert refused.value.code == "transfer_id_reused"


@pytest.mark.parametrize(
    ("deed", "there_minor", "amount_minor", "code", "details"),
    [
        (OwedDeed.COLLECT, 500, 201, "more_than_owed", {"amount_minor": 201, "owed_minor": 200}),
        (OwedDeed.WRITE_OFF, 0, 201, "more_than_owed", {"amount_minor": 201, "owed_minor": 200}),
        (OwedDeed.COLLECT, 199, 200, "balance_short", {"needed_minor": 200, "balance_minor": 199}),
    ],
)
def test_no_more_goes_than_is_owed_and_there(
    house, debtor, deed, there_minor, amount_minor, code, details
):
    if there_minor:
        cash(house, debtor, there_minor)
    with pytest.raises(RefusedError) as refused:
        settle(house, debtor, deed, amount_minor)
    assert (refused.value.code, refused.value.details) == (code, details)
    assert have(house, debtor) == (there_minor, OWED_MINOR)


@pytest.mark.parametrize("cash_minor", [0, 500])
def test_who_owes_nothing_has_nothing_to_settle(house, cash_minor):
    player = house.player(cash_minor)
    with pytest.raises(RefusedError) as refused:
        settle(house, player, OwedDeed.COLLECT, 1)
    assert refused.value.code == "more_than_owed"
    with house.units.read() as unit:
        assert unit.owed.changes(player, limit=10) == []


def test_no_cash_goes_out_while_something_is_owed(house, debtor):
    cash(house, debtor, 500)
    with pytest.raises(RefusedError) as refused:
        cash(house, debtor, -1)
    assert refused.value.code == "owes_money"
    assert refused.value.details == {"owed_minor": OWED_MINOR}
    settle(house, debtor, OwedDeed.COLLECT, OWED_MINOR)
    cash(house, debtor, -300)
    assert have(house, debtor) == (0, 0)


def test_the_changes_say_why_newest_first(house, debtor):
    cash(house, debtor, 500)
    settle(house, debtor, OwedDeed.COLLECT, 50)
    house.clock.at_ms += 7
    settle(house, debtor, OwedDeed.WRITE_OFF, 30)
    with house.units.read() as unit:
        changes = unit.owed.changes(debtor, limit=10)
        assert unit.owed.changes(debtor, limit=1) == changes[:1]
    assert [(one.deed, one.amount_minor) for one in changes] == [
        (OwedDeed.WRITE_OFF, -30),
        (OwedDeed.COLLECT, -50),
        (None, OWED_MINOR),
    ]
    round_id = changes[-1].round_id
    assert round_id is not None
    assert changes[-1] == OwedChange(
        at_ms=OPENED_MS, deed=None, round_id=round_id, amount_minor=OWED_MINOR
    )
    assert changes[0].at_ms == OPENED_MS + 7


def test_the_changes_are_found_by_an_index_of_their_own(house, debtor):
    asked: list[tuple[str, object]] = []

    def note(_connection, _cursor, statement, parameters, *_rest) -> None:
        asked.append((statement, parameters))

    with house.units.read() as unit:
        event.listen(unit.connection, "before_cursor_execute", note)
        unit.owed.changes(debtor, limit=10)
        event.remove(unit.connection, "before_cursor_execute", note)
        statement, parameters = asked[0]
        if house.engine.dialect.name == "postgresql":
            unit.connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
            statement = f"EXPLAIN {statement}"
        else:
            statement = f"EXPLAIN QUERY PLAN {statement}"
        plan = unit.connection.exec_driver_sql(statement, parameters).all()
    assert "ix_entry_owed" in str(plan)


def test_two_who_collect_at_once_take_what_is_owed_once(house, debtor):
    cash(house, debtor, 500)
    codes: list[str] = []

    def collect() -> None:
        try:
            settle(house, debtor, OwedDeed.COLLECT, OWED_MINOR)
        except RefusedError as refusal:
            codes.append(refusal.code)

    desks = [threading.Thread(target=collect) for _ in range(4)]
    for desk in desks:
        desk.start()
    for desk in desks:
        desk.join(timeout=60)
    assert codes == ["more_than_owed"] * 3
    assert have(house, debtor) == (300, 0)
    assert faults(house) == []


@pytest.mark.parametrize("deed", OwedDeed)
def test_the_audit_finds_what_was_settled_at_the_wrong_cost(house, debtor, deed):
    cash(house, debtor, 500)
    other = house.player(500)
    settle(house, debtor, deed, 100)
    assert faults(house) == []
    with house.engine.begin() as connection:
        wallet = connection.scalar(
            select(player_balance.c.wallet_id).where(player_balance.c.player_id == other)
        )
        number = connection.scalar(select(transfers.c.id).where(transfers.c.kind == deed.value))
        leg = LEG_WALLET if deed is OwedDeed.COLLECT else LEG_ADJUSTMENT
        mine = (entry.c.origin_id == number) & (entry.c.leg == leg)
        connection.execute(update(entry).where(mine).values(account_id=wallet))
    assert "owed_settled_wrongly" in faults(house)
    with house.engine.begin() as connection:
        connection.execute(entry.delete().where(entry.c.origin_id == number))
        connection.execute(update(player_owed).values(owed_minor=player_owed.c.owed_minor + 100))
    assert "owed_settled_wrongly" in faults(house)
