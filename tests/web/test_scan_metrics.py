"""What a studio's monitoring reads of the scanners."""

from prometheus_client.parser import text_string_to_metric_families

from tests.conftest import DEVICE_KEY

SCAN = {
    "frames": 900,
    "read": 40,
    "read_by_copy": [30, 9, 1],
    "failed": {"no_code": 2, "taken_away": 1},
    "faults": 1,
    "restarts": 1,
    "dropped": 5,
    "reopened": 0,
    "frozen": True,
    "camera": "frozen",
    "pictures_dropped": 0,
}


def beat(app, **changed):
    body = {
        "table": "T1",
        "link": "scanner",
        "frame_age_ms": 250,
        "fps": 29.5,
        "queued": 2,
        "queue_max": 10_000,
        "scan": SCAN,
        **changed,
    }
    answer = app.test_client().post(
        "/api/device/heartbeat", json=body, headers={"X-Device-Key": DEVICE_KEY}
    )
    assert answer.status_code == 200, answer.text


def scraped(stranger):
    families = text_string_to_metric_families(stranger.get("/metrics").text)
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in families
        for sample in family.samples
    }


def test_a_scanners_figures_are_scraped_by_table(app, stranger):
    beat(app)
    found = scraped(stranger)
    assert found["studio_scanner_up", "T1"] == 1
    assert found["studio_scanner_frame_age_seconds", "T1"] == 0.25
    assert found["studio_scanner_frames_per_second", "T1"] == 29.5
    assert found["studio_scanner_reports_waiting", "T1"] == 2
    assert found["studio_scanner_reports_waiting_max", "T1"] == 10_000
    assert found["studio_scanner_frames_total", "T1"] == 900
    assert found["studio_scanner_cards_read_total", "T1"] == 40
    assert found["studio_scanner_reads_total", "T1", "bottom_right"] == 9
    assert found["studio_scanner_failed_reads_total", "T1", "taken_away"] == 1
    assert found["studio_scanner_decoder_restarts_total", "T1"] == 1
    assert found["studio_scanner_camera_state", "T1", "frozen"] == 1
    assert found["studio_scanner_camera_state", "T1", "open"] == 0
    assert ("studio_scanner_frames_total", "T2") not in found, "it has said nothing yet"


def test_of_a_silent_scanner_only_its_silence_is_told(app, stranger, clock):
    beat(app)
    clock.advance(3_001)
    found = scraped(stranger)
    assert found["studio_scanner_up", "T1"] == 0
    assert [key for key in found if key[0].startswith("studio_scanner_") and key[1] == "T1"] == [
        ("studio_scanner_up", "T1")
    ]


def test_a_scanner_of_the_first_release_shows_what_it_says(app, stranger):
    beat(app, scan=None, queue_max=None, frame_age_ms=None)
    found = scraped(stranger)
    assert found["studio_scanner_reports_waiting", "T1"] == 2
    assert ("studio_scanner_frame_age_seconds", "T1") not in found
    assert ("studio_scanner_frames_total", "T1") not in found


def test_a_heartbeat_of_another_shape_is_answered_with_the_name_of_its_fault(app):
    body = {"table": "T1", "link": "scanner", "scan": {"mood": 1}}
    answer = app.test_client().post(
        "/api/device/heartbeat", json=body, headers={"X-Device-Key": DEVICE_KEY}
    )
    assert (answer.status_code, answer.json["error"]["code"]) == (400, "scan_health")
