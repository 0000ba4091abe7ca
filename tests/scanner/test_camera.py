"""Sources: newest frame only, losses survived, recorded frames all read."""

import socket
import threading
import time

import cv2
import numpy as np
import pytest

from scanner.camera import (
    FROZEN_MS,
    CameraError,
    CaptureGrabber,
    LiveSource,
    RecordedSource,
    folder_pictures,
    read_image,
    video_pictures,
)

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

    def make(*script):
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

        source = LiveSource(open_grabber, name="test", now_ms=clock)
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
