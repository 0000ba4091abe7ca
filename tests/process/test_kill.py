"""kill -9 of the server in each phase, of the scanner with reports waiting, and a polite end.

Real processes: gunicorn, the scanner with the simulated camera, SQLite. After each restart the
round goes on from what its log says, and pays what its cards say.
"""

import json
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from studio.demo.client import DoorError, Watcher
from tests.process.playhouse import (
    GAIN_MINOR,
    P1_STAKE_MINOR,
    PAIR_STAKE_MINOR,
    TABLE,
    Playhouse,
    make_playhouse,
    run_app,
    until,
)

pytestmark = pytest.mark.process

WINDOW_MS = 4_000
HELD_MINOR = 2 * P1_STAKE_MINOR + PAIR_STAKE_MINOR
"""Stake and deposit of the main wager, stake of the pair wager."""
END_S = 6.0
"""Longest polite end of a server."""


@pytest.fixture(scope="module")
def house() -> Iterator[Playhouse]:
    """A studio whose shoe is open and whose table waits for a round."""
    folder = Path(tempfile.mkdtemp(prefix="studio-kill-"))
    made = make_playhouse(folder, window_ms=WINDOW_MS)
    try:
        made.open_shoe()
        yield made
    finally:
        made.close()
        shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def _logs_of_a_failure(house: Playhouse) -> Iterator[None]:
    """Print what the processes said; pytest shows it when the test failed."""
    before = {name: len(house.log(name)) for name in ("server", "scanner")}
    yield
    for name, start in before.items():
        print(name, house.log(name)[start:][-4_000:], sep="\n")  # noqa: T201


@pytest.fixture
def purse(house: Playhouse) -> int:
    """What the player owns before the round."""
    balance_minor, held_minor = house.money()
    assert held_minor == 0
    return balance_minor


def power_cut(house: Playhouse) -> None:
    house.kill("server")
    with pytest.raises(requests.ConnectionError):
        house.snapshot()
    house.start_server()


def need_paid(house: Playhouse, purse: int) -> None:
    """The player has what the cards say, nothing is held, and everything stored agrees."""
    assert house.money() == (purse + GAIN_MINOR, 0)
    assert house.faults() == []


def without_links(snapshot):
    view = {key: value for key, value in snapshot["view"].items() if key != "links"}
    return snapshot["epoch"], snapshot["seq"], view


def test_killed_between_rounds_the_table_is_as_it_was(house, purse):
    before = house.snapshot()
    power_cut(house)
    assert without_links(house.snapshot()) == without_links(before)
    round_id, cards = house.start_round()
    house.bet(round_id)
    assert house.finish(cards)["id"] == round_id
    need_paid(house, purse)


def test_killed_before_the_first_card_the_bets_stand_and_the_window_is_no_longer(house, purse):
    round_id, cards = house.start_round()
    house.bet(round_id)
    before = house.view
    assert before["phase"] == "betting"
    power_cut(house)
    assert house.money() == (purse - HELD_MINOR, HELD_MINOR)
    assert house.view["round"]["window_closes_ms"] == before["round"]["window_closes_ms"]
    house.wait_for(lambda view: view["phase"] == "no_more_bets", "the close at its old deadline")
    with pytest.raises(DoorError) as late:
        house.bet(round_id)
    assert late.value.status == 409
    assert house.finish(cards)["wagers"]["count"] == 2
    need_paid(house, purse)


def test_killed_in_mid_deal_with_reports_on_the_disk_every_card_counts_once(house, purse):
    round_id, cards = house.start_round()
    house.bet(round_id)
    for digits in cards[:5]:
        house.draw(digits)
    before = house.view["round"]
    house.kill("server")
    # The dealer goes on without a server: the scanner keeps what it reads.
    for waiting, digits in enumerate(cards[5:8], start=1):
        house.lay(digits)
        until(lambda waiting=waiting: house.queued() == waiting, f"report {waiting} on the disk")
    house.kill("scanner")
    assert house.queued() == 3
    house.start_server()
    assert house.view["round"]["commitments"] == before["commitments"]
    house.start_scanner()
    until(lambda: house.cards_drawn() == 8, "the three reports")
    until(lambda: house.queued() == 0, "an empty queue")
    # The last card still lies there: the same serial again is the same card again.
    house.lay(cards[7])
    house.draw(cards[8])
    assert house.view["fault"] is None
    opened = house.finish(cards[9:])
    # Nothing doubled, nothing left out, and in the order dealt.
    drawn = [f"{card['serial']:04d}" for card in house.sealed()][-13:]
    assert drawn == [digits[6:10] for digits in cards]
    assert len(opened["commitments"]) == 13
    need_paid(house, purse)


