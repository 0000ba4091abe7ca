"""The set-up page in a real browser, with a drawn camera whose table changes."""

import threading
from collections.abc import Iterator

import numpy as np
import pytest
from cv2.typing import MatLike
from playwright.sync_api import Browser, expect

from scanner.calibrate import Calibrator
from scanner.calibrate_page import Page as SetUpPage
from scanner.calibrate_page import serving
from scanner.calibration_texts import TEXTS
from scanner.camera import CameraError, LiveSource
from scanner.clock import monotonic_ms
from scanner.decode import Reader, load_decoders
from scanner.drawing import Look, Noise, Pose, card_face, felt, lay, seen_through, stamped_face
from scanner.layout import Symbology
from scanner.symbol import TEST_DIGITS, code_modules
from studio.domain.cards import ALL_CARDS, card_code
from tests.browser.access import barriers
from tests.browser.looks import SIZES, cut_off, poor_contrast, sideways, small_targets
from tests.browser.windows import PATIENCE_MS, Window

pytestmark = pytest.mark.browser

CLEAR = Look(blur_px=0.5, motion_px=0, noise=3.0, light=0.9, glare=0.0, tilt_deg=0.0)
DARK = Look(blur_px=0.5, motion_px=0, noise=3.0, light=0.25, glare=0.0, tilt_deg=0.0)
TEST_FACE = stamped_face(np.array(code_modules(TEST_DIGITS), np.uint8))
CARD = card_code(ALL_CARDS[20], deck_set=3, serial=21).digits
FRAMES_PER_S = 25
VERDICT_MS = 20_000
"""Seconds of frames have to pass before most of them show what is new."""


class DrawnCamera:
    """A camera whose view the test changes, and whose plug it pulls."""

    def __init__(self) -> None:
        self._pace = threading.Event()
        self._rng = np.random.default_rng(3)
        self._noise = Noise(self._rng, width=1280, height=720, sigma=3.0)
        self._table = felt(self._rng, width=1280, height=720)
        self.plugged = True
        self.show(None)

    def show(self, face: MatLike | None, *, look: Look = CLEAR, width_px: float = 330) -> None:
        pose = Pose(centre_x=640, centre_y=360, width_px=width_px, angle_deg=17, tilt_deg=3)
        table = self._table if face is None else lay(self._table, face, pose=pose)
        self._view = seen_through(table, look, rng=self._rng)

    def open(self) -> "DrawnCamera":
        if not self.plugged:
            raise CameraError("There is no plug in.")
        return self

    def read(self) -> MatLike | None:
        self._pace.wait(1 / FRAMES_PER_S)
        return self._noise.on(self._view) if self.plugged else None

    def close(self) -> None:
        pass


@pytest.fixture
def camera() -> DrawnCamera:
    return DrawnCamera()


@pytest.fixture
def address(camera: DrawnCamera) -> Iterator[str]:
    symbology, stop = Symbology.QR, threading.Event()
    source = LiveSource(camera.open, name="drawn", now_ms=monotonic_ms)
    calibrator = Calibrator(source, Reader(load_decoders(symbology)), symbology=symbology)
    work = threading.Thread(target=calibrator.run, args=(stop,), daemon=True)
    work.start()
    page = SetUpPage(calibrator, symbology=symbology)
    with serving(page, host="127.0.0.1", port=0) as url:
        yield url
    stop.set()
    work.join(10)
    source.close()


@pytest.fixture
def window(chromium: Browser, address: str) -> Iterator[Window]:
    context = chromium.new_context(viewport={"width": 1280, "height": 720}, locale="en-GB")
    context.set_default_timeout(PATIENCE_MS)
    opened = Window(context=context, page=context.new_page(), url=address.rstrip("/"))
    yield opened.open("/")
    context.close()
    assert not opened.troubles, "\n".join(opened.troubles)


def expect_verdict(window: Window, code: str) -> None:
    expect(window("verdict")).to_have_attribute("data-code", code, timeout=VERDICT_MS)


