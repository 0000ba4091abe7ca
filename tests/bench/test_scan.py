"""`bench scan` runs small, says what it measured, and counts rightly; nothing is timed."""

import json

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from scanner.codebook import Codebook
from scanner.confirm import Report, ReportKind
from scanner.drawing import LOOKS
from scanner.layout import Symbology
from scanner.sighting import Effort
from studio.bench import scan as bench_scan
from studio.bench import scan_events as bench_scan_events
from studio.bench.scan import measure_scan
from studio.bench.scan_drawn import DECK_SET, MANIFEST, NEGATIVES, Felt, Kind, shots
from studio.bench.scan_episodes import SCENE_WEIGHTS, Scene, film
from studio.bench.scan_photos import is_text, measure_photos
from studio.bench.scan_readers import OURS, READERS, OurReader, PeerReader, Times, timed
from studio.cli.bench import bench


def silent(_line):
    """Nobody listens."""


@pytest.fixture(scope="module")
def found():
    ended = CliRunner().invoke(
        bench, ["scan", "--frames", "60", "--seed", "3", "--json"], catch_exceptions=False
    )
    assert ended.exit_code == 0, ended.output
    return json.loads(ended.stdout)


def test_the_same_frames_go_before_three_readers(found):
    assert (found["bench"], found["seed"], found["frames"]) == ("scan", 3, 60)
    assert found["single_frames"] == 30
    counts = {}
    for row in found["readers"]:
        place = (row["profile"], row["kind"], row["severity"])
        counts.setdefault(place, {})[row["reader"]] = row["frames"]
        assert row["right"] <= row["frames"]
    assert all(set(count) == set(READERS) for count in counts.values())
    assert all(len(set(count.values())) == 1 for count in counts.values())
    assert sum(count[OURS] for count in counts.values()) == 30


def test_the_film_is_counted_and_holds_no_wrong_event(found):
    events = found["events"]
    assert events["frames"] >= 60
    assert events["episodes"] >= 2
    assert events["wrong_events"] == 0
    for row in events["tallies"]:
        assert row["right"] + row["missing"] + row["doubled"] == row["cards"]
    assert found["faults"] == []


def test_every_goal_is_told_with_whether_it_is_reached(found):
    goals = found["goals"]
    assert len(goals) == 15
    assert {goal["reached"] for goal in goals} <= {True, False, None}
    assert goals[-1]["goal"].startswith("wrong events in ")


def test_for_people_there_are_tables_and_goals():
    ended = CliRunner().invoke(bench, ["scan", "--frames", "20"], catch_exceptions=False)
    assert ended.exit_code == 0
    for title in ("Single frames, qr", "by felt", "Events: ", "Goals", "wrong events in "):
        assert title in ended.stdout
    assert "Seed 1" in ended.stdout


def test_an_interrupt_keeps_what_was_counted(monkeypatch):
    real = bench_scan.shots

    def interrupted(seed, frames):
        yield from (shot for shot, _ in zip(real(seed, frames), range(4), strict=False))
        raise KeyboardInterrupt

    monkeypatch.setattr(bench_scan, "shots", interrupted)
    result = measure_scan(frames=60, photos=None, seed=1, say=silent)
    assert (result.interrupted, result.singles) == (True, 4)
    assert result.as_json()["interrupted"] is True


def test_one_seed_draws_the_same_frames():
    one, same, other = (list(shots(seed, 12)) for seed in (5, 5, 6))
    for shot, again in zip(one, same, strict=True):
        assert (shot.kind, shot.payload, shot.felt) == (again.kind, again.payload, again.felt)
        assert np.array_equal(shot.image, again.image)
    assert not all(np.array_equal(a.image, b.image) for a, b in zip(one, other, strict=True))


def test_every_kind_and_felt_is_drawn():
    drawn = list(shots(1, 220))
    assert {shot.kind for shot in drawn} == set(Kind)
    assert {shot.felt for shot in drawn} == set(Felt)
    assert {shot.symbology for shot in drawn} == set(Symbology)
    assert all((shot.payload is None) == (shot.kind in NEGATIVES) for shot in drawn)
    assert {shot.severity for shot in drawn} == set(range(len(LOOKS)))


