"""One wager: accepted once, in time, within limits and balance; taken back while it may be."""

import uuid
from dataclasses import replace

import pytest
from sqlalchemy import func, select

from studio.domain.errors import RefusedError
from studio.services.ports import EndingKind, WagerLimits
from studio.store.tables import entry, transfer, wager
from tests.store.house import CLOSES_MS, OPENED_MS, WIDE, House


def refusal(house: House, request) -> RefusedError:
    with pytest.raises(RefusedError) as refused:
        house.place(request)
    return refused.value


def stored(house: House) -> tuple[int, int, int]:
    """Return how many wagers, transfers and entries are stored."""
    with house.engine.connect() as connection:
        return tuple(
            connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in (wager, transfer, entry)
        )


def test_a_wager_moves_its_hold_from_wallet_to_held(house):
    player, round_id = house.player(1_000), house.round()
    placed = house.place(house.request(round_id, player, stake_minor=300))
    assert (placed.balance_minor, placed.held_minor, placed.repeated) == (400, 600, False)
    assert house.money(player) == (400, 600)
    assert placed.wager.accepted_ms == OPENED_MS
    assert placed.wager.ending is None
    assert house.ledger_sum() == 0


@pytest.mark.parametrize(
    ("now_ms", "accepted"), [(CLOSES_MS - 1, True), (CLOSES_MS, False), (CLOSES_MS + 1, False)]
)
def test_the_deadline_is_the_first_millisecond_that_is_too_late(house, now_ms, accepted):
    player, round_id = house.player(1_000), house.round()
    house.clock.at_ms = now_ms
    request = house.request(round_id, player)
    if accepted:
        assert house.place(request).wager.accepted_ms == now_ms
    else:
        assert refusal(house, request).code == "betting_window_closed"
        assert house.money(player) == (1_000, 0)


@pytest.mark.parametrize("phase", ["no_more_bets", "reveal", "settled", "void"])
def test_no_wager_in_any_phase_but_betting(house, phase):
    player, round_id = house.player(1_000), house.round(phase=phase)
    before = stored(house)
    assert refusal(house, house.request(round_id, player)).code == "betting_window_closed"
    assert stored(house) == before


def test_an_unknown_round_is_refused(house):
    player = house.player(1_000)
    assert refusal(house, house.request("T1-1-404", player)).code == "unknown_round"


def test_a_short_balance_says_what_is_needed_and_what_is_there(house):
    player, round_id = house.player(8_200), house.round()
    before = stored(house)
    refused = refusal(house, house.request(round_id, player, stake_minor=5_000))
    assert refused.code == "balance_short"
    assert refused.details == {"needed_minor": 10_000, "balance_minor": 8_200}
    assert stored(house) == before


def test_the_whole_balance_may_be_held_and_not_one_unit_more(house):
    player, round_id = house.player(200), house.round()
    house.place(house.request(round_id, player, stake_minor=100))
    assert house.money(player) == (0, 200)
    refused = refusal(house, house.request(round_id, player, stake_minor=1, hold_minor=1))
    assert refused.details == {"needed_minor": 1, "balance_minor": 0}


def test_a_player_without_an_account_has_nothing_to_bet(house):
    player, round_id = house.player(), house.round()
    refused = refusal(house, house.request(round_id, player))
    assert (refused.code, refused.details["balance_minor"]) == ("balance_short", 0)


# The same id -----------------------------------------------------------------------------------


def test_the_same_request_gives_the_first_answer_and_moves_nothing(house):
    player, round_id = house.player(1_000), house.round()
    request = house.request(round_id, player)
    first = house.place(request)
    before = stored(house)
    second = house.place(request)
    assert second == replace(first, repeated=True)
    assert stored(house) == before


def test_the_same_request_is_answered_even_after_the_deadline_and_the_settlement(house):
    player, round_id = house.player(1_000), house.round()
    request = house.request(round_id, player)
    first = house.place(request)
    house.clock.at_ms = CLOSES_MS + 1
    assert house.place(request).wager == first.wager
    house.close(round_id)
    house.settle(round_id, {"p1": 1})
    settled = house.place(request)
    assert settled.repeated
    assert (settled.balance_minor, settled.held_minor) == (1_100, 0)
    assert settled.wager.ending is not None
    assert settled.wager.ending.payout_minor == 300


