"""Pictures of cards: wanted by a report, taken once, kept for a while, opened by the pit alone."""

import cv2
import numpy as np
import pytest

from studio.domain.cards import CodeVersion, PrintedCode
from studio.domain.errors import MalformedError, RefusedError
from studio.services.jpeg import jpeg_size
from studio.services.picture_ports import WantedPicture
from studio.services.pictures import (
    CARD_BYTES_MAX,
    FRAME_BYTES_MAX,
    LIST_MAX,
    SIDE_PX_MAX,
)
from studio.services.retention import RetentionService
from studio.services.retention_ports import DAY_MS, Kept
from studio.settings_retention import RetentionSettings
from tests.support.floor import (
    ADMINISTRATOR,
    AUDITOR,
    DEALER,
    HANDS,
    PIT,
    PLAYER,
    Floor,
    code_of,
    serial_of,
)
from tests.support.jpegs import jpeg, text

DAYS = RetentionSettings().days

WANTED = {"taken": True, "duplicate": False, "picture": True}
NOT_WANTED = {"taken": True, "duplicate": False}
BADGE = PrintedCode(version=CodeVersion.BADGE, number=7, deck_set=0, serial=5).digits


def failed(floor: Floor, report_id: str, reason: str = "no_code", kind: str = "read_failed"):
    return floor.report(id=report_id, kind=kind, code=None, reason=reason)


def send(floor: Floor, report_id: str, **changed):
    values = {"table": "T1", "captured_ms": 5, "frame": text(jpeg()), "card": None} | changed
    return floor.pictures.take("cam", report_id=report_id, **values)


def held(floor: Floor, report_id: str):
    code = code_of(serial_of("9S"), deck_set=9)
    return floor.report(id=report_id, kind="card_seen", code=code, reason="other_deck_set")


# Which reports --------------------------------------------------------------------------------


def test_the_first_failed_read_of_a_card_and_every_held_card_want_a_picture(both):
    both.to_betting()
    assert failed(both, "cam-901") == WANTED
    assert failed(both, "cam-902", "unreadable") == WANTED, "the card was laid anew"
    assert held(both, "cam-903") == WANTED


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "card_seen", "code": code_of(serial_of("9S")), "reason": None},
        {"kind": "read_failed", "code": None, "reason": "staff_badge"},
        {"kind": "card_seen", "code": BADGE, "reason": None},
        {"kind": "still_unread", "code": None, "reason": "no_code"},
    ],
    ids=["read", "badge", "badge of the first release", "still lies there"],
)
def test_no_other_report_wants_one(floor, body):
    floor.to_betting()
    assert floor.report(**body) == NOT_WANTED


def test_a_failed_read_that_is_no_news_wants_none(floor):
    floor.to_play()
    assert failed(floor, "cam-901") == NOT_WANTED, "no card is waited for"


def test_a_report_whose_first_answer_was_lost_hears_again_that_its_picture_is_wanted(both):
    both.to_betting()
    failed(both, "cam-901")
    assert failed(both, "cam-901") == {"taken": True, "duplicate": True, "picture": True}
    send(both, "cam-901")
    assert failed(both, "cam-901") == {"taken": True, "duplicate": True}


# Taking ---------------------------------------------------------------------------------------


def test_a_picture_is_taken_once(both):
    both.to_betting()
    failed(both, "cam-901")
    assert send(both, "cam-901") == {"taken": True, "duplicate": False}
    assert both.publisher.hints[-1] == {"kind": "picture", "table": "T1"}
    other = text(jpeg(32, 32))
    assert send(both, "cam-901", frame=other) == {"taken": True, "duplicate": True}
    assert send(both.restarted(), "cam-901") == {"taken": True, "duplicate": True}
    (row,) = both.pictures.of_table("T1")
    opened = both.pictures.open(PIT, row["id"], reason="look")
    assert opened["frame"] == text(jpeg()), "the first one stays"
    assert both.faults() == []


@pytest.mark.parametrize(
    ("report_id", "changed"),
    [("cam-902", {}), ("cam-901", {"table": "T2"}), ("cam-909", {})],
    ids=["not wanted", "another table", "never reported"],
)
def test_a_picture_that_nobody_wants_is_refused(floor, report_id, changed):
    floor.to_betting()
    failed(floor, "cam-901")
    floor.report(id="cam-902", kind="card_seen", code=code_of(serial_of("9S")), reason=None)
    with pytest.raises(RefusedError) as refusal:
        send(floor, report_id, **changed)
    assert refusal.value.code == "picture_not_wanted"
    assert floor.pictures.of_table("T1") == []


