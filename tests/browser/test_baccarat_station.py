"""The dealer's side of baccarat: who draws is told, what was drawn too early is held."""

import re
import uuid
from dataclasses import dataclass

import pytest
from playwright.sync_api import expect

from tests.browser.dealing import BURN, HANDS, Table
from tests.browser.house import House
from tests.browser.looks import SIZES, check, font_px, height_px
from tests.browser.windows import Window, Windows

pytestmark = pytest.mark.browser

STAKE_MINOR = 1_000


@dataclass(frozen=True, kw_only=True)
class Third:
    """A third card: what the dealer is told before it, in both languages, and the card."""

    calls: str
    again: str
    place: tuple[str, str]
    face: str


@dataclass(frozen=True, kw_only=True)
class Played:
    """A round as it is dealt and told."""

    four: tuple[str, str, str, str]
    totals: tuple[str, str]
    """Of the first two cards each: player, banker."""
    thirds: tuple[Third, ...]
    calls: str
    result: str
    again: str
    empty: tuple[str, ...]


PLAYER_DRAWS = Third(
    calls="Player draws", again="プレイヤー もう1枚", place=("Player", "P-3"), face="4S"
)
ROUNDS = {
    "a natural": Played(
        four=("4S", "2D", "5D", "3S"),
        totals=("9", "5"),
        thirds=(),
        calls="Natural",
        result="Player wins 9 over 5",
        again="ナチュラル · プレイヤーの勝ち 9対5",
        empty=("P-3", "B-3"),
    ),
    "both draw": Played(
        four=("TD", "4H", "AC", "AH"),
        totals=("1", "5"),
        thirds=(
            PLAYER_DRAWS,
            Third(
                calls="Banker draws", again="バンカー もう1枚", place=("Banker", "B-3"), face="2C"
            ),
        ),
        calls="",
        result="Banker wins 7 over 5",
        again="バンカーの勝ち 7対5",
        empty=(),
    ),
    "only the banker draws": Played(
        four=("7S", "4H", "QS", "AH"),
        totals=("7", "5"),
        thirds=(
            Third(
                calls="Player: no card · Banker draws",
                again="プレイヤー ノーカード · バンカー もう1枚",
                place=("Banker", "B-3"),
                face="2C",
            ),
        ),
        calls="",
        result="Tie, both 7",
        again="タイ 7対7",
        empty=("P-3",),
    ),
    "nobody draws": Played(
        four=("6D", "7H", "TH", "JH"),
        totals=("6", "7"),
        thirds=(),
        calls="Player: no card · Banker: no card",
        result="Banker wins 7 over 6",
        again="プレイヤー ノーカード · バンカー ノーカード · バンカーの勝ち 7対6",
        empty=("P-3", "B-3"),
    ),
    "the banker stands on the third": Played(
        four=("2S", "7D", "3D", "TD"),
        totals=("5", "7"),
        thirds=(PLAYER_DRAWS,),
        calls="Banker: no card",
        result="Player wins 9 over 7",
        again="バンカー ノーカード · プレイヤーの勝ち 9対7",
        empty=("B-3",),
    ),
}


@pytest.fixture(scope="module")
def shoes(tables: dict[str, Table]) -> dict[str, Table]:
    """Return the tables, those of baccarat with shoes that hold every card of this file."""
    for code in ("T4", "T5"):
        tables[code].make_ready()
        tables[code].pit("close_shoe", cards_left=tables[code].in_shoe())
        tables[code].make_ready()
    return tables


def opened(windows: Windows, table: Table) -> Window:
    """Return the station of a table that is ready."""
    table.make_ready()
    station = windows.of(table.dealer, f"/station?table={table.code}").live()
    expect(station("instruction")).to_have_text("Start the round")
    return station


def bet(house: House, table: Table, *codes: str) -> None:
    """Let a new player bet in the round that runs."""
    player = house.door(house.new_player())
    round_id = table.view()["round"]["id"]
    for code in codes:
        body = {"id": str(uuid.uuid4()), "bet": code, "stake_minor": STAKE_MINOR}
        player.post(f"/api/rounds/{round_id}/wagers", body)


def deal_to(table: Table, faces: tuple[str, ...]) -> None:
    """Play from the start of the round until these cards lie open."""
    table.start_round()
    table.lay(BURN)
    table.close_window()
    table.deal(faces)


