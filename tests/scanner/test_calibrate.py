"""The set-up: frames, figures, one verdict, and nobody's card in any of it."""

import threading
from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import pytest

from scanner.calibrate import Calibrator
from scanner.calibration import (
    CONTRAST_MIN,
    FRAMES_MIN,
    FRAMES_PER_S_MIN,
    GLARE_MAX,
    MODULE_PX_MIN,
    PAPER_MAX,
    PAPER_MIN,
    SHARPNESS_MIN,
    WINDOW_FRAMES_MAX,
    WINDOW_MS,
    Figures,
    Lies,
    Observed,
    Verdict,
    Window,
    judge,
)
from scanner.calibration_texts import LANGUAGES, TEXTS, figure_lines, say
from scanner.camera import Frame
from scanner.decode import Reader, load_decoders
from scanner.drawing import (
    Back,
    Look,
    Noise,
    Pose,
    card_face,
    codeless_face,
    corners_of,
    felt,
    lay,
    seen_through,
    stamped_face,
)
from scanner.health import CameraState, SourceHealth
from scanner.layout import Symbology
from scanner.measure import Measures, measure
from scanner.sheets import japanese_lacks
from scanner.symbol import TEST_DIGITS, code_modules, strip_modules
from studio.domain.cards import ALL_CARDS, CodeVersion, PrintedCode, card_code

CLEAR = Look(blur_px=0.5, motion_px=0, noise=3.0, light=0.9, glare=0.0, tilt_deg=0.0)
CARD = card_code(ALL_CARDS[5], deck_set=3, serial=6).digits
BADGE = PrintedCode(version=CodeVersion.BADGE, number=1, deck_set=0, serial=14).digits

# The pure core ----------------------------------------------------------------------------------

GOOD = Measures(module_px=3.4, paper=200.0, contrast=0.9, sharpness=0.7, glare=0.0, cut_off=False)
FINE = Figures(
    frames=100,
    read=98,
    frames_per_s=30.0,
    cards=1,
    lies=Lies.TEST_CARD,
    code_in_view=True,
    still=True,
    brightness=220.0,
    measures=GOOD,
)


def fine(**other):
    """Return figures of a good set-up but for some; measures are named as themselves."""
    measured = {name: other.pop(name) for name in tuple(other) if hasattr(GOOD, name)}
    return replace(FINE, **{"measures": replace(GOOD, **measured), **other})


@pytest.mark.parametrize(
    ("figures", "verdict"),
    [
        (fine(), Verdict.READY),
        (fine(lies=Lies.PIECE), Verdict.READY),
        (fine(frames=FRAMES_MIN - 1, read=FRAMES_MIN - 1), Verdict.WAITING),
        (fine(frames=FRAMES_MIN, read=FRAMES_MIN), Verdict.READY),
        (fine(measures=None, read=0, lies=Lies.NOTHING), Verdict.NO_CARD),
        (fine(measures=None, read=0, lies=Lies.NOTHING, brightness=39.0), Verdict.DARK),
        (fine(measures=None), Verdict.NO_CARD),
        (fine(cards=2), Verdict.TWO_CARDS),
        (fine(paper=PAPER_MIN - 1), Verdict.DARK),
        (fine(paper=PAPER_MIN), Verdict.READY),
        (fine(cut_off=True), Verdict.CUT_OFF),
        (fine(module_px=MODULE_PX_MIN - 0.1), Verdict.TOO_SMALL),
        (fine(module_px=MODULE_PX_MIN), Verdict.READY),
        (fine(glare=GLARE_MAX + 0.01), Verdict.GLARE),
        (fine(glare=GLARE_MAX), Verdict.READY),
        (fine(contrast=CONTRAST_MIN - 0.01), Verdict.LOW_CONTRAST),
        (fine(contrast=CONTRAST_MIN - 0.01, paper=PAPER_MAX + 1), Verdict.WASHED_OUT),
        (fine(contrast=CONTRAST_MIN), Verdict.READY),
        (fine(sharpness=SHARPNESS_MIN - 0.01), Verdict.BLURRED),
        (fine(sharpness=SHARPNESS_MIN - 0.01, still=False), Verdict.MOVING),
        (fine(sharpness=SHARPNESS_MIN - 0.01, contrast=CONTRAST_MIN - 0.1), Verdict.BLURRED),
        (fine(sharpness=SHARPNESS_MIN), Verdict.READY),
        (fine(code_in_view=False, read=0, lies=Lies.UNREAD), Verdict.NO_CODE),
        (fine(code_in_view=False, read=0, contrast=0.0, glare=0.5), Verdict.NO_CODE),
        (fine(code_in_view=False, read=1), Verdict.UNREAD),
        (fine(frames_per_s=FRAMES_PER_S_MIN - 0.1), Verdict.SLOW),
        (fine(frames_per_s=FRAMES_PER_S_MIN), Verdict.READY),
        (fine(frames_per_s=None), Verdict.READY),
        (fine(read=94), Verdict.UNREAD),
        (fine(read=95), Verdict.READY),
        # What comes first in the technician's work is said first.
        (fine(paper=50.0, module_px=2.0, sharpness=0.1, read=0), Verdict.DARK),
        (fine(module_px=2.0, sharpness=0.1, read=0), Verdict.TOO_SMALL),
        (None, Verdict.CAMERA_LOST),
    ],
)
def test_the_first_fault_is_the_verdict(figures, verdict):
    assert judge(figures, CameraState.OPEN) is verdict


