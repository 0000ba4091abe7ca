"""A card that no try reads: the dealer keys it in, a supervisor from its picture, play goes on."""

import uuid

import pytest
from playwright.sync_api import expect

from studio.domain.cards import PrintedCode
from tests.browser.access import barriers
from tests.browser.dealing import BURN, HANDS, Table
from tests.browser.house import House
from tests.browser.pictures import measure, unread
from tests.browser.windows import Window, Windows

pytestmark = pytest.mark.browser


def enter(window: Window, card: PrintedCode) -> None:
    """Key a card in as one reads it off, and send it with Enter."""
    window("field-digits").fill(card.digits)
    expect(window("field-digits")).to_have_value(
        f"{card.digits[:4]} {card.digits[4:8]} {card.digits[8:]}"
    )
    window("field-digits").press("Enter")


def three_tries(table: Table, windows: Windows) -> tuple[Window, Window]:
    """Return station and pit of a round whose burn card three tries could not read."""
    table.make_ready()
    table.start_round()
    station = windows.of(table.dealer, f"/station?table={table.code}").live()
    pit = windows.of("pit", "/pit").live()
    for _ in range(2):
        unread(table, uuid.uuid4().hex[:12])
    expect(station("fault")).to_contain_text("(2×)")
    expect(station("primary")).to_be_disabled()
    unread(table, uuid.uuid4().hex[:12])
    expect(station("primary")).to_contain_text("Key in the card")
    return station, pit


def test_a_card_is_keyed_in_by_two_people_and_the_round_goes_on(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    station, pit = three_tries(table, windows)
    card = table.printed(BURN)
    station.primary()
    station("field-digits").fill(card.digits[:-1] + str((int(card.digits[-1]) + 1) % 10))
    expect(station.dialog.get_by_role("alert")).to_contain_text("A digit is wrong")
    measure(station)
    station.page.set_viewport_size({"width": 1280, "height": 800})
    enter(station, card)
    expect(station("instruction")).to_have_text("Wait. The supervisor confirms")
    expect(station("field-digits")).to_have_count(0)
    alarm = pit("alarm-card_keyed")
    expect(alarm).to_contain_text("T2 confirm the keyed card")
    assert barriers(pit.page) == []
    alarm.get_by_test_id("answer-key").click()
    expect(pit("field-reason")).to_be_focused()
    pit("field-reason").fill("the code is torn")
    pit.confirm()
    expect(pit("picture-frame")).to_be_visible()
    measure(pit)
    enter(pit, card)
    expect(pit("drawer-message")).to_contain_text("Confirmed. The dealer goes on.")
    expect(pit("picture-frame")).to_have_count(0)
    expect(station("instruction")).to_have_text("Deal P1, card 1")
    expect(alarm).to_have_count(0)
    for window in (station, pit):
        assert card.digits not in window.page.content()
        assert card.digits not in window.heard()
    trail = house.door("auditor").get("/api/trail")["lines"]
    assert [line["action"] for line in trail[:2]] == ["confirm_key", "open_picture"]
    assert {line["reason"] for line in trail[:2]} == {"the code is torn"}
    assert card.digits not in str(trail)
    table.deal(HANDS[:1])
    round_id = table.view()["round"]["id"]
    table.pit("void_round")
    page = windows.of("auditor", f"/pit/rounds/{round_id}")
    expect(page("round-cards")).to_contain_text("keyed in by Mori and Tanaka, picture")
    expect(page("round-timeline")).to_contain_text("keyed in by Mori and Tanaka")


def test_entries_that_differ_are_made_anew_and_nobody_learns_how(
    tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    station, pit = three_tries(table, windows)
    card, other = table.printed(BURN), table.printed(HANDS[0])
    station.primary()
    enter(station, other)
    pit("alarm-card_keyed").get_by_test_id("answer-key").click()
    pit("field-reason").fill("the code is torn")
    pit.confirm()
    enter(pit, card)
    expect(pit("drawer-message")).to_contain_text("The two entries differ.")
    expect(station("fault")).to_contain_text("The two entries differ")
    assert other.digits not in pit.heard()
    assert card.digits not in station.heard()
    station.primary()
    enter(station, card)
    pit("alarm-card_keyed").get_by_test_id("answer-key").click()
    pit("field-reason").fill("once more")
    pit.confirm()
    pit("reject-key").click()
    expect(pit("drawer-message")).to_contain_text("Rejected.")
    expect(station("fault")).to_contain_text("The supervisor rejected the entry")
    table.device("reports", kind="card_seen", code=card.digits)
    expect(station("instruction")).to_have_text("Deal P1, card 1")
    table.pit("void_round")


def test_without_a_picture_an_entry_can_only_be_rejected(
    tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    table.make_ready()
    table.start_round()
    for _ in range(3):
        table.command("unreadable")
    table.command("key_card", digits=table.printed(BURN).digits)
    pit = windows.of("pit", "/pit").live()
    pit("tile-T2").click()
    pit("confirm-key").click()
    expect(pit.dialog).to_contain_text("There is no picture of this card.")
    measure(pit)
    pit("field-reason").fill("the camera is dark")
    pit.confirm()
    expect(pit("drawer-message")).to_contain_text("Rejected.")
    table.pit("void_round")
