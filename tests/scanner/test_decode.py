"""Frames through the real decoders."""

import json
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

from scanner.decode import (
    RECHECK_FRAMES,
    DecoderFaultError,
    DecoderMissingError,
    Reader,
    Symbology,
    load_decoders,
)
from scanner.decoders import ZbarDecoder, ZxingDecoder, prove_decoders
from scanner.drawing import (
    FELT_GREEN,
    LOOKS,
    Back,
    Noise,
    Pose,
    card_face,
    codeless_face,
    corners_of,
    draw_frame,
    felt,
    hand,
    lay,
    random_pose,
    seen_through,
    smudged,
)
from scanner.sighting import Decoder, Effort
from studio.domain.cards import ALL_CARDS, card_code

SHARED_FRAMES = Path(__file__).parents[3] / "shared" / "scanner" / "frames"
SIZE = (1280, 720)


@pytest.fixture(scope="module")
def decoders():
    return load_decoders(Symbology.QR)


@pytest.fixture
def reader(decoders):
    return Reader(decoders)


def code_of(seed):
    rng = np.random.default_rng(seed)
    number, serial = int(rng.integers(0, 52)), int(rng.integers(1, 9999))
    return card_code(ALL_CARDS[number], deck_set=3, serial=serial).digits


def frame_of(face, seed, severity=0, **more):
    rng = np.random.default_rng(seed)
    look = LOOKS[severity]
    pose = random_pose(rng, width=SIZE[0], height=SIZE[1], tilt_deg=look.tilt_deg)
    return draw_frame(face, pose=pose, look=look, rng=rng, size=SIZE, **more)


def texts(sighting):
    return {reading.text for reading in sighting.readings}


@pytest.mark.parametrize("severity", [0, 1, 2])
@pytest.mark.parametrize("seed", range(12))
def test_a_drawn_card_is_read_right_by_both_decoders(decoders, seed, severity):
    seed += severity * 100
    sighting = Reader(decoders, budget_s=5).look(
        frame_of(card_face(code_of(seed)), seed, severity=severity)
    )
    assert texts(sighting) == {code_of(seed)}, f"seed {seed}"
    assert {reading.decoder for reading in sighting.readings} == set(Decoder)
    assert sighting.cards_in_view == 1
    assert sighting.code_in_view


@pytest.mark.parametrize("severity", [3, 4, 5])
@pytest.mark.parametrize("seed", range(6))
def test_a_hard_frame_is_never_read_wrong(decoders, seed, severity):
    seed += severity * 100
    sighting = Reader(decoders, clock=lambda: 0.0).look(
        frame_of(card_face(code_of(seed)), seed, severity=severity)
    )
    assert texts(sighting) <= {code_of(seed)}, f"seed {seed}"


@pytest.mark.parametrize("angle", range(0, 360, 30))
def test_every_angle_reads(reader, angle):
    rng = np.random.default_rng(angle)
    pose = random_pose(rng, width=SIZE[0], height=SIZE[1], tilt_deg=10)
    turned = type(pose)(
        centre_x=640,
        centre_y=360,
        width_px=230,
        angle_deg=angle,
        tilt_deg=pose.tilt_deg,
        tilt_axis_deg=pose.tilt_axis_deg,
    )
    frame = draw_frame(card_face(code_of(angle)), pose=turned, look=LOOKS[1], rng=rng)
    assert texts(reader.look(frame)) == {code_of(angle)}


@pytest.mark.parametrize(
    "colour",
    [
        *(FELT_GREEN, (120, 40, 20), (30, 30, 140), (25, 25, 25), (150, 150, 150)),
        *((226, 228, 228), (150, 188, 206), (58, 96, 142)),
    ],
)
def test_any_felt_colour_will_do(decoders, colour):
    rng = np.random.default_rng(3)
    pose = random_pose(rng, width=SIZE[0], height=SIZE[1], tilt_deg=8)
    table = felt(rng, width=SIZE[0], height=SIZE[1], colour=colour)
    scene = seen_through(lay(table, card_face(code_of(3)), pose=pose), LOOKS[1], rng=rng)
    sighting = Reader(decoders, clock=lambda: 0.0).look(scene)
    assert (texts(sighting), sighting.cards_in_view) == ({code_of(3)}, 1)