@pytest.mark.parametrize(
    ("camera", "verdict"),
    [
        (CameraState.OPENING, Verdict.CAMERA_LOST),
        (CameraState.LOST, Verdict.CAMERA_LOST),
        (CameraState.FROZEN, Verdict.CAMERA_FROZEN),
    ],
)
def test_a_camera_in_trouble_comes_before_everything(camera, verdict):
    assert judge(fine(), camera) is verdict
    assert judge(fine(paper=0.0), camera) is verdict


def test_a_change_of_one_figure_can_reach_every_verdict():
    tested = {
        verdict
        for mark in (
            *test_the_first_fault_is_the_verdict.pytestmark,
            *test_a_camera_in_trouble_comes_before_everything.pytestmark,
        )
        for _, verdict in mark.args[1]
    }
    assert tested == set(Verdict)


def observed(at_ms, **other):
    plain = {
        "at_ms": at_ms,
        "number": at_ms,
        "cards": 1,
        "lies": Lies.TEST_CARD,
        "code_in_view": True,
        "still": True,
        "brightness": 200.0,
        "measures": GOOD,
    }
    return Observed(**{**plain, **other})


def test_the_window_forgets_what_is_older_than_its_seconds():
    window = Window()
    assert window.figures() is None
    for number in range(101):
        window.add(observed(number * 100, number=number * 3))
    figures = window.figures()
    assert figures is not None
    assert figures.frames == WINDOW_MS // 100 + 1
    assert figures.frames_per_s == pytest.approx(30.0)
    for at_ms in range(10_001, 12_001):
        window.add(observed(at_ms))
    assert window.figures().frames == WINDOW_FRAMES_MAX
    window.clear()
    assert window.figures() is None


def test_the_figures_are_what_most_frames_show():
    window = Window()
    for at_ms in range(10):
        odd = at_ms % 4 == 0
        window.add(
            observed(
                at_ms,
                lies=Lies.UNREAD if odd else Lies.TEST_CARD,
                still=not odd,
                measures=None if odd else GOOD,
            )
        )
    figures = window.figures()
    assert (figures.frames, figures.read, figures.still, figures.lies) == (
        10,
        7,
        True,
        Lies.TEST_CARD,
    )
    assert figures.measures == GOOD


def test_without_a_card_in_most_frames_nothing_is_measured():
    window = Window()
    for at_ms in range(10):
        there = at_ms < 4
        window.add(
            observed(
                at_ms,
                cards=int(there),
                lies=Lies.TEST_CARD if there else Lies.NOTHING,
                measures=GOOD if there else None,
            )
        )
    figures = window.figures()
    assert (figures.lies, figures.measures, figures.cards) == (Lies.NOTHING, None, 0)


# Words ------------------------------------------------------------------------------------------


def test_both_languages_say_the_same_things():
    assert set(LANGUAGES) == set(TEXTS) == {"en", "ja"}
    assert set(TEXTS["en"]) == set(TEXTS["ja"])
    for name in TEXTS["en"]:
        assert holes(TEXTS["en"][name]) == holes(TEXTS["ja"][name]), name
        assert TEXTS["ja"][name].strip()


def test_no_japanese_text_of_the_page_falls_back_to_a_font_of_the_system():
    assert japanese_lacks("".join(TEXTS["ja"].values())) == ""


def holes(text):
    return {part.split("}")[0] for part in text.split("{")[1:]}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_is_a_sentence(language, verdict):
    measured = say(verdict, fine(), language=language, profile="QR")
    assert measured
    assert "{" not in measured
    assert set(TEXTS[language]) >= {f"verdict.{one}" for one in Verdict}


