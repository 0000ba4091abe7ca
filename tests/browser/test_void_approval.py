"""A running round that holds much is annulled by two supervisors; everybody sees how far it is."""

import uuid

import pytest
from playwright.sync_api import expect

from tests.browser.dealing import BURN, HANDS, Table
from tests.browser.house import PURSE_MINOR, House
from tests.browser.pictures import measure
from tests.browser.windows import Window, Windows

pytestmark = pytest.mark.browser

STAKE_MINOR = PURSE_MINOR // 2
"""With the deposit all that a player has: more than one supervisor annuls alone."""
FELL = "a card fell to the floor"


@pytest.fixture
def full(house: House, tables: dict[str, Table]) -> tuple[Table, str]:
    """Return a table in the middle of the deal, and the player who holds so much there."""
    table, player = tables["T2"], house.new_player()
    table.make_ready()
    round_id = table.start_round()
    wager = {"id": str(uuid.uuid4()), "bet": "p1", "stake_minor": STAKE_MINOR}
    house.door(player).post(f"/api/rounds/{round_id}/wagers", wager)
    table.deal((BURN, *HANDS[:3]))
    return table, player


def opened(windows: Windows, name: str, table: Table) -> Window:
    """Return somebody's pit with the table in the drawer."""
    pit = windows.of(name, "/pit").live()
    pit(f"tile-{table.code}").click()
    return pit


def everybody(windows: Windows, table: Table, player: str) -> tuple[Window, ...]:
    """Return the windows of player, dealer and both supervisors."""
    play = windows.of(player, f"/play/{table.code}").live()
    desk = windows.of(table.dealer, f"/station?table={table.code}").live()
    return play, desk, opened(windows, "pit", table), opened(windows, "pit2", table)


def has_money(play: Window, *, balance: str, held: str) -> None:
    expect(play("balance")).to_have_text(balance)
    expect(play("held")).to_have_text(held)


def test_a_void_of_much_is_proposed_by_one_and_carried_out_by_another(
    full: tuple[Table, str], windows: Windows
) -> None:
    table, _ = full
    play, desk, first, second = everybody(windows, *full)
    has_money(play, balance="¥0", held="¥100,000")

    first("situation").select_option("card_exposed")
    expect(first("choices")).to_contain_text("another supervisor has to approve it")
    first("choice-void").click()
    expect(first("choice-money")).to_contain_text("Returns 1 bet of 1 player, ¥100,000")
    expect(first("choice-money")).to_contain_text("until then the table is stopped")
    expect(first("choice-dialog-confirm")).to_have_text("Propose the void")
    expect(first("field-reason")).to_have_accessible_description(
        "It is kept in the audit trail and in the log of the table. Players can read this."
    )
    measure(first)
    first.confirm()
    expect(first("drawer-message")).to_contain_text("Proposed, not void yet")
    proposal = first(f"proposal-{table.code}")
    expect(proposal).to_contain_text("You proposed this. Another supervisor has to approve it.")
    expect(proposal.get_by_test_id("approve")).to_have_count(0)
    expect(first("shut-void")).to_contain_text("approve or drop it first")
    for name in ("void", "resume"):
        expect(first(name)).to_have_count(0)
    expect(play("phase")).to_have_text("Table stopped for a moment")
    expect(desk("instruction")).to_have_text("Stopped. Leave the cards")
    has_money(play, balance="¥0", held="¥100,000")

    theirs = second(f"proposal-{table.code}")
    expect(theirs).to_contain_text("Tanaka")
    expect(theirs).to_contain_text("1 player: ¥100,000 is returned.")
    theirs.get_by_test_id("approve").click()
    second("approve-dialog-confirm").click()
    expect(play("phase")).to_have_text("Round void. All returned")
    expect(play("message")).to_contain_text("A supervisor has decided so.")
    has_money(play, balance="¥100,000", held="¥0")
    expect(play("result-row-p1")).to_contain_text("Stake and deposit returned in full")
    expect(desk("phase")).to_have_text("Round void. Collect cards")
    expect(desk("instruction")).to_have_text("Start the round")
    for pit in (first, second):
        expect(pit("proposals")).to_be_hidden()
        expect(pit("alarm-correction_waits")).to_have_count(0)


def test_a_void_of_much_that_is_declined_leaves_the_round_to_be_resumed(
    full: tuple[Table, str], windows: Windows
) -> None:
    table, _ = full
    play, desk, first, second = everybody(windows, *full)
    first("void").click()
    expect(first("choice-money")).to_contain_text("another supervisor has to approve it")
    first("field-reason").fill(FELL)
    first.confirm()
    expect(first("drawer-message")).to_contain_text("Proposed, not void yet")

    theirs = second(f"proposal-{table.code}")
    expect(theirs).to_contain_text(FELL)
    theirs.get_by_test_id("drop").click()
    expect(second("drop-dialog")).to_contain_text("stays stopped until a supervisor resumes it")
    expect(second("field-reason")).to_have_accessible_description(
        "It is kept in the audit trail and in the log of the table. Players can read this."
    )
    second("field-reason").fill("it never left the table")
    second("drop-dialog-confirm").click()
    expect(first("proposals")).to_be_hidden()
    expect(play("phase")).to_have_text("Table stopped for a moment")
    expect(desk("instruction")).to_have_text("Stopped. Leave the cards")
    has_money(play, balance="¥0", held="¥100,000")

    second("resume").click()
    second("field-reason").fill("all in order")
    second.confirm()
    expect(desk("instruction")).to_have_text("Deal P4, card 1")
    expect(play("spot-p1")).to_have_attribute("data-state", "accepted")
    has_money(play, balance="¥0", held="¥100,000")
    assert FELL not in play.page.content()
    table.pit("void_round")
    table.approve()
    has_money(play, balance="¥100,000", held="¥0")
