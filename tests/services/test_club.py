"""The club: rounds counted once, medals, a shop that cannot be tricked, options that stand."""

import uuid
from collections.abc import Mapping
from dataclasses import replace

import pytest

from studio.domain.errors import MalformedError, RefusedError, StudioError
from studio.domain.game import Json
from studio.services import club as club_module
from studio.services.club import OPTIONS, ClubService
from studio.services.club_data import ClubData, Item, ItemKind, Medal, Tally, club_faults
from studio.services.jobs import Job
from studio.services.ports import Actor, Role
from studio.services.tallies import known_tallies
from tests.support.floor import CASH_MINOR, HANDS, PIT, PLAYER, PLAYERS, Floor
from tests.support.source import codes_raised

OTHER = PLAYERS[1]
STAFF = [role for role in Role if role is not Role.PLAYER]
LEAST_MINOR = 100
PAIR = "hit.pok_deng.pair"

DATA = ClubData(
    medals=(
        Medal(code="first_round", tally=Tally.ROUNDS, at_least=1),
        Medal(code="two_rounds", tally=Tally.ROUNDS, at_least=2),
        Medal(code="first_win", tally=Tally.WINS, at_least=1),
        Medal(code="pair_hit", tally=PAIR, at_least=1),
        Medal(code="second_chance", tally=Tally.REFILLS, at_least=1),
        Medal(code="host", tally=Tally.ROOMS_STARTED, at_least=2),
    ),
    items=(
        *(Item(code=f"plain_{kind}", kind=kind, price_minor=0) for kind in ItemKind),
        Item(code="felt_wine", kind=ItemKind.TABLE_COLOUR, price_minor=30_000),
        Item(code="back_gold", kind=ItemKind.CARD_BACK, price_minor=CASH_MINOR - LEAST_MINOR),
        Item(code="plate_gold", kind=ItemKind.PLATE, price_minor=CASH_MINOR - LEAST_MINOR + 1),
        Item(code="music_koto", kind=ItemKind.MUSIC, price_minor=CASH_MINOR + 1),
    ),
)

CHEAP_PLATE = Item(code="plate_tin", kind=ItemKind.PLATE, price_minor=500)


def club_of(floor: Floor, data: ClubData = DATA) -> ClubService:
    return ClubService(
        units=floor.units, data=data, publisher=floor.publisher, least_minor=LEAST_MINOR
    )


@pytest.fixture
def club(floor: Floor) -> ClubService:
    return club_of(floor)


def count(floor: Floor, club: ClubService) -> Mapping[int, Mapping[str, Json]]:
    """Count the latest round, as the settling transaction does."""
    with floor.units.write() as uow:
        job = Job(uow=uow, live=floor.live(), now_ms=uow.now_ms())
        description = job.live.game.describe(job.state.config)
        told = club.settled(job, floor.round_id, description)
        uow.commit()
    return told


def tallies(floor: Floor, player: Actor = PLAYER) -> Mapping[str, int]:
    with floor.units.read() as unit:
        return unit.club.tallies(player.id)


def medals(club: ClubService, player: Actor = PLAYER) -> list[str]:
    shown = club.club(player)["medals"]
    return [medal["code"] for medal in shown if medal["awarded_ms"] is not None]


def owned(club: ClubService, player: Actor = PLAYER) -> set[str]:
    return {item["code"] for item in club.club(player)["items"] if item["owned"]}


def buy(club: ClubService, item: str = "felt_wine", *, id: str = "", player: Actor = PLAYER):
    return club.buy(player, id=id or str(uuid.uuid4()), item=item)


def refused(call, *args, **named) -> StudioError:
    with pytest.raises(StudioError) as error:
        call(*args, **named)
    return error.value


def to_settled(floor: Floor) -> None:
    """Deal and settle the running round: P5 is a pair, P1 loses."""
    floor.show("3S", *HANDS)
    floor.close()
    floor.finish()


def test_the_clubs_data_of_these_tests_has_no_fault():
    assert list(club_faults(DATA, tallies={*known_tallies({}), PAIR})) == []


# Rounds ----------------------------------------------------------------------------------------


def test_a_settled_round_is_counted_for_whoever_bet_in_it(both):
    club = club_of(both)
    both.to_betting()
    both.bet("p5_pair", 500)
    both.bet("p1", 500, player=OTHER)
    to_settled(both)
    assert count(both, club) == {
        PLAYER.id: {"medals": ["first_round", "first_win", "pair_hit"]},
        OTHER.id: {"medals": ["first_round"]},
    }
    won_minor = both.money()[0] - CASH_MINOR
    assert won_minor == 11 * 500
    assert tallies(both) == {
        "rounds": 1,
        "wins": 1,
        "wins_in_a_row": 1,
        "won_minor_max": won_minor,
        PAIR: 1,
    }
    assert tallies(both, OTHER) == {"rounds": 1, "losses": 1, "wins_in_a_row": 0}
    assert tallies(both, PLAYERS[2]) == {}