def test_verdicts_name_their_figures():
    small = fine(module_px=2.13)
    assert say(Verdict.TOO_SMALL, small, language="en", profile="QR") == (
        "Move the camera nearer: 2.1 px a module, 3 needed."
    )
    assert say(Verdict.READY, fine(), language="en", profile="QR") == (
        "Ready: 98 of 100 frames read."
    )
    dark = fine(measures=None, brightness=12.0)
    assert "12 of 255" in say(Verdict.DARK, dark, language="en", profile="QR")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_figures_are_always_the_same_lines(language):
    codes = [line.code for line in figure_lines(None, language=language)]
    assert codes == [line.code for line in figure_lines(fine(), language=language)]
    assert codes == [
        *("read", "module_px", "sharpness", "contrast", "paper", "glare", "frames_per_s", "lies")
    ]
    assert {line.good for line in figure_lines(None, language=language)} == {None}
    poor = fine(module_px=1.0, sharpness=0.0, contrast=0.1, paper=9.0, glare=0.5, read=0)
    assert [line.good for line in figure_lines(poor, language=language)] == (
        [False] * 6 + [True, None]
    )


# Drawn frames -----------------------------------------------------------------------------------


@cache
def face_of_test_card(symbology):
    qr = symbology is Symbology.QR
    rows = code_modules(TEST_DIGITS) if qr else (strip_modules(TEST_DIGITS),)
    return stamped_face(np.array(rows, np.uint8), symbology=symbology)


def scene(face=None, *, pose=None, colour=None):
    rng = np.random.default_rng(5)
    table = felt(rng, width=1280, height=720, **({"colour": colour} if colour else {}))
    return table if face is None else lay(table, face, pose=pose or at())


def at(*, width_px=330, x=640, y=360, angle=17.0, tilt=3.0):
    return Pose(centre_x=x, centre_y=y, width_px=width_px, angle_deg=angle, tilt_deg=tilt)


def seen(table, look=CLEAR, *, glare_at=None, count=FRAMES_MIN + 5):
    """Yield frames of a scene as a camera gives them, each with its own noise."""
    rng = np.random.default_rng(7)
    picture = seen_through(table, look, rng=rng, glare_at=glare_at)
    noise = Noise(rng, width=1280, height=720, sigma=look.noise)
    return [noise.on(picture) for _ in range(count)]


class Film:
    """A source that gives these frames at 30 frames/s; then its camera is in `state`."""

    def __init__(self, images, state=CameraState.OPEN):
        self._images = list(images)
        self._given = 0
        self._after = state

    @property
    def ended(self):
        return self._given == len(self._images) and self._after is CameraState.OPEN

    def next_frame(self, *, timeout_s):
        if self._given == len(self._images):
            return None
        self._given += 1
        image = self._images[self._given - 1]
        return Frame(image=image, number=self._given, taken_ms=self._given * 33, name="film")

    def health(self):
        over = self._given == len(self._images)
        return SourceHealth(
            frames=self._given,
            dropped=0,
            reopened=0,
            age_ms=0,
            state=self._after if over else CameraState.OPEN,
        )

    def close(self):
        pass


def calibrated(images, *, symbology=Symbology.QR, state=CameraState.OPEN):
    reader = Reader(load_decoders(symbology), symbology=symbology)
    calibrator = Calibrator(Film(images, state), reader, symbology=symbology)
    for _ in images:
        assert calibrator.next()
    return calibrator


def verdict_of(images, **other):
    return calibrated(images, **other).state().verdict


@pytest.mark.parametrize("symbology", Symbology)
def test_a_good_set_up_is_ready(symbology):
    state = calibrated(seen(scene(face_of_test_card(symbology))), symbology=symbology).state()
    assert state.verdict is Verdict.READY
    assert state.figures.lies is Lies.TEST_CARD
    assert state.figures.read == state.figures.frames
    assert state.figures.frames_per_s == pytest.approx(30.3, abs=0.1)


def near_code(pose):
    """Return a place in the frame within the top left code."""
    first, second, _, fourth = corners_of(pose)
    spot = first + (second - first) * 0.17 + (fourth - first) * 0.13
    return float(spot[0]), float(spot[1])


def hazy(images):
    return [cv2.convertScaleAbs(image, alpha=0.35, beta=130) for image in images]


