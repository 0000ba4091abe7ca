"""`python -m scanner calibrate`: once in the terminal, and as a page with closed doors."""

import http.client
import json
import re
import signal
import threading
from urllib.parse import urlsplit

import cv2
import numpy as np
import pytest
import structlog

from scanner.__main__ import main
from scanner.calibrate import Calibrator
from scanner.calibrate_page import FILES, Page, language_of, serving
from scanner.calibration import FRAMES_MIN
from scanner.calibration_texts import TEXTS
from scanner.camera import RecordedSource
from scanner.clock import monotonic_ms
from scanner.decode import Reader, load_decoders
from scanner.drawing import Look, Pose, card_face, draw_frame, stamped_face
from scanner.layout import Symbology
from scanner.symbol import TEST_DIGITS, code_modules, strip_modules
from studio.domain.cards import ALL_CARDS, card_code

CLEAR = Look(blur_px=0.5, motion_px=0, noise=3.0, light=0.9, glare=0.0, tilt_deg=0.0)
CARD = card_code(ALL_CARDS[20], deck_set=3, serial=21).digits
SETTINGS = """
[camera]
kind = "folder"
path = "{folder}"
[read]
symbology = "{symbology}"
child = false
[uplink]
url = "http://127.0.0.1:9"
table = "T1"
device = "T1-camera"
queue = "{folder}/queue.db"
"""


def face_of_test_card(symbology):
    qr = symbology is Symbology.QR
    rows = code_modules(TEST_DIGITS) if qr else (strip_modules(TEST_DIGITS),)
    return stamped_face(np.array(rows, np.uint8), symbology=symbology)


def frame(face, *, seed=0, width_px=330):
    pose = Pose(centre_x=640, centre_y=360, width_px=width_px, angle_deg=20, tilt_deg=2)
    return draw_frame(face, pose=pose, look=CLEAR, rng=np.random.default_rng(seed))


