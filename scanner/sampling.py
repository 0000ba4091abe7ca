"""Reading a blurred symbol module by module, into a clean picture for the decoders.

A third of a QR symbol and nearly half of a strip with its quiet zones are the same on every card.
These modules are compared with what the frame shows of them, which gives the blur of this very
frame - focus, motion and light together - as a small linear filter. The filter then tells black
from white for all other modules. Nothing is completed or guessed: error correction, check digits
and manifest still have the last word on what comes out.

Source: linear equalisers as in data modems (least squares on a known training sequence, then once
more with the decisions of the first round).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from cv2.typing import MatLike

from scanner.layout import QR_MODULES, QUIET_MODULES, STRIP_MODULES, STRIP_QUIET_MODULES

FINDER_MIDDLES = ((3.5, 3.5), (17.5, 3.5), (3.5, 17.5))
"""In modules from the symbol's corner."""
FINDER_MODULES = 9
"""A finder pattern with the white round it."""
SEARCH_MODULES = 3.2
"""How far the symbol may lie from where the card's outline says."""
FINDER_LIKENESS_MIN = 0.25
RING = 3
"""White modules round the symbol that the filter learns from."""
REACH = 2
"""The filter sees this many modules to each side."""
STRIP_REACH = 3
"""A strip's modules are narrower, so that a smear covers more of them."""
SAMPLES_A_MODULE = 2
STIFFNESS = 0.012
"""Keeps the filter from learning the noise."""
ROUNDS = 2
CLEAN_MODULE_PX = 4
STRIP_ROWS_PX = 40
_RING_WEIGHT, _FAR_WEIGHT, _DECIDED_WEIGHT = 0.5, 0.15, 0.5
_START = "11010011100"
_STOP = "1100011101011"
STRIP_ENDS_MODULES = 8
"""Quiet modules that belong to the pattern of a strip's end."""


@dataclass(frozen=True, kw_only=True)
class Symbol:
    """The modules of one copy: below 0.5 is white, above it black."""

    darkness: MatLike
    likeness: float = 1.0
    """How well the parts that every symbol has were found."""

    def picture(self) -> MatLike:
        """Return the symbol with its quiet zone as clean black and white."""
        black = (self.darkness > 0.5).astype(np.uint8)
        if black.shape[0] == 1:
            bars = np.repeat(1 - black, CLEAN_MODULE_PX, axis=1) * np.uint8(255)
            tall = np.repeat(bars, STRIP_ROWS_PX, axis=0)
            across = STRIP_QUIET_MODULES * CLEAN_MODULE_PX
            return _framed(tall, down=across, across=across)
        known = _known_square()
        black = np.where(known >= 0, known, black).astype(np.uint8)
        square = np.kron(1 - black, np.ones((CLEAN_MODULE_PX, CLEAN_MODULE_PX), np.uint8))
        quiet = QUIET_MODULES * CLEAN_MODULE_PX
        return _framed(square * np.uint8(255), down=quiet, across=quiet)


def together(symbols: list[Symbol]) -> Symbol:
    """Return what several copies of one symbol say together."""
    return Symbol(darkness=np.mean([symbol.darkness for symbol in symbols], axis=0))


def _framed(picture: MatLike, *, down: int, across: int) -> MatLike:
    return cv2.copyMakeBorder(
        picture, down, down, across, across, cv2.BORDER_CONSTANT, value=(255,)
    )


def square_symbol(crop: MatLike, *, module_px: int, margin_modules: float) -> Symbol | None:
    """Return the modules of a QR symbol of the card's kind, or None when no finder shows.

    Args:
        crop: the symbol's place, straightened and the right way up.
        module_px: pixels a module.
        margin_modules: what the crop shows beyond the quiet zone.
    """
    smooth = cv2.GaussianBlur(crop, (0, 0), module_px * 0.25)
    found = _finders(smooth, module_px=module_px, first=(QUIET_MODULES + margin_modules))
    if found is None:
        return None
    middles, likeness = found
    margin = RING + REACH
    step = SAMPLES_A_MODULE
    target = [((x + margin) * step - 0.5, (y + margin) * step - 0.5) for x, y in FINDER_MIDDLES]
    warp = cv2.getAffineTransform(middles, np.array(target, np.float32))
    side = (QR_MODULES + 2 * margin) * step
    samples = cv2.warpAffine(smooth, warp, (side, side), borderMode=cv2.BORDER_REPLICATE)
    # The middle of a module lies between its four samples.
    greys = cv2.blur(samples.astype(np.float32), (step, step), anchor=(0, 0))
    count = QR_MODULES + 2 * RING
    seen = np.stack(list(_neighbours(greys, count=count)), axis=-1)
    known, weights = _square_lesson()
    darkness = _equalised(seen.reshape(count * count, -1), known.ravel(), weights.ravel())
    inside = darkness.reshape(count, count)[RING:-RING, RING:-RING]
    return Symbol(darkness=inside, likeness=likeness)


