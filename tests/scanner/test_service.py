"""The scanner as a process of its own: drawn camera, real decoders, real sockets."""

import signal
import subprocess
import sys
import threading
from pathlib import Path

import cv2
import numpy as np
import pytest

from scanner.camera import Frame, RecordedSource
from scanner.codebook import Codebook
from scanner.drawing import LOOKS, card_face, draw_frame, random_pose
from scanner.service import Scanner
from scanner.sighting import Decoder, Reading, Sighting

WAIT_S = 20.0


def config_text(office, folder, *, camera=""):
    camera = camera or (
        f'kind = "simulated"\nsocket = "{folder}/cam.sock"\nwidth = 960\nheight = 540\nseed = 3'
    )
    return f"""
[camera]
{camera}
[uplink]
url = "{office.url}"
table = "T1"
device = "scanner-1"
queue = "{folder}/queue.sqlite"
"""


class Started:
    """A running scanner whose log lines can be waited for."""

    def __init__(self, context):
        self._context = context
        self.process = context.__enter__()
        self._lines = []
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def log(self):
        with self._changed:
            return "".join(self._lines)

    def _read(self):
        for line in self.process.stderr:
            with self._changed:
                self._lines.append(line)
                self._changed.notify_all()

    def wait_logged(self, word, count=1):
        with self._changed:
            came = self._changed.wait_for(
                lambda: sum(word in line for line in self._lines) >= count, WAIT_S
            )
        assert came, f"{word} was not logged: {self.log}"

    def end(self):
        self.process.terminate()
        code = self.process.wait(WAIT_S)
        self._reader.join(WAIT_S)
        return code

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self._reader.join(WAIT_S)
        self._context.__exit__(None, None, None)


@pytest.fixture
def start(office, short_dir, key, run_python):
    """Start scanner processes; every one is ended."""
    config = short_dir / "scanner.toml"
    started = []

    def make(**more):
        config.write_text(config_text(office, short_dir, **more))
        environment = {"STUDIO_DEVICE_KEY": key, "PYTHONWARNINGS": "error"}
        started.append(
            Started(run_python("-m", "scanner", "--config", str(config), environment=environment))
        )
        return started[-1]

    yield make
    for scanner in started:
        scanner.close()


@pytest.fixture
def start_simulated(office, start, short_dir, steer):
    """Start a scanner with the drawn camera; return it and the camera's steering."""

    def make():
        scanner = start()
        scanner.wait_logged("scanner_ready")
        office.wait(lambda: office.shoes_given > 0)
        return scanner, steer(short_dir / "cam.sock")

    return make


def seen(office):
    return [(report["kind"], report["code"], report["reason"]) for report in office.taken]


@pytest.mark.process
def test_every_placed_card_is_reported_once(office, start_simulated, digits):
    scanner, camera = start_simulated()
    for count, number in enumerate((10, 23, 1, 52, 10), start=1):
        assert camera.send(op="place", code=digits(number))["ok"]
        office.wait(lambda count=count: len(office.taken) >= count)
    camera.send(op="clear")
    assert scanner.end() == 0
    assert seen(office) == [("card_seen", digits(n), None) for n in (10, 23, 1, 52, 10)]
    assert all(set(report["decoders"]) <= {"zxing", "zbar"} for report in office.taken)
    assert "scanner_ended" in scanner.log
    assert not any(digits(number) in scanner.log for number in (10, 23, 1, 52))


@pytest.mark.process
def test_an_unreadable_card_is_a_failed_read_and_reads_when_placed_again(
    office, start_simulated, digits
):
    _, camera = start_simulated()
    camera.send(op="place", code=digits(5), trouble="unreadable")
    office.wait(lambda: len(office.taken) >= 1)
    camera.send(op="place", code=digits(5))
    office.wait(lambda: len(office.taken) >= 2)
    assert seen(office) == [("read_failed", None, "unreadable"), ("card_seen", digits(5), None)]


@pytest.mark.process
def test_every_reason_reaches_the_back_office(office, start_simulated, digits):
    _, camera = start_simulated()
    foreign = digits(5, deck_set=8)
    orders = [
        ({"op": "place", "code": digits(5), "trouble": "face_down"}, "read_failed", "no_code"),
        ({"op": "cut_card"}, "read_failed", "no_code"),
        ({"op": "place", "code": digits(5), "trouble": "two_cards"}, "read_failed", "two_cards"),
        (
            {"op": "place", "code": digits(5), "trouble": "foreign_symbology"},
            "read_failed",
            "foreign_symbology",
        ),
        ({"op": "place", "code": foreign}, "card_seen", "not_in_shoe"),
    ]
    for count, (order, _, _) in enumerate(orders, start=1):
        assert camera.send(**order)["ok"]
        office.wait(lambda count=count: len(office.taken) >= count)
    assert [(kind, reason) for kind, _, reason in seen(office)] == [
        (kind, reason) for _, kind, reason in orders
    ]
    assert office.taken[-1]["code"] == foreign


