"""Drawn pictures of cards on felt, for the simulated camera and the tests.

Everything random comes from the generator that is passed in; the same seed draws the same picture.
Colours are BGR, angles degrees, lengths pixels unless the name says otherwise.
"""

import math
from dataclasses import dataclass
from enum import StrEnum, unique

import cv2
import numpy as np
from cv2.typing import MatLike

from scanner.layout import (
    CARD_HEIGHT_MM,
    CARD_WIDTH_MM,
    CODE_BOXES,
    CORNER_RADIUS_MM,
    LAYOUTS,
    MODULE_MM,
    QUIET_MODULES,
    RANK_BOX,
    STRIP_MODULE_MM,
    STRIP_QUIET_MODULES,
    SUIT_BOX,
    Box,
    Symbology,
    is_red,
    rank_text,
    suit_shapes,
)
from scanner.symbol import code_modules, strip_modules
from studio.domain.cards import Card, CodeVersion, parse_code

FACE_PIXELS_PER_MM = 8
"""Resolution of a drawn face: about ten pixels a module, more than any frame shows."""
INK_BLACK = (18, 18, 18)
INK_RED = (24, 24, 176)
PAPER = (246, 247, 247)
FELT_GREEN = (42, 92, 34)
CUT_CARD_YELLOW = (40, 190, 235)
SKIN = (120, 150, 205)
SUBPIXEL_BITS = 4
STAMP_PIXELS = 16
FULL_WIDTH_PX = 1280
"""Frame width that the looks are given for."""
CAMERA_DISTANCE_CARDS = 6.0
"""How far the camera is, in card heights: sets how strongly a tilt narrows the far edge."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """How badly the camera sees."""

    blur_px: float
    """Sigma of the lens blur."""
    motion_px: int
    """Length of the smear of a moving card; 0 when it lies still."""
    noise: float
    """Sigma of the sensor noise in grey levels."""
    light: float
    """1 is a well lit table, 0.2 a dark one."""
    glare: float
    """Strength of a lamp's reflection near a code, 0..1."""
    tilt_deg: float
    """Largest tilt of the card against the camera."""


LOOKS = (
    Look(blur_px=0.5, motion_px=0, noise=6.0, light=1.0, glare=0.0, tilt_deg=4.0),
    Look(blur_px=0.7, motion_px=0, noise=8.0, light=0.85, glare=0.15, tilt_deg=10.0),
    Look(blur_px=1.0, motion_px=0, noise=8.0, light=0.65, glare=0.3, tilt_deg=20.0),
    Look(blur_px=1.1, motion_px=2, noise=8.5, light=0.5, glare=0.5, tilt_deg=28.0),
    Look(blur_px=1.5, motion_px=4, noise=10.0, light=0.35, glare=0.7, tilt_deg=34.0),
    Look(blur_px=2.2, motion_px=7, noise=12.0, light=0.25, glare=0.9, tilt_deg=38.0),
)
"""Severity 0 to 5, the scale of the scanner notes."""


@dataclass(frozen=True, kw_only=True)
class Pose:
    """Where a card lies in the frame."""

    centre_x: float
    centre_y: float
    width_px: float
    angle_deg: float
    tilt_deg: float = 0.0
    tilt_axis_deg: float = 0.0


@unique
class Back(StrEnum):
    """Things in the form of a card that carry no code."""

    PATTERN = "pattern"
    CUT_CARD = "cut_card"


def random_pose(
    rng: np.random.Generator, *, width: int, height: int, tilt_deg: float, margin_px: int = 8
) -> Pose:
    """Return a pose at any angle that lies wholly inside the frame."""
    card_px = min(width, height * 16 / 9) * float(rng.uniform(0.17, 0.24))
    reach = math.hypot(card_px, card_px * CARD_HEIGHT_MM / CARD_WIDTH_MM) / 2 + margin_px
    return Pose(
        centre_x=float(rng.uniform(reach, width - reach)),
        centre_y=float(rng.uniform(reach, height - reach)),
        width_px=card_px,
        angle_deg=float(rng.uniform(0, 360)),
        tilt_deg=float(rng.uniform(0, tilt_deg)),
        tilt_axis_deg=float(rng.uniform(0, 360)),
    )


