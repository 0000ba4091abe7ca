"""A camera that draws its frames, steered over a local socket.

One JSON object a line, one answer a line:
`{"op":"place","code":"12 digits","trouble":"none","seed":7}`, `{"op":"clear"}`,
`{"op":"cut_card"}`, `{"op":"status"}`. Answers are `{"ok":true,"frames":n,...}` or
`{"ok":false,"error":"..."}`. Only the socket's owner may connect; it is for demos and tests.
"""

import contextlib
import json
import os
import socketserver
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum, unique
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from cv2.typing import MatLike

from scanner.camera import CameraError
from scanner.drawing import (
    LOOKS,
    Back,
    Look,
    Noise,
    Pose,
    card_face,
    codeless_face,
    corners_of,
    felt,
    lay,
    random_pose,
    seen_through,
    smudged,
    stamped_face,
)
from studio.domain.errors import StudioError

SOCKET_PATH_BYTES_MAX = 100
"""The system's limit for such a path is 108 bytes."""
LINE_BYTES_MAX = 4_096
GAP_FRAMES = 4
"""Empty frames between two cards: the dealer takes one away before the next is laid."""


@unique
class Trouble(StrEnum):
    """What is wrong with a placed card; it stays wrong until the card is placed again."""

    NONE = "none"
    UNREADABLE = "unreadable"
    """Both codes are smudged."""
    FACE_DOWN = "face_down"
    """The back is up: no code at all."""
    FOREIGN_SYMBOLOGY = "foreign_symbology"
    """A QR code that is no studio code."""
    TWO_CARDS = "two_cards"
    """A second card, face down, lies beside it."""


@dataclass(frozen=True, kw_only=True)
class _Order:
    """What lies on the glass from a frame number on."""

    scene: MatLike
    empty_from: int
    """The frame since which the glass is shown empty ..."""
    empty_until: int
    """... and the one from which the scene is shown."""


class SimulatedCamera:
    """Draws frames at a steady pace; the scene changes only by its methods."""

    def __init__(
        self,
        *,
        width: int,
        height: int,
        frames_per_s: float,
        severity: int,
        seed: int,
        gap_frames: int = GAP_FRAMES,
        monotonic: Callable[[], float],
    ) -> None:
        """Draw the empty table; `monotonic` gives seconds and sets the pace."""
        self._size = (width, height)
        self._look: Look = LOOKS[severity]
        self._period_s = 1 / frames_per_s
        self._gap_frames = gap_frames
        self._seed = seed
        self._monotonic = monotonic
        rng = np.random.default_rng(seed)
        self._table = felt(rng, width=width, height=height)
        self._noise = Noise(rng, width=width, height=height, sigma=self._look.noise)
        self._empty = seen_through(self._table, self._look, rng=rng)
        self._order = _Order(scene=self._empty, empty_from=0, empty_until=0)
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._frames = 0
        self._orders = 0
        self._next_s = monotonic()

    @property
    def frames(self) -> int:
        """How many frames were taken so far."""
        return self._frames

    def place(self, code: str, *, trouble: Trouble = Trouble.NONE, seed: int | None = None) -> int:
        """Lay a card on the glass, in place of what lies there; return the first frame number.

        Raises:
            MalformedError: `code` is no studio code.
        """
        rng = self._order_rng(seed)
        face = _face(code, trouble, rng=rng)
        return self._lay(face, rng, beside=trouble is Trouble.TWO_CARDS)

    def cut_card(self, *, seed: int | None = None) -> int:
        """Lay the cut card on the glass; return the first frame number."""
        return self._lay(codeless_face(Back.CUT_CARD), self._order_rng(seed), beside=False)

    def clear(self) -> int:
        """Take everything away; return the first frame number."""
        return self._give(self._empty, gap=0)

    def read(self) -> MatLike | None:
        """Wait for the pace, then return the next frame; None once closed."""
        wait_s = self._next_s - self._monotonic()
        if self._closing.wait(max(0.0, wait_s)):
            return None
        # A late frame does not make the following ones hurry.
        self._next_s = max(self._next_s + self._period_s, self._monotonic())
        with self._lock:
            order = self._order
            scene = self._empty if self._frames < order.empty_until else order.scene
            self._frames += 1
        return self._noise.on(scene)

    def close(self) -> None:
        """End the frames."""
        self._closing.set()

    def _order_rng(self, seed: int | None) -> np.random.Generator:
        """One generator an order, so that the same orders draw the same cards."""
        self._orders += 1
        return np.random.default_rng([self._seed, self._orders] if seed is None else [seed])

    def _lay(self, face: MatLike, rng: np.random.Generator, *, beside: bool) -> int:
        width, height = self._size
        pose = random_pose(rng, width=width, height=height, tilt_deg=self._look.tilt_deg)
        scene = self._table
        if beside:
            pose, other = _side_by_side(pose, width=width, height=height)
            scene = lay(scene, codeless_face(Back.PATTERN), pose=other)
        scene = lay(scene, face, pose=pose)
        corner = corners_of(pose)[1]
        glare_at = (float(corner[0]), float(corner[1]))
        seen = seen_through(scene, self._look, rng=rng, glare_at=glare_at)
        return self._give(seen, gap=self._gap_frames)

    def _give(self, scene: MatLike, *, gap: int) -> int:
        with self._lock:
            before, now = self._order, self._frames
            # Frames that showed the empty glass already count: the hand need not wait twice.
            is_empty = before.scene is self._empty or now < before.empty_until
            since = before.empty_from if is_empty else now
            shown_from = max(now, since + gap)
            self._order = _Order(scene=scene, empty_from=since, empty_until=shown_from)
            return shown_from


