"""What one frame says about the camera's set-up: size, focus, light, glare.

Everything is measured in the two places of the code on the largest card in view, read or not.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from cv2.typing import MatLike

from scanner.layout import (
    CARD_HEIGHT_MM,
    CARD_WIDTH_MM,
    LAYOUTS,
    QUIET_MODULES,
    STRIP_QUIET_MODULES,
    Box,
    Symbology,
)
from scanner.locate import Outline
from scanner.prepare import as_bytes, as_grey
from scanner.sighting import Corners

MEASURE_PX_PER_MM_MIN = 2.0
"""Below it there is nothing to measure but that the card is too small."""
TILE_MODULES = 6.0
"""Side of the patches in which glare is looked for: each holds black and white modules."""
SMOOTH_PX = 0.6
"""Noise is smoothed away before edges are measured; the smoothing is taken out again."""
EDGE_SHARE = 99.0
"""The steepest hundredth of a code is its edges."""
WASHED_OUT = 0.55
"""A patch with less than this share of the usual step from ink to paper shows no code ..."""
LIT = 0.9
"""... and is a lamp's reflection if it is this bright for paper; else dirt or a shadow."""
BORDER_PX = 3


@dataclass(frozen=True, kw_only=True)
class Measures:
    """What was measured on the largest card in view."""

    module_px: float
    """Size of a module in the frame, where it is smallest."""
    paper: float
    """Grey level of the paper, 0 to 255."""
    contrast: float
    """Step from ink to paper through the paper's level, 0 to 1."""
    sharpness: float
    """Share of that step which is left between two modules next to each other, 0 to 1."""
    glare: float
    """Share of the code's places that a reflection washes out, 0 to 1."""
    cut_off: bool
    """The card reaches the picture's border."""


def measure(image: MatLike, corners: Corners, symbology: Symbology) -> Measures:
    """Measure a card by its outline in the frame."""
    layout = LAYOUTS[symbology]
    outline = _outline(corners)
    px_per_mm = _smallest_scale(outline.corners)
    grey = as_grey(as_bytes(image))
    scale = max(px_per_mm, MEASURE_PX_PER_MM_MIN)
    boxes = [_without_quiet_zone(box, layout.module_mm) for box in layout.code_boxes]
    crops = _code_crops(grey, outline, boxes=boxes, px_per_mm=scale)
    joined = np.concatenate([crop.ravel() for crop in crops])
    paper, ink = float(np.percentile(joined, 90)), float(np.percentile(joined, 6))
    module_px = layout.module_mm * scale
    return Measures(
        module_px=layout.module_mm * px_per_mm,
        paper=paper,
        contrast=(paper - ink) / max(paper, 1.0),
        sharpness=max(_sharpness(crop, module_px=module_px) for crop in crops),
        glare=_glare(crops, side=max(4, round(TILE_MODULES * module_px)), paper=paper),
        cut_off=_touches_border(outline.corners, grey.shape),
    )


def brightness(image: MatLike) -> float:
    """Return the bright parts' grey level of a whole frame, 0 to 255."""
    return float(np.percentile(as_grey(as_bytes(image))[::8, ::8], 95))


def _outline(corners: Sequence[tuple[float, float]]) -> Outline:
    points = np.array(corners, np.float32)
    lengths = np.hypot(*(np.roll(points, -1, axis=0) - points).T)
    aspect = float((lengths[0] + lengths[2]) / max(lengths[1] + lengths[3], 1e-6))
    return Outline(corners=points, aspect=aspect)


def _smallest_scale(corners: MatLike) -> float:
    """Return pixels per millimetre on the shortest side: tilt shrinks one end."""
    lengths = np.hypot(*(np.roll(corners, -1, axis=0) - corners).T)
    short, long = min(lengths[0], lengths[2]), min(lengths[1], lengths[3])
    return float(min(short / CARD_WIDTH_MM, long / CARD_HEIGHT_MM))


def _without_quiet_zone(box: Box, module_mm: float) -> Box:
    along = (STRIP_QUIET_MODULES if box.vertical else QUIET_MODULES) * module_mm
    across = 0.0 if box.vertical else along
    return replace(
        box,
        left_mm=box.left_mm + across,
        top_mm=box.top_mm + along,
        width_mm=box.width_mm - 2 * across,
        height_mm=box.height_mm - 2 * along,
    )


def _code_crops(
    grey: MatLike, outline: Outline, *, boxes: Sequence[Box], px_per_mm: float
) -> list[MatLike]:
    """Cut the codes' places out; of a card seen nearly square, the way that shows more ink."""
    ways = (outline, outline.turned()) if outline.ambiguous else (outline,)
    cut = [[way.cut(grey, box, pixels_per_mm=px_per_mm) for box in boxes] for way in ways]
    return max(cut, key=lambda crops: sum(float(crop.std()) for crop in crops))


def _sharpness(crop: MatLike, *, module_px: float) -> float:
    """Return what the lens leaves of the step between two neighbouring modules.

    The steepest slope tells the width of the blur; a Gaussian blur of s modules leaves
    exp(-(pi s)^2 / 2) of stripes one module wide.
    """
    smooth = cv2.GaussianBlur(crop.astype(np.float32), (0, 0), SMOOTH_PX)
    step = float(np.percentile(smooth, 95) - np.percentile(smooth, 5))
    if step < 1:
        return 0.0
    across = cv2.Sobel(smooth, cv2.CV_32F, 1, 0, scale=1 / 8)
    down = cv2.Sobel(smooth, cv2.CV_32F, 0, 1, scale=1 / 8)
    slope = float(np.percentile(np.hypot(across, down), EDGE_SHARE))
    width_px = step / max(slope * math.sqrt(2 * math.pi), 1e-6)
    blur_px = math.sqrt(max(0.0, width_px**2 - SMOOTH_PX**2))
    return math.exp(-((math.pi * blur_px / module_px) ** 2) / 2)


def _glare(crops: Sequence[MatLike], *, side: int, paper: float) -> float:
    """Return the share of patches that are bright all over where a code's ink should be."""
    steps, levels = [], []
    for crop in crops:
        smooth = cv2.GaussianBlur(crop, (0, 0), SMOOTH_PX)
        for top in range(0, smooth.shape[0] - side + 1, side):
            for left in range(0, smooth.shape[1] - side + 1, side):
                patch = smooth[top : top + side, left : left + side]
                low, high = np.percentile(patch, (8, 92))
                steps.append(float(high - low))
                levels.append(float(patch.mean()))
    if not steps:
        return 0.0
    usual = float(np.percentile(steps, 75))
    washed = [
        step < WASHED_OUT * usual and level > LIT * paper
        for step, level in zip(steps, levels, strict=True)
    ]
    return sum(washed) / len(washed)


def _touches_border(corners: MatLike, shape: tuple[int, ...]) -> bool:
    height, width = shape[:2]
    left, top = corners.min(axis=0)
    right, bottom = corners.max(axis=0)
    return bool(
        left < BORDER_PX
        or top < BORDER_PX
        or right > width - 1 - BORDER_PX
        or bottom > height - 1 - BORDER_PX
    )
