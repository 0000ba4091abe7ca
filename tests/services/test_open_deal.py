"""Baccarat over a real database: cards dealt open after the close, bets, restarts, lost links."""

from dataclasses import replace

import pytest
from sqlalchemy import insert

from studio.domain.errors import RefusedError
from studio.domain.game import GameConfig
from studio.domain.round import Phase
from studio.domain.table import Link
from studio.services.setup import BetLimits
from studio.store.people_tables import qualification
from tests.services.test_recovery import play_on
from tests.support.floor import CASH_MINOR, DEALERS, PIT, PLAYERS, Floor, setup_of

LIMITS = BetLimits(min_minor=1, max_minor=5_000)
OPTIONS = {"pair_bets": True}
TABLE = setup_of(
    game="baccarat",
    config=GameConfig(decks=1, burn_per_round=0, options=OPTIONS),
    limits=dict.fromkeys(("player", "banker", "tie", "pair"), LIMITS),
)


@pytest.fixture
def table(both) -> Floor:
    """A floor on each kind of database whose first table plays baccarat."""
    with both.units.write() as unit:
        rows = [{"person_id": dealer.id, "game": "baccarat"} for dealer in DEALERS]
        unit.connection.execute(insert(qualification), rows)
        unit.commit()
    return replace(both, setups=dict(both.setups) | {"T1": TABLE})


def settled(floor, *faces):
    """Deal these cards after the close and let the clock settle."""
    floor.close()
    floor.show(*faces)
    floor.tables.tick("T1")
    assert floor.state().phase is Phase.SETTLED


def results(floor):
    return {
        one["bet"]: (one["net"], one["reason"]) for one in floor.live().view["round"]["results"]
    }


def test_a_round_is_paid_by_its_cards_and_rounded_down_once(table):
    table.to_betting()
    for player, (bet, stake_minor) in zip(
        PLAYERS, (("banker", 333), ("player", 500), ("tie", 7)), strict=True
    ):
        placed = table.bet(bet, stake_minor, player=player)
        assert placed.wager.hold_minor == stake_minor
    settled(table, "2D", "TC", "4D", "5H", "4C")
    assert table.money(PLAYERS[0]) == (CASH_MINOR + 316, 0), "333 x 1.95 is 649.35"
    assert table.money(PLAYERS[1]) == (CASH_MINOR - 500, 0)
    assert table.money(PLAYERS[2]) == (CASH_MINOR - 7, 0)
    assert results(table) == {
        "player": ("-1", "loses"),
        "banker": ("19/20", "banker_wins"),
        "tie": ("-1", "loses"),
        "player_pair": ("-1", "is_no_pair"),
        "banker_pair": ("-1", "is_no_pair"),
    }
    assert table.ledger_sum() == 0
    assert table.faults() == []


def test_a_tie_gives_the_sides_back_and_pays_the_tie(table):
    table.to_betting()
    for bet in ("player", "banker", "tie", "player_pair"):
        table.bet(bet, 100)
    settled(table, "AS", "4C", "AD", "3H", "5D")
    assert results(table)["banker"] == ("0", "tie_pushes")
    assert table.money() == (CASH_MINOR + 700 + 1_100, 0)


def test_a_bet_without_limits_of_its_own_or_of_another_game_is_refused(table):
    table.to_betting()
    with pytest.raises(RefusedError) as refusal:
        table.bet("tie", 5_001)
    assert refusal.value.code == "bet_limit_exceeded"
    with pytest.raises(Exception, match="'p1' is not a bet"):
        table.bet("p1", 100)


def test_nothing_is_bet_once_a_card_can_lie_open(table):
    table.to_betting()
    table.close()
    with pytest.raises(RefusedError) as refusal:
        table.bet("player", 100)
    assert refusal.value.code == "betting_window_closed"


def test_a_process_killed_after_any_commit_leaves_what_the_next_one_goes_on_from(table):
    floor = play_on(table, 8, bets=(("player", 100), ("banker", 333), ("tie", 5)))
    assert floor.ledger_sum() == 0
    assert floor.faults() == []
    with floor.units.read() as unit:
        rounds = unit.rounds.recent("T1", limit=20, before_ms=None)
        assert [row.phase for row in rounds] == ["settled"] * len(rounds)
        for row in rounds:
            wagers = unit.wagers.of_round(row.id)
            assert len(wagers) == 9
            assert all(wager.ending is not None for wager in wagers)


def lose(floor, link):
    """Let a link be silent until its grace is over, while the others are heard."""
    for _ in range(12):
        floor.wait(1_000)
        for other in Link:
            if other is not link:
                floor.links.beat("T1", other)
        floor.clockwork.turn()


def test_a_link_lost_between_the_close_and_the_first_card_cancels_and_refunds(table):
    table.to_betting()
    for link in Link:
        table.links.beat("T1", link)
    table.bet("player", 100)
    table.close()
    lose(table, Link.SCANNER)
    assert table.state().phase is Phase.VOID
    assert table.money() == (CASH_MINOR, 0)


def test_a_link_lost_after_the_first_card_lets_the_round_run_to_its_end(table):
    table.to_betting()
    for link in Link:
        table.links.beat("T1", link)
    table.bet("player", 100)
    table.close()
    table.show("9D")
    lose(table, Link.VIDEO)
    assert table.state().phase is Phase.REVEAL
    table.show("TC", "KD", "7H")
    table.tables.tick("T1")
    assert table.state().phase is Phase.SETTLED
    assert table.state().round.interrupted
    assert table.money() == (CASH_MINOR + 100, 0)


def test_a_void_in_the_middle_of_the_deal_gives_everything_back(table):
    table.to_betting()
    table.bet("banker", 333)
    table.close()
    table.show("2D", "TC", "4D")
    table.command("void_round", PIT, reason="misdeal", round_id=table.round_id)
    assert table.money() == (CASH_MINOR, 0)
    assert table.faults() == []


def test_a_card_drawn_before_the_close_waits_for_the_supervisor(table):
    table.to_betting()
    table.show("9D")
    assert table.alarm_codes() == ["out_of_turn"]
    table.command("release_held", PIT, reason="drawn too early; burnt")
    settled(table, "2D", "TC", "4D", "5H", "4C")
    assert table.state().shoe.burnt == 4


def test_two_games_share_one_wallet_and_one_pit(table):
    table.to_betting()
    table.bet("player", 100)
    pit = table.tables.pit(table.links)
    assert [(one["table"], one["view"]["game"]) for one in pit["tables"]] == [
        ("T1", "baccarat"),
        ("T2", "pok_deng"),
    ]
    table.command("take_seat", DEALERS[1], table="T2")
    table.command("load_shoe", DEALERS[1], table="T2", deck_set=2)
    table.command("confirm_shuffle", DEALERS[1], table="T2", cut_depth=20)
    for serial in (2, 13, 26):
        table.show_serial(serial, table="T2", deck_set=2)
    table.command("start_round", DEALERS[1], table="T2")
    other = table.state("T2").round.id
    table.wagers.place(
        PLAYERS[0],
        round_id=other,
        wager_id="00000000-0000-4000-8000-000000000001",
        bet="p1",
        stake_minor=200,
    )
    assert table.money() == (CASH_MINOR - 100 - 400, 500)
