"""The three screens from a phone to a wide desk: nothing hidden, small, faint or in the way."""

import pytest
from playwright.sync_api import expect

from tests.browser.dealing import BURN, HANDS, Table
from tests.browser.house import House
from tests.browser.looks import (
    check,
    cut_off,
    font_px,
    height_px,
    overlaps,
    poor_contrast,
    sideways,
    small_targets,
)
from tests.browser.windows import Windows

pytestmark = pytest.mark.browser

SPOTS = [f"spot-p{n}{kind}" for n in range(1, 6) for kind in ("", "_pair")]
PLAY = [*SPOTS, "phase", "countdown", "connection", "round", "undo", "clear", "rebet", "chip-500"]
STATION = [
    *("dealer", "connection", "round", "countdown", "phase", "instruction", "instruction-other"),
    *("next", "read", "strip", "counts", "primary", "supervisor", "repeat", "unreadable"),
    *("cut-card", "stop"),
]
PIT = ["alarm-count", "connection", "pit-state", "tile-T1", "tile-T2", "tile-T3", "drawer"]


@pytest.fixture
def dealt(tables: dict[str, Table]) -> Table:
    """Return a table that is in the middle of the deal with the window open."""
    table = tables["T2"]
    table.make_ready()
    table.start_round()
    table.deal((BURN, *HANDS[:7]))
    return table


def test_the_players_table_fits_every_screen(house: House, dealt: Table, windows: Windows) -> None:
    play = windows.of(house.new_player(), "/play/T2").live()
    play("spot-p1").click()
    expect(play("spot-p1")).to_have_attribute("data-state", "accepted")
    play("spot-p1_pair").click()
    expect(play("spot-p1_pair")).to_have_attribute("data-state", "accepted")

    def countdown_and_every_spot_are_in_sight(width: int) -> None:
        play.page.evaluate("scrollTo(0, 0)")
        expect(play("countdown")).to_be_in_viewport(ratio=1)
        expect(play("balance")).to_be_in_viewport(ratio=1)
        if width == 360:
            for part in (*SPOTS, "chip-500"):
                expect(play(part)).to_be_in_viewport(ratio=1)
                assert height_px(play, part) >= 44, part
            chips, wallet = (play(one).bounding_box() for one in ("chip-500", "balance"))
            assert chips is not None
            assert wallet is not None
            assert chips["y"] + chips["height"] < wallet["y"]

    check(play, PLAY, also=countdown_and_every_spot_are_in_sight)
    dealt.deal(HANDS[7:])
    dealt.pit("void_round", reason="end of the test")
    expect(play("results")).to_be_visible()
    check(play, PLAY)


def test_the_station_is_read_at_arms_length(dealt: Table, windows: Windows) -> None:
    station = windows.of("mori", "/station?table=T2").live()
    expect(station("instruction")).to_have_text("Deal P2, card 2")
    dealt.lay(HANDS[7])
    expect(station("read")).to_contain_text("Read: P2 card 2")

    def letters_and_buttons_are_large(width: int) -> None:
        phone = width == 360
        assert font_px(station, "instruction") >= (48 if phone else 96)
        assert font_px(station, "next") >= (24 if phone else 56)
        for button in ("primary", "stop", "supervisor", "repeat", "unreadable", "cut-card"):
            assert height_px(station, button) >= 80, button
        station.page.evaluate("scrollTo(0, 0)")
        for part in ("instruction", "next", "strip", "primary", "stop", "supervisor", "repeat"):
            expect(station(part)).to_be_in_viewport(ratio=1)

    check(station, STATION, also=letters_and_buttons_are_large)
    dealt.device("reports", kind="read_failed", code=None, reason="unreadable")
    expect(station("fault")).to_contain_text("Card not read")
    keys = ("primary", "supervisor", "repeat", "unreadable", "cut-card", "stop")

    def every_key_is_in_sight(width: int) -> None:
        station.page.evaluate("scrollTo(0, 0)")
        for key in keys if width > 360 else ("primary", "stop"):
            expect(station(key)).to_be_in_viewport(ratio=1)

    check(station, [*STATION, "fault"], also=every_key_is_in_sight)


def test_the_pit_fits_every_screen_with_an_alarm_and_an_open_drawer(
    dealt: Table, windows: Windows
) -> None:
    pit = windows.of("pit", "/pit").live()
    dealt.command("call_pit")
    expect(pit("alarms")).to_contain_text("T2 dealer Mori calls")
    pit("tile-T2").click()
    expect(pit("drawer-hands").get_by_role("listitem")).to_have_count(6)

    def the_alarm_comes_first(_: int) -> None:
        pit.page.evaluate("scrollTo(0, 0)")
        expect(pit("alarms").get_by_role("listitem").first).to_be_in_viewport()

    check(pit, PIT, also=the_alarm_comes_first)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("player", "/history"),
        ("player", "/play"),
        ("player", "/rules/pok_deng"),
        ("mori", "/station"),
        ("auditor", "/pit/trail"),
        ("pit", "/pit/figures"),
        ("admin", "/admin"),
    ],
)
def test_every_other_page_fits_too(
    house: House, tables: dict[str, Table], windows: Windows, name: str, path: str
) -> None:
    tables["T2"].make_ready()
    window = windows.of(house.new_player() if name == "player" else name, path)
    expect(window.page.locator("h1")).to_be_visible()
    window.page.wait_for_load_state("networkidle")
    check(window, [])


POOR = """<!doctype html><html lang="en"><body style="margin: 0; background: #fff"><main>
<p style="color: #aaa">faint</p>
<button data-testid="small" style="width: 20px; height: 20px; overflow: hidden">beyond</button>
<div data-testid="one" style="height: 50px; width: 3000px">wide</div>
<div data-testid="other" style="height: 50px; margin-top: -30px">over</div>
</main></body></html>"""


def test_the_measures_find_what_is_faint_small_wide_cut_or_in_the_way(windows: Windows) -> None:
    page = windows.new().page
    page.set_content(POOR)
    assert [one.split()[0] for one in poor_contrast(page)] == ["faint"]
    assert len(small_targets(page)) == 1
    assert sideways(page)["scroll"] > 0
    assert cut_off(page) == ["small: beyond"]
    assert overlaps(page, ["one", "other"]) == [["one", "other"]]
