"""Sources: newest frame only, losses survived, recorded frames all read."""

import socket
import threading
import time

import cv2
import numpy as np
import pytest

from scanner.camera import (
    FROZEN_MS,
    FROZEN_REOPEN_MS,
    HUNG_MAX,
    HUNG_MS,
    READ_TIMEOUT_MS,
    CameraError,
    CaptureGrabber,
    LiveSource,
    RecordedSource,
    folder_pictures,
    read_image,
    video_pictures,
)
from scanner.health import CameraState

WAIT_S = 10.0


class Clock:
    def __init__(self):
        self.ms = 1_000

    def __call__(self):
        return self.ms


class ScriptedGrabber:
    """Gives out pictures when the test lets it; None is a lost camera."""

    def __init__(self):
        self._pictures = []
        self._changed = threading.Condition()
        self.asked = 0
        self.closed = threading.Event()

    def give(self, *pictures):
        """Hand over pictures and wait until all are taken and the next is asked for."""
        with self._changed:
            target = self.asked + len(pictures)
            self._pictures += pictures
            self._changed.notify_all()
            assert self._changed.wait_for(
                lambda: self.asked >= target or self.closed.is_set(), WAIT_S
            )

    def read(self):
        with self._changed:
            self.asked += 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._pictures or self.closed.is_set(), WAIT_S)
            return self._pictures.pop(0) if self._pictures else None

    def close(self):
        with self._changed:
            self.closed.set()
            self._changed.notify_all()


def picture(level):
    return np.full((64, 64, 3), level, np.uint8)


@pytest.fixture
def live():
    """Make a live source over scripted grabbers, opened one after another."""
    sources, grabbers, clock = [], [], Clock()

    def make(*script, **more):
        grabbers.extend(script)
        waiting = iter(script)

        def open_grabber():
            try:
                grabber = next(waiting)
            except StopIteration:
                raise CameraError("no camera") from None
            if isinstance(grabber, Exception):
                raise grabber
            return grabber

        source = LiveSource(open_grabber, name="test", now_ms=clock, **more)
        sources.append(source)
        return source, clock

    yield make
    for grabber in grabbers:
        if isinstance(grabber, ScriptedGrabber):
            grabber.close()
    for source in sources:
        source.close()


def wait_asked(grabber, count):
    with grabber._changed:
        assert grabber._changed.wait_for(lambda: grabber.asked >= count, WAIT_S)


def test_only_the_newest_frame_is_kept_and_the_others_are_counted(live):
    grabber = ScriptedGrabber()
    source, _ = live(grabber)
    wait_asked(grabber, 1)
    grabber.give(picture(1), picture(2), picture(3))
    frame = source.next_frame(timeout_s=WAIT_S)
    assert (frame.number, int(frame.image[0, 0, 0])) == (3, 3)
    assert (source.health().frames, source.health().dropped) == (3, 2)
    assert source.next_frame(timeout_s=0) is None


def test_a_frame_carries_the_time_it_was_taken(live):
    grabber = ScriptedGrabber()
    source, clock = live(grabber)
    wait_asked(grabber, 1)
    clock.ms = 5_000
    grabber.give(picture(1))
    clock.ms = 5_700
    assert source.next_frame(timeout_s=WAIT_S).taken_ms == 5_000
    assert source.health().age_ms == 700


def test_a_lost_camera_is_opened_again(live):
    first, second = ScriptedGrabber(), ScriptedGrabber()
    source, _ = live(first, CameraError("still unplugged"), second)
    wait_asked(first, 1)
    first.give(picture(1))
    assert source.next_frame(timeout_s=WAIT_S).number == 1
    first.give(None)
    assert first.closed.wait(WAIT_S)
    wait_asked(second, 1)
    second.give(picture(9))
    frame = source.next_frame(timeout_s=WAIT_S)
    assert (frame.number, int(frame.image[0, 0, 0])) == (2, 9)
    assert source.health().reopened == 1


def test_a_frozen_picture_ages_although_frames_arrive(live):
    grabber = ScriptedGrabber()
    source, clock = live(grabber)
    wait_asked(grabber, 1)
    start_ms = clock.ms
    for _ in range(4):
        grabber.give(picture(7))
        clock.ms += FROZEN_MS // 2
    assert source.health().age_ms == clock.ms - start_ms
    grabber.give(picture(8))
    assert source.health().age_ms == 0


def test_a_camera_that_never_came_has_no_age(live):
    source, _ = live()
    assert source.health().age_ms is None
    assert source.next_frame(timeout_s=0.05) is None


def test_closing_ends_a_wait_for_a_frame(live):
    source, _ = live()
    frames = []
    waiter = threading.Thread(target=lambda: frames.append(source.next_frame(timeout_s=WAIT_S)))
    waiter.start()
    source.close()
    waiter.join(WAIT_S)
    assert frames == [None]


def test_a_stream_that_is_not_there_is_refused_quickly():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    started_s = time.monotonic()
    with pytest.raises(CameraError):
        CaptureGrabber(f"http://127.0.0.1:{port}/stream")
    assert time.monotonic() - started_s < 15, "OpenCV's own limit is 30 s"


def test_a_stream_that_never_answers_is_given_up():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        started_s = time.monotonic()
        with pytest.raises(CameraError):
            CaptureGrabber(f"http://127.0.0.1:{silent.getsockname()[1]}/stream")
        assert time.monotonic() - started_s < 15, "OpenCV's own limit is 30 s"


