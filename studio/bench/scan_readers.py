"""The three readers of `bench scan`, and what is counted of them.

Each reads one symbology, as a studio would set it. What a reader reports counts as a card when it
holds what that reader can hold: this scanner's texts must be in the manifest; the peers know
nothing of it, so twelve digits are a card to them.
"""

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import cv2
from cv2.typing import MatLike

from scanner.codebook import Codebook, Verdict
from scanner.decode import DecoderFaultError, Reader, TextDecoder, load_decoders
from scanner.decoders import load_zbar
from scanner.layout import Symbology
from studio.domain.cards import CODE_DIGITS
from studio.domain.game import Json

STEP_MS = 0.1
"""Times are counted in steps of this: a run of any length takes the same memory."""
OURS, PYZBAR, ZXING = "this scanner", "pyzbar alone", "zxing-cpp alone"
EVERY_SYMBOLOGY = "pyzbar, all symbologies"
READERS = (OURS, PYZBAR, ZXING)


@dataclass(kw_only=True)
class Times:
    """Durations in milliseconds, counted by steps."""

    counts: Counter[int] = field(default_factory=Counter)

    def add(self, ms: float) -> None:
        """Count one."""
        self.counts[math.floor(ms / STEP_MS)] += 1

    def at(self, share: float) -> float:
        """Return the duration that `share` of all do not exceed; 0 over none."""
        wanted = math.ceil(share * self.counts.total())
        for step in sorted(self.counts):
            wanted -= self.counts[step]
            if wanted <= 0:
                return round((step + 1) * STEP_MS, 1)
        return 0.0

    def as_json(self) -> dict[str, Json]:
        """Return median, 95th percentile and the longest."""
        return {"median": self.at(0.5), "p95": self.at(0.95), "max": self.at(1.0)}


@dataclass(kw_only=True)
class Tally:
    """What one reader made of some frames."""

    frames: int = 0
    right: int = 0
    wrong: int = 0
    times: Times = field(default_factory=Times)

    @property
    def right_share(self) -> float | None:
        """Right reads in per cent; None over no frame."""
        return 100 * self.right / self.frames if self.frames else None

    def add(self, *, right: bool, wrong: bool, ms: float) -> None:
        """Count one frame."""
        self.frames += 1
        self.right += right
        self.wrong += wrong
        self.times.add(ms)

    def as_json(self) -> dict[str, Json]:
        """Return everything for machines."""
        return {
            "frames": self.frames,
            "right": self.right,
            "wrong": self.wrong,
            "ms": self.times.as_json(),
        }


class CardReader(Protocol):
    """A reader that is measured."""

    name: str

    def cards(self, image: MatLike, grey: MatLike, symbology: Symbology) -> set[str]:
        """Return the texts that this reader takes for cards."""


class OurReader:
    """This scanner, a new one for each frame: it may remember nothing."""

    name = OURS

    def __init__(self, book: Codebook, *, clock: Callable[[], float] = time.thread_time) -> None:
        """Take the deck set on the table, and the clock of the time budget."""
        self._book = book
        self._clock = clock
        self._decoders = {symbology: load_decoders(symbology) for symbology in Symbology}

    def cards(self, image: MatLike, grey: MatLike, symbology: Symbology) -> set[str]:
        """Return the texts that hold, manifest included."""
        del grey  # a camera gives colours, and turning them grey is part of the work
        decoders = self._decoders[symbology]
        sighting = Reader(decoders, symbology=symbology, clock=self._clock).look(image)
        texts = {reading.text for reading in sighting.readings}
        return {text for text in texts if self._book.look_up(text).verdict is Verdict.KNOWN}


class PeerReader:
    """One decoder alone over the whole frame."""

    def __init__(self, name: str, *, which: int) -> None:
        """Take zxing-cpp (0) or pyzbar (1)."""
        self.name = name
        self._decoders: dict[Symbology, TextDecoder] = {
            symbology: load_decoders(symbology)[which] for symbology in Symbology
        }

    def cards(self, image: MatLike, grey: MatLike, symbology: Symbology) -> set[str]:
        """Return the texts of twelve digits."""
        del image
        try:
            texts = self._decoders[symbology].texts(grey)
        except DecoderFaultError:
            return set()
        return {text for text in texts if len(text) == CODE_DIGITS and text.isdecimal()}


class EveryReader:
    """pyzbar as it comes: every symbology it knows."""

    name = EVERY_SYMBOLOGY

    def cards(self, image: MatLike, grey: MatLike, symbology: Symbology) -> set[str]:
        """Return the texts of twelve digits; of interest is only how long it takes."""
        del image, symbology
        zbar: Any = load_zbar()
        try:
            texts = [code.data.decode("utf-8", "replace") for code in zbar.decode(grey)]
        except (ValueError, zbar.PyZbarError):
            return set()
        return {text for text in texts if len(text) == CODE_DIGITS and text.isdecimal()}


def timed(
    reader: CardReader,
    image: MatLike,
    symbology: Symbology,
    *,
    clock: Callable[[], float] = time.thread_time,
) -> tuple[set[str], float]:
    """Return what a reader takes for cards, and the milliseconds it took."""
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    started_s = clock()
    cards = reader.cards(image, grey, symbology)
    return cards, (clock() - started_s) * 1000
