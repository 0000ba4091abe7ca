"""Corrections on the screen: looked at, approved by a second person, told, and only then booked."""

import uuid
from collections.abc import Mapping

import pytest
from playwright.sync_api import expect

from tests.browser.access import barriers
from tests.browser.dealing import Table
from tests.browser.house import House, until
from tests.browser.looks import check, cut_off, poor_contrast, sideways, small_targets
from tests.browser.windows import Window, Windows

pytestmark = pytest.mark.browser

STAKE_MINOR = 500
HOLD_MINOR = 2 * STAKE_MINOR
"""With the deposit of a main bet; all of it is lost 2:1."""


def balance(house: House, player: str) -> int:
    return int(house.door(player).get("/api/me")["balance_minor"])


def play_round(house: House, table: Table, stakes: Mapping[str, str]) -> str:
    """Deal a round to its end; stakes: player to bet. Return the round's name."""
    table.make_ready()
    round_id = table.start_round()
    for player, bet in stakes.items():
        wager = {"id": str(uuid.uuid4()), "bet": bet, "stake_minor": STAKE_MINOR}
        house.door(player).post(f"/api/rounds/{round_id}/wagers", wager)
    table.deal()
    table.close_window()
    table.reveal_all()
    until(lambda: table.view()["phase"] == "settled", what=f"{round_id} is settled")
    return round_id


def dialog_fits(window: Window) -> None:
    assert barriers(window.page) == []
    for width, height in ((360, 640), (1280, 720), (1920, 1080)):
        window.page.set_viewport_size({"width": width, "height": height})
        assert sideways(window.page) == {"scroll": 0, "wide": []}
        assert poor_contrast(window.page) == []
        assert small_targets(window.page) == []
        assert cut_off(window.page) == []
        assert window.dialog.evaluate("one => one.scrollWidth - one.clientWidth") == 0