def test_wagers_of_a_round_count_together(floor, club):
    floor.to_betting()
    floor.bet("p5_pair", 100)
    floor.bet("p5_pair", 100)
    floor.bet("p1", 5_000)
    to_settled(floor)
    count(floor, club)
    assert floor.money()[0] < CASH_MINOR
    assert tallies(floor) == {"rounds": 1, "losses": 1, "wins_in_a_row": 0, PAIR: 2}
    assert medals(club) == ["first_round", "pair_hit"]


def test_a_round_is_counted_once(both):
    club = club_of(both)
    both.to_betting()
    both.bet("p5_pair", 500)
    to_settled(both)
    count(both, club)
    before = tallies(both)
    assert count(both, club) == {}
    assert tallies(both) == before


def test_a_medal_is_told_in_the_round_that_brought_it_and_kept(floor, club):
    floor.to_betting()
    floor.bet("p5_pair", 500)
    to_settled(floor)
    count(floor, club)
    awarded_ms = club.club(PLAYER)["medals"][0]["awarded_ms"]
    floor.wait(60_000)
    floor.command("start_round")
    floor.bet("p1", 500)
    floor.show("4S", "2H", "3C", "4C", "5C", "6H", "9D", "2C", "3D", "4D", "6D", "7D", "TH")
    floor.close()
    floor.finish()
    assert count(floor, club) == {PLAYER.id: {"medals": ["two_rounds"]}}
    assert club.club(PLAYER)["medals"][0]["awarded_ms"] == awarded_ms
    assert set(medals(club)) == {"first_round", "two_rounds", "first_win", "pair_hit"}


def test_a_voided_round_counts_nothing(floor, club):
    floor.to_betting()
    floor.bet("p1", 500)
    floor.command("void_round", PIT, round_id=floor.round_id, reason="misdeal")
    assert count(floor, club) == {}
    assert tallies(floor) == {}


def test_a_round_in_which_everything_was_taken_back_counts_nothing(floor, club):
    floor.to_betting()
    floor.wagers.undo(PLAYER, wager_id=floor.bet("p1", 500).wager.id)
    to_settled(floor)
    assert count(floor, club) == {}
    assert tallies(floor) == {}


def test_what_is_counted_beside_rounds_brings_medals_too(both):
    club = club_of(both)

    def counted(*player_ids: int, tally: Tally) -> Mapping[int, tuple[str, ...]]:
        with both.units.write() as unit:
            told = club.counted(unit, player_ids, tally, at_ms=7)
            unit.commit()
        return told

    assert counted(PLAYER.id, OTHER.id, tally=Tally.REFILLS) == {
        PLAYER.id: ("second_chance",),
        OTHER.id: ("second_chance",),
    }
    assert counted(PLAYER.id, tally=Tally.REFILLS) == {}
    assert counted(PLAYER.id, tally=Tally.ROOMS_STARTED) == {}
    assert counted(PLAYER.id, tally=Tally.ROOMS_STARTED) == {PLAYER.id: ("host",)}
    assert counted(tally=Tally.ROOMS_STARTED) == {}
    assert tallies(both) == {"refills": 2, "rooms_started": 2}
    assert tallies(both, OTHER) == {"refills": 1}
    assert medals(club) == ["second_chance", "host"]


# What is shown ---------------------------------------------------------------------------------


def test_a_new_player_has_the_free_items_and_everything_before_them(floor, club):
    shown = club.club(PLAYER)
    assert shown["medals"][1] == {
        "code": "two_rounds",
        "tally": "rounds",
        "at_least": 2,
        "value": 0,
        "awarded_ms": None,
    }
    assert [medal["code"] for medal in shown["medals"]] == [medal.code for medal in DATA.medals]
    assert owned(club) == DATA.free
    assert shown["items"][5] == {
        "code": "felt_wine",
        "kind": "table_colour",
        "price_minor": 30_000,
        "owned": False,
    }
    assert shown["options"] == {
        **{kind.value: f"plain_{kind}" for kind in ItemKind},
        "effects_volume": 70,
        "music_volume": 40,
    }
    assert tuple(shown["options"]) == OPTIONS
    assert (shown["balance_minor"], shown["held_minor"]) == (CASH_MINOR, 0)


# The shop --------------------------------------------------------------------------------------


