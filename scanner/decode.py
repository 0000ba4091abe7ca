"""From a frame to the texts on it: two decoders, straightened codes, a short ladder of attempts.

One symbology is enabled at a time: others give ghosts and cost time. The decoders never see the
same clean symbol: one reads the first copy's, the other the second's, or each its own picture.
Source: scanner notes, "What goes wrong, and what to do".
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import cv2
import numpy as np
from cv2.typing import MatLike

from scanner.layout import (
    CARD_HEIGHT_MM,
    CARD_WIDTH_MM,
    LAYOUTS,
    QR_MODULES,
    QUIET_MODULES,
    STRIP_MODULES,
    STRIP_QUIET_MODULES,
    Box,
    Layout,
)
from scanner.layout import Symbology as Symbology
from scanner.locate import Outline, find_cards, shrink
from scanner.places import count_cards, cut_place, find_codes
from scanner.prepare import as_bytes, as_grey, half, inverted, plain, sharp, smooth, strong
from scanner.sampling import Symbol, square_likeness, square_symbol, strip_symbol, together
from scanner.sighting import Corners, Decoder, Effort, Reading, Sighting

BUDGET_S = 0.040
"""An unreadable frame is given up after this long."""
FRAME_S = 0.008
"""Of it, what the look at the whole frame may need in the end."""
MARGIN_MM = 3.0
"""Looked at round a code's place: the outline is never exact."""
STRIP_TRIM_MM = 1.5
"""Left out at both ends of a strip's bars: the lines between must lie wholly within them."""
STRIP_HEIGHT_MODULES = 15
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


@dataclass(frozen=True, slots=True)
class _Place:
    """Where one copy of the code may be, and how to straighten it, the right way up."""

    copy: int | None
    cut: Callable[[float], MatLike]
    """Takes the pixels a module."""
    corners: MatLike | None = None
    """Of a code found by itself."""


def load_decoders(symbology: Symbology) -> tuple[TextDecoder, TextDecoder]:
    """Return both decoders for one symbology.

    Raises:
        DecoderMissingError: a library is not installed; the message names the package.
    """
    from scanner.decoders import ZbarDecoder, ZxingDecoder

    return ZxingDecoder(symbology.value), ZbarDecoder(symbology.value)


_Sides: TypeAlias = tuple[_Place, ...]
"""The copies' places for one way that a card may lie."""

SAMPLED_MODULE_PX = {Symbology.QR: 6, Symbology.CODE128: 4}
SURE_LIKENESS = 0.5
"""A code found by itself counts as a card when its fixed parts show this well."""
ROUGH_MODULE_PX = 3
"""Enough to see which way up a code lies."""
LADDER = (
    _Attempt(4.0, plain),
    _Attempt(6.0, strong),
)
"""After the sampled symbols. Ordered by what an attempt wins for its time, measured on drawn cards.

Right of 50 frames at severity 3, severity 4, with strong glare, and milliseconds a card, QR:
sampled 100, 62, 96 % in 3.0 ms; plain 86, 2, 100 % in 1.3 ms; strong 100, 24, 100 % in 2.8 ms.
Strips: sampled 86, 42, 92 % in 1.9 ms; plain 38, 2, 100 %; strong 88, 20, 100 % (4 to 14 % that the
others miss). Evening the light out (4.6 ms) and Wiener filters (3 ms each) won nothing beside them.
"""