def test_a_finger_over_one_copy_leaves_the_other(decoders):
    rng = np.random.default_rng(4)
    pose = random_pose(rng, width=SIZE[0], height=SIZE[1], tilt_deg=4)
    scene = lay(felt(rng, width=SIZE[0], height=SIZE[1]), card_face(code_of(4)), pose=pose)
    corners = corners_of(pose)
    first_code = corners[0] * 0.78 + corners[2] * 0.22
    covered = hand(scene, at_px=(first_code[0], first_code[1]), radius_px=22)
    sighting = Reader(decoders, clock=lambda: 0.0).look(covered)
    assert texts(sighting) == {code_of(4)}


@pytest.mark.parametrize("seed", range(4))
def test_a_smudged_card_is_seen_but_not_read(decoders, seed):
    rng = np.random.default_rng(seed)
    sighting = Reader(decoders, clock=lambda: 0.0).look(
        frame_of(smudged(card_face(code_of(seed)), rng), seed), Effort.EXPLAIN
    )
    assert texts(sighting) == set()
    assert (sighting.cards_in_view, sighting.code_in_view, sighting.foreign) == (1, True, False)


@pytest.mark.parametrize("back", Back)
@pytest.mark.parametrize("seed", range(4))
def test_a_back_and_a_cut_card_are_cards_without_a_code(decoders, back, seed):
    sighting = Reader(decoders, clock=lambda: 0.0).look(
        frame_of(codeless_face(back), seed), Effort.EXPLAIN
    )
    assert texts(sighting) == set()
    assert (sighting.cards_in_view, sighting.code_in_view) == (1, False)


@pytest.mark.parametrize("severity", [0, 2, 4])
def test_an_empty_table_shows_no_card(decoders, severity):
    rng = np.random.default_rng(severity)
    pose = random_pose(rng, width=SIZE[0], height=SIZE[1], tilt_deg=0)
    look = type(LOOKS[0])(**{**vars_of(LOOKS[severity]), "glare": 0.0})
    frame = draw_frame(None, pose=pose, look=look, rng=rng)
    sighting = Reader(decoders, clock=lambda: 0.0).look(frame)
    assert (sighting.cards_in_view, sighting.readings, sighting.occupied) == (0, (), False)


def test_a_hand_alone_is_no_card_but_no_empty_table(decoders):
    rng = np.random.default_rng(2)
    scene = hand(felt(rng, width=SIZE[0], height=SIZE[1]), at_px=(500, 300), radius_px=40)
    sighting = Reader(decoders, clock=lambda: 0.0).look(scene)
    assert (sighting.cards_in_view, sighting.readings, sighting.occupied) == (0, (), True)


def test_a_huge_frame_is_read_too(decoders):
    frame = cv2.resize(frame_of(card_face(code_of(12)), 12), (7680, 4320))
    assert texts(Reader(decoders, budget_s=5).look(frame)) == {code_of(12)}


def vars_of(look):
    return {name: getattr(look, name) for name in look.__dataclass_fields__}


def test_two_cards_are_counted(decoders):
    rng = np.random.default_rng(1)
    scene = felt(rng, width=SIZE[0], height=SIZE[1])
    for x, seed in ((350, 1), (900, 2)):
        pose = Pose(centre_x=x, centre_y=360, width_px=230, angle_deg=20)
        scene = lay(scene, card_face(code_of(seed)), pose=pose)
    sighting = Reader(decoders, budget_s=5).look(scene)
    assert sighting.cards_in_view == 2
    assert texts(sighting) == {code_of(1), code_of(2)}


@pytest.mark.parametrize("count", [1, 2])
def test_cards_on_white_felt_are_counted_by_their_codes(decoders, count):
    rng = np.random.default_rng(1)
    scene = felt(rng, width=SIZE[0], height=SIZE[1], colour=(226, 228, 228))
    for x, seed in ((350, 1), (900, 2))[:count]:
        pose = Pose(centre_x=x, centre_y=360, width_px=230, angle_deg=20)
        scene = lay(scene, card_face(code_of(seed)), pose=pose)
    sighting = Reader(decoders, budget_s=5).look(seen_through(scene, LOOKS[0], rng=rng))
    assert sighting.cards_in_view == count
    assert texts(sighting) == {code_of(seed + 1) for seed in range(count)}


def test_an_empty_white_felt_under_a_lamp_is_empty(decoders):
    rng = np.random.default_rng(1)
    table = felt(rng, width=SIZE[0], height=SIZE[1], colour=(226, 228, 228))
    sighting = Reader(decoders, clock=lambda: 0.0).look(seen_through(table, LOOKS[1], rng=rng))
    assert (sighting.cards_in_view, sighting.occupied, sighting.readings) == (0, False, ())


