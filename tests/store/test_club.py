"""The club's rows on both databases: what a round brought, tallies, medals, purchases, options."""

import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction

import pytest
from sqlalchemy import event

from studio.services.club_data import Tally
from studio.services.club_ports import Awarded, BetOfRound, Purchase
from studio.services.play_ports import PlayKind
from studio.services.retry import TryAgainError, again
from studio.services.tallies import PlayedRound, after_round
from studio.store import club as club_store
from studio.store.units import SqlUnits
from tests.store.house import OPENED_MS, House


def award(player_id: int, code: str, round_id: str | None = None) -> Awarded:
    return Awarded(player_id=player_id, code=code, awarded_ms=OPENED_MS, round_id=round_id)


def buy(house: House, player_id: int, item: str = "felt_wine", price_minor: int = 300) -> str:
    id = str(uuid.uuid4())
    with house.units.write() as unit:
        unit.ledger.play_transfer(
            kind=PlayKind.SHOP, player_id=player_id, amount_minor=-price_minor, id=id, reason=item
        )
        unit.club.add_purchase(
            Purchase(player_id=player_id, item=item, price_minor=price_minor, bought_ms=OPENED_MS),
            id=id,
        )
        unit.commit()
    return id


@contextmanager
def heard(house: House, statements: list[str]) -> Iterator[None]:
    """Note every statement that goes to the database."""

    def note(*args: object) -> None:
        statements.append(str(args[2]))

    event.listen(house.engine, "before_cursor_execute", note)
    yield
    event.remove(house.engine, "before_cursor_execute", note)


def bets(house: House, round_id: str) -> dict[tuple[int, str], tuple[int, int]]:
    """Return (net, hits) by player and bet."""
    with house.units.read() as unit:
        found = unit.club.bets_of_round(round_id)
    return {(one.player_id, one.bet): (one.net_minor, one.hits) for one in found}


# A settled round -------------------------------------------------------------------------------


def test_a_round_is_summed_up_by_player_and_bet(house):
    one, two = house.player(10_000), house.player(10_000)
    round_id = house.round()
    house.place(house.request(round_id, one, bet="p1", stake_minor=100))
    house.place(house.request(round_id, one, bet="p1", stake_minor=200))
    house.place(house.request(round_id, one, bet="p2", stake_minor=50))
    house.place(house.request(round_id, two, bet="p2", stake_minor=500))
    house.place(house.request(round_id, two, bet="p3", stake_minor=70))
    house.close(round_id)
    house.settle(round_id, {"p1": 2, "p2": -1, "p3": 0})
    assert bets(house, round_id) == {
        (one, "p1"): (600, 2),
        (one, "p2"): (-50, 0),
        (two, "p2"): (-500, 0),
        (two, "p3"): (0, 0),
    }


def test_wagers_taken_back_count_nothing(house):
    player = house.player(10_000)
    round_id = house.round()
    placed = house.place(house.request(round_id, player))
    house.undo(placed.wager.id, player)
    house.close(round_id)
    house.settle(round_id, {"p1": 2})
    assert bets(house, round_id) == {}


def test_a_void_round_an_open_one_and_an_unknown_one_brought_nothing(house):
    player = house.player(10_000)
    void, running = house.round(), house.round()
    house.place(house.request(void, player))
    house.place(house.request(running, player))
    house.close(void)
    house.refund(void)
    assert bets(house, void) == bets(house, running) == bets(house, "T1-9-9") == {}


def test_other_rounds_of_the_player_are_other_rounds(house):
    player = house.player(10_000)
    first, second = house.round(), house.round()
    for round_id in (first, second, first):
        house.place(house.request(round_id, player))
    for round_id, net in ((first, 1), (second, -1)):
        house.close(round_id)
        house.settle(round_id, {"p1": net})
    assert bets(house, first) == {(player, "p1"): (200, 2)}
    assert bets(house, second) == {(player, "p1"): (-100, 0)}


def test_a_round_is_taken_once(house):
    round_id = house.round()
    with house.units.write() as unit:
        assert unit.club.take_round(round_id)
        assert not unit.club.take_round(round_id)
        unit.commit()
    with house.units.write() as unit:
        assert not unit.club.take_round(round_id)


def test_a_round_that_was_not_committed_is_not_taken(house):
    round_id = house.round()
    with house.units.write() as unit:
        assert unit.club.take_round(round_id)
    with house.units.write() as unit:
        assert unit.club.take_round(round_id)