FAULTS = {
    Verdict.NO_CARD: lambda: seen(scene()),
    Verdict.DARK: lambda: seen(scene(face_of_test_card(Symbology.QR)), replace(CLEAR, light=0.25)),
    Verdict.TOO_SMALL: lambda: seen(scene(face_of_test_card(Symbology.QR), pose=at(width_px=200))),
    Verdict.BLURRED: lambda: seen(
        scene(face_of_test_card(Symbology.QR)), replace(CLEAR, blur_px=3.0)
    ),
    Verdict.GLARE: lambda: seen(
        scene(face_of_test_card(Symbology.QR)), replace(CLEAR, glare=2.5), glare_at=near_code(at())
    ),
    Verdict.LOW_CONTRAST: lambda: hazy(seen(scene(face_of_test_card(Symbology.QR)))),
    Verdict.NO_CODE: lambda: seen(scene(codeless_face(Back.PATTERN))),
    Verdict.TWO_CARDS: lambda: seen(
        lay(
            scene(face_of_test_card(Symbology.QR), pose=at(x=320)),
            codeless_face(Back.PATTERN),
            pose=at(x=960),
        )
    ),
}


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_each_fault_is_seen_on_drawn_frames(fault):
    assert verdict_of(FAULTS[fault]()) is fault


def test_the_cut_card_has_no_code():
    assert verdict_of(seen(scene(codeless_face(Back.CUT_CARD)))) is Verdict.NO_CODE


def test_a_dark_table_without_anything_to_see_is_dark_not_empty():
    assert verdict_of(seen(scene(), replace(CLEAR, light=0.1))) is Verdict.DARK


def test_a_picture_that_shakes_and_smears_is_moving():
    look = replace(CLEAR, blur_px=3.0)
    images = [
        image
        for step in range(FRAMES_MIN + 5)
        for image in seen(
            scene(face_of_test_card(Symbology.QR), pose=at(x=560 + 14 * (step % 8))), look, count=1
        )
    ]
    assert verdict_of(images) is Verdict.MOVING


@pytest.mark.parametrize("width_px", [240, 330, 420])
@pytest.mark.parametrize("angle", [0.0, 45.0, 200.0])
def test_the_size_of_a_module_is_measured_at_any_angle(width_px, angle):
    pose = at(width_px=width_px, angle=angle, tilt=0.0)
    (image,) = seen(scene(face_of_test_card(Symbology.QR), pose=pose), count=1)
    corners = tuple((float(x), float(y)) for x, y in corners_of(pose))
    measured = measure(image, corners, Symbology.QR)
    assert measured.module_px == pytest.approx(width_px / 63 * 24 / 29, rel=0.02)
    assert not measured.cut_off


def test_focus_light_and_reflection_move_their_own_figure():
    corners = tuple((float(x), float(y)) for x, y in corners_of(at()))

    def measured(look, glare_at=None):
        (image,) = seen(scene(face_of_test_card(Symbology.QR)), look, glare_at=glare_at, count=1)
        return measure(image, corners, Symbology.QR)

    sharp = [measured(replace(CLEAR, blur_px=blur)).sharpness for blur in (0.5, 1, 1.5, 2, 3)]
    assert sharp == sorted(sharp, reverse=True)
    assert sharp[0] > 0.7
    assert sharp[-1] < 0.35
    paper = [measured(replace(CLEAR, light=light)).paper for light in (0.9, 0.6, 0.3, 0.1)]
    assert paper == pytest.approx([246 * 0.9, 246 * 0.6, 246 * 0.3, 246 * 0.1], rel=0.1)
    noisy = measured(replace(CLEAR, noise=14.0))
    assert (noisy.sharpness, noisy.glare) == (pytest.approx(sharp[0], abs=0.08), 0.0)
    assert measured(replace(CLEAR, glare=2.5), near_code(at())).glare > GLARE_MAX


def test_a_card_at_the_border_of_the_picture_is_cut_off():
    (image,) = seen(scene(face_of_test_card(Symbology.QR)), count=1)
    corners = ((200.0, 1.0), (500.0, 1.0), (500.0, 420.0), (200.0, 420.0))
    assert measure(image, corners, Symbology.QR).cut_off


# Lost cameras -----------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [CameraState.LOST, CameraState.FROZEN])
def test_a_lost_camera_forgets_what_was_measured(state):
    images = seen(scene(face_of_test_card(Symbology.QR)))
    calibrator = calibrated(images, state=state)
    assert calibrator.state().verdict in {Verdict.CAMERA_LOST, Verdict.CAMERA_FROZEN}
    assert not calibrator.next()
    assert calibrator.state().figures is None


