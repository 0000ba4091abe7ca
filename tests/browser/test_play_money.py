"""Friends at a table of play money, each in a browser: rooms, forfeits, medals, club, looks."""

import re
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from studio.games import GAMES, by_code
from studio.services.audit import audit
from studio.services.replay import GameReplay
from tests.browser.access import barriers
from tests.browser.conftest import make_people
from tests.browser.dealing import BURN, Table
from tests.browser.house import House, Plan, open_house, until
from tests.browser.looks import cut_off, poor_contrast, sideways, small_targets
from tests.browser.windows import Window, Windows, closing

pytestmark = pytest.mark.browser

PLANS = (
    Plan(code="T1", dealer="sato", window_ms=8_000),
    Plan(
        code="T2",
        dealer="mori",
        window_ms=25_000,
        name="Baccarat",
        game="baccarat",
        options={"pair_bets": True},
    ),
)
TIE = ("9S", "9H", "KD", "QC")
"""Player and banker have 9 each: a natural, nobody draws."""
SIZES = ((360, 640), (1280, 800), (1920, 1080))
RICH_MINOR = 1_000_000
RING = """(spots) => spots.map((spot) => {
  const rgba = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const style = getComputedStyle(spot, "::before");
  const ring = [...rgba(style.backgroundColor).slice(0, 3), Number(style.opacity)];
  const under = rgba(getComputedStyle(spot).backgroundColor);
  const rest = under[3] * (1 - ring[3]);
  const all = ring[3] + rest;
  const mixed = [0, 1, 2].map((i) => (ring[i] * ring[3] + under[i] * rest) / all);
  spot.style.background = `rgb(${mixed.join(" ")} / ${all})`;
  return ring[3];
})"""
"""Paints each spot as if its mark covered it: words over the mark are what has to stay readable."""


@pytest.fixture(scope="module")
def club_house(chromium: Browser) -> Iterator[House]:
    """Return a house of play money: a table of Pok Deng and one of baccarat."""
    with (
        tempfile.TemporaryDirectory(prefix="studio-browser-") as name,
        open_house(Path(name), make_people, plans=PLANS, currency="G") as opened,
    ):
        yield opened


@pytest.fixture(scope="module")
def baccarat(club_house: House) -> Table:
    return Table(house=club_house, code="T2", dealer="mori", deck_set=2)


@pytest.fixture
def windows(chromium: Browser, club_house: House) -> Iterator[Windows]:
    with closing(Windows(browser=chromium, house=club_house)) as made:
        yield made


def new_player(house: House, *, purse_minor: int = 0, language: str = "en") -> str:
    """Add a player; without cash of their own the studio fills the purse: 1,000 G."""
    return house.new_player(purse_minor=purse_minor, language=language)


def buy(house: House, player: str, *items: str) -> None:
    for item in items:
        house.door(player).post("/api/club/purchases", {"id": str(uuid.uuid4()), "item": item})


def choose(house: House, player: str, **options: object) -> None:
    house.door(player).post("/api/club/options", options)


def bet(play: Window, spot: str) -> None:
    play("chip-5000").click()
    play(f"spot-{spot}").click()
    expect(play(f"spot-{spot}")).to_have_attribute("data-state", "accepted")


def looks_right(window: Window) -> None:
    """Measure a page in every size and both colour schemes."""
    page = window.page
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            assert poor_contrast(page) == [], f"{page.url} {width} {scheme}"
            assert barriers(page) == [], f"{page.url} {width} {scheme}"
        assert sideways(page) == {"scroll": 0, "wide": []}, f"{page.url} at {width}"
        assert cut_off(page) == [], f"{page.url} at {width}"
        assert small_targets(page) == [], f"{page.url} at {width}"


# Rooms -----------------------------------------------------------------------------------------