def test_a_sighting_says_where_the_card_lies_and_how_sharp_it_is(decoders):
    frame = frame_of(card_face(code_of(3)), 3)
    sighting = Reader(decoders, clock=lambda: 0.0).look(frame)
    (corners,) = sighting.outlines
    assert len(corners) == 4
    assert all(isinstance(value, float) for corner in corners for value in corner)
    blurred = Reader(decoders, clock=lambda: 0.0).look(cv2.GaussianBlur(frame, (0, 0), 2.0))
    assert sighting.sharpness > blurred.sharpness > 0
    unchanged = Reader(decoders)
    unchanged.look(frame, Effort.WATCH)
    again = unchanged.look(frame, Effort.WATCH)
    assert (again.unchanged, again.outlines, again.sharpness) == (
        True,
        sighting.outlines,
        sighting.sharpness,
    )


def test_a_code_without_a_card_outline_is_read_from_the_whole_frame(reader):
    face = card_face(code_of(5))
    close_up = cv2.resize(face[: face.shape[0] // 2], None, fx=0.8, fy=0.8)
    assert texts(reader.look(close_up)) == {code_of(5)}


def test_a_still_view_that_is_only_watched_costs_no_decoding(decoders):
    counted = [Counting(decoder) for decoder in decoders]
    reader = Reader(tuple(counted))
    frame = frame_of(card_face(code_of(6)), 6)
    assert not reader.look(frame, Effort.WATCH).unchanged
    calls = sum(decoder.calls for decoder in counted)
    for _ in range(RECHECK_FRAMES):
        sighting = reader.look(frame, Effort.WATCH)
        assert (sighting.unchanged, sighting.still, sighting.cards_in_view) == (True, True, 1)
    assert sum(decoder.calls for decoder in counted) == calls
    assert not reader.look(frame, Effort.WATCH).unchanged, "a still view is decoded now and then"


def test_a_watched_view_that_moves_is_decoded(decoders):
    reader = Reader(decoders)
    reader.look(frame_of(card_face(code_of(6)), 6), Effort.WATCH)
    sighting = reader.look(frame_of(card_face(code_of(7)), 7), Effort.WATCH)
    assert (texts(sighting), sighting.still) == ({code_of(7)}, False)


def test_noise_alone_is_no_movement(decoders):
    reader = Reader(decoders)
    rng = np.random.default_rng(8)
    pose = random_pose(rng, width=SIZE[0], height=SIZE[1], tilt_deg=4)
    scene = lay(felt(rng, width=SIZE[0], height=SIZE[1]), card_face(code_of(8)), pose=pose)
    noise = Noise(rng, width=SIZE[0], height=SIZE[1], sigma=LOOKS[4].noise)
    stills = [reader.look(noise.on(scene), Effort.WATCH).still for _ in range(5)]
    assert stills == [False, True, True, True, True]


class Counting:
    """A decoder that counts its calls."""

    def __init__(self, decoder):
        self._decoder = decoder
        self.name = decoder.name
        self.calls = 0

    def texts(self, image):
        self.calls += 1
        return self._decoder.texts(image)


class Failing:
    """A decoder whose library fails on every picture."""

    name = Decoder.ZBAR

    def texts(self, image):
        raise DecoderFaultError


def test_a_decoder_that_fails_is_counted_and_the_other_has_its_say(decoders):
    sighting = Reader((decoders[0], Failing())).look(frame_of(card_face(code_of(9)), 9))
    assert texts(sighting) == {code_of(9)}
    assert {reading.decoder for reading in sighting.readings} == {Decoder.ZXING}
    assert sighting.faults > 0


@pytest.mark.parametrize("error", [ValueError, UnicodeDecodeError])
def test_an_error_inside_pyzbar_is_a_decoder_fault(monkeypatch, error):
    zbar = ZbarDecoder("qr")

    def fail(*_args, **_more):
        raise error("utf-8", b"", 0, 1, "x") if error is UnicodeDecodeError else error("4294967295")

    monkeypatch.setattr("pyzbar.pyzbar.decode", fail)
    with pytest.raises(DecoderFaultError):
        zbar.texts(np.zeros((50, 50), np.uint8))


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((0, 0), np.uint8),
        np.zeros((1, 1), np.uint8),
        np.zeros((1, 5000), np.uint8),
        np.zeros((60, 60), np.float32),
        np.full((60, 60, 3), 255, np.uint8),
        np.zeros(10, np.uint8),
    ],
    ids=["0x0", "1x1", "line", "float", "colour", "flat"],
)
def test_an_odd_picture_is_read_as_nothing(decoders, image):
    assert Reader(decoders, clock=lambda: 0.0).look(image).readings == ()
    assert [decoder.texts(image) for decoder in decoders] == [[], []]


