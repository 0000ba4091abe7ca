"""Baccarat as a player sees it: from the bet to the last yen, on every screen, in two languages."""

import re

import pytest
from playwright.sync_api import expect

from studio.games import GAMES, by_code
from studio.services.audit import audit
from studio.services.ports import EndingKind
from studio.services.replay import GameReplay
from tests.browser.dealing import BURN, Table
from tests.browser.house import PURSE_MINOR, House, until
from tests.browser.looks import check, height_px
from tests.browser.test_japanese import leftovers
from tests.browser.windows import Window, Windows

pytestmark = pytest.mark.browser

FIRST_FOUR = ("KS", "3H", "KC", "4H")
"""Player, banker, player, banker: a pair of kings worth 0 against 7."""
THIRD = "5C"
"""The player draws it and is worth 5; the banker stands on 7."""
STAKES_MINOR = {"banker": 500, "tie": 100, "player_pair": 100}
HOLD_MINOR = sum(STAKES_MINOR.values())
PAYOUTS_MINOR = {"banker": 975, "tie": 0, "player_pair": 1_200}
"""0.95:1 and 11:1, the stakes besides; nothing for the tie."""

SPOTS = [f"spot-{code}" for code in ("player", "banker", "tie", "player_pair", "banker_pair")]
PARTS = [
    *SPOTS,
    *("hand-P", "hand-B", "calls", "phase", "countdown", "connection", "round"),
    *("undo", "clear", "rebet", "chip-500"),
]


def yen(minor: int) -> str:
    return f"¥{minor:,}"


def seat(windows: Windows, player: str, table: str, **options: object) -> Window:
    return windows.of(player, f"/play/{table}", **options).live()


def deal(table: Table, faces: tuple[str, ...]) -> None:
    """Deal after the close, as far as it goes."""
    table.close_window()
    table.deal(faces)


def settled(table: Table) -> None:
    until(lambda: table.view()["phase"] == "settled", what="the round is settled")


def bet(play: Window, code: str, *, chip: int) -> None:
    play(f"chip-{chip}").click()
    play(f"spot-{code}").click()
    expect(play(f"spot-{code}")).to_have_attribute("data-state", "accepted")


# A whole round ----------------------------------------------------------------------------------