def test_friends_open_a_room_bet_together_and_one_leaves_in_the_middle(
    club_house: House, baccarat: Table, windows: Windows
) -> None:
    baccarat.make_ready()
    names = [new_player(club_house) for _ in range(3)]
    aya, ben, cho = (name.capitalize() for name in names)
    owner, code = open_room(windows, names[0])
    guest = follow_the_link(windows, club_house, names[1], code)
    third = join_by_code(windows, names[2], code)
    for window in (guest, third):
        expect(window("room-block")).to_have_text(
            f"Bets wait: your room has not started. {aya} starts it."
        )
        expect(window("room-start")).to_be_hidden()

    expect(owner("room-members").get_by_role("listitem")).to_have_count(3)
    owner("room-start").click()
    owner.page.wait_for_url("**/play/T2")
    owner.live()
    expect(owner("toasts")).to_contain_text("The room has started")
    expect(owner("toasts")).to_contain_text("Medal: Host")
    expect(guest("toasts")).to_contain_text("The room has started")
    expect(guest("room-block")).to_be_hidden()

    baccarat.start_round()
    for window, spot in ((owner, "player"), (guest, "tie"), (third, "tie")):
        expect(window("phase")).to_have_text("Betting open")
        bet(window, spot)
    see(owner, ben, "Tie 50.00 G")
    see(guest, aya, "Player 50.00 G")

    third("room-leave").click()
    expect(third("leave-room")).to_contain_text(
        "50.00 G stand in this round. If you leave now they are forfeited."
    )
    third.confirm()
    expect(third("room-said")).to_have_text("You have left the room. 50.00 G forfeited.")
    expect(third("to-rooms")).to_be_focused()
    gone = owner.page.locator("[data-testid^=gone-]")
    expect(gone).to_contain_text(f"{cho} has left")
    expect(gone).to_contain_text("Forfeited")

    baccarat.close_window()
    baccarat.deal((BURN, *TIE))
    until(lambda: baccarat.view()["phase"] == "settled", what="the round is settled")
    see(owner, ben, "Tie 50.00 G Returned 400.00 G")
    see(guest, aya, "Player 50.00 G Returned 50.00 G")
    expect(guest("balance")).to_have_text("1,350.00 G")
    expect(third("balance")).to_have_text("950.00 G")
    expect(third("result-row-tie")).to_contain_text("Tie forfeited")
    expect(third("spot-tie")).to_have_attribute("data-result", "lose")
    expect(guest("toasts")).to_contain_text("Medals: First round, First win, Tie")
    replay = by_code(GAMES)
    assert audit(club_house.units, replay=lambda code, seen: GameReplay(code, replay, seen)) == []


def open_room(windows: Windows, name: str) -> tuple[Window, str]:
    owner = windows.of(name, "/rooms")
    owner("room-table").select_option("T2")
    owner("room-open").click()
    expect(owner("room-code")).to_have_text(re.compile(r"^[A-Z2-9]{8}$"))
    code = owner("room-code").inner_text()
    expect(owner("room-start")).to_be_disabled()
    expect(owner("room-reason")).to_have_text("The room starts with at least 2 players.")
    expect(owner("room-link")).to_have_value(f"{owner.url}/rooms/join/{code}")
    owner.context.grant_permissions(["clipboard-read", "clipboard-write"])
    owner("room-copy").click()
    expect(owner("room")).to_contain_text("Copied")
    copied = owner.page.evaluate("() => navigator.clipboard.readText()")
    assert copied == f"{owner.url}/rooms/join/{code}"
    return owner, code


def follow_the_link(windows: Windows, house: House, name: str, code: str) -> Window:
    guest = windows.of(name, f"/rooms/join/{code}")
    expect(guest("invitation-code")).to_have_text(code)
    expect(guest("connection")).to_have_attribute("data-state", "live")
    assert house.door(name).get("/api/rooms/mine")["room"] is None
    guest("accept").click()
    guest.page.wait_for_url("**/play/T2")
    return guest.live()


def join_by_code(windows: Windows, name: str, code: str) -> Window:
    guest = windows.of(name, "/rooms")
    guest.refusals = {409}
    guest("room-code-field").fill("NOSUCHNO")
    guest("room-join").click()
    expect(guest("message")).to_have_text("There is no room with this code.")
    guest("room-code-field").fill(code.lower())
    guest("room-join").click()
    guest.page.wait_for_url("**/play/T2")
    return guest.live()


