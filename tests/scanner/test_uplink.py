"""Reports over a real loopback server that fails, repeats itself, goes away and comes back."""

import json
import re
import sqlite3
import subprocess
import sys

import pytest
import structlog

from scanner.confirm import Reason, Report, ReportKind
from scanner.sighting import Decoder
from scanner.uplink import VIDEO_FRESH_MS, Door, Health, QueueFullError, ReportQueue, Uplink

WAIT_S = 20.0
WALL_MS = 1_700_000_000_000


def report_of(code):
    return Report(
        kind=ReportKind.CARD_SEEN, code=code, copies=2, decoders=(Decoder.ZXING, Decoder.ZBAR)
    )


@pytest.fixture
def open_queue(tmp_path):
    queues = []

    def make(**more):
        queues.append(ReportQueue(tmp_path / "queue.sqlite", wall_ms=WALL_MS, **more))
        return queues[-1]

    yield make
    for queue in queues:
        queue.close()


@pytest.fixture
def open_uplink(office, key):
    uplinks = []

    def make(queue):
        door = Door(url=office.url, table="T1", device="scanner-1", key=key)
        uplink = Uplink(queue, door, health=lambda: Health(frame_age_ms=5, frames_per_s=29.97))
        uplinks.append(uplink)
        uplink.start()
        return uplink

    yield make
    for uplink in uplinks:
        uplink.close()


def codes(office):
    return [report["code"] for report in office.taken]


def test_a_report_carries_everything_the_back_office_asks_for(office, open_queue, open_uplink, key):
    uplink = open_uplink(open_queue())
    report_id = uplink.report(report_of("110007001003"), captured_ms=1_234)
    office.wait(lambda: office.taken)
    path, body, sent_key = office.requests[0]
    assert (path, sent_key) == ("/api/device/reports", key)
    assert body == {
        "id": report_id,
        "table": "T1",
        "kind": "card_seen",
        "code": "110007001003",
        "reason": None,
        "captured_ms": 1_234,
        "copies": 2,
        "decoders": ["zxing", "zbar"],
    }
    assert re.fullmatch(r"scanner-1-\d+", report_id)


def test_reports_go_in_order_and_once(office, open_queue, open_uplink):
    uplink = open_uplink(open_queue())
    for number in range(20):
        uplink.report(report_of(str(number)), captured_ms=number)
    office.wait(lambda: len(office.taken) == 20)
    assert codes(office) == [str(number) for number in range(20)]
    assert uplink.drain(WAIT_S)
    assert uplink.sent == 20


@pytest.mark.parametrize("status", [500, 502, 503, 401, 403, 408, 429, 302])
def test_an_answer_that_may_change_is_asked_for_again(office, open_queue, open_uplink, status):
    office.answers = [status, status]
    uplink = open_uplink(open_queue())
    for code in ("a", "b"):
        uplink.report(report_of(code), captured_ms=1)
    office.wait(lambda: len(office.taken) == 2)
    assert codes(office) == ["a", "b"]
    assert [body["code"] for _, body, _ in office.requests] == ["a", "a", "a", "b"]


@pytest.mark.parametrize("status", [400, 404, 409, 422])
def test_a_final_refusal_does_not_hold_up_those_behind(office, open_queue, open_uplink, status):
    office.answers = [status]
    queue = open_queue()
    uplink = open_uplink(queue)
    for code in ("a", "b"):
        uplink.report(report_of(code), captured_ms=1)
    office.wait(lambda: len(office.taken) == 1)
    assert uplink.drain(WAIT_S)
    assert codes(office) == ["b"]
    assert (uplink.dead_letters, uplink.sent) == (1, 1)


def test_a_lost_answer_sends_the_same_id_and_content_again(office, open_queue, open_uplink):
    office.answers = [201]  # taken there, but the answer breaks off
    uplink = open_uplink(open_queue())
    uplink.report(report_of("a"), captured_ms=1)
    assert uplink.drain(WAIT_S)
    assert len(office.taken) == 1
    first, second = (body for _, body, _ in office.requests)
    assert first == second


def test_what_was_read_without_a_back_office_is_sent_when_it_is_back(
    office, open_queue, open_uplink
):
    office.stop()
    queue = open_queue()
    uplink = open_uplink(queue)
    for code in ("a", "b", "c"):
        uplink.report(report_of(code), captured_ms=1)
    assert not uplink.drain(0.2)
    assert len(queue) == 3
    office.start()
    office.wait(lambda: len(office.taken) == 3)
    assert codes(office) == ["a", "b", "c"]


def test_a_restart_sends_what_was_kept_and_never_uses_a_number_twice(
    office, open_queue, open_uplink
):
    office.stop()
    queue = open_queue()
    first = open_uplink(queue)
    ids = [first.report(report_of("a"), captured_ms=1)]
    first.close()
    queue.close()
    office.start()
    second = open_uplink(open_queue())
    ids.append(second.report(report_of("b"), captured_ms=2))
    assert second.drain(WAIT_S)
    ids.append(second.report(report_of("c"), captured_ms=3))
    assert second.drain(WAIT_S)
    assert [report["id"] for report in office.taken] == ids
    assert ids == sorted(set(ids))


def test_numbers_go_on_after_the_queue_was_emptied(open_queue):
    first = open_queue()
    number = first.put({})
    first.drop(number)
    first.close()
    assert open_queue().put({}) == number + 1


