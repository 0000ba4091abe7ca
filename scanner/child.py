"""The decoders in a process of their own: a crash or a hang there costs one frame.

Decoder libraries are C and have crashed on hostile codes. Frames go over by shared memory, the
answers come back as plain values. A fork-server, a clean process without threads that has loaded
the libraries once, forks each new child: it is there again within a few milliseconds.

Source: scanner notes, "What goes wrong, and what to do", 6.
"""

import contextlib
import mmap
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from typing import Protocol

import numpy as np
import structlog
from cv2.typing import MatLike

from scanner.clock import monotonic_ms
from scanner.decode import Reader, load_decoders
from scanner.layout import Symbology
from scanner.sighting import Effort, Sighting

LIMIT_MS = 2_000
"""A frame that takes longer hangs: fifty times the time budget of an unreadable one."""
START_LIMIT_MS = 30_000
"""A loaded machine may take long to load the libraries."""
END_LIMIT_S = 2.0
BACK_OFF_FIRST_MS = 100
BACK_OFF_MAX_MS = 5_000
RECOVERED_FRAMES = 30
"""So many frames in a row without a death forget the deaths before."""
FRAME_BYTES_MAX = 256 * 1024 * 1024
"""An 8k picture of 16 bits fits; memory is taken only as far as frames fill it."""

SOCKET_FOLDER_BYTES_MAX = 70
"""The fork-server's socket lies in the temporary folder, and the system allows 108 bytes."""
SHORT_FOLDER = "/tmp"  # noqa: S108  the socket's own folder in it is for its owner only

LOST_FRAME = Sighting(cards_in_view=0, occupied=True, still=False, faults=1)
"""A frame that nobody has seen: it says nothing about the table, not even that it is empty."""

STDERR = 2

log = structlog.get_logger("scanner.child")


class Looker(Protocol):
    """What the loop needs of a reader."""

    def look(self, image: MatLike, effort: Effort = Effort.READ) -> Sighting:
        """Look at one frame and say what it shows; the picture is not kept."""


@dataclass(frozen=True, kw_only=True)
class _Request:
    """Where the frame lies in the shared memory, and how hard to look at it."""

    shape: tuple[int, ...]
    dtype: str
    effort: Effort


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """What was seen; `fault` names an exception that no decoder should have raised."""

    sighting: Sighting
    fault: str | None = None


class _SharedFrame:
    """Memory for one frame, without a name: it is gone with the processes that hold it."""

    def __init__(self, handle: int, *, writable: bool) -> None:
        """Map the memory behind a file handle."""
        self.handle = handle
        access = mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ
        self._memory = mmap.mmap(handle, FRAME_BYTES_MAX, access=access)

    @classmethod
    def make(cls) -> "_SharedFrame":
        """Make new memory; nothing of it is used before a frame is written."""
        if sys.platform == "linux":
            # Not in /dev/shm: its size is limited in containers, and a full one kills the writer.
            handle = os.memfd_create("scanner-frame")
        else:
            with tempfile.TemporaryFile() as file:
                handle = os.dup(file.fileno())
        os.ftruncate(handle, FRAME_BYTES_MAX)
        return cls(handle, writable=True)

    def write(self, image: MatLike, effort: Effort) -> _Request:
        """Copy a picture in, whatever its size and kind, and say how to read it."""
        if image.nbytes:
            np.copyto(np.ndarray(image.shape, image.dtype, buffer=self._memory), image)
        return _Request(shape=image.shape, dtype=image.dtype.str, effort=effort)

    def read(self, request: _Request) -> MatLike:
        """Return the picture where it lies: it changes with the next one."""
        return np.ndarray(request.shape, request.dtype, buffer=self._memory)

    def close(self) -> None:
        """Give the memory back."""
        with contextlib.suppress(BufferError):
            self._memory.close()
        os.close(self.handle)