def test_a_purchase_takes_the_price_and_is_told(both):
    club = club_of(both)
    bought = buy(club)
    assert not bought.repeated
    assert bought.club == club.club(PLAYER)
    assert owned(club) == DATA.free | {"felt_wine"}
    assert owned(club, OTHER) == DATA.free
    assert both.money() == (CASH_MINOR - 30_000, 0)
    assert both.ledger_sum() == 0
    assert both.publisher.wallets == [
        (
            PLAYER.id,
            {
                "balance_minor": CASH_MINOR - 30_000,
                "held_minor": 0,
                "reason": "shop",
                "round_id": None,
            },
        )
    ]
    assert both.faults() == []


def test_a_retry_is_answered_and_paid_once(both):
    club, id = club_of(both), str(uuid.uuid4())
    first, second = buy(club, id=id), buy(club, id=id.upper())
    assert (first.repeated, second.repeated) == (False, True)
    assert second.club == first.club
    assert both.money() == (CASH_MINOR - 30_000, 0)
    assert len(both.publisher.wallets) == 1


def test_a_retry_after_the_price_has_changed_is_still_the_same_purchase(floor, club):
    id = str(uuid.uuid4())
    buy(club, id=id)
    dearer = replace(DATA, items=(*DATA.items[:5], replace(DATA.items[5], price_minor=40_000)))
    assert buy(club_of(floor, dearer), id=id).repeated
    assert floor.money() == (CASH_MINOR - 30_000, 0)


def test_what_stands_in_a_round_does_not_count_as_kept(floor, club):
    floor.to_betting()
    floor.bet("p1_pair", LEAST_MINOR)
    assert refused(buy, club, "back_gold").code == "purse_kept"
    floor.bet("p2_pair", LEAST_MINOR)
    assert refused(buy, club, "back_gold").code == "balance_short"
    assert floor.money() == (CASH_MINOR - 2 * LEAST_MINOR, 2 * LEAST_MINOR)


def of_other(club: ClubService) -> StudioError:
    id = str(uuid.uuid4())
    buy(club, id=id)
    return refused(buy, club, id=id, player=OTHER)


def of_other_item(club: ClubService) -> StudioError:
    id = str(uuid.uuid4())
    buy(club, id=id)
    return refused(buy, club, "plate_gold", id=id)


def of_cash(club: ClubService) -> StudioError:
    return refused(buy, club, id=str(uuid.UUID(int=PLAYER.id)))  # the floor's cash for the player


def bought_twice(club: ClubService) -> StudioError:
    buy(club)
    return refused(buy, club)


def choose(**options: Json):
    return lambda club: refused(club.choose, PLAYER, options)


REFUSALS = [
    (RefusedError, "item_owned", bought_twice),
    (RefusedError, "item_owned", lambda club: refused(buy, club, "plain_music")),
    (RefusedError, "balance_short", lambda club: refused(buy, club, "music_koto")),
    (RefusedError, "purse_kept", lambda club: refused(buy, club, "plate_gold")),
    (RefusedError, "transfer_id_reused", of_other),
    (RefusedError, "transfer_id_reused", of_other_item),
    (RefusedError, "transfer_id_reused", of_cash),
    (RefusedError, "item_not_owned", choose(table_colour="felt_wine")),
    (RefusedError, "item_not_owned", choose(music_volume=5, card_back="back_gold")),
    (MalformedError, "unknown_item", lambda club: refused(buy, club, "felt_pink")),
    (MalformedError, "unknown_item", lambda club: refused(buy, club, None)),
    (MalformedError, "unknown_item", lambda club: refused(buy, club, ["felt_wine"])),
    (MalformedError, "unknown_item", choose(table_colour="felt_pink")),
    (MalformedError, "unknown_item", choose(table_colour="plain_music")),
    (MalformedError, "unknown_item", choose(table_colour=None)),
    (MalformedError, "unknown_item", choose(table_colour={})),
    (MalformedError, "unknown_option", choose(colour="plain_music")),
    (MalformedError, "unknown_option", choose(felt_wine="felt_wine")),
    (MalformedError, "volume_wrong", choose(music_volume=-1)),
    (MalformedError, "volume_wrong", choose(music_volume=101)),
    (MalformedError, "volume_wrong", choose(effects_volume=True)),
    (MalformedError, "volume_wrong", choose(effects_volume="50")),
    (MalformedError, "volume_wrong", choose(effects_volume=50.0)),
    (MalformedError, "volume_wrong", choose(effects_volume=None)),
    (MalformedError, "id_not_uuid", lambda club: refused(buy, club, id="7")),
]
"""Each with what it does to the club and how it is refused in the end."""


