"""The dealer calls and stops; the pit answers; a scanner's keys press nothing."""

import pytest
from playwright.sync_api import expect

from tests.browser.dealing import BURN, HANDS, Table
from tests.browser.house import House
from tests.browser.windows import Window, Windows

pytestmark = pytest.mark.browser


def both(windows: Windows, table: Table) -> tuple[Window, Window]:
    """Return the station and the pit's dashboard of a table that is ready."""
    table.make_ready()
    station = windows.of(table.dealer, f"/station?table={table.code}").live()
    pit = windows.of("pit", "/pit").live()
    expect(station("instruction")).to_have_text("Start the round")
    return station, pit


def answer(pit: Window, reason: str) -> None:
    pit("field-reason").fill(reason)
    pit.confirm()


def test_stop_holds_the_table_until_the_pit_resumes_it(
    tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    station, pit = both(windows, table)
    station.primary()
    expect(station("instruction")).to_have_text("Burn 1 card")
    table.lay(BURN)
    expect(station("stop")).to_be_enabled()
    station.page.keyboard.press("F9")
    expect(station("instruction")).to_have_text("Stopped. Leave the cards")
    expect(station("fault")).to_contain_text("The supervisor resumes")
    expect(station("primary")).to_be_disabled()
    expect(pit("tile-T2")).to_contain_text("stopped by Mori")
    alarm = pit("alarms").get_by_role("listitem").filter(has_text="T2 stopped by Mori")
    expect(alarm).to_contain_text("Settle the matter, then resume or void")
    alarm.get_by_test_id("open").click()
    pit("resume").click()
    answer(pit, "chips moved off the line")
    expect(pit("drawer-message")).to_contain_text("Resumed.")
    expect(station("instruction")).to_have_text("Deal P1, card 1")
    expect(alarm).to_have_count(0)
    table.deal(HANDS[:1])
    expect(station("cell-P1-1")).to_have_attribute("data-state", "read")


def test_a_call_for_the_supervisor_is_an_alarm_that_somebody_takes(
    tables: dict[str, Table], windows: Windows
) -> None:
    station, pit = both(windows, tables["T2"])
    station.page.keyboard.press("F4")
    alarm = pit("alarms").get_by_role("listitem").filter(has_text="T2 dealer Mori calls")
    expect(alarm).to_contain_text("Go to the table")
    expect(station("supervisor")).to_be_disabled()
    alarm.focus()
    pit.page.keyboard.press("a")
    expect(alarm).to_contain_text("Acknowledged Tanaka, still active")
    expect(alarm.get_by_test_id("acknowledge")).to_have_count(0)
    auditor = windows.of("auditor", "/pit").live()
    seen = auditor("alarms").get_by_role("listitem").filter(has_text="T2 dealer Mori calls")
    expect(seen).to_contain_text("Acknowledged Tanaka")
    expect(auditor("acknowledge")).to_have_count(0)


@pytest.mark.parametrize("ending", ["Enter", " "], ids=["enter", "space"])
def test_a_scanner_that_types_presses_no_button_whatever_has_the_focus(
    tables: dict[str, Table], windows: Windows, ending: str
) -> None:
    table = tables["T2"]
    station, _ = both(windows, table)
    before = table.position()
    for button in ("primary", "stop", "supervisor"):
        station(button).focus()
        station.page.keyboard.type("300000000001")
        station.page.keyboard.press(ending)
    expect(station("instruction")).to_have_text("Start the round")
    assert table.position() == before
    station.primary()
    expect(station("instruction")).to_have_text("Burn 1 card")


def test_a_card_that_was_read_before_is_held_until_the_supervisor_has_decided(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    station, pit = both(windows, table)
    station.primary()
    expect(station("instruction")).to_have_text("Burn 1 card")
    burnt = table.lay(BURN)
    table.lay(HANDS[0])
    table.device("reports", kind="card_seen", code=burnt.digits)
    expect(station("instruction")).to_have_text("Hands off. Supervisor coming")
    expect(station("fault")).to_contain_text("Doubled card")
    expect(pit("alarms")).to_contain_text("T2 doubled card held")
    pit("tile-T2").click()
    pit("release-held").click()
    answer(pit, "an old card was turned over by the sleeve")
    expect(station("instruction")).to_have_text("Deal P2, card 1")
    trail = house.door("auditor").get("/api/trail")["lines"]
    assert trail[0]["action"] == "release_held"
    assert trail[0]["reason"] == "an old card was turned over by the sleeve"
