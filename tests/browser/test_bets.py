"""What the player's page does with bets that must not count, or must count once."""

import re

import pytest
from playwright.sync_api import Route, WebSocketRoute, expect

from tests.browser.dealing import Table
from tests.browser.house import PURSE_MINOR, House, until
from tests.browser.windows import Window, Windows

pytestmark = pytest.mark.browser

CONFLICT = 409
WAGERS = re.compile(r"/api/rounds/[^/]+/wagers$")
LIVE = re.compile(r"/socket\.io/")


def stakes(house: House, round_id: str, player: str) -> list[int]:
    """Return what the book holds of a player's wagers, in minor units."""
    with house.units.read() as unit:
        wagers = unit.wagers.of_round(round_id, player_id=house.player_id(player))
    return [one.stake_minor for one in wagers if one.ending is None]


def seat(
    windows: Windows, house: House, table: Table, *, purse_minor: int = PURSE_MINOR
) -> tuple[Window, str, str]:
    """Return a player's page in an open betting window, the player and the round."""
    table.make_ready()
    player = house.new_player(purse_minor=purse_minor)
    play = windows.of(player, f"/play/{table.code}").live()
    play.refusals = {CONFLICT}
    round_id = table.start_round()
    expect(play("phase")).to_have_text("Betting open")
    return play, player, round_id


def test_a_stake_over_the_limit_is_refused_with_the_limit(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    play, player, round_id = seat(windows, house, tables["T2"])
    play("chip-50000").click()
    play("spot-p2_pair").click()
    expect(play("message")).to_contain_text("At most ¥20,000 may stand on this bet")
    expect(play("spot-p2_pair")).to_have_attribute("data-state", "empty")
    expect(play("balance")).to_have_text(f"¥{PURSE_MINOR:,}")
    assert stakes(house, round_id, player) == []


def test_a_bet_above_the_balance_says_what_is_needed_deposit_included(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    play, player, round_id = seat(windows, house, tables["T2"], purse_minor=900)
    play("chip-500").click()
    play("spot-p1").click()
    expect(play("message")).to_have_text("Short: needs ¥1,000, have ¥900")
    expect(play("balance")).to_have_text("¥900")
    play("spot-p1_pair").click()
    expect(play("balance")).to_have_text("¥400")
    assert stakes(house, round_id, player) == [500]


def test_a_double_tap_is_one_wager_of_one_stake(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    play, player, round_id = seat(windows, house, tables["T2"])
    waiting: list[Route] = []
    play.page.route(WAGERS, lambda route: waiting.append(route))
    play("chip-500").click()
    play("spot-p4").dblclick()
    expect(play("spot-p4")).to_have_attribute("data-state", "sending")
    expect(play("spot-p4")).to_be_disabled()
    expect(play("spot-p4")).to_contain_text("Sending…")
    posted = [route for route in waiting if route.request.method == "POST"]
    for route in waiting:
        route.continue_()
    play.page.unroute(WAGERS)
    expect(play("spot-p4")).to_have_attribute("data-state", "accepted")
    assert len(posted) == 1
    assert stakes(house, round_id, player) == [500]
    play("spot-p4").click()
    expect(play("spot-p4")).to_contain_text("1,000")
    expect(play("spot-p4")).to_contain_text("2,000 held")
    assert stakes(house, round_id, player) == [500, 500]


def test_undo_takes_bets_back_one_by_one_and_clear_the_rest(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    play, player, round_id = seat(windows, house, tables["T2"])
    play("chip-1000").click()
    for spot in ("spot-p1", "spot-p2", "spot-p3_pair"):
        play(spot).click()
        expect(play(spot)).to_have_attribute("data-state", "accepted")
    expect(play("held")).to_have_text("¥5,000")
    play("undo").click()
    expect(play("message")).to_have_text("Taken back: P3 Pair ¥1,000")
    expect(play("held")).to_have_text("¥4,000")
    play("clear").click()
    expect(play("held")).to_have_text("¥0")
    expect(play("balance")).to_have_text(f"¥{PURSE_MINOR:,}")
    expect(play("bet-total")).to_have_text("¥0")
    expect(play("undo")).to_be_disabled()
    assert stakes(house, round_id, player) == []


def test_a_bet_whose_answer_is_lost_is_asked_for_again_and_counts_once(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    play, player, round_id = seat(windows, house, tables["T2"])
    play.offline = True
    bodies: list[str] = []

    def lose_the_first_answer(route: Route) -> None:
        if route.request.method != "POST":
            route.continue_()
            return
        bodies.append(route.request.post_data or "")
        if len(bodies) == 1:
            route.fetch()
            route.abort("internetdisconnected")
        else:
            route.continue_()

    play.page.route(WAGERS, lose_the_first_answer)
    play("chip-500").click()
    play("spot-p5").click()
    expect(play("spot-p5")).to_have_attribute("data-state", "accepted")
    expect(play("message")).to_have_text("Accepted P5 Main ¥500; ¥1,000 held (¥500 deposit)")
    assert len(bodies) == 2
    assert bodies[0] == bodies[1], "the same id and content"
    assert stakes(house, round_id, player) == [500]
    expect(play("balance")).to_have_text(f"¥{PURSE_MINOR - 1_000:,}")


def test_spots_lock_when_the_countdown_reaches_zero_here_whatever_the_studio_has_said(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T3"]
    table.make_ready()
    play = windows.new()

    def without_the_closing(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        socket.on_message(server.send)
        server.on_message(
            lambda message: None if "BettingClosed" in str(message) else socket.send(message)
        )

    play.page.route_web_socket(LIVE, without_the_closing)
    play.log_in(house.new_player()).open("/play/T3").live()
    round_id = table.start_round()
    expect(play("spot-p1")).to_be_enabled()
    expect(play("phase")).to_have_text("Closing…")
    for spot in ("spot-p1", "spot-p5_pair"):
        expect(play(spot)).to_be_disabled()
    expect(play("undo")).to_be_disabled()
    expect(play("countdown")).to_be_hidden()
    until(lambda: table.view()["phase"] == "no_more_bets", what="the studio closes too")
    refusal = play.page.evaluate(LATE_BET, round_id)
    assert refusal == [CONFLICT, "betting_window_closed"]
    play.troubles = [one for one in play.troubles if str(CONFLICT) not in one]


LATE_BET = """async (round) => {
  const token = document.querySelector('meta[name="csrf-token"]').content;
  const answer = await fetch(`/api/rounds/${round}/wagers`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRFToken": token },
    body: JSON.stringify({ id: crypto.randomUUID(), bet: "p1", stake_minor: 500 }),
  });
  return [answer.status, (await answer.json()).error.code];
}"""