def test_a_face_is_corrected_after_a_second_person_has_approved(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table, player = tables["T3"], house.new_player()
    before_minor = balance(house, player)
    round_id = play_round(house, table, {player: "p5"})
    won_minor = balance(house, player) - before_minor
    assert won_minor > 0

    play = windows.of(player, "/play/T3").live()
    watching = windows.of(house.new_player(), "/play/T3").live()
    pit = windows.of("pit", f"/pit/rounds/{round_id}")
    pit("correct-cards").click()
    expect(pit("consequences")).to_contain_text("Change a card")
    expect(pit("correct-dialog-confirm")).to_be_disabled()
    pit("face-P5/1").fill("4x")
    expect(pit("consequences")).to_contain_text("such as 4H or 10S")
    pit("face-P5/1").fill("ah")
    expect(pit("sums")).to_contain_text("1 player: ¥0 is paid")
    expect(pit("follows-p5")).to_contain_text("→")
    expect(pit("consequences")).to_contain_text("Another supervisor has to approve it.")
    dialog_fits(pit)
    pit.page.set_viewport_size({"width": 360, "height": 640})
    pit.page.set_viewport_size({"width": 1280, "height": 800})
    pit("field-reason").fill("the ace of hearts lay there, seen on the recording")
    pit("correct-dialog-confirm").click()
    expect(pit("message")).to_contain_text("waits in the pit for another supervisor")
    expect(pit(f"proposal-{table.code}")).to_contain_text("You proposed this.")
    expect(pit("approve")).to_have_count(0)
    expect(pit("correct-cards")).to_be_disabled()
    check(pit, [])

    other = windows.of("pit2", "/pit").live()
    proposal = other(f"proposal-{table.code}")
    expect(proposal).to_contain_text("Tanaka")
    expect(proposal).to_contain_text("the ace of hearts lay there, seen on the recording")
    expect(proposal).to_contain_text(f"¥{won_minor + HOLD_MINOR:,} is taken back")
    expect(other("alarm-correction_waits")).to_be_visible()
    assert barriers(other.page) == []
    check(other, [])
    other.page.set_viewport_size({"width": 1280, "height": 800})
    proposal.get_by_test_id("approve").click()
    other("approve-dialog-confirm").click()
    expect(proposal.get_by_test_id("proposal-state")).to_contain_text("The players are told.")
    assert balance(house, player) == before_minor + won_minor
    expect(play("due")).to_contain_text(f"Round {round_id} will be corrected. You get ¥0 instead")
    expect(watching("due")).to_contain_text("will be corrected.")
    expect(other("proposals")).to_be_hidden()
    assert balance(house, player) == before_minor - HOLD_MINOR
    expect(pit("proposals")).to_be_hidden()
    expect(pit.page.locator("#summary")).to_contain_text("Version 2: the ace of hearts")
    expect(pit("correct-cards")).to_be_enabled()
    expect(play("toasts")).to_contain_text(f"Round {round_id} was corrected: ¥0 returned instead")
    expect(play("due")).to_have_count(0)
    expect(watching("due")).to_have_count(0)
    play.open("/history")
    play(f"history-{round_id}").locator("summary").click()
    expect(play("history-corrected")).to_contain_text("Corrected, version 2: ¥0 returned instead")


def propose(pit: Window, *, reason: str) -> None:
    """Send the dialog off once its consequences are seen."""
    expect(pit("correct-dialog-confirm")).to_be_enabled()
    pit("field-reason").fill(reason)
    pit("correct-dialog-confirm").click()
    expect(pit("proposals")).to_be_visible()


def swap(pit: Window) -> None:
    pit("correct-cards").click()
    pit("swap-P5/1").click()
    pit("swap-P1/0").click()


def test_cards_are_swapped_a_proposal_is_dropped_and_the_round_is_voided(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table, player = tables["T3"], house.new_player()
    before_minor = balance(house, player)
    round_id = play_round(house, table, {player: "p5"})
    won_minor = balance(house, player) - before_minor

    play = windows.of(player, "/play/T3").live()
    pit = windows.of("pit", f"/pit/rounds/{round_id}")
    other = windows.of("pit2", "/pit").live()
    swap(pit)
    expect(pit("face-P5/1")).to_have_value("2S")
    propose(pit, reason="taken in the wrong order")
    other("drop").click()
    other("field-reason").fill("the order was right")
    other("drop-dialog-confirm").click()
    expect(pit("proposals")).to_be_hidden()
    assert balance(house, player) == before_minor + won_minor

    swap(pit)
    propose(pit, reason="taken in the wrong order after all")
    table.approve()
    expect(play("toasts")).to_contain_text(f"Round {round_id} was corrected")
    expect(pit.page.locator("#summary")).to_contain_text("Version 2: taken in the wrong order")
    expect(pit("round-cards")).to_contain_text("→")
    assert balance(house, player) < before_minor + won_minor

    pit("action-void_settled").click()
    propose(pit, reason="nobody knows the order")
    table.approve()
    table.pit("drop_correction", proposal=table.proposal()["id"])
    expect(play("toasts")).to_contain_text(f"The correction of {round_id} was dropped.")
    expect(pit("proposals")).to_be_hidden()

    pit("action-void_settled").click()
    propose(pit, reason="nobody knows the order")
    table.approve()
    expect(play("due")).to_contain_text(f"Round {round_id} will be annulled")
    expect(play("message")).to_contain_text("A supervisor has decided so.")
    expect(play("toasts")).to_contain_text(f"Round {round_id} was annulled")
    expect(play("due")).to_have_count(0)
    assert balance(house, player) == before_minor
    assert "nobody knows" not in play.page.content()
    expect(pit("action-void_settled")).to_have_count(0)
    expect(pit("correct-cards")).to_be_enabled()


def test_the_rounds_of_a_shoe_are_refunded_at_once(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table, winner, loser = tables["T3"], house.new_player(), house.new_player()
    before_minor = {one: balance(house, one) for one in (winner, loser)}
    rounds = [play_round(house, table, {winner: "p5", loser: "p3_pair"}) for _ in range(3)]
    kept_minor = balance(house, winner)

    numbers = [int(one.rsplit("-", 1)[1]) for one in rounds]
    page = windows.of("pit", f"/pit/rounds/{rounds[0]}")
    page("this-shoe").click()
    page("from").fill(str(numbers[0]))
    page("to").fill(str(numbers[1]))
    expect(page("rounds").get_by_role("row")).to_have_count(3)
    page("choose-all").check()
    expect(page("follows")).to_contain_text("2 rounds chosen, with 4 bets.")
    assert barriers(page.page) == []
    check(page, [])
    page.page.set_viewport_size({"width": 1280, "height": 800})
    page("refund").click()
    page("field-reason").fill("a card was missing from the shoe")
    page("refund-dialog-confirm").click()
    expect(page(f"proposal-{table.code}")).to_contain_text("refund 2 rounds")
    assert balance(house, winner) == kept_minor
    table.approve()
    expect(page("proposal-state")).to_contain_text("The players are told.")
    expect(page("proposals")).to_be_hidden()
    for round_id in rounds[:2]:
        expect(page(f"row-{round_id}")).to_have_attribute("data-phase", "void")
    won_minor = (kept_minor - before_minor[winner]) // 3
    assert balance(house, winner) == before_minor[winner] + won_minor
    assert balance(house, loser) != before_minor[loser]


def test_an_alarm_of_a_device_leads_to_the_rounds_it_may_have_touched(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T3"]
    round_id = play_round(house, table, {})
    seen = {"link": "scanner", "frame_age_ms": 5, "fps": 30.0}
    table.device("heartbeat", **seen, queued=95, queue_max=100)
    pit = windows.of("auditor", "/pit").live()
    pit("alarm-scanner_queue").get_by_test_id("shoe-rounds").click()
    expect(pit(f"row-{round_id}")).to_be_visible()
    expect(pit("refund")).to_be_hidden()
    expect(pit("choose-all")).to_be_hidden()
    check(pit, [])
    table.device("heartbeat", **seen, queued=0, queue_max=100)