class _Child:
    """One decoding process, from its start to its end."""

    def __init__(
        self, make_reader: Callable[[], Looker], frame: _SharedFrame, *, limit_ms: int
    ) -> None:
        """Start it; the first frame waits until it can look."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__, "scanner.decoders", "pyzbar.pyzbar", "zxingcpp"])
        self._line, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs, make_reader, limit_ms), name="decoding", daemon=True
        )
        with theirs, _short_temporary_folder():
            self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid
        self._limit_ms = limit_ms
        self._is_ready = False
        self._hangs = False
        with contextlib.suppress(OSError):  # already dead: the first wait finds out
            send_handle(self._line, frame.handle, self.pid)

    def ask(self, request: _Request) -> _Answer | None:
        """Have one frame looked at; None when the child died or hung."""
        try:
            if not self._is_ready and self._wait(START_LIMIT_MS) is None:
                return None
            self._is_ready = True
            self._line.send(request)
            return self._wait(self._limit_ms)
        except (EOFError, OSError):
            return None

    def _wait(self, limit_ms: int) -> _Answer | None:
        if not self._line.poll(limit_ms / 1000):
            self._hangs = True
            return None
        answer: _Answer = self._line.recv()
        return answer

    def end(self) -> str:
        """End it, whatever it does, and say what it died of."""
        self._line.close()
        if self._hangs:
            self._process.kill()
        self._process.join(END_LIMIT_S)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join(END_LIMIT_S)
        if self._hangs:
            return "no answer in time"
        code = self._process.exitcode
        return f"status {code}" if code is None or code >= 0 else _signal_name(-code)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class ChildReader:
    """Looks at frames in a child process, which is started again whenever it dies or hangs."""

    def __init__(
        self,
        make_reader: Callable[[], Looker],
        *,
        limit_ms: int = LIMIT_MS,
        now_ms: Callable[[], int] = monotonic_ms,
    ) -> None:
        """Start the first child. `make_reader` is called there and must be picklable."""
        self._make_reader = make_reader
        self._limit_ms = limit_ms
        self._now_ms = now_ms
        self._frame = _SharedFrame.make()
        self._deaths = 0
        self._cause = ""
        self._good_frames = 0
        self._start_from_ms = 0
        self._started = 0
        self._child: _Child | None = None
        self._start()

    @property
    def restarts(self) -> int:
        """How often a child was started in place of a dead one."""
        return max(0, self._started - 1)

    @property
    def pid(self) -> int | None:
        """The child's process id; None while none runs."""
        return None if self._child is None else self._child.pid

    @property
    def trouble(self) -> str | None:
        """In plain words, why frames are not looked at; None while all is well."""
        if not self._deaths:
            return None
        often = f" {self._deaths} times in a row, each time waiting longer" * (self._deaths > 1)
        return f"The decoding process died{often} ({self._cause})."

    def look(self, image: MatLike, effort: Effort = Effort.READ) -> Sighting:
        """Look at one frame and say what it shows; LOST_FRAME when that was not possible."""
        if self._child is None:
            if self._now_ms() < self._start_from_ms:
                return LOST_FRAME
            self._start()
        if self._child is None:
            return LOST_FRAME
        if image.nbytes > FRAME_BYTES_MAX:
            log.error("frame_too_large", bytes=image.nbytes, bytes_max=FRAME_BYTES_MAX)
            return LOST_FRAME
        request = self._frame.write(image, effort)
        answer = self._child.ask(request)
        if answer is None:
            self._bury(self._child)
            return LOST_FRAME
        if answer.fault is not None:
            log.error("reader_fault", fault=answer.fault)
        self._good_frames += 1
        if self._good_frames >= RECOVERED_FRAMES:
            self._deaths = 0
        return answer.sighting

    def close(self) -> None:
        """End the child and give the memory back."""
        if self._child is not None:
            self._child.end()
            self._child = None
        self._frame.close()

    def _start(self) -> None:
        self._started += 1
        self._good_frames = 0
        try:
            self._child = _Child(self._make_reader, self._frame, limit_ms=self._limit_ms)
        except (OSError, EOFError) as error:  # no memory, no process left, the fork-server killed
            self._mourn(f"not started: {type(error).__name__}")

    def _bury(self, child: _Child) -> None:
        """Start another at once after one death, later and later after several in a row."""
        self._child = None
        if self._mourn(child.end()) == 0:
            self._start()

    def _mourn(self, cause: str) -> int:
        """Note a death, and return how long to wait, in milliseconds, before the next start."""
        self._cause = cause
        self._deaths += 1
        log.warning("reader_died", cause=cause, deaths_in_a_row=self._deaths)
        wait_ms = 0
        if self._deaths > 1:
            wait_ms = min(BACK_OFF_FIRST_MS * 2 ** min(self._deaths - 2, 16), BACK_OFF_MAX_MS)
        self._start_from_ms = self._now_ms() + wait_ms
        return wait_ms


@contextlib.contextmanager
def _short_temporary_folder() -> Iterator[None]:
    """Let a long temporary folder be no hindrance to the fork-server's socket."""
    folder = tempfile.gettempdir()
    if len(os.fsencode(folder)) > SOCKET_FOLDER_BYTES_MAX:
        tempfile.tempdir = SHORT_FOLDER
    try:
        yield
    finally:
        tempfile.tempdir = folder


def card_reader(*, symbology: Symbology, budget_ms: int) -> Reader:
    """Return the reader that a child runs."""
    return Reader(load_decoders(symbology), symbology=symbology, budget_s=budget_ms / 1000)


def _serve(line: Connection, make_reader: Callable[[], Looker], limit_ms: int) -> None:
    """Be the child: look at one frame after the other until the line is closed."""
    for number in (signal.SIGINT, signal.SIGTERM):
        # The parent is told by the same signal and ends this process in its own time.
        signal.signal(number, signal.SIG_IGN)
    # No dump ever holds the picture of a card.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with _ending_self(START_LIMIT_MS):
        frame = _SharedFrame(recv_handle(line), writable=False)
        reader = make_reader()
    # Libraries in C print what they please, and may print what they read.
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), STDERR)
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        line.send(_Answer(sighting=LOST_FRAME))
        while True:
            request = line.recv()
            with _ending_self(limit_ms):
                answer = _look(reader, frame, request)
            line.send(answer)


@contextlib.contextmanager
def _ending_self(limit_ms: int) -> Iterator[None]:
    """Have the kernel end this process if it hangs and no parent is left to notice.

    A closed line ends a child that waits; this ends one that hangs in a library, whatever the
    library holds. Twice the limit: a living parent comes first and says why.
    """
    signal.setitimer(signal.ITIMER_REAL, 2 * limit_ms / 1000)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)


def _look(reader: Looker, frame: _SharedFrame, request: _Request) -> _Answer:
    try:
        return _Answer(sighting=reader.look(frame.read(request), request.effort))
    except Exception as error:  # noqa: BLE001  whatever a decoder does, it costs this frame only
        # The name alone: a message may carry the text that was read.
        return _Answer(sighting=LOST_FRAME, fault=type(error).__name__)