def test_before_the_first_frame_there_is_no_picture_and_a_word_about_the_camera():
    calibrator = calibrated([], state=CameraState.OPENING)
    assert calibrator.picture() is None
    assert calibrator.state().verdict is Verdict.CAMERA_LOST


def test_once_waits_for_a_camera_and_then_measures_for_some_seconds():
    clock = iter(range(0, 1_000_000, 200))
    silent = calibrated([], state=CameraState.OPENING)
    assert (
        silent.run_once(threading.Event(), now_ms=lambda: next(clock)).verdict
        is Verdict.CAMERA_LOST
    )
    assert 10_000 <= next(clock) <= 11_000
    reader = Reader(load_decoders(Symbology.QR))
    images = seen(scene(face_of_test_card(Symbology.QR)), count=60)
    film = Film(images, CameraState.LOST)
    clock = iter(range(0, 1_000_000, 100))
    calibrator = Calibrator(film, reader, symbology=Symbology.QR)
    state = calibrator.run_once(threading.Event(), now_ms=lambda: next(clock))
    assert state.verdict is Verdict.READY
    assert 30 <= state.figures.frames <= 45


def test_once_ends_when_it_is_told_to():
    stop = threading.Event()
    stop.set()
    silent = calibrated([], state=CameraState.OPENING)
    assert silent.run_once(stop, now_ms=lambda: 0).figures is None


# Nobody's card ----------------------------------------------------------------------------------


def shown(calibrator):
    content = np.frombuffer(calibrator.picture(), np.uint8)
    return cv2.imdecode(content, cv2.IMREAD_COLOR)


def texts_in(picture):
    """Read whatever either library can, in the picture and in a large copy of it."""
    large = cv2.resize(picture, None, fx=3, fy=3, interpolation=cv2.INTER_CUBIC)
    return {
        text
        for symbology in Symbology
        for decoder in load_decoders(symbology)
        for image in (picture, large)
        for text in decoder.texts(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))
    }


def detail(picture, pose):
    """Return how much there is to see in the middle of the card."""
    x, y, reach = (round(part * 0.75) for part in (pose.centre_x, pose.centre_y, 40))
    return float(picture[y - reach : y + reach, x - reach : x + reach].std(axis=(0, 1)).max())


def test_the_picture_shows_the_test_card():
    assert TEST_DIGITS in texts_in(shown(calibrated(seen(scene(face_of_test_card(Symbology.QR))))))


@pytest.mark.parametrize("digits", [CARD, BADGE])
def test_of_a_real_card_only_that_it_reads_is_told(digits):
    calibrator = calibrated(seen(scene(card_face(digits))))
    state = calibrator.state()
    assert (state.verdict, state.figures.lies) == (Verdict.READY, Lies.PIECE)
    picture = shown(calibrator)
    assert texts_in(picture) == set()
    assert detail(picture, at()) < 3
    said = "".join(
        [
            repr(state),
            *(say(state.verdict, state.figures, language=one, profile="QR") for one in LANGUAGES),
            *(repr(figure_lines(state.figures, language=one)) for one in LANGUAGES),
        ]
    )
    assert digits not in said
    assert "6S" not in said


def test_the_middle_of_a_card_that_does_not_read_is_covered_too():
    for angle in (0.0, 90.0, 33.0):
        pose = at(angle=angle)
        table = scene(card_face(CARD), pose=pose)
        blurred = replace(CLEAR, blur_px=3.5)
        calibrator = calibrated(seen(table, blurred))
        assert calibrator.state().figures.lies is Lies.UNREAD
        assert detail(shown(calibrator), pose) < 3


def test_a_real_card_beside_the_test_card_stays_covered():
    table = lay(
        scene(face_of_test_card(Symbology.QR), pose=at(x=320)), card_face(CARD), pose=at(x=960)
    )
    calibrator = calibrated(seen(table))
    assert calibrator.state().verdict is Verdict.TWO_CARDS
    assert CARD not in texts_in(shown(calibrator))


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((1, 1, 3), np.uint8),
        np.zeros((20, 3000), np.uint8),
        np.full((400, 300, 4), 200, np.uint8),
        np.random.default_rng(3).integers(0, 65_535, (240, 320, 3), np.uint16),
    ],
    ids=["1x1", "flat grey", "alpha", "16 bits"],
)
def test_any_picture_can_be_measured_and_shown(image):
    calibrator = calibrated([image] * FRAMES_MIN)
    assert calibrator.state().verdict is not Verdict.READY
    assert calibrator.picture()
