"""A round from the login to the payout, in three browsers, with real frames under the camera."""

import re
from collections.abc import Iterable

import pytest
from flask import Flask
from playwright.sync_api import expect

from studio.domain.cards import PrintedCode
from studio.games import GAMES, by_code
from studio.services.audit import audit
from studio.services.ports import EndingKind
from studio.services.replay import GameReplay
from tests.browser.dealing import BURN, HANDS, SECRET_BURN, SECRET_HANDS, Table
from tests.browser.house import PURSE_MINOR, House, until
from tests.browser.windows import Window, Windows

pytestmark = pytest.mark.browser

FIRST_CARD, BURNT = "2H", ("8D", "TD")
CUT_DEPTH = 75
BADLY_LAID = SECRET_HANDS.index("8C")
MAIN_MINOR, PAIR_MINOR = 500, 100
HOLD_MINOR = 2 * MAIN_MINOR + PAIR_MINOR
PAYOUTS_MINOR = {"p1": 2 * MAIN_MINOR + 2 * MAIN_MINOR, "p1_pair": 12 * PAIR_MINOR}
"""7.4 against 7 wins 2:1: stake, deposit and twice the stake; the pair pays 11:1."""
FACES = re.compile(
    r"(?<![\w.-])(" + "|".join(sorted({SECRET_BURN, *SECRET_HANDS})) + r")(?![\w.-])"
)
NOT_NOW = re.compile(r"(/api)?/(rooms|club)\b|/api/rounds/.*/bundle")
"""Doors that a studio of money keeps shut, and one that opens when the round has ended."""
SPOKEN = re.compile(r"of (?:spades|hearts|diamonds|clubs)")


def yen(minor: int) -> str:
    return f"¥{minor:,}"