def square_likeness(crop: MatLike, *, module_px: int, margin_modules: float) -> float:
    """Return how well the finders show this way up; for the price of a fraction of a reading."""
    found = _finders(crop, module_px=module_px, first=QUIET_MODULES + margin_modules)
    return -1.0 if found is None else found[1]


def _neighbours(middles: MatLike, *, count: int) -> Iterator[MatLike]:
    """Yield the grey of every module's neighbours, one neighbour for all modules at a time."""
    step = SAMPLES_A_MODULE
    for down in range(2 * REACH + 1):
        for across in range(2 * REACH + 1):
            rows = slice(down * step, (down + count) * step, step)
            columns = slice(across * step, (across + count) * step, step)
            yield middles[rows, columns]


def _finders(smooth: MatLike, *, module_px: int, first: float) -> tuple[MatLike, float] | None:
    """Return the middles of the three finder patterns in the crop, and how alike they are."""
    pattern = _finder(module_px)
    reach = int(SEARCH_MODULES * module_px)
    side = FINDER_MODULES * module_px
    starts, likeness = [], []
    for x, y in FINDER_MIDDLES:
        left, top = (int((first + at - FINDER_MODULES / 2) * module_px) - reach for at in (x, y))
        window = smooth[max(0, top) :, max(0, left) :][: side + 2 * reach, : side + 2 * reach]
        if min(left, top) < 0 or min(window.shape) < side + 2 * reach:
            return None
        starts.append((left, top))
        likeness.append(cv2.matchTemplate(window, pattern, cv2.TM_CCOEFF_NORMED))
    # All three together say where the symbol is, then each says where it is itself.
    whole = cv2.GaussianBlur(likeness[0] + likeness[1] + likeness[2], (0, 0), module_px * 0.3)
    best = cv2.minMaxLoc(whole)[3]
    near = int(module_px * 1.3)
    middles, total = [], 0.0
    for (left, top), map_ in zip(starts, likeness, strict=True):
        x0, y0 = max(0, best[0] - near), max(0, best[1] - near)
        peak, x, y = _peak(map_[y0 : best[1] + near + 1, x0 : best[0] + near + 1])
        total += peak
        middles.append((left + x0 + x + side / 2 - 0.5, top + y0 + y + side / 2 - 0.5))
    alike = total / len(FINDER_MIDDLES)
    return (np.array(middles, np.float32), alike) if alike >= FINDER_LIKENESS_MIN else None


def _peak(likeness: MatLike) -> tuple[float, float, float]:
    """Return the highest value and where it is, finer than a pixel."""
    _, peak, _, (x, y) = cv2.minMaxLoc(likeness)
    row, column = likeness[y, :].astype(float), likeness[:, x].astype(float)
    return peak, x + _offset(row, x), y + _offset(column, y)


def _offset(line: MatLike, at: int) -> float:
    """Return how far beside a line's highest sample its true peak lies (parabola)."""
    if not 0 < at < len(line) - 1:
        return 0.0
    before, peak, after = (float(value) for value in line[at - 1 : at + 2])
    bend = before - 2 * peak + after
    return 0.5 * (before - after) / bend if bend else 0.0


def strip_symbol(crop: MatLike, *, module_px: int, margin_modules: float) -> Symbol | None:
    """Return the modules of a Code 128 strip of the card's kind, or None when no end shows.

    Args:
        crop: the strip's place, straightened, its bars upright and its start to the left.
        module_px: pixels a module along the strip.
        margin_modules: what the crop shows beyond the quiet zones.
    """
    line = crop.astype(np.float32).mean(axis=0, keepdims=True)
    line = cv2.GaussianBlur(line, (0, 0), module_px * 0.25)
    first = (margin_modules + STRIP_QUIET_MODULES) * module_px
    start, stop = _strip_ends(module_px)
    left = _end(line, start, expected=first - STRIP_ENDS_MODULES * module_px, px=module_px)
    right = _end(
        line, stop, expected=first + (STRIP_MODULES - len(_STOP)) * module_px, px=module_px
    )
    if left is None or right is None:
        return None
    likeness = (left[1] + right[1]) / 2
    begin = left[0] + STRIP_ENDS_MODULES * module_px
    end = right[0] + len(_STOP) * module_px
    margin = RING + STRIP_REACH
    module = (end - begin) / STRIP_MODULES
    at = begin + (np.arange(-margin, STRIP_MODULES + margin) + 0.5) * module - 0.5
    fine = (at[:, None] + np.array([-0.25, 0.25]) * module).ravel()
    samples = np.interp(fine, np.arange(line.shape[1]), line[0]).astype(np.float32)
    count = STRIP_MODULES + 2 * RING
    step = SAMPLES_A_MODULE
    seen = np.stack(
        [
            samples[shift : shift + count * step : step]
            for shift in range(2 * STRIP_REACH * step + step)
        ],
        axis=-1,
    )
    known, weights = _strip_lesson()
    darkness = _equalised(seen, known, weights)
    return Symbol(darkness=darkness[None, RING:-RING], likeness=likeness)


