"""The administration page: somebody is added, shut out, let in again, given a new password."""

import pytest
from playwright.sync_api import expect

from studio.demo.client import DoorClient, DoorError
from tests.browser.house import House
from tests.browser.windows import Windows

pytestmark = pytest.mark.browser

FIRST, SECOND = "the-first-password", "the-second-password"


def may_enter(house: House, password: str) -> bool:
    try:
        DoorClient(house.url).login("kato", password)
    except DoorError:
        return False
    return True


def test_a_login_is_made_shut_out_let_in_again_and_given_a_new_password(
    house: House, windows: Windows
):
    admin = windows.of("admin", "/admin")
    for field, value in (("username", "kato"), ("name", "Kato"), ("password", FIRST)):
        admin(f"new-{field}").fill(value)
    admin("new-role").select_option("player")
    admin("create-person").click()
    row = admin("person-kato")
    expect(row).to_be_visible()
    assert may_enter(house, FIRST)

    row.get_by_test_id("set-active").click()
    expect(admin("active-dialog-cancel")).to_be_focused()
    admin("active-dialog-confirm").click()
    expect(row.get_by_test_id("set-active")).to_have_text("Activate")
    assert not may_enter(house, FIRST)

    row.get_by_test_id("set-active").click()
    admin("active-dialog-confirm").click()
    expect(row.get_by_test_id("set-active")).to_have_text("Deactivate")
    assert may_enter(house, FIRST)

    row.get_by_test_id("set-password").click()
    admin("field-password").fill(SECOND)
    admin("password-dialog-confirm").click()
    expect(admin.page.locator("#people-message")).to_contain_text("Kato has a new password")
    assert may_enter(house, SECOND)
    assert not may_enter(house, FIRST)


def test_an_administrator_can_not_shut_themselves_out(windows: Windows):
    admin = windows.of("admin", "/admin")
    admin.refusals.add(409)
    admin("person-admin").get_by_test_id("set-active").click()
    admin("active-dialog-confirm").click()
    expect(admin.page.locator("#people-message")).to_be_visible()
    expect(admin("person-admin").get_by_test_id("set-active")).to_have_text("Deactivate")
