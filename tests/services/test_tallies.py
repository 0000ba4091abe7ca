"""Tallies and medals: what a round changes, rows of wins, what is reached and what is not."""

from dataclasses import replace
from functools import reduce

import pytest

from studio.domain.game import GameConfig
from studio.games import GAMES, by_code
from studio.services.club_data import Medal, Tally, hit_tally
from studio.services.tallies import PlayedRound, after_round, known_tallies, reached
from tests.support.floor import setup_of

TIE = hit_tally("baccarat", "tie")
PAIR = hit_tally("pok_deng", "pair")


def played(net_minor: int = 0, **hits: int) -> PlayedRound:
    return PlayedRound(player_id=1, net_minor=net_minor, hits=hits)


def after(*nets: int) -> dict[str, int]:
    """Return the tallies of a player to whom rounds brought this, one after the other."""
    return reduce(lambda before, net: before | after_round(before, played(net)), nets, {})


@pytest.mark.parametrize(
    ("nets", "row"),
    [
        ([], 0),
        ([100], 1),
        ([100, 1], 2),
        ([100, 100, -1], 0),
        ([100, 100, -100, 100], 1),
        ([100, 0, 100], 2),
        ([100, 0, 0, 0], 1),
        ([0], 0),
        ([-1], 0),
        ([-1, 0, 100], 1),
        ([100] * 10, 10),
        ([100] * 9 + [-1] + [100] * 9, 9),
    ],
)
def test_a_row_of_wins_ends_with_a_loss_alone(nets, row):
    assert after(*nets).get(Tally.WINS_IN_A_ROW, 0) == row


def test_every_round_is_won_lost_or_even():
    assert after(300, -200, 0, 0, -200, 50) == {
        Tally.ROUNDS: 6,
        Tally.WINS: 2,
        Tally.LOSSES: 2,
        Tally.WINS_IN_A_ROW: 1,
        Tally.WON_MINOR_MAX: 300,
    }


def test_an_even_round_counts_as_a_round_and_nothing_else():
    assert after_round({}, played(0)) == {Tally.ROUNDS: 1}


@pytest.mark.parametrize(
    ("nets", "most"), [([5], 5), ([5, 9, 7], 9), ([-9], 0), ([9, -50], 9), ([0], 0)]
)
def test_the_best_round_is_kept(nets, most):
    assert after(*nets).get(Tally.WON_MINOR_MAX, 0) == most


def test_hits_are_wagers_and_count_in_a_lost_round_too():
    before = {TIE: 3, Tally.WINS_IN_A_ROW: 4}
    changed = after_round(before, PlayedRound(player_id=1, net_minor=-10, hits={TIE: 2, PAIR: 1}))
    assert changed == {
        Tally.ROUNDS: 1,
        Tally.LOSSES: 1,
        Tally.WINS_IN_A_ROW: 0,
        TIE: 5,
        PAIR: 1,
    }


def test_what_a_round_does_not_touch_is_not_written():
    changed = after_round({Tally.REFILLS: 2, PAIR: 9}, played(10))
    assert Tally.REFILLS not in changed
    assert PAIR not in changed


# Medals ----------------------------------------------------------------------------------------

TEN = Medal(code="ten_wins_in_a_row", tally=Tally.WINS_IN_A_ROW, at_least=10)
FIRST = Medal(code="first_win", tally=Tally.WINS, at_least=1)
MEDALS = (FIRST, TEN, Medal(code="tie_hit", tally=TIE, at_least=1))


@pytest.mark.parametrize(("value", "codes"), [(9, ()), (10, (TEN.code,)), (11, (TEN.code,))])
def test_a_medal_is_reached_at_its_number(value, codes):
    assert reached([TEN], {Tally.WINS_IN_A_ROW: value}, held=()) == codes


def test_a_medal_that_is_held_is_not_given_again():
    assert reached([TEN], {Tally.WINS_IN_A_ROW: 10}, held={TEN.code}) == ()


def test_one_round_may_bring_several_medals_in_the_order_of_the_file():
    changed = {TIE: 1, Tally.WINS: 1, Tally.WINS_IN_A_ROW: 1}
    assert reached(MEDALS, changed, held=()) == ("first_win", "tie_hit")


def test_a_lowered_limit_gives_its_medal_when_the_tally_moves_next():
    assert reached([replace(TEN, at_least=3)], {Tally.WINS_IN_A_ROW: 7}, held=()) == (TEN.code,)
    assert reached([replace(TEN, at_least=3)], {Tally.ROUNDS: 7}, held=()) == ()


# Names -----------------------------------------------------------------------------------------


def test_the_known_tallies_are_the_fixed_ones_and_those_of_every_games_bets():
    names = known_tallies(by_code(GAMES))
    assert {tally.value for tally in Tally} < names
    assert {"hit.pok_deng.main", "hit.pok_deng.pair"} < names
    assert "hit.pok_deng.tie" not in names


def test_bets_that_only_a_tables_options_offer_are_known_too():
    class WithSideBet:
        code = "toy"

        def describe(self, config: GameConfig):
            kinds = ["main", "side"] if config.options.get("side") else ["main"]
            bets = [type("Bet", (), {"settles_on": kind}) for kind in kinds]
            return type("Description", (), {"bets": bets})

    setup = setup_of(game="toy", config=GameConfig(options={"side": True}))
    assert "hit.toy.side" not in known_tallies({"toy": WithSideBet()})
    assert "hit.toy.side" in known_tallies({"toy": WithSideBet()}, [setup])