def _end(
    line: MatLike, pattern: MatLike, *, expected: float, px: int
) -> tuple[float, float] | None:
    """Return where a strip's end begins, in pixels along the line, and how alike it is."""
    reach = int(SEARCH_MODULES * 2 * px)
    begin = max(0, int(expected) - reach)
    window = line[:, begin : int(expected) + reach + pattern.shape[1]]
    if window.shape[1] < pattern.shape[1]:
        return None
    likeness = cv2.matchTemplate(window, pattern, cv2.TM_CCOEFF_NORMED)[0]
    best = int(likeness.argmax())
    if likeness[best] < FINDER_LIKENESS_MIN:
        return None
    return begin + best + _offset(likeness, best), float(likeness[best])


def _equalised(seen: MatLike, known: MatLike, weights: MatLike) -> MatLike:
    """Return the darkness of every module by the filter that explains the known ones best.

    Args:
        seen: a row for each module, with the grey of its neighbourhood.
        known: 1 black, 0 white, -1 to be read.
        weights: how much each known module teaches.
    """
    low, high = float(seen.min()), float(seen.max())
    rows = np.column_stack([(seen - low) / max(high - low, 1.0), np.ones(len(seen))])
    given = known >= 0
    wanted, weight = np.where(given, known, 0.0), np.where(given, weights, 0.0)
    stiff = np.eye(rows.shape[1]) * STIFFNESS * len(rows) / 900
    darkness = wanted
    for _ in range(ROUNDS):
        taught = rows * weight[:, None]
        darkness = rows @ np.linalg.solve(taught.T @ rows + stiff, taught.T @ wanted)
        surely = np.clip(np.abs(darkness - 0.5) * 2, 0, 1) * _DECIDED_WEIGHT
        wanted = np.where(given, known, darkness > 0.5)
        weight = np.where(given, weights, surely)
    return darkness


@cache
def _known_square() -> MatLike:
    """Return the modules that every QR symbol of this size shares; -1 where they differ."""
    known = np.full((QR_MODULES, QR_MODULES), -1, np.int8)
    finder = np.ones((7, 7), np.int8)
    finder[1:6, 1:6] = 0
    finder[2:5, 2:5] = 1
    for row, column in ((0, 0), (0, 14), (14, 0)):
        known[max(0, row - 1) : row + 8, max(0, column - 1) : column + 8] = 0
        known[row : row + 7, column : column + 7] = finder
    timing = (np.arange(8, 13) + 1) % 2
    known[6, 8:13] = known[8:13, 6] = timing
    return known


@cache
def _square_lesson() -> tuple[MatLike, MatLike]:
    """Return the known modules with their white ring, and how much each of them teaches."""
    known = np.pad(_known_square(), RING, constant_values=0)
    weights = np.full(known.shape, _FAR_WEIGHT)
    weights[RING - 1 : 1 - RING, RING - 1 : 1 - RING] = _RING_WEIGHT
    weights[RING:-RING, RING:-RING] = 1.0
    return known, weights


@cache
def _strip_lesson() -> tuple[MatLike, MatLike]:
    known = np.full(STRIP_MODULES, -1, np.int8)
    known[: len(_START)] = [int(module) for module in _START]
    known[-len(_STOP) :] = [int(module) for module in _STOP]
    known = np.pad(known, RING, constant_values=0)
    weights = np.ones(len(known))
    weights[:RING] = weights[-RING:] = _RING_WEIGHT
    return known, weights


@cache
def _finder(module_px: int) -> MatLike:
    """Return the picture of a finder pattern, a little blurred."""
    pattern = np.zeros((FINDER_MODULES, FINDER_MODULES), np.float32)
    pattern[1:8, 1:8], pattern[2:7, 2:7], pattern[3:6, 3:6] = 1, 0, 1
    large = np.kron(1 - pattern, np.ones((module_px, module_px), np.float32)) * 255
    return cv2.GaussianBlur(large, (0, 0), module_px * 0.45).astype(np.uint8)


@cache
def _strip_ends(module_px: int) -> tuple[MatLike, MatLike]:
    """Return the lines of grey that a strip begins and ends with."""
    quiet = "0" * STRIP_ENDS_MODULES
    ends = []
    for modules in (quiet + _START, _STOP + quiet):
        white = np.array([[1.0 - int(module) for module in modules]], np.float32)
        line = np.repeat(white, module_px, axis=1) * 255
        ends.append(cv2.GaussianBlur(line, (0, 0), module_px * 0.6))
    return ends[0], ends[1]
