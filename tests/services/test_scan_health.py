"""What scanners say of themselves: checked, kept, and one alarm for each trouble."""

import pytest

from studio.domain.errors import MalformedError
from studio.domain.table import Link
from studio.services.alarms import SCANNER_ALARMS
from studio.services.scan_health import (
    COUNT_MAX,
    RESTARTS_MAX,
    RESTARTS_WINDOW_MS,
    read_health,
)
from studio.services.scan_reasons import REASONS
from studio.web.catalogue import texts
from tests.support.floor import Floor

SCAN = {
    "frames": 36_000,
    "read": 410,
    "read_by_copy": [280, 120, 10],
    "failed": {"no_code": 3, "two_cards": 1},
    "faults": 2,
    "restarts": 1,
    "dropped": 17,
    "reopened": 1,
    "frozen": False,
    "camera": "open",
    "pictures_dropped": 0,
}


def beat(floor: Floor, *, table: str = "T1", queued: int = 0, **scan: object) -> None:
    body = {
        "table": table,
        "link": "scanner",
        "frame_age_ms": 33,
        "fps": 30.0,
        "queued": queued,
        "queue_max": 10_000,
        "scan": SCAN | scan,
    }
    floor.devices.heartbeat("cam", body)


def test_what_a_scanner_says_is_kept_with_its_link(floor):
    beat(floor, queued=2)
    said = floor.links.health("T1")[Link.SCANNER]
    assert said["scan"] == SCAN
    assert (said["queued"], said["queue_max"], said["frame_age_ms"], said["fps"]) == (
        2,
        10_000,
        33,
        30.0,
    )
    assert floor.alarms() == []


@pytest.mark.parametrize("link", ["scanner", "video"])
def test_a_scanner_of_the_first_release_says_nothing_of_itself_and_lives(floor, link):
    floor.devices.heartbeat("cam", {"table": "T1", "link": link, "fps": 30, "queued": 0})
    assert "scan" not in floor.links.health("T1")[link]


WRONG = [
    {"queue_max": -1},
    {"queue_max": 1.5},
    {"queue_max": True},
    {"queue_max": "10000"},
    {"scan": []},
    {"scan": "fine"},
    {"scan": {"mood": 1}},
    {"scan": {"frames": -1}},
    {"scan": {"frames": 0.5}},
    {"scan": {"frames": True}},
    {"scan": {"frames": None}},
    {"scan": {"frames": COUNT_MAX + 1}},
    {"scan": {"read_by_copy": 7}},
    {"scan": {"read_by_copy": [1, 2]}},
    {"scan": {"read_by_copy": [1, 2, 3, 4]}},
    {"scan": {"read_by_copy": [1, 2, -3]}},
    {"scan": {"failed": {"tired": 1}}},
    {"scan": {"failed": {"no_code": "1"}}},
    {"scan": {"failed": ["no_code"]}},
    {"scan": {"frozen": 0}},
    {"scan": {"camera": "asleep"}},
    {"scan": {"camera": ["open"]}},
]


@pytest.mark.parametrize("body", WRONG, ids=str)
def test_a_heartbeat_of_another_shape_is_malformed_and_no_sign_of_life(floor, body):
    floor.wait(2_000)
    with pytest.raises(MalformedError) as fault:
        floor.devices.heartbeat("cam", {"table": "T1", "link": "scanner", "queued": 0} | body)
    assert fault.value.code == "scan_health"
    assert floor.links.health("T1")[Link.SCANNER]["age_ms"] == 2_000


def test_every_reason_may_be_counted_and_none_beside_them():
    failed = dict.fromkeys(REASONS, COUNT_MAX)
    assert read_health({"scan": {"failed": failed}}) == {"scan": {"failed": failed}}


TROUBLE = [
    ({"queued": 8_001}, "scanner_queue", {"queued": 8_001, "most": 10_000}),
    ({"camera": "lost"}, "camera_lost", {}),
    ({"camera": "frozen"}, "camera_frozen", {}),
    ({"frozen": True}, "camera_frozen", {}),
]


