"""The players' book: what they send is read strictly, limits are the table's, screens are told."""

import uuid
from dataclasses import dataclass, field

import pytest

from studio.domain.errors import MalformedError, RefusedError, StudioError
from studio.domain.game import GameConfig
from studio.domain.money import CURRENCIES
from studio.games import game
from studio.services.ports import Actor, Role
from studio.services.setup import BetLimits, TableSetup
from studio.services.wagers import WagerService, parse_uuid
from studio.store.engine import make_engine
from studio.store.schema import upgrade
from studio.store.units import SqlUnits
from tests.store.house import CLOSES_MS, FrozenClock, House

PLAYER = Actor(id=1, name="Aya", role=Role.PLAYER)

SETUP = TableSetup(
    code="T1",
    name="Table 1",
    game="pok_deng",
    config=GameConfig(decks=8),
    currency=CURRENCIES["JPY"],
    window_ms=15_000,
    limits={
        "main": BetLimits(min_minor=100, max_minor=5_000),
        "pair": BetLimits(min_minor=50, max_minor=500),
    },
    player_max_minor=8_000,
    table_max_minor=100_000,
    cut_depth_min=10,
    cut_depth_max=60,
    deck_sets=(1,),
)


@dataclass
class Heard:
    """A publisher that remembers what players were told."""

    wallets: list = field(default_factory=list)

    def event(self, envelope) -> None:
        raise AssertionError("a wager is not an event")

    def wallet(self, player_id, message) -> None:
        self.wallets.append((player_id, message))

    def pit(self, message) -> None:
        raise AssertionError("one wager is nothing to the pit")


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
def wagers(house, heard) -> WagerService:
    assert house.player(20_000) == PLAYER.id
    return WagerService(
        units=house.units,
        setups={"T1": SETUP},
        games={"pok_deng": game("pok_deng")},
        publisher=heard,
    )


def fault(wagers: WagerService, round_id: str, **changed) -> StudioError:
    request = {"wager_id": str(uuid.uuid4()), "bet": "p1", "stake_minor": 100, **changed}
    with pytest.raises(StudioError) as broken:
        wagers.place(request.pop("player", PLAYER), round_id=round_id, **request)
    return broken.value


def test_a_main_wager_holds_stake_and_deposit_a_pair_wager_the_stake(house, wagers, heard):
    round_id = house.round()
    main = wagers.place(
        PLAYER, round_id=round_id, wager_id=str(uuid.uuid4()), bet="p1", stake_minor=1_000
    )
    pair = wagers.place(
        PLAYER, round_id=round_id, wager_id=str(uuid.uuid4()), bet="p1_pair", stake_minor=500
    )
    assert (main.wager.hold_minor, pair.wager.hold_minor) == (2_000, 500)
    assert house.money(PLAYER.id) == (17_500, 2_500)
    assert heard.wallets == [
        (
            PLAYER.id,
            {
                "balance_minor": balance,
                "held_minor": held,
                "reason": "placed",
                "round_id": round_id,
            },
        )
        for balance, held in ((18_000, 2_000), (17_500, 2_500))
    ]


@pytest.mark.parametrize(
    ("stake_minor", "code"),
    [
        (0, "amount_not_positive"),
        (-1, "amount_not_positive"),
        (10**12 + 1, "amount_too_large"),
        (10**30, "amount_too_large"),
        (1e30, "amount_not_integer"),
        (100.0, "amount_not_integer"),
        ("100", "amount_not_integer"),
        ("１００", "amount_not_integer"),
        (True, "amount_not_integer"),
        (None, "amount_not_integer"),
    ],
)
def test_a_stake_that_is_no_amount_is_refused_and_changes_nothing(
    house, wagers, heard, stake_minor, code
):
    broken = fault(wagers, house.round(), stake_minor=stake_minor)
    assert isinstance(broken, MalformedError)
    assert broken.code == code
    assert house.money(PLAYER.id) == (20_000, 0)
    assert heard.wallets == []


@pytest.mark.parametrize(
    "wager_id",
    [
        "",
        "1",
        None,
        7,
        "{0dc7a4c2-7d3f-4c1b-9d66-2f5e4d1a0b3c}",
        "0dc7a4c27d3f4c1b9d662f5e4d1a0b3c",
        "0dc7a4c2-7d3f-4c1b-9d66-2f5e4d1a0b3c ",
        "０dc7a4c2-7d3f-4c1b-9d66-2f5e4d1a0b3c",
    ],
)
def test_an_id_is_a_uuid_in_its_one_spelling(house, wagers, wager_id):
    assert fault(wagers, house.round(), wager_id=wager_id).code == "id_not_uuid"


def test_an_id_in_capitals_is_the_same_id():
    assert parse_uuid("0DC7A4C2-7D3F-4C1B-9D66-2F5E4D1A0B3C", name="id") == (
        "0dc7a4c2-7d3f-4c1b-9d66-2f5e4d1a0b3c"
    )


@pytest.mark.parametrize("bet", ["p9", "", "P1", "main", "p1 "])
def test_only_the_tables_bets_are_known(house, wagers, bet):
    broken = fault(wagers, house.round(), bet=bet)
    assert (broken.code, broken.details) == ("unknown_bet", {"bet": bet})