@pytest.mark.process
def test_cards_read_offline_and_before_kill_9_arrive_in_order_once(
    office, start, start_simulated, digits
):
    scanner, camera = start_simulated()
    office.stop()
    numbers = (1, 2, 3)
    for count, number in enumerate(numbers, start=1):
        camera.send(op="place", code=digits(number))
        scanner.wait_logged("report_kept", count)
    scanner.process.send_signal(signal.SIGKILL)
    scanner.process.wait(WAIT_S)
    assert office.taken == []
    office.start()
    start()
    office.wait(lambda: len(office.taken) >= len(numbers))
    assert seen(office) == [("card_seen", digits(number), None) for number in numbers]


@pytest.mark.process
def test_a_recorded_folder_is_read_to_its_end(office, start, short_dir, digits):
    folder = short_dir / "frames"
    folder.mkdir()
    rng = np.random.default_rng(9)
    pose = random_pose(rng, width=960, height=540, tilt_deg=4)
    frame = draw_frame(card_face(digits(8)), pose=pose, look=LOOKS[0], rng=rng, size=(960, 540))
    for index in range(3):
        cv2.imwrite(str(folder / f"{index}.png"), frame)
    scanner = start(camera=f'kind = "folder"\npath = "{folder}"')
    assert scanner.process.wait(WAIT_S) == 0
    assert seen(office) == [("card_seen", digits(8), None)]


@pytest.mark.process
def test_a_missing_libzbar_is_one_line_that_names_the_package(office, short_dir, key):
    (short_dir / "scanner.toml").write_text(config_text(office, short_dir))
    without = (
        "import runpy, sys; sys.modules['pyzbar.pyzbar'] = None;"
        f"sys.argv = ['scanner', '--config', {str(short_dir / 'scanner.toml')!r}];"
        "runpy.run_module('scanner', run_name='__main__')"
    )
    ended = run(["-c", without], key)
    assert ended.returncode == 1
    assert "apt-get install libzbar0" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.process
@pytest.mark.parametrize(
    ("change", "key", "expected"),
    [
        (("[uplink]", "[uplnik]"), "k", "uplnik"),
        (("", ""), "", "STUDIO_DEVICE_KEY"),
        (('kind = "simulated"', 'kind = "folder"\npath = "/nowhere"\n#'), "k", "camera"),
    ],
)
def test_a_fault_in_the_settings_is_one_line_on_stderr(office, short_dir, change, key, expected):
    text = config_text(office, short_dir).replace(*change, 1)
    (short_dir / "scanner.toml").write_text(text)
    ended = run(["-m", "scanner", "--config", str(short_dir / "scanner.toml")], key)
    assert ended.returncode == 1
    assert expected in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def run(arguments, key):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=Path(__file__).parents[2],
        env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "STUDIO_DEVICE_KEY": key},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


class FakeReader:
    """Sees the same card on every frame."""

    def __init__(self, text):
        self._text = text

    def look(self, image, effort):
        readings = tuple(Reading(text=self._text, decoder=decoder, copy=0) for decoder in Decoder)
        return Sighting(cards_in_view=1, readings=readings, still=True, explained=True)


class FakeUplink:
    """Keeps reports in a list."""

    def __init__(self):
        self.codebook = Codebook()
        self.full = False
        self.reports = []
        self.refreshed = 0

    def report(self, report, *, captured_ms):
        self.reports.append(report)
        return "scanner-1-1"

    def refresh_soon(self):
        self.refreshed += 1


def frame_at(taken_ms):
    return Frame(image=np.zeros((20, 20), np.uint8), number=1, taken_ms=taken_ms, name="test")


def scanner_of(reader, uplink):
    return Scanner(RecordedSource(iter(()), now_ms=lambda: 0), reader=reader, uplink=uplink)


def test_nothing_is_read_while_the_queue_is_full_and_nothing_is_lost(digits):
    uplink = FakeUplink()
    scanner = scanner_of(FakeReader(digits(1)), uplink)
    uplink.full = True
    scanner.step(frame_at(0))
    assert (uplink.reports, scanner.counts["held_frames"]) == ([], 1)
    uplink.full = False
    scanner.step(frame_at(33))
    assert [report.code for report in uplink.reports] == [digits(1)]


def test_a_code_outside_the_manifest_asks_for_it_once(digits):
    uplink = FakeUplink()
    uplink.codebook = Codebook(deck_set=9)
    scanner = scanner_of(FakeReader(digits(1)), uplink)
    for taken_ms in range(0, 300, 33):
        scanner.step(frame_at(taken_ms))
    assert (uplink.refreshed, uplink.reports) == (1, [])


def test_the_frame_rate_is_told(digits):
    scanner = scanner_of(FakeReader(digits(1)), FakeUplink())
    for taken_ms in range(0, 1_000, 50):
        scanner.step(frame_at(taken_ms))
    assert scanner.health().frames_per_s == pytest.approx(20)
