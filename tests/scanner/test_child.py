"""The decoding child: it may die as it likes, the scanner goes on."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from functools import partial
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import numpy as np
import pytest
import structlog

from scanner.child import (
    BACK_OFF_FIRST_MS,
    BACK_OFF_MAX_MS,
    FRAME_BYTES_MAX,
    LOST_FRAME,
    RECOVERED_FRAMES,
    ChildReader,
    card_reader,
)
from scanner.drawing import LOOKS, card_face, draw_frame, random_pose
from scanner.layout import Symbology
from scanner.sighting import Effort, Sighting
from tests.scanner.conftest import alive, wait_until
from tests.scanner.planted import (
    ABORT,
    EXIT,
    GOOD,
    HANG,
    RAISE,
    SEGFAULT,
    make_nothing,
    make_planted,
)

PROJECT = Path(__file__).parents[2]
WAIT_S = 20.0
MEMORY_FRAMES = 200


class Clock:
    def __init__(self):
        self.ms = 1_000

    def __call__(self):
        return self.ms


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def open_reader(clock):
    readers = []

    def make(make_reader=make_planted, **more):
        readers.append(ChildReader(make_reader, now_ms=clock, **more))
        return readers[-1]

    yield make
    for reader in readers:
        reader.close()


def frame(level=GOOD, *, shape=(20, 30, 3)):
    image = np.zeros(shape, np.uint8)
    image.flat[0] = level
    return image


def test_a_card_reads_as_without_a_child(open_reader, digits):
    rng = np.random.default_rng(9)
    pose = random_pose(rng, width=960, height=540, tilt_deg=4)
    image = draw_frame(card_face(digits(8)), pose=pose, look=LOOKS[0], rng=rng, size=(960, 540))
    make = partial(card_reader, symbology=Symbology.QR, budget_ms=1_000)
    here, there = make(), open_reader(make, limit_ms=20_000)
    for effort in (Effort.READ, Effort.WATCH, Effort.EXPLAIN):
        assert there.look(image, effort) == here.look(image, effort)
    assert {reading.text for reading in there.look(image, Effort.EXPLAIN).readings} == {digits(8)}


@pytest.mark.parametrize(
    ("level", "cause"),
    [(SEGFAULT, "SIGSEGV"), (ABORT, "SIGABRT"), (EXIT, "status 3"), (HANG, "no answer in time")],
)
def test_a_death_or_a_hang_costs_one_frame(open_reader, level, cause):
    # Only the frame that hangs waits for the whole limit.
    reader = open_reader(limit_ms=500 if level == HANG else 20_000)
    assert reader.look(frame()).cards_in_view == 0
    with structlog.testing.capture_logs() as lines:
        assert reader.look(frame(level)) == LOST_FRAME
    (line,) = lines
    assert (line["event"], line["cause"]) == ("reader_died", cause)
    assert cause in reader.trouble
    assert reader.look(frame()) == Sighting(cards_in_view=0, still=False)
    assert reader.restarts == 1


def test_kill_9_between_two_frames_costs_the_next_one_only(open_reader):
    reader = open_reader()
    reader.look(frame())
    os.kill(reader.pid, signal.SIGKILL)
    assert [reader.look(frame()).faults for _ in range(3)] == [1, 0, 0]
    assert reader.restarts == 1


def test_an_exception_costs_the_frame_and_no_child_and_its_message_is_not_told(open_reader, capfd):
    reader = open_reader()
    pid = reader.pid
    with structlog.testing.capture_logs() as lines:
        assert reader.look(frame(RAISE)) == LOST_FRAME
    assert lines == [{"event": "reader_fault", "fault": "RuntimeError", "log_level": "error"}]
    assert reader.look(frame()).faults == 0
    assert (reader.pid, reader.restarts) == (pid, 0)
    assert "149008012345" not in "".join(capfd.readouterr())


def test_a_child_that_dies_over_and_over_is_started_later_and_later(open_reader, clock):
    reader = open_reader()
    waits = []
    for _ in range(9):
        assert reader.look(frame(EXIT)) == LOST_FRAME
        died_ms = clock.ms
        while reader.look(frame()) == LOST_FRAME:
            clock.ms += BACK_OFF_FIRST_MS
            assert clock.ms - died_ms <= BACK_OFF_MAX_MS
        waits.append(clock.ms - died_ms)
    assert waits == [0, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]
    assert "9 times in a row" in reader.trouble


def test_while_it_waits_frames_are_lost_and_nobody_is_started(open_reader, clock):
    reader = open_reader()
    for _ in range(2):
        reader.look(frame(EXIT))
    restarts = reader.restarts
    clock.ms += BACK_OFF_FIRST_MS - 1
    assert reader.look(frame()) == LOST_FRAME
    assert (reader.pid, reader.restarts) == (None, restarts)
    clock.ms += 1
    assert reader.look(frame()).faults == 0
    assert reader.restarts == restarts + 1


def test_after_enough_good_frames_the_deaths_before_are_forgotten(open_reader):
    reader = open_reader()
    reader.look(frame(EXIT))
    for _ in range(RECOVERED_FRAMES):
        assert reader.trouble is not None
        reader.look(frame())
    assert reader.trouble is None


def test_a_reader_that_can_not_be_made_is_a_death_like_any_other(open_reader, clock):
    reader = open_reader(make_nothing)
    for _ in range(3):
        assert reader.look(frame()) == LOST_FRAME
        clock.ms += BACK_OFF_MAX_MS
    assert "status 1" in reader.trouble


@pytest.mark.parametrize(
    "image",
    [
        np.full((1, 1, 3), 7, np.uint8),
        np.full((540, 960), 6, np.uint8),
        np.full((64, 48, 1), 9, np.uint8),
        np.full((10, 10, 3), 1_000, np.uint16),
        np.zeros((0, 0, 3), np.uint8),
        np.full((40, 40, 3), 8, np.uint8)[::2, ::-1],
        np.asfortranarray(np.full((30, 20, 3), 9, np.uint8)),
        np.full((4_320, 7_680, 3), 6, np.uint8),
    ],
    ids=["1x1", "grey", "plane", "16 bits", "nothing", "cut", "columns", "8k"],
)
def test_frames_of_every_size_and_kind_arrive_as_they_are(open_reader, image):
    reader = open_reader(limit_ms=20_000)
    for picture in (frame(), image, frame(), image):
        assert reader.look(picture).cards_in_view == int(picture.sum(dtype=np.int64))
    assert reader.restarts == 0


def test_a_picture_larger_than_the_memory_is_lost_and_told(open_reader):
    reader = open_reader()
    huge = np.broadcast_to(np.zeros((1, 1), np.uint8), (FRAME_BYTES_MAX + 1, 1))
    with structlog.testing.capture_logs() as lines:
        assert reader.look(huge) == LOST_FRAME
    assert [line["event"] for line in lines] == ["frame_too_large"]
    assert reader.look(frame()).faults == 0


def test_the_parent_keeps_its_memory_and_its_files(open_reader, clock):
    reader = open_reader()
    image = frame(shape=(720, 1280, 3))

    def deaths_and_frames(count):
        for _ in range(count):
            os.kill(reader.pid, signal.SIGKILL)
            reader.look(image)
            clock.ms += BACK_OFF_MAX_MS
            for _ in range(MEMORY_FRAMES // 10):
                assert reader.look(image).faults == 0
        return own_memory_kb(), len(os.listdir("/proc/self/fd"))

    before_kb, before_files = deaths_and_frames(3)
    after_kb, after_files = deaths_and_frames(10)
    assert after_files == before_files
    assert after_kb - before_kb < image.nbytes / 1024


def own_memory_kb():
    status = Path("/proc/self/smaps_rollup").read_text()
    return int(status.split("Private_Dirty:")[1].split()[0])


def test_it_looks_from_a_process_with_threads(open_reader):
    idle = threading.Event()
    threads = [threading.Thread(target=idle.wait, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    try:
        reader = open_reader()
        for level in (GOOD, EXIT, GOOD):
            reader.look(frame(level))
        assert reader.restarts == 1
    finally:
        idle.set()
        for thread in threads:
            thread.join(WAIT_S)


def test_a_child_that_can_not_be_started_is_tried_again_later(open_reader, clock, monkeypatch):
    reader = open_reader()
    reader.look(frame())
    starts = []

    def no_process(*_):
        starts.append(clock.ms)
        raise BlockingIOError("no process left")

    with monkeypatch.context() as patched:
        patched.setattr(ForkServerProcess, "start", no_process)
        assert reader.look(frame(EXIT)) == LOST_FRAME
        assert "BlockingIOError" in reader.trouble
        assert reader.look(frame()) == LOST_FRAME
        assert len(starts) == 1
    clock.ms += BACK_OFF_FIRST_MS
    assert reader.look(frame()).faults == 0


def test_a_killed_fork_server_costs_one_frame(open_reader):
    reader = open_reader()
    reader.look(frame())
    (server,) = {parent_of(reader.pid)}
    os.kill(server, signal.SIGKILL)
    os.kill(reader.pid, signal.SIGKILL)
    wait_until(lambda: not alive(server))
    assert [reader.look(frame()).faults for _ in range(2)] == [1, 0]


def parent_of(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


LONG_FOLDER = """
from scanner.child import ChildReader
from tests.scanner.planted import make_planted
import numpy as np
import tempfile
if __name__ == "__main__":
    reader = ChildReader(make_planted)
    print(reader.look(np.zeros((9, 9), np.uint8)).faults, tempfile.gettempdir())
    reader.close()
