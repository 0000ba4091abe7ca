"""The cash desk: an administrator moves cash once per id, with a line in the trail."""

import uuid

import pytest

from studio.domain.errors import MalformedError, RefusedError
from studio.services.cash import CashService
from studio.services.ports import Actor, Role
from studio.store.engine import make_engine
from studio.store.schema import upgrade
from studio.store.units import SqlUnits
from tests.store.house import FrozenClock, House

ADMINISTRATOR = Actor(id=9, name="Mori", role=Role.ADMINISTRATOR)
PLAYER_ID = 4


class Heard(list):
    """A publisher that remembers what players were told."""

    def wallet(self, player_id, message) -> None:
        self.append((player_id, message["balance_minor"], message["reason"]))


@pytest.fixture
def house(sqlite_url) -> House:
    engine = make_engine(sqlite_url)
    upgrade(engine)
    clock = FrozenClock()
    yield House(engine=engine, clock=clock, units=SqlUnits(engine, clock=clock, currency="JPY"))
    engine.dispose()


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def desk(house, heard) -> CashService:
    return CashService(units=house.units, publisher=heard)


def move(desk: CashService, amount_minor, *, actor=ADMINISTRATOR, id=None, reason=" Bar till "):
    return desk.move(
        actor,
        id=id or str(uuid.uuid4()),
        player_id=PLAYER_ID,
        amount_minor=amount_minor,
        reason=reason,
    )


def test_cash_in_and_out_changes_the_wallet_the_trail_and_the_players_screen(house, desk, heard):
    assert move(desk, 5_000).balance_minor == 5_000
    assert move(desk, -1_500).balance_minor == 3_500
    assert house.money(PLAYER_ID) == (3_500, 0)
    assert house.ledger_sum() == 0
    assert heard == [(PLAYER_ID, 5_000, "cash"), (PLAYER_ID, 3_500, "cash")]
    with house.units.read() as unit:
        out, into = unit.trail.read(limit=5, before_id=None)
    assert (into.action, out.action) == ("cash_in", "cash_out")
    assert (out.actor, out.reason, out.subject) == ("Mori", "Bar till", f"player {PLAYER_ID}")
    assert out.before == {"balance_minor": 5_000, "owed_minor": 0}
    assert out.after["balance_minor"] == 3_500


def test_the_same_id_moves_once_and_leaves_one_line(house, desk, heard):
    id = str(uuid.uuid4())
    move(desk, 5_000, id=id)
    assert move(desk, 5_000, id=id.upper()).balance_minor == 5_000
    with pytest.raises(RefusedError) as refused:
        move(desk, 6_000, id=id)
    assert refused.value.code == "transfer_id_reused"
    assert house.money(PLAYER_ID) == (5_000, 0)
    assert len(heard) == 1
    with house.units.read() as unit:
        assert len(unit.trail.read(limit=5, before_id=None)) == 1


def test_more_than_there_is_stays_where_it_is(house, desk, heard):
    move(desk, 1_000)
    with pytest.raises(RefusedError) as refused:
        move(desk, -1_001)
    assert refused.value.details == {"needed_minor": 1_001, "balance_minor": 1_000}
    assert house.money(PLAYER_ID) == (1_000, 0)
    with house.units.read() as unit:
        assert len(unit.trail.read(limit=5, before_id=None)) == 1


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.ADMINISTRATOR])
def test_only_an_administrator_moves_cash(house, desk, role):
    with pytest.raises(RefusedError) as refused:
        move(desk, 1_000, actor=Actor(id=1, name="x", role=role))
    assert refused.value.code == "only_administrators_move_cash"
    assert house.money(PLAYER_ID) == (0, 0)


@pytest.mark.parametrize(
    ("amount_minor", "reason", "id", "code"),
    [
        (0, "x", None, "amount_not_positive"),
        (10**12 + 1, "x", None, "amount_too_large"),
        (-(10**12) - 1, "x", None, "amount_too_large"),
        (1.5, "x", None, "amount_not_integer"),
        ("100", "x", None, "amount_not_integer"),
        (True, "x", None, "amount_not_integer"),
        (100, "  ", None, "reason_missing"),
        (100, None, None, "reason_missing"),
        (100, "x" * 501, None, "reason_too_long"),
        (100, "x", "7", "id_not_uuid"),
    ],
)
def test_what_cannot_be_read_moves_nothing(house, desk, amount_minor, reason, id, code):
    with pytest.raises(MalformedError) as wrong:
        move(desk, amount_minor, reason=reason, id=id)
    assert wrong.value.code == code
    assert house.money(PLAYER_ID) == (0, 0)
