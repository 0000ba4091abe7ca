"""Real photos before the same three readers: `bench scan --photos DIR`.

A folder's name says what its photos show: `qrcode*`, `code128*`; of all others nothing may be
reported but the text of the note beside the photo. NAME.txt holds the expected text.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import cv2
from cv2.typing import MatLike

from scanner.camera import IMAGE_SUFFIXES, read_image
from scanner.decode import DecoderFaultError, load_decoders
from scanner.layout import Symbology
from scanner.reading import read_paths
from studio.bench.report import Say
from studio.bench.scan_readers import OURS, PYZBAR, ZXING, Tally
from studio.domain.game import Json

ENCODINGS = ("utf-8", "latin-1", "shift_jis", "cp437")
_SYMBOLOGIES = {"qrcode": (Symbology.QR,), "code128": (Symbology.CODE128,)}


@dataclass(kw_only=True)
class PhotoTallies:
    """Counts by reader and set; sets that show nothing for this scanner are one of their own."""

    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)
    unreadable: int = 0

    def of(self, reader: str, photos: str) -> Tally:
        """Return the counts of a reader over a set."""
        return self.tallies.setdefault((reader, photos), Tally())

    def wrong(self, reader: str) -> int:
        """Return how often a reader reported a text that is not there."""
        return sum(tally.wrong for (name, _), tally in self.tallies.items() if name == reader)

    def as_json(self) -> dict[str, Json]:
        """Return everything for machines."""
        rows = [
            {"reader": reader, "photos": photos, **tally.as_json()}
            for (reader, photos), tally in sorted(self.tallies.items())
        ]
        return {"unreadable_files": self.unreadable, "readers": rows}


def measure_photos(
    folder: Path, *, say: Say, clock: Callable[[], float] = time.thread_time
) -> PhotoTallies:
    """Show every photo to the three readers; an interrupt ends it with what it has."""
    found = PhotoTallies()
    photos = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in IMAGE_SUFFIXES]
    try:
        for number, path in enumerate(photos, start=1):
            if number % 25 == 0:
                say(f"  photos: {number} of {len(photos)}")
            image = read_image(path)
            if image is None:
                found.unreadable += 1
                continue
            _measure(path, image, found=found, clock=clock)
    except KeyboardInterrupt:
        say("  Stopped: the photos so far are counted.")
    return found


def _measure(
    path: Path, image: MatLike, *, found: PhotoTallies, clock: Callable[[], float]
) -> None:
    note = path.with_suffix(".txt")
    expected = note.read_bytes() if note.is_file() else None
    name = path.parent.name.rsplit("-", 1)[0]
    symbologies = _SYMBOLOGIES.get(name, tuple(Symbology))
    photos = name if name in _SYMBOLOGIES else "nothing to report"
    readers: tuple[tuple[str, Callable[[], tuple[list[str], float]]], ...] = (
        (OURS, lambda: _ours(path, clock=clock)),
        (PYZBAR, lambda: _alone(image, symbologies, which=1, clock=clock)),
        (ZXING, lambda: _alone(image, symbologies, which=0, clock=clock)),
    )
    for reader, read in readers:
        texts, ms = read()
        good = [expected is not None and is_text(text, expected) for text in texts]
        # Where there is nothing to report, silence is right.
        right = any(good) if expected is not None else not texts
        found.of(reader, photos).add(right=right, wrong=not all(good), ms=ms)


def _ours(path: Path, *, clock: Callable[[], float]) -> tuple[list[str], float]:
    """Return what `scan --any` reads, and the milliseconds without opening the file."""
    (result,) = read_paths([path], any_code=True, clock=clock)
    return [result["payload"]] if result["payload"] is not None else [], result["ms"]


def _alone(
    image: MatLike,
    symbologies: tuple[Symbology, ...],
    *,
    which: int,
    clock: Callable[[], float],
) -> tuple[list[str], float]:
    decoders = [load_decoders(symbology)[which] for symbology in symbologies]
    texts: list[str] = []
    started_s = clock()
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    for decoder in decoders:
        try:
            texts += decoder.texts(grey)
        except DecoderFaultError:
            continue
    return texts, (clock() - started_s) * 1000


def is_text(text: str, expected: bytes) -> bool:
    """Tell whether a text is the expected one in any encoding."""
    for one in ENCODINGS:
        try:
            if text.encode(one).strip() == expected.strip():
                return True
            if text.strip() == expected.decode(one).strip():
                return True
        except UnicodeError:
            continue
    return False
