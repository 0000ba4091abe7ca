"""The frames that `bench scan` shows to the readers: cards and other things, drawn.

One seed draws the same frames in the same order. Felts and noise are drawn once and reused, turned
and shifted, so that drawing stays a small part of a run. Nothing is kept of a frame once given out.
"""

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum, unique
from functools import cache
from typing import Any

import cv2
import numpy as np
from cv2.typing import MatLike

from scanner.drawing import (
    FELT_GREEN,
    LOOKS,
    SKIN,
    Back,
    Look,
    Noise,
    Pose,
    card_face,
    codeless_face,
    corners_of,
    felt,
    hand,
    lay,
    random_pose,
    seen_through,
    stamped_face,
)
from scanner.layout import CARD_WIDTH_MM, LAYOUTS, QR_MODULES, Box, Symbology
from scanner.printing import card_manifest
from studio.domain.cards import ALL_CARDS, card_code

WIDTH_PX, HEIGHT_PX = 1280, 720
DECK_SET = 7
DECKS = 8
MANIFEST = card_manifest(DECKS)
COVERED_SHARE = 0.10
JPEG_QUALITY = (95, 92, 88, 84, 80, 70)
"""By severity: a camera's own compression."""
CARD_MARGIN_PX = 48
CODE128_SHARE = 0.2
"""Of the frames with a card; the other profile is the usual one."""


@unique
class Felt(StrEnum):
    """What the cards lie on."""

    GREEN = "green"
    BLUE = "blue"
    RED = "red"
    BLACK = "black"
    GREY = "light grey"
    WHITE = "white"
    BEIGE = "beige"
    WOOD = "wood"


FELTS = {
    Felt.GREEN: FELT_GREEN,
    Felt.BLUE: (110, 52, 26),
    Felt.RED: (36, 26, 128),
    Felt.BLACK: (30, 30, 30),
    Felt.GREY: (168, 168, 168),
    Felt.WHITE: (226, 228, 228),
    Felt.BEIGE: (150, 188, 206),
    Felt.WOOD: (58, 96, 142),
}
"""Colours in BGR."""


@unique
class Kind(StrEnum):
    """What makes a frame hard, or what lies there in place of a card."""

    COMBINED = "combined"
    MOTION = "motion"
    DEFOCUS = "defocus"
    GLARE = "glare"
    LOW_LIGHT = "low light"
    NOISE = "noise"
    COVERED = "10 % covered"
    BOTH_COVERED = "10 % of both covered"
    BACK = "back"
    CUT_CARD = "cut card"
    EMPTY = "empty felt"
    HAND = "hand"
    FOREIGN = "foreign code"
    WRONG_CHECK = "wrong check digits"
    OTHER_SET = "other deck set"


NEGATIVES = (
    *(Kind.BACK, Kind.CUT_CARD, Kind.EMPTY, Kind.HAND, Kind.FOREIGN, Kind.WRONG_CHECK),
    Kind.OTHER_SET,
)
"""None of these may give a card of the deck set."""

SINGLES = (
    *(Kind.MOTION, Kind.DEFOCUS, Kind.GLARE, Kind.LOW_LIGHT, Kind.NOISE),
    *(Kind.COVERED, Kind.BOTH_COVERED),
)

_MOTION_PX = (0, 2, 4, 6, 8, 11)
_BLUR_PX = (0.5, 1.0, 1.4, 1.8, 2.3, 3.0)
_GLARE = (0.0, 0.3, 0.6, 0.9, 1.2, 1.6)
_LIGHT = (1.0, 0.6, 0.4, 0.25, 0.15, 0.1)
_NOISE = (2.0, 6.0, 10.0, 15.0, 20.0, 28.0)


@dataclass(frozen=True, kw_only=True)
class Shot:
    """One frame and what is right about it."""

    image: MatLike
    kind: Kind
    severity: int
    felt: Felt
    symbology: Symbology
    payload: str | None
    """The one text that may be reported; None where nothing may."""