def test_a_folder_is_read_by_name_and_bad_files_are_counted(tmp_path):
    for name, level in (("b.png", 2), ("a.png", 1), ("sub/c.png", 3)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        cv2.imwrite(str(tmp_path / name), picture(level))
    (tmp_path / "aa.png").write_bytes(b"not a picture")
    (tmp_path / "notes.txt").write_text("left alone")
    source = RecordedSource(folder_pictures(tmp_path), now_ms=Clock())
    levels = []
    while not source.ended:
        frame = source.next_frame(timeout_s=0)
        if frame is not None:
            levels.append(int(frame.image[0, 0, 0]))
    assert levels == [1, 2, 3]
    assert source.health().dropped == 1
    source.close()


def test_a_video_is_read_frame_by_frame(tmp_path):
    path = tmp_path / "video.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 25, (64, 64))
    for level in (40, 120, 200):
        writer.write(picture(level))
    writer.release()
    levels = [int(image.mean()) for _, image in video_pictures(path)]
    assert levels == pytest.approx([40, 120, 200], abs=3)


def test_a_file_that_is_no_video_is_refused(tmp_path):
    path = tmp_path / "video.avi"
    path.write_bytes(b"no video at all")
    with pytest.raises(CameraError, match="not a video"):
        list(video_pictures(path))


@pytest.mark.parametrize("content", [b"", b"x", b"\x89PNG\r\n\x1a\n" + b"\0" * 40, None])
def test_a_broken_picture_is_none(tmp_path, content):
    path = tmp_path / "x.png"
    if content is not None:
        path.write_bytes(content)
    assert read_image(path) is None


# States -----------------------------------------------------------------------------------------


def test_a_camera_is_opening_then_open_then_lost_then_open_again(live):
    first, second = ScriptedGrabber(), ScriptedGrabber()
    source, _ = live(first, second)
    wait_asked(first, 1)
    assert source.health().state is CameraState.OPENING
    first.give(picture(1))
    assert source.health().state is CameraState.OPEN
    first.give(None)
    assert first.closed.wait(WAIT_S)
    assert source.health().state is CameraState.LOST
    wait_asked(second, 1)
    assert source.health().state is CameraState.LOST, "open is not enough: a picture has to come"
    second.give(picture(2))
    assert source.health().state is CameraState.OPEN


@pytest.mark.parametrize(
    ("silent_ms", "state"),
    [(READ_TIMEOUT_MS, CameraState.OPEN), (READ_TIMEOUT_MS + 1, CameraState.LOST)],
)
def test_a_camera_that_falls_silent_is_lost_although_its_read_still_waits(live, silent_ms, state):
    grabber = ScriptedGrabber()
    source, clock = live(grabber, frozen_ms=60_000)
    wait_asked(grabber, 1)
    grabber.give(picture(1))
    clock.ms += silent_ms
    assert source.health().state is state


@pytest.mark.parametrize(
    ("same_ms", "state"), [(FROZEN_MS, CameraState.OPEN), (FROZEN_MS + 1, CameraState.FROZEN)]
)
def test_the_same_picture_for_too_long_is_frozen(live, same_ms, state):
    grabber = ScriptedGrabber()
    source, clock = live(grabber)
    wait_asked(grabber, 1)
    grabber.give(picture(7))
    clock.ms += same_ms
    grabber.give(picture(7))
    assert source.health().state is state
    grabber.give(picture(8))
    assert source.health().state is CameraState.OPEN


def test_a_camera_frozen_for_long_is_opened_again_and_stays_frozen_until_it_changes(live):
    first, second = ScriptedGrabber(), ScriptedGrabber()
    source, clock = live(first, second)
    wait_asked(first, 1)
    first.give(picture(7))
    clock.ms += FROZEN_REOPEN_MS + 1
    first.give(picture(7))
    assert first.closed.wait(WAIT_S)
    wait_asked(second, 1)
    second.give(picture(7))
    assert (source.health().state, source.health().reopened) == (CameraState.FROZEN, 1)
    second.give(picture(8))
    assert source.health().state is CameraState.OPEN


def test_a_call_that_never_comes_back_is_left_behind_and_another_thread_goes_on(live):
    """A driver may hang for good; no time-out of ours reaches into it."""
    hung, good = ScriptedGrabber(), ScriptedGrabber()
    source, clock = live(hung, good)
    wait_asked(hung, 1)
    clock.ms += HUNG_MS
    assert source.next_frame(timeout_s=0) is None
    assert good.asked == 0
    clock.ms += 1
    assert source.next_frame(timeout_s=0) is None
    wait_asked(good, 1)
    good.give(picture(2))
    assert int(source.next_frame(timeout_s=WAIT_S).image[0, 0, 0]) == 2
    # It comes back after all: what it brings is old, and it lets go of the camera.
    hung.give(picture(1))
    assert hung.closed.wait(WAIT_S)
    assert source.next_frame(timeout_s=0) is None
    assert source.health().state is CameraState.OPEN


def test_only_so_many_hung_threads_are_left_behind(live):
    grabbers = [ScriptedGrabber() for _ in range(HUNG_MAX + 2)]
    source, clock = live(*grabbers)
    for grabber in grabbers[: HUNG_MAX + 1]:
        wait_asked(grabber, 1)
        clock.ms += HUNG_MS + 1
        assert source.next_frame(timeout_s=0) is None
    assert grabbers[-1].asked == 0


@pytest.mark.parametrize("shape", [(1, 1, 3), (64, 64), (1, 4_000, 3), (4_320, 7_680, 3)])
def test_frames_of_every_size_are_kept(live, shape):
    grabber = ScriptedGrabber()
    source, _ = live(grabber)
    wait_asked(grabber, 1)
    grabber.give(picture(1), np.zeros(shape, np.uint8))
    assert source.next_frame(timeout_s=WAIT_S).image.shape == shape