def test_an_unknown_round_takes_no_wagers(wagers):
    assert fault(wagers, "T1-1-404").code == "unknown_round"


def test_a_round_of_a_table_no_longer_set_up_takes_no_wagers(house, heard):
    round_id = house.round()
    empty = WagerService(units=house.units, setups={}, games={}, publisher=heard)
    assert fault(empty, round_id).code == "unknown_round"


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.PLAYER])
def test_staff_cannot_play(house, wagers, role):
    staff = Actor(id=PLAYER.id, name="Sato", role=role)
    assert fault(wagers, house.round(), player=staff).code == "only_players_bet"
    with pytest.raises(RefusedError) as refused:
        wagers.undo(staff, wager_id=str(uuid.uuid4()))
    assert refused.value.code == "only_players_bet"


def test_the_limits_are_those_of_the_bets_kind(house, wagers):
    round_id = house.round()
    assert fault(wagers, round_id, stake_minor=99).code == "stake_below_minimum"
    assert fault(wagers, round_id, stake_minor=5_001).code == "bet_limit_exceeded"
    assert fault(wagers, round_id, bet="p1_pair", stake_minor=501).code == "bet_limit_exceeded"
    place = {"wager_id": str(uuid.uuid4()), "bet": "p1_pair", "stake_minor": 50}
    assert wagers.place(PLAYER, round_id=round_id, **place).wager.stake_minor == 50


def test_the_screen_can_say_what_is_needed_and_what_is_there(house, wagers):
    round_id = house.round()
    place = {"bet": "p1", "stake_minor": 5_000}
    wagers.place(PLAYER, round_id=round_id, wager_id=str(uuid.uuid4()), **place)
    wagers.place(PLAYER, round_id=house.round(), wager_id=str(uuid.uuid4()), **place)
    broken = fault(wagers, round_id, bet="p2", stake_minor=3_000)
    assert broken.code == "balance_short"
    assert broken.details == {"needed_minor": 6_000, "balance_minor": 0}


def test_a_bet_after_the_deadline_is_refused_and_changes_nothing(house, wagers, heard):
    round_id = house.round()
    house.clock.at_ms = CLOSES_MS
    assert fault(wagers, round_id).code == "betting_window_closed"
    assert house.money(PLAYER.id) == (20_000, 0)
    assert heard.wallets == []


def test_a_retry_is_answered_and_told_once(house, wagers, heard):
    round_id, wager_id = house.round(), str(uuid.uuid4())
    place = {"round_id": round_id, "wager_id": wager_id, "bet": "p1", "stake_minor": 100}
    first = wagers.place(PLAYER, **place)
    second = wagers.place(PLAYER, **place)
    assert (first.repeated, second.repeated) == (False, True)
    assert second.wager == first.wager
    assert fault(wagers, round_id, wager_id=wager_id, stake_minor=101).code == "wager_id_reused"
    assert len(heard.wallets) == 1


def test_undo_gives_all_back_and_tells_the_player(house, wagers, heard):
    placed = wagers.place(
        PLAYER, round_id=house.round(), wager_id=str(uuid.uuid4()), bet="p1", stake_minor=100
    )
    undone = wagers.undo(PLAYER, wager_id=placed.wager.id.upper())
    assert (undone.balance_minor, undone.held_minor) == (20_000, 0)
    assert wagers.undo(PLAYER, wager_id=placed.wager.id).repeated
    assert [message["reason"] for _, message in heard.wallets] == ["placed", "undone"]


def test_a_bet_kind_without_limits_stops_the_start(house, heard):
    lacking = {**vars(SETUP), "limits": {"main": SETUP.limits["main"]}}
    with pytest.raises(MalformedError) as wrong:
        WagerService(
            units=house.units,
            setups={"T1": TableSetup(**lacking)},
            games={"pok_deng": game("pok_deng")},
            publisher=heard,
        )
    assert wrong.value.details["key"] == "limits.pair"


@pytest.mark.parametrize(
    ("key", "changed"),
    [
        ("code", {"code": "T 1"}),
        ("code", {"code": ""}),
        ("window_ms", {"window_ms": 0}),
        ("window_ms", {"window_ms": 600_001}),
        ("table_max_minor", {"table_max_minor": 10**12 + 1}),
        ("player_max_minor", {"player_max_minor": 100_001}),
        ("cut_depth_min", {"cut_depth_min": 61}),
        ("scan_tries_max", {"scan_tries_max": 0}),
        ("limits.main.max", {"limits": {"main": BetLimits(min_minor=1, max_minor=8_001)}}),
        ("limits.main.min", {"limits": {"main": BetLimits(min_minor=6, max_minor=5)}}),
        ("limits.main.min", {"limits": {"main": BetLimits(min_minor=0, max_minor=5)}}),
    ],
)
def test_a_setup_that_could_never_work_is_named_by_its_key(key, changed):
    with pytest.raises(MalformedError) as wrong:
        TableSetup(**{**vars(SETUP), **changed})
    assert wrong.value.code == "table_setup_wrong"
    assert wrong.value.details["key"] == key
