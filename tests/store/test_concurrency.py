"""Many at once: one of each id, never beyond a balance or a limit, nothing after the close."""

import threading
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import pytest

from studio.domain.errors import InvariantError, RefusedError
from studio.services.ports import Placed
from studio.services.retry import TryAgainError, again
from studio.store.engine import WRITE_LOCK
from studio.store.units import SqlUnits
from tests.store.house import WIDE, FrozenClock, House

THREADS = 32
PATIENCE_S = 60


def at_once(works: Sequence[Callable[[], Placed]]) -> list[Placed | RefusedError]:
    """Start all works at the same moment; return answers and refusals in order."""
    start = threading.Barrier(len(works))

    def run(work: Callable[[], Placed]) -> Placed | RefusedError:
        start.wait(timeout=PATIENCE_S)
        try:
            return again(work)
        except RefusedError as refused:
            return refused

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works, timeout=PATIENCE_S))


def placing(house: House, requests) -> list[Placed | RefusedError]:
    return at_once([lambda request=request: house.place(request) for request in requests])


def test_32_times_the_same_id_at_once_is_one_wager_and_one_answer(house):
    player, round_id = house.player(1_000), house.round()
    request = house.request(round_id, player)
    answers = placing(house, [request] * THREADS)
    assert all(isinstance(answer, Placed) for answer in answers)
    assert len({answer.wager for answer in answers}) == 1
    assert Counter(answer.repeated for answer in answers) == {False: 1, True: THREADS - 1}
    assert house.money(player) == (800, 200)
    assert house.ledger_sum() == 0


def test_the_same_id_at_once_is_answered_alike_though_it_takes_the_last_money(house):
    player, round_id = house.player(200), house.round()
    answers = placing(house, [house.request(round_id, player)] * THREADS)
    assert all(isinstance(answer, Placed) for answer in answers)
    assert house.money(player) == (0, 200)


def test_one_id_for_two_players_at_once_is_one_wager_and_one_refusal(house):
    round_id, id = house.round(), str(uuid.uuid4())
    players = [house.player(1_000) for _ in range(8)]
    answers = placing(house, [house.request(round_id, player, id=id) for player in players])
    refused = [answer for answer in answers if isinstance(answer, RefusedError)]
    assert {refusal.code for refusal in refused} == {"wager_id_reused"}
    assert len(refused) == len(players) - 1
    assert sum(house.money(player)[1] for player in players) == 200


def test_32_wagers_over_a_balance_for_10_are_10(house):
    player, round_id = house.player(2_000), house.round()
    answers = placing(house, [house.request(round_id, player) for _ in range(THREADS)])
    placed = [answer for answer in answers if isinstance(answer, Placed)]
    refused = [answer for answer in answers if isinstance(answer, RefusedError)]
    assert len(placed) == 10
    assert {refusal.code for refusal in refused} == {"balance_short"}
    assert house.money(player) == (0, 2_000)
    assert house.ledger_sum() == 0


def test_limits_of_bet_and_player_are_exact_at_any_concurrency(house):
    player, round_id = house.player(100_000), house.round()
    for limits, code in (
        (replace(WIDE, bet_max_minor=700), "bet_limit_exceeded"),
        (replace(WIDE, player_max_minor=1_200), "player_limit_exceeded"),
    ):
        request = house.request(round_id, player, limits=limits)
        wanted = [replace(request, id=str(uuid.uuid4())) for _ in range(16)]
        answers = placing(house, wanted)
        refused = [answer for answer in answers if isinstance(answer, RefusedError)]
        assert {refusal.code for refusal in refused} == {code}
    assert house.money(player) == (100_000 - 2_400, 2_400)


def test_the_table_limit_is_exact_though_no_row_is_shared_by_all(house):
    round_id = house.round()
    limits = replace(WIDE, table_max_minor=1_050)
    players = [house.player(1_000) for _ in range(THREADS)]
    wanted = [house.request(round_id, player, limits=limits) for player in players]
    answers = placing(house, wanted)
    refused = [answer for answer in answers if isinstance(answer, RefusedError)]
    assert {refusal.code for refusal in refused} == {"table_limit_exceeded"}
    assert len(refused) == THREADS - 10
    with house.units.read() as unit:
        assert unit.wagers.totals(round_id) == {"p1": (10, 1_000)}


