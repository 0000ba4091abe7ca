"""From a frame to the texts on it: two decoders, straightened codes, a short ladder of attempts.

One symbology is enabled at a time: others give ghosts and cost time. The decoders see the same
code at different scales. Source: scanner notes, "What goes wrong, and what to do".
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum, unique
from functools import lru_cache
from typing import Protocol

import cv2
import numpy as np
from cv2.typing import MatLike

from scanner.layout import (
    BLANK_BOXES,
    CARD_HEIGHT_MM,
    CARD_WIDTH_MM,
    CODE_BOXES,
    MODULE_MM,
    Box,
)
from scanner.locate import Outline, find_cards, shrink
from scanner.sighting import Decoder, Effort, Reading, Sighting

BUDGET_S = 0.040
"""An unreadable frame is given up after this long."""
MARGIN_MM = 3.0
"""Looked at round a code's place: the outline is never exact."""
MODULE_PX = 4.0
"""Both decoders read best at three to five pixels a module."""
RECHECK_FRAMES = 15
"""A still view is decoded again this often, whatever the effort."""
THUMB_SIZE = (160, 90)
MOVED_LEVEL = 14
"""Grey levels by which a thumb's pixel must differ to count as moved."""
MOVED_SHARE = 0.0015
CODE_DARKNESS_MIN = 0.07
CODE_DARKNESS_RATIO = 2.0
IMAGE_SIDE_MIN_PX = 16
WHOLE_CARD = Box(left_mm=0, top_mm=0, width_mm=CARD_WIDTH_MM, height_mm=CARD_HEIGHT_MM)


@unique
class Symbology(StrEnum):
    """The one kind of symbol that the studio prints."""

    QR = "qr"
    CODE128 = "code128"


class TextDecoder(Protocol):
    """One decoder library behind one call."""

    name: Decoder

    def texts(self, image: MatLike) -> list[str]:
        """Return the texts found in a grey picture, never an empty one.

        Raises:
            DecoderFaultError: when the library itself fails on this picture.
        """


class DecoderFaultError(Exception):
    """The library failed on one picture; the other decoder still has its say."""


class DecoderMissingError(Exception):
    """A decoder can't be used on this machine; the message says what to install."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One rung of the ladder: how the codes are straightened and prepared."""

    module_px: float
    prepare: Callable[[MatLike], MatLike]


def load_decoders(symbology: Symbology) -> tuple[TextDecoder, TextDecoder]:
    """Return both decoders for one symbology.

    Raises:
        DecoderMissingError: a library is not installed; the message names the package.
    """
    from scanner.decoders import ZbarDecoder, ZxingDecoder

    return ZxingDecoder(symbology.value), ZbarDecoder(symbology.value)


def as_bytes(image: MatLike) -> MatLike:
    """Return the picture with eight bits a channel; the decoders read nothing else."""
    if image.dtype == np.uint8:
        return image
    values = np.nan_to_num(image.astype(np.float32))
    low, high = float(values.min()), float(values.max())
    scaled: MatLike = ((values - low) * (255 / max(high - low, 1e-6))).astype(np.uint8)
    return scaled


def as_grey(image: MatLike) -> MatLike:
    """Return the picture as one plane, whatever a camera or file gave."""
    if image.ndim == 2:
        return image
    if image.shape[2] == 1:
        return image[..., 0]
    return cv2.cvtColor(image[..., :3], cv2.COLOR_BGR2GRAY)


def _stretched(crop: MatLike) -> MatLike:
    """Use the whole range of grey, whatever contrast a dark table leaves."""
    low, high = float(crop.min()), float(crop.max())
    scale = 255 / max(high - low, 1.0)
    return cv2.convertScaleAbs(crop, alpha=scale, beta=-low * scale)


def _plain(crop: MatLike) -> MatLike:
    return crop


def _smooth(crop: MatLike) -> MatLike:
    """Upscaled noise breaks zbar."""
    return _stretched(cv2.GaussianBlur(crop, (0, 0), 1.0))


def _sharp(crop: MatLike) -> MatLike:
    """Give blurred edges back; smoothing first keeps the noise from being sharpened too."""
    stretched = _smooth(crop)
    halo = cv2.GaussianBlur(stretched, (0, 0), 3.0)
    return cv2.addWeighted(stretched, 2.8, halo, -1.8, 0)


def _strong(crop: MatLike) -> MatLike:
    """Sharpen hard what is large and smooth: zbar likes it better than a computed focus."""
    smooth = _stretched(cv2.GaussianBlur(crop, (0, 0), 1.5))
    return cv2.addWeighted(smooth, 5.0, cv2.GaussianBlur(smooth, (0, 0), 4.0), -4.0, 0)


@lru_cache(maxsize=16)
def _focus(shape: tuple[int, int], *, blur_px: float, damping: float) -> MatLike:
    """Return the filter, by frequency, that undoes a round blur as far as noise allows."""
    down = np.fft.fftfreq(shape[0])[:, None]
    across = np.fft.rfftfreq(shape[1])[None, :]
    blur = np.exp(-2 * (np.pi * blur_px) ** 2 * (down**2 + across**2))
    undo: MatLike = (blur / (blur * blur + damping)).astype(np.float32)
    return undo