class Studio:
    """Draws tables, lenses and sensors from what it has drawn before."""

    def __init__(self, rng: np.random.Generator) -> None:
        """Take the generator that everything random comes from."""
        self.rng = rng

    def table(self, cloth: Felt) -> MatLike:
        """Return an empty table, another part of the cloth each time."""
        flip = int(self.rng.integers(-2, 2))
        whole = self._cloth(cloth)
        return whole.copy() if flip == -2 else cv2.flip(whole, flip)

    @cache  # noqa: B019  one studio a run, and a handful of cloths
    def _cloth(self, cloth: Felt) -> MatLike:
        plain = felt(self.rng, width=WIDTH_PX, height=HEIGHT_PX, colour=FELTS[cloth])
        return _grained(plain, self.rng) if cloth is Felt.WOOD else plain

    @cache  # noqa: B019  one pattern a strength of noise
    def noise(self, sigma: float) -> Noise:
        """Return the sensor's noise of one strength."""
        return Noise(self.rng, width=WIDTH_PX, height=HEIGHT_PX, sigma=sigma)

    def seen(
        self, scene: MatLike, look: Look, *, glare_at: tuple[float, float] | None = None
    ) -> MatLike:
        """Return the scene as the lens shows it, without noise."""
        return seen_through(scene, look, rng=self.rng, glare_at=glare_at)

    def photographed(
        self,
        scene: MatLike,
        look: Look,
        *,
        glare_at: tuple[float, float] | None = None,
        quality: int | None = None,
    ) -> MatLike:
        """Return the scene through lens, sensor and the camera's compression."""
        noisy = self.noise(look.noise).on(self.seen(scene, look, glare_at=glare_at))
        if quality is None:
            return noisy
        taken, content = cv2.imencode(".jpg", noisy, [cv2.IMWRITE_JPEG_QUALITY, quality])
        compressed = cv2.imdecode(content, cv2.IMREAD_COLOR)
        assert taken
        assert compressed is not None
        return compressed

    def pose(self, *, tilt_deg: float) -> Pose:
        """Return a card's place; it is 200 to 300 pixels wide: the notes go on to easier 350."""
        pose = random_pose(self.rng, width=WIDTH_PX, height=HEIGHT_PX, tilt_deg=tilt_deg)
        return replace(pose, width_px=float(self.rng.uniform(200, 300)))


