"""The pages of rules: which games they tell of, and that their figures are the rules' own."""

import html
from dataclasses import replace

import pytest

from studio.domain.game import GameConfig
from studio.games import GAMES, by_code
from studio.games.baccarat.rules import BANKER_DRAWS_ON, PLAYER_DRAWS_MAX, drawing
from studio.web.catalogue import texts
from studio.web.pages.game_rules import more_about, percent, terms_of

BACCARAT, POK_DENG = by_code(GAMES)["baccarat"], by_code(GAMES)["pok_deng"]


@pytest.fixture
def set_up(studio, monkeypatch):
    """Give the studio other tables: (code, game, options) each, like the shipped table of it."""
    shipped = {setup.game: setup for setup in studio.tables.tables.setups.values()}

    def tables(*wanted):
        setups = {}
        for code, game, options in wanted:
            config = replace(shipped[game].config, options=options)
            setups[code] = replace(shipped[game], code=code, name=f"Table {code}", config=config)
        monkeypatch.setattr(studio.tables.tables, "setups", setups)
        return tuple(setups.values())

    return tables


# Which page ------------------------------------------------------------------------------------


def test_one_game_needs_no_list(stranger, set_up):
    set_up(("A", "baccarat", {}), ("B", "baccarat", {}))
    answer = stranger.get("/rules")
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/rules/baccarat"


def test_two_games_are_listed_with_their_tables(stranger, set_up):
    set_up(("A", "baccarat", {}), ("B", "pok_deng", {}), ("C", "baccarat", {}))
    page = stranger.get("/rules").text
    assert page.index("/rules/baccarat") < page.index("Table A, Table C")
    assert page.index("/rules/pok_deng") < page.index("Table B")


@pytest.mark.parametrize("game", [game.code for game in GAMES])
def test_every_game_of_the_studio_has_a_page_even_without_a_table(stranger, set_up, game):
    set_up()
    assert stranger.get(f"/rules/{game}").status_code == 200


@pytest.mark.parametrize("game", ["returns", "base", "no_game", "Baccarat"])
def test_what_is_no_game_has_no_page(stranger, game):
    assert stranger.get(f"/rules/{game}").status_code == 404


@pytest.mark.parametrize(
    ("table", "address"),
    [("A", "/rules/baccarat"), ("B", "/rules/pok_deng"), ("unknown", "/rules")],
)
def test_a_table_leads_to_the_rules_of_its_own_game(login, set_up, table, address):
    set_up(("A", "baccarat", {}), ("B", "pok_deng", {}))
    assert f'href="{address}" data-testid="rules"' in login("player").get(f"/play/{table}").text


@pytest.mark.parametrize("role", ["player", "dealer"])
def test_the_top_bar_leads_to_the_rules_and_says_where_one_is(login, role):
    page = login(role).get("/rules/baccarat").text
    assert '<a href="/rules" aria-current="page">' in page


# What it says ----------------------------------------------------------------------------------


def test_the_returns_are_the_exact_ones_of_the_tables(stranger, set_up):
    set_up(("A", "pok_deng", {}))
    page = stranger.get("/rules/pok_deng").text
    assert [figure in page for figure in ("98.35 %", "89.64 %")] == [True, True]
    assert "Table A" not in page, "where all tables pay alike, none is named"


def test_tables_that_pay_differently_are_told_apart(set_up):
    setups = set_up(
        ("A", "baccarat", {}),
        ("B", "baccarat", {"tie_gross": 9, "pair_bets": True}),
        ("C", "baccarat", {}),
        ("D", "pok_deng", {}),
    )
    plain, rich = terms_of(BACCARAT, setups)
    assert (plain.tables, rich.tables) == (("Table A", "Table C"), ("Table B",))
    assert [(pay.kind, pay.odds, pay.returned) for pay in plain.pays] == [
        ("player", "1", "98.76 %"),
        ("banker", "0.95", "98.94 %"),
        ("tie", "7", "76.12 %"),
    ]
    assert [(pay.kind, pay.odds, pay.returned) for pay in rich.pays[2:]] == [
        ("tie", "8", "85.64 %"),
        ("pair", "11", "89.64 %"),
    ]


