"""A stream over real sockets: unplugged, frozen, silent, damaged, changed, and back again."""

import subprocess
import sys
import threading
from pathlib import Path

import cv2
import numpy as np
import pytest

from scanner.camera import CaptureGrabber, LiveSource, silence_opencv
from scanner.clock import monotonic_ms
from scanner.drawing import LOOKS, card_face, draw_frame, felt, random_pose
from scanner.health import CameraState

pytestmark = pytest.mark.process

PROJECT = Path(__file__).parents[2]
WAIT_S = 40.0
FROZEN_MS = 700
"""Short, so that the tests are: the default is 2 s."""


class Stream:
    """The camera's process; a new one after kill() is the same camera plugged in again."""

    def __init__(self):
        self.port = 0
        self.process = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/stream.mjpg"

    def start(self, *order):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.scanner.mjpeg", str(self.port)],
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        word, port = self.process.stdout.readline().split()
        assert word == "ready"
        self.port = int(port)
        if order:
            self.order(*order)

    def order(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def kill(self):
        """Pull the plug."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


@pytest.fixture
def stream():
    silence_opencv()
    stream = Stream()
    yield stream
    stream.kill()


@pytest.fixture
def look(stream):
    sources = []

    def make():
        sources.append(
            LiveSource(
                lambda: CaptureGrabber(stream.url),
                name="stream",
                now_ms=monotonic_ms,
                frozen_ms=FROZEN_MS,
            )
        )
        return sources[-1]

    yield make
    stream.kill()
    for source in sources:
        source.close()


def frame_of(source, *, accept=lambda frame: True):
    """Return the next frame that is accepted."""
    until_ms = monotonic_ms() + WAIT_S * 1000
    while monotonic_ms() < until_ms:
        frame = source.next_frame(timeout_s=1)
        if frame is not None and accept(frame):
            return frame
    pytest.fail(f"no such frame came: {source.health()}")


def wait_state(source, state):
    until_ms = monotonic_ms() + WAIT_S * 1000
    while monotonic_ms() < until_ms:
        if source.health().state is state:
            return source.health()
        source.next_frame(timeout_s=0.02)
    pytest.fail(f"it never was {state}: {source.health()}")


def test_unplugged_and_plugged_in_again_it_goes_on(stream, look):
    stream.start()
    source = look()
    assert source.health().state in (CameraState.OPENING, CameraState.OPEN)
    first = frame_of(source)
    assert source.health().state is CameraState.OPEN
    stream.kill()
    lost = wait_state(source, CameraState.LOST)
    stream.start()
    again = frame_of(source, accept=lambda frame: frame.number > lost.frames)
    assert again.image.shape == first.image.shape
    assert wait_state(source, CameraState.OPEN).reopened == 1


def test_a_camera_that_comes_late_is_waited_for(stream, look):
    stream.start()
    stream.kill()
    source = look()
    assert source.next_frame(timeout_s=0.3) is None
    health = source.health()
    assert (health.state, health.age_ms) == (CameraState.OPENING, None)
    stream.start()
    frame_of(source)
    assert source.health().reopened == 0


def test_the_same_picture_over_and_over_is_frozen_and_not_lost(stream, look):
    stream.start()
    source = look()
    frame_of(source)
    stream.order("freeze")
    frozen = wait_state(source, CameraState.FROZEN)
    later = frame_of(source, accept=lambda frame: frame.number > frozen.frames + 3)
    assert source.health().state is CameraState.FROZEN
    assert source.health().age_ms > frozen.age_ms, "a frozen picture ages although frames come"
    stream.order("live")
    wait_state(source, CameraState.OPEN)
    assert later.number < frame_of(source).number


def test_a_stream_that_falls_silent_with_its_socket_open_is_lost(stream, look):
    stream.start()
    source = look()
    frame_of(source)
    stream.order("silent")
    wait_state(source, CameraState.LOST)
    stream.order("live")
    wait_state(source, CameraState.OPEN)


def test_a_dropped_connection_is_opened_again(stream, look):
    stream.start()
    source = look()
    frame_of(source)
    stream.order("drop")
    lost = wait_state(source, CameraState.LOST)
    frame_of(source, accept=lambda frame: frame.number > lost.frames)
    assert source.health().reopened == 1


@pytest.mark.parametrize("damage", ["garbage", "cut"])
def test_damaged_pictures_are_survived(stream, look, damage):
    stream.start()
    source = look()
    before = frame_of(source).number
    stream.order(damage)
    # The stream stays damaged while the source tries: a few frames of nonsense, or none at all.
    for _ in range(5):
        source.next_frame(timeout_s=0.2)
    stream.order("live")
    damaged = source.health().frames
    frame_of(source, accept=lambda frame: frame.number > max(before, damaged) + 5)
    wait_state(source, CameraState.OPEN)


def test_a_web_page_is_no_camera(stream, look):
    stream.start("html")
    source = look()
    assert source.next_frame(timeout_s=1) is None
    assert source.health().state is CameraState.OPENING
    stream.order("live")
    frame_of(source)


@pytest.mark.parametrize("size", [(1, 1), (640, 480), (1_919, 1_079), (7_680, 4_320)])
def test_the_picture_may_change_its_size_in_mid_stream(stream, look, size):
    stream.start()
    source = look()
    frame_of(source)
    width, height = size
    stream.order("live", str(width), str(height))
    # The backend scales to the first size; opened anew, the camera gives the size it has.
    before = source.health().frames
    frame_of(source, accept=lambda frame: frame.number > before + 5)
    stream.order("drop")
    frame_of(source, accept=lambda frame: frame.image.shape == (height, width, 3))
    stream.order("live", "320", "240")
    stream.order("drop")
    frame_of(source, accept=lambda frame: frame.image.shape == (240, 320, 3))
    assert source.health().reopened >= 2


def test_only_the_newest_frame_is_given_to_somebody_who_is_slow(stream, look):
    stream.start()
    source = look()
    first = frame_of(source)
    threading.Event().wait(0.5)
    second = frame_of(source)
    assert second.number > first.number + 3
    assert source.health().dropped >= second.number - first.number - 1
    assert monotonic_ms() - second.taken_ms < 500


# A whole scanner ------------------------------------------------------------------------------


def table_picture(path, digits, *, seed):
    """Draw the table with a card, or without one."""
    rng = np.random.default_rng(seed)
    pose = random_pose(rng, width=960, height=540, tilt_deg=4)
    if digits is None:
        image = felt(rng, width=960, height=540)
    else:
        face = card_face(digits)
        image = draw_frame(face, pose=pose, look=LOOKS[0], rng=rng, size=(960, 540))
    cv2.imwrite(str(path), image)
    return str(path)


def camera_is(office, state):
    """Tell whether the newest heartbeat of the scanner says so."""
    beats = [beat["scan"] for beat in office.beats if beat["link"] == "scanner"]
    return bool(beats) and beats[-1]["camera"] == state


def test_a_scanner_survives_its_stream_and_tells_the_back_office(
    office, start, stream, short_dir, digits
):
    cards = [table_picture(short_dir / f"{n}.png", digits(n), seed=n) for n in (1, 2, 3)]
    empty = table_picture(short_dir / "empty.png", None, seed=9)
    stream.start("show", empty)
    scanner = start(camera=f'kind = "stream"\nurl = "{stream.url}"\nfrozen_ms = {FROZEN_MS}')
    office.wait(lambda: camera_is(office, "open") and office.shoes_given)
    stream.order("show", cards[0])
    office.wait(lambda: len(office.taken) == 1)

    stream.kill()
    office.wait(lambda: camera_is(office, "lost"))
    stream.start("show", empty)
    office.wait(lambda: camera_is(office, "open"))
    stream.order("show", cards[1])
    office.wait(lambda: len(office.taken) == 2)

    stream.order("freeze")
    office.wait(lambda: camera_is(office, "frozen"))
    stream.order("show", empty)
    stream.order("live")
    office.wait(lambda: camera_is(office, "open"))
    stream.order("show", cards[2])
    office.wait(lambda: len(office.taken) == 3)

    def scan():
        return [beat["scan"] for beat in office.beats if beat["link"] == "scanner"][-1]

    office.wait(lambda: scan()["read"] == 3)
    assert scanner.end() == 0
    assert [(report["kind"], report["code"]) for report in office.taken] == [
        ("card_seen", digits(n)) for n in (1, 2, 3)
    ]
    assert (scan()["reopened"], scan()["failed"]) == (1, {})
    assert stream.url not in scanner.log, "an address may carry a password"