def _face(code: str, trouble: Trouble, *, rng: np.random.Generator) -> MatLike:
    if trouble is Trouble.FACE_DOWN:
        return codeless_face(Back.PATTERN)
    if trouble is Trouble.FOREIGN_SYMBOLOGY:
        picture = cv2.QRCodeEncoder.create().encode("NOT A CARD")
        return stamped_face((picture < 128).astype(np.uint8)[2:-2, 2:-2])
    face = card_face(code)
    return smudged(face, rng) if trouble is Trouble.UNREADABLE else face


def _side_by_side(pose: Pose, *, width: int, height: int) -> tuple[Pose, Pose]:
    left, right = (
        Pose(
            centre_x=width * share,
            centre_y=height / 2,
            width_px=pose.width_px,
            angle_deg=pose.angle_deg,
        )
        for share in (0.28, 0.72)
    )
    return left, right


class SteeringServer:
    """Takes orders for a simulated camera over a local socket."""

    def __init__(self, camera: SimulatedCamera, path: Path) -> None:
        """Listen on `path`; a socket left behind by a killed process is replaced.

        Raises:
            CameraError: the path is too long or can't be made.
        """
        if len(os.fsencode(path)) > SOCKET_PATH_BYTES_MAX:
            raise CameraError(
                f"camera.socket is longer than {SOCKET_PATH_BYTES_MAX} bytes: choose another."
            )
        self._path = path
        handler = _handler_for(camera)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            mask = os.umask(0o177)
            try:
                self._server = _Server(str(path), handler)
            finally:
                os.umask(mask)
        except OSError as error:
            raise CameraError(f"camera.socket can't be made: {error.strerror}.") from error
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Take no more orders."""
        self._server.shutdown()
        self._server.server_close()
        with contextlib.suppress(OSError):
            self._path.unlink()


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    block_on_close = False


def _handler_for(camera: SimulatedCamera) -> type[socketserver.StreamRequestHandler]:
    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(ConnectionError):
                while line := self.rfile.readline(LINE_BYTES_MAX):
                    answer = obey(camera, line)
                    self.wfile.write(json.dumps(answer).encode() + b"\n")

    return Handler


def obey(camera: SimulatedCamera, line: bytes) -> dict[str, Any]:
    """Carry out one order and return the answer; a bad order is answered, never raised."""
    try:
        order = json.loads(line)
        if not isinstance(order, dict):
            return _refused("An order is a JSON object.")
        first = _carry_out(camera, order)
    except (ValueError, TypeError) as error:
        return _refused(f"The order can't be read: {error}")
    except StudioError as error:
        return _refused(error.message)
    return {"ok": True, "frames": camera.frames, "from_frame": first}


def _carry_out(camera: SimulatedCamera, order: dict[str, Any]) -> int:
    seed = order.get("seed")
    if seed is not None and not isinstance(seed, int):
        raise TypeError("seed is a whole number.")
    match order.get("op"):
        case "place":
            trouble = Trouble(order.get("trouble", Trouble.NONE))
            return camera.place(str(order.get("code", "")), trouble=trouble, seed=seed)
        case "cut_card":
            return camera.cut_card(seed=seed)
        case "clear":
            return camera.clear()
        case "status":
            return camera.frames
    raise ValueError("op is place, clear, cut_card or status.")


def _refused(why: str) -> dict[str, Any]:
    return {"ok": False, "error": why}