def see(window: Window, name: str, words: str) -> None:
    """Wait until a member's row says so."""
    row = window("room-members").get_by_role("listitem").filter(has_text=name).first
    expect(row).to_contain_text(re.compile(words.replace(" ", r"\s*")))


def test_a_page_whose_line_was_cut_sees_the_room_as_it_is_now(
    club_house: House, baccarat: Table, windows: Windows
) -> None:
    baccarat.make_ready()
    names = [new_player(club_house) for _ in range(2)]
    doors = [club_house.door(name) for name in names]
    room = doors[0].post("/api/rooms", {"id": str(uuid.uuid4()), "table": "T2"})["room"]
    owner = windows.of(names[0], "/play/T2").live()
    expect(owner("room-reason")).to_have_text("The room starts with at least 2 players.")
    owner.offline = True
    owner.context.set_offline(True)
    expect(owner("connection")).to_have_attribute("data-state", "lost")
    doors[1].post("/api/rooms/join", {"code": room["code"]})
    owner.context.set_offline(False)
    owner.live()
    expect(owner("room-start")).to_be_enabled()
    owner("room-start").click()
    expect(owner("room-state")).to_have_text("Started")
    expect(owner("room-code")).to_be_hidden()
    doors[1].post(f"/api/rooms/{room['id']}/leave", {})
    expect(owner("toasts")).to_contain_text(f"{names[1].capitalize()} has left the room")
    elsewhere = windows.of(names[0], "/play/T1").live()
    expect(elsewhere("room-block")).to_have_text(
        "Your room bets at Baccarat 2. Leave it to bet here."
    )
    owner("room-leave").click()
    expect(owner("leave-room")).to_contain_text("You can't come back")
    owner.cancel.click()
    expect(owner("room-leave")).to_be_focused()
    owner("room-leave").click()
    owner.confirm()
    expect(owner("room-said")).to_have_text("You have left the room.")
    expect(elsewhere("room-block")).to_be_hidden()


# The club --------------------------------------------------------------------------------------


def test_what_is_bought_is_seen_at_the_table(
    club_house: House, baccarat: Table, windows: Windows
) -> None:
    player = new_player(club_house)
    club = windows.of(player, "/club")
    expect(club("medals-won")).to_have_text(re.compile(r"^0 of \d+ won$"))
    expect(club("medal-hundred_rounds")).to_contain_text("0 of 100")
    expect(club("short-back_gold")).to_have_text("200.00 G short")
    club("buy-felt_wine").click()
    expect(club("buy")).to_contain_text("300.00 G will be taken; 700.00 G stay in your purse.")
    club.cancel.click()
    expect(club("buy-felt_wine")).to_be_focused()
    club("buy-felt_wine").click()
    club.confirm()
    expect(club("message")).to_have_text("Wine red is yours.")
    expect(club("balance")).to_have_text("700.00 G")
    expect(club("use-felt_wine")).to_be_focused()
    expect(club("short-plate_silver")).to_have_text("100.00 G short")

    club("use-felt_wine").click()
    expect(club("saved")).to_have_text("Saved")
    expect(club("in-use-felt_wine")).to_be_visible()
    expect(club("option-table_colour")).to_have_value("felt_wine")
    club("option-effects_volume").fill("25")
    expect(club("option-effects_volume-number")).to_have_text("25")
    expect(club("saved")).to_have_text("Saved")
    until(
        lambda: club_house.door(player).get("/api/me")["options"]["effects_volume"] == 25,
        what="the volume is stored",
    )
    play = windows.of(player, "/play/T2").live()
    stage = play.page.locator(".stage")
    assert "107, 36, 54" in stage.evaluate("one => getComputedStyle(one).backgroundImage")
    expect(play("music-toggle")).to_be_hidden()

    club("buy-music_koto").click()
    club.confirm()
    club("option-music").select_option("music_koto")
    expect(club("saved")).to_have_text("Saved")
    play.open("/play/T2").live()
    expect(play("music-toggle")).to_have_attribute("aria-pressed", "true")
    play("music-toggle").click()
    expect(play("music-toggle")).to_have_attribute("aria-pressed", "false")
    play.page.reload()
    expect(play("music-toggle")).to_have_attribute("aria-pressed", "false")