@pytest.mark.parametrize("seed", range(6))
def test_random_pixels_are_read_as_nothing(decoders, seed):
    rng = np.random.default_rng(seed)
    frame = rng.integers(0, 256, (240, 320, 3)).astype(np.uint8)
    assert Reader(decoders, clock=lambda: 0.0).look(frame, Effort.EXPLAIN).readings == ()


@pytest.mark.parametrize("shape", ["grey", "one plane", "four planes", "float", "sixteen bits"])
def test_every_picture_format_of_a_camera_is_read(decoders, shape):
    frame = frame_of(card_face(code_of(10)), 10)
    grey = cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)
    picture = {
        "grey": grey,
        "one plane": grey[..., None],
        "four planes": cv2.cvtColor(frame, cv2.COLOR_BGR2BGRA),
        "float": grey.astype(np.float32) / 255,
        "sixteen bits": grey.astype(np.uint16) * 257,
    }[shape]
    assert texts(Reader(decoders, clock=lambda: 0.0).look(picture)) == {code_of(10)}


def test_an_unreadable_frame_is_given_up_when_the_time_is_up(decoders):
    now_s = [0.0]

    def clock():
        now_s[0] += 0.015
        return now_s[0]

    counted = [Counting(decoder) for decoder in decoders]
    frame = frame_of(smudged(card_face(code_of(1)), np.random.default_rng(1)), 1)
    Reader(tuple(counted), clock=clock).look(frame)
    hasty = sum(decoder.calls for decoder in counted)
    Reader(tuple(counted), budget_s=60).look(frame)
    assert sum(decoder.calls for decoder in counted) - hasty > hasty


def test_the_decoders_prove_themselves_on_a_known_picture(decoders):
    prove_decoders(decoders)

    class Blind:
        name = Decoder.ZBAR

        def texts(self, image):
            return []

    with pytest.raises(DecoderMissingError, match="libzbar0"):
        prove_decoders((decoders[0], Blind()))


@pytest.mark.parametrize(
    ("module", "decoder", "package"),
    [("pyzbar.pyzbar", ZbarDecoder, "libzbar0"), ("zxingcpp", ZxingDecoder, "zxing-cpp")],
)
def test_a_missing_library_names_the_package(monkeypatch, module, decoder, package):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DecoderMissingError, match=package):
        decoder("qr")


@pytest.mark.parametrize("severity", [0, 1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_a_strip_is_read_by_its_own_profile_only(decoders, seed, severity):
    face = card_face(code_of(seed), symbology=Symbology.CODE128)
    frame = frame_of(face, seed, severity=severity)
    strips = Reader(load_decoders(Symbology.CODE128), symbology=Symbology.CODE128, budget_s=5)
    sighting = strips.look(frame)
    assert texts(sighting) == {code_of(seed)}
    assert {reading.decoder for reading in sighting.readings} == set(Decoder)
    other = Reader(decoders, budget_s=5).look(frame, Effort.EXPLAIN)
    assert texts(other) == set()


def test_a_strip_is_a_foreign_symbol_to_a_studio_of_squares(decoders):
    face = card_face(code_of(1), symbology=Symbology.CODE128)
    pose = Pose(centre_x=600, centre_y=360, width_px=260, angle_deg=90)
    frame = draw_frame(face, pose=pose, look=LOOKS[0], rng=np.random.default_rng(1))
    assert Reader(decoders, budget_s=5).look(frame, Effort.EXPLAIN).foreign


@pytest.mark.skipif(not SHARED_FRAMES.is_dir(), reason="an extra where the sample frames are")
def test_sample_frames_up_to_severity_two_are_all_right_and_none_is_wrong(decoders):
    truth = json.loads((SHARED_FRAMES / "truth.json").read_text())
    assert truth
    for entry in truth:
        frame = cv2.imread(str(SHARED_FRAMES / entry["file"]))
        found = texts(Reader(decoders, budget_s=5).look(frame, Effort.EXPLAIN))
        expected = {entry["payload"]} - {None}
        assert found <= expected, entry["file"]
        if entry["severity"] <= 2:
            assert found == expected, entry["file"]