def test_an_id_with_other_content_is_refused(house):
    player, round_id = house.player(10_000), house.round()
    request = house.request(round_id, player)
    house.place(request)
    other_round, other_player = house.round(), house.player(10_000)
    for other in (
        replace(request, stake_minor=101, hold_minor=202),
        replace(request, bet="p2"),
        replace(request, round_id=other_round),
        replace(request, player_id=other_player),
    ):
        assert refusal(house, other).code == "wager_id_reused"
    assert house.money(player) == (9_800, 200)
    assert house.money(other_player) == (10_000, 0)


# Limits ----------------------------------------------------------------------------------------

LIMITS = WagerLimits(bet_min_minor=10, bet_max_minor=100, player_max_minor=150, table_max_minor=250)


def test_a_stake_below_the_least_is_refused(house):
    player, round_id = house.player(10_000), house.round()
    low = house.request(round_id, player, stake_minor=9, limits=LIMITS)
    assert refusal(house, low).details == {"limit_minor": 10, "stake_minor": 9}
    assert house.place(replace(low, stake_minor=10, hold_minor=20)).wager.stake_minor == 10


def test_the_bet_limit_counts_what_already_stands_on_the_bet(house):
    player, round_id = house.player(10_000), house.round()
    house.place(house.request(round_id, player, stake_minor=60, limits=LIMITS))
    refused = refusal(house, house.request(round_id, player, stake_minor=41, limits=LIMITS))
    assert refused.code == "bet_limit_exceeded"
    assert refused.details == {"limit_minor": 100, "taken_minor": 60, "stake_minor": 41}
    house.place(house.request(round_id, player, stake_minor=40, limits=LIMITS))


def test_the_player_limit_counts_all_bets_of_the_round(house):
    player, round_id = house.player(10_000), house.round()
    house.place(house.request(round_id, player, stake_minor=100, limits=LIMITS))
    too_much = house.request(round_id, player, bet="p2", stake_minor=51, limits=LIMITS)
    assert refusal(house, too_much).code == "player_limit_exceeded"
    house.place(house.request(round_id, player, bet="p2", stake_minor=50, limits=LIMITS))
    other_round = house.round()
    house.place(house.request(other_round, player, stake_minor=100, limits=LIMITS))


def test_the_table_limit_counts_all_players_to_the_last_unit(house):
    round_id = house.round()
    players = [house.player(10_000) for _ in range(4)]
    for player in players[:2]:
        house.place(house.request(round_id, player, stake_minor=100, limits=LIMITS))
    refused = refusal(house, house.request(round_id, players[2], stake_minor=51, limits=LIMITS))
    assert refused.code == "table_limit_exceeded"
    assert refused.details == {"limit_minor": 250, "taken_minor": 200, "stake_minor": 51}
    house.place(house.request(round_id, players[2], stake_minor=50, limits=LIMITS))
    full = refusal(house, house.request(round_id, players[3], stake_minor=10, limits=LIMITS))
    assert full.code == "table_limit_exceeded"


def test_a_wager_taken_back_frees_its_part_of_every_limit(house):
    round_id = house.round()
    player, other = house.player(10_000), house.player(10_000)
    placed = house.place(house.request(round_id, player, stake_minor=100, limits=LIMITS))
    house.place(house.request(round_id, other, stake_minor=100, limits=LIMITS))
    house.undo(placed.wager.id, player)
    house.place(house.request(round_id, player, stake_minor=100, limits=LIMITS))
    rest = house.request(round_id, player, bet="p2", stake_minor=50, limits=LIMITS)
    assert house.place(rest).balance_minor == 10_000 - 300


# Undo ------------------------------------------------------------------------------------------


def test_a_wager_taken_back_returns_the_whole_hold(house):
    player, round_id = house.player(1_000), house.round()
    placed = house.place(house.request(round_id, player))
    undone = house.undo(placed.wager.id, player)
    assert (undone.balance_minor, undone.held_minor, undone.repeated) == (1_000, 0, False)
    assert undone.wager.ending is not None
    assert undone.wager.ending.kind is EndingKind.UNDONE
    assert undone.wager.ending.payout_minor == 200
    assert house.money(player) == (1_000, 0)
    assert house.ledger_sum() == 0


def test_taking_back_twice_is_answered_twice_and_moves_once(house):
    player, round_id = house.player(1_000), house.round()
    placed = house.place(house.request(round_id, player))
    first = house.undo(placed.wager.id, player)
    before = stored(house)
    house.clock.at_ms = CLOSES_MS
    assert house.undo(placed.wager.id, player) == replace(first, repeated=True)
    assert stored(house) == before