def test_a_card_drawn_while_bets_run_is_held_and_the_pit_is_called(
    shoes: dict[str, Table], windows: Windows
) -> None:
    table = shoes["T5"]
    station = opened(windows, table)
    pit = windows.of("pit", "/pit").live()
    station.primary()
    expect(station("instruction")).to_have_text("Burn 1 card")
    expect(station("next")).to_have_text("Next: wait for close")
    table.lay(BURN)
    expect(station("instruction")).to_have_text(re.compile(r"^Bets open, \d+ s\. Do not draw yet$"))
    expect(station("instruction-other")).to_have_text(
        re.compile(r"^ベット受付中 残り\d+秒 まだ引かない$")
    )
    expect(station("next")).to_have_text("Next: Player card 1")
    expect(station("primary")).to_be_disabled()
    expect(station("unreadable")).to_be_disabled()

    early = table.printed("7D")
    table.device("reports", kind="card_seen", code=early.digits)
    expect(station("instruction")).to_have_text("Hands off. Supervisor coming")
    expect(station("fault")).to_contain_text("Card out of its turn: bets are still taken")
    expect(station("cell-P-1")).to_have_attribute("data-state", "none")
    alarm = pit("alarms").get_by_role("listitem").filter(has_text="T5 card out of its turn held")
    alarm.get_by_test_id("open").click()
    pit("release-held").click()
    pit("field-reason").fill("the dealer drew too early; nobody saw the card")
    pit.confirm()
    expect(pit("drawer-message")).to_contain_text("Released.")
    expect(station("instruction")).to_contain_text("Do not draw yet")
    expect(station("count-burnt")).to_contain_text("5")
    check(station, [*WAITING, "unreadable"], also=lambda width: is_readable(station, width))


WAITING = ["instruction", "instruction-other", "next", "strip", "primary", "supervisor", "stop"]