def test_a_technician_is_led_from_an_empty_table_to_ready(
    camera: DrawnCamera, window: Window
) -> None:
    expect_verdict(window, "no_card")
    expect(window("verdict-text")).to_contain_text("lay the test card under the camera")
    expect(window("picture")).to_be_visible()
    camera.show(TEST_FACE, look=DARK)
    expect_verdict(window, "dark")
    expect(window("line-paper")).to_have_attribute("data-good", "false")
    camera.show(TEST_FACE, width_px=215)
    expect_verdict(window, "too_small")
    expect(window("verdict-text")).to_contain_text("Move the camera nearer: 2.")
    camera.show(TEST_FACE)
    expect_verdict(window, "ready")
    expect(window("verdict")).to_have_attribute("data-state", "ready")
    expect(window("verdict-text")).to_contain_text("frames read.")
    expect(window("line-lies")).to_contain_text("The test card")
    expect(window("line-read")).to_have_attribute("data-good", "true")


def test_a_real_card_reads_and_stays_nameless(camera: DrawnCamera, window: Window) -> None:
    camera.show(card_face(CARD))
    expect_verdict(window, "ready")
    expect(window("line-lies")).to_contain_text("Another card; it reads")
    heard = "\n".join(
        one.text() for one in window.responses if one.url.split("?")[0].endswith(("/", "/state"))
    )
    assert '"ready": true' in heard
    assert CARD not in heard
    assert "8H" not in heard


def test_a_pulled_plug_is_said_and_its_return_is_measured_anew(
    camera: DrawnCamera, window: Window
) -> None:
    camera.show(TEST_FACE)
    expect_verdict(window, "ready")
    camera.plugged = False
    expect_verdict(window, "camera_lost")
    expect(window("picture")).to_be_hidden()
    expect(window("line-module_px").locator(".value")).to_have_text("–")
    camera.plugged = True
    expect_verdict(window, "ready")
    expect(window("picture")).to_be_visible()


def test_a_program_that_ended_is_said_and_the_page_goes_on_when_it_is_back(
    window: Window,
) -> None:
    expect_verdict(window, "no_card")
    window.offline = True
    window.context.set_offline(True)
    expect_verdict(window, "gone")
    expect(window("verdict-text")).to_contain_text("does not answer")
    window.context.set_offline(False)
    expect_verdict(window, "no_card")


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_page_fits_every_screen_and_keeps_nobody_out(
    camera: DrawnCamera, window: Window, language: str
) -> None:
    page = window.open(f"/?lang={language}").page
    for face, code in ((None, "no_card"), (TEST_FACE, "ready")):
        camera.show(face)
        expect_verdict(window, code)
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            assert sideways(page) == {"scroll": 0, "wide": []}, f"{code} at {width}"
            assert cut_off(page) == [], f"{code} at {width}"
            assert small_targets(page) == [], f"{code} at {width}"
            for scheme in ("dark", "light"):
                page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                assert poor_contrast(page) == [], f"{code} {width} {scheme}"
        assert barriers(page) == [], code
    page.set_viewport_size({"width": 1280, "height": 720})
    page.evaluate("scrollTo(0, 0)")
    expect(page.locator("#lines > div")).to_have_count(8)
    for part in ("verdict", "picture", "line-lies"):
        expect(window(part)).to_be_in_viewport(ratio=0.9)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_page_fits_before_its_first_picture(window: Window, language: str) -> None:
    window.page.route("**/picture.jpg", lambda route: route.fulfill(status=503))
    window.refusals.add(503)
    page = window.open(f"/?lang={language}").page
    expect_verdict(window, "no_card")
    expect(window("picture")).to_be_hidden()
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert sideways(page) == {"scroll": 0, "wide": []}, width


def test_everything_is_reached_by_keyboard_in_either_language(window: Window) -> None:
    page = window.page
    names = []
    for _ in range(3):
        page.keyboard.press("Tab")
        names.append(page.evaluate("document.activeElement.textContent"))
    assert names == [TEXTS["en"]["skip"], "English", "日本語"]
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("lang", "ja")
    expect(page).to_have_title(f"{TEXTS['ja']['title']} - Studio")
    expect(page.get_by_role("link", name="日本語")).to_have_attribute("aria-current", "page")
    expect(window("verdict-text")).to_contain_text("テストカード")