@pytest.mark.parametrize(("said", "code", "details"), TROUBLE)
def test_a_trouble_is_one_alarm_until_it_is_over(both, said, code, details):
    beat(both)
    told = len(both.publisher.hints)
    for _ in range(3):
        beat(both, **said)
    (alarm,) = both.alarms()
    assert (alarm.code, alarm.table, alarm.priority) == (code, "T1", 2)
    assert alarm.details == details
    assert len(both.publisher.hints) == told + 1, "the pit is told of the change, not of each beat"
    beat(both)
    assert both.alarms() == []
    beat(both, **said)
    assert both.alarm_codes() == [code], "the next one calls anew"


@pytest.mark.parametrize(
    ("queued", "called"), [(7_999, []), (8_000, []), (8_001, ["scanner_queue"])]
)
def test_a_queue_calls_above_its_limit(floor, queued, called):
    beat(floor, queued=queued)
    assert floor.alarm_codes() == called


@pytest.mark.parametrize(("queued", "called"), [(6_001, ["scanner_queue"]), (6_000, [])])
def test_a_queue_that_called_has_to_come_down_by_a_good_part(floor, queued, called):
    beat(floor, queued=9_000)
    beat(floor, queued=queued)
    assert floor.alarm_codes() == called


def test_a_decoder_that_restarts_again_and_again_calls_and_one_that_rests_is_over_it(floor):
    beat(floor, restarts=40)
    for restarts in range(41, 41 + RESTARTS_MAX):
        assert floor.alarm_codes() == []
        floor.wait(1_000)
        beat(floor, restarts=restarts)
    (alarm,) = floor.alarms()
    assert (alarm.code, alarm.details) == ("decoder_restarts", {"restarts": 3, "minutes": 10})
    floor.wait(RESTARTS_WINDOW_MS - 2_000)
    beat(floor, restarts=43)
    assert floor.alarm_codes() == ["decoder_restarts"]
    floor.wait(1)
    beat(floor, restarts=43)
    assert floor.alarm_codes() == []


def test_restarts_far_apart_are_no_trouble(floor):
    for restarts in range(1, 20):
        beat(floor, restarts=restarts)
        assert floor.alarm_codes() == []
        floor.wait(RESTARTS_WINDOW_MS // 2 + 1)


def test_a_scanner_started_anew_counts_from_nothing(floor):
    beat(floor, restarts=7)
    beat(floor, restarts=0)
    beat(floor, restarts=2)
    assert floor.alarm_codes() == []
    beat(floor, restarts=3)
    assert floor.alarm_codes() == ["decoder_restarts"]


def test_troubles_of_several_kinds_and_tables_are_kept_apart(floor):
    beat(floor, camera="lost", queued=9_999)
    beat(floor, table="T2", camera="frozen")
    assert floor.alarm_codes() == ["camera_lost", "scanner_queue"]
    assert floor.alarm_codes("T2") == ["camera_frozen"]
    beat(floor, camera="frozen")
    assert floor.alarm_codes() == ["camera_frozen"]
    assert floor.alarm_codes("T2") == ["camera_frozen"]


def test_an_alarm_left_open_by_a_process_that_ended_is_over_with_the_first_healthy_beat(both):
    beat(both, camera="lost")
    again = both.restarted()
    assert again.alarm_codes() == ["camera_lost"]
    beat(again)
    assert again.alarm_codes() == []


def test_a_silent_scanner_leaves_the_alarm_of_its_link_as_well(floor):
    floor.to_play()
    beat(floor, camera="lost")
    floor.wait(4_000)
    floor.links.beat("T1", Link.STATION)
    floor.links.beat("T1", Link.VIDEO)
    floor.clockwork.turn()
    assert floor.alarm_codes() == ["camera_lost", "scanner_lost"]


def shown(floor: Floor) -> dict[str, list[str]]:
    alarms = floor.tables.pit(floor.links)["alarms"]
    return {alarm["code"]: alarm["explains"] for alarm in alarms if alarm["table"] == "T1"}


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        ("cam", {"camera_frozen": ["video_lost"]}),
        ("stream-1", {"camera_frozen": [], "video_lost": []}),
    ],
)
def test_a_camera_that_serves_both_links_is_one_alarm_with_what_it_brings(both, stream, expected):
    both.to_play()
    both.devices.heartbeat(stream, {"table": "T1", "link": "video", "fps": 30})
    beat(both, camera="frozen")
    assert shown(both) == {"camera_frozen": []}
    both.wait(3_500)
    beat(both, camera="frozen")
    both.links.beat("T1", Link.STATION)
    both.clockwork.turn()
    assert shown(both) == expected
    assert both.alarm_codes() == ["camera_frozen", "video_lost"], "both are kept"
    beat(both)
    assert shown(both) == {"video_lost": []}, "the stream is still silent"


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_every_reason_has_a_short_word_for_the_pit(reason):
    assert f"scan.reason.{reason}" in texts("en")