def test_killed_after_the_close_the_last_card_is_still_asked_for(house, purse):
    round_id, cards = house.start_round()
    house.bet(round_id)
    for digits in cards[:-1]:
        house.draw(digits)
    view = house.wait_for(lambda view: view["phase"] == "no_more_bets", "the close")
    assert view["instruction"]["code"] == "deal"
    power_cut(house)
    after = house.view
    assert (after["phase"], after["round"]["wagers"]) == ("no_more_bets", view["round"]["wagers"])
    house.finish(cards[-1:])
    need_paid(house, purse)


def test_killed_half_way_through_the_reveal_what_was_open_stays_open(house, purse):
    round_id, cards = house.start_round()
    house.bet(round_id)
    for digits in cards:
        house.draw(digits)
    house.wait_for(lambda view: view["phase"] == "reveal", "the close")
    for _ in range(3):
        house.dealer.command(TABLE, "reveal")
    before = house.snapshot()
    assert len(before["view"]["round"]["reveals"]) == 6
    power_cut(house)
    assert without_links(house.snapshot()) == without_links(before)
    house.finish((), reveals=3)
    need_paid(house, purse)


@pytest.mark.parametrize("delay_s", [0.0, 0.015])
def test_killed_while_it_settles_the_round_is_paid_once(house, purse, delay_s):
    round_id, cards = house.start_round()
    house.bet(round_id)
    for digits in cards:
        house.draw(digits)
    house.wait_for(lambda view: view["phase"] == "reveal", "the close")
    for _ in range(5):
        house.dealer.command(TABLE, "reveal")
    last = threading.Thread(target=reveal_unanswered, args=(house,))
    last.start()
    time.sleep(delay_s)
    house.kill("server")
    last.join()
    house.start_server()
    if house.view["instruction"]["code"] == "reveal":
        house.dealer.command(TABLE, "reveal")
    house.finish((), reveals=0)
    need_paid(house, purse)


def reveal_unanswered(house: Playhouse) -> None:
    try:
        house.dealer.command(TABLE, "reveal")
    except requests.RequestException:
        return  # the server was killed before it answered


def test_a_killed_worker_comes_back_by_itself(house, purse):
    round_id, cards = house.start_round()
    house.bet(round_id)
    master = house.processes.started["server"].pid
    children = Path(f"/proc/{master}/task/{master}/children")
    (worker,) = children.read_text().split()
    os.kill(int(worker), signal.SIGKILL)
    until(lambda: house.money() == (purse - HELD_MINOR, HELD_MINOR), "a new worker")
    assert children.read_text().split() not in ([], [worker])
    house.finish(cards)
    need_paid(house, purse)


def test_without_a_first_card_and_a_scanner_the_round_is_cancelled_and_refunded(house, purse):
    round_id = house.open_round()
    house.bet(round_id)
    house.kill("server")
    house.kill("scanner")
    house.start_server()
    assert house.money() == (purse - HELD_MINOR, HELD_MINOR)
    view = house.wait_for(lambda view: view["phase"] == "void", "the cancelled round")
    assert view["round"]["id"] == round_id
    assert view["round"]["void"]["reason"] == "link_lost_before_start"
    assert house.money() == (purse, 0)
    assert house.faults() == []
    house.start_scanner()
    house.wait_for(lambda view: view["links"]["scanner"] == "up", "the scanner's link")


def test_asked_to_end_the_server_ends_within_seconds_and_the_log_is_clean(house):
    watcher = Watcher(house.player, TABLE)  # an open socket does not hold it up
    assert watcher.wait(bool, timeout_s=10)
    server = house.processes.started.pop("server")
    asked_s = time.monotonic()
    server.send_signal(signal.SIGTERM)
    assert server.wait(timeout=30) == 0
    assert time.monotonic() - asked_s < END_S
    watcher.close()
    for name in ("server", "scanner"):
        assert "Traceback" not in house.log(name)
    ended = run_app("audit", "--json", "--database-url", house.database_url)
    assert (ended.returncode, json.loads(ended.stdout)["count"]) == (0, 0)
    house.start_server()
    assert house.view["stage"] == "in_play"
