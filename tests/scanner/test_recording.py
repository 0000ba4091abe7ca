"""The events of a recording, and the command that prints them."""

import json

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from scanner.camera import CameraError
from scanner.codebook import Codebook
from scanner.drawing import LOOKS, Pose, card_face, draw_frame
from scanner.layout import Symbology
from scanner.printing import card_manifest
from scanner.recording import EVENT_HEAD, event_json_line, event_table_line, recorded_events
from studio.cli.scan import scan

POSE = Pose(centre_x=600, centre_y=350, width_px=230, angle_deg=33)
FRAMES_PER_S = 25


def record(path, faces, *, frames=6):
    """Record each face for some frames; None is the empty table."""
    rng = np.random.default_rng(2)
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), FRAMES_PER_S, (1280, 720))
    for face in faces:
        picture = draw_frame(face, pose=POSE, look=LOOKS[0], rng=rng)
        for _ in range(frames):
            writer.write(picture)
    writer.release()
    return path


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    from studio.domain.cards import ALL_CARDS, card_code

    codes = [
        card_code(ALL_CARDS[number - 1], deck_set=7, serial=number).digits for number in (1, 2)
    ]
    faces = [None, card_face(codes[0]), None, card_face(codes[1]), None]
    return record(tmp_path_factory.mktemp("film") / "film.avi", faces), codes


def run(*arguments):
    return CliRunner().invoke(scan, [str(argument) for argument in arguments])


def test_every_card_of_a_recording_is_one_event_at_its_time(film):
    path, codes = film
    found = list(recorded_events(path))
    assert [(event["event"], event["payload"], event["card"]) for event in found] == [
        ("card_seen", codes[0], "AS"),
        ("card_seen", codes[1], "2S"),
    ]
    assert [event["at_s"] for event in found] == [6 / FRAMES_PER_S, 18 / FRAMES_PER_S]


def test_a_card_of_another_deck_set_carries_its_reason(tmp_path, digits):
    path = record(tmp_path / "film.avi", [card_face(digits(1))], frames=14)
    book = Codebook(deck_set=8, manifest=card_manifest(1))
    (event,) = recorded_events(path, codebook=book)
    assert (event["payload"], event["reason"]) == (digits(1), "other_deck_set")


def test_strips_are_read_in_their_profile(tmp_path, digits):
    face = card_face(digits(1), symbology=Symbology.CODE128)
    path = record(tmp_path / "film.avi", [None, face])
    (event,) = recorded_events(path, symbology=Symbology.CODE128)
    assert event["payload"] == digits(1)


def test_a_file_that_is_no_recording_is_told(tmp_path):
    (tmp_path / "film.avi").write_bytes(b"no film")
    with pytest.raises(CameraError):
        list(recorded_events(tmp_path / "film.avi"))
    ended = run(tmp_path / "film.avi")
    assert ended.exit_code == 1
    assert ended.stdout.split()[0] == "error"


def test_lines_for_machines_and_people(film):
    path, codes = film
    event = next(recorded_events(path))
    assert json.loads(event_json_line(event)) == event
    line = event_table_line(event)
    assert line.split()[:4] == ["0.24s", "card_seen", "AS", codes[0]]
    assert line.index(str(path)) == EVENT_HEAD.index("file")


def test_people_get_the_events_of_a_recording(film):
    path, codes = film
    ended = run(path)
    assert ended.exit_code == 0
    assert [line.split()[3] for line in ended.stdout.splitlines()] == codes


def test_machines_get_a_line_a_frame_unless_they_ask_for_events(film):
    path, codes = film
    frames = [json.loads(line) for line in run(path, "--json").stdout.splitlines()]
    assert len(frames) == 30
    assert list(frames[0]) == ["file", "status", "payload", "card", "reason", "ms"]
    found = [json.loads(line) for line in run(path, "--json", "--events").stdout.splitlines()]
    assert [list(event) for event in found] == [
        ["file", "at_s", "event", "payload", "card", "reason"]
    ] * 2
    assert [event["payload"] for event in found] == codes


def test_people_may_ask_for_frames(film):
    path, _ = film
    assert len(run(path, "--frames").stdout.splitlines()) == 30


def test_a_recording_without_a_card_is_a_success_without_events(tmp_path):
    ended = run(record(tmp_path / "film.avi", [None]))
    assert (ended.exit_code, ended.stdout) == (0, "")


def test_any_code_and_events_exclude_each_other(film):
    ended = run(film[0], "--any", "--events")
    assert ended.exit_code == 2


def test_a_picture_of_a_strip_is_read_in_its_profile(tmp_path, digits):
    path = tmp_path / "strip.png"
    face = card_face(digits(1), symbology=Symbology.CODE128)
    rng = np.random.default_rng(1)
    cv2.imwrite(str(path), draw_frame(face, pose=POSE, look=LOOKS[0], rng=rng))
    (line,) = run(path, "--json", "--profile", "code128").stdout.splitlines()
    assert json.loads(line)["payload"] == digits(1)
    (line,) = run(path, "--json").stdout.splitlines()
    assert json.loads(line)["payload"] is None