FRAME_LADDER = (plain, half, inverted, smooth, sharp)
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
        self._layout = LAYOUTS[symbology]
        self._budget_s = budget_s
        self._thorough = thorough
        self._clock = clock
        self._deadline_s = 0.0
        self._faults = 0
        self._sharpness = 0.0
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
        self._sharpness = 0.0
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
                outlines=before.outlines,
                sharpness=before.sharpness,
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
        readings, stray = self._read(grey, small, outlines)
        explain = effort is Effort.EXPLAIN
        in_view = bool(readings) or stray > 0
        in_view = in_view or any(_has_code(grey, card, self._layout) for card in outlines)
        return Sighting(
            cards_in_view=max(len(outlines), stray),
            occupied=found.occupied or stray > 0,
            outlines=tuple(_as_corners(outline) for outline in outlines),
            sharpness=self._sharpness,
            readings=tuple(readings),
            still=still,
            code_in_view=in_view,
            foreign=explain and not readings and self._sees_foreign(grey, outlines),
            explained=explain,
            faults=self._faults,
        )

    def _read(
        self, grey: MatLike, small: MatLike, outlines: tuple[Outline, ...]
    ) -> tuple[list[Reading], int]:
        """Return what reads, the cheapest way first, and how many codes lie outside a card."""
        cards = [self._sides(grey, outline) for outline in outlines]
        readings: list[Reading] = []
        unread = []
        for sides in cards:
            mine = self._read_clean(sides)
            readings += mine
            if not _agreed(mine):
                unread.append((sides, mine))
        stray = 0
        if not readings:
            readings, stray = self._read_strays(grey, small)
        if not _agreed(readings):
            for sides, mine in unread:
                readings += self._climb(sides, mine)
        return readings or self._read_frame(grey), stray

    def _sides(self, grey: MatLike, outline: Outline) -> tuple[_Sides, ...]:
        """Return the places of both codes, for each way the card may lie."""
        ways = (outline, outline.turned()) if outline.ambiguous else (outline,)
        return tuple(tuple(self._places(grey, way)) for way in ways)

    def _read_clean(self, sides: tuple[_Sides, ...]) -> list[Reading]:
        readings: list[Reading] = []
        for copies in sides:
            readings += self._read_sampled(copies)
            if _agreed(readings):
                break
        return readings

    def _climb(self, sides: tuple[_Sides, ...], before: list[Reading]) -> list[Reading]:
        """Climb the ladder until both decoders agree on a text or the time is up."""
        readings: list[Reading] = []
        for attempt in LADDER:
            for copies in sides:
                if self._late():
                    return readings
                readings += self._attempt(copies, attempt=attempt)
                if _agreed(before + readings):
                    return readings
        return readings

    def _late(self) -> bool:
        return self._clock() > self._deadline_s - FRAME_S

    def _places(self, grey: MatLike, outline: Outline) -> Iterator[_Place]:
        """Yield the places of both copies; what is printed upside down is turned."""
        module_mm = self._layout.module_mm
        for copy, box in enumerate(self._layout.code_boxes):

            def cut(module_px: float, box: Box = box) -> MatLike:
                crop = outline.cut(grey, _shown(box), pixels_per_mm=module_px / module_mm)
                return _upright(crop, box)

            yield _Place(copy, cut)

    def _read_sampled(self, copies: Iterable[_Place]) -> list[Reading]:
        """Read the copies' clean symbols: zxing-cpp takes the first that reads, zbar another."""
        symbols: list[tuple[int | None, Symbol]] = []
        for place in copies:
            crop = place.cut(SAMPLED_MODULE_PX[self._symbology])
            self._sharpness = max(self._sharpness, _sharpness(crop))
            symbol = self._sampled(crop)
            if symbol is not None:
                symbols.append((place.copy, symbol))
        return self._read_symbols(symbols)

    def _read_symbols(self, symbols: list[tuple[int | None, Symbol]]) -> list[Reading]:
        for index, (copy, symbol) in enumerate(symbols):
            readings = list(self._texts(self._zxing, [(copy, symbol.picture())]))
            if readings:
                others = [other for at, other in enumerate(symbols) if at != index]
                pictures = [(other, clean.picture()) for other, clean in others]
                return readings + list(self._texts(self._zbar, pictures))
        if len(symbols) < 2:
            return []
        both = together([symbol for _, symbol in symbols])
        return list(self._texts(self._zxing, [(symbols[0][0], both.picture())]))

    def _sampled(self, crop: MatLike) -> Symbol | None:
        module_px = SAMPLED_MODULE_PX[self._symbology]
        margin = MARGIN_MM / self._layout.module_mm
        if self._symbology is Symbology.QR:
            return square_symbol(crop, module_px=module_px, margin_modules=margin)
        return strip_symbol(crop, module_px=module_px, margin_modules=margin)

    def _attempt(self, copies: Iterable[_Place], *, attempt: _Attempt) -> list[Reading]:
        crops = [(place.copy, attempt.prepare(place.cut(attempt.module_px))) for place in copies]
        readings = list(self._texts(self._zxing, crops))
        # What one decoder has read is shown to the other first.
        read = {reading.copy for reading in readings}
        crops.sort(key=lambda crop: crop[0] not in read)
        for crop in crops:
            readings += self._texts(self._zbar, [crop])
            if _agreed(readings):
                break
        return readings

    def _read_strays(self, grey: MatLike, small: MatLike) -> tuple[list[Reading], int]:
        """Read codes that lie there without a card's outline; count the cards they are on."""
        scale = grey.shape[1] // small.shape[1]
        symbols: list[tuple[int | None, Symbol]] = []
        crops: list[tuple[int | None, MatLike]] = []
        codes: list[MatLike] = []
        for corners in find_codes(as_grey(small), self._symbology, scale=scale):
            if self._late():
                break
            place, symbol = self._stray(tuple(self._stray_places(grey, corners)))
            if symbol is not None:
                symbols.append((None, symbol))
                crops.append((None, place.cut(LADDER[0].module_px)))
                if symbol.likeness >= SURE_LIKENESS and place.corners is not None:
                    codes.append(place.corners)
        readings = self._read_symbols(symbols)
        for crop in crops:
            if _agreed(readings) or self._late():
                break
            readings += self._texts(self._zbar if readings else self._zxing, [crop])
        return readings, count_cards(codes, self._symbology)

    def _stray(self, ways: tuple[_Place, ...]) -> tuple[_Place, Symbol | None]:
        """Return the way up that shows a symbol best, with the symbol."""
        module_px = SAMPLED_MODULE_PX[self._symbology]
        if self._symbology is Symbology.QR:
            margin = MARGIN_MM / self._layout.module_mm
            upright = max(
                ways,
                key=lambda way: square_likeness(
                    way.cut(ROUGH_MODULE_PX), module_px=ROUGH_MODULE_PX, margin_modules=margin
                ),
            )
            return upright, self._sampled(upright.cut(module_px))
        tried = [(way, self._sampled(way.cut(module_px))) for way in ways]
        return max(tried, key=lambda one: -1.0 if one[1] is None else one[1].likeness)

    def _stray_places(self, grey: MatLike, corners: MatLike) -> Iterator[_Place]:
        """Yield a found code each way up."""
        margin = MARGIN_MM / self._layout.module_mm
        if self._symbology is Symbology.QR:
            size, turns = (QR_MODULES, QR_MODULES), range(4)
            margins = (QUIET_MODULES + margin, QUIET_MODULES + margin)
        else:
            size, turns = (STRIP_MODULES, STRIP_HEIGHT_MODULES), range(0, 4, 2)
            trim = STRIP_TRIM_MM / self._layout.module_mm
            margins = (STRIP_QUIET_MODULES + margin, -trim)
        for turn in turns:
            turned = np.roll(corners, turn, axis=0)

            def cut(module_px: float, turned: MatLike = turned) -> MatLike:
                return cut_place(grey, turned, size=size, margins=margins, module_px=module_px)

            yield _Place(None, cut, turned)

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