def test_placing_and_taking_back_at_once_leaves_every_sum_right(house):
    round_id = house.round()
    players = [house.player(1_000) for _ in range(8)]
    first = [house.place(house.request(round_id, player)) for player in players]
    works: list[Callable[[], Placed]] = []
    for player, placed in zip(players, first, strict=True):
        id = placed.wager.id
        works += [lambda id=id, player=player: house.undo(id, player)] * 2
        request = house.request(round_id, player, bet="p2")
        works += [lambda request=request: house.place(request)]
    assert all(isinstance(answer, Placed) for answer in at_once(works))
    assert [house.money(player) for player in players] == [(800, 200)] * len(players)
    with house.units.read() as unit:
        assert unit.wagers.totals(round_id) == {"p2": (8, 800)}


def test_the_close_counts_every_wager_that_was_accepted_and_no_later_one(house):
    """Wagers race the close: what the book counts is exactly what was accepted."""
    round_id = house.round()
    players = [house.player(10_000) for _ in range(8)]
    start = threading.Barrier(9)
    refusals: list[str] = []

    def bet(player: int) -> int:
        start.wait(timeout=PATIENCE_S)
        accepted = 0
        while True:
            try:
                house.place(house.request(round_id, player, stake_minor=1))
            except RefusedError as refused:
                refusals.append(refused.code)
                return accepted
            accepted += 1

    with ThreadPoolExecutor(8) as pool:
        bets = [pool.submit(bet, player) for player in players]
        start.wait(timeout=PATIENCE_S)
        with house.units.write() as unit:
            unit.rounds.update_phase(round_id, "no_more_bets", settlement_version=0)
            book = unit.wagers.close(round_id)
            unit.commit()
        accepted = sum(each.result(timeout=PATIENCE_S) for each in bets)
    assert book.count == accepted
    assert refusals == ["betting_window_closed"] * 8
    with house.units.read() as unit:
        assert unit.wagers.close(round_id) == book


@pytest.mark.postgresql
def test_the_close_waits_for_a_wager_in_flight(postgresql_engine, house_on):
    house = house_on(postgresql_engine)
    player, round_id = house.player(1_000), house.round()
    closed = threading.Event()

    def close() -> int:
        with house.units.write() as unit:
            unit.rounds.update_phase(round_id, "no_more_bets", settlement_version=0)
            closed.set()
            count = unit.wagers.close(round_id).count
            unit.commit()
        return count

    with ThreadPoolExecutor(1) as pool:
        with house.units.write() as unit:
            unit.wagers.place(house.request(round_id, player))
            closing = pool.submit(close)
            assert not closed.wait(timeout=0.3)
            unit.commit()
        assert closing.result(timeout=PATIENCE_S) == 1


@pytest.mark.postgresql
def test_a_wager_that_waited_for_its_turn_past_the_deadline_is_refused(postgresql_engine):
    """By the database's own clock, read once more after the last wait."""
    clock = FrozenClock()
    units = SqlUnits(postgresql_engine, clock=clock, currency="JPY")
    house = House(engine=postgresql_engine, clock=clock, units=units)
    player = house.player(1_000)
    with units.read() as unit:
        closes_ms = unit.now_ms() + 500
    round_id = house.round(closes_ms=closes_ms)
    with ThreadPoolExecutor(1) as pool:
        with units.write() as unit:
            unit.ledger.cash(
                id=str(uuid.uuid4()), player_id=player, amount_minor=1, reason="slow", by=1
            )
            late = pool.submit(house.place, house.request(round_id, player))
            while unit.now_ms() < closes_ms:
                assert not late.done()
            unit.commit()
        with pytest.raises(RefusedError) as refused:
            late.result(timeout=PATIENCE_S)
    assert refused.value.code == "betting_window_closed"
    assert house.money(player) == (1_001, 0)


def test_two_tables_with_the_same_players_settle_at_once(house):
    players = [house.player(10_000) for _ in range(20)]
    for _ in range(3):
        rounds = [house.round(), house.round()]
        for round_id, order in zip(rounds, (players, players[::-1]), strict=True):
            for player in order:
                house.place(house.request(round_id, player))
        start = threading.Barrier(2)

        def settle(round_id: str, start: threading.Barrier = start) -> None:
            start.wait(timeout=PATIENCE_S)
            with house.units.write() as unit:
                unit.wagers.settle(round_id, version=1, nets={"p1": Fraction(1)})
                unit.commit()

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(settle, rounds, timeout=PATIENCE_S))
    assert [house.money(player) for player in players] == [(10_600, 0)] * 20
    assert house.ledger_sum() == 0