def test_a_lost_queue_file_does_not_bring_numbers_back(tmp_path):
    numbers = []
    for index, wall_ms in enumerate((WALL_MS, WALL_MS + 60_000)):
        queue = ReportQueue(tmp_path / f"{index}.sqlite", wall_ms=wall_ms)
        numbers.append([queue.put({}) for _ in range(3)])
        queue.close()
    assert max(numbers[0]) < min(numbers[1])


CHILD = """
import sys
from pathlib import Path
from scanner.uplink import ReportQueue
queue = ReportQueue(Path(sys.argv[1]), wall_ms=int(sys.argv[2]))
while True:
    print(queue.put({"code": None, "kind": "card_seen", "reason": None}), flush=True)
"""


def test_every_report_kept_before_kill_9_is_there_afterwards(tmp_path):
    path = tmp_path / "killed.sqlite"
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path), str(WALL_MS)], stdout=subprocess.PIPE, text=True
    )
    told = [int(child.stdout.readline()) for _ in range(25)]
    child.kill()
    rest, _ = child.communicate(timeout=WAIT_S)
    told += [int(line) for line in rest.splitlines() if len(line) == len(str(WALL_MS))]
    queue = ReportQueue(path, wall_ms=WALL_MS)
    kept = []
    while (report := queue.first()) is not None:
        kept.append(report.number)
        queue.drop(report.number)
    queue.close()
    assert kept[: len(told)] == told
    assert len(kept) - len(told) <= 1, "at most the one that was kept but not yet told"


def test_a_full_queue_refuses_and_says_so(open_queue):
    queue = open_queue(reports_max=2)
    numbers = [queue.put({}), queue.put({})]
    assert queue.full
    with pytest.raises(QueueFullError):
        queue.put({})
    queue.drop(numbers[0])
    assert not queue.full
    assert queue.put({}) == numbers[1] + 1


def test_heartbeats_tell_of_both_links(office, open_queue, open_uplink):
    open_uplink(open_queue())
    office.wait(lambda: len(office.beats) >= 2)
    assert office.beats[:2] == [
        {"table": "T1", "link": link, "frame_age_ms": 5, "fps": 30.0, "queued": 0}
        for link in ("scanner", "video")
    ]


@pytest.mark.parametrize(
    ("age_ms", "links"),
    [
        (None, ("scanner",)),
        (0, ("scanner", "video")),
        (VIDEO_FRESH_MS, ("scanner", "video")),
        (VIDEO_FRESH_MS + 1, ("scanner",)),
    ],
)
def test_a_camera_that_gives_no_new_picture_has_no_video_heartbeat(age_ms, links):
    assert Health(frame_age_ms=age_ms, frames_per_s=0).links == links


def test_another_epoch_fetches_the_manifest_again(office, open_queue, open_uplink):
    uplink = open_uplink(open_queue())
    office.wait(lambda: office.shoes_given == 1 and len(office.beats) >= 4)
    assert uplink.codebook.deck_set == office.deck_set
    assert len(uplink.codebook.manifest) == 52
    with office.changed:
        assert office.shoes_given == 1, "the same epoch is not fetched again"
        office.epoch, office.deck_set, office.codes = 2, 9, {"1": 5}
    beats = len(office.beats)
    office.wait(lambda: office.shoes_given == 2 and len(office.beats) >= beats + 4)
    assert (uplink.codebook.deck_set, dict(uplink.codebook.manifest)) == (9, {1: 5})


def test_an_unknown_code_asks_for_the_manifest_at_once(office, open_queue, open_uplink):
    uplink = open_uplink(open_queue())
    office.wait(lambda: office.shoes_given == 1)
    uplink.refresh_soon()
    office.wait(lambda: office.shoes_given == 2)


def test_the_manifest_outlives_a_restart_without_a_network(office, open_queue, open_uplink):
    queue = open_queue()
    first = open_uplink(queue)
    beats = 2
    office.wait(lambda: office.shoes_given == 1 and len(office.beats) > beats)
    first.close()
    queue.close()
    office.stop()
    assert open_uplink(open_queue()).codebook == first.codebook


@pytest.mark.parametrize("statuses", [[500, 409], [403], []])
def test_no_log_line_carries_a_code_or_the_key(
    office, open_queue, open_uplink, key, capsys, statuses
):
    code = "149008012345"
    office.answers = list(statuses)
    with structlog.testing.capture_logs() as lines:
        uplink = open_uplink(open_queue())
        uplink.report(report_of(code), captured_ms=1)
        uplink.report(
            Report(kind=ReportKind.CARD_SEEN, code=code, reason=Reason.NOT_IN_SHOE), captured_ms=2
        )
        assert uplink.drain(WAIT_S)
        uplink.close()
    text = json.dumps(lines, default=str) + "".join(capsys.readouterr())
    assert lines
    assert code not in text
    assert key not in text


def test_the_key_is_not_shown(key):
    assert key not in repr(Door(url="http://x", table="T1", device="d", key=key))


def test_a_queue_on_a_file_that_is_no_database_is_refused(tmp_path):
    path = tmp_path / "queue.sqlite"
    path.write_text("this is no database at all, and long enough to be looked at" * 20)
    with pytest.raises(sqlite3.DatabaseError):
        ReportQueue(path, wall_ms=WALL_MS)