WRONG = [
    ({"frame": None}, "picture_not_jpeg"),
    ({"frame": 7}, "picture_not_jpeg"),
    ({"frame": ""}, "picture_not_jpeg"),
    ({"frame": "%%%"}, "picture_not_jpeg"),
    ({"frame": "あ"}, "picture_not_jpeg"),
    ({"frame": text(b"GIF89a" + bytes(40))}, "picture_not_jpeg"),
    ({"frame": text(b"<svg xmlns='http://www.w3.org/2000/svg'/>")}, "picture_not_jpeg"),
    ({"frame": text(jpeg()[:-2])}, "picture_not_jpeg"),
    ({"frame": text(jpeg(0, 36))}, "picture_not_jpeg"),
    ({"frame": text(b"\xff\xd8\xff\xd9")}, "picture_not_jpeg"),
    ({"card": text(b"\xff\xd8" + bytes(40) + b"\xff\xd9")}, "picture_not_jpeg"),
    ({"frame": text(jpeg(SIDE_PX_MAX + 1, 36))}, "picture_too_large"),
    ({"card": text(jpeg(36, SIDE_PX_MAX + 1))}, "picture_too_large"),
    ({"frame": text(jpeg(size=FRAME_BYTES_MAX + 1))}, "picture_too_large"),
    ({"card": text(jpeg(size=CARD_BYTES_MAX + 1))}, "picture_too_large"),
    ({"frame": "A" * 1_000_000}, "picture_too_large"),
]


@pytest.mark.parametrize(("changed", "code"), WRONG)
def test_what_is_no_small_jpeg_is_malformed_and_still_wanted(floor, changed, code):
    floor.to_betting()
    failed(floor, "cam-901")
    with pytest.raises(MalformedError) as fault:
        send(floor, "cam-901", **changed)
    assert fault.value.code == code
    assert len(fault.value.message) < 100, "no message repeats a picture"
    assert send(floor, "cam-901")["duplicate"] is False


def test_the_largest_picture_is_taken(both):
    both.to_betting()
    failed(both, "cam-901")
    frame = text(jpeg(SIDE_PX_MAX, 720, size=FRAME_BYTES_MAX))
    card = text(jpeg(500, SIDE_PX_MAX, size=CARD_BYTES_MAX))
    assert send(both, "cam-901", frame=frame, card=card)["taken"]
    (row,) = both.pictures.of_table("T1")
    opened = both.pictures.open(PIT, row["id"], reason="look")
    assert (opened["frame"], opened["card"]) == (frame, card)


def test_the_size_of_a_real_jpeg_is_read_from_its_head():
    _, data = cv2.imencode(".jpg", np.full((48, 80, 3), 90, np.uint8))
    assert jpeg_size(data.tobytes()) == (80, 48)


@pytest.mark.parametrize("cut", range(2, 27))
def test_a_cut_head_is_no_jpeg(cut):
    assert jpeg_size(jpeg()[:cut] + b"\xff\xd9") is None


# Keeping --------------------------------------------------------------------------------------


def prune(floor) -> int:
    return RetentionService(units=floor.units, days=DAYS).run()["pictures"]


def test_pictures_go_when_they_are_older_than_their_days(both):
    both.to_betting()
    for number in (1, 2):
        failed(both, f"cam-90{number}")
        send(both, f"cam-90{number}")
        both.wait(DAY_MS)
    both.wait((DAYS[Kept.PICTURES] - 2) * DAY_MS)
    assert prune(both) == 0
    both.wait(1)
    assert prune(both) == 1
    assert len(both.pictures.of_table("T1")) == 1


def test_a_picture_that_comes_after_its_time_is_wanted_no_more(floor):
    floor.to_betting()
    failed(floor, "cam-901")
    floor.wait(DAYS[Kept.PICTURES] * DAY_MS + 1)
    assert prune(floor) == 1
    with pytest.raises(RefusedError) as refusal:
        send(floor, "cam-901")
    assert refusal.value.code == "picture_not_wanted"
    assert floor.faults() == []


