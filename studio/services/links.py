"""The watched links of the tables: scanner, dealer station, video.

A link is lost when it has been silent longer than its limit. Lost before the round started, and
for longer than the grace: the round is cancelled and everything refunded. Lost after: the round
runs to its end, marked as interrupted. Source: DESIGN section 6.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from studio.domain.commands import MarkLink
from studio.domain.errors import RefusedError
from studio.domain.game import Json
from studio.domain.table import Link
from studio.services.jobs import Build
from studio.services.offline_work import OfflineWork
from studio.services.ports import Clock
from studio.services.proposing import void
from studio.services.runner import TableRunner
from studio.services.scan_health import ScanWatch


@dataclass(frozen=True, kw_only=True)
class Heartbeat:
    """The last sign of life of a link, by this process's clock."""

    at_ms: int
    details: Mapping[str, Json] = field(default_factory=dict)


class LinkWatch:
    """Remembers heartbeats and turns silence into events."""

    def __init__(self, *, runner: TableRunner, clock: Clock) -> None:
        """Start with every link seen now: a restart is not an outage."""
        self._runner = runner
        self._clock = clock
        self._lock = threading.Lock()
        start = Heartbeat(at_ms=clock.now_ms())
        self._seen = {(table, link): start for table in runner.tables.setups for link in Link}
        self.offline = OfflineWork(clock=clock)
        self.scans = ScanWatch(units=runner.units, publisher=runner.publisher, clock=clock)

    def beat(self, table: str, link: Link, details: Mapping[str, Json] | None = None) -> None:
        """Note a sign of life; one that says nothing more leaves the details as they were.

        Raises:
            MalformedError: `unknown_table`.
        """
        self._runner.tables.setup(table)
        with self._lock:
            if details is None:
                details = self._seen[table, link].details
            self._seen[table, link] = Heartbeat(at_ms=self._clock.now_ms(), details=details)

    def health(self, table: str) -> dict[str, Json]:
        """Return state, age and details of each link for the pit."""
        now_ms = self._clock.now_ms()
        limits = self._limits(table)
        answer: dict[str, Json] = {}
        for link in Link:
            beat = self._seen[table, link]
            age_ms = now_ms - beat.at_ms
            answer[link] = {
                "state": "up" if age_ms <= limits[link] else "lost",
                "age_ms": age_ms,
                **beat.details,
            }
        return answer

    def one_camera(self) -> frozenset[str]:
        """Return the tables whose scanner and video gave their last signs of life as one device."""
        devices = {key: beat.details.get("device") for key, beat in self._seen.items()}
        return frozenset(
            table
            for table in self._runner.tables.setups
            if (device := devices[table, Link.SCANNER]) is not None
            and device == devices[table, Link.VIDEO]
        )

    def _limits(self, table: str) -> Mapping[Link, int]:
        links = self._runner.tables.setup(table).links
        return {
            Link.SCANNER: links.scanner_lost_ms,
            Link.STATION: links.station_lost_ms,
            Link.VIDEO: links.video_lost_ms,
        }

    def check(self, table: str) -> None:
        """Write lost and restored links to the log; cancel a round that had not started."""
        health = self.health(table)
        lost = self._runner.live(table).state.links_lost
        if health[Link.SCANNER]["state"] == "lost":
            self.offline.silent(table, since_ms=self._seen[table, Link.SCANNER].at_ms)
        for link in Link:
            up = health[link]["state"] == "up"
            if up == (link in lost):
                grace_ms = self._runner.tables.setup(table).links.grace_ms
                self._runner.run(table, _marks(link, up=up, grace_ms=grace_ms))
        # The usual turn, ten times a second, has nothing to write and nothing to read again.
        if lost or any(health[link]["state"] == "lost" for link in Link):
            self._cancel_after_grace(table)

    def _cancel_after_grace(self, table: str) -> None:
        current = self._runner.live(table).state.round
        if current is None or not current.waits or current.cancels_ms is None:
            return
        with self._runner.units.read() as uow:
            if uow.now_ms() < current.cancels_ms:
                return
        try:
            self._runner.run(
                table,
                void(
                    round_id=current.id,
                    reason="link_lost_before_start",
                    by="studio",
                    unstarted=True,
                ),
            )
        except RefusedError:
            return  # the round started or ended in between


def _marks(link: Link, *, up: bool, grace_ms: int) -> Build:
    return lambda job: MarkLink(link=link, up=up, cancels_ms=job.now_ms + grace_ms)