def _deblurred(crop: MatLike, *, blur_px: float, damping: float) -> MatLike:
    """Undo a blur of half a module, motion or focus alike (Wiener filter)."""
    spectrum = np.fft.rfft2(_stretched(crop).astype(np.float32))
    height, width = crop.shape[:2]
    focus = _focus((height, width), blur_px=blur_px, damping=damping)
    sharp = np.fft.irfft2(spectrum * focus, s=(height, width))
    bytes_: MatLike = np.clip(sharp, 0, 255).astype(np.uint8)
    return bytes_


def _half(frame: MatLike) -> MatLike:
    """Large symbols read better when they are small."""
    return cv2.resize(frame, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)


def _inverted(frame: MatLike) -> MatLike:
    return cv2.bitwise_not(frame)


def _even(crop: MatLike) -> MatLike:
    """Divide uneven light and glare out."""
    smooth = cv2.GaussianBlur(crop, (0, 0), 0.8)
    paper = cv2.dilate(smooth, np.ones((9, 9), np.uint8))
    paper = cv2.GaussianBlur(paper, (0, 0), 8.0)
    return cv2.divide(smooth, cv2.max(paper, np.full_like(paper, 1)), scale=235)


LADDER = (
    _Attempt(MODULE_PX, _plain),
    _Attempt(8.0, lambda crop: _deblurred(crop, blur_px=4.0, damping=0.05)),
    _Attempt(6.0, _strong),
    _Attempt(6.0, lambda crop: _deblurred(crop, blur_px=3.0, damping=0.02)),
    _Attempt(6.0, _even),
    _Attempt(6.0, lambda crop: _deblurred(crop, blur_px=3.0, damping=0.1)),
)
"""Ordered by what an attempt wins for its time."""


FRAME_LADDER = (_plain, _half, _inverted, _smooth, _sharp)
"""For the whole frame, when no card's outline helps."""