def test_a_round_is_bet_dealt_called_and_paid_to_the_last_yen(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T4"]
    table.make_ready()
    player = house.new_player()
    play = windows.of(player, "/play")
    play("tables").get_by_role("link").filter(has_text="Baccarat 4").click()
    play.live()
    round_id = table.start_round()
    bet_on_banker_tie_and_pair(play)
    table.lay(BURN)
    expect(play("verify")).to_have_text("1 card sealed until it is opened")
    expect(play("calls")).to_have_text("")
    deal(table, FIRST_FOUR)
    see_the_player_draw(play)
    play.page.reload()
    see_the_player_draw(play.live())
    table.lay(THIRD)
    settled(table)
    see_who_has_won(play)
    see_the_money(play, house, player, round_id)
    see_the_roads(play)
    replay = by_code(GAMES)
    assert audit(house.units, replay=lambda code, seen: GameReplay(code, replay, seen)) == []

    play.open("/history")
    mine = play(f"history-{round_id}")
    mine.locator("summary").click()
    for words in ("Banker", "Tie", "Player pair"):
        expect(mine.get_by_role("rowheader", name=words, exact=True)).to_be_visible()
    expect(mine.locator(".card-chip")).to_have_count(len(FIRST_FOUR) + 1)
    play.open("/play")
    expect(play("table-T4").locator(".bead-letter").last).to_have_text("B")


def bet_on_banker_tie_and_pair(play: Window) -> None:
    """Every spot says what the table pays; only the stake is held."""
    pays = ("1:1", "0.95:1", "7:1", "11:1", "11:1")
    for spot, odds in zip(SPOTS, pays, strict=True):
        expect(play(spot).locator(".spot-note")).to_have_text(odds)
    expect(play("spot-tie")).to_have_accessible_name("Tie bet: 7:1, no bet")
    bet(play, "banker", chip=500)
    expect(play("message")).to_have_text("Accepted Banker ¥500")
    bet(play, "tie", chip=100)
    expect(play("message")).to_have_text("Accepted Tie ¥100")
    bet(play, "player_pair", chip=100)
    expect(play("message")).to_have_text("Accepted Player pair ¥100")
    expect(play("spot-banker")).to_contain_text("Accepted")
    expect(play("held")).to_have_text(yen(HOLD_MINOR))
    expect(play("balance")).to_have_text(yen(PURSE_MINOR - HOLD_MINOR))


def see_the_player_draw(play: Window) -> None:
    """The dealer's call is a status; the third place is there for the hand that draws."""
    expect(play.page.get_by_role("status").filter(has_text="Player draws")).to_be_visible()
    expect(play("worth-P")).to_have_text("0")
    expect(play("worth-B")).to_have_text("7")
    expect(play("hand-P").locator(".card")).to_have_count(3)
    expect(play("hand-P").locator(".card.open")).to_have_count(2)
    expect(play("hand-B").locator(".card")).to_have_count(2)


def see_who_has_won(play: Window) -> None:
    expect(play("calls")).to_have_text("Banker: no card · Banker wins")
    expect(play("worth-P")).to_have_text("5")
    expect(play("hand-P").locator(".card.open")).to_have_count(3)
    expect(play("result-P")).to_have_text("loses")
    expect(play("result-B")).to_have_text("wins")
    expect(play("result-B").locator("svg")).to_be_visible()
    expect(play("result-P").locator("svg")).to_have_count(0)
    expect(play("hand-B")).to_have_css("border-top-style", "double")
    expect(play("hand-P")).to_have_css("border-top-style", "solid")


def see_the_money(play: Window, house: House, player: str, round_id: str) -> None:
    """What the page shows is what the ledger holds."""
    expect(play("result-row-banker")).to_contain_text("Banker wins 0.95:1")
    expect(play("result-row-banker")).to_contain_text("stake 500 + win 475")
    expect(play("result-row-tie")).to_contain_text("Tie loses")
    expect(play("result-row-tie")).to_contain_text("stake 100 − loss 100")
    expect(play("result-row-player_pair")).to_contain_text("Player pair pair, 11:1")
    for code, minor in PAYOUTS_MINOR.items():
        expect(play(f"result-row-{code}")).to_contain_text(f"Returned {yen(minor)}")
    expect(play("round-net")).to_have_text(f"+{yen(sum(PAYOUTS_MINOR.values()) - HOLD_MINOR)}")
    player_id = house.player_id(player)
    with house.units.read() as unit:
        balance = unit.ledger.balance(player_id)
        wagers = unit.wagers.of_round(round_id, player_id=player_id)
    assert balance.balance_minor == PURSE_MINOR - HOLD_MINOR + sum(PAYOUTS_MINOR.values())
    endings = {one.bet: one.ending for one in wagers}
    assert {bet: one.payout_minor for bet, one in endings.items() if one} == PAYOUTS_MINOR
    expect(play("balance")).to_have_text(yen(balance.balance_minor))
    expect(play("held")).to_have_text(yen(0))
    expect(play("verify")).to_have_text(f"Cards match {len(FIRST_FOUR) + 2}/6")


def see_the_roads(play: Window) -> None:
    beads, big = play("plate-bead"), play("plate-big")
    expect(beads.locator(".bead-letter").last).to_have_text("B")
    expect(beads.locator("[data-place]").last.locator(".player-pair")).to_be_visible()
    expect(big.locator(".big-banker").last).to_be_visible()
    rows = play("road").locator("tbody tr")
    expect(rows.first).to_contain_text("Banker wins, player pair")


def test_a_natural_tie_gives_the_sides_back_and_is_told_in_japanese(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T4"]
    table.make_ready()
    play = seat(windows, house.new_player(language="ja"), "T4")
    table.start_round()
    bet(play, "player", chip=500)
    expect(play("message")).to_have_text("受付完了 プレイヤー 500円")
    bet(play, "tie", chip=100)
    table.lay(BURN)
    deal(table, ("9S", "8H", "KC", "AC"))
    settled(table)
    expect(play("calls")).to_have_text("ナチュラル · タイ")
    for position in ("P", "B"):
        expect(play(f"worth-{position}")).to_have_text("9点 ナチュラル")
        expect(play(f"result-{position}")).to_have_text("引き分け")
        expect(play(f"hand-{position}").locator(".card")).to_have_count(2)
    expect(play("result-row-player")).to_contain_text("プレイヤー タイのため返還")
    expect(play("result-row-player")).to_contain_text("払戻 500円")
    expect(play("result-row-tie")).to_contain_text("タイ 的中 7倍")
    expect(play("balance")).to_have_text("100,700円")
    expect(play("plate-bead").locator(".bead-letter").last).to_have_text("和")
    play("road").locator("summary").click()
    assert not leftovers(play, without=".who, .language")


def test_a_void_gives_back_stakes_that_had_no_deposit(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T4"]
    table.make_ready()
    player = house.new_player()
    play = seat(windows, player, "T4")
    round_id = table.start_round()
    bet(play, "tie", chip=500)
    table.lay(BURN)
    deal(table, FIRST_FOUR[:3])
    expect(play("hand-P").locator(".card.open")).to_have_count(2)
    table.pit("void_round", reason="a card fell to the floor")
    expect(play("message")).to_contain_text("All that was held is returned")
    expect(play("result-row-tie")).to_contain_text("Tie void")
    expect(play("result-row-tie")).to_contain_text("Stake returned in full")
    expect(play("balance")).to_have_text(yen(PURSE_MINOR))
    with house.units.read() as unit:
        endings = [one.ending for one in unit.wagers.of_round(round_id)]
    assert [one.kind for one in endings if one] == [EndingKind.REFUNDED]
    expect(play("result-P")).to_be_hidden()


# How it looks -----------------------------------------------------------------------------------


def test_the_players_table_fits_every_screen_in_both_languages(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T5"]
    table.make_ready()
    plays = [seat(windows, house.new_player(language=one), "T5") for one in ("en", "ja")]
    table.start_round()
    table.lay(BURN)
    for play in plays:
        for code in ("player", "tie", "banker_pair"):
            bet(play, code, chip=500)
        check(play, PARTS, also=lambda width, play=play: see_all(play, width, "countdown"))
    deal(table, FIRST_FOUR)
    for play in plays:
        expect(play("hand-P").locator(".card")).to_have_count(3)
        check(play, PARTS, also=lambda width, play=play: see_all(play, width, "calls"))
    table.lay(THIRD)
    settled(table)
    for play in plays:
        expect(play("results")).to_be_visible()
        check(play, PARTS, also=lambda width, play=play: see_all(play, width, "calls"))


def see_all(play: Window, width: int, *parts: str) -> None:
    """Both hands, the spots and what is said now are in sight without any scrolling."""
    play.page.evaluate("scrollTo(0, 0)")
    for part in ("hand-P", "hand-B", "balance", *SPOTS, *parts):
        expect(play(part)).to_be_in_viewport(ratio=1)
    for spot in SPOTS:
        assert height_px(play, spot) >= 44, spot
    if width > 360:
        return
    expect(play("chip-500")).to_be_in_viewport(ratio=1)
    chips, wallet = (play(one).bounding_box() for one in ("chip-500", "balance"))
    assert chips is not None
    assert wallet is not None
    assert chips["y"] + chips["height"] < wallet["y"]


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("path", ["/rules", "/rules/baccarat", "/rules/pok_deng"])
def test_the_rules_fit_every_screen(
    house: House, windows: Windows, language: str, path: str
) -> None:
    window = windows.of(house.new_player(language=language), path)
    expect(window.page.locator("html")).to_have_attribute("lang", language)
    check(window, [])


def test_the_rules_are_found_from_the_table_and_from_the_top_bar(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    tables["T4"].make_ready()
    play = seat(windows, house.new_player(), "T4")
    play("rules").click()
    expect(play.page).to_have_url(re.compile("/rules/baccarat$"))
    expect(play("third-banker").get_by_role("row")).to_have_count(8)
    expect(play("pays").first).to_contain_text("0.95:1")
    play.page.get_by_role("link", name="Rules").click()
    expect(play("rules-list").get_by_role("link")).to_have_count(len(GAMES))
    play("rules-pok_deng").click()
    expect(play("rtp-main")).to_contain_text("98.35 %")