def test_cash_twice_at_once_moves_once(house):
    player, id = house.player(), str(uuid.uuid4())

    def pay() -> bool:
        def once() -> bool:
            with house.units.write() as unit:
                cashed = unit.ledger.cash(
                    id=id, player_id=player, amount_minor=500, reason="bar", by=1
                )
                unit.commit()
            return cashed.repeated

        return again(once)

    with ThreadPoolExecutor(16) as pool:
        repeated = list(pool.map(lambda _: pay(), range(16), timeout=PATIENCE_S))
    assert Counter(repeated) == {False: 1, True: 15}
    assert house.money(player) == (500, 0)


# The process's turn to write -------------------------------------------------------------------


def test_a_writer_inside_a_writer_is_named_instead_of_waiting_for_itself(sqlite_engine, house_on):
    house = house_on(sqlite_engine)
    with house.units.write(), pytest.raises(InvariantError) as broken, house.units.write():
        pass
    assert broken.value.code == "write_nested"
    house.player(1)


def test_the_turn_is_given_away_with_the_commit(sqlite_engine, house_on):
    house = house_on(sqlite_engine)
    with house.units.write() as unit:
        unit.commit()
        house.player(1)
        with pytest.raises(InvariantError) as broken:
            _ = unit.connection
    assert broken.value.code == "unit_over"


def test_the_turn_is_given_away_when_a_unit_fails(sqlite_engine, house_on):
    house = house_on(sqlite_engine)
    with pytest.raises(ZeroDivisionError), house.units.write():
        raise ZeroDivisionError
    WRITE_LOCK.acquire()
    WRITE_LOCK.release()
    house.player(1)


def test_readers_go_on_while_somebody_writes_and_see_what_was_committed(house):
    player = house.player(1_000)
    round_id = house.round()
    with house.units.write() as unit:
        unit.wagers.place(house.request(round_id, player))
        assert house.money(player) == (1_000, 0)
        unit.commit()
    assert house.money(player) == (800, 200)


def test_a_reader_keeps_one_snapshot(house):
    player = house.player(1_000)
    with house.units.read() as unit:
        before = unit.ledger.balance(player)
        with house.units.write() as other:
            other.ledger.cash(
                id=str(uuid.uuid4()), player_id=player, amount_minor=1, reason="x", by=1
            )
            other.commit()
        assert unit.ledger.balance(player) == before
        assert unit.ledger.sum_minor() == 0
    assert house.money(player) == (1_001, 0)


# Running again ---------------------------------------------------------------------------------


def test_a_unit_that_lost_is_run_again_and_then_given_up_with_a_clear_answer():
    tries = []

    def loses_twice() -> str:
        tries.append(1)
        if len(tries) < 3:
            raise TryAgainError("lost")
        return "done"

    assert again(loses_twice) == "done"

    def always_loses() -> None:
        tries.append(1)
        raise TryAgainError("lost")

    tries.clear()
    with pytest.raises(RefusedError) as refused:
        again(always_loses, tries=4)
    assert refused.value.code == "studio_busy"
    assert len(tries) == 4


@pytest.mark.postgresql
def test_a_deadlock_is_a_unit_to_run_again(postgresql_engine, house_on):
    house = house_on(postgresql_engine)
    first, second = house.player(100), house.player(100)
    both_hold_one = threading.Barrier(2)

    def crosswise(mine: int, other: int) -> str:
        try:
            with house.units.write() as unit:
                for step, player in enumerate((mine, other)):
                    unit.ledger.cash(
                        id=str(uuid.uuid4()), player_id=player, amount_minor=1, reason="x", by=1
                    )
                    if step == 0:
                        both_hold_one.wait(timeout=PATIENCE_S)
                unit.commit()
        except TryAgainError:
            return "lost"
        return "won"

    with ThreadPoolExecutor(2) as pool:
        ends = pool.map(crosswise, (first, second), (second, first), timeout=PATIENCE_S)
        assert sorted(ends) == ["lost", "won"]
    assert house.money(first) == house.money(second) == (101, 0)
