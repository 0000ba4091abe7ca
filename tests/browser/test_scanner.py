"""The scanner on the screens: offline work at the station, health and pictures in the pit."""

import http.server
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests
from playwright.sync_api import expect

from studio.demo.camera import CameraHand
from studio.demo.client import DoorError
from studio.demo.processes import Processes
from tests.browser.access import barriers
from tests.browser.dealing import BURN, HANDS, Table
from tests.browser.house import HAND_SCANNER, SCANNER, House, until
from tests.browser.looks import SIZES, check, cut_off, poor_contrast, sideways
from tests.browser.pictures import measure, unread
from tests.browser.windows import Windows

pytestmark = pytest.mark.browser

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
GAP_FORWARD_S = 10


class Wire:
    """The way from a scanner to the studio: while it is held, reports come back unanswered."""

    def __init__(self, studio_url: str) -> None:
        self.held = threading.Event()
        wire = self

        class Forward(http.server.BaseHTTPRequestHandler):
            def _forward(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if wire.held.is_set() and self.path.endswith("/reports"):
                    self.send_error(503)
                    return
                answer = requests.request(
                    self.command,
                    studio_url + self.path,
                    data=body,
                    headers={
                        name: self.headers[name]
                        for name in ("X-Device-Key", "Content-Type")
                        if name in self.headers
                    },
                    timeout=GAP_FORWARD_S,
                )
                self.send_response(answer.status_code)
                self.send_header("Content-Type", answer.headers["Content-Type"])
                self.send_header("Content-Length", str(len(answer.content)))
                self.end_headers()
                self.wfile.write(answer.content)

            do_GET = do_POST = _forward  # noqa: N815  the handler's own names

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Forward)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self) -> "Wire":
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@contextmanager
def real_scanner(house: House, table: str) -> Iterator[tuple[Wire, CameraHand]]:
    """Run a scanner of its own over a table's simulated glass, behind a wire that can be held."""
    with (
        tempfile.TemporaryDirectory(prefix="studio-wire-") as name,
        Wire(house.url) as wire,
        Processes(folder=Path(name)) as processes,
    ):
        folder = Path(name)
        socket = folder / "cam.sock"
        settings = SCANNER.format(socket=socket, queue=folder / "reports.db", url=wire.url)
        settings = settings.replace('"T1"', f'"{table}"').replace('"camera-1"', f'"{HAND_SCANNER}"')
        (folder / "scanner.toml").write_text(settings)
        key = {"STUDIO_DEVICE_KEY": house.device_keys[HAND_SCANNER]}
        arguments = ["-m", "scanner", "--config", str(folder / "scanner.toml")]
        processes.start("scanner", arguments, key)
        until(socket.exists, what="the simulated camera")
        yield wire, CameraHand(socket)