@pytest.mark.parametrize("code", sorted(SCANNER_ALARMS))
def test_every_trouble_has_words_and_a_first_action(code):
    assert {f"alarm.{code}", f"alarm.{code}_do"} <= texts("en").keys()


# Offline work ------------------------------------------------------------------------------------


def work(floor: Floor) -> dict[str, object]:
    said = floor.links.offline.of("T1")
    return {"offline_ms": said["offline_ms"], "sent": said["sent"]}


def others_beat(floor: Floor) -> None:
    for link in (Link.STATION, Link.VIDEO):
        floor.links.beat("T1", link)
    floor.clockwork.turn()


def test_reports_that_wait_are_offline_work_until_the_scanner_says_that_none_does(floor):
    floor.to_betting()
    assert work(floor) == {"offline_ms": None, "sent": 0}
    beat(floor, queued=3)
    floor.wait(14_000)
    assert work(floor) == {"offline_ms": 14_000, "sent": 0}
    floor.show("3S", "4H")
    assert work(floor) == {"offline_ms": 14_000, "sent": 2}
    beat(floor, queued=1)
    floor.show("6C")
    assert work(floor)["offline_ms"] == 14_000, "only the scanner knows that it was the last"
    beat(floor)
    assert work(floor) == {"offline_ms": None, "sent": 3}


def test_a_silent_scanner_is_offline_since_it_was_last_heard(floor):
    floor.to_betting()
    beat(floor)
    floor.wait(3_001)
    others_beat(floor)
    assert work(floor) == {"offline_ms": 3_001, "sent": 0}
    floor.show("3S")
    others_beat(floor)
    assert work(floor)["sent"] == 1
    beat(floor)
    assert work(floor) == {"offline_ms": None, "sent": 1}


def test_a_report_that_comes_twice_counts_once(floor):
    floor.to_betting()
    beat(floor, queued=1)
    for _ in range(2):
        floor.report(id="cam-1000", kind="read_failed", code=None, reason="no_code")
    assert work(floor)["sent"] == 1


def test_what_was_sent_in_one_spell_does_not_count_for_the_next(floor):
    floor.to_betting()
    beat(floor, queued=1)
    floor.show("3S")
    beat(floor)
    floor.show("4H")
    assert work(floor)["sent"] == 1
    beat(floor, queued=1)
    assert work(floor) == {"offline_ms": 0, "sent": 0}


def test_how_long_it_has_been_over_is_told_so_that_an_old_spell_is_not_taken_for_this_one(floor):
    floor.to_betting()
    assert floor.links.offline.of("T1")["back_ms"] is None
    beat(floor, queued=1)
    assert floor.links.offline.of("T1")["back_ms"] is None
    beat(floor)
    floor.wait(60_000)
    assert floor.links.offline.of("T1") == {"offline_ms": None, "back_ms": 60_000, "sent": 0}
