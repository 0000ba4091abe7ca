"""The event rule: from sightings, frame by frame, to one report per card. Pure.

A card is reported only if format, check digits and manifest hold, and both decoders agree on one
frame or two different frames agree, and no other valid text was seen in the last frames.
Otherwise, once the card has lain still long enough, the reason is reported. Nothing is guessed.

One presence lasts from the first frame that shows a card until several frames show an empty
table. Within it the same serial is the same card and gives nothing new. The memory of other texts
ends with the presence: the empty frames between prove that the card before was taken away. A hand
over the card is no empty table; but no card at all for long enough ends a presence too.

Source: scanner notes, "Event rule".
"""

from collections import deque
from dataclasses import dataclass
from enum import StrEnum, unique

from scanner.codebook import Codebook, Verdict
from scanner.sighting import Decoder, Effort, Sighting

CONFLICT_FRAMES = 10
"""Another valid text this many frames ago still forbids a report."""
STILL_MS = 400
"""A card that lies still this long unread is a failed read."""
RESTLESS_MS = 2_000
"""A view that never comes to rest is a failed read after this long."""
EMPTY_FRAMES = 3
"""This many frames of an empty table end a presence."""
ABSENT_MS = 1_000
"""So does this long without a card, whatever else lies there."""
REPEAT_MS = 3_000
"""A failed read is repeated no faster than this while the card still lies there."""
AGREEING_FRAMES = 2


@unique
class ReportKind(StrEnum):
    """The wire's words for what happened."""

    CARD_SEEN = "card_seen"
    READ_FAILED = "read_failed"
    STILL_UNREAD = "still_unread"


@unique
class Reason(StrEnum):
    """Why a card could not be taken."""

    NO_CODE = "no_code"
    UNREADABLE = "unreadable"
    TWO_CARDS = "two_cards"
    FOREIGN_SYMBOLOGY = "foreign_symbology"
    NOT_IN_SHOE = "not_in_shoe"


