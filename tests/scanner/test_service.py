"""The scanner as a process of its own: drawn camera, real decoders, real sockets."""

import base64
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import cv2
import numpy as np
import pytest
import structlog

from scanner.camera import Frame, RecordedSource
from scanner.child import LOST_FRAME
from scanner.codebook import Codebook
from scanner.drawing import LOOKS, card_face, draw_frame, random_pose
from scanner.service import STATUS_EVERY_MS, Scanner
from scanner.sighting import Decoder, Reading, Sighting
from tests.scanner.conftest import alive, config_text, wait_until

WAIT_S = 20.0


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
        ({"op": "place", "code": foreign}, "card_seen", "other_deck_set"),
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


def descendants(pid):
    found = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        found += [int(child), *descendants(child)]
    return found


def newest_scan(office):
    scans = [beat["scan"] for beat in office.beats if beat["link"] == "scanner"]
    return scans[-1] if scans else None


@pytest.mark.process
def test_kill_9_of_the_decoding_child_costs_no_card_and_of_the_scanner_leaves_nobody(
    office, start_simulated, digits
):
    scanner, camera = start_simulated()
    for count, number in enumerate((1, 2, 3), start=1):
        *_, child = sorted(descendants(scanner.process.pid))
        os.kill(child, signal.SIGKILL)
        camera.send(op="place", code=digits(number))
        office.wait(lambda count=count: len(office.taken) >= count)
    office.wait(lambda: (newest_scan(office) or {}).get("read") == 3)
    scan = newest_scan(office)
    assert 1 <= scan["restarts"] <= 3
    assert scan["faults"] >= scan["restarts"]
    assert seen(office) == [("card_seen", digits(number), None) for number in (1, 2, 3)]
    family = descendants(scanner.process.pid)
    assert family
    scanner.process.kill()
    scanner.process.wait(WAIT_S)
    wait_until(lambda: not any(map(alive, family)))


@pytest.mark.process
def test_without_a_child_it_reads_in_its_own_process(office, start, short_dir, steer, digits):
    scanner = start(read="child = false")
    scanner.wait_logged("scanner_ready")
    steer(short_dir / "cam.sock").send(op="place", code=digits(4))
    office.wait(lambda: office.taken)
    assert descendants(scanner.process.pid) == []
    assert scanner.end() == 0


@pytest.mark.process
def test_the_picture_of_a_failed_read_follows_its_report(
    office, start_simulated, short_dir, digits
):
    office.wants_pictures = True
    scanner, camera = start_simulated()
    camera.send(op="place", code=digits(5), trouble="unreadable")
    office.wait(lambda: office.pictures)
    (picture,) = office.pictures
    assert picture["report"] == office.taken[0]["id"]
    assert picture["reason"] == office.taken[0]["reason"] == "unreadable"
    frame, card = (
        cv2.imdecode(np.frombuffer(base64.b64decode(picture[name]), np.uint8), cv2.IMREAD_COLOR)
        for name in ("frame", "card")
    )
    assert frame.shape == (540, 960, 3)
    assert card.shape[0] > card.shape[1]
    assert card.mean() > frame.mean(), "white paper on dark felt"
    assert scanner.end() == 0
    assert picture["frame"][:40] not in scanner.log
    assert list((short_dir / "queue.sqlite-pictures").iterdir()) == []


@pytest.mark.process
def test_a_damaged_queue_is_one_line_that_says_what_to_do(office, short_dir, key):
    (short_dir / "scanner.toml").write_text(config_text(office, short_dir))
    (short_dir / "queue.sqlite").write_bytes(b"\xa5" * 20_000)
    ended = run(["-m", "scanner", "--config", str(short_dir / "scanner.toml")], key)
    assert ended.returncode == 1
    assert "uplink.queue" in ended.stderr
    assert "move the file away" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


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
        self.room = True
        self.trouble = None
        self.reports = []
        self.refreshed = 0

    def has_room(self):
        return self.room

    def report(self, report, *, captured_ms, on_kept=None):
        self.reports.append(report)
        if on_kept is not None:
            on_kept(len(self.reports))
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
    uplink.room = False
    scanner.step(frame_at(0))
    assert (uplink.reports, scanner.counts["held_frames"]) == ([], 1)
    uplink.room = True
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