# Showing --------------------------------------------------------------------------------------


def test_a_supervisor_opens_a_picture_with_a_reason_that_stays_in_the_trail(both):
    both.to_betting()
    held(both, "cam-901")
    send(both, "cam-901", card=text(jpeg(30, 50)))
    (row,) = both.pictures.of_table("T1")
    assert row == {
        "id": row["id"],
        "table": "T1",
        "round_id": "T1-1-1",
        "why": "other_deck_set",
        "at_ms": row["at_ms"],
    }
    opened = both.pictures.open(PIT, row["id"], reason="where does it come from")
    assert opened == {**row, "frame": text(jpeg()), "card": text(jpeg(30, 50))}
    with both.units.read() as unit:
        (line, *_) = unit.trail.read(limit=5, before_id=None)
    assert (line.actor, line.action, line.subject) == ("Mori", "open_picture", "T1-1-1")
    assert line.reason == "where does it come from"
    assert line.after == {
        "picture": row["id"],
        "report": "cam-901",
        "why": "other_deck_set",
        "at_ms": row["at_ms"],
    }


def test_each_opening_has_its_own_line(floor):
    floor.to_betting()
    failed(floor, "cam-901")
    send(floor, "cam-901")
    (row,) = floor.pictures.of_table("T1")
    for reason in ("look", "look again"):
        floor.pictures.open(PIT, row["id"], reason=reason)
    with floor.units.read() as unit:
        lines = unit.trail.read(limit=2, before_id=None)
    assert [line.reason for line in lines] == ["look again", "look"]


@pytest.mark.parametrize("actor", [DEALER, AUDITOR, ADMINISTRATOR, PLAYER])
def test_nobody_else_opens_one_and_no_line_is_written(floor, actor):
    floor.to_betting()
    failed(floor, "cam-901")
    send(floor, "cam-901")
    (row,) = floor.pictures.of_table("T1")
    with pytest.raises(RefusedError) as refusal:
        floor.pictures.open(actor, row["id"], reason="curious")
    assert refusal.value.code == "role_forbids"
    with floor.units.read() as unit:
        assert unit.trail.read(limit=1, before_id=None) == []


def test_a_picture_that_has_not_come_or_never_was_can_not_be_opened(floor):
    floor.to_betting()
    failed(floor, "cam-901")
    for picture_id in (1, 404):
        with pytest.raises(RefusedError) as refusal:
            floor.pictures.open(PIT, picture_id, reason="look")
        assert refusal.value.code == "unknown_picture"


def test_the_list_tells_the_latest_and_nothing_of_what_they_show(floor):
    floor.to_betting()
    for number in range(LIST_MAX + 2):
        failed(floor, f"cam-90{number}")
        send(floor, f"cam-90{number}")
    rows = floor.pictures.of_table("T1")
    assert [row["id"] for row in rows] == list(range(LIST_MAX + 2, 2, -1))
    assert set(rows[0]) == {"id", "table", "round_id", "why", "at_ms"}
    assert floor.pictures.of_table("T2") == []
    with pytest.raises(MalformedError):
        floor.pictures.of_table("T9")


def test_the_pit_finds_an_alarms_own_picture_and_a_tables_latest(both):
    both.to_betting()
    for number in (1, 2, 3):
        failed(both, f"cam-90{number}")
        both.wait(1_000)
    both.command("call_pit")
    send(both, "cam-901")
    shown = both.tables.pit(both.links)
    assert {alarm["code"]: alarm["picture"] for alarm in shown["alarms"]} == {
        "card_not_read": None
    }, "the third report raised it; its picture has not come"
    send(both, "cam-903")
    shown = both.tables.pit(both.links)
    newest = both.pictures.of_table("T1")[0]["id"]
    assert shown["alarms"][0]["picture"] == newest
    assert [item["picture"] for item in shown["tables"]] == [newest, None]
    both.show("9S")
    both.show(*HANDS[:1])
    held(both, "cam-904")
    send(both, "cam-904")
    (alarm,) = both.tables.pit(both.links)["alarms"]
    assert (alarm["code"], alarm["picture"]) == ("other_deck_set", newest + 1)


def test_what_is_said_of_a_wanted_picture_is_no_content():
    fields = set(WantedPicture.__dataclass_fields__)
    assert not fields & {"frame", "card", "code", "serial", "face"}