@dataclass(frozen=True, kw_only=True)
class Report:
    """One thing the back office must know. `code` is a sealed card: never log it."""

    kind: ReportKind
    code: str | None = None
    reason: Reason | None = None
    copies: int = 0
    decoders: tuple[Decoder, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Frame:
    """The valid texts of one decoded frame and who read them."""

    texts: frozenset[str]
    agreed: frozenset[str]
    """Texts that both decoders read on this frame."""


class Confirmer:
    """Holds the sightings of the card that lies there now."""

    def __init__(self, codebook: Codebook) -> None:
        """Start with an empty glass."""
        self.codebook = codebook
        self._frames: deque[_Frame] = deque(maxlen=CONFLICT_FRAMES)
        self._empty_frames = 0
        self._absent_since_ms: int | None = None
        self._begin()

    def _begin(self) -> None:
        """Forget the presence before."""
        self._frames.clear()
        self._waiting_since_ms: int | None = None
        self._still_since_ms: int | None = None
        self._reported: tuple[str, Reason | None] | None = None
        self._failed_ms: int | None = None
        self._unknown_waits = False

    @property
    def unknown_waits(self) -> bool:
        """A well-formed code outside the manifest lies there: a newer manifest may know it."""
        return self._unknown_waits

    def effort(self, now_ms: int) -> Effort:
        """Say how hard to look at the next frame."""
        if self._waiting_since_ms is None:
            return Effort.READ if self._reported is None else Effort.WATCH
        if self._failure_due(now_ms):
            return Effort.EXPLAIN
        return Effort.READ if self._failed_ms is None else Effort.WATCH

    def step(self, sighting: Sighting, *, now_ms: int) -> tuple[Report, ...]:
        """Take one frame in and return what is to be reported, at most one thing."""
        if not sighting.cards_in_view and not sighting.readings:
            self._miss(sighting, now_ms=now_ms)
            return ()
        self._empty_frames = 0
        self._absent_since_ms = None
        if self._reported is None and self._waiting_since_ms is None:
            self._waiting_since_ms = now_ms
        if not sighting.still:
            self._still_since_ms = None
        elif self._still_since_ms is None:
            self._still_since_ms = now_ms
        if sighting.unchanged:
            return self._judge_failure(sighting, now_ms=now_ms)
        self._remember(sighting, now_ms=now_ms)
        report = self._judge_read(sighting, now_ms=now_ms)
        return (report,) if report else self._judge_failure(sighting, now_ms=now_ms)

    def _miss(self, sighting: Sighting, *, now_ms: int) -> None:
        """Count a frame without a card; enough of them end the presence."""
        if self._absent_since_ms is None:
            self._absent_since_ms = now_ms
        self._empty_frames = 0 if sighting.occupied else self._empty_frames + 1
        absent_ms = now_ms - self._absent_since_ms
        if self._empty_frames >= EMPTY_FRAMES or absent_ms >= ABSENT_MS:
            self._begin()

    def _remember(self, sighting: Sighting, *, now_ms: int) -> None:
        """Keep the frame's valid texts.

        A decoded frame that shows anything but the reported card alone starts a new wait; one
        that shows it again ends the wait.
        """
        readers: dict[str, set[Decoder]] = {}
        for reading in sighting.readings:
            if self.codebook.look_up(reading.text).valid:
                readers.setdefault(reading.text, set()).add(reading.decoder)
        self._frames.append(
            _Frame(
                texts=frozenset(readers),
                agreed=frozenset(text for text, who in readers.items() if len(who) > 1),
            )
        )
        if self._reported is not None:
            alone = sighting.cards_in_view <= 1 and set(readers) == {self._reported[0]}
            if alone:
                self._settle()
            elif self._waiting_since_ms is None:
                self._waiting_since_ms = now_ms

    def _settle(self) -> None:
        """The card that lies there is reported: nothing is waited for."""
        self._waiting_since_ms = None
        self._failed_ms = None

    def _judge_read(self, sighting: Sighting, *, now_ms: int) -> Report | None:
        self._unknown_waits = False
        text = self._confirmed(sighting)
        if text is None:
            return None
        reason = None
        if self.codebook.look_up(text).verdict is Verdict.NOT_IN_SHOE:
            self._unknown_waits = True
            if not self._patience_over(now_ms):
                return None
            reason = Reason.NOT_IN_SHOE
        if self._reported == (text, reason):
            return None
        self._reported = (text, reason)
        self._settle()
        mine = [reading for reading in sighting.readings if reading.text == text]
        return Report(
            kind=ReportKind.CARD_SEEN,
            code=text,
            reason=reason,
            copies=max(1, len({reading.copy for reading in mine} - {None})),
            decoders=tuple(sorted({reading.decoder for reading in mine})),
        )

    def _confirmed(self, sighting: Sighting) -> str | None:
        """Return the one text this frame confirms, or None."""
        frame = self._frames[-1]
        if sighting.cards_in_view > 1 or len(frame.texts) != 1:
            return None
        (text,) = frame.texts
        if any(texts.texts - {text} for texts in self._frames):
            return None
        seen = sum(text in texts.texts for texts in self._frames)
        return text if frame.agreed or seen >= AGREEING_FRAMES else None

    def _patience_over(self, now_ms: int) -> bool:
        """The card has lain still and unread long enough, or never comes to rest."""
        if self._waiting_since_ms is None:
            return False
        waited_ms = now_ms - self._waiting_since_ms
        if waited_ms >= RESTLESS_MS:
            return True
        still = self._still_since_ms is not None and now_ms - self._still_since_ms >= STILL_MS
        return still and waited_ms >= STILL_MS

    def _failure_due(self, now_ms: int) -> bool:
        if self._failed_ms is not None:
            return self._waiting_since_ms is not None and now_ms - self._failed_ms >= REPEAT_MS
        return self._patience_over(now_ms)

    def _judge_failure(self, sighting: Sighting, *, now_ms: int) -> tuple[Report, ...]:
        if not sighting.explained or not self._failure_due(now_ms):
            return ()
        if self._only_history_objects(sighting, now_ms=now_ms):
            return ()
        kind = ReportKind.READ_FAILED if self._failed_ms is None else ReportKind.STILL_UNREAD
        self._failed_ms = now_ms
        return (Report(kind=kind, reason=self._reason(sighting)),)

    def _only_history_objects(self, sighting: Sighting, *, now_ms: int) -> bool:
        """One card is being read well and only waits until the card before it is forgotten."""
        assert self._waiting_since_ms is not None
        reads_well = sighting.cards_in_view <= 1 and len(self._frames[-1].texts) == 1
        return reads_well and now_ms - self._waiting_since_ms < RESTLESS_MS

    def _reason(self, sighting: Sighting) -> Reason:
        texts = frozenset[str]().union(*(frame.texts for frame in self._frames))
        if sighting.cards_in_view > 1 or len(texts) > 1:
            return Reason.TWO_CARDS
        verdicts = {self.codebook.look_up(reading.text).verdict for reading in sighting.readings}
        if sighting.foreign or Verdict.FOREIGN_SYMBOLOGY in verdicts:
            return Reason.FOREIGN_SYMBOLOGY
        if sighting.code_in_view or verdicts or texts:
            return Reason.UNREADABLE
        return Reason.NO_CODE
