"""Each trouble at a table, resolved by a supervisor through the screen in few clicks."""

import re
import uuid

import pytest
from playwright.sync_api import expect

from studio.domain.cards import CodeVersion, PrintedCode
from tests.browser.access import barriers
from tests.browser.dealing import BURN, HANDS, Table
from tests.browser.house import House
from tests.browser.pictures import measure
from tests.browser.windows import Window, Windows

pytestmark = pytest.mark.browser


def show(table: Table, card: PrintedCode) -> None:
    """Let the scanner see a card that the table will hold."""
    table.device("reports", kind="card_seen", code=card.digits)


def at_work(table: Table, windows: Windows, *, start: bool = True) -> tuple[Window, Window]:
    """Return station and opened drawer of a table, in a round when it is to be started."""
    table.make_ready()
    if start:
        table.start_round()
    station = windows.of(table.dealer, f"/station?table={table.code}").live()
    pit = windows.of("pit", "/pit").live()
    pit(f"tile-{table.code}").click()
    return station, pit


def seen(pit: Window, situation: str) -> None:
    """The situation is chosen already: the log shows it."""
    expect(pit("situation")).to_have_value(situation)


def take(pit: Window, way: str, *, money: str = "No money moves.") -> None:
    """Press a choice, read what it does to money, and confirm with the reason that stands there."""
    pit(f"choice-{way}").click()
    expect(pit("choice-money")).to_contain_text(money)
    expect(pit("field-reason")).not_to_have_value("")
    pit.confirm()
    expect(pit("drawer-message")).to_contain_text("Done:")


def trail(table: Table) -> tuple[str, str]:
    """Return situation and choice as the trail keeps them."""
    line = table.house.door("auditor").get("/api/trail")["lines"][0]
    return line["after"]["situation"], line["after"]["choice"]


def test_a_card_that_nobody_needs_is_burnt(tables: dict[str, Table], windows: Windows) -> None:
    table = tables["T2"]
    station, pit = at_work(table, windows, start=False)
    show(table, table.printed(BURN))
    seen(pit, "unneeded_card")
    expect(pit("shut-void")).to_contain_text("no round is running")
    assert barriers(pit.page) == []
    before = table.view()["shoe"]["burnt"]
    take(pit, "burn_it")
    expect(station("notice")).to_have_text("Burn the held card, then go on.")
    assert table.view()["shoe"]["burnt"] == before + 1
    assert trail(table) == ("unneeded_card", "burn_it")


def test_a_card_that_came_up_before_is_set_aside(
    tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    station, pit = at_work(table, windows)
    burnt = table.lay(BURN)
    table.lay(HANDS[0])
    show(table, burnt)
    seen(pit, "card_doubled")
    take(pit, "set_aside")
    expect(station("notice")).to_contain_text("Set the held card aside")
    expect(station("instruction")).to_have_text("Deal P2, card 1")
    round_id = table.view()["round"]["id"]
    table.pit("void_round")
    page = windows.of("auditor", f"/pit/rounds/{round_id}")
    expect(page("round-timeline")).to_contain_text("Tanaka decides: Set it aside and go on.")


def test_a_card_of_another_deck_set_is_set_aside(
    tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    _, pit = at_work(table, windows)
    show(table, PrintedCode(version=CodeVersion.CARD, number=2, deck_set=998, serial=2))
    seen(pit, "foreign_card")
    take(pit, "set_aside")
    assert trail(table) == ("foreign_card", "set_aside")
    table.pit("void_round")


def test_a_card_drawn_while_bets_are_taken_at_an_open_table_is_burnt(
    tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T4"]
    _, pit = at_work(table, windows)
    if table.view()["instruction"]["code"] == "burn_one":
        table.lay(BURN)
    show(table, table.printed(HANDS[0]))
    seen(pit, "out_of_turn")
    take(pit, "burn_it")
    assert trail(table) == ("out_of_turn", "burn_it")
    table.pit("void_round")


def test_of_two_cards_the_first_is_shown_first(tables: dict[str, Table], windows: Windows) -> None:
    table = tables["T2"]
    station, pit = at_work(table, windows)
    for _ in range(3):
        table.device("reports", kind="read_failed", code=None, reason="two_cards")
    seen(pit, "two_cards")
    take(pit, "first_then_second")
    expect(station("notice")).to_contain_text("Show the first alone, then the second.")
    table.lay(BURN)
    expect(station("instruction")).to_have_text("Deal P1, card 1")
    table.pit("void_round")


def test_a_card_that_does_not_read_is_tried_once_more(
    tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    station, pit = at_work(table, windows)
    for _ in range(3):
        table.device("reports", kind="read_failed", code=None, reason="unreadable")
    seen(pit, "card_unreadable")
    expect(pit("shut-confirm_key")).to_contain_text("the dealer has keyed nothing in")
    take(pit, "try_again")
    expect(station("notice")).to_have_text("Lay the card under the camera once more.")
    table.pit("void_round")


@pytest.mark.parametrize("situation", ["position_skipped", "burn_forgotten"])
def test_cards_are_laid_again_in_the_order_in_which_they_were_read(
    tables: dict[str, Table], windows: Windows, situation: str
) -> None:
    table = tables["T2"]
    station, pit = at_work(table, windows)
    table.deal((BURN, *HANDS[:2]))
    station.page.keyboard.press("F9")
    expect(pit("alarm-dealing_stopped")).to_be_visible()
    pit("situation").select_option(situation)
    take(pit, "re_lay")
    expect(station("notice")).to_contain_text("in the order shown")
    expect(station("instruction")).to_have_text("Deal P3, card 1")
    assert trail(table) == (situation, "re_lay")
    table.pit("void_round")


def test_a_card_that_was_seen_while_bets_are_open_voids_the_round(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    station, pit = at_work(table, windows)
    round_id = table.view()["round"]["id"]
    player = house.new_player()
    house.door(player).post(
        f"/api/rounds/{round_id}/wagers",
        {"id": str(uuid.uuid4()), "bet": "p1", "stake_minor": 500},
    )
    table.lay(BURN)
    station.page.keyboard.press("F9")
    expect(pit("alarm-dealing_stopped")).to_be_visible()
    pit("situation").select_option("card_exposed")
    expect(pit("shut-go_on")).to_contain_text("bets are still open")
    expect(pit("choices")).to_contain_text(re.compile(r"Returns 1 bet of 1 player, .*1,000"))
    pit("choice-void").click()
    measure(pit)
    pit.cancel.click()
    take(pit, "void", money="Returns 1 bet of 1 player")
    assert table.view()["phase"] == "void"
    assert trail(table) == ("card_exposed", "void")
    auditor = windows.of("auditor", "/pit").live()
    auditor("tile-T2").click()
    auditor("situation").select_option("burn_count_wrong")
    expect(auditor("choice-shoe_out")).to_be_disabled()


def test_a_wrong_opening_burn_that_is_found_late_ends_the_shoe(
    tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    _, pit = at_work(table, windows)
    pit("situation").select_option("burn_count_wrong")
    take(pit, "shoe_out")
    assert table.view()["locked"] is not None, "no further round opens"
    assert table.view()["phase"] == "betting", "the running one is played to its end"
    table.pit("void_round")
    pit("situation").select_option("burn_count_wrong")
    pit("choice-shoe_out").click()
    pit("field-cards_left").fill(str(table.view()["shoe"]["in_shoe"]))
    pit.confirm()
    expect(pit("drawer-message")).to_contain_text("Done:")
    assert table.view()["stage"] in {"no_shoe", "locked"}
    table.pit("unlock")