def counted_rounds(house: House, player_id: int, *nets: int) -> list[str]:
    """Play and count a round a net, 100 staked; return their ids."""
    ids = []
    for net in nets:
        ids.append(house.round())
        house.place(house.request(ids[-1], player_id, stake_minor=100))
        house.close(ids[-1])
        house.settle(ids[-1], {"p1": net})
        with house.units.write() as unit:
            unit.club.take_round(ids[-1])
            unit.commit()
    return ids


@pytest.mark.parametrize("spans", [(), (1,), (4, 9), (10_000,)])
def test_a_row_of_wins_goes_back_to_the_last_loss_however_far_that_is(house, monkeypatch, spans):
    monkeypatch.setattr(club_store, "SPANS", spans)
    loser, winner, stranger = (house.player(10_000) for _ in range(3))
    counted_rounds(house, loser, 2, -1, 1, 0)
    counted_rounds(house, winner, 0, 2, 1)
    counted_rounds(house, loser, 1)
    with house.units.read() as unit:
        assert unit.club.rows_of_wins([loser, winner, stranger]) == {
            loser: 2,
            winner: 2,
            stranger: 0,
        }
        assert unit.club.rows_of_wins([]) == {}


def test_the_best_round_is_the_best_of_those_that_count(house):
    loser, winner = house.player(10_000), house.player(10_000)
    counted_rounds(house, loser, -1)
    counted_rounds(house, winner, 1, 2, 0)
    uncounted = house.round()
    house.place(house.request(uncounted, winner, stake_minor=100))
    house.close(uncounted)
    house.settle(uncounted, {"p1": 5})
    with house.units.read() as unit:
        assert unit.club.best_rounds([loser, winner]) == {loser: 0, winner: 200}


def test_tallies_and_medals_of_a_round_are_those_of_its_players(house):
    player, stranger = house.player(10_000), house.player(10_000)
    round_id = house.round()
    house.place(house.request(round_id, player))
    with house.units.write() as unit:
        unit.club.write_tallies({player: {"wins": 3, "rounds": 9}, stranger: {"wins": 7}})
        unit.club.award([award(player, "host"), award(player, "pair"), award(stranger, "host")])
        unit.commit()
    with house.units.read() as unit:
        assert unit.club.tallies_of_round(round_id) == {player: {"wins": 3, "rounds": 9}}
        assert unit.club.medals_of_round(round_id) == {player: {"host", "pair"}}


def test_the_number_of_statements_does_not_grow_with_the_rounds_players(house):
    def statements(players: int) -> int:
        round_id, seen = house.round(), []
        ids = [house.player(1_000) for _ in range(players)]
        for player_id in ids:
            house.place(house.request(round_id, player_id))
        house.close(round_id)
        house.settle(round_id, {"p1": 1})
        with heard(house, seen), house.units.write() as unit:
            unit.club.take_round(round_id)
            unit.club.bets_of_round(round_id)
            unit.club.tallies_of_round(round_id)
            unit.club.medals_of_round(round_id)
            unit.club.write_tallies({one: {"wins": 1, "rounds": 1} for one in ids})
            unit.club.award(award(one, "first_win", round_id) for one in ids)
            unit.club.count_up(ids, Tally.REFILLS)
            unit.commit()
        return len(seen)

    assert statements(2) == statements(12)


def test_rounds_of_one_player_that_settle_at_once_all_count(house):
    player = house.player(10_000)
    rounds = [house.round() for _ in range(8)]
    for round_id in rounds:
        house.place(house.request(round_id, player))
        house.close(round_id)

    def settle(round_id: str) -> None:
        with house.units.write() as unit:
            unit.wagers.settle(round_id, version=1, nets={"p1": Fraction(1)})
            unit.rounds.update_phase(round_id, "settled", settlement_version=1)
            (bet,) = unit.club.bets_of_round(round_id)
            played = PlayedRound(player_id=player, net_minor=bet.net_minor)
            before = unit.club.tallies_of_round(round_id).get(player, {})
            unit.club.write_tallies({player: after_round(before, played)})
            unit.commit()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda one: again(lambda: settle(one)), rounds, timeout=60))
    assert tallies(house, player) == {
        "rounds": 8,
        "wins": 8,
        "wins_in_a_row": 8,
        "won_minor_max": 100,
    }


# Tallies and medals ----------------------------------------------------------------------------


def tallies(house: House, player_id: int) -> Mapping[str, int]:
    with house.units.read() as unit:
        return unit.club.tallies(player_id)


def test_tallies_are_set_and_set_anew(house):
    with house.units.write() as unit:
        unit.club.write_tallies({1: {"wins": 1, "losses": 2}, 2: {"wins": 5}})
        unit.club.write_tallies({1: {"wins": 2, "rounds": 3}})
        unit.club.write_tallies({})
        unit.commit()
    assert tallies(house, 1) == {"wins": 2, "losses": 2, "rounds": 3}
    assert tallies(house, 2) == {"wins": 5}
    assert tallies(house, 3) == {}