def _grained(plain: MatLike, rng: np.random.Generator) -> MatLike:
    """Return boards: long streaks and a seam here and there."""
    height, width = plain.shape[:2]
    lines = rng.normal(0.0, 1.0, (height, width // 40 + 1)).astype(np.float32)
    streaks = cv2.GaussianBlur(cv2.resize(lines, (width, height)), (0, 0), 1.5) * 16
    streaks[:: height // 5] -= 40
    boards: MatLike = np.clip(plain + streaks[..., None], 0, 255).astype(np.uint8)
    return boards


def look_of(kind: Kind, severity: int) -> Look:
    """Return how badly the camera sees: everything at once, or one thing alone."""
    if kind not in SINGLES:
        return LOOKS[severity]
    good = LOOKS[0]
    match kind:
        case Kind.MOTION:
            return replace(good, motion_px=_MOTION_PX[severity])
        case Kind.DEFOCUS:
            return replace(good, blur_px=_BLUR_PX[severity])
        case Kind.GLARE:
            return replace(good, glare=_GLARE[severity])
        case Kind.LOW_LIGHT:
            return replace(good, light=_LIGHT[severity])
        case Kind.NOISE:
            return replace(good, noise=_NOISE[severity])
    return replace(LOOKS[1], glare=0.0)


def shots(seed: int, frames: int) -> Iterator[Shot]:
    """Yield the frames of one run."""
    rng = np.random.default_rng([seed, 1])
    studio = Studio(rng)
    felts = tuple(Felt)
    for number in range(frames):
        cloth = felts[number % len(felts)]
        share = rng.random()
        if share < 0.5:
            yield _card_shot(studio, Kind.COMBINED, cloth, severity=int(rng.integers(0, 6)))
        elif share < 0.75:
            kind = SINGLES[int(rng.integers(0, len(SINGLES)))]
            yield _card_shot(studio, kind, cloth, severity=int(rng.integers(1, 4)))
        else:
            kind = NEGATIVES[int(rng.integers(0, len(NEGATIVES)))]
            yield _other_shot(studio, kind, cloth, severity=int(rng.integers(0, 5)))


def random_payload(rng: np.random.Generator, *, deck_set: int = DECK_SET) -> str:
    """Return the code of one card of the deck set."""
    serial = int(rng.integers(1, len(MANIFEST) + 1))
    card = ALL_CARDS[MANIFEST[serial] - 1]
    return card_code(card, deck_set=deck_set, serial=serial).digits


def _card_shot(studio: Studio, kind: Kind, cloth: Felt, *, severity: int) -> Shot:
    rng = studio.rng
    symbology = Symbology.CODE128 if rng.random() < CODE128_SHARE else Symbology.QR
    payload = random_payload(rng)
    face = card_face(payload, symbology=symbology)
    boxes = LAYOUTS[symbology].code_boxes
    if kind is Kind.COVERED:
        covered(face, boxes[int(rng.integers(0, 2))], rng=rng)
    elif kind is Kind.BOTH_COVERED:
        for box in boxes:
            covered(face, box, rng=rng)
    elif kind is Kind.COMBINED and severity:
        # A finger tip that just touches a code, as in the shared sample frames.
        covered(face, boxes[0], rng=rng, share=0.01 * severity)
    look = look_of(kind, severity)
    pose = studio.pose(tilt_deg=look.tilt_deg)
    image = studio.photographed(
        lay(studio.table(cloth), face, pose=pose),
        look,
        glare_at=_near_code(pose, rng),
        quality=JPEG_QUALITY[severity] if kind is Kind.COMBINED else None,
    )
    return Shot(
        image=image, kind=kind, severity=severity, felt=cloth, symbology=symbology, payload=payload
    )


def _near_code(pose: Pose, rng: np.random.Generator) -> tuple[float, float]:
    """Return where a lamp shines: the edge of the first code."""
    corners = corners_of(pose)
    inwards = float(rng.uniform(0.0, 0.15))
    x, y = corners[0] * (1 - inwards) + corners[2] * inwards
    return float(x), float(y)


def covered(
    face: MatLike, box: Box, *, rng: np.random.Generator, share: float = COVERED_SHARE
) -> None:
    """Lay a finger tip over a share of a code's symbol, from its edge."""
    scale = face.shape[1] / CARD_WIDTH_MM
    quiet = box.width_mm * (1 - QR_MODULES / (QR_MODULES + 8)) / 2 if not box.vertical else 0.0
    left, top = (box.left_mm + quiet) * scale, (box.top_mm + quiet) * scale
    width, height = (
        box.width_mm * scale - 2 * quiet * scale,
        box.height_mm * scale - 2 * quiet * scale,
    )
    radius = np.sqrt(2 * share * width * height / np.pi)
    # Half of the disc lies over the symbol when its middle is on the symbol's edge.
    if rng.random() < 0.5:
        at = (left + float(rng.choice([0.0, 1.0])) * width, top + float(rng.random()) * height)
    else:
        at = (left + float(rng.random()) * width, top + float(rng.choice([0.0, 1.0])) * height)
    cv2.circle(face, (int(at[0]), int(at[1])), max(1, round(float(radius))), SKIN, -1, cv2.LINE_AA)


def _other_shot(studio: Studio, kind: Kind, cloth: Felt, *, severity: int) -> Shot:
    rng = studio.rng
    symbology = Symbology.CODE128 if rng.random() < CODE128_SHARE else Symbology.QR
    look = LOOKS[severity]
    pose = studio.pose(tilt_deg=look.tilt_deg)
    scene = studio.table(cloth)
    face = _OTHERS[kind](rng, symbology) if kind in _OTHERS else None
    if face is not None:
        scene = lay(scene, face, pose=pose)
    if kind is Kind.HAND:
        scene = hand(scene, at_px=(pose.centre_x, pose.centre_y), radius_px=pose.width_px / 5)
    image = studio.photographed(scene, look, glare_at=_near_code(pose, rng))
    return Shot(
        image=image, kind=kind, severity=severity, felt=cloth, symbology=symbology, payload=None
    )


def _back(rng: np.random.Generator, symbology: Symbology) -> MatLike:
    del rng, symbology
    return codeless_face(Back.PATTERN)


def _cut_card(rng: np.random.Generator, symbology: Symbology) -> MatLike:
    del symbology
    face = codeless_face(Back.CUT_CARD)
    # Cut cards come in every colour.
    return face if rng.random() < 0.5 else np.full_like(face, rng.integers(40, 255, 3))


_FOREIGN_TEXTS = ("https://example.org/a", "NOT A CARD", "123456", "0" * 12, "90128")
_FOREIGN_FORMATS = ("QRCode", "DataMatrix", "Aztec", "Code128", "Code39")


def _foreign(rng: np.random.Generator, symbology: Symbology) -> MatLike:
    text = _FOREIGN_TEXTS[int(rng.integers(0, len(_FOREIGN_TEXTS)))]
    name = _FOREIGN_FORMATS[int(rng.integers(0, len(_FOREIGN_FORMATS)))]
    # Code 39 knows capitals and figures only.
    modules = foreign_modules("NOT A CARD" if name == "Code39" else text, name)
    if modules.shape[0] == 1 and symbology is Symbology.QR:
        modules = np.repeat(modules, modules.shape[1], axis=0)
    return stamped_face(modules, symbology=symbology if modules.shape[0] == 1 else Symbology.QR)


def foreign_modules(text: str, symbol: str) -> MatLike:
    """Return the modules of any symbol that the decoders' library can draw; a strip is one row."""
    zxing: Any = importlib.import_module("zxingcpp")
    code = zxing.create_barcode(text, getattr(zxing.BarcodeFormat, symbol))
    drawn = np.array(zxing.write_barcode_to_image(code, scale=1, add_quiet_zones=False))
    drawn = drawn if drawn.ndim == 2 else drawn[..., 0]
    modules: MatLike = (drawn < 128).astype(np.uint8)
    return modules[:1] if symbol in {"Code128", "Code39"} else modules


def _wrong_check(rng: np.random.Generator, symbology: Symbology) -> MatLike:
    right = random_payload(rng)
    wrong = f"{right[:-2]}{(int(right[-2:]) + int(rng.integers(1, 97))) % 97:02d}"
    modules = foreign_modules(wrong, "QRCode" if symbology is Symbology.QR else "Code128")
    return stamped_face(modules, symbology=symbology)


def _other_set(rng: np.random.Generator, symbology: Symbology) -> MatLike:
    return card_face(random_payload(rng, deck_set=DECK_SET + 1), symbology=symbology)


_OTHERS: dict[Kind, Callable[[np.random.Generator, Symbology], MatLike]] = {
    Kind.BACK: _back,
    Kind.CUT_CARD: _cut_card,
    Kind.FOREIGN: _foreign,
    Kind.WRONG_CHECK: _wrong_check,
    Kind.OTHER_SET: _other_set,
}