@pytest.mark.parametrize("symbology", Symbology)
def test_a_film_shows_episode_after_episode(symbology):
    takes = [take for take, _ in zip(film(2, symbology), range(120), strict=False)]
    numbers = [take.episode.number for take in takes]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) > 1
    assert {take.episode.scene for take in takes} <= set(SCENE_WEIGHTS)
    assert Scene.CARD in {take.episode.scene for take in takes}
    assert all(take.image.shape == (720, 1280, 3) for take in takes)


def test_a_peer_knows_no_manifest_and_this_scanner_does():
    other = next(
        shot for shot in shots(4, 400) if shot.kind is Kind.OTHER_SET and not shot.severity
    )
    ours, _ = timed(
        OurReader(Codebook(deck_set=DECK_SET, manifest=MANIFEST)), other.image, other.symbology
    )
    peer, ms = timed(PeerReader("zxing", which=0), other.image, Symbology.QR)
    assert ours == set()
    assert ms > 0
    assert all(len(text) == 12 for text in peer)


def test_times_are_counted_in_steps():
    times = Times()
    assert times.at(0.5) == 0.0
    for ms in (1.01, 2.02, 3.03, 100.0):
        times.add(ms)
    assert (times.at(0.5), times.at(0.75), times.at(1.0)) == (2.1, 3.1, 100.1)


def test_photos_are_compared_with_the_text_beside_them(tmp_path):
    shot = next(
        shot
        for shot in shots(4, 400)
        if shot.kind is Kind.COMBINED and not shot.severity and shot.symbology is Symbology.QR
    )
    for folder, text in (("qrcode-1", shot.payload), ("falsepositives-1", None)):
        (tmp_path / folder).mkdir()
        picture = shot.image if text else np.full((200, 200, 3), 90, np.uint8)
        cv2.imwrite(str(tmp_path / folder / "1.png"), picture)
        if text:
            (tmp_path / folder / "1.txt").write_text(text)
    (tmp_path / "qrcode-1" / "2.png").write_bytes(b"no picture")
    found = measure_photos(tmp_path, say=silent)
    assert found.unreadable == 1
    assert (found.of(OURS, "qrcode").right, found.of(OURS, "qrcode").frames) == (1, 1)
    nothing = found.of(OURS, "nothing to report")
    assert (nothing.frames, nothing.right, nothing.wrong) == (1, 1, 0)
    (tmp_path / "qrcode-1" / "1.txt").write_text("another text")
    assert measure_photos(tmp_path, say=silent).wrong(OURS) == 1


@pytest.mark.parametrize(
    ("text", "expected", "same"),
    [
        ("abc", b"abc\n", True),
        ("é", "é".encode("latin-1"), True),
        ("カード", "カード".encode("shift_jis"), True),
        ("abc", b"abd", False),
        ("", b"abc", False),
    ],
)
def test_a_text_may_differ_in_its_encoding_only(text, expected, same):
    assert is_text(text, expected) is same


def test_a_wrong_event_is_a_fault_and_fails_the_run(monkeypatch):
    class Liar:
        def __init__(self, codebook):
            self.codebook = codebook
            self.told = False

        def effort(self, now_ms):
            del now_ms
            return Effort.READ

        def step(self, sighting, *, now_ms):
            del sighting, now_ms
            if self.told:
                return ()
            self.told = True
            return (Report(kind=ReportKind.CARD_SEEN, code="1" * 12),)

    monkeypatch.setattr(bench_scan_events, "Confirmer", Liar)
    result = measure_scan(frames=10, photos=None, seed=1, say=silent)
    assert result.events.wrong == 2
    assert all("frame 0, episode 0" in fault for fault in result.faults)
    goal = result.goals[-1]
    assert (goal.value, goal.reached) == (2.0, False)
