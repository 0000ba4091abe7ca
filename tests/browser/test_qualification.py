"""A dealer of one game can not open the other; an administrator says who deals what."""

import re
import secrets

import pytest
from playwright.sync_api import expect

from tests.browser.access import barriers
from tests.browser.dealing import Table
from tests.browser.house import PASSWORD, House
from tests.browser.looks import cut_off, poor_contrast, sideways, small_targets
from tests.browser.windows import Window, Windows

pytestmark = pytest.mark.browser

REASON = "You are not qualified for Baccarat. Ask the pit supervisor."


def looks_right(window: Window) -> None:
    """Measure the page from a phone to a desk, dark and light."""
    for width, height in ((360, 640), (1280, 800)):
        window.page.set_viewport_size({"width": width, "height": height})
        for scheme in ("dark", "light"):
            window.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            assert poor_contrast(window.page) == [], f"{width} {scheme}"
        assert sideways(window.page) == {"scroll": 0, "wide": []}, width
        assert cut_off(window.page) == [], width
        assert small_targets(window.page) == [], width


def new_dealer(house: House, *games: str) -> str:
    """Add a dealer as an administrator does; return the user name."""
    name = f"d{secrets.token_hex(4)}"
    body = {
        "username": name,
        "display_name": name.capitalize(),
        "role": "dealer",
        "password": PASSWORD,
        "language": "en",
        "games": list(games),
    }
    house.door("admin").post("/api/people", body)
    return name


@pytest.fixture
def free_tables(tables: dict[str, Table]) -> dict[str, Table]:
    """Return the tables with nobody at the two that are opened here."""
    for code in ("T3", "T4"):
        tables[code].make_ready()
        tables[code].pit("free_seat")
    return tables


def test_a_dealer_of_one_game_can_not_open_a_table_of_the_other(
    house: House, free_tables: dict[str, Table], windows: Windows
) -> None:
    name = new_dealer(house, "pok_deng")
    station = windows.new().log_in(name).open("/station")
    own, others = station("table-T3"), station("table-T4")
    expect(own).to_have_attribute("href", "/station?table=T3")
    expect(others).to_contain_text(REASON)
    expect(others).to_have_attribute("aria-disabled", "true")
    assert others.get_attribute("href") is None
    looks_right(station)
    others.click(force=True)  # as somebody presses what can not be pressed
    assert station.page.url.endswith("/station")

    station.refusals.add(409)
    station.open("/station?table=T4").live()  # the address typed by hand
    station.primary()
    expect(station("notice")).to_contain_text("You are not qualified for Baccarat.")
    expect(station("notice")).to_contain_text("an administrator can qualify you")
    assert free_tables["T4"].view()["dealer"] is None

    station.open("/station")
    own.click()
    station.live().primary()
    expect(station("dealer")).to_have_text(name.capitalize())
    free_tables["T3"].pit("free_seat")


def test_an_administrator_qualifies_and_the_choice_follows_without_a_new_login(
    house: House, free_tables: dict[str, Table], windows: Windows
) -> None:
    admin = windows.of("admin", "/admin")
    name = f"d{secrets.token_hex(4)}"
    for field, value in (("username", name), ("name", "Hoshi"), ("password", PASSWORD)):
        admin(f"new-{field}").fill(value)
    expect(admin("new-games")).to_be_hidden()
    admin("new-role").select_option("dealer")
    admin("new-game-pok_deng").check()
    looks_right(admin)
    admin("create-person").click()
    row = admin(f"person-{name}")
    expect(row.get_by_test_id("games")).to_have_text(re.compile("^ ?Pok Deng$"))
    station = windows.of(name, "/station")
    expect(station("table-T4")).to_contain_text(REASON)

    row.get_by_test_id("set-games").click()
    expect(admin("games-pok_deng")).to_be_checked()
    admin("games-baccarat").check()
    looks_right(admin)
    admin("games-dialog-confirm").click()
    expect(admin.page.locator("#people-message")).to_have_text("Games of Hoshi: Pok Deng, Baccarat")
    expect(row.get_by_test_id("games")).to_contain_text("Baccarat")
    expect(station("table-T4")).to_have_attribute("href", "/station?table=T4")

    row.get_by_test_id("set-games").click()
    for game in ("pok_deng", "baccarat"):
        admin(f"games-{game}").uncheck()
    admin("games-dialog-confirm").click()
    expect(row.get_by_test_id("games")).to_have_text(re.compile("^ ?none$"))
    expect(station("table-T3")).to_contain_text("You are not qualified for Pok Deng.")
    trail = house.door("auditor").get("/api/trail")["lines"][0]
    assert (trail["action"], trail["subject"]) == ("person_changed", f"person:{name}")
    assert (trail["before"]["games"], trail["after"]["games"]) == (["baccarat", "pok_deng"], [])


def test_who_has_a_table_finds_the_way_back_to_it_without_the_qualification(
    house: House, free_tables: dict[str, Table], windows: Windows
) -> None:
    name = new_dealer(house, "pok_deng")
    house.door(name).command("T3", "take_seat")
    person = house.player_id(name)
    house.door("admin").post(f"/api/people/{person}", {"games": []})
    station = windows.of(name, "/station")
    expect(station("table-T3")).to_have_attribute("href", "/station?table=T3")
    expect(station("table-T3")).to_contain_text("your table")
    expect(station("table-T1")).to_have_attribute("aria-disabled", "true")
    free_tables["T3"].pit("free_seat")
    expect(station("table-T3")).to_have_attribute("aria-disabled", "true")


def test_the_pit_is_told_who_tried_to_open_a_table_and_ends_the_alarm_by_taking_it(
    house: House, free_tables: dict[str, Table], windows: Windows
) -> None:
    """Incident 4: an unlicensed trainee at the table."""
    name = new_dealer(house, "pok_deng")
    pit, auditor = windows.of("pit", "/pit").live(), windows.of("auditor", "/pit").live()
    station = windows.of(name, "/station?table=T4").live()
    station.refusals.add(409)
    for _ in range(2):
        station.primary()
        expect(station("notice")).to_contain_text("You are not qualified for Baccarat.")
    for window in (pit, auditor):
        alarm = window("alarm-dealer_not_qualified")
        expect(alarm, "one alarm a dealer and table").to_have_count(1)
        expect(alarm).to_contain_text(
            f"T4 {name.capitalize()} is not qualified for Baccarat and tried to open the table"
        )
        expect(alarm).to_contain_text("The table stayed closed. Go there and see who may deal")
        expect(alarm.get_by_role("img", name="Priority 2")).to_be_visible()
    expect(auditor("acknowledge")).to_have_count(0)
    assert barriers(pit.page) == []
    looks_right(pit)

    pit("alarm-dealer_not_qualified").get_by_test_id("open").click()
    expect(pit("drawer")).to_contain_text("T4 Baccarat 4")
    pit("alarm-dealer_not_qualified").get_by_test_id("acknowledge").click()
    for window in (pit, auditor):
        expect(window("alarm-dealer_not_qualified")).to_have_count(0)
    line = house.door("auditor").get("/api/trail")["lines"][0]
    assert (line["action"], line["subject"]) == ("acknowledge_alarm", "T4 dealer_not_qualified")
    assert free_tables["T4"].view()["dealer"] is None

    station.primary()
    expect(pit("alarm-dealer_not_qualified"), "the next try is told anew").to_have_count(1)
    pit("alarm-dealer_not_qualified").get_by_test_id("acknowledge").click()
    expect(pit("alarm-dealer_not_qualified")).to_have_count(0)
