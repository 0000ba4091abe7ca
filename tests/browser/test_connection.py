"""After a reload or a cut line, a page is the page that everybody else sees."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.dealing import BURN, HANDS, Table
from tests.browser.house import PURSE_MINOR, House
from tests.browser.windows import Window, Windows

pytestmark = pytest.mark.browser

WAGERS = re.compile(r"/api/rounds/[^/]+/wagers$")
SEEN = ("round", "shoe", "balance", "held", "bet-total", "verify", "road", "limits")


def picture(play: Window) -> dict[str, object]:
    """Return what a player sees of the table, without clocks and passing messages."""
    spots = play.page.locator(".spot")
    return {
        **{name: play(name).inner_text() for name in SEEN},
        "phase": play("phase").inner_text(),
        "spots": spots.all_inner_texts(),
        "states": [one.get_attribute("data-state") for one in spots.all()],
        "hands": play.page.locator(".hand").all_inner_texts(),
        "cards": [one.get_attribute("aria-label") for one in play.page.locator(".card").all()],
    }


def bet(play: Window, spot: str) -> None:
    play(spot).click()
    expect(play(spot)).to_have_attribute("data-state", "accepted")


def test_a_reloaded_page_is_the_fresh_page(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    table.make_ready()
    player = house.new_player()
    play = windows.of(player, "/play/T2").live()
    table.start_round()
    bet(play, "spot-p1")
    bet(play, "spot-p2_pair")
    table.deal((BURN, *HANDS[:8]))
    expect(play("verify")).to_have_text("9 cards sealed until they are opened")
    before = picture(play)
    play.page.reload()
    play.live()
    expect(play("held")).to_have_text("¥1,500")
    expect(play("spot-p1")).to_have_attribute("data-state", "accepted")
    fresh = windows.of(player, "/play/T2").live()
    expect(fresh("spot-p1")).to_have_attribute("data-state", "accepted")
    expect(fresh("verify")).to_have_text("9 cards sealed until they are opened")
    assert picture(play) == picture(fresh) == before


def test_a_page_whose_line_was_cut_catches_up_with_everything(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    table.make_ready()
    player = house.new_player()
    play = windows.new()
    lines = play.tapped_lines()
    play.log_in(player).open("/play/T2").live()
    round_id = table.start_round()
    bet(play, "spot-p1")
    table.deal((BURN, *HANDS[:2]))

    play.context.set_offline(True)
    lines[-1].close()
    expect(play("connection")).to_have_attribute("data-state", "lost")
    expect(play("stale")).to_contain_text("Reconnecting… shown as of")
    expect(play("spot-p1")).to_be_disabled()
    play("spot-p5").click(force=True)
    elsewhere = windows.of(player, "/play/T2").live()
    bet(elsewhere, "spot-p3")
    table.deal(HANDS[2:])
    play.context.set_offline(False)

    play.live()
    expect(play("message")).to_have_text("Back. 2 bets accepted, ¥1,000 in all")
    expect(play("stale")).to_be_hidden()
    expect(play("verify")).to_have_text("13 cards sealed until they are opened")
    assert picture(play) == picture(elsewhere)
    with house.units.read() as unit:
        assert [one.bet for one in unit.wagers.of_round(round_id)] == ["p1", "p3"]
    table.pit("void_round", reason="end of the test")
    for window in (play, elsewhere):
        expect(window("balance")).to_have_text(f"¥{PURSE_MINOR:,}")


def test_a_bet_that_finds_no_way_is_unknown_then_refused_and_never_counts_late(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T3"]
    table.make_ready()
    player = house.new_player()
    play = windows.of(player, "/play/T3").live()
    play.offline = True
    play.refusals = {409}
    play.page.route(WAGERS, lambda route: route.abort("internetdisconnected"))
    round_id = table.start_round()
    play("spot-p1").click()
    expect(play("spot-p1")).to_have_attribute("data-state", "unknown")
    expect(play("spot-p1")).to_contain_text("Checking…")
    expect(play("message")).to_have_text("Checking whether this bet counted…")
    expect(play("balance")).to_have_text(f"¥{PURSE_MINOR:,}")
    table.close_window()
    play.page.unroute(WAGERS)
    expect(play("message")).to_have_text("Too late. Nothing taken.")
    expect(play("spot-p1")).to_have_attribute("data-state", "empty")
    expect(play("held")).to_have_text("¥0")
    play.page.reload()
    expect(play.live()("spot-p1")).to_have_attribute("data-state", "empty")
    with house.units.read() as unit:
        assert unit.wagers.of_round(round_id) == []