def test_the_page_tells_each_tables_options_in_words(stranger, set_up):
    set_up(
        ("A", "baccarat", {}),
        ("B", "baccarat", {"tie_gross": 9, "pair_bets": True, "online_bonus": True}),
    )
    page = stranger.get("/rules/baccarat").text
    assert page.count("Bets on pairs are not offered here.") == 1
    assert page.count("is multiplied by 1.5") == 1
    for odds in ("7:1", "0.95:1", "1.925:1", "12.5:1", "17:1"):
        assert f">{odds}</td>" in page
    assert "98.35" not in page


def test_a_burn_is_told_only_of_tables_that_burn(stranger, studio, set_up, monkeypatch):
    burnt = "One card is burnt face down."
    first, second = set_up(("A", "baccarat", {}), ("B", "baccarat", {}))

    def page(*burns):
        setups = {
            one.code: replace(one, config=replace(one.config, burn_per_round=count))
            for one, count in zip((first, second), burns, strict=True)
        }
        monkeypatch.setattr(studio.tables.tables, "setups", setups)
        return stranger.get("/rules/baccarat").text

    assert burnt not in page(0, 0)
    assert f"<li>{burnt}</li>" in page(1, 1)
    assert f"<li>{burnt} (Table B)</li>" in page(0, 2)


def test_a_game_without_a_table_is_told_with_its_defaults():
    (terms,) = terms_of(POK_DENG, ())
    assert (terms.tables, terms.decks, terms.kinds) == ((), GameConfig().decks, ("main", "pair"))


def test_the_table_of_third_cards_is_the_one_that_deals():
    rows = more_about("baccarat")["banker_rows"]
    told = {}
    for row in rows:
        first, _, last = row.totals.partition("–")
        for total in range(int(first), int(last or first) + 1):
            told[total] = row
    assert sorted(told) == list(range(len(BANKER_DRAWS_ON)))
    for total, row in told.items():
        # A player hand of 6 stands; one of 0 draws, here the card 0 to 9.
        assert row.when_stood == (drawing((0, 6), (0, total)) is not None), total
        on = {card for card in range(10) if drawing((0, 0, card), (0, total)) is not None}
        assert row.always == (len(on) == 10), total
        assert bool(row.on) == bool(on), total
    assert told[3].on == "0–7, 9"
    assert told[6].on == "6–7"
    assert more_about("baccarat")["player_draws"] == f"0–{PLAYER_DRAWS_MAX}"
    assert more_about("pok_deng") == {}


def test_a_percentage_is_rounded_to_two_decimals():
    exact = POK_DENG.theoretical("main", GameConfig()).rtp
    assert percent(exact) == "98.35 %"


# Changes, and what counts as lost -----------------------------------------------------------------


@pytest.mark.parametrize("code", sorted(by_code(GAMES)))
def test_every_change_of_a_game_has_its_text_and_its_page_shows_it(stranger, code):
    english = texts("en")
    changes = by_code(GAMES)[code].describe(GameConfig()).rule_changes
    assert changes
    page = html.unescape(stranger.get(f"/rules/{code}").text)
    for number, change in enumerate(changes, start=1):
        assert english[f"rules.change_{code}_{number}"] == change
        assert change in page
    assert by_code(GAMES)[code].describe(GameConfig()).rule_version in page


def test_what_counts_as_lost_is_printed_as_it_is_set(stranger, studio):
    setup = studio.tables.tables.setup("T1")
    page = stranger.get("/rules/pok_deng").text
    for limit_ms in (
        setup.links.scanner_lost_ms,
        setup.links.station_lost_ms,
        setup.links.grace_ms,
    ):
        assert f"{limit_ms / 1000:g} s" in page