@pytest.mark.parametrize(
    ("kind", "code", "attempt"),
    REFUSALS,
    ids=[f"{code}-{number}" for number, (_, code, _) in enumerate(REFUSALS)],
)
def test_what_is_refused_names_its_rule_and_changes_nothing(floor, club, kind, code, attempt):
    error = attempt(club)
    assert (type(error), error.code) == (kind, code)
    assert error.message
    spent_minor = 30_000 if "felt_wine" in owned(club) else 0
    assert floor.money() == (CASH_MINOR - spent_minor, 0)
    assert club.club(PLAYER)["options"] == club.club(OTHER)["options"]
    assert owned(club, OTHER) == DATA.free
    assert floor.faults() == []


def test_every_refusal_of_the_club_has_a_row():
    rows = {code for _, code, _ in REFUSALS} | {"only_players_bet"}
    assert codes_raised([club_module], error="RefusedError") <= rows
    assert codes_raised([club_module], error="MalformedError") <= rows


@pytest.mark.parametrize("role", STAFF)
def test_staff_neither_buys_nor_chooses(floor, club, role):
    staff = Actor(id=PLAYER.id, name="Sato", role=role)
    assert refused(buy, club, player=staff).code == "only_players_bet"
    assert refused(club.choose, staff, {"music_volume": 1}).code == "only_players_bet"
    assert floor.money() == (CASH_MINOR, 0)


@pytest.mark.parametrize(("short_minor", "code"), [(-1, None), (0, None), (1, "purse_kept")])
def test_the_smallest_bet_stays_in_the_wallet(floor, club, short_minor, code):
    price_minor = CASH_MINOR - LEAST_MINOR + short_minor
    data = replace(DATA, items=(*DATA.items[:5], replace(DATA.items[5], price_minor=price_minor)))
    dear = club_of(floor, data)
    if code is None:
        buy(dear)
        assert floor.money() == (LEAST_MINOR - short_minor, 0)
    else:
        error = refused(buy, dear)
        assert error.code == code
        assert error.details == {"least_minor": LEAST_MINOR, "balance_minor": CASH_MINOR}
        assert floor.money() == (CASH_MINOR, 0)


# Options ---------------------------------------------------------------------------------------


def test_options_are_kept_for_the_player(both):
    club = club_of(both)
    buy(club)
    assert club.choose(PLAYER, {"table_colour": "felt_wine", "music_volume": 0}) == club.club(
        PLAYER
    )
    club.choose(PLAYER, {"effects_volume": 100})
    chosen = club.options(PLAYER.id)
    assert chosen == club.club(PLAYER)["options"]
    assert {name: chosen[name] for name in ("table_colour", "effects_volume", "music_volume")} == {
        "table_colour": "felt_wine",
        "effects_volume": 100,
        "music_volume": 0,
    }
    assert chosen["plate"] == "plain_plate"
    assert club.options(OTHER.id)["table_colour"] == "plain_table_colour"


def test_a_room_sees_its_members_plates(both):
    club = club_of(both, replace(DATA, items=(*DATA.items[:7], CHEAP_PLATE)))
    buy(club, CHEAP_PLATE.code)
    club.choose(PLAYER, {"plate": CHEAP_PLATE.code})
    with both.units.read() as unit:
        assert club.plates(unit, [OTHER.id, PLAYER.id]) == {
            OTHER.id: "plain_plate",
            PLAYER.id: CHEAP_PLATE.code,
        }
        assert club.plates(unit, []) == {}


def test_choosing_nothing_changes_nothing(club):
    assert club.choose(PLAYER, {}) == club.club(PLAYER)


def test_an_item_that_left_the_shop_leaves_the_options(floor, club):
    buy(club)
    club.choose(PLAYER, {"table_colour": "felt_wine"})
    without = replace(DATA, items=DATA.items[:5])
    assert club_of(floor, without).options(PLAYER.id)["table_colour"] == "plain_table_colour"
    moved = replace(DATA, items=(*DATA.items[:5], replace(DATA.items[5], kind=ItemKind.PLATE)))
    assert club_of(floor, moved).options(PLAYER.id)["table_colour"] == "plain_table_colour"
    assert club.options(PLAYER.id)["table_colour"] == "felt_wine"


def test_an_item_that_costs_something_now_is_not_owned_any_more(floor, club):
    club.choose(PLAYER, {"music": "plain_music"})
    free = Item(code="silence", kind=ItemKind.MUSIC, price_minor=0)
    sold = tuple(
        replace(item, price_minor=5) if item.code == "plain_music" else item for item in DATA.items
    )
    assert club_of(floor, replace(DATA, items=(*sold, free))).options(PLAYER.id)["music"] == (
        "silence"
    )
