"""The three screens in Japanese: no English left over, and a switch that works both ways."""

import re

import pytest
from playwright.sync_api import expect

from studio.web.pages.catalogue import messages
from tests.browser.dealing import BURN, HANDS, Table
from tests.browser.house import House
from tests.browser.windows import Window, Windows

pytestmark = pytest.mark.browser

ALLOWED = {"Pok", "Deng", "Baccarat", "Mori", "Tanaka", "JST", "STOP", "GGR", "Enter", "Esc"}
"""Names of people, tables and keys, the zone of the clock, the trade's own short words."""
PREFIXES = (
    *("nav", "play", "spot", "station", "step", "pit", "action", "road", "verify", "live"),
    "reason",
)


def in_japanese(windows: Windows, name: str, path: str) -> Window:
    """Open a page by the language button of its English self."""
    window = windows.of(name, path)
    expect(window.page.locator("html")).to_have_attribute("lang", "en")
    window("language-ja").click()
    expect(window.page.locator("html")).to_have_attribute("lang", "ja")
    return window.live()


def leftovers(window: Window, *, without: str = "nothing-to-leave-out") -> set[str]:
    """Return the words in Latin letters that a reader sees or hears on the page."""
    page = window.page
    seen = page.locator("body").inner_text()
    for part in page.locator(without).all():
        seen = seen.replace(part.inner_text(), "")
    spoken = " ".join(
        one.get_attribute(name) or ""
        for name in ("aria-label", "title", "placeholder")
        for one in page.locator(f"body [{name}]").all()
    )
    words = re.findall(r"[A-Za-z]{3,}", re.sub(r"\S*[._/\d]\S*", "", f"{seen} {spoken}"))
    return set(words) - ALLOWED


def english(key: str) -> str:
    return messages("en", PREFIXES)[key]


def japanese(key: str) -> str:
    return messages("ja", PREFIXES)[key]


def test_the_three_screens_speak_japanese_throughout_a_round(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    table.make_ready()
    play = in_japanese(windows, house.new_player(), "/play/T2")
    station = in_japanese(windows, "mori", "/station?table=T2")
    pit = in_japanese(windows, "pit", "/pit")
    see_japanese(table, play, station, pit)
    play("language-en").click()
    expect(play.page.locator("html")).to_have_attribute("lang", "en")
    expect(play("undo")).to_have_text(english("play.undo"))


def see_japanese(table: Table, play: Window, station: Window, pit: Window) -> None:
    table.start_round()
    play("spot-p1").click()
    expect(play("message")).to_contain_text("保証金")
    expect(play("balance")).to_have_text(re.compile(r"^[\d,]+円$"))
    table.deal((BURN, *HANDS[:3]))
    pit("tile-T2").click()
    expect(pit("drawer")).to_be_visible()
    expect(station("instruction")).to_have_text(
        japanese("step.deal").replace("{position}", "P4").replace("{card}", "1")
    )
    expect(station("instruction-other")).to_have_attribute("lang", "en")
    expect(play("phase")).to_have_text(japanese("play.phase.betting"))
    expect(pit("void")).to_have_text(japanese("action.void_round"))
    for window, other in ((play, ".who"), (station, "#instruction-other"), (pit, "td")):
        assert not leftovers(window, without=f"{other}, .language"), window.page.url
        assert english("nav.tables") not in window.page.locator("main").inner_text()
    pit("void").click()
    expect(pit.dialog).to_contain_text(japanese("action.void_round_title"))
    assert not leftovers(pit, without="td, .language")
    pit.cancel.click()
    expect(pit.dialog).to_have_count(0)
    table.pit("void_round", reason="カードが床に落ちた")
    expect(play("message")).to_contain_text(japanese("reason.supervisor"))


def test_login_rules_and_history_are_japanese_too(house: House, windows: Windows) -> None:
    window = windows.new().open("/login")
    window("language-ja").click()
    expect(window.page.locator("html")).to_have_attribute("lang", "ja")
    assert not leftovers(window, without=".language") - {"PIN"}
    player = house.new_player(language="ja")
    for path in ("/rules/pok_deng", "/rules/baccarat", "/rules", "/history", "/play"):
        window = windows.of(player, path)
        expect(window.page.locator("html")).to_have_attribute("lang", "ja")
        expect(window.page.locator("h1")).to_be_visible()
        assert not leftovers(window, without=".who, .language"), path
