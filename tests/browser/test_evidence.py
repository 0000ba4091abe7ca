"""A round is taken as evidence from the screens, and play is disabled and enabled again."""

import json
import uuid
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Locator, expect

import app as entrance
from studio.demo.client import DoorError
from tests.browser.dealing import Table
from tests.browser.house import House
from tests.browser.windows import Window, Windows

pytestmark = pytest.mark.browser


def downloaded(window: Window, button: Locator, folder: Path) -> Path:
    """Press what downloads, and return the file."""
    with window.page.expect_download() as coming:
        button.click()
    path = folder / coming.value.suggested_filename
    coming.value.save_as(path)
    return path


def verified(path: Path) -> str:
    checked = CliRunner().invoke(entrance.main, ["verify", str(path)])
    assert checked.exit_code == 0, checked.output
    return checked.output


def test_a_player_and_the_house_download_a_round_and_both_files_hold(
    house: House, tables: dict[str, Table], windows: Windows, tmp_path: Path
) -> None:
    table = tables["T2"]
    table.make_ready()
    player = house.new_player()
    round_id = table.start_round()
    wager = {"id": str(uuid.uuid4()), "bet": "p1", "stake_minor": 500}
    house.door(player).post(f"/api/rounds/{round_id}/wagers", wager)
    table.pit("void_round")

    history = windows.of(player, "/history")
    history(f"history-{round_id}").click()
    own = downloaded(history, history("own-evidence"), tmp_path)
    assert own.name == f"{round_id}.json"
    assert [wager["bet"] for wager in json.loads(own.read_text())["wagers"]] == ["p1"]
    assert "the player's own wagers" in verified(own)

    page = windows.of("auditor", f"/pit/rounds/{round_id}")
    page("take-evidence").click()
    page.dialog.locator("textarea").fill("a complaint")
    (tmp_path / "house").mkdir()
    whole = downloaded(page, page("evidence-dialog-confirm"), tmp_path / "house")
    assert "all wagers" in verified(whole)
    expect(page("message")).to_be_visible()
    trail = windows.of("auditor", "/pit/trail")
    expect(trail.page.locator("#main")).to_contain_text("Round taken as evidence")
    expect(trail.page.locator("#main")).to_contain_text("a complaint")


def test_play_is_disabled_with_a_reason_and_enabled_again(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    table.make_ready()
    admin = windows.of("admin", "/admin")
    row = admin("scope-pok_deng")
    row.get_by_test_id("set-disabled").click()
    expect(admin.cancel).to_be_focused()
    admin.dialog.locator("textarea").fill("A wrong paytable is shown.")
    admin.confirm()
    expect(row).to_contain_text("A wrong paytable is shown.")
    try:
        with pytest.raises(DoorError) as refusal:
            table.start_round()
        assert refusal.value.code == "play_disabled"
    finally:
        row.get_by_test_id("set-disabled").click()
        admin.dialog.locator("textarea").fill("The paytable is right again.")
        admin.confirm()
    expect(row).to_contain_text("Enabled")
    table.make_ready()
    table.start_round()
    table.pit("void_round")