def test_counting_up_returns_the_new_values(house):
    many = range(1, 2_500)  # more than one statement takes
    with house.units.write() as unit:
        assert unit.club.count_up([2, 1, 2], Tally.REFILLS) == {1: 1, 2: 1}
        assert unit.club.count_up([2], Tally.REFILLS) == {2: 2}
        assert unit.club.count_up([], Tally.REFILLS) == {}
        counted = unit.club.count_up(many, Tally.REFILLS)
        unit.commit()
    assert len(counted) == len(many)
    assert (counted[1], counted[2], counted[3]) == (2, 3, 1)
    assert tallies(house, 2) == {"refills": 3}


def test_counting_up_at_once_loses_nothing(house):
    def count(_: int) -> None:
        with house.units.write() as unit:
            unit.club.count_up([1], Tally.ROOMS_STARTED)
            unit.commit()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count, range(12), timeout=60))
    assert tallies(house, 1) == {"rooms_started": 12}


def test_a_medal_is_given_once_and_keeps_its_day(house):
    round_id = house.round()
    with house.units.write() as unit:
        wanted = [award(2, "pair", round_id), award(1, "host"), award(2, "host")]
        assert unit.club.award(wanted) == {2: ("pair", "host"), 1: ("host",)}
        assert unit.club.award([]) == {}
        unit.commit()
    with house.units.write() as unit:
        later = Awarded(player_id=2, code="pair", awarded_ms=OPENED_MS + 5, round_id=None)
        assert unit.club.award([later, award(2, "tie")]) == {2: ("tie",)}
        unit.commit()
    with house.units.read() as unit:
        assert unit.club.medals(2) == {"pair": OPENED_MS, "host": OPENED_MS, "tie": OPENED_MS}
        assert unit.club.medals(3) == {}


# The shop --------------------------------------------------------------------------------------


def test_a_purchase_is_found_by_the_clients_id_and_by_the_player(house):
    player = house.player(1_000)
    id = buy(house, player)
    with house.units.read() as unit:
        assert unit.club.purchase(id) == Purchase(
            player_id=player, item="felt_wine", price_minor=300, bought_ms=OPENED_MS
        )
        assert unit.club.purchase(str(uuid.uuid4())) is None
        assert unit.club.bought([player, player + 1]) == {
            player: {"felt_wine"},
            player + 1: frozenset(),
        }
    assert house.money(player) == (700, 0)
    assert house.ledger_sum() == 0


def test_an_item_that_was_bought_meanwhile_undoes_the_unit(house):
    player = house.player(1_000)
    buy(house, player)
    with pytest.raises(TryAgainError):
        buy(house, player)
    assert house.money(player) == (700, 0)


def test_of_many_purchases_at_once_one_is_paid(house):
    player = house.player(10_000)

    def attempt(_: int) -> bool:
        try:
            again(lambda: buy(house, player), tries=1)
        except Exception:  # noqa: BLE001 - whatever the loser is told, nothing may be booked
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(attempt, range(6), timeout=60)) == 1
    assert house.money(player) == (9_700, 0)


# Options ---------------------------------------------------------------------------------------


def keep(units: SqlUnits, player_id: int, **chosen: object) -> None:
    with units.write() as unit:
        before = unit.club.lock_options(player_id)
        unit.club.keep_options(player_id, {**before, **chosen})
        unit.commit()


def options(units: SqlUnits, player_id: int) -> Mapping[str, object]:
    with units.read() as unit:
        return unit.club.options([player_id])[player_id]


def test_options_are_kept_by_player(house):
    assert options(house.units, 1) == {}
    keep(house.units, 1, plate="plate_gold", music_volume=30)
    keep(house.units, 1, music_volume=0)
    assert options(house.units, 1) == {"plate": "plate_gold", "music_volume": 0}
    assert options(house.units, 2) == {}


def test_options_chosen_at_once_are_all_kept(house):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: keep(house.units, 1, **{f"o{n}": n}), range(8), timeout=60))
    assert options(house.units, 1) == {f"o{n}": n for n in range(8)}


def test_a_sum_of_a_round_is_a_plain_number(house):
    """PostgreSQL widens sums; what reaches the services are whole numbers."""
    player = house.player(1_000)
    round_id = house.round()
    house.place(house.request(round_id, player))
    house.close(round_id)
    house.settle(round_id, {"p1": 1})
    with house.units.read() as unit:
        (found,) = unit.club.bets_of_round(round_id)
    assert found == BetOfRound(player_id=player, bet="p1", net_minor=100, hits=1)
    assert type(found.net_minor) is int
