"""Reports over a real loopback server that fails, repeats itself, goes away and comes back."""

import json
import re
import subprocess
import sys
import threading

import pytest
import structlog

from scanner.confirm import Reason, Report, ReportKind
from scanner.door import Door
from scanner.health import VIDEO_FRESH_MS, Health
from scanner.report_queue import NUMBERS_SKIPPED, QueueError, QueueFullError, ReportQueue
from scanner.sighting import Decoder
from scanner.uplink import ALARM_PERCENT, DISK_RETRY_MS, Uplink

WAIT_S = 20.0
WALL_MS = 1_700_000_000_000
SCAN = {"frames": 9, "read_by_copy": [1, 2, 3], "failed": {"no_code": 1}, "camera": "open"}


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

    def make(queue, **more):
        door = Door(url=office.url, table="T1", device="scanner-1", key=key)
        uplink = Uplink(queue, door, health=lambda: health_of(frame_age_ms=5), **more)
        uplinks.append(uplink)
        uplink.start()
        return uplink

    yield make
    for uplink in uplinks:
        uplink.close()


def health_of(*, frame_age_ms):
    return Health(frame_age_ms=frame_age_ms, frames_per_s=29.97, scan=SCAN)


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


@pytest.mark.parametrize("status", [500, 502, 503, 401, 403, 404, 408, 429, 302])
def test_an_answer_that_may_change_is_asked_for_again(office, open_queue, open_uplink, status):
    office.answers = [status, status]
    uplink = open_uplink(open_queue())
    for code in ("a", "b"):
        uplink.report(report_of(code), captured_ms=1)
    office.wait(lambda: len(office.taken) == 2)
    assert codes(office) == ["a", "b"]
    assert [body["code"] for _, body, _ in office.requests] == ["a", "a", "a", "b"]


@pytest.mark.parametrize("status", [400, 409, 413, 422])
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
    # Not communicate(): it passes over the lines that were read ahead.
    told += [int(line) for line in child.stdout if line.endswith("\n")]
    child.stdout.close()
    child.wait(WAIT_S)
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
    both = {"table": "T1", "frame_age_ms": 5, "fps": 30.0, "queued": 0}
    assert office.beats[:2] == [
        {**both, "link": "scanner", "queue_max": 10_000, "scan": SCAN},
        {**both, "link": "video"},
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
    assert health_of(frame_age_ms=age_ms).links == links


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
            Report(kind=ReportKind.CARD_SEEN, code=code, reason=Reason.OTHER_DECK_SET),
            captured_ms=2,
        )
        assert uplink.drain(WAIT_S)
        uplink.close()
    text = json.dumps(lines, default=str) + "".join(capsys.readouterr())
    assert lines
    assert code not in text
    assert key not in text


def test_the_key_is_not_shown(key):
    assert key not in repr(Door(url="http://x", table="T1", device="d", key=key))


# What is no answer, and what is wrong -----------------------------------------------------------


def troubles(lines, who="sending"):
    return [line["trouble"] for line in lines if line["event"] == f"{who}_trouble"]


@pytest.mark.parametrize(
    ("status", "page"),
    [
        (200, b"<html>Please log in to this network</html>"),
        (200, b'"taken"'),
        (200, b'{"taken": false}'),
        (200, b"{}"),
        (302, b""),
        (400, b"<html>Bad Request</html>"),
        (409, b'{"error": "conflict"}'),
        (413, b"too large"),
    ],
)
def test_what_answers_in_the_back_offices_place_takes_and_refuses_nothing(
    office, open_queue, open_uplink, status, page
):
    queue = open_queue()
    office.page = page
    office.answers = [status] * 2
    uplink = open_uplink(queue)
    uplink.report(report_of("a"), captured_ms=1)
    office.wait(lambda: len(office.requests) >= 2)
    assert (len(queue), uplink.sent, uplink.dead_letters) == (1, 0, 0)
    assert uplink.trouble is not None
    with office.changed:
        office.page, office.answers = None, []
    office.wait(lambda: office.taken)
    assert uplink.drain(WAIT_S)
    assert (codes(office), uplink.sent) == (["a"], 1)


def test_a_wrong_key_is_said_once_and_the_reports_stay(office, open_queue, open_uplink):
    office.answers = [401] * 4
    queue = open_queue()
    with structlog.testing.capture_logs() as lines:
        uplink = open_uplink(queue)
        uplink.report(report_of("a"), captured_ms=1)
        office.wait(lambda: len(office.requests) == 4)
        assert len(queue) == 1
        assert "STUDIO_DEVICE_KEY" in uplink.trouble
        assert uplink.drain(WAIT_S)
        uplink.close()
    (told,) = troubles(lines)
    assert "refuses the device's key (401)" in told
    assert any(line["event"] == "sending_well_again" for line in lines)
    assert uplink.trouble is None


