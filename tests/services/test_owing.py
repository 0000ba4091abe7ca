"""What players owe, at the cash desk: told, once per id, a line in the trail, nothing half done."""

import uuid
from fractions import Fraction

import pytest

from studio.domain.errors import MalformedError, RefusedError
from studio.services.cash import CashService
from studio.services.owed_ports import OwedDeed
from studio.services.ports import Actor, Balance, Role
from studio.store.units import SqlUnits
from tests.services.test_deaths import STATEMENTS_MAX, Death, dying
from tests.store.house import FrozenClock, House

ADMINISTRATOR = Actor(id=9, name="Mori", role=Role.ADMINISTRATOR)
OWED_MINOR = 200


class Heard(list):
    """A publisher that remembers what players were told."""

    def wallet(self, player_id, message) -> None:
        self.append((player_id, message))


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def house(request) -> House:
    engine = request.getfixturevalue(f"{request.param}_engine")
    clock = FrozenClock()
    units = SqlUnits(engine, clock=clock, currency="JPY", simulated_clock=clock)
    return House(engine=engine, clock=clock, units=units)


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def desk(house, heard) -> CashService:
    return CashService(units=house.units, publisher=heard)


@pytest.fixture
def debtor(house, desk, heard) -> int:
    """A player who went home with winnings that were then taken back."""
    player, round_id = house.player(1_000), house.round()
    house.place(house.request(round_id, player))
    house.settle(round_id, {"p1": Fraction(1)})
    move(desk, player, -1_100)
    with house.units.write() as unit:
        unit.wagers.correct(round_id, version=2, nets={"p1": Fraction(-1)})
        unit.rounds.update_phase(round_id, "settled", settlement_version=2)
        unit.commit()
    heard.clear()
    return player


def move(desk: CashService, player: int, amount_minor: int) -> Balance:
    return desk.move(
        ADMINISTRATOR,
        id=str(uuid.uuid4()),
        player_id=player,
        amount_minor=amount_minor,
        reason="cash",
    )


def settle(
    desk, player, deed, amount_minor, *, actor=ADMINISTRATOR, id=None, reason=" Agreed "
) -> Balance:
    return desk.settle_owed(
        actor,
        deed,
        id=id or str(uuid.uuid4()),
        player_id=player,
        amount_minor=amount_minor,
        reason=reason,
    )


def trail_of(house: House):
    with house.units.read() as unit:
        return unit.trail.read(limit=9, before_id=None)


def test_who_pays_in_is_told_what_is_owed_and_keeps_the_cash(desk, debtor, heard):
    assert move(desk, debtor, 500).balance_minor == 500
    ((player, message),) = heard
    assert (player, message["reason"]) == (debtor, "cash")
    assert (message["balance_minor"], message["owed_minor"]) == (500, OWED_MINOR)


def test_cash_out_is_refused_with_the_sum_that_is_owed(house, desk, debtor, heard):
    move(desk, debtor, 500)
    with pytest.raises(RefusedError) as refused:
        move(desk, debtor, -100)
    assert (refused.value.code, refused.value.details) == ("owes_money", {"owed_minor": OWED_MINOR})
    assert house.money(debtor) == (500, 0)
    assert len(heard) == 1


@pytest.mark.parametrize(
    ("deed", "balance_minor", "action", "reason"),
    [
        (OwedDeed.COLLECT, 350, "collect_owed", "collected"),
        (OwedDeed.WRITE_OFF, 500, "write_off_owed", "written_off"),
    ],
)
def test_a_part_is_settled_with_a_line_in_the_trail_and_the_player_is_told(
    house, desk, debtor, heard, deed, balance_minor, action, reason
):
    move(desk, debtor, 500)
    after = settle(desk, debtor, deed, 150)
    assert after == Balance(balance_minor=balance_minor, held_minor=0, owed_minor=50)
    line = trail_of(house)[0]
    assert (line.action, line.actor, line.reason) == (action, "Mori", "Agreed")
    assert line.subject == f"player {debtor}"
    assert line.before == {"balance_minor": 500, "owed_minor": OWED_MINOR}
    assert {name: line.after[name] for name in line.before} == {
        "balance_minor": balance_minor,
        "owed_minor": 50,
    }
    assert heard[-1] == (
        debtor,
        {
            "balance_minor": balance_minor,
            "held_minor": 0,
            "owed_minor": 50,
            "reason": reason,
            "amount_minor": 150,
            "round_id": None,
        },
    )
    assert house.ledger_sum() == 0


@pytest.mark.parametrize("deed", OwedDeed)
def test_the_same_id_settles_once_and_leaves_one_line(house, desk, debtor, heard, deed):
    move(desk, debtor, 500)
    id = str(uuid.uuid4())
    first = settle(desk, debtor, deed, 150, id=id)
    assert settle(desk, debtor, deed, 150, id=id.upper()) == first
    assert [line.action for line in trail_of(house)].count(f"{deed}_owed") == 1
    assert len(heard) == 2


def test_the_desk_says_why_something_is_owed(desk, debtor):
    settle(desk, debtor, OwedDeed.WRITE_OFF, 150)
    balance, changes = desk.owed(debtor)
    assert balance.owed_minor == 50 == sum(change.amount_minor for change in changes)
    assert [change.deed for change in changes] == [OwedDeed.WRITE_OFF, None]


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.ADMINISTRATOR])
def test_only_an_administrator_settles(desk, debtor, role):
    with pytest.raises(RefusedError) as refused:
        settle(desk, debtor, OwedDeed.WRITE_OFF, 1, actor=Actor(id=1, name="x", role=role))
    assert refused.value.code == "only_administrators_move_cash"
    assert desk.owed(debtor)[0].owed_minor == OWED_MINOR


@pytest.mark.parametrize(
    ("amount_minor", "reason", "id", "code"),
    [
        (0, "x", None, "amount_not_positive"),
        (-5, "x", None, "amount_not_positive"),
        (1.0, "x", None, "amount_not_integer"),
        (10, " ", None, "reason_missing"),
        (10, "x" * 501, None, "reason_too_long"),
        (10, "x", "7", "id_not_uuid"),
    ],
)
def test_what_cannot_be_read_settles_nothing(desk, debtor, amount_minor, reason, id, code):
    with pytest.raises(MalformedError) as wrong:
        settle(desk, debtor, OwedDeed.WRITE_OFF, amount_minor, reason=reason, id=id)
    assert wrong.value.code == code
    assert desk.owed(debtor)[0].owed_minor == OWED_MINOR


@pytest.mark.parametrize("deed", OwedDeed)
def test_whatever_statement_it_dies_at_nothing_is_half_done_or_done_twice(
    house, desk, debtor, deed
):
    move(desk, debtor, 500)
    id = str(uuid.uuid4())

    def everything():
        return desk.owed(debtor), house.money(debtor), len(trail_of(house)), house.ledger_sum()

    before, deaths = everything(), 0
    for at in range(1, STATEMENTS_MAX):
        with dying(house.engine, at):
            try:
                settle(desk, debtor, deed, 150, id=id)
            except Death:
                deaths += 1
            else:
                break
        assert everything() == before
    after = everything()
    assert deaths > 5
    assert after != before
    settle(desk, debtor, deed, 150, id=id)
    assert everything() == after
    assert desk.owed(debtor)[0].owed_minor == 50
    assert house.ledger_sum() == 0
