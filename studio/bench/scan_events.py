"""From the film to events: the real reader and the real event rule, with the film's clock."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from scanner.codebook import Codebook
from scanner.confirm import Confirmer, Report, ReportKind
from scanner.decode import Reader, load_decoders
from scanner.layout import Symbology
from studio.bench.report import Say
from studio.bench.scan_drawn import DECK_SET, MANIFEST
from studio.bench.scan_episodes import Episode, Scene, Take, film
from studio.bench.scan_readers import Times
from studio.domain.game import Json

FRAMES_PER_S = 30
SURE_SEVERITY = 3
"""Up to here every card is to be read, and none is to be asked for again."""
CODE128_SHARE = 0.2
SAY_EVERY = 1_000
WRONG_KEPT = 20
"""So many wrong events are described; all are counted."""


@dataclass(kw_only=True)
class EventTally:
    """What became of the episodes of one severity and profile."""

    cards: int = 0
    right: int = 0
    missing: int = 0
    doubled: int = 0
    wrong: int = 0
    false_rescans: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    still_to_event: Times = field(default_factory=Times)

    def as_json(self) -> dict[str, Json]:
        """Return everything for machines."""
        return {
            "cards": self.cards,
            "right": self.right,
            "missing": self.missing,
            "doubled": self.doubled,
            "wrong": self.wrong,
            "false_rescans": self.false_rescans,
            "reasons": dict(sorted(self.reasons.items())),
            "still_to_event_ms": self.still_to_event.as_json(),
        }


@dataclass(kw_only=True)
class EventTallies:
    """What became of a whole film."""

    frames: int = 0
    episodes: int = 0
    tallies: dict[tuple[Symbology, int], EventTally] = field(default_factory=dict)
    look: Times = field(default_factory=Times)
    unchanged: Times = field(default_factory=Times)
    drawing_s: float = 0.0
    wrong_events: list[str] = field(default_factory=list)
    """Described by place in the film, never by card."""

    def of(self, symbology: Symbology, severity: int) -> EventTally:
        """Return the counts of one profile and severity."""
        return self.tallies.setdefault((symbology, severity), EventTally())

    @property
    def wrong(self) -> int:
        """Return all wrong events."""
        return sum(tally.wrong for tally in self.tallies.values())

    @property
    def still_to_event(self) -> Times:
        """Return the times of all severities up to which every card is to be read."""
        times = Times()
        for (_, severity), tally in self.tallies.items():
            if severity <= SURE_SEVERITY:
                times.counts.update(tally.still_to_event.counts)
        return times

    def as_json(self) -> dict[str, Json]:
        """Return everything for machines."""
        return {
            "frames": self.frames,
            "episodes": self.episodes,
            "wrong_events": self.wrong,
            "described": list(self.wrong_events),
            "look_ms": self.look.as_json(),
            "unchanged_look_ms": self.unchanged.as_json(),
            "tallies": [
                {"profile": symbology.value, "severity": severity, **tally.as_json()}
                for (symbology, severity), tally in sorted(self.tallies.items())
            ],
        }


@dataclass(kw_only=True)
class _Watched:
    """One episode while it runs."""

    episode: Episode
    seen: list[str] = field(default_factory=list)
    still_ms: int | None = None


def measure_events(
    found: EventTallies,
    *,
    seed: int,
    frames: int,
    say: Say,
    clock: Callable[[], float] = time.thread_time,
) -> None:
    """Show both profiles' films to the scanner; `found` outlives an interrupt."""
    strips = round(frames * CODE128_SHARE)
    for symbology, part in ((Symbology.QR, frames - strips), (Symbology.CODE128, strips)):
        _Screening(found, symbology, seed=seed, clock=clock).run(part, say=say)


class _Screening:
    """One film before one scanner."""

    def __init__(
        self,
        found: EventTallies,
        symbology: Symbology,
        *,
        seed: int,
        clock: Callable[[], float],
    ) -> None:
        self._found = found
        self._symbology = symbology
        self._clock = clock
        self._film = film(seed, symbology)
        self._reader = Reader(load_decoders(symbology), symbology=symbology, clock=clock)
        self._confirmer = Confirmer(Codebook(deck_set=DECK_SET, manifest=MANIFEST))
        self._now: _Watched | None = None

    def run(self, frames: int, *, say: Say) -> None:
        """Show so many frames, and the rest of the episode that then runs."""
        for number in count():
            started_s = self._clock()
            take = next(self._film)
            self._found.drawing_s += self._clock() - started_s
            if self._now is None or take.episode is not self._now.episode:
                self._close()
                if number >= frames:
                    return
                self._now = _Watched(episode=take.episode)
            self._show(take, number)
            if number % SAY_EVERY == SAY_EVERY - 1:
                wrong = self._found.wrong
                say(f"  events, {self._symbology.value}: {number + 1} frames, {wrong} wrong")

    def _show(self, take: Take, number: int) -> None:
        assert self._now is not None
        now_ms = round(number * 1000 / FRAMES_PER_S)
        if take.still and self._now.still_ms is None:
            self._now.still_ms = now_ms
        started_s = self._clock()
        sighting = self._reader.look(take.image, self._confirmer.effort(now_ms))
        reports = self._confirmer.step(sighting, now_ms=now_ms)
        ms = (self._clock() - started_s) * 1000
        self._found.frames += 1
        (self._found.unchanged if sighting.unchanged else self._found.look).add(ms)
        for report in reports:
            self._judge(report, number=number, now_ms=now_ms, ms=ms)

    def _judge(self, report: Report, *, number: int, now_ms: int, ms: float) -> None:
        assert self._now is not None
        episode = self._now.episode
        tally = self._found.of(self._symbology, episode.severity)
        if report.kind is not ReportKind.CARD_SEEN:
            assert report.reason is not None
            tally.reasons[report.reason.value] += 1
            readable = episode.scene is Scene.CARD and not episode.after_swap
            tally.false_rescans += readable and episode.severity <= SURE_SEVERITY
            return
        assert report.code is not None
        if report.reason is not None:
            tally.reasons[report.reason.value] += 1
        if report.reason is None and report.code == episode.payload:
            self._now.seen.append(report.code)
            if len(self._now.seen) == 1 and not episode.after_swap:
                since_ms = now_ms if self._now.still_ms is None else self._now.still_ms
                tally.still_to_event.add(now_ms - since_ms + ms)
        elif report.reason is None or episode.scene is Scene.CARD:
            self._wrong(number, episode, tally)

    def _wrong(self, number: int, episode: Episode, tally: EventTally) -> None:
        tally.wrong += 1
        if len(self._found.wrong_events) < WRONG_KEPT:
            self._found.wrong_events.append(
                f"{self._symbology.value} frame {number}, episode {episode.number}: "
                f"{episode.scene.value}, severity {episode.severity}, {episode.felt.value}"
            )

    def _close(self) -> None:
        """Count the episode that has ended."""
        if self._now is None:
            return
        episode, seen = self._now.episode, self._now.seen
        self._found.episodes += 1
        if episode.scene is Scene.CARD:
            tally = self._found.of(self._symbology, episode.severity)
            tally.cards += 1
            tally.right += len(seen) == 1
            tally.missing += not seen
            tally.doubled += len(seen) > 1
        self._now = None