@pytest.mark.parametrize(
    ("now_ms", "accepted"), [(CLOSES_MS - 1, True), (CLOSES_MS, False), (CLOSES_MS + 1, False)]
)
def test_nothing_is_taken_back_at_or_after_the_deadline(house, now_ms, accepted):
    player, round_id = house.player(1_000), house.round()
    placed = house.place(house.request(round_id, player))
    house.clock.at_ms = now_ms
    if accepted:
        assert house.undo(placed.wager.id, player).balance_minor == 1_000
        return
    with pytest.raises(RefusedError) as refused:
        house.undo(placed.wager.id, player)
    assert refused.value.code == "betting_window_closed"
    assert house.money(player) == (800, 200)


def test_a_settled_wager_is_not_taken_back(house):
    player, round_id = house.player(1_000), house.round()
    placed = house.place(house.request(round_id, player))
    house.settle(round_id, {"p1": 0})
    with pytest.raises(RefusedError) as refused:
        house.undo(placed.wager.id, player)
    assert refused.value.code == "wager_ended"


def test_a_wager_of_somebody_else_is_unknown(house):
    player, other, round_id = house.player(1_000), house.player(1_000), house.round()
    placed = house.place(house.request(round_id, player))
    for wager_id, who in ((placed.wager.id, other), (str(uuid.uuid4()), player)):
        with pytest.raises(RefusedError) as refused:
            house.undo(wager_id, who)
        assert refused.value.code == "unknown_wager"


def test_a_refused_wager_leaves_nothing_even_if_its_unit_is_committed(house):
    round_id = house.round()
    player = house.player(10_000)
    tight = replace(WIDE, table_max_minor=99)
    before = stored(house)
    with house.units.write() as unit:
        with pytest.raises(RefusedError):
            unit.wagers.place(house.request(round_id, player, limits=tight))
        unit.commit()
    assert stored(house) == before
    assert house.money(player) == (10_000, 0)


# Reading ---------------------------------------------------------------------------------------


def test_the_book_of_a_round_is_read_in_order_of_acceptance(house):
    round_id = house.round()
    players = [house.player(1_000) for _ in range(3)]
    placed = [
        house.place(house.request(round_id, player, bet=f"p{number}")).wager
        for number, player in enumerate(players)
    ]
    house.undo(placed[1].id, players[1])
    with house.units.read() as unit:
        assert [each.id for each in unit.wagers.of_round(round_id)] == [each.id for each in placed]
        assert unit.wagers.of_round(round_id, player_id=players[2]) == [placed[2]]
        assert unit.wagers.totals(round_id) == {"p0": (1, 100), "p2": (1, 100)}
        balances = unit.ledger.balances_of_round(round_id)
        assert sorted(balances) == players
        assert {who: balance.held_minor for who, balance in balances.items()} == dict(
            zip(players, (200, 0, 200), strict=True)
        )


def test_a_player_sees_the_latest_rounds_first_and_pages_on(house):
    player = house.player(10_000)
    rounds = [house.round() for _ in range(3)]
    for round_id in rounds:
        house.place(house.request(round_id, player))
        house.place(house.request(round_id, player, bet="p2"))
    with house.units.read() as unit:
        page = unit.wagers.of_player(player, limit_rounds=2, before_round_ms=None)
        assert [row.id for row, _ in page] == [rounds[2], rounds[1]]
        assert [[each.bet for each in wagers] for _, wagers in page] == [["p1", "p2"]] * 2
        rest = unit.wagers.of_player(player, limit_rounds=2, before_round_ms=page[-1][0].opened_ms)
        assert [row.id for row, _ in rest] == [rounds[0]]


def test_the_closed_book_counts_what_stands_and_its_digest_changes_with_it(house):
    player, round_id = house.player(10_000), house.round()
    kept = house.place(house.request(round_id, player, stake_minor=300))
    with house.units.read() as unit:
        before = unit.wagers.close(round_id)
    taken = house.place(house.request(round_id, player, bet="p2"))
    with house.units.read() as unit:
        both = unit.wagers.close(round_id)
    house.undo(taken.wager.id, player)
    with house.units.read() as unit:
        after = unit.wagers.close(round_id)
    assert (before.count, before.turnover_minor, before.held_minor) == (1, 300, 600)
    assert (both.count, both.turnover_minor, both.held_minor) == (2, 400, 800)
    assert before == after
    assert before.digest != both.digest
    assert kept.wager.stake_minor == 300
