"""What a scanner says of itself in its heart-beats: checked, and the troubles that call the pit.

Counts are those since the scanner's start. They are kept in memory beside the link's other details
(`studio.services.links`); only a trouble that begins or ends is written, as an alarm.
"""

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from studio.domain.errors import MalformedError
from studio.domain.game import Json
from studio.services.alarms import ACT_SOON, SCANNER_ALARMS
from studio.services.ports import Clock, Publisher, Units
from studio.services.retry import again
from studio.services.scan_reasons import REASONS

COPIES = ("top_left", "bottom_right", "whole_frame")
"""Where on a picture a code was read, in the order of `read_by_copy`."""
COUNTS = ("frames", "read", "faults", "restarts", "dropped", "reopened", "pictures_dropped")
CAMERA_STATES = ("open", "opening", "lost", "frozen")
COUNT_MAX = 2**53 - 1
"""Beyond this a number is not exact in a browser."""

QUEUE_ALARM_PERCENT = 80
"""A queue fuller than this calls the pit ..."""
QUEUE_OVER_PERCENT = 60
"""... until it has come down to this: one that stands at the limit calls once."""
RESTARTS_MAX = 3
"""So many restarts of the decoder ..."""
RESTARTS_WINDOW_MS = 10 * 60_000
"""... within this are again and again."""


def read_health(body: Mapping[str, Json]) -> dict[str, Json]:
    """Return `queue_max` and `scan` of a heart-beat as far as it holds them.

    Raises:
        MalformedError: `scan_health` when a key is unknown or a value is none that can be.
    """
    found: dict[str, Json] = {}
    if body.get("queue_max") is not None:
        found["queue_max"] = _count(body["queue_max"], "queue_max")
    if body.get("scan") is not None:
        found["scan"] = _read_scan(body["scan"])
    return found


def _read_scan(scan: Json) -> dict[str, Json]:
    if not isinstance(scan, Mapping):
        raise _wrong("scan")
    found: dict[str, Json] = {}
    for key, value in scan.items():
        if key in COUNTS:
            found[key] = _count(value, key)
        elif key == "read_by_copy" and isinstance(value, list) and len(value) == len(COPIES):
            found[key] = [_count(one, key) for one in value]
        elif key == "failed" and isinstance(value, Mapping) and value.keys() <= REASONS:
            found[key] = {reason: _count(count, key) for reason, count in value.items()}
        elif (key == "frozen" and isinstance(value, bool)) or (
            key == "camera" and value in CAMERA_STATES
        ):
            found[key] = value
        else:
            raise _wrong(key)
    return found


def _count(value: Json, key: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= COUNT_MAX:
        raise _wrong(key)
    return value


def _wrong(key: str) -> MalformedError:
    return MalformedError("scan_health", f"A heart-beat says nothing that can be of {key:.40}.")


@dataclass(kw_only=True)
class _Watched:
    """What is remembered of one table's scanner between two heart-beats."""

    troubles: frozenset[str] | None = None
    """None: nothing heard since this process began; alarms of the one before may be open."""
    restarts: int | None = None
    restarted_ms: deque[int] = field(default_factory=lambda: deque(maxlen=RESTARTS_MAX))


class ScanWatch:
    """Turns what scanners say of themselves into alarms: one for each trouble, as long as it is."""

    def __init__(self, *, units: Units, publisher: Publisher, clock: Clock) -> None:
        """Keep the ports."""
        self._units = units
        self._publisher = publisher
        self._clock = clock
        self._lock = threading.Lock()
        self._watched: dict[str, _Watched] = {}

    def heard(self, table: str, details: Mapping[str, Json]) -> None:
        """Take what a scanner's heart-beat says, as `read_health` returns it with `queued`."""
        with self._lock:
            watched = self._watched.setdefault(table, _Watched())
            found = self._troubles(watched, details)
            if found.keys() == watched.troubles:
                return
            again(lambda: self._write(table, found))
            watched.troubles = frozenset(found)
        self._publisher.pit({"kind": "alarm", "table": table})

    def _troubles(
        self, watched: _Watched, details: Mapping[str, Json]
    ) -> dict[str, Mapping[str, Json]]:
        """Return the codes of what is wrong now with the details of their alarms."""
        scan = details.get("scan") or {}
        found: dict[str, Mapping[str, Json]] = {}
        queued, most = details.get("queued") or 0, details.get("queue_max")
        full = "scanner_queue" in (watched.troubles or ())
        percent = QUEUE_OVER_PERCENT if full else QUEUE_ALARM_PERCENT
        if most and queued * 100 > most * percent:
            found["scanner_queue"] = {"queued": queued, "most": most}
        if scan.get("camera") == "lost":
            found["camera_lost"] = {}
        elif scan.get("camera") == "frozen" or scan.get("frozen"):
            found["camera_frozen"] = {}
        if self._restarts_again(watched, scan.get("restarts")):
            minutes = RESTARTS_WINDOW_MS // 60_000
            found["decoder_restarts"] = {"restarts": RESTARTS_MAX, "minutes": minutes}
        return found

    def _restarts_again(self, watched: _Watched, restarts: int | None) -> bool:
        now_ms = self._clock.now_ms()
        if restarts is not None:
            # The first heart-beat says how it stands; a smaller count is a scanner started anew.
            before = restarts if watched.restarts is None else watched.restarts
            new = restarts - before if restarts >= before else restarts
            watched.restarted_ms.extend([now_ms] * min(new, RESTARTS_MAX))
            watched.restarts = restarts
        times = watched.restarted_ms
        return len(times) == RESTARTS_MAX and now_ms - times[0] <= RESTARTS_WINDOW_MS

    def _write(self, table: str, found: Mapping[str, Mapping[str, Json]]) -> None:
        with self._units.write() as uow:
            now_ms = uow.now_ms()
            uow.alarms.clear(table=table, codes=SCANNER_ALARMS - found.keys(), at_ms=now_ms)
            for code, details in found.items():
                uow.alarms.raise_alarm(
                    priority=ACT_SOON,
                    code=code,
                    table=table,
                    round_id=None,
                    at_ms=now_ms,
                    details=details,
                )
            uow.commit()
