"""The scanners' health as metrics, read from the links at every scrape; never a card."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from studio.domain.game import Json
from studio.services.scan_health import CAMERA_STATES, COPIES

MS_PER_S: Final = 1000

COUNTERS: Final = {
    "frames": ("studio_scanner_frames", "Pictures looked at since the scanner's start."),
    "read": ("studio_scanner_cards_read", "Cards read."),
    "faults": ("studio_scanner_decoder_faults", "Pictures lost to a fault of the decoder."),
    "restarts": ("studio_scanner_decoder_restarts", "Restarts of the decoder's process."),
    "dropped": ("studio_scanner_frames_dropped", "Pictures that a newer one overtook."),
    "reopened": ("studio_scanner_camera_reopened", "How often the camera was opened anew."),
    "pictures_dropped": (
        "studio_scanner_pictures_dropped",
        "Pictures for the supervisor that found no room while they waited.",
    ),
}
GAUGES: Final = {
    "fps": ("studio_scanner_frames_per_second", "Pictures a second from the camera."),
    "queued": ("studio_scanner_reports_waiting", "Reports that wait at the scanner."),
    "queue_max": ("studio_scanner_reports_waiting_max", "Reports that fit into its queue."),
}


class Links(Protocol):
    """What is scraped."""

    def health(self, table: str) -> Mapping[str, Json]:
        """Return state, age and details of each link of a table."""


class ScanCollector(Collector):
    """Yields the figures of every table's scanner; of one that is silent only that it is."""

    def __init__(self, links: Links, tables: Iterable[str]) -> None:
        """Watch these tables."""
        self._links = links
        self._tables = tuple(tables)

    def collect(self) -> Iterator[Metric]:
        """Return what the scanners said last."""
        scanners = {table: self._links.health(table)["scanner"] for table in self._tables}
        up = GaugeMetricFamily("studio_scanner_up", "The scanner is heard.", labels=("table",))
        for table, said in scanners.items():
            up.add_metric((table,), float(said["state"] == "up"))
        yield up
        heard = {table: said for table, said in scanners.items() if said["state"] == "up"}
        yield from _plain(heard)
        yield from _labelled({table: said.get("scan") or {} for table, said in heard.items()})


def _plain(heard: Mapping[str, Mapping[str, Json]]) -> Iterator[Metric]:
    age = GaugeMetricFamily(
        "studio_scanner_frame_age_seconds", "Age of the newest picture.", labels=("table",)
    )
    for table, said in heard.items():
        if said.get("frame_age_ms") is not None:
            age.add_metric((table,), said["frame_age_ms"] / MS_PER_S)
    yield age
    for key, (name, text) in GAUGES.items():
        gauge = GaugeMetricFamily(name, text, labels=("table",))
        for table, said in heard.items():
            if key in said:
                gauge.add_metric((table,), said[key])
        yield gauge


def _labelled(scans: Mapping[str, Mapping[str, Json]]) -> Iterator[Metric]:
    for key, (name, text) in COUNTERS.items():
        counter = CounterMetricFamily(name, text, labels=("table",))
        for table, scan in scans.items():
            if key in scan:
                counter.add_metric((table,), scan[key])
        yield counter
    copies = CounterMetricFamily(
        "studio_scanner_reads", "Codes read, by the place on the card.", labels=("table", "copy")
    )
    failed = CounterMetricFamily(
        "studio_scanner_failed_reads", "Cards not read, by reason.", labels=("table", "reason")
    )
    camera = GaugeMetricFamily(
        "studio_scanner_camera_state", "1 at the camera's state.", labels=("table", "state")
    )
    for table, scan in scans.items():
        for copy, count in zip(COPIES, scan.get("read_by_copy", ()), strict=False):
            copies.add_metric((table, copy), count)
        for reason, count in sorted(scan.get("failed", {}).items()):
            failed.add_metric((table, reason), count)
        for state in CAMERA_STATES if "camera" in scan else ():
            camera.add_metric((table, state), float(scan["camera"] == state))
    yield from (copies, failed, camera)
