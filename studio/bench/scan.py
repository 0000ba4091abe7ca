"""`bench scan`: this scanner beside pyzbar and zxing-cpp alone, on the same pictures in one run.

Three parts: single frames before all three readers, a film at 30 frames a second before this
scanner with its event rule, and, when a folder is named, real photos before all three. An
interrupt ends a part; what was counted until then is told.

Milliseconds are processor time of one core: what else the machine does is no matter of a reader's.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import click
import cv2

from scanner.camera import silence_opencv
from scanner.codebook import Codebook
from scanner.decode import load_decoders
from scanner.decoders import prove_decoders
from scanner.layout import Symbology
from studio.bench.report import Goal, Say, print_faults, show_goals
from studio.bench.scan_drawn import DECK_SET, MANIFEST, NEGATIVES, Felt, Kind, Shot, shots
from studio.bench.scan_events import EventTallies, measure_events
from studio.bench.scan_photos import PhotoTallies, measure_photos
from studio.bench.scan_readers import (
    OURS,
    PYZBAR,
    ZXING,
    CardReader,
    EveryReader,
    OurReader,
    PeerReader,
    Tally,
    Times,
    timed,
)
from studio.domain.game import Json

SINGLES_SHARE = 0.5
"""Single frames for each frame of the film: they cost ten times as much, by the peers."""
EVERY_SHARE = 20
"""Every n-th frame is also shown to pyzbar with all its symbologies, for the time."""
SAY_EVERY = 500
RIGHT_MIN = (99.5, 99.5, 99.5, 97.0, 40.0)
"""Per cent of right frames at s0 to s4; source: performance goals, "Scanner"."""
COVERED_MIN = 95.0
EVENT_MS_MAX = 12.0
GIVE_UP_MS_MAX = 40.0
STILL_MS_MAX = 100.0
READABLE_SEVERITY = 2


@dataclass(frozen=True)
class Row:
    """What a count belongs to."""

    reader: str
    profile: Symbology
    kind: Kind
    severity: int


@dataclass(kw_only=True)
class ScanResult:
    """What one run measured; it grows with the kinds of frames, not with their number."""

    seed: int
    frames_asked: int
    singles: int = 0
    tallies: dict[Row, Tally] = field(default_factory=dict)
    felts: dict[tuple[str, Felt], Tally] = field(default_factory=dict)
    every: Times = field(default_factory=Times)
    read: Times = field(default_factory=Times)
    unread: Times = field(default_factory=Times)
    drawing_s: float = 0.0
    reading_s: float = 0.0
    events: EventTallies = field(default_factory=EventTallies)
    photos: PhotoTallies | None = None
    interrupted: bool = False

    @property
    def faults(self) -> list[str]:
        """Wrong cards, which must never be: each is a bug."""
        found = [f"event: {event}" for event in self.events.wrong_events]
        wrong = sum(tally.wrong for row, tally in self.tallies.items() if row.reader == OURS)
        if wrong:
            found.append(f"{wrong} single frames that gave another card")
        if self.photos is not None and self.photos.wrong(OURS):
            found.append(f"{self.photos.wrong(OURS)} photos that gave another text")
        return found

    def total(
        self,
        reader: str,
        *,
        profile: Symbology | None = None,
        kinds: Iterable[Kind] = tuple(Kind),
        severity: int | None = None,
    ) -> Tally:
        """Return the counts of one reader over some of the frames."""
        wanted, whole = set(kinds), Tally()
        for row, tally in self.tallies.items():
            if (
                row.reader == reader
                and row.kind in wanted
                and profile in {None, row.profile}
                and severity in {None, row.severity}
            ):
                add(whole, tally)
        return whole

    @property
    def goals(self) -> list[Goal]:
        """The goals of the scanner."""
        goals = [
            Goal(
                name=f"right frames, {profile.value}, severity {severity}, %",
                value=self.total(
                    OURS, profile=profile, kinds=[Kind.COMBINED], severity=severity
                ).right_share,
                at_least=least,
            )
            for profile in Symbology
            for severity, least in enumerate(RIGHT_MIN)
        ]
        covered = self.total(OURS, kinds=[Kind.COVERED]).right_share
        still = self.events.still_to_event
        measured = self.read.counts.total() > 0
        return [
            *goals,
            Goal(name="right with 10 % of a copy covered, %", value=covered, at_least=COVERED_MIN),
            Goal(
                name=f"a frame that reads, up to severity {READABLE_SEVERITY}, p95, ms",
                value=self.read.at(0.95) if measured else None,
                at_most=EVENT_MS_MAX,
            ),
            Goal(
                name="a frame that does not read is given up, p95, ms",
                value=self.unread.at(0.95) if self.unread.counts else None,
                at_most=GIVE_UP_MS_MAX,
            ),
            Goal(
                name="from a still card to its event, up to severity 3, p95, ms",
                value=still.at(0.95) if still.counts else None,
                at_most=STILL_MS_MAX,
            ),
            Goal(
                name=f"wrong events in {self.events.frames:,} frames",
                value=float(self.events.wrong) if self.events.frames else None,
                at_most=0.0,
            ),
        ]

    def as_json(self) -> dict[str, Json]:
        """Return everything for machines."""
        return {
            "bench": "scan",
            "seed": self.seed,
            "frames": self.frames_asked,
            "interrupted": self.interrupted,
            "single_frames": self.singles,
            "drawing_share": self._drawing_share(),
            "readers": [
                {
                    "reader": row.reader,
                    "profile": row.profile.value,
                    "kind": row.kind.value,
                    "severity": row.severity,
                    **tally.as_json(),
                }
                for row, tally in sorted(self.tallies.items(), key=lambda item: str(item[0]))
            ],
            "felts": [
                {"reader": reader, "felt": felt.value, **tally.as_json()}
                for (reader, felt), tally in sorted(self.felts.items())
            ],
            "pyzbar_all_symbologies_ms": self.every.as_json(),
            "read_ms": self.read.as_json(),
            "given_up_ms": self.unread.as_json(),
            "events": self.events.as_json(),
            "photos": None if self.photos is None else self.photos.as_json(),
            "goals": [goal.as_json() for goal in self.goals],
            "faults": self.faults,
        }

    def show(self) -> None:
        """Print everything for people."""
        from studio.bench.scan_show import show_scan

        show_scan(self)
        show_goals(self.goals)
        print_faults(self.faults, checked="The comparison with what was drawn")
        if self.interrupted:
            click.echo("\nStopped early: all figures are of the frames until then.")

    def _drawing_share(self) -> float:
        spent_s = self.drawing_s + self.reading_s
        return round(self.drawing_s / spent_s, 3) if spent_s else 0.0


def add(whole: Tally, part: Tally) -> None:
    """Add counts to counts."""
    whole.frames += part.frames
    whole.right += part.right
    whole.wrong += part.wrong
    whole.times.counts.update(part.times.counts)


def measure_scan(
    *,
    frames: int,
    photos: Path | None,
    seed: int,
    say: Say,
    clock: Callable[[], float] = time.thread_time,
) -> ScanResult:
    """Measure single frames, a film of as many frames as asked, and photos.

    Args:
        frames: length of the film.
        photos: a folder of real photos, or None.
        seed: draws the same frames again.
        say: takes the progress.
        clock: seconds of processor time.

    Raises:
        DecoderMissingError: a decoder does not work on this machine.
    """
    silence_opencv()
    cv2.setNumThreads(1)
    prove_decoders(load_decoders(Symbology.QR))
    result = ScanResult(seed=seed, frames_asked=frames)
    started_s = clock()
    try:
        singles = max(1, round(frames * SINGLES_SHARE))
        say(f"Seed {seed}: {singles} single frames, three readers ...")
        _measure_singles(result, singles=singles, say=say, clock=clock)
        say(f"A film of {frames} frames ...")
        measure_events(result.events, seed=seed, frames=frames, say=say, clock=clock)
    except KeyboardInterrupt:
        result.interrupted = True
    result.drawing_s += result.events.drawing_s
    result.reading_s = clock() - started_s - result.drawing_s
    if photos is not None and not result.interrupted:
        say(f"Photos of {photos} ...")
        result.photos = measure_photos(photos, say=say, clock=clock)
    return result


def _measure_singles(
    result: ScanResult, *, singles: int, say: Say, clock: Callable[[], float]
) -> None:
    book = Codebook(deck_set=DECK_SET, manifest=MANIFEST)
    readers: tuple[CardReader, ...] = (
        OurReader(book, clock=clock),
        PeerReader(PYZBAR, which=1),
        PeerReader(ZXING, which=0),
    )
    source = shots(result.seed, singles)
    while True:
        started_s = clock()
        shot = next(source, None)
        result.drawing_s += clock() - started_s
        if shot is None:
            return
        for reader in readers:
            _count(result, shot, reader, clock=clock)
        if result.singles % EVERY_SHARE == 0:
            result.every.add(timed(EveryReader(), shot.image, shot.symbology, clock=clock)[1])
        result.singles += 1
        if result.singles % SAY_EVERY == 0:
            say(f"  {result.singles} of {singles} single frames")


def _count(
    result: ScanResult, shot: Shot, reader: CardReader, *, clock: Callable[[], float]
) -> None:
    cards, ms = timed(reader, shot.image, shot.symbology, clock=clock)
    expected = set() if shot.payload is None else {shot.payload}
    right, wrong = cards == expected, bool(cards - expected)
    row = Row(reader.name, shot.symbology, shot.kind, shot.severity)
    result.tallies.setdefault(row, Tally()).add(right=right, wrong=wrong, ms=ms)
    if shot.kind is Kind.COMBINED and shot.severity <= 3:
        felt = result.felts.setdefault((reader.name, shot.felt), Tally())
        felt.add(right=right, wrong=wrong, ms=ms)
    if reader.name != OURS or shot.kind in NEGATIVES:
        return
    if right and shot.severity <= READABLE_SEVERITY:
        result.read.add(ms)
    elif not right:
        result.unread.add(ms)
