"""The doors of pictures: a device brings one, a supervisor opens one and says why."""

import logging

import pytest

from studio.web.api.device import PICTURE_BODY_BYTES_MAX
from tests.conftest import DEVICE_KEY
from tests.support.jpegs import jpeg, text
from tests.web.floor import TABLE, make_floor

FRAME = text(jpeg(1280, 720, size=400_000))
CARD = text(jpeg(400, 560, size=150_000))


@pytest.fixture
def floor(studio, clock, login):
    """A round whose first card does not read."""
    floor = make_floor(studio, clock, login)
    floor.open_round()
    answer = floor.report(None, kind="read_failed", reason="unreadable")
    assert answer.json == {"taken": True, "duplicate": False, "picture": True}
    return floor


def bring(floor, **changed):
    body = {
        "table": TABLE,
        "report": f"cam-{floor.reports}",
        "frame": FRAME,
        "card": CARD,
        "reason": "unreadable",
        "captured_ms": 5,
        **changed,
    }
    return floor.camera.post(
        "/api/device/pictures",
        json={key: value for key, value in body.items() if value is not ...},
        headers={"X-Device-Key": DEVICE_KEY},
    )


def first(browser):
    return browser.get(f"/api/tables/{TABLE}/pictures").json["pictures"][0]["id"]


def openings(browser):
    lines = browser.get("/api/trail").json["lines"]
    return [line for line in lines if line["action"] == "open_picture"]


def test_a_device_brings_the_largest_picture_once(floor):
    assert bring(floor).json == {"taken": True, "duplicate": False}
    assert bring(floor).json == {"taken": True, "duplicate": True}


@pytest.mark.parametrize("changed", [{"card": None}, {"card": ...}, {"reason": None}])
def test_card_and_reason_may_be_absent(floor, changed):
    assert bring(floor, **changed).json == {"taken": True, "duplicate": False}


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({"table": "T9"}, 403, "forbidden"),
        ({"table": 7}, 400, "not_a_name"),
        ({"report": "other-1"}, 400, "report_id"),
        ({"report": None}, 400, "report_id"),
        ({"report": "cam-404"}, 409, "picture_not_wanted"),
        ({"frame": ...}, 400, "missing_field"),
        ({"frame": text(b"<html>")}, 400, "picture_not_jpeg"),
        ({"card": text(jpeg(size=150_001))}, 400, "picture_too_large"),
        ({"captured_ms": -1}, 400, "not_an_integer"),
        ({"reason": "bored"}, 400, "not_allowed"),
        ({"face": "a"}, 400, "unknown_field"),
        ({"frame": "A" * PICTURE_BODY_BYTES_MAX}, 413, "request_entity_too_large"),
    ],
)
def test_a_wrong_picture_is_refused_and_the_right_one_still_taken(floor, changed, status, code):
    answer = bring(floor, **changed)
    assert (answer.status_code, answer.json["error"]["code"]) == (status, code)
    assert FRAME[:40] not in answer.text
    assert bring(floor).json["duplicate"] is False


def test_other_doors_of_the_devices_take_no_body_of_that_size(floor):
    answer = floor.report(None, kind="read_failed", reason="unreadable", note="x" * 70_000)
    assert answer.status_code == 413


def test_a_supervisor_sees_a_picture_after_saying_why(floor, login):
    bring(floor)
    pit = login("pit_supervisor")
    answer = pit.post(f"/api/pictures/{first(pit)}/open", {"reason": "smudged?"})
    assert answer.status_code == 200
    assert (answer.json["frame"], answer.json["card"]) == (FRAME, CARD)
    assert answer.headers["Cache-Control"] == "no-store"
    (line,) = openings(login("auditor"))
    assert line["reason"] == "smudged?"
    assert FRAME[:40] not in str(line)


@pytest.mark.parametrize("body", [{}, {"reason": ""}, {"reason": " "}, {"reason": 7}])
def test_without_a_reason_nothing_is_shown_and_nothing_noted(floor, login, body):
    bring(floor)
    pit = login("pit_supervisor")
    answer = pit.post(f"/api/pictures/{first(pit)}/open", body)
    assert answer.status_code == 400
    assert openings(pit) == []


@pytest.mark.parametrize("role", ["auditor", "administrator", "dealer", "player"])
def test_other_roles_are_shown_none(floor, login, role):
    bring(floor)
    answer = login(role).post(f"/api/pictures/{first(login('auditor'))}/open", {"reason": "why"})
    assert (answer.status_code, answer.json["error"]["code"]) == (403, "forbidden")
    assert openings(login("auditor")) == []


def test_a_picture_that_is_not_there_is_404(floor, login):
    answer = login("pit_supervisor").post("/api/pictures/404/open", {"reason": "why"})
    assert (answer.status_code, answer.json["error"]["code"]) == (404, "unknown_picture")


def test_when_the_trail_can_not_be_written_no_picture_is_shown(floor, login, app, monkeypatch):
    bring(floor)
    pit = login("pit_supervisor")
    picture = first(pit)
    app.testing = False

    def full(*_: object, **__: object) -> None:
        message = "disk full"
        raise OSError(message)

    monkeypatch.setattr("studio.store.pit.SqlTrail.write", full)
    answer = pit.post(f"/api/pictures/{picture}/open", {"reason": "why"})
    assert answer.status_code == 500
    assert FRAME[:40] not in answer.text


def test_lists_and_the_pits_view_hold_no_picture(floor, login):
    bring(floor)
    for path in ("/api/pit", f"/api/tables/{TABLE}/pictures", f"/api/tables/{TABLE}", "/metrics"):
        assert FRAME[:40] not in login("auditor").get(path).text


def test_a_picture_is_in_no_log_line_not_even_when_the_store_fails(floor, caplog, monkeypatch):
    floor.camera.application.testing = False
    with floor.studio.tables.units.write() as unit:
        unit.connection.exec_driver_sql("ALTER TABLE scan_picture RENAME COLUMN frame TO gone")
        unit.commit()
    with caplog.at_level(logging.DEBUG):
        assert bring(floor).status_code == 500
    assert "scan_picture" in caplog.text, "the fault is told"
    assert FRAME[:40] not in caplog.text
    assert "\\xff\\xd8" not in caplog.text