def _shown(box: Box) -> Box:
    """Return what is looked at of a code's place: more than the place, but of bars the inside."""
    across = -STRIP_TRIM_MM if box.vertical else MARGIN_MM
    return Box(
        left_mm=box.left_mm - across,
        top_mm=box.top_mm - MARGIN_MM,
        width_mm=box.width_mm + 2 * across,
        height_mm=box.height_mm + 2 * MARGIN_MM,
    )


def _upright(crop: MatLike, box: Box) -> MatLike:
    """Return a code's crop so that it reads from left to right."""
    if box.vertical:
        clockwise = cv2.ROTATE_90_CLOCKWISE
        return cv2.rotate(crop, clockwise if box.turned else cv2.ROTATE_90_COUNTERCLOCKWISE)
    return cv2.rotate(crop, cv2.ROTATE_180) if box.turned else crop


def _sharpness(crop: MatLike) -> float:
    """Return how strongly neighbouring pixels differ in a code's place."""
    _, spread = cv2.meanStdDev(cv2.Laplacian(crop, cv2.CV_16S))
    return float(spread[0][0])


def _as_corners(outline: Outline) -> Corners:
    return tuple((float(x), float(y)) for x, y in outline.corners)


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


def _has_code(grey: MatLike, outline: Outline, layout: Layout) -> bool:
    """Tell a face, read or not, from a back: dark places of codes beside blank ones."""
    candidates = (outline, outline.turned()) if outline.ambiguous else (outline,)
    return any(_shows_code(grey, candidate, layout) for candidate in candidates)


def _shows_code(grey: MatLike, outline: Outline, layout: Layout) -> bool:
    card = outline.cut(grey, WHOLE_CARD, pixels_per_mm=2.0)
    paper = max(1.0, float(np.percentile(card, 85)))

    def darkness(box: Box) -> float:
        left, top = int(box.left_mm * 2), int(box.top_mm * 2)
        right, bottom = left + int(box.width_mm * 2), top + int(box.height_mm * 2)
        patch = card[top:bottom, left:right].astype(np.float32)
        return float(np.clip(1 - patch / paper, 0, 1).mean())

    code = max(darkness(box) for box in layout.code_boxes)
    blank = min(darkness(box) for box in layout.blank_boxes)
    return code > CODE_DARKNESS_MIN and code > blank * CODE_DARKNESS_RATIO
