"""A line that is cut: what player, dealer and pit are told, and what becomes of the round."""

import re
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, WebSocketRoute, expect

from tests.browser.conftest import make_people
from tests.browser.dealing import BURN, HANDS, Table
from tests.browser.house import House, Plan, open_house, until
from tests.browser.looks import check
from tests.browser.windows import Window, Windows

pytestmark = pytest.mark.browser

GRACE_MS = 8_000
STATION_LOST_MS = 5_000
BEAT_S = 0.4
PLANS = (
    Plan(code="T1", dealer="sato", window_ms=8_000),
    *(
        Plan(
            code=f"T-{link}",
            dealer=dealer,
            window_ms=20_000,
            links={f"{link}_lost_ms": limit_ms, "grace_ms": GRACE_MS},
        )
        for link, dealer, limit_ms in (
            ("video", "mori", 2_000),
            ("scanner", "abe", 2_000),
            ("station", "endo", STATION_LOST_MS),
        )
    ),
    Plan(code="T5", dealer="fujii", window_ms=8_000),
)


@pytest.fixture(scope="module")
def house(chromium: Browser) -> Iterator[House]:
    with (
        tempfile.TemporaryDirectory(prefix="studio-drops-") as name,
        open_house(Path(name), make_people, plans=PLANS) as opened,
    ):
        yield opened


@pytest.fixture(scope="module")
def tables(house: House) -> dict[str, Table]:
    return {
        plan.code: Table(house=house, code=plan.code, dealer=plan.dealer, deck_set=number)
        for number, plan in enumerate(PLANS, 1)
    }


@contextmanager
def alive(table: Table, link: str) -> Iterator[None]:
    """Let a device's link give signs of life until the block ends."""
    cut = threading.Event()

    def beat() -> None:
        while not cut.wait(BEAT_S):
            table.device("heartbeat", link=link, frame_age_ms=5, fps=30.0, queued=0)

    signs = threading.Thread(target=beat)
    signs.start()
    try:
        until(lambda: table.view()["links"][link] == "up", what=f"{link} is up")
        yield
    finally:
        cut.set()
        signs.join()


def bet(play: Window, spot: str = "spot-p1") -> None:
    play(spot).click()
    expect(play(spot)).to_have_attribute("data-state", "accepted")


def ends(table: Table) -> None:
    """Let the round end."""
    table.close_window()
    table.reveal_all()
    until(lambda: table.view()["phase"] == "settled", what="the round is settled")


def cut_line(play: Window, lines: list[WebSocketRoute]) -> None:
    play.context.set_offline(True)
    lines[-1].close()
    expect(play("connection")).to_have_attribute("data-state", "lost")


