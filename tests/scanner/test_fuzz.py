"""Whatever lies under the camera or in a file: no crash, and no card that is not there."""

import json

import cv2
import numpy as np
import pytest
import segno
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scanner.camera import CameraError
from scanner.codebook import Codebook, Verdict
from scanner.confirm import Confirmer, ReportKind
from scanner.decode import Reader, Symbology, load_decoders
from scanner.drawing import LOOKS, Pose, card_face, draw_frame, stamped_face
from scanner.printing import card_manifest
from scanner.reading import read_paths
from scanner.recording import recorded_events
from scanner.sighting import Decoder, Effort
from studio.bench.scan_drawn import foreign_modules
from studio.domain.cards import ALL_CARDS, card_code

BOOK = Codebook(deck_set=7, manifest=card_manifest(8))
POSE = Pose(centre_x=600, centre_y=350, width_px=240, angle_deg=20, tilt_deg=6)
FRAME_MS = 33
EPISODE_FRAMES = 20


@pytest.fixture(scope="module", params=Symbology)
def reader_of(request):
    decoders = load_decoders(request.param)
    return lambda: Reader(decoders, symbology=request.param, budget_s=0.2)


def events(reader, image):
    """Let a picture lie long enough for a card or a reason."""
    confirmer = Confirmer(BOOK)
    reports = []
    for number in range(EPISODE_FRAMES):
        now_ms = number * FRAME_MS
        sighting = reader.look(image, confirmer.effort(now_ms))
        reports += confirmer.step(sighting, now_ms=now_ms)
    return reports


def need_no_card(reader, image):
    assert [report for report in events(reader, image) if report.code is not None] == []


SHAPES = st.one_of(
    st.tuples(st.integers(1, 90), st.integers(1, 90)),
    st.tuples(st.integers(1, 90), st.integers(1, 90), st.integers(1, 4)),
)
PICTURES = SHAPES.flatmap(
    lambda shape: st.one_of(
        arrays(np.uint8, shape),
        arrays(np.uint16, shape),
        arrays(np.float32, shape, elements=st.floats(width=32, allow_nan=True)),
    )
)


@settings(max_examples=40, deadline=None, suppress_health_check=[*HealthCheck])
@given(image=PICTURES)
def test_any_array_is_looked_at_without_a_crash(reader_of, image):
    sighting = reader_of().look(image, Effort.EXPLAIN)
    verdicts = {BOOK.look_up(reading.text).verdict for reading in sighting.readings}
    assert Verdict.KNOWN not in verdicts


@pytest.mark.parametrize("seed", range(8))
def test_bars_and_blocks_at_random_are_no_card(reader_of, seed):
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, 2, (int(rng.integers(1, 60)), int(rng.integers(1, 120))))
    image = np.kron(cells, np.ones((12, 6)))[:720, :1280].astype(np.uint8) * 255
    need_no_card(reader_of(), cv2.resize(image, (1280, 720), interpolation=cv2.INTER_NEAREST))


@pytest.mark.parametrize("seed", range(6))
def test_a_card_of_random_modules_is_no_card(reader_of, seed):
    rng = np.random.default_rng(seed)
    face = stamped_face(rng.integers(0, 2, (21, 21)).astype(np.uint8))
    need_no_card(reader_of(), draw_frame(face, pose=POSE, look=LOOKS[1], rng=rng))