def test_an_alarm_is_given_before_the_queue_is_full(office, open_queue, open_uplink):
    office.stop()
    most = 10
    queue = open_queue(reports_max=most)
    with structlog.testing.capture_logs() as lines:
        uplink = open_uplink(queue)
        for number in range(most):
            told = len(troubles(lines, "queue_level"))
            assert told == (number * 100 >= most * ALARM_PERCENT)
            assert uplink.has_room()
            uplink.report(report_of(str(number)), captured_ms=number)
        assert not uplink.has_room()
        nearly, full = troubles(lines, "queue_level")
        assert "80 % full" in nearly
        assert "nothing is read" in full
        with pytest.raises(QueueFullError):
            uplink.report(report_of("x"), captured_ms=99)
        office.start()
        office.wait(lambda: len(office.taken) == most)
        assert uplink.drain(WAIT_S)
        uplink.close()
    assert uplink.has_room()
    assert any(line["event"] == "queue_level_well_again" for line in lines)
    assert codes(office) == [str(number) for number in range(most)]


def test_a_full_disk_holds_one_report_and_reading_until_there_is_room(
    office, open_queue, open_uplink
):
    office.stop()
    now = [0]
    queue = open_queue()
    uplink = open_uplink(queue, now_ms=lambda: now[0])
    (pages,) = queue._database.execute("PRAGMA page_count").fetchone()
    queue._database.execute(f"PRAGMA max_page_count = {pages}")
    sent, heard = [], []
    while uplink.has_room():
        sent.append(str(len(sent)) * 100)
        uplink.report(report_of(sent[-1]), captured_ms=1, on_kept=heard.append)
    assert "its disk is full" in uplink.trouble
    assert len(queue) == len(heard) == len(sent) - 1
    queue._database.execute("PRAGMA max_page_count = 1000000")
    assert not uplink.has_room(), "the disk is not asked for every frame"
    now[0] += DISK_RETRY_MS
    assert uplink.has_room()
    assert len(queue) == len(heard) == len(sent)
    office.start()
    office.wait(lambda: len(office.taken) == len(sent))
    assert codes(office) == sent


def test_an_answer_that_the_disk_can_not_note_is_asked_for_again_and_counts_once(
    office, open_queue, open_uplink
):
    queue = open_queue()
    drop, failures = queue.drop, [QueueError("no room"), QueueError("no room")]

    def failing(number):
        if failures:
            raise failures.pop()
        drop(number)

    queue.drop = failing
    uplink = open_uplink(queue)
    uplink.report(report_of("a"), captured_ms=1)
    assert uplink.drain(WAIT_S)
    assert len(office.requests) == 3
    assert codes(office) == ["a"]


def test_a_queue_from_an_older_day_gives_its_reports_new_numbers(office, open_queue, open_uplink):
    """Copied back, it counts again from where it was: the ids are known with other cards."""
    with office.changed:
        office.taken = [{"id": f"scanner-1-{WALL_MS + 1}", "code": "of yesterday"}]
    uplink = open_uplink(open_queue())
    for code in ("a", "b"):
        uplink.report(report_of(code), captured_ms=1)
    office.wait(lambda: len(office.taken) == 3)
    assert uplink.drain(WAIT_S)
    assert codes(office) == ["of yesterday", "a", "b"]
    assert office.taken[1]["id"] == f"scanner-1-{WALL_MS + 1 + NUMBERS_SKIPPED}"
    assert (uplink.sent, uplink.dead_letters) == (2, 0)


@pytest.mark.parametrize("wanted", [True, False])
def test_the_answer_says_whether_the_picture_is_wanted(office, open_queue, open_uplink, wanted):
    office.wants_pictures = wanted
    heard, order = [], []

    def on_answer(number, *, wanted):
        order.append("answered")
        heard.append((number, wanted))

    uplink = open_uplink(open_queue(), on_answer=on_answer)
    uplink.report(report_of("a"), captured_ms=1, on_kept=lambda number: order.append("kept"))
    assert uplink.drain(WAIT_S)
    assert heard == [(WALL_MS + 1, wanted)]
    assert order == ["kept", "answered"]


@pytest.mark.parametrize(
    "shoe",
    [{"codes": []}, {"codes": {"a": 1}}, {"version": 9}, {"codes": {"1": None}}],
)
def test_a_manifest_that_makes_no_sense_is_no_manifest(office, open_queue, open_uplink, shoe):
    good = {"codes": office.codes}
    office.shoe_extra = shoe
    uplink = open_uplink(open_queue())
    office.wait(lambda: office.shoes_given >= 2)
    assert "manifest" in uplink.trouble
    assert uplink.codebook.deck_set is None
    with office.changed:
        office.shoe_extra = good
    beats = len(office.beats)
    office.wait(lambda: len(office.beats) > beats + 2)
    assert uplink.codebook.deck_set == office.deck_set


def test_a_domino_table_has_a_manifest_of_tiles(office, open_queue, open_uplink):
    office.shoe_extra = {"version": 2}
    uplink = open_uplink(open_queue())
    office.wait(lambda: office.shoes_given >= 1 and len(office.beats) > 2)
    assert uplink.codebook.version == 2


def test_a_thread_that_ended_by_a_fault_of_its_own_is_said(office, open_queue, open_uplink):
    uplink = open_uplink(open_queue())
    office.wait(lambda: office.beats)
    assert uplink.trouble is None
    ended = threading.Thread(target=int, name="heartbeat")
    ended.start()
    ended.join(WAIT_S)
    uplink._threads.append(ended)
    assert "heartbeat has ended" in uplink.trouble