class ScriptedReader:
    """Shows one sighting after the other."""

    def __init__(self, *sightings):
        self._sightings = iter(sightings)

    def look(self, image, effort):
        return next(self._sightings)


class FakePictures:
    """Keeps pictures by the numbers of their reports."""

    dropped = 0
    trouble = None

    def __init__(self):
        self.kept = []

    def keep(self, picture, number):
        self.kept.append(picture)


def lying(*, at=0.0, text=None, sharpness=0.0):
    corners = tuple((at + x, y) for x, y in ((0.0, 0.0), (63.0, 0.0), (63.0, 88.0), (0.0, 88.0)))
    readings = ()
    if text is not None:
        readings = tuple(Reading(text=text, decoder=decoder, copy=0) for decoder in Decoder)
    return Sighting(
        cards_in_view=1,
        occupied=True,
        outlines=(corners,),
        readings=readings,
        still=True,
        code_in_view=True,
        sharpness=sharpness,
    )


def test_a_lost_frame_says_nothing_of_the_table(digits):
    """A decoder that dies for seconds neither ends a card's presence nor begins another."""
    uplink = FakeUplink()
    text = digits(1)
    reader = ScriptedReader(lying(text=text), *[LOST_FRAME] * 60, lying(text=text))
    scanner = scanner_of(reader, uplink)
    for index in range(62):
        scanner.step(frame_at(33 * index))
    assert [report.code for report in uplink.reports] == [text]
    assert scanner.health().scan["faults"] == 60


def test_the_picture_of_a_card_taken_away_shows_that_card(digits):
    uplink, pictures = FakeUplink(), FakePictures()
    sharpness = [1, 5, 2, 2, 2, 2, 9]
    sightings = [lying(sharpness=value) for value in sharpness[:-1]]
    reader = ScriptedReader(*sightings, lying(at=400.0, sharpness=9))
    scanner = Scanner(
        RecordedSource(iter(()), now_ms=lambda: 0), reader=reader, uplink=uplink, pictures=pictures
    )
    frames = [frame_at(33 * index) for index in range(len(sharpness))]
    for frame in frames:
        scanner.step(frame)
    assert [report.reason for report in uplink.reports] == ["taken_away"]
    (picture,) = pictures.kept
    assert (picture.image is frames[1].image, picture.reason) == (True, "taken_away")


def test_a_recording_waits_for_room_and_no_frame_is_left_out(digits):
    uplink = FakeUplink()
    uplink.room = False
    images = [("a", np.zeros((20, 20), np.uint8)), ("b", np.zeros((20, 20), np.uint8))]
    source = RecordedSource(iter(images), now_ms=iter(range(0, 1_000, 33)).__next__)
    scanner = Scanner(source, reader=FakeReader(digits(1)), uplink=uplink)
    asked = []

    def has_room():
        asked.append(uplink.room)
        uplink.room = len(asked) > 2
        return uplink.room

    uplink.has_room = has_room
    scanner.run(threading.Event())
    assert (scanner.counts["frames"], scanner.counts["held_frames"]) == (2, 0)


def test_the_log_says_in_plain_words_what_is_wrong_and_what_was(digits):
    uplink = FakeUplink()
    scanner = scanner_of(FakeReader(digits(1)), uplink)
    scanner.step(frame_at(0))
    with structlog.testing.capture_logs() as lines:
        for trouble in ("The disk is full.", None):
            uplink.trouble = trouble
            scanner._status_ms -= STATUS_EVERY_MS
            scanner._log_status()
    wrong, well = lines
    assert (wrong["event"], wrong["camera"], wrong["frames"]) == ("status", "open", 1)
    assert wrong["trouble"] == well["last_trouble"] == "The disk is full."
    assert "trouble" not in well
    assert digits(1) not in json.dumps(lines)
