"""What a player owes: told to the player, kept apart from cash, collected and written off."""

import uuid

import pytest
from playwright.sync_api import expect

from tests.browser.dealing import Table
from tests.browser.house import House, until
from tests.browser.looks import check, cut_off, poor_contrast, sideways, small_targets
from tests.browser.windows import Window, Windows

pytestmark = pytest.mark.browser

STAKE_MINOR = 500
PAID_IN_MINOR = 300


def me(house: House, player: str) -> dict[str, int]:
    return house.door(player).get("/api/me")


def cash(house: House, player: str, direction: str, amount_minor: int) -> None:
    body = {
        "id": str(uuid.uuid4()),
        "player_id": house.player_id(player),
        "direction": direction,
        "amount_minor": amount_minor,
        "reason": "test",
    }
    house.door("admin").post("/api/cash", body)


def win(house: House, table: Table, player: str) -> str:
    """Let the player win a round; return its name."""
    table.make_ready()
    round_id = table.start_round()
    wager = {"id": str(uuid.uuid4()), "bet": "p5", "stake_minor": STAKE_MINOR}
    house.door(player).post(f"/api/rounds/{round_id}/wagers", wager)
    table.deal()
    table.close_window()
    table.reveal_all()
    until(lambda: table.view()["phase"] == "settled", what=f"{round_id} is settled")
    return round_id


def annul(house: House, table: Table, player: str, round_id: str) -> None:
    """Take the winnings back, now that they are gone."""
    table.pit("void_settled", round_id=round_id, version=1)
    table.approve()
    until(lambda: me(house, player)["owed_minor"], what=f"{player} owes")


def test_what_is_owed_is_told_collected_and_written_off(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table, player = tables["T3"], house.new_player()
    before_minor = me(house, player)["balance_minor"]
    round_id = win(house, table, player)
    won_minor = me(house, player)["balance_minor"] - before_minor
    assert won_minor > PAID_IN_MINOR
    cash(house, player, "out", before_minor + won_minor)

    play = windows.of(player, "/play/T3").live()
    expect(play("balance")).to_have_text("¥0")
    expect(play("owed")).to_be_hidden()
    annul(house, table, player, round_id)
    expect(play("toasts")).to_contain_text(f"Round {round_id} was annulled")
    expect(play("toasts")).to_contain_text(f"(−¥{won_minor:,})")
    expect(play("toasts")).to_contain_text(f"You owe ¥{won_minor:,} now.")
    expect(play("owed")).to_contain_text(f"You owe ¥{won_minor:,}")
    check(play, [])

    play.page.get_by_role("link", name="Why?").click()
    expect(play("owed")).to_contain_text(f"You owe ¥{won_minor:,}")
    expect(play("owed-changes")).to_contain_text(f"Correction of round {round_id}")
    check(play, [])
    play.open("/play/T3").live()

    admin = windows.of("admin", "/admin")
    admin.refusals.add(409)
    row = admin(f"person-{player}")
    expect(row.get_by_test_id("owes")).to_have_text(f"owes ¥{won_minor:,}")
    admin("cash-player").select_option(str(house.player_id(player)))
    admin("cash-amount").fill(str(PAID_IN_MINOR))
    admin("cash-reason").fill("buy-in")
    admin("book-cash").click()
    expect(admin("cash-message")).to_contain_text("none of the cash was taken for it")
    expect(play("balance")).to_have_text(f"¥{PAID_IN_MINOR}")
    admin("cash-direction").select_option("out")
    admin("cash-amount").fill("100")
    admin("book-cash").click()
    expect(admin("cash-message")).to_contain_text(f"The player owes ¥{won_minor:,}")

    row.get_by_test_id("settle-owed").click()
    expect(admin("owed-dialog-cancel")).to_be_focused()
    expect(admin("field-amount")).to_have_value(str(PAID_IN_MINOR))
    expect(admin("owed-outcome")).to_have_text(
        f"¥{PAID_IN_MINOR} is taken from the balance. "
        f"After that ¥0 is in the balance and ¥{won_minor - PAID_IN_MINOR:,} is owed."
    )
    admin("field-amount").fill(str(PAID_IN_MINOR + 1))
    expect(admin("owed-outcome")).to_have_text(f"Type an amount up to ¥{PAID_IN_MINOR}.")
    admin("field-amount").fill("200")
    admin("field-reason").fill("agreed with the player")
    admin("owed-dialog-confirm").click()
    expect(admin.page.locator("#people-message")).to_contain_text("¥200 collected")
    expect(play("balance")).to_have_text(f"¥{PAID_IN_MINOR - 200}")
    expect(play("toasts")).to_contain_text("¥200 that you owed was taken from your balance.")
    expect(play("owed")).to_contain_text(f"¥{won_minor - 200:,}")

    row.get_by_test_id("settle-owed").click()
    admin("field-deed").select_option("write_off")
    expect(admin("owed-outcome")).to_contain_text(f"¥{won_minor - 200:,} is written off")
    dialog_fits(admin)
    admin("field-reason").fill("goodwill")
    admin("owed-dialog-confirm").click()
    expect(row.get_by_test_id("owes")).to_have_count(0)
    expect(row.get_by_test_id("settle-owed")).to_have_count(0)
    expect(play("owed")).to_be_hidden()
    have = me(house, player)
    assert (have["balance_minor"], have["owed_minor"]) == (PAID_IN_MINOR - 200, 0)
    trail = windows.of("auditor", "/pit/trail")
    expect(trail("trail")).to_contain_text("Owed money written off")


def dialog_fits(admin: Window) -> None:
    for width, height in ((360, 640), (1280, 720), (1920, 1080)):
        admin.page.set_viewport_size({"width": width, "height": height})
        assert sideways(admin.page) == {"scroll": 0, "wide": []}
        assert poor_contrast(admin.page) == []
        assert small_targets(admin.page) == []
        assert cut_off(admin.page) == []
        assert admin.dialog.evaluate("one => one.scrollWidth - one.clientWidth") == 0