def test_the_station_says_that_reports_wait_what_to_do_and_how_many_came_in(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    table.make_ready()
    with real_scanner(house, "T2") as (wire, camera):
        table.start_round()
        station = windows.of(table.dealer, "/station?table=T2").live()
        expect(station("instruction")).to_have_text("Burn 1 card")
        expect(station("offline")).to_be_hidden()
        wire.held.set()
        for count, face in enumerate((BURN, *HANDS[:2]), start=1):
            camera.place(table.printed(face).digits)
            expect(station("offline")).to_contain_text(f"{count} unsent")
        offline = station("offline")
        expect(offline).to_contain_text("SCANNER OFFLINE")
        expect(offline).to_contain_text("Deal on, this round counts. Start no new one. 3 unsent")
        station.page.reload()
        station.live()
        expect(offline).to_contain_text("3 unsent")
        assert barriers(station.page) == []
        for width, height in SIZES:
            station.page.set_viewport_size({"width": width, "height": height})
            assert sideways(station.page) == {"scroll": 0, "wide": []}
            assert poor_contrast(station.page) == []
            assert cut_off(station.page) == []
        expect(station("instruction")).to_have_text("Burn 1 card")
        wire.held.clear()
        expect(station("notice")).to_contain_text("Back. 3 sent. Continue: P3 card 1")
        expect(offline).to_be_hidden()
        expect(station("cell-P2-1")).to_have_attribute("data-state", "read")
    table.pit("void_round")


def test_a_station_without_its_own_link_says_so_and_goes_on_where_the_table_stands(
    tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    table.make_ready()
    table.start_round()
    station = windows.of(table.dealer, "/station?table=T2").live()
    station.offline = True
    expect(station("instruction")).to_have_text("Burn 1 card")
    station.context.set_offline(True)
    station.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(station("offline")).to_contain_text("OFFLINE")
    expect(station("offline")).to_contain_text("The scanner keeps what it reads.")
    expect(station("stop")).to_be_disabled()
    table.lay(BURN)
    station.context.set_offline(False)
    expect(station("notice")).to_contain_text("Back online. Continue: P1 card 1")
    expect(station("offline")).to_be_hidden()
    expect(station("instruction")).to_have_text("Deal P1, card 1")
    table.pit("void_round")


def beat(table: Table, *, queued: int = 0, **scan: object) -> None:
    table.device(
        "heartbeat",
        link="scanner",
        frame_age_ms=33,
        fps=29.9,
        queued=queued,
        queue_max=10_000,
        scan=SCAN | scan,
    )


def test_the_drawer_shows_the_scanners_health_and_a_trouble_is_one_alarm(
    tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    table.make_ready()
    beat(table)
    pit = windows.of("pit", "/pit").live()
    pit("tile-T2").click()
    expect(pit("scan-camera")).to_have_text("running")
    expect(pit("scan-by_copy")).to_have_text("280 · 120 · 10")
    expect(pit("scan-not_read")).to_have_text("no code 3 · two cards 1")
    expect(pit("scan-waiting")).to_have_text("0 of 10,000")
    expect(pit("scan-camera")).to_have_attribute("data-bad", "false")
    for _ in range(3):
        beat(table, camera="frozen", queued=8_500)
    alarms = pit("alarms").get_by_role("listitem")
    expect(alarms.filter(has_text="T2 reader's picture stands still")).to_have_count(1)
    expect(alarms.filter(has_text="T2 reader's reports pile up: 8500 of 10000")).to_have_count(1)
    expect(pit("scan-camera")).to_have_text("STANDS STILL")
    expect(pit("scan-camera")).to_have_attribute("data-bad", "true")
    assert barriers(pit.page) == []
    check(pit, ["drawer", "alarm-count", "tile-T2"])
    beat(table)
    expect(alarms.filter(has_text="T2 reader's")).to_have_count(0)


def test_a_lost_link_that_the_camera_explains_is_told_with_the_camera(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    table.make_ready()
    beat(table, camera="lost")
    pit = windows.of("pit", "/pit").live()
    alarm = pit("alarms").get_by_role("listitem").filter(has_text="T2 reader's camera gives no")
    expect(alarm).to_contain_text("Check the camera's cable and power")
    with house.units.write() as unit:
        unit.alarms.raise_alarm(
            priority=2, code="video_lost", table="T2", round_id=None, at_ms=1, details={}
        )
        unit.commit()
    expect(alarm).to_contain_text("With it: video lost")
    expect(pit("alarm-video_lost")).to_have_count(0)
    beat(table)
    expect(alarm).to_have_count(0)
    expect(pit("alarm-video_lost")).to_be_visible()
    with house.units.write() as unit:
        unit.alarms.clear(table="T2", codes=["video_lost"], at_ms=2)
        unit.commit()


def test_a_devices_alarm_is_taken_with_a_reason_before_the_next_round(
    tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    table.make_ready()
    beat(table, camera="frozen")
    pit = windows.of("pit", "/pit").live()
    alarm = pit("alarm-camera_frozen")
    with pytest.raises(DoorError) as refusal:
        table.start_round()
    assert refusal.value.code == "device_alarm_unseen"
    alarm.get_by_test_id("acknowledge").click()
    pit.dialog.locator("textarea").fill("A lamp was left on.")
    pit.confirm()
    expect(alarm).to_contain_text("Acknowledged")
    table.start_round()
    table.pit("void_round")
    beat(table)
    expect(alarm).to_have_count(0)


def test_a_supervisor_says_why_and_sees_the_picture_of_an_alarm(
    house: House, tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    table.make_ready()
    table.start_round()
    for number in range(3):
        unread(table, f"look-{table.position()}-{number}".replace(" ", ""))
    pit = windows.of("pit", "/pit").live()
    alarm = pit("alarms").get_by_role("listitem").filter(has_text="T2 card not read ×3")
    alarm.get_by_test_id("alarm-picture").click()
    expect(pit("picture-reason")).to_contain_text("stays in the audit trail")
    expect(pit.cancel).to_be_focused()
    measure(pit)
    pit("field-reason").fill("is the code dirty")
    pit.confirm()
    frame = pit("picture-frame")
    expect(frame).to_be_visible()
    until(lambda: frame.evaluate("one => one.naturalWidth") == 1280, what="the frame is shown")
    expect(pit("picture-card")).to_be_visible()
    measure(pit)
    pit.page.keyboard.press("Escape")
    expect(frame).to_have_count(0)
    assert "data:image/jpeg" not in pit.page.content(), "nothing of it stays"
    auditor = house.door("auditor").get("/api/trail")["lines"][0]
    assert (auditor["action"], auditor["reason"]) == ("open_picture", "is the code dirty")
    table.pit("void_round")


def test_what_a_real_scanner_could_not_read_is_seen_by_the_supervisor(
    tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    table.make_ready()
    with real_scanner(table.house, "T2") as (_, camera):
        table.start_round()
        camera.place(table.printed(BURN).digits, trouble="two_cards")
        pit = windows.of("pit", "/pit").live()
        pit("tile-T2").click()
        newest = pit("drawer-pictures").get_by_role("listitem").first
        expect(newest).to_contain_text("two cards")
        newest.get_by_test_id("picture-open").click()
        pit("field-reason").fill("which one came first")
        pit.confirm()
        frame = pit("picture-frame")
        until(lambda: frame.evaluate("one => one.naturalWidth") > 0, what="the frame is shown")
        pit("picture-close").click()
        expect(pit("scan-camera")).to_have_text("running")
        expect(pit("scan-not_read")).to_contain_text("two cards 1")
    table.pit("void_round")


def test_the_drawer_lists_a_tables_pictures_and_only_a_supervisor_may_open_them(
    tables: dict[str, Table], windows: Windows
) -> None:
    table = tables["T2"]
    table.make_ready()
    table.start_round()
    unread(table, f"list-{table.position()}".replace(" ", ""))
    pit = windows.of("pit", "/pit").live()
    pit("tile-T2").click()
    rows = pit("drawer-pictures").get_by_role("listitem")
    expect(rows.first).to_contain_text("not clear")
    rows.first.get_by_test_id("picture-open").click()
    pit.cancel.click()
    expect(pit("picture")).to_have_count(0)
    auditor = windows.of("auditor", "/pit").live()
    auditor("tile-T2").click()
    seen = auditor("drawer-pictures").get_by_role("listitem")
    expect(seen.first).to_contain_text("not clear")
    expect(auditor("picture-open")).to_have_count(0)
    expect(auditor("alarm-picture")).to_have_count(0)
    trail = windows.of("auditor", "/pit/trail")
    expect(trail("trail")).to_be_visible()
    table.pit("void_round")
