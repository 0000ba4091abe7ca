"""The queue on the disk: full, damaged, out of room, copied back from an older day."""

import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from scanner.report_queue import NUMBERS_SKIPPED, QueueError, ReportQueue

WALL_MS = 1_700_000_000_000


@pytest.fixture
def path(tmp_path):
    return tmp_path / "queue.sqlite"


@pytest.fixture
def open_queue(path):
    queues = []

    def make():
        queues.append(ReportQueue(path, wall_ms=WALL_MS))
        return queues[-1]

    yield make
    for queue in queues:
        queue.close()


def fill(queue, count):
    return [queue.put({"code": str(index) * 50}) for index in range(count)]


def no_more_room(queue):
    """Let the file grow no further: what a full disk does."""
    (pages,) = queue._database.execute("PRAGMA page_count").fetchone()
    queue._database.execute(f"PRAGMA max_page_count = {pages}")


def room_again(queue):
    queue._database.execute("PRAGMA max_page_count = 1000000")


def test_only_its_owner_can_read_it(open_queue, path):
    open_queue()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_a_full_disk_is_said_so_and_loses_nothing(open_queue):
    queue = open_queue()
    fill(queue, 3)
    no_more_room(queue)
    kept = list(queue.numbers())
    with pytest.raises(QueueError, match="its disk is full; make room"):
        kept.extend(iter(lambda: queue.put({"code": "x" * 500}), None))
    assert queue.numbers() == set(kept)
    assert len(queue) == len(kept)
    room_again(queue)
    assert queue.put({}) == max(kept) + 1


SMALL_DISK = """
import resource, sys
from pathlib import Path
from scanner.report_queue import QueueError, ReportQueue
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
queue = ReportQueue(Path(sys.argv[1]), wall_ms=1)
try:
    while True:
        print(queue.put({"code": "x" * 500}), flush=True)
except QueueError as error:
    print(error, file=sys.stderr)
queue.close()
"""


def test_when_the_system_refuses_more_every_report_told_as_kept_is_there(path):
    ended = subprocess.run(
        [sys.executable, "-c", SMALL_DISK, str(path)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    told = {int(line) for line in ended.stdout.splitlines()}
    assert ended.returncode == 0
    assert "uplink.queue" in ended.stderr
    assert len(told) > 10
    queue = ReportQueue(path, wall_ms=WALL_MS)
    kept = queue.numbers()
    queue.close()
    assert kept == told


@pytest.mark.parametrize(
    "content",
    [b"this is no database at all, and long enough to be looked at" * 20, b"SQLite format 3\0"],
    ids=["text", "cut"],
)
def test_a_file_that_is_no_queue_is_refused_with_what_to_do(path, content):
    path.write_bytes(content)
    with pytest.raises(QueueError, match=r"queue\.sqlite is damaged.*move the file away"):
        ReportQueue(path, wall_ms=WALL_MS)


def test_every_page_overwritten_is_noticed(open_queue, path):
    """Nothing of the file is ever silently left out: it opens with all reports, or not at all."""
    queue = open_queue()
    numbers = fill(queue, 200)
    queue.close()
    whole = path.read_bytes()
    page = 4_096
    assert len(whole) > 3 * page
    for start in range(0, len(whole), page):
        path.write_bytes(whole[:start] + b"\xa5" * page + whole[start + page :])
        with pytest.raises(QueueError, match="damaged"):
            ReportQueue(path, wall_ms=WALL_MS)
    path.write_bytes(whole)
    assert open_queue().numbers() == set(numbers)


def test_a_file_cut_short_is_noticed(open_queue, path):
    queue = open_queue()
    fill(queue, 200)
    queue.close()
    path.write_bytes(path.read_bytes()[:-4_096])
    with pytest.raises(QueueError, match="damaged"):
        ReportQueue(path, wall_ms=WALL_MS)


def test_a_report_that_can_not_be_read_any_more_is_noticed(open_queue, path):
    queue = open_queue()
    fill(queue, 2)
    queue.close()
    with sqlite3.connect(path) as database:
        database.execute("UPDATE report SET body = '[' WHERE number % 2 = 0")
    database.close()
    with pytest.raises(QueueError, match="damaged"):
        ReportQueue(path, wall_ms=WALL_MS)


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), lambda path: path.parent.rmdir()])
def test_a_path_that_can_not_be_used_is_named(tmp_path, make):
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "queue.sqlite"
    make(path)
    if not folder.exists():
        folder.write_text("a file where a folder should be")
    with pytest.raises(QueueError, match=r"uplink\.queue: .*queue\.sqlite"):
        ReportQueue(path, wall_ms=WALL_MS)


def test_new_numbers_keep_the_order_and_are_far_from_the_old(open_queue):
    queue = open_queue()
    before = fill(queue, 3)
    bodies = []
    queue.skip_numbers()
    after = sorted(queue.numbers())
    assert after == [number + NUMBERS_SKIPPED for number in before]
    assert queue.put({"code": "last"}) == after[-1] + 1
    while (report := queue.first()) is not None:
        bodies.append(report.body["code"][0])
        queue.drop(report.number)
    assert bodies == ["0", "1", "2", "l"]
