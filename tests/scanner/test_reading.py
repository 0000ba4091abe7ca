"""Files read for the command line."""

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
import segno

from scanner.codebook import Codebook
from scanner.drawing import (
    LOOKS,
    Back,
    Pose,
    card_face,
    codeless_face,
    draw_frame,
    felt,
    lay,
    stamped_face,
)
from scanner.printing import card_manifest
from scanner.reading import TABLE_HEAD, as_json_line, as_table_line, read_paths

SHARED_FRAMES = Path(__file__).parents[3] / "shared" / "scanner" / "frames"
POSE = Pose(centre_x=600, centre_y=350, width_px=230, angle_deg=33)


def draw(path, face):
    rng = np.random.default_rng(2)
    cv2.imwrite(str(path), draw_frame(face, pose=POSE, look=LOOKS[0], rng=rng))
    return path


def foreign_face():
    symbol = segno.make("HELLO", version=1, error="H", micro=False, boost_error=False)
    return stamped_face(np.array(symbol.matrix, np.uint8))


def test_a_card_is_read_with_payload_and_face(tmp_path, digits):
    path = draw(tmp_path / "card.png", card_face(digits(23)))
    (result,) = read_paths([path], any_code=False)
    assert result["ms"] > 0
    assert {**result, "ms": 0} == {
        "file": str(path),
        "status": "read",
        "payload": digits(23),
        "card": "TH",
        "reason": None,
        "ms": 0,
    }


def test_what_does_not_read_says_why(tmp_path, digits):
    rng = np.random.default_rng(1)
    scene = felt(rng, width=1280, height=720)
    for x, number in ((350, 1), (900, 2)):
        pose = Pose(centre_x=x, centre_y=360, width_px=230, angle_deg=20)
        scene = lay(scene, card_face(digits(number)), pose=pose)
    cv2.imwrite(str(tmp_path / "a_two.png"), scene)
    draw(tmp_path / "b_back.png", codeless_face(Back.PATTERN))
    draw(tmp_path / "c_empty.png", None)
    draw(tmp_path / "d_foreign.png", foreign_face())
    results = list(read_paths([tmp_path], any_code=False))
    assert [(r["status"], r["payload"], r["card"], r["reason"]) for r in results] == [
        ("failed", None, None, "two_cards"),
        ("failed", None, None, "no_code"),
        ("failed", None, None, "no_code"),
        ("failed", None, None, "foreign_symbology"),
    ]


def test_any_code_returns_what_is_no_studio_card(tmp_path):
    path = draw(tmp_path / "foreign.png", foreign_face())
    (result,) = read_paths([path], any_code=True)
    assert (result["status"], result["payload"], result["card"]) == ("read", "HELLO", None)


@pytest.mark.parametrize("any_code", [False, True])
def test_files_that_are_no_pictures_are_errors(tmp_path, any_code):
    (tmp_path / "broken.png").write_bytes(b"\x89PNG broken")
    (tmp_path / "broken.mp4").write_bytes(b"broken")
    paths = [tmp_path / "broken.png", tmp_path / "broken.mp4", tmp_path / "missing.png"]
    results = list(read_paths(paths, any_code=any_code))
    assert [(r["status"], r["payload"]) for r in results] == [("error", None)] * 3


def test_a_card_of_another_deck_set_is_named_when_a_deck_set_is(tmp_path, digits):
    path = draw(tmp_path / "card.png", card_face(digits(23)))
    book = Codebook(deck_set=8, manifest=card_manifest(1))
    (result,) = read_paths([path], any_code=False, codebook=book)
    assert (result["status"], result["payload"], result["reason"]) == (
        "failed",
        None,
        "other_deck_set",
    )


def test_a_video_gives_one_result_a_frame(tmp_path, digits):
    path = tmp_path / "video.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 25, (1280, 720))
    rng = np.random.default_rng(2)
    for face in (card_face(digits(1)), None, card_face(digits(2))):
        writer.write(draw_frame(face, pose=POSE, look=LOOKS[0], rng=rng))
    writer.release()
    results = list(read_paths([path], any_code=False))
    assert [result["card"] for result in results] == ["AS", None, "2S"]


def test_lines_for_machines_and_people(tmp_path, digits):
    path = draw(tmp_path / "card.png", card_face(digits(1)))
    (result,) = read_paths([path], any_code=False)
    assert json.loads(as_json_line(result)) == result
    line = as_table_line(result)
    assert line.split()[:3] == ["read", "AS", digits(1)]
    assert line.index(str(path)) == TABLE_HEAD.index("file")


@pytest.mark.skipif(not SHARED_FRAMES.is_dir(), reason="an extra where the sample frames are")
def test_the_sample_frames_name_their_cards():
    truth = {e["file"]: e for e in json.loads((SHARED_FRAMES / "truth.json").read_text())}
    results = {Path(r["file"]).name: r for r in read_paths([SHARED_FRAMES], any_code=False)}
    assert results.keys() == truth.keys()
    for name, entry in truth.items():
        assert results[name]["payload"] in {entry["payload"], None}
        if entry["severity"] <= 2:
            assert results[name]["card"] == entry["card"], name
