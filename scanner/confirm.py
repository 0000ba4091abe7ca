"""The event rule: from sightings, frame by frame, to one report per card. Pure.

A card is reported only if format, check digits and manifest hold, and both decoders agree on one
frame or two different frames agree, and no other valid text was seen in the last frames.
Otherwise, once the card has lain still long enough, the reason is reported. Nothing is guessed.

One presence lasts from the first frame that shows a card until several frames show an empty
table. Within it the same serial is the same card and gives nothing new. The memory of other texts
ends with the presence: the empty frames between prove that the card before was taken away. A hand
over the card is no empty table; but no card at all for long enough ends a presence too.

A card that leaves, or is replaced, before anything was reported of it is not passed over: its code
was in view, so it is reported as taken away.

Source: scanner notes, "Event rule".
"""

import math
from collections import deque
from dataclasses import dataclass
from enum import StrEnum, unique

from scanner.codebook import Codebook, Verdict
from scanner.sighting import Corners, Decoder, Effort, Sighting

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
CODE_FRAMES = 5
"""A code in view for fewer frames than these was not laid there: it passed by."""


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
    OTHER_DECK_SET = "other_deck_set"
    UNKNOWN_SERIAL = "unknown_serial"
    STAFF_BADGE = "staff_badge"
    TAKEN_AWAY = "taken_away"


NOT_OURS = {
    Verdict.OTHER_DECK_SET: Reason.OTHER_DECK_SET,
    Verdict.UNKNOWN_SERIAL: Reason.UNKNOWN_SERIAL,
}
"""Cards that are reported with their code and the reason why they don't count."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """One thing the back office must know. `code` is a sealed card: never log it."""

    kind: ReportKind
    code: str | None = None
    reason: Reason | None = None
    copies: int = 0
    decoders: tuple[Decoder, ...] = ()


_TAKEN_AWAY = Report(kind=ReportKind.READ_FAILED, reason=Reason.TAKEN_AWAY)


@dataclass(frozen=True, kw_only=True)
class _Frame:
    """The valid texts of one decoded frame and who read them."""

    texts: frozenset[str]
    agreed: frozenset[str]
    """Texts that both decoders read on this frame."""


class _Lying:
    """The card that lies there, and whether anything was reported of it."""

    def __init__(self) -> None:
        """Nothing lies there yet."""
        self._told = False
        self._code_frames = 0
        self._corners: Corners | None = None
        self._text: str | None = None
        self._badge = False

    @property
    def unread(self) -> bool:
        """A card lay there with its code in view, and nothing was reported of it."""
        return self._code_frames >= CODE_FRAMES and not self._told and not self._badge

    def tell(self) -> None:
        """Something was reported of this card."""
        self._told = True

    def replaced_by(self, sighting: Sighting, *, texts: frozenset[str], badge: bool) -> bool:
        """Take a frame in; tell whether it shows another card in place of an unread one."""
        (text,) = texts if len(texts) == 1 else (None,)
        corners = sighting.outlines[0] if len(sighting.outlines) == 1 else None
        another_text = None not in (text, self._text) and text != self._text
        replaced = False
        if another_text or _jumped(self._corners, corners):
            replaced = self.unread
            self._told, self._code_frames, self._text = False, 0, None
        self._text = text or self._text
        self._corners = corners
        self._badge = badge
        self._code_frames += sighting.code_in_view
        return replaced


def _jumped(before: Corners | None, now: Corners | None) -> bool:
    """Tell whether a card lies farther from the one before than a card is wide."""
    if before is None or now is None:
        return False
    width = min(math.dist(now[0], now[1]), math.dist(now[1], now[2]))
    return math.dist(_centre(before), _centre(now)) > width


def _centre(corners: Corners) -> tuple[float, float]:
    count = len(corners)
    return sum(x for x, _ in corners) / count, sum(y for _, y in corners) / count


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
        self._lying = _Lying()

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
            return self._miss(sighting, now_ms=now_ms)
        self._empty_frames = 0
        self._absent_since_ms = None
        if self._reported is None and self._waiting_since_ms is None:
            self._waiting_since_ms = now_ms
        if not sighting.still:
            self._still_since_ms = None
        elif self._still_since_ms is None:
            self._still_since_ms = now_ms
        if not sighting.unchanged:
            self._remember(sighting, now_ms=now_ms)
        if self._replaced(sighting):
            return (_TAKEN_AWAY,)
        report = None if sighting.unchanged else self._judge_read(sighting, now_ms=now_ms)
        reports = (report,) if report else self._judge_failure(sighting, now_ms=now_ms)
        if reports:
            self._lying.tell()
        return reports

    def _replaced(self, sighting: Sighting) -> bool:
        texts = frozenset[str]() if sighting.unchanged else self._frames[-1].texts
        badge = any(self._verdict(text) is Verdict.STAFF_BADGE for text in self._texts())
        replaced = self._lying.replaced_by(sighting, texts=texts, badge=badge)
        if self._reported is not None and texts == {self._reported[0]}:
            # The reported card, wherever it was pushed to.
            self._lying.tell()
        return replaced

    def _verdict(self, text: str) -> Verdict:
        return self.codebook.look_up(text).verdict

    def _texts(self) -> frozenset[str]:
        """Return the valid texts of the last frames."""
        return frozenset[str]().union(*(frame.texts for frame in self._frames))

    def _miss(self, sighting: Sighting, *, now_ms: int) -> tuple[Report, ...]:
        """Count a frame without a card; enough of them end the presence."""
        if self._absent_since_ms is None:
            self._absent_since_ms = now_ms
        self._empty_frames = 0 if sighting.occupied else self._empty_frames + 1
        absent_ms = now_ms - self._absent_since_ms
        if self._empty_frames < EMPTY_FRAMES and absent_ms < ABSENT_MS:
            return ()
        unread = self._lying.unread
        self._begin()
        return (_TAKEN_AWAY,) if unread else ()

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
        verdict = self._verdict(text)
        if verdict is Verdict.STAFF_BADGE:
            # A person's code goes nowhere; that it lies there is told like any failed read.
            return None
        reason = NOT_OURS.get(verdict)
        if reason is not None:
            self._unknown_waits = True
            if not self._patience_over(now_ms):
                return None
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
        texts = self._frames[-1].texts
        cards = [text for text in texts if self._verdict(text) is not Verdict.STAFF_BADGE]
        reads_well = sighting.cards_in_view <= 1 and len(texts) == len(cards) == 1
        return reads_well and now_ms - self._waiting_since_ms < RESTLESS_MS

    def _reason(self, sighting: Sighting) -> Reason:
        texts = self._texts()
        if sighting.cards_in_view > 1 or len(texts) > 1:
            return Reason.TWO_CARDS
        verdicts = {self._verdict(reading.text) for reading in sighting.readings}
        if Verdict.STAFF_BADGE in verdicts:
            return Reason.STAFF_BADGE
        if sighting.foreign or Verdict.FOREIGN_SYMBOLOGY in verdicts:
            return Reason.FOREIGN_SYMBOLOGY
        if sighting.code_in_view or verdicts or texts:
            return Reason.UNREADABLE
        return Reason.NO_CODE