class Reader:
    """Looks at frames one after another; remembers the last to tell still from moving."""

    def __init__(
        self,
        decoders: tuple[TextDecoder, TextDecoder],
        *,
        symbology: Symbology = Symbology.QR,
        budget_s: float = BUDGET_S,
        thorough: bool = False,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Take the decoders to use; `clock` gives seconds and is only compared with itself.

        `thorough` looks several times at the whole frame: pictures of anything, not of a card.
        """
        self._zxing, self._zbar = decoders
        self._symbology = symbology
        self._budget_s = budget_s
        self._thorough = thorough
        self._clock = clock
        self._deadline_s = 0.0
        self._faults = 0
        self._thumb: MatLike | None = None
        self._decoded_thumb: MatLike | None = None
        self._decoded: Sighting | None = None
        self._skipped = 0

    def look(self, image: MatLike, effort: Effort = Effort.READ) -> Sighting:
        """Look at one frame and say what it shows."""
        if image.ndim < 2 or min(image.shape[:2]) < IMAGE_SIDE_MIN_PX:
            return Sighting(cards_in_view=0, still=False)
        self._deadline_s = self._clock() + self._budget_s
        self._faults = 0
        image = as_bytes(image)
        small = shrink(image)
        thumb = cv2.resize(as_grey(small), THUMB_SIZE, interpolation=cv2.INTER_AREA)
        still = _alike(thumb, self._thumb)
        self._thumb = thumb
        same_view = _alike(thumb, self._decoded_thumb) and self._skipped < RECHECK_FRAMES
        before = self._decoded
        if before is not None and same_view and self._needs_nothing(before, effort):
            self._skipped += 1
            return Sighting(
                cards_in_view=before.cards_in_view,
                occupied=before.occupied,
                code_in_view=before.code_in_view,
                still=still,
                unchanged=True,
            )
        self._skipped = 0
        self._decoded_thumb = thumb
        self._decoded = self._decode(image, small, effort=effort, still=still)
        return self._decoded

    @staticmethod
    def _needs_nothing(before: Sighting, effort: Effort) -> bool:
        empty = not before.cards_in_view and not before.readings
        return effort is Effort.WATCH or (effort is Effort.READ and empty)

    def _decode(self, image: MatLike, small: MatLike, *, effort: Effort, still: bool) -> Sighting:
        found = find_cards(image, small)
        outlines = found.cards
        grey = as_grey(image)
        readings: list[Reading] = []
        for outline in outlines:
            readings += self._read_card(grey, outline)
        if not readings:
            readings = self._read_frame(grey)
        explain = effort is Effort.EXPLAIN
        return Sighting(
            cards_in_view=len(outlines),
            occupied=found.occupied,
            readings=tuple(readings),
            still=still,
            code_in_view=bool(readings) or any(_has_code(grey, card) for card in outlines),
            foreign=explain and not readings and self._sees_foreign(grey, outlines),
            explained=explain,
            faults=self._faults,
        )

    def _read_card(self, grey: MatLike, outline: Outline) -> list[Reading]:
        """Climb the ladder until both decoders agree on a text or the time is up."""
        readings: list[Reading] = []
        for attempt in LADDER:
            for candidate in (outline, outline.turned()) if outline.ambiguous else (outline,):
                readings += self._attempt(grey, candidate, attempt=attempt)
                if _agreed(readings):
                    return readings
                if self._clock() > self._deadline_s:
                    return readings
        return readings

    def _attempt(self, grey: MatLike, outline: Outline, *, attempt: _Attempt) -> list[Reading]:
        crops = [
            (copy, attempt.prepare(outline.cut(grey, box, pixels_per_mm=px_per_mm)))
            for copy, box, px_per_mm in self._places(attempt.module_px)
        ]
        readings = list(self._texts(self._zxing, crops))
        # What one decoder has read is shown to the other first.
        read = {reading.copy for reading in readings}
        crops.sort(key=lambda crop: crop[0] not in read)
        for crop in crops:
            readings += self._texts(self._zbar, [crop])
            if _agreed(readings):
                break
        return readings

    def _places(self, module_px: float) -> Iterator[tuple[int, Box, float]]:
        """Yield the places of the codes, with the scale to cut them at."""
        px_per_mm = module_px / MODULE_MM
        if self._symbology is Symbology.CODE128:
            # A strip's place differs from printer to printer: the whole card is looked at.
            yield 0, WHOLE_CARD, px_per_mm * 1.5
            return
        for copy, box in enumerate(CODE_BOXES):
            yield copy, _with_margin(box), px_per_mm

    def _read_frame(self, grey: MatLike) -> list[Reading]:
        """Look at the whole frame: no card was found, or none of its codes reads."""
        for prepare in FRAME_LADDER if self._thorough else FRAME_LADDER[:1]:
            picture = prepare(grey)
            readings = list(self._texts(self._zxing, [(None, picture)]))
            if (readings or self._thorough) and self._clock() < self._deadline_s:
                readings += self._texts(self._zbar, [(None, picture)])
            if readings or self._clock() > self._deadline_s:
                return readings
        return []

    def _texts(
        self, decoder: TextDecoder, crops: Iterable[tuple[int | None, MatLike]]
    ) -> Iterator[Reading]:
        for copy, crop in crops:
            try:
                texts = decoder.texts(crop)
            except DecoderFaultError:
                self._faults += 1
                continue
            for text in texts:
                yield Reading(text=text, decoder=decoder.name, copy=copy)

    def _sees_foreign(self, grey: MatLike, outlines: tuple[Outline, ...]) -> bool:
        from scanner.decoders import any_other_symbol

        pictures = [card.cut(grey, WHOLE_CARD, pixels_per_mm=6.0) for card in outlines] or [grey]
        return any(any_other_symbol(picture, self._symbology.value) for picture in pictures)


def _with_margin(box: Box) -> Box:
    return Box(
        left_mm=box.left_mm - MARGIN_MM,
        top_mm=box.top_mm - MARGIN_MM,
        width_mm=box.width_mm + 2 * MARGIN_MM,
        height_mm=box.height_mm + 2 * MARGIN_MM,
    )


def _agreed(readings: list[Reading]) -> bool:
    zxing = {reading.text for reading in readings if reading.decoder is Decoder.ZXING}
    return any(reading.text in zxing for reading in readings if reading.decoder is Decoder.ZBAR)


def _alike(thumb: MatLike, other: MatLike | None) -> bool:
    if other is None:
        return False
    moved = cv2.countNonZero(
        cv2.threshold(cv2.absdiff(thumb, other), MOVED_LEVEL, 1, cv2.THRESH_BINARY)[1]
    )
    return moved <= MOVED_SHARE * thumb.size


def _has_code(grey: MatLike, outline: Outline) -> bool:
    """Tell a face, read or not, from a back: dark code corners beside two blank ones."""
    candidates = (outline, outline.turned()) if outline.ambiguous else (outline,)
    return any(_corners_show_code(grey, candidate) for candidate in candidates)


def _corners_show_code(grey: MatLike, outline: Outline) -> bool:
    card = outline.cut(grey, WHOLE_CARD, pixels_per_mm=2.0)
    paper = max(1.0, float(np.percentile(card, 85)))

    def darkness(box: Box) -> float:
        left, top = int(box.left_mm * 2), int(box.top_mm * 2)
        side = int(box.width_mm * 2)
        patch = card[top : top + side, left : left + side].astype(np.float32)
        return float(np.clip(1 - patch / paper, 0, 1).mean())

    code = max(darkness(box) for box in CODE_BOXES)
    blank = min(darkness(box) for box in BLANK_BOXES)
    return code > CODE_DARKNESS_MIN and code > blank * CODE_DARKNESS_RATIO
