"""The demo's parts by themselves: stakes, purses, settings, who sits where, what is summed up."""

from fractions import Fraction

import pytest

from studio.demo.furnish import PLAYERS, purse_minor
from studio.demo.plan import GAMES, PLAY_PURSE_MINOR, Plan, chosen_games, line_up
from studio.demo.rooms import MEMBERS, tables_of
from studio.demo.settings import studio_settings
from studio.demo.stakes import CHIPS_MINOR, Budget, Chips, Spot
from studio.demo.summary import as_text
from studio.demo.world import generator
from studio.games import GAMES as PLUGINS
from studio.games import by_code
from studio.settings import currency_of, load_settings, table_setups

SPOT = Spot(code="main", exposure=Fraction(2), least_minor=100, most_minor=99_900)


def plan(game="all", **changed):
    values = {"rounds": 1, "seed": 7, "headless": True, "database_url": None, **changed}
    return Plan(games=chosen_games(game), **values)


def tables(of):
    return line_up(of, ["T4", "T6"])


# Tables -----------------------------------------------------------------------------------------


def test_both_tables_have_dealers_cameras_and_deck_sets_of_their_own():
    first, second = tables(plan())
    assert [(one.code, one.game.code, one.dealer) for one in (first, second)] == [
        ("T4", "pok_deng", "dealer"),
        ("T6", "baccarat", "dealer2"),
    ]
    assert first.device != second.device
    assert not set(first.game.deck_sets) & set(second.game.deck_sets)
    assert first.game.salt != second.game.salt


@pytest.mark.parametrize("game", GAMES)
def test_a_table_alone_has_the_first_dealer(game):
    (table,) = tables(plan(game))
    assert (table.code, table.game.code, table.dealer) == ("T4", game, "dealer")


def test_every_game_of_the_studio_has_its_table():
    assert set(GAMES) == set(by_code(PLUGINS))


@pytest.mark.parametrize("play_money", [False, True])
@pytest.mark.parametrize("game", [*GAMES, "all"])
def test_the_studio_takes_the_settings(tmp_path, monkeypatch, game, play_money):
    monkeypatch.setenv("STUDIO_SECRET_KEY", "s" * 40)
    chosen = plan(game, play_money=play_money)
    file = tmp_path / "studio.toml"
    file.write_text(studio_settings(chosen, tables(chosen)))
    settings = load_settings(file)
    setups = table_setups(settings, by_code(PLUGINS))
    assert [setup.game for setup in setups.values()] == list(chosen.games)
    assert currency_of(settings).play is play_money
    for setup in setups.values():
        if setup.game == "baccarat":
            assert setup.config.burn_per_round == 0
            assert ("player_pair" in setup.bets(by_code(PLUGINS)["baccarat"])) is not play_money
            assert setup.config.options.get("online_bonus", False) is play_money


def test_two_players_of_a_room_bet_at_its_table_only():
    both = tables(plan(play_money=True))
    seats = {name: tables_of(name, plan(play_money=True), both) for name in PLAYERS}
    assert [len(seats[name]) for name in PLAYERS] == [1, 1, 2, 2, 2]
    assert {seats[name][0].game.code for name in MEMBERS} == {"baccarat"}
    assert all(tables_of(name, plan(), both) == both for name in PLAYERS)


# Stakes -----------------------------------------------------------------------------------------


def test_chips_keep_within_the_limits_of_the_bet():
    spot = Spot(code="tie", exposure=Fraction(1), least_minor=200, most_minor=1_000)
    drawn = {Chips().choose(spot, generator(number, "chips")) for number in range(50)}
    assert drawn == {200, 500, 1_000} < set(CHIPS_MINOR)


@pytest.mark.parametrize(
    ("of", "least_minor"),
    [
        (plan("pok_deng", rounds=None), 1_000_000),
        (plan("pok_deng", rounds=30), 1_000_000),
        (plan("all", rounds=100), 2 * 100 * 3 * 5_000 * 2),
        (plan("all", rounds=10**12), 10**12),
    ],
)
def test_a_purse_outlasts_the_loss_of_every_bet(of, least_minor):
    assert purse_minor(of) == least_minor


def test_a_budget_is_never_overdrawn_whatever_is_lost():
    rng, budget = generator(7, "budget"), Budget(left_minor=PLAY_PURSE_MINOR)
    for number in range(300):
        left_minor = budget.left_minor
        for spot in (SPOT, SPOT, SPOT):
            stake_minor = budget.choose(spot, rng)
            if stake_minor is None:
                assert budget.left_minor < 5 * 2 * 100
                continue
            assert stake_minor % 100 == 0
            assert 100 <= stake_minor <= 99_900
            budget.placed(f"T1-1-{number}", spot, stake_minor)
        assert 0 <= budget.left_minor <= left_minor
        budget.settled(f"T1-1-{number}", {"main": Fraction(-2)})
    assert budget.choose(SPOT, rng) is None


@pytest.mark.parametrize(
    ("nets", "left_minor"),
    [
        ({"main": Fraction(1)}, 2_300),
        ({"main": Fraction(-2)}, 1_400),
        ({"main": Fraction(77, 1_000)}, 2_023),
        ({"main": Fraction(-1, 1_000)}, 1_999),
        ({}, 2_000),
    ],
)
def test_a_budget_gets_back_what_the_wallet_gets(nets, left_minor):
    budget = Budget(left_minor=2_000)
    budget.placed("T1-1-1", SPOT, 300)
    assert budget.left_minor == 1_400
    budget.settled("T1-1-2", {"main": Fraction(5)})
    assert budget.left_minor == 1_400
    budget.settled("T1-1-1", nets)
    budget.settled("T1-1-1", nets)
    assert budget.left_minor == left_minor


# Words ------------------------------------------------------------------------------------------


def test_two_tables_stand_beside_their_totals():
    one = {"table": "T1", "rounds": 2, "results": ["P=7 B=5"] * 2}
    other = {"table": "T2", "rounds": 3, "results": []}
    totals = {"table": "T1, T2", "rounds": 5, "results": [], "tables": [one, other]}
    assert as_text(totals).splitlines() == [
        "table              T1, T2       T1           T2",
        "rounds             5            2            3",
    ]
    assert as_text(one).splitlines() == ["table              T1", "rounds             2"]
