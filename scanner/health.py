"""What a scanner tells about itself: counts since its start, the camera's state, its troubles.

Plain values only: the heartbeat carries them, the log prints them, nobody's card is in them.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import TypeAlias

from scanner.confirm import Report, ReportKind
from scanner.sighting import Sighting

VIDEO_FRESH_MS = 2_000
"""With an older picture no heartbeat is sent for the video: its link is lost."""
RATE_FRAMES = 60
COPIES = (0, 1, None)
"""The two printed places of a code, and the whole frame."""

Wire: TypeAlias = int | float | bool | str | list[int] | dict[str, int] | None


@unique
class CameraState(StrEnum):
    """The wire's words for what a camera does."""

    OPENING = "opening"
    """No picture has come yet."""
    OPEN = "open"
    LOST = "lost"
    """Pictures came and come no more; it is being opened again."""
    FROZEN = "frozen"
    """Pictures come, and each is the one before."""


CAMERA_TROUBLES: Mapping[CameraState, str] = {
    CameraState.OPENING: "The camera gives no picture yet: check its cable, number or address.",
    CameraState.LOST: "The camera is lost: check its cable and power; it is being opened again.",
    CameraState.FROZEN: "The camera's picture stands still: it hangs, or its lens is covered.",
}


@dataclass(frozen=True, kw_only=True)
class SourceHealth:
    """What a source has done so far."""

    frames: int
    dropped: int
    """Frames that a newer one replaced before they were looked at."""
    reopened: int
    age_ms: int | None
    """Since the newest frame that differed from the one before; None before the first."""
    state: CameraState = CameraState.OPEN


@dataclass(frozen=True, kw_only=True)
class Health:
    """What a heartbeat says."""

    frame_age_ms: int | None
    frames_per_s: float
    scan: Mapping[str, Wire]
    """Counts since the start, as the wire has them."""

    @property
    def links(self) -> tuple[str, ...]:
        """The links that live: the scanner that speaks, and the video while pictures come."""
        fresh = self.frame_age_ms is not None and self.frame_age_ms <= VIDEO_FRESH_MS
        return ("scanner", "video") if fresh else ("scanner",)


class Tally:
    """Counts what the loop does. The loop writes it, the heartbeat reads it."""

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self.counts: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self._by_copy = dict.fromkeys(COPIES, 0)
        self._taken_ms: deque[int] = deque(maxlen=RATE_FRAMES)

    @property
    def frames_per_s(self) -> float:
        """How fast frames were taken lately."""
        taken = tuple(self._taken_ms)
        if len(taken) < 2 or taken[-1] <= taken[0]:
            return 0.0
        return (len(taken) - 1) * 1000 / (taken[-1] - taken[0])

    def add_frame(self, *, taken_ms: int) -> None:
        """Count a frame that came from the camera."""
        self._taken_ms.append(taken_ms)
        self.counts["frames"] += 1

    def add_sighting(self, sighting: Sighting) -> None:
        """Count a frame that was looked at."""
        self.counts["faults"] += sighting.faults
        self.counts["skipped_frames"] += sighting.unchanged

    def add_report(self, report: Report, sighting: Sighting) -> None:
        """Count a report, with the places in which the frame that settled it showed the code."""
        self.counts[report.kind] += 1
        if report.reason is not None:
            # A card that still lies there unread is no further failure.
            self.failed[report.reason] += report.kind is not ReportKind.STILL_UNREAD
            return
        self.counts["read"] += 1
        for copy in {reading.copy for reading in sighting.readings if reading.text == report.code}:
            self._by_copy[copy] += 1

    def scan(
        self, source: SourceHealth, *, restarts: int, pictures_dropped: int
    ) -> dict[str, Wire]:
        """Return the counts as the heartbeat carries them."""
        return {
            "frames": self.counts["frames"],
            "read": self.counts["read"],
            "read_by_copy": [self._by_copy[copy] for copy in COPIES],
            "failed": {str(reason): count for reason, count in self.failed.copy().items()},
            "faults": self.counts["faults"],
            "restarts": restarts,
            "dropped": source.dropped,
            "reopened": source.reopened,
            "frozen": source.state is CameraState.FROZEN,
            "camera": source.state.value,
            "pictures_dropped": pictures_dropped,
        }


class TroubleBook:
    """Remembers, in plain words, what last went wrong."""

    def __init__(self) -> None:
        """All is well."""
        self._last: str | None = None
        self._last_ms = 0

    def take(self, troubles: Iterable[str | None], *, now_ms: int) -> dict[str, str | int]:
        """Take what is wrong now; return what the log says of it and of the last trouble."""
        now = " ".join(trouble for trouble in troubles if trouble)
        if now:
            self._last, self._last_ms = now, now_ms
            return {"trouble": now}
        if self._last is None:
            return {}
        return {"last_trouble": self._last, "last_trouble_age_ms": now_ms - self._last_ms}