def felt(
    rng: np.random.Generator,
    *,
    width: int,
    height: int,
    colour: tuple[int, int, int] = FELT_GREEN,
) -> MatLike:
    """Return an empty table: cloth with weave and a lamp's uneven light."""
    fine = rng.normal(0.0, 1.0, (height, width)).astype(np.float32)
    coarse = rng.normal(0.0, 1.0, (height // 8 + 1, width // 8 + 1)).astype(np.float32)
    weave = cv2.GaussianBlur(fine, (0, 0), 1.2) * 9 + cv2.resize(coarse, (width, height)) * 2.5
    across = np.linspace(-1, 1, width, dtype=np.float32)[None, :]
    down = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    lamp = 1.08 - 0.18 * (across**2 + down**2)
    cloth = np.array(colour, np.float32) * lamp[..., None] + weave[..., None]
    return _to_bytes(cloth)


def card_face(
    digits: str,
    *,
    symbology: Symbology = Symbology.QR,
    pixels_per_mm: int = FACE_PIXELS_PER_MM,
) -> MatLike:
    """Draw the face of the card whose code is `digits`.

    Raises:
        MalformedError: as `parse_code`.
    """
    rows = code_modules(digits) if symbology is Symbology.QR else (strip_modules(digits),)
    modules = np.array(rows, np.uint8)
    face = stamped_face(modules, symbology=symbology, pixels_per_mm=pixels_per_mm)
    printed = parse_code(digits)
    if printed.version is CodeVersion.CARD:
        piece = printed.piece
        assert isinstance(piece, Card)
        _draw_middle(face, piece, pixels_per_mm=pixels_per_mm)
    return face


def stamped_face(
    modules: MatLike,
    *,
    symbology: Symbology = Symbology.QR,
    pixels_per_mm: int = FACE_PIXELS_PER_MM,
) -> MatLike:
    """Draw a card with any symbol of ones (black) and zeros in place of its code.

    A strip is one row of modules. What has no quiet zone is stretched to the code's place.
    """
    face = _blank(pixels_per_mm, PAPER)
    for box in LAYOUTS[symbology].code_boxes:
        _stamp(face, modules, box=box, pixels_per_mm=pixels_per_mm)
    return face


def codeless_face(back: Back, *, pixels_per_mm: int = FACE_PIXELS_PER_MM) -> MatLike:
    """Draw the back of a card, or the plain coloured cut card."""
    if back is Back.CUT_CARD:
        return _blank(pixels_per_mm, CUT_CARD_YELLOW)
    face = _blank(pixels_per_mm, PAPER)
    height, width = face.shape[:2]
    border, step = 4 * pixels_per_mm, 3 * pixels_per_mm
    inner = face[border : height - border, border : width - border]
    for offset in range(-height, width, step):
        for start, end in (((offset, 0), (offset + height, height)),
                           ((offset + height, 0), (offset, height))):  # fmt: skip
            cv2.line(inner, start, end, (150, 60, 40), pixels_per_mm // 2, cv2.LINE_AA)
    return face


def smudged(face: MatLike, rng: np.random.Generator) -> MatLike:
    """Return the face with both codes rubbed until no decoder can read them."""
    rubbed = face.copy()
    scale = face.shape[1] / CARD_WIDTH_MM
    for box in CODE_BOXES:
        left, top = int(box.left_mm * scale), int(box.top_mm * scale)
        side = int(box.width_mm * scale)
        patch = rubbed[top : top + side, left : left + side]
        patch[:] = cv2.GaussianBlur(patch, (0, 0), 1.6 * MODULE_MM * scale)
        for _ in range(6):
            start = (int(rng.integers(0, side)), int(rng.integers(0, side)))
            end = (int(rng.integers(0, side)), int(rng.integers(0, side)))
            cv2.line(patch, start, end, (90, 95, 100), int(2 * scale), cv2.LINE_AA)
    return rubbed


def lay(table: MatLike, face: MatLike, *, pose: Pose) -> MatLike:
    """Return the table with the face lying on it, with a soft shadow."""
    height, width = table.shape[:2]
    face_height, face_width = face.shape[:2]
    corners = np.array(
        [[0, 0], [face_width, 0], [face_width, face_height], [0, face_height]], np.float32
    )
    target = corners_of(pose)
    # Shrink first, area by area: a direct warp would skip pixels and alias the modules.
    shrink = pose.width_px * 1.6 / face_width
    if shrink < 1:
        face = cv2.resize(face, None, fx=shrink, fy=shrink, interpolation=cv2.INTER_AREA)
        corners = corners * np.array(
            [face.shape[1] / face_width, face.shape[0] / face_height], np.float32
        )
    pad = 12
    left = max(0, int(target[:, 0].min()) - pad)
    top = max(0, int(target[:, 1].min()) - pad)
    right = min(width, int(target[:, 0].max()) + pad)
    bottom = min(height, int(target[:, 1].max()) + pad)
    if right <= left or bottom <= top:
        return table.copy()
    warp = cv2.getPerspectiveTransform(corners, target - np.array([left, top], np.float32))
    size = (right - left, bottom - top)
    laid = cv2.warpPerspective(face, warp, size).astype(np.float32)
    mask = _mask(face.shape[1], face.shape[0])
    alpha = cv2.warpPerspective(mask, warp, size).astype(np.float32)[..., None] / 255
    shadow = cv2.GaussianBlur(np.roll(alpha[..., 0], (3, 3), (0, 1)), (0, 0), 3.0)[..., None]
    scene = table.copy()
    patch = scene[top:bottom, left:right].astype(np.float32) * (1 - 0.45 * shadow)
    scene[top:bottom, left:right] = (patch * (1 - alpha) + laid * alpha).astype(np.uint8)
    return scene


def corners_of(pose: Pose) -> MatLike:
    """Return the four corners of a card in the frame: top left first, clockwise on the face."""
    scale = pose.width_px / CARD_WIDTH_MM
    half_w, half_h = CARD_WIDTH_MM * scale / 2, CARD_HEIGHT_MM * scale / 2
    flat = np.array([[-half_w, -half_h], [half_w, -half_h], [half_w, half_h], [-half_w, half_h]])
    turned = flat @ _rotation(pose.angle_deg).T
    # Tilt about an axis in the table's plane, then look at it from straight above.
    along = turned @ _rotation(-pose.tilt_axis_deg).T
    tilt = math.radians(pose.tilt_deg)
    distance = CAMERA_DISTANCE_CARDS * half_h * 2
    depth = distance + along[:, 1] * math.sin(tilt)
    seen = np.stack([along[:, 0], along[:, 1] * math.cos(tilt)], axis=1)
    seen = (seen * (distance / depth)[:, None]) @ _rotation(pose.tilt_axis_deg).T
    return np.asarray(seen + np.array([pose.centre_x, pose.centre_y]), np.float32)


def hand(scene: MatLike, *, at_px: tuple[float, float], radius_px: float) -> MatLike:
    """Return the scene with a finger tip and its finger over it."""
    covered = scene.copy()
    tip = (int(at_px[0]), int(at_px[1]))
    far = (int(at_px[0] + radius_px * 6), int(at_px[1] + radius_px * 7))
    cv2.line(covered, tip, far, SKIN, int(radius_px * 2), cv2.LINE_AA)
    cv2.circle(covered, tip, int(radius_px), SKIN, -1, cv2.LINE_AA)
    return covered


def seen_through(
    scene: MatLike,
    look: Look,
    *,
    rng: np.random.Generator,
    glare_at: tuple[float, float] | None = None,
) -> MatLike:
    """Return the scene as a lens shows it: motion, blur, light and glare, but no noise yet."""
    seen = scene
    if look.motion_px > 1:
        kernel = np.zeros((look.motion_px * 2 + 1, look.motion_px * 2 + 1), np.float32)
        angle = float(rng.uniform(0, math.pi))
        reach = look.motion_px / 2
        middle = look.motion_px
        offset = (reach * math.cos(angle), reach * math.sin(angle))
        cv2.line(
            kernel,
            (round(middle - offset[0]), round(middle - offset[1])),
            (round(middle + offset[0]), round(middle + offset[1])),
            1.0,
        )
        seen = cv2.filter2D(seen, -1, kernel / kernel.sum())
    # A smaller sensor behind the same lens: the blur shrinks with the picture.
    seen = cv2.GaussianBlur(seen, (0, 0), look.blur_px * scene.shape[1] / FULL_WIDTH_PX)
    seen = cv2.convertScaleAbs(seen, alpha=look.light)
    if look.glare and glare_at is not None:
        _shine(seen, glare_at, strength=look.glare)
    return seen


def _shine(seen: MatLike, at: tuple[float, float], *, strength: float) -> None:
    """Add a lamp's reflection; nothing of it is left three widths from its middle."""
    height, width = seen.shape[:2]
    spread = width / 40
    left, right = (int(np.clip(at[0] + side * 3 * spread, 0, width)) for side in (-1, 1))
    top, bottom = (int(np.clip(at[1] + side * 3 * spread, 0, height)) for side in (-1, 1))
    across = (np.arange(left, right, dtype=np.float32) - at[0])[None, :]
    down = (np.arange(top, bottom, dtype=np.float32) - at[1])[:, None]
    spot = np.exp(-(across**2 + down**2) / (2 * spread**2)) * (140 * strength)
    patch = seen[top:bottom, left:right]
    patch[:] = cv2.add(patch, np.repeat(_to_bytes(spot)[..., None], seen.shape[2], axis=2))


class Noise:
    """Sensor noise that costs two additions a frame: one large pattern, shifted at random."""

    MARGIN_PX = 64

    def __init__(self, rng: np.random.Generator, *, width: int, height: int, sigma: float) -> None:
        """Draw the pattern once."""
        shape = (height + self.MARGIN_PX, width + self.MARGIN_PX, 3)
        pattern = rng.normal(0.0, sigma, shape).astype(np.float32)
        self._more = np.clip(pattern, 0, 255).astype(np.uint8)
        self._less = np.clip(-pattern, 0, 255).astype(np.uint8)
        self._rng = rng

    def on(self, frame: MatLike) -> MatLike:
        """Return the frame with noise; the frame itself is left alone."""
        height, width = frame.shape[:2]
        down, across = (int(shift) for shift in self._rng.integers(0, self.MARGIN_PX, 2))
        window = (slice(down, down + height), slice(across, across + width))
        return cv2.subtract(cv2.add(frame, self._more[window]), self._less[window])


def draw_frame(
    face: MatLike | None,
    *,
    pose: Pose,
    look: Look,
    rng: np.random.Generator,
    size: tuple[int, int] = (1280, 720),
) -> MatLike:
    """Draw one whole frame (width, height): table, card if any, lens and noise."""
    width, height = size
    scene = felt(rng, width=width, height=height)
    if face is not None:
        scene = lay(scene, face, pose=pose)
    corner = corners_of(pose)[1]
    seen = seen_through(scene, look, rng=rng, glare_at=(float(corner[0]), float(corner[1])))
    return Noise(rng, width=width, height=height, sigma=look.noise).on(seen)


def _rotation(angle_deg: float) -> MatLike:
    angle = math.radians(angle_deg)
    return np.array(
        [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]], np.float64
    )


def _blank(pixels_per_mm: int, colour: tuple[int, int, int]) -> MatLike:
    height, width = int(CARD_HEIGHT_MM * pixels_per_mm), int(CARD_WIDTH_MM * pixels_per_mm)
    return np.full((height, width, 3), colour, np.uint8)


def _mask(width: int, height: int) -> MatLike:
    """Return the rounded outline of a card as an alpha picture."""
    mask = np.zeros((height, width), np.uint8)
    radius = int(CORNER_RADIUS_MM * width / CARD_WIDTH_MM)
    cv2.rectangle(mask, (radius, 0), (width - 1 - radius, height - 1), 255, -1)
    cv2.rectangle(mask, (0, radius), (width - 1, height - 1 - radius), 255, -1)
    for x in (radius, width - 1 - radius):
        for y in (radius, height - 1 - radius):
            cv2.circle(mask, (x, y), radius, 255, -1, cv2.LINE_AA)
    return mask


def _stamp(face: MatLike, modules: MatLike, *, box: Box, pixels_per_mm: int) -> None:
    """Put a symbol with its quiet zone into a box of the face."""
    ink = np.rot90(modules, 2) if box.turned else modules
    if box.vertical:
        quiet_x, quiet_y = 0.0, STRIP_QUIET_MODULES * STRIP_MODULE_MM * pixels_per_mm
        ink = ink.T
    else:
        quiet_x = quiet_y = QUIET_MODULES * MODULE_MM * pixels_per_mm
    width = round(box.width_mm * pixels_per_mm - 2 * quiet_x)
    height = round(box.height_mm * pixels_per_mm - 2 * quiet_y)
    # Enlarged first, then shrunk by area: every module keeps its exact width.
    large = np.kron(ink, np.ones((STAMP_PIXELS, STAMP_PIXELS))).astype(np.float32)
    alpha = cv2.resize(large, (width, height), interpolation=cv2.INTER_AREA)[..., None]
    left = round(box.left_mm * pixels_per_mm + quiet_x)
    top = round(box.top_mm * pixels_per_mm + quiet_y)
    target = face[top : top + height, left : left + width]
    target[:] = _to_bytes(target * (1 - alpha) + np.array(INK_BLACK, np.float32) * alpha)


def _to_bytes(picture: MatLike) -> MatLike:
    limited: MatLike = np.clip(picture, 0, 255).astype(np.uint8)
    return limited


def _draw_middle(face: MatLike, card: Card, *, pixels_per_mm: int) -> None:
    ink = INK_RED if is_red(card.suit) else INK_BLACK
    text = rank_text(card.rank)
    font, thickness = cv2.FONT_HERSHEY_SIMPLEX, pixels_per_mm * 2
    (width, height), _ = cv2.getTextSize(text, font, 1.0, thickness)
    scale = min(
        RANK_BOX.width_mm * pixels_per_mm / width,
        RANK_BOX.height_mm * 0.75 * pixels_per_mm / height,
    )
    (width, height), _ = cv2.getTextSize(text, font, scale, thickness)
    centre_x, centre_y = (value * pixels_per_mm for value in RANK_BOX.centre)
    origin = (int(centre_x - width / 2), int(centre_y + height / 2))
    cv2.putText(face, text, origin, font, scale, ink, thickness, cv2.LINE_AA)
    centre_x, centre_y = SUIT_BOX.centre
    for polygon in suit_shapes(card.suit):
        points = np.array(
            [
                (centre_x + x * SUIT_BOX.width_mm, centre_y + y * SUIT_BOX.height_mm)
                for x, y in polygon
            ]
        )
        fixed = np.round(points * pixels_per_mm * (1 << SUBPIXEL_BITS)).astype(np.int32)
        cv2.fillPoly(face, [fixed], ink, cv2.LINE_AA, SUBPIXEL_BITS)
