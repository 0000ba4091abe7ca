"""What a scanner tells about itself: numbers and plain words, and nobody's card."""

import json

import pytest

from scanner.confirm import Reason, Report, ReportKind
from scanner.health import CAMERA_TROUBLES, CameraState, SourceHealth, Tally, TroubleBook
from scanner.sighting import Decoder, Reading, Sighting

CODE = "149008012345"


def source(state=CameraState.OPEN, **more):
    return SourceHealth(
        **{"frames": 9, "dropped": 4, "reopened": 2, "age_ms": 5, "state": state, **more}
    )


def sighting(*copies, text=CODE):
    readings = tuple(Reading(text=text, decoder=Decoder.ZXING, copy=copy) for copy in copies)
    return Sighting(cards_in_view=1, readings=readings, still=True)


def seen(reason=None):
    return Report(kind=ReportKind.CARD_SEEN, code=CODE, reason=reason)


def test_the_heartbeat_has_every_count_from_the_start_and_no_card():
    tally = Tally()
    assert tally.scan(source(), restarts=3, pictures_dropped=1) == {
        "frames": 0,
        "read": 0,
        "read_by_copy": [0, 0, 0],
        "failed": {},
        "faults": 0,
        "restarts": 3,
        "dropped": 4,
        "reopened": 2,
        "frozen": False,
        "camera": "open",
        "pictures_dropped": 1,
    }
    tally.add_frame(taken_ms=0)
    tally.add_sighting(Sighting(cards_in_view=0, still=True, faults=2))
    tally.add_report(seen(), sighting(0, 0, 1))
    tally.add_report(seen(), sighting(None))
    scan = tally.scan(source(), restarts=0, pictures_dropped=0)
    assert (scan["frames"], scan["faults"], scan["read"]) == (1, 2, 2)
    assert scan["read_by_copy"] == [1, 1, 1]
    assert CODE not in json.dumps(scan)


def test_a_place_counts_only_where_the_reported_code_was_read():
    tally = Tally()
    tally.add_report(seen(), sighting(1, text="another"))
    scan = tally.scan(source(), restarts=0, pictures_dropped=0)
    assert (scan["read"], scan["read_by_copy"]) == (1, [0, 0, 0])


def test_failures_count_by_reason_and_a_card_that_still_lies_there_once():
    tally = Tally()
    unread = {"reason": Reason.UNREADABLE}
    tally.add_report(Report(kind=ReportKind.READ_FAILED, **unread), sighting())
    for _ in range(3):
        tally.add_report(Report(kind=ReportKind.STILL_UNREAD, **unread), sighting())
    tally.add_report(seen(Reason.UNKNOWN_SERIAL), sighting(0))
    scan = tally.scan(source(), restarts=0, pictures_dropped=0)
    assert scan["failed"] == {"unreadable": 1, "unknown_serial": 1}
    assert (scan["read"], scan["read_by_copy"]) == (0, [0, 0, 0])


@pytest.mark.parametrize("state", CameraState)
def test_every_state_of_a_camera_is_told(state):
    scan = Tally().scan(source(state), restarts=0, pictures_dropped=0)
    assert (scan["camera"], scan["frozen"]) == (state.value, state is CameraState.FROZEN)
    assert (state in CAMERA_TROUBLES) == (state is not CameraState.OPEN)


def test_the_rate_is_that_of_the_last_frames():
    tally = Tally()
    assert tally.frames_per_s == 0
    for taken_ms in (0, 0, 50, 100):
        tally.add_frame(taken_ms=taken_ms)
    assert tally.frames_per_s == pytest.approx(30)


def test_the_last_trouble_is_remembered_with_its_age():
    book = TroubleBook()
    assert book.take((None, None), now_ms=0) == {}
    words = {"trouble": "The camera is lost. The disk is full."}
    troubles = (None, "The camera is lost.", "The disk is full.")
    assert book.take(troubles, now_ms=1_000) == words
    assert book.take((None,), now_ms=3_500) == {
        "last_trouble": words["trouble"],
        "last_trouble_age_ms": 2_500,
    }