def test_a_purse_that_would_not_pay_the_smallest_bet_is_kept(
    club_house: House, windows: Windows
) -> None:
    player = new_player(club_house, purse_minor=30_050)
    club = windows.of(player, "/club")
    club.refusals = {409}
    club("buy-felt_navy").click()
    club.confirm()
    expect(club("message")).to_have_text(re.compile("must stay in the purse. Nothing taken.$"))
    expect(club("balance")).to_have_text("300.50 G")


def test_a_purse_that_is_gone_starts_again_with_words(
    club_house: House, baccarat: Table, windows: Windows
) -> None:
    baccarat.make_ready()
    player = new_player(club_house, purse_minor=5_000)
    play = windows.of(player, "/play/T2").live()
    baccarat.start_round()
    bet(play, "banker_pair")
    baccarat.close_window()
    baccarat.deal((BURN, *TIE))
    expect(play("toasts")).to_contain_text("Your purse starts again at 1,000.00 G")
    expect(play("toasts")).to_contain_text("Medals: First round, Second chance")
    expect(play("balance")).to_have_text("1,000.00 G")
    won = windows.of(player, "/club")
    expect(won("medals").get_by_role("listitem").nth(1)).to_contain_text("Won 20")
    expect(won("medals").get_by_role("listitem").nth(2)).to_contain_text("of")


# Looks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "ja"])
def test_rooms_and_club_fit_every_screen(
    club_house: House, baccarat: Table, windows: Windows, language: str
) -> None:
    baccarat.make_ready()
    owner, guest = (new_player(club_house, language=language) for _ in range(2))
    window = windows.of(owner, "/rooms")
    expect(window("room-open")).to_be_enabled()
    looks_right(window)
    room = club_house.door(owner).post("/api/rooms", {"id": str(uuid.uuid4()), "table": "T2"})
    expect(window("room-code")).to_be_visible()
    looks_right(window)
    invited = windows.of(guest, f"/rooms/join/{room['room']['code']}")
    expect(invited("accept")).to_be_visible()
    looks_right(invited)
    club = windows.of(owner, "/club")
    expect(club("buy-felt_wine")).to_be_visible()
    looks_right(club)


def test_every_felt_keeps_its_words_readable_with_every_mark_on_it(
    club_house: House, baccarat: Table, windows: Windows
) -> None:
    baccarat.make_ready()
    player = new_player(club_house, purse_minor=RICH_MINOR)
    items = club_house.door(player).get("/api/club")["items"]
    felts = [item["code"] for item in items if item["kind"] == "table_colour"]
    buy(
        club_house,
        player,
        *(item["code"] for item in items if item["code"] in felts and not item["owned"]),
        "back_waves",
        "circle_petals",
    )
    choose(club_house, player, card_back="back_waves", circle="circle_petals")
    play = windows.of(player, "/play/T2").live()
    baccarat.start_round()
    for spot in ("tie", "player"):
        bet(play, spot)
    measured(club_house, play, player, felts)
    baccarat.close_window()
    baccarat.deal((BURN, *TIE))
    until(lambda: baccarat.view()["phase"] == "settled", what="the round is settled")
    measured(club_house, play, player, felts)


def measured(house: House, play: Window, player: str, felts: list[str]) -> None:
    """Open the table on each felt, dark and light, and measure it with the marks painted out."""
    for felt in felts:
        choose(house, player, table_colour=felt)
        play.open("/play/T2").live()
        expect(play.page.locator("#main")).to_have_attribute("data-felt", felt)
        expect(play("spot-tie")).not_to_have_attribute("data-state", "empty")
        marks = play.page.locator(".spot").evaluate_all(RING)
        assert all(0.05 <= mark <= 0.3 for mark in marks), marks
        for scheme in ("dark", "light"):
            play.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            assert poor_contrast(play.page) == [], f"{felt} {scheme}"
            assert barriers(play.page) == [], f"{felt} {scheme}"


def test_the_measure_finds_a_page_that_keeps_people_out(windows: Windows) -> None:
    page = windows.new().page
    page.set_content('<html lang="en"><title>poor</title><main><input><p>x</p></main></html>')
    assert [fault.split(":")[0] for fault in barriers(page)] == ["label"]