HOSTILE = {
    "address": "https://example.org/?q=" + "a" * 40,
    "long": "9" * 3000,
    "control characters": "\x00\x01\x1b[2J\r\n\x7f",
    "not latin": "カード１１００１２０００１０３",
    "check digits wrong": "110007001000",
    "thirteen digits": "1100070010030",
    "signed": "-11000700100",
    "spaces": " 110007001003 ",
    "zeros": "0" * 12,
    "other deck set": "101008000196",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_qr_code_is_no_card_of_the_shoe(reader_of, text):
    modules = np.array(segno.make(text, micro=False).matrix, np.uint8)
    rng = np.random.default_rng(1)
    image = draw_frame(stamped_face(modules), pose=POSE, look=LOOKS[0], rng=rng)
    close = cv2.copyMakeBorder(
        np.kron(1 - modules, np.ones((4, 4), np.uint8)) * 255,
        *(16, 16, 16, 16),
        cv2.BORDER_CONSTANT,
        value=255,
    )
    for picture in (image, close):
        reports = events(reader_of(), picture)
        assert [r for r in reports if r.code is not None and r.reason is None] == []


@pytest.mark.parametrize(
    "symbol", ["DataMatrix", "Aztec", "PDF417", "Code39", "Code93", "EAN13", "ITF", "MicroQRCode"]
)
def test_the_digits_of_a_card_in_another_symbology_are_no_card(reader_of, digits, symbol):
    text = {"EAN13": "4006381333931", "MicroQRCode": "12345"}.get(symbol, digits(1))
    zxing = pytest.importorskip("zxingcpp")
    code = zxing.create_barcode(text, getattr(zxing.BarcodeFormat, symbol))
    drawn = np.array(zxing.write_barcode_to_image(code, scale=4))
    grey = drawn if drawn.ndim == 2 else drawn[..., 0]
    image = np.full((720, 1280), 90, np.uint8)
    height, width = (min(size, limit) for size, limit in zip(grey.shape, (700, 1200), strict=True))
    image[10 : 10 + height, 10 : 10 + width] = grey[:height, :width]
    need_no_card(reader_of(), image)


def test_a_decoder_that_answers_with_odd_texts_brings_no_card(digits):
    answers = ["", " ", "\x00", "1" * 5000, "１１０００７００１００３", digits(1) + "\n", "null"]

    class Odd:
        name = Decoder.ZXING

        def texts(self, image):
            return answers

    class OddToo(Odd):
        name = Decoder.ZBAR

    image = draw_frame(card_face(digits(1)), pose=POSE, look=LOOKS[0], rng=np.random.default_rng(1))
    need_no_card(Reader((Odd(), OddToo())), image)


SIZES = [
    *(
        (*side, *planes)
        for side in [(1, 1), (1, 4000), (4000, 1), (16, 16)]
        for planes in [(), (1,), (3,), (4,)]
    ),
    *((4320, 7680), (4320, 7680, 3)),
]


@pytest.mark.parametrize("whole", SIZES, ids=str)
def test_every_size_is_looked_at(reader_of, whole):
    sighting = reader_of().look(np.full(whole, 127, np.uint8), Effort.EXPLAIN)
    assert (sighting.readings, sighting.cards_in_view) == ((), 0)


@pytest.fixture(scope="module")
def photographed():
    code = card_code(ALL_CARDS[9], deck_set=7, serial=10).digits
    image = draw_frame(card_face(code), pose=POSE, look=LOOKS[1], rng=np.random.default_rng(3))
    kinds = {".png": [], ".jpg": [cv2.IMWRITE_JPEG_QUALITY, 85], ".bmp": [], ".webp": []}
    return code, {kind: cv2.imencode(kind, image, how)[1].tobytes() for kind, how in kinds.items()}


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(kind=st.sampled_from([".png", ".jpg", ".bmp", ".webp"]), share=st.floats(0, 0.999))
def test_a_cut_file_gives_the_card_or_an_error_and_never_another(
    photographed, tmp_path, kind, share
):
    code, contents = photographed
    content = contents[kind]
    path = tmp_path / f"cut{kind}"
    path.write_bytes(content[: int(len(content) * share)])
    (result,) = read_paths([path], any_code=False)
    assert result["status"] in {"read", "failed", "error"}
    assert result["payload"] in {code, None}
    json.dumps(result)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    kind=st.sampled_from([".png", ".jpg", ".webp"]),
    hits=st.lists(st.tuples(st.floats(0, 0.999), st.integers(0, 255)), min_size=1, max_size=12),
)
def test_a_damaged_file_gives_the_card_or_an_error_and_never_another(
    photographed, tmp_path, kind, hits
):
    code, contents = photographed
    content = bytearray(contents[kind])
    for share, value in hits:
        content[int(len(content) * share)] = value
    path = tmp_path / f"damaged{kind}"
    path.write_bytes(content)
    (result,) = read_paths([path], any_code=False)
    assert result["payload"] in {code, None}


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.95])
def test_a_cut_recording_gives_what_it_holds_or_an_error(tmp_path, digits, share):
    whole = tmp_path / "whole.avi"
    writer = cv2.VideoWriter(str(whole), cv2.VideoWriter.fourcc(*"MJPG"), 25, (1280, 720))
    frame = draw_frame(card_face(digits(1)), pose=POSE, look=LOOKS[0], rng=np.random.default_rng(2))
    for _ in range(6):
        writer.write(frame)
    writer.release()
    cut = tmp_path / "cut.avi"
    content = whole.read_bytes()
    cut.write_bytes(content[: int(len(content) * share)])
    try:
        seen = list(recorded_events(cut))
    except CameraError:
        seen = []
    assert {event["payload"] for event in seen} <= {digits(1)}


@pytest.mark.parametrize("seed", range(4))
def test_a_strip_of_another_text_is_no_card(reader_of, seed):
    rng = np.random.default_rng(seed)
    text = ("HELLO-128", "123456", "1100070010", "110007001000")[seed]
    face = stamped_face(foreign_modules(text, "Code128"), symbology=Symbology.CODE128)
    reports = events(reader_of(), draw_frame(face, pose=POSE, look=LOOKS[0], rng=rng))
    assert all(report.kind is not ReportKind.CARD_SEEN for report in reports)