def is_readable(station: Window, width: int) -> None:
    """Measure what is read at arm's length and what is pressed."""
    phone = width == SIZES[0][0]
    assert font_px(station, "instruction") >= (48 if phone else 96)
    for part in ("calls", "result"):
        if station(part).text_content():
            assert font_px(station, part) >= (20 if phone else 44), part
    station.page.evaluate("scrollTo(0, 0)")
    for part in ("primary", "stop", "supervisor", "repeat", "cut-card"):
        assert height_px(station, part) >= 80, part
        expect(station(part)).to_be_in_viewport(ratio=1)
    expect(station("strip")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("played", ROUNDS.values(), ids=ROUNDS)
def test_the_dealer_is_told_who_draws_and_who_has_won(
    shoes: dict[str, Table], windows: Windows, played: Played
) -> None:
    table = shoes["T4"]
    station = opened(windows, table)
    deal_to(table, ())
    expect(station("instruction")).to_have_text("Deal Player, card 1")
    expect(station("next")).to_have_text("Next: Banker card 1")
    expect(station("phase")).to_have_text("Bets closed")
    table.lay(played.four[0])
    expect(station("read")).to_contain_text("Read: Player card 1")
    expect(station("total-P")).to_have_count(0)
    table.deal(played.four[1:3])
    expect(station("total-P")).to_have_text(f"Player {played.totals[0]}")
    expect(station("total-B")).to_have_count(0)
    expect(station("calls")).to_be_empty()
    table.lay(played.four[3])
    expect(station("total-B")).to_have_text(f"Banker {played.totals[1]}")
    for third in played.thirds:
        name, cell = third.place
        expect(station("calls")).to_have_text(third.calls)
        expect(station("calls-other")).to_have_text(third.again)
        expect(station("instruction")).to_have_text(f"Deal {name}, card 3")
        expect(station(f"cell-{cell}")).to_have_attribute("data-state", "now")
        table.lay(third.face)
        expect(station(f"cell-{cell}")).to_have_attribute("data-state", "open")
    expect(station("result")).to_have_text(played.result)
    expect(station("calls")).to_have_text(played.calls)
    expect(station("calls-other")).to_have_text(played.again)
    expect(station("phase")).to_have_text("Result sent. Collect cards")
    expect(station("instruction")).to_have_text("Start the round")
    for cell in ("P-3", "B-3"):
        state = "empty" if cell in played.empty else "open"
        expect(station(f"cell-{cell}")).to_have_attribute("data-state", state)
        if state == "empty":
            expect(station(f"cell-{cell}")).to_contain_text("no card")


def test_calls_and_result_are_read_at_arms_length(
    shoes: dict[str, Table], windows: Windows
) -> None:
    table = shoes["T4"]
    station = opened(windows, table)
    both = ROUNDS["only the banker draws"]
    deal_to(table, both.four)
    expect(station("calls")).to_have_text("Player: no card · Banker draws")
    check(
        station, [*WAITING, "calls", "calls-other"], also=lambda width: is_readable(station, width)
    )
    table.pit("void_round")
    expect(station("phase")).to_have_text("Round void. Collect cards")
    expect(station("calls")).to_be_empty()
    deal_to(table, ROUNDS["nobody draws"].four)
    expect(station("result")).to_have_text("Banker wins 7 over 6")
    parts = [*WAITING, "calls", "result", "phase", "totals"]
    check(station, parts, also=lambda width: is_readable(station, width))
    station.page.set_viewport_size({"width": 1280, "height": 720})
    assert font_px(station, "result") >= 56
    assert font_px(station, "phase") >= 56


def test_the_pit_sees_two_games_side_by_side(
    house: House, shoes: dict[str, Table], windows: Windows
) -> None:
    pok_deng, baccarat = shoes["T3"], shoes["T4"]
    for table in (pok_deng, baccarat):
        table.make_ready()
    pok_deng.start_round()
    bet(house, pok_deng, "p1", "p1_pair")
    pok_deng.deal((BURN, *HANDS))
    pok_deng.close_window()
    pok_deng.reveal_all()
    round_id = baccarat.start_round()
    bet(house, baccarat, "player", "banker", "tie", "player_pair", "banker_pair")
    pit = windows.of("pit", "/pit").live()
    expect(pit("tile-T3")).to_contain_text("Pok Deng")
    expect(pit("tile-T4")).to_contain_text("Baccarat")
    expect(pit("tile-T4")).to_contain_text("5 bets")
    # The most the bank can lose on each: 1, 0.95, 7, 11 and 11 a unit.
    expect(pit("tile-T4")).to_contain_text("¥30,950")
    baccarat.lay(BURN)
    baccarat.close_window()
    baccarat.deal(ROUNDS["both draw"].four)
    expect(pit("tile-T4")).to_contain_text("dealing")
    expect(pit("tile-T4")).to_contain_text("Player card 3")
    pit("tile-T4").click()
    hands = pit("drawer-hands").get_by_role("listitem")
    expect(hands.nth(0)).to_contain_text("Player")
    expect(hands.nth(1)).to_contain_text("Banker")
    wagers = pit("drawer-wagers").get_by_role("row")
    expect(wagers).to_have_count(6)
    expect(wagers.filter(has_text="Banker pair")).to_have_count(1)
    for face in ("4S", "2C"):
        baccarat.lay(face)
    expect(pit("tile-T4")).to_contain_text("settled")
    expect(pit("drawer").locator(".road-grid")).to_have_count(2)  # bead plate and big road
    check(pit, ["alarm-count", "tile-T1", "tile-T2", "tile-T3", "tile-T4", "tile-T5", "drawer"])
    pit("tile-T3").click()
    expect(pit("drawer").locator(".road-row")).to_have_count(5)

    pit.open(f"/pit/rounds/{round_id}")
    told = pit("round-timeline").get_by_role("row")
    expect(told.filter(has_text="Player-3 read, dealt face up")).to_have_count(1)
    expect(told.filter(has_text="Burn read, face sealed")).to_have_count(1)
    expect(told.filter(has_text="Opened:")).to_have_count(7)
    expect(pit("round-cards").get_by_role("row")).to_have_count(8)
    expect(pit("round-wagers").get_by_role("row").filter(has_text="Player pair")).to_have_count(1)
    check(pit, [])


CUT_TABLES = """() => [...document.querySelectorAll(".figures-page .scroll")]
  .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.getAttribute("aria-label"))"""


def test_the_figures_compare_the_returns_of_both_games(
    house: House, shoes: dict[str, Table], windows: Windows
) -> None:
    table = shoes["T4"]
    table.make_ready()
    table.start_round()
    bet(house, table, "player", "banker", "tie", "player_pair")
    table.lay(BURN)
    table.close_window()
    table.deal(ROUNDS["a natural"].four)
    table = shoes["T3"]
    table.make_ready()
    table.start_round()
    bet(house, table, "p1", "p1_pair")
    table.deal((BURN, *HANDS))
    table.close_window()
    table.reveal_all()
    pit = windows.of("pit", "/pit/figures")
    for kind, words in (
        ("player", "Player"),
        ("banker", "Banker"),
        ("tie", "Tie"),
        ("pair", "Pair"),
    ):
        part = pit(f"return-baccarat-{kind}").first
        expect(part).to_contain_text(f"Baccarat, {words} bet, 8 decks")
    for kind, words in (("main", "Main"), ("pair", "Pair")):
        expect(pit(f"return-pok_deng-{kind}")).to_contain_text(f"Pok Deng, {words} bet, 8 decks")
    expect(pit("return-baccarat-banker").first).to_contain_text("theory 98.94%")

    def no_table_is_cut(width: int) -> None:
        for details in pit.page.locator(".chart-text:not([open]) > summary").all():
            if details.is_visible():
                details.click()
        assert pit.page.evaluate(CUT_TABLES) == [], width

    check(pit, [], also=no_table_is_cut)
