"""Scanner and studio with a bad cable between them: every card counts once, in the order dealt.

Real processes, a proxy that cuts, deafens, delays and loses answers, and kill -9 of both ends and
of the decoding child at moments that a seed chooses.
"""

import contextlib
import os
import shutil
import signal
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from studio.demo.processes import free_port
from tests.process.cable import Cable
from tests.process.playhouse import DEVICE_KEY, Playhouse, make_playhouse, until

pytestmark = pytest.mark.process

HOUR_MS = 3_600_000
WINDOW_MS = 3_000
UNDISTURBED = 2
"""Cards at the start of a round: one that has not begun is rightly cancelled without a scanner."""
TROUBLES = (
    *("kill_server", "kill_server", "kill_scanner_before", "kill_scanner_amid"),
    *("kill_scanner_after", "kill_child", "cut", "deafen", "lose_answers", "delay"),
)
CLOCK = """
import runpy, sys
import scanner.clock as clock
right = clock.wall_ms
clock.wall_ms = lambda: right() + ({off_ms})
sys.argv = ["scanner", "--config", {config!r}]
runpy.run_module("scanner", run_name="__main__")
"""


class Table:
    """One table, its cable, and whoever disturbs it."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        self.cable = Cable(port)
        self.house = make_playhouse(
            folder, window_ms=WINDOW_MS, port=port, scanner_port=self.cable.port
        )
        self.off_ms = 0
        self.laid: str | None = None

    def close(self) -> None:
        self.cable.close()
        self.house.close()

    # The scanner -------------------------------------------------------------------------------

    def last_number(self) -> int:
        """Return the number of the newest report that the scanner has kept."""
        file = self.house.folder / "reports.db"
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as queue:
            return int(queue.execute("SELECT seq FROM sqlite_sequence").fetchone()[0])

    def lay(self, digits: str) -> None:
        """Lay a card and wait until the scanner has kept a report of it."""
        before = self.last_number()
        self.house.lay(digits)
        self.laid = digits
        until(lambda: self.last_number() > before, "a report of the card on the disk")

    def kill_scanner(self) -> None:
        """Kill -9 the scanner alone: its children have to notice by themselves."""
        process = self.house.processes.started.pop("scanner")
        process.kill()
        process.wait()

    def start_scanner(self) -> None:
        """Start it again; what lay under its camera lies there still."""
        socket = self.house.folder / "camera.sock"
        socket.unlink(missing_ok=True)
        config = str(self.house.folder / "scanner.toml")
        arguments = ["-m", "scanner", "--config", config]
        if self.off_ms:
            arguments = ["-c", CLOCK.format(off_ms=self.off_ms, config=config)]
        self.house.processes.start("scanner", arguments, {"STUDIO_DEVICE_KEY": DEVICE_KEY})
        until(socket.exists, "the simulated camera")
        if self.laid is not None:
            self.lay(self.laid)

    def kill_decoding_child(self) -> None:
        scanner = self.house.processes.started["scanner"].pid
        (child,) = {pid for parent in children(scanner) for pid in children(parent)}
        os.kill(child, signal.SIGKILL)

    # Troubles ----------------------------------------------------------------------------------

    def lay_with(self, trouble: str, digits: str) -> None:
        """Lay a card while something goes wrong."""
        if trouble == "kill_scanner_amid":
            self.house.lay(digits)
            self.laid = digits
        elif trouble == "kill_scanner_after":
            self.lay(digits)
        if trouble.startswith("kill_scanner"):
            self.kill_scanner()
            self.start_scanner()
        else:
            self.disturb(trouble)
        if self.laid != digits:
            self.lay(digits)

    def disturb(self, trouble: str) -> None:
        match trouble:
            case "kill_server":
                if "server" in self.house.processes.started:
                    self.house.kill("server")
            case "kill_child":
                self.kill_decoding_child()
            case "cut":
                self.cable.cut()
            case "deafen":
                self.cable.deafen()
            case "delay":
                self.cable.delay(0.2)
            case "lose_answers":
                self.cable.lose_answers(2)

    def mend(self) -> None:
        self.cable.mend()
        if "server" not in self.house.processes.started:
            self.house.start_server()


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.fixture(scope="module")
def table() -> Iterator[Table]:
    folder = Path(tempfile.mkdtemp(prefix="studio-link-"))
    made = Table(folder)
    try:
        made.house.open_shoe()
        yield made
    finally:
        made.close()
        shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def _logs_of_a_failure(table: Table) -> Iterator[None]:
    before = {name: len(table.house.log(name)) for name in ("server", "scanner")}
    yield
    for name, start in before.items():
        print(name, table.house.log(name)[start:][-6_000:], sep="\n")  # noqa: T201


def serials(house: Playhouse, count: int) -> list[str]:
    return [f"{card['serial']:04d}" for card in house.sealed()][-count:]


@pytest.mark.parametrize(
    ("seed", "off_ms"),
    [(2, HOUR_MS), (3, -HOUR_MS)],
    ids=["an hour ahead", "an hour behind"],
)
def test_whatever_is_killed_or_cut_every_card_counts_once_and_in_order(table, seed, off_ms):
    house = table.house
    rng = np.random.default_rng(seed)
    if table.off_ms != off_ms:
        table.off_ms, table.laid = off_ms, None
        table.kill_scanner()
        table.start_scanner()
    house.wait_for(lambda view: view["links"]["scanner"] == "up", "the scanner's link")
    _, cards = house.start_round()
    for digits in cards[:UNDISTURBED]:
        house.draw(digits)
    table.laid = cards[UNDISTURBED - 1]
    rest = cards[UNDISTURBED:-1]
    for digits, trouble in zip(rest, rng.permutation(TROUBLES), strict=True):
        print(trouble)  # noqa: T201  told when the test fails
        table.lay_with(str(trouble), digits)
        if rng.random() < 0.5:
            table.mend()
    table.mend()
    until(lambda: house.queued() == 0, "an empty queue")
    until(lambda: house.cards_drawn() == len(cards) - 1, "every card but the last")
    opened = house.finish(cards[-1:])
    assert serials(house, len(cards)) == [digits[6:10] for digits in cards]
    assert len(opened["commitments"]) == len(cards)
    assert house.faults() == []
    log = house.log("scanner")
    assert "report_refused" not in log
    assert "report_lost" not in log
    assert "Traceback" not in log


def test_lost_answers_are_asked_for_again_and_count_once(table):
    house = table.house
    _, cards = house.start_round()
    house.draw(cards[0])
    table.cable.lose_answers(3)
    house.lay(cards[1])
    table.cable.wait_lost(3)
    until(lambda: house.queued() == 0, "the answer at last")
    assert house.cards_drawn() == 2
    table.laid = None
    house.finish(cards[2:])
    assert serials(house, len(cards)) == [digits[6:10] for digits in cards]


def test_kill_9_of_the_decoding_child_in_mid_deal_costs_no_card(table):
    house = table.house
    _, cards = house.start_round()
    for digits in cards[:4]:
        table.kill_decoding_child()
        house.draw(digits)
    house.finish(cards[4:])
    assert serials(house, len(cards)) == [digits[6:10] for digits in cards]
    assert "reader_died" in house.log("scanner")


def test_the_picture_of_a_failed_read_reaches_the_pit_by_a_bad_cable(table):
    house = table.house
    pit = house.people["pit"]
    before = pit.get("/api/tables/T1/pictures")["pictures"]
    _, cards = house.start_round()
    house.draw(cards[0])
    house.draw(cards[1])
    table.cable.cut()
    house.lay(cards[2], trouble="unreadable")
    until(lambda: house.queued() == 1, "the failed read on the disk")
    table.cable.mend()

    def arrived():
        return len(pit.get("/api/tables/T1/pictures")["pictures"]) == len(before) + 1

    until(arrived, "the picture")
    newest = pit.get("/api/tables/T1/pictures")["pictures"][0]
    opened = pit.post(f"/api/pictures/{newest['id']}/open", {"reason": "which card lay there?"})
    assert opened["why"] == "unreadable"
    assert opened["card"].startswith("/9j/"), "a JPEG in base64"
    waiting = house.folder / "reports.db-pictures"
    until(lambda: list(waiting.iterdir()) == [], "no picture left at the table")
    house.draw(cards[2])
    house.finish(cards[3:])
    assert serials(house, len(cards)) == [digits[6:10] for digits in cards]