def test_a_round_is_bet_dealt_opened_and_paid_to_the_last_yen(
    app: Flask, house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T1"]
    player = house.new_player()
    station = windows.new()
    open_the_shoe(station, table)
    play = windows.new().log_in(player)
    play("tables").get_by_role("link").filter(has_text="Pok Deng 1").click()
    play.live()
    pit = windows.new().log_in("pit").live()
    for window in (station, play, pit):
        window.forget()

    station.primary()
    expect(play("phase")).to_have_text("Betting open")
    round_id = str(table.view()["round"]["id"])
    bet_on_player_1(play)
    cards = deal_with_one_bad_read(station, table)
    expect(station("instruction")).to_have_text(re.compile("Wait for the close|Open P1"))
    expect(play("spot-p1")).to_be_disabled()
    expect(station("instruction")).to_have_text("Open P1")

    pages = windows.of("auditor", f"/pit/rounds/{round_id}")
    expect(pages("round-cards").get_by_role("row")).to_have_count(len(cards) + 1)
    secrets = secrets_of(house, "T1", cards)
    said = "\n".join([*(one.heard() for one in (station, play, pit, pages)), house.logs()])
    said += everything_that_is_answered(
        house, player, every_address(app, round_id, house.player_id(player))
    )
    assert not leaks(said, secrets)
    for window in (station, play, pit, pages):
        assert not SPOKEN.search(window.page.locator("#main").inner_html())

    open_hand_by_hand(station, play)
    opened = {one for one in secrets if len(one) != len(cards[0].digits)}
    assert set(leaks(play.heard(), secrets)) == opened, "the search finds what is open"
    see_the_result(play, house, player, round_id)
    expect(play("verify")).to_have_text("Cards match 13/13")
    expect(play("road").locator(".road-grid .mark-win")).to_have_count(4)
    expect(play("road").locator(".road-grid .mark-lose")).to_have_count(1)
    expect(play("road").locator(".road-row").first.locator(".mark-dot")).to_be_visible()

    play.open("/history")
    mine = play(f"history-{round_id}")
    expect(mine).to_contain_text(f"+{yen(sum(PAYOUTS_MINOR.values()) - HOLD_MINOR)}")
    mine.locator("summary").click()
    expect(mine).to_contain_text(yen(PAYOUTS_MINOR["p1"]))
    expect(mine.locator(".card-chip")).to_have_count(12)
    replay = by_code(GAMES)
    assert audit(house.units, replay=lambda code, seen: GameReplay(code, replay, seen)) == []


def open_the_shoe(station: Window, table: Table) -> None:
    """Log in, take the table, load, shuffle, turn the first card, burn as many as it says."""
    station.log_in("sato").open("/station")
    station("tables").get_by_role("link").filter(has_text="T1").click()
    station.live()
    station("primary").click()
    expect(station("instruction")).to_have_text("Load the shoe")
    expect(station("dealer")).to_have_text("Sato")
    station.primary()
    station.confirm()
    expect(station("instruction")).to_have_text("Shuffle 8 decks, insert cut card")
    station.primary()
    station("field-cut_depth").fill(str(CUT_DEPTH))
    station.confirm()
    expect(station("instruction")).to_have_text("Turn the first card")
    table.lay(FIRST_CARD)
    for number, face in enumerate(BURNT, 1):
        expect(station("instruction")).to_have_text(f"Burn 2: {number} of 2")
        table.lay(face)
    expect(station("instruction")).to_have_text("Start the round")
    expect(station("count-in_shoe")).to_contain_text("413/416")
    expect(station("count-burnt")).to_contain_text("3")


def bet_on_player_1(play: Window) -> None:
    """Bet on player 1 and on player 1 pair; the deposit is said and held."""
    play("chip-500").click()
    play("spot-p1").click()
    expect(play("message")).to_have_text("Accepted P1 Main ¥500; ¥1,000 held (¥500 deposit)")
    expect(play("spot-p1")).to_have_attribute("data-state", "accepted")
    expect(play("spot-p1")).to_contain_text("1,000 held")
    expect(play("balance")).to_have_text(yen(PURSE_MINOR - 2 * MAIN_MINOR))
    play("chip-100").click()
    play("spot-p1_pair").click()
    expect(play("message")).to_have_text("Accepted P1 Pair ¥100")
    expect(play("balance")).to_have_text(yen(PURSE_MINOR - HOLD_MINOR))
    expect(play("held")).to_have_text(yen(HOLD_MINOR))
    expect(play("bet-total")).to_have_text(yen(MAIN_MINOR + PAIR_MINOR))


def deal_with_one_bad_read(station: Window, table: Table) -> list[PrintedCode]:
    """Burn and deal; one card lies badly, is asked for again, and only then counts."""
    camera = table.camera
    assert camera is not None
    expect(station("instruction")).to_have_text("Burn 1 card")
    cards = table.deal((SECRET_BURN, *SECRET_HANDS[:BADLY_LAID]))
    expect(station("instruction")).to_have_text("Deal P3, card 1")
    bad = table.printed(SECRET_HANDS[BADLY_LAID])
    camera.place(bad.digits, trouble="unreadable")
    expect(station("fault")).to_contain_text("Card not read (1×)")
    expect(station("instruction")).to_have_text("Again: P3, card 1")
    expect(station("cell-P3-1")).to_have_attribute("data-state", "fault")
    expect(station("cell-P4-1")).to_have_attribute("data-state", "none")
    camera.clear()
    camera.place(bad.digits)
    expect(station("fault")).to_be_hidden()
    expect(station("cell-P3-1")).to_have_attribute("data-state", "read")
    expect(station("read")).to_contain_text("Read: P3 card 1")
    cards += [bad, *table.deal(SECRET_HANDS[BADLY_LAID + 1 :])]
    expect(station("strip").locator('[data-state="read"]')).to_have_count(12)
    camera.clear()
    return cards


def secrets_of(house: House, table: str, cards: Iterable[PrintedCode]) -> list[str]:
    """Return what nobody may hear before the reveal: faces, printed digits, nonces."""
    with house.units.read() as unit:
        epoch, _, _ = unit.events.position(table)
        sealed = [one.sealed for one in unit.events.read(table, epoch=epoch, after_seq=0)]
    nonces = [str(one["nonce"]) for one in sealed if one][-len(SECRET_HANDS) - 1 :]
    return [*sorted({SECRET_BURN, *SECRET_HANDS}), *nonces, *(card.digits for card in cards)]


def leaks(said: str, secrets: Iterable[str]) -> list[str]:
    """Return which secrets stand in a text; faces only as words of their own."""
    faces = set(FACES.findall(said))
    return [one for one in secrets if one in faces or (len(one) > 2 and one in said)]


def every_address(app: Flask, round_id: str, player_id: int) -> list[str]:
    """Return all that can be asked for with GET, about T1 and its running round."""
    about = {
        "table": "T1",
        "game": "pok_deng",
        "round_id": round_id,
        "code": "ABCDEF",
        "epoch": 1,
        "player_id": player_id,
    }
    asked = ["/api/tables/T1/events?epoch=1&after=0"]
    for rule in app.url_map.iter_rules():
        if "GET" not in (rule.methods or ()) or rule.endpoint == "static":
            continue
        values = {name: about[name] for name in rule.arguments}
        built = rule.build(values, append_unknown=False)
        assert built is not None, rule
        asked.append(built[1])
    return asked


def everything_that_is_answered(house: House, player: str, addresses: list[str]) -> str:
    """Return every answer that any role can get."""
    said = []
    for name in (player, "sato", "pit", "auditor", "admin"):
        for address in addresses:
            answer = house.door(name).http.get(
                house.url + address, timeout=10, allow_redirects=False
            )
            shut = {401, 403, 404, 409} if NOT_NOW.match(address) else {401, 403}
            assert answer.status_code < 400 or answer.status_code in shut, answer.text
            said.append(answer.text)
    return "\n".join(said)


def open_hand_by_hand(station: Window, play: Window) -> None:
    """Open P1 to P5, then the banker: by key and by button; the player sees one after another."""
    positions = ("P1", "P2", "P3", "P4", "P5", "B")
    for number, position in enumerate(positions):
        expect(station("primary")).to_contain_text(
            "Open Banker" if position == "B" else f"Open {position}"
        )
        expect(play(f"hand-{position}")).to_have_attribute("data-open", "false")
        if number % 2:
            station("primary").click()
        else:
            station.primary()
        expect(play(f"hand-{position}")).to_have_attribute("data-open", "true")
        for later in positions[number + 1 :]:
            expect(play(f"hand-{later}")).to_have_attribute("data-open", "false")
    expect(play("worth-P1")).to_have_text("7.4 · special pair")
    expect(play("worth-B")).to_have_text("7 · flush")
    expect(station("phase")).to_have_text("Result sent. Collect cards")


def see_the_result(play: Window, house: House, player: str, round_id: str) -> None:
    """What the page shows is what the ledger holds."""
    expect(play("result-P1")).to_have_text("wins 2:1")
    expect(play("result-P2")).to_have_text("loses 2:1")
    expect(play("result-row-p1")).to_contain_text("stake 500 + deposit 500 + win 1,000")
    expect(play("held")).to_have_text(yen(0))
    player_id = house.player_id(player)
    with house.units.read() as unit:
        balance = unit.ledger.balance(player_id)
        wagers = unit.wagers.of_round(round_id, player_id=player_id)
        assert unit.ledger.sum_minor() == 0
    assert balance.balance_minor == PURSE_MINOR - HOLD_MINOR + sum(PAYOUTS_MINOR.values())
    assert balance.held_minor == 0
    for wager in wagers:
        assert wager.ending is not None
        assert wager.ending.kind is EndingKind.SETTLED
        assert wager.ending.payout_minor == PAYOUTS_MINOR[wager.bet]
        returned = f"Returned {yen(wager.ending.payout_minor)}"
        expect(play(f"result-row-{wager.bet}")).to_contain_text(returned)
    expect(play("balance")).to_have_text(yen(balance.balance_minor))


def test_the_pit_voids_a_later_round_and_stake_and_deposit_are_back(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    table.make_ready()
    player = house.new_player()
    play = windows.of(player, "/play/T2").live()
    pit = windows.of("pit", "/pit").live()
    round_id = table.start_round()
    play("chip-500").click()
    play("spot-p1").click()
    expect(play("spot-p1")).to_have_attribute("data-state", "accepted")
    play("spot-p1_pair").click()
    expect(play("held")).to_have_text(yen(1_500))
    table.deal((BURN, *HANDS[:3]))

    pit("tile-T2").click()
    expect(pit("drawer-wagers").get_by_role("row")).to_have_count(3)
    pit("void").click()
    expect(pit("choice-money")).to_have_text(
        "Returns 2 bets, ¥1,500 (stakes and deposits). Players: 1."
    )
    expect(pit.cancel).to_be_focused()
    pit.confirm()
    expect(pit.dialog).to_be_visible()  # a reason is wanted
    pit("field-reason").fill("a card fell to the floor")
    pit.confirm()
    expect(pit("drawer-message")).to_contain_text("Every stake and deposit is returned")

    expect(play("phase")).to_have_text("Round void. All returned")
    expect(play("message")).to_contain_text("A supervisor has decided so.")
    expect(play("balance")).to_have_text(yen(PURSE_MINOR))
    expect(play("held")).to_have_text(yen(0))
    expect(play("result-row-p1")).to_contain_text("Stake and deposit returned in full")
    with house.units.read() as unit:
        balance = unit.ledger.balance(house.player_id(player))
        endings = [one.ending for one in unit.wagers.of_round(round_id)]
    assert (balance.balance_minor, balance.held_minor) == (PURSE_MINOR, 0)
    assert [one.kind for one in endings if one] == [EndingKind.REFUNDED] * 2

    pit.open("/pit/trail")
    line = pit("trail").get_by_role("row").filter(has_text=round_id)
    expect(line).to_contain_text("Round voided")
    expect(line).to_contain_text("a card fell to the floor")
    expect(line).to_contain_text("Tanaka")
    until(lambda: table.view()["phase"] == "void", what="the table shows the void")