def test_a_players_own_line_is_cut_while_betting_and_over_the_result(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table, player = tables["T5"], house.new_player()
    table.make_ready()
    play = windows.new()
    lines = play.tapped_lines()
    play.log_in(player).open("/play/T5").live()
    table.start_round()
    number = table.view()["round"]["number"]
    bet(play)
    cut_line(play, lines)
    expect(play("drop")).to_have_text(
        "Your own connection is lost. Your accepted bets stand: ¥500. "
        "No further bets are placed until it is back."
    )
    table.deal((BURN, *HANDS))
    ends(table)
    expect(play("drop")).to_contain_text("They are settled without it")
    play.context.set_offline(False)

    play.live()
    net = play("round-net").inner_text()
    expect(play("drop")).to_have_text(f"While you were away: round {number}, {net}.")
    cut_line(play, lines)
    expect(play("drop")).to_have_text(
        "Your own connection is lost. No further bets are placed until it is back."
    )
    play.context.set_offline(False)
    play.live()
    play.page.reload()
    play.live()
    expect(play("round-net")).to_have_text(net)
    expect(play("drop"), "it is said once").to_be_empty()


@pytest.mark.parametrize("link", ["video", "scanner"])
def test_a_tables_link_is_lost_before_and_after_the_first_card(
    house: House, tables: dict[str, Table], windows: Windows, link: str
) -> None:
    table, player = tables[f"T-{link}"], house.new_player()
    play = windows.of(player, f"/play/{table.code}")
    drop = play("drop")
    with alive(table, link):
        table.make_ready()
        desk = windows.of(table.dealer, f"/station?table={table.code}").live()
        pit = windows.of("pit", "/pit").live()
        table.start_round()
        bet(play.live())
        expect(drop).to_be_empty()
    fate = pit(f"alarm-{link}_lost").filter(has_text=table.code).get_by_test_id("fate")
    clock, spoken = play("drop-clock"), play.page.locator("#status")
    expect(clock).to_have_text(re.compile("^Cancelled in [4-8] s$"))
    expect(clock).to_have_attribute("aria-live", "off")
    expect(spoken, "said once").to_have_text(re.compile("^Cancelled in [4-8] s$"))
    expect(desk("instruction")).to_contain_text(re.compile("^Cancelled in [1-8] s Draw no card"))
    said = drop.inner_html()
    expect(clock).to_have_text(re.compile("^Cancelled in [1-3] s$"))
    expect(spoken).not_to_have_text(re.compile("^Cancelled in [1-3] s$"))
    assert drop.inner_html() == said
    expect(drop).to_contain_text("No card has been drawn. If it is not back in time, the round")
    expect(drop).to_contain_text("is cancelled and your ¥1,000 come back.")
    expect(desk("instruction")).to_contain_text("Draw no card.")
    expect(fate).to_contain_text("Round 1: no card drawn. It is cancelled and refunded")
    expect(drop).to_contain_text("Round 1 was cancelled before its first card")
    expect(drop).to_contain_text("Your ¥1,000 came back. The next round opens when it is back.")
    expect(clock).to_be_hidden()
    expect(desk("instruction")).to_have_text(re.compile("^[A-Z].* lost. No new round$"))
    expect(fate).to_contain_text("Round 1 cancelled before its first card: 1 wager refunded")
    with alive(table, link):
        table.start_round()
        bet(play)
        table.deal((BURN, *HANDS[:2]))
    expect(drop).to_contain_text("The round is played to its end; accepted bets stand.")
    expect(desk("offline")).to_contain_text("Deal on, this round counts.")
    expect(fate).to_contain_text("Round 2 has started: it runs to its end, bets stand")
    with alive(table, link):
        expect(drop).to_contain_text("was lost in this round and is back.")
        table.deal(HANDS[2:])
        ends(table)
        expect(drop).to_contain_text("Round 2 was interrupted")
        play.open("/history")
        row = play(f"history-{table.code}-1-2")
        row.locator("summary").click()
        expect(row.get_by_test_id("history-interrupted")).to_be_visible()


def test_a_stations_line_is_lost_before_and_after_the_first_card(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table, player = tables["T-station"], house.new_player()
    play = windows.of(player, f"/play/{table.code}")
    table.make_ready()
    desk = windows.of(table.dealer, f"/station?table={table.code}").live()
    desk.offline = True
    pit = windows.of("pit", "/pit").live()
    fate = pit("alarm-station_lost").get_by_test_id("fate")
    table.start_round()
    bet(play.live())
    desk.context.set_offline(True)
    house.let_pass(until_ms=house.now_ms() + STATION_LOST_MS)
    expect(play("drop")).to_contain_text("dealer's station. No card has been drawn.")
    expect(desk("offline")).to_contain_text("Draw no card: the round is cancelled in a moment")
    expect(desk("instruction")).to_contain_text("Draw no card.")
    expect(fate).to_contain_text("It is cancelled and refunded in a moment")
    house.let_pass(until_ms=house.now_ms() + GRACE_MS)
    expect(play("drop")).to_contain_text("Your ¥1,000 came back.")
    desk.context.set_offline(False)
    expect(desk.live()("instruction")).to_have_text("Start the round")
    expect(desk("phase")).to_have_text("Round void. Collect cards")
    table.start_round()
    bet(play)
    table.deal((BURN, *HANDS))
    desk.context.set_offline(True)
    house.let_pass(until_ms=house.now_ms() + STATION_LOST_MS)
    expect(play("drop")).to_contain_text("The result is announced when the connection is back.")
    expect(desk("offline")).to_contain_text("Deal on, this round counts.")
    expect(fate).to_contain_text("Round 2 has started")
    check(play, ["phase", "stale", "drop", "calls"])
    check(desk, ["offline", "instruction", "primary"])
    check(pit, [])
    desk.context.set_offline(False)
    desk.live()
    ends(table)
    expect(play("drop")).to_contain_text("Round 2 was interrupted")
