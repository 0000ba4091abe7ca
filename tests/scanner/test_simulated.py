"""The drawn camera and its steering."""

import json

import numpy as np
import pytest

from scanner.camera import CameraError
from scanner.decode import Reader, Symbology, load_decoders
from scanner.sighting import Effort
from scanner.simulated import GAP_FRAMES, SimulatedCamera, SteeringServer, Trouble, obey


class Clock:
    """Always late: no frame is waited for."""

    def __init__(self):
        self.s = 0.0

    def __call__(self):
        self.s += 1.0
        return self.s


def make_camera(seed=1, severity=0):
    return SimulatedCamera(
        width=960,
        height=540,
        frames_per_s=30,
        severity=severity,
        seed=seed,
        monotonic=Clock(),
    )


@pytest.fixture
def camera():
    camera = make_camera()
    yield camera
    camera.close()


@pytest.fixture
def look():
    reader = Reader(load_decoders(Symbology.QR), budget_s=5)
    return lambda camera: reader.look(camera.read(), Effort.EXPLAIN)


def order(camera, **fields):
    return obey(camera, json.dumps(fields).encode())


def skip_gap(camera):
    for _ in range(GAP_FRAMES):
        camera.read()


def test_an_empty_table_shows_nothing(camera, look):
    assert look(camera).cards_in_view == 0


def test_a_placed_card_shows_its_code_after_an_empty_gap(camera, look, digits):
    answer = order(camera, op="place", code=digits(10), trouble="none", seed=4)
    assert answer == {"ok": True, "frames": 0, "from_frame": GAP_FRAMES}
    assert [look(camera).cards_in_view for _ in range(GAP_FRAMES)] == [0] * GAP_FRAMES
    assert {reading.text for reading in look(camera).readings} == {digits(10)}


def test_frames_of_the_emptied_glass_count_for_the_gap(camera, look, digits):
    order(camera, op="place", code=digits(3))
    skip_gap(camera)
    camera.read()
    order(camera, op="clear")
    assert look(camera).cards_in_view == 0
    order(camera, op="place", code=digits(4))
    for _ in range(GAP_FRAMES - 1):
        assert look(camera).cards_in_view == 0
    assert {reading.text for reading in look(camera).readings} == {digits(4)}


def test_a_card_laid_on_a_card_is_seen_after_a_whole_gap(camera, look, digits):
    order(camera, op="place", code=digits(3))
    skip_gap(camera)
    camera.read()
    order(camera, op="place", code=digits(4))
    assert [look(camera).cards_in_view for _ in range(GAP_FRAMES)] == [0] * GAP_FRAMES
    assert {reading.text for reading in look(camera).readings} == {digits(4)}


@pytest.mark.parametrize(
    ("trouble", "cards", "code", "foreign"),
    [
        (Trouble.UNREADABLE, 1, True, False),
        (Trouble.FACE_DOWN, 1, False, False),
        (Trouble.TWO_CARDS, 2, True, False),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_trouble_looks_like_its_name(camera, look, digits, trouble, cards, code, foreign, seed):
    order(camera, op="place", code=digits(3), trouble=trouble.value, seed=seed)
    skip_gap(camera)
    sighting = look(camera)
    assert (sighting.cards_in_view, sighting.code_in_view, sighting.foreign) == (
        cards,
        code,
        foreign,
    )
    if trouble is not Trouble.TWO_CARDS:
        assert sighting.readings == ()


def test_a_foreign_symbol_is_no_studio_code(camera, look, digits):
    order(camera, op="place", code=digits(3), trouble="foreign_symbology")
    skip_gap(camera)
    assert {reading.text for reading in look(camera).readings} == {"NOT A CARD"}


def test_clear_and_cut_card(camera, look, digits):
    order(camera, op="place", code=digits(3))
    skip_gap(camera)
    assert look(camera).cards_in_view == 1
    order(camera, op="clear")
    assert look(camera).cards_in_view == 0
    order(camera, op="cut_card")
    skip_gap(camera)
    sighting = look(camera)
    assert (sighting.cards_in_view, sighting.code_in_view) == (1, False)


def test_the_same_seed_draws_the_same_pictures(digits):
    cameras = [make_camera(seed=5), make_camera(seed=5), make_camera(seed=6)]
    pictures = []
    for camera in cameras:
        order(camera, op="place", code=digits(3))
        skip_gap(camera)
        pictures.append(camera.read())
        camera.close()
    assert np.array_equal(pictures[0], pictures[1])
    assert not np.array_equal(pictures[0], pictures[2])


def test_no_two_frames_are_the_same(camera):
    assert not np.array_equal(camera.read(), camera.read())


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"no json",
        b"[]",
        b"{}",
        b'{"op":"dance"}',
        b'{"op":"place"}',
        b'{"op":"place","code":"123"}',
        b'{"op":"place","code":"110007001000"}',
        b'{"op":"place","code":null}',
        b'{"op":"place","code":"110007001003","trouble":"none","seed":"x"}',
        b'{"op":"clear","seed":1.5}',
        b"\xff\xfe",
    ],
)
def test_a_bad_order_is_answered_and_changes_nothing(camera, look, line):
    answer = obey(camera, line)
    assert answer["ok"] is False
    assert answer["error"]
    skip_gap(camera)
    assert look(camera).cards_in_view == 0


def test_a_negative_seed_is_answered(camera, digits):
    assert order(camera, op="place", code=digits(1), seed=-1)["ok"] is False


def test_orders_come_over_the_socket(camera, short_dir, steer, digits):
    server = SteeringServer(camera, short_dir / "cam.sock")
    try:
        client = steer(short_dir / "cam.sock")
        assert client.send(op="status") == {"ok": True, "frames": 0, "from_frame": 0}
        assert client.raw("nonsense")["ok"] is False
        assert client.send(op="place", code=digits(1))["ok"] is True
        assert ((short_dir / "cam.sock").stat().st_mode & 0o077) == 0
    finally:
        server.close()
    assert not (short_dir / "cam.sock").exists()


def test_a_socket_left_behind_is_replaced(camera, short_dir):
    path = short_dir / "cam.sock"
    path.write_text("left behind")
    SteeringServer(camera, path).close()


def test_a_path_too_long_for_a_socket_names_the_key(camera, short_dir):
    with pytest.raises(CameraError, match=r"camera\.socket"):
        SteeringServer(camera, short_dir / ("x" * 100))