@pytest.fixture(autouse=True)
def own_signals():
    """The command takes signals and the log's shape for itself: give them back."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
    structlog.reset_defaults()


@pytest.fixture
def config(tmp_path):
    """Write settings whose camera is a folder of frames with this face."""

    def write(face, *, symbology=Symbology.QR, count=FRAMES_MIN, **other):
        folder = tmp_path / "frames"
        folder.mkdir()
        content = cv2.imencode(".jpg", frame(face, **other))[1].tobytes() if count else b""
        for number in range(count):
            (folder / f"{number:03}.jpg").write_bytes(content)
        file = tmp_path / "scanner.toml"
        file.write_text(SETTINGS.format(folder=folder, symbology=symbology))
        return ["calibrate", "--config", str(file), "--once"]

    return write


@pytest.mark.parametrize("symbology", Symbology)
def test_once_ends_with_0_when_the_camera_is_ready(config, capsys, symbology):
    arguments = config(face_of_test_card(symbology), symbology=symbology)
    assert main([*arguments, "--json"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    answer = json.loads(said.out)
    assert (answer["verdict"], answer["ready"], answer["lies"]) == ("ready", True, "test_card")
    assert (answer["frames"], answer["read"], answer["cards"]) == (FRAMES_MIN, FRAMES_MIN, 1)
    assert answer["module_px"] > 3
    assert answer["frames_per_s"] is None


def test_once_says_for_people_what_to_do_and_ends_with_1(config, capsys):
    assert main(config(face_of_test_card(Symbology.QR), width_px=215)) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("Move the camera nearer: 2.")
    assert lines[-1].endswith(" px a module, 3 needed.")
    assert lines[0] == f"Frames read: {FRAMES_MIN} of {FRAMES_MIN}  (95 % needed)"


def test_once_speaks_japanese_too(config, capsys):
    assert main([*config(None), "--lang", "ja"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == TEXTS["ja"]["verdict.no_card"]


def test_a_real_card_is_never_named(config, capsys):
    arguments = config(card_face(CARD))
    assert main([*arguments, "--json"]) == 0
    assert main(arguments) == 0
    said = "".join(capsys.readouterr())
    assert CARD not in said
    assert "8H" not in said
    assert "Another card; it reads" in said


def test_a_camera_without_a_picture_is_not_ready(config, capsys):
    assert main(config(None, count=0)) == 1
    assert "No picture" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('kind = "folder"', 'kind = "folderr"'), "camera"),
        (("/frames", "/absent"), "is no folder"),
        (("[read]", "[raed]"), "raed"),
    ],
)
def test_settings_that_can_not_be_used_get_one_line(config, tmp_path, capsys, change, said):
    arguments = config(None)
    file = tmp_path / "scanner.toml"
    file.write_text(file.read_text().replace(*change))
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert captured.err.startswith("scanner: ")
    assert said in captured.err


@pytest.mark.parametrize("port", ["busy", "99999"])
def test_a_port_that_can_not_be_had_is_named(config, page, capsys, port):
    arguments = config(None)[:-1]
    number = str(page.port) if port == "busy" else port
    assert main([*arguments, "--port", number]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"scanner: The page can't have 127.0.0.1, port {number}: ")
    assert len(said.splitlines()) == 1


def test_the_page_is_served_until_the_program_is_ended(config, run_python):
    arguments = config(face_of_test_card(Symbology.QR))[:-1]
    with run_python("-m", "scanner", *arguments, "--port", "0", environment={}) as process:
        line = process.stderr.readline()
        address = re.fullmatch(
            r"Open (http://127\.0\.0\.1:\d+/) and lay the test card under the camera\.\n", line
        )
        assert address, line
        status, _, content = ask(urlsplit(address.group(1)).port, "/")
        assert status == 200
        assert b"Camera set-up" in content
        process.terminate()
        assert process.wait(20) == 0


@pytest.mark.parametrize("arguments", [["calibrate", "--help"], ["--help"]])
def test_the_help_names_the_set_up(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0
    assert "calibrate" in capsys.readouterr().out


# The page's doors -------------------------------------------------------------------------------


class Served:
    """A page and the port it is served on."""

    def __init__(self, page, calibrator, port):
        self.page, self.calibrator, self.port = page, calibrator, port

    def see(self, *images):
        """Let the calibrator look at these pictures."""
        source = RecordedSource(
            ((str(n), one) for n, one in enumerate(images)), now_ms=monotonic_ms
        )
        while (taken := source.next_frame(timeout_s=0)) is not None:
            self.calibrator.step(taken)


@pytest.fixture
def page():
    source = RecordedSource(iter(()), now_ms=monotonic_ms)
    reader = Reader(load_decoders(Symbology.QR))
    calibrator = Calibrator(source, reader, symbology=Symbology.QR, live=False)
    made = Page(calibrator, symbology=Symbology.QR)
    with serving(made, host="127.0.0.1", port=0) as address:
        yield Served(made, calibrator, urlsplit(address).port)


def ask(port, path, *, method="GET", **headers):
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        line.request(method, path, headers=headers)
        answer = line.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        line.close()


@pytest.mark.parametrize("path", ["/", "/state", "/picture.jpg", "/absent", *FILES])
def test_every_answer_keeps_strangers_out(page, path):
    _, headers, _ = ask(page.port, path)
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_the_page_has_nothing_in_line_and_nothing_from_elsewhere(page):
    for language in ("en", "ja"):
        status, headers, content = ask(page.port, f"/?lang={language}")
        html = content.decode()
        assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        assert f'<html lang="{language}">' in html
        assert not re.search(
            r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=|https?://|\$\w", html
        )
    for path, (file, _) in FILES.items():
        assert file.exists()
        status, _, content = ask(page.port, path)
        assert (status, content) == (200, file.read_bytes())
        if path.endswith((".css", ".js")):
            assert b"http" not in content


@pytest.mark.parametrize(
    "path", ["/../scanner.toml", "/pages/calibrate.html", "/fonts/", "/%2e%2e/app.py", "//x/state"]
)
def test_nothing_else_can_be_fetched(page, path):
    assert ask(page.port, path)[0] == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD"])
def test_nothing_can_be_sent(page, method):
    assert ask(page.port, "/state", method=method)[0] == 501


@pytest.mark.parametrize(("host", "status"), [("evil.example", 421), ("evil.example:80", 421)])
def test_another_host_name_is_turned_away(page, host, status):
    assert ask(page.port, "/state", Host=host)[0] == status
    assert ask(page.port, "/state", Host=f"localhost:{page.port}")[0] == 200


def test_before_the_first_frame_there_is_no_picture(page):
    assert ask(page.port, "/picture.jpg")[0] == 503
    state = json.loads(ask(page.port, "/state")[2])
    assert (state["verdict"], state["frame"], state["ready"]) == ("camera_lost", 0, False)


def test_state_and_picture_follow_the_camera(page):
    page.see(*[frame(face_of_test_card(Symbology.QR))] * FRAMES_MIN)
    status, headers, content = ask(page.port, "/picture.jpg")
    assert (status, headers["Content-Type"], content[:3]) == (200, "image/jpeg", b"\xff\xd8\xff")
    state = json.loads(ask(page.port, "/state?lang=ja")[2])
    assert (state["verdict"], state["ready"], state["frame"]) == ("ready", True, FRAMES_MIN)
    assert state["text"] == f"準備完了。{FRAMES_MIN} フレーム中 {FRAMES_MIN} を読み取りました。"


def test_many_browsers_at_once_are_answered(page):
    page.see(frame(face_of_test_card(Symbology.QR)))
    statuses = []
    workers = [
        threading.Thread(target=lambda: statuses.append(ask(page.port, "/picture.jpg")[0]))
        for _ in range(12)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(20)
    assert statuses == [200] * 12


@pytest.mark.parametrize(
    ("query", "accepted", "language"),
    [
        ("", "", "en"),
        ("lang=ja", "en", "ja"),
        ("lang=xx", "ja-JP,ja;q=0.9,en;q=0.8", "ja"),
        ("", "de,en;q=0.5", "en"),
        ("lang=en", "ja", "en"),
    ],
)
def test_the_address_then_the_browser_says_the_language(query, accepted, language):
    assert language_of(query, accepted) == language