"""


@pytest.mark.process
def test_a_long_temporary_folder_is_no_hindrance(tmp_path):
    long = tmp_path / ("long" * 30)
    long.mkdir()
    path = tmp_path / "parent.py"
    path.write_text(LONG_FOLDER)
    ended = subprocess.run(
        [sys.executable, str(path)],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "TMPDIR": str(long)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.stdout.split(), ended.returncode) == (["0", str(long)], 0), ended.stderr


PARENT = """
import sys
import numpy as np
from scanner.child import ChildReader
from tests.scanner.planted import make_planted, make_deaf
if __name__ == "__main__":
    reader = ChildReader({make}, limit_ms=2_000)
    {first}
    print(reader.pid, flush=True)
    {then}
"""


@pytest.mark.process
@pytest.mark.parametrize("make", ["make_planted", "make_deaf"])
def test_kill_9_of_the_scanner_leaves_no_child_behind(tmp_path, make):
    """Whether it waits for a frame or hangs in a decoder that lets nobody in."""
    deaf = make == "make_deaf"
    look = "reader.look(np.zeros((9, 9), np.uint8))"
    program = PARENT.format(
        make=make, first="" if deaf else look, then=look if deaf else "sys.stdin.read()"
    )
    hanging = tmp_path / "hanging"
    path = tmp_path / "parent.py"
    path.write_text(program)
    parent = subprocess.Popen(
        [sys.executable, str(path)],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "HANGING": str(hanging)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    family = []
    try:
        child = int(parent.stdout.readline())
        wait_until(lambda: not deaf or (hanging.exists() and hanging.read_text() == str(child)))
        family = [child, *children_of(parent.pid)]
        assert len(family) > 1, "the fork-server is a child of the scanner"
        parent.kill()
        parent.communicate()
        wait_until(lambda: not any(map(alive, family)))
    finally:
        parent.kill()
        parent.communicate()
        for pid in family:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def children_of(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
