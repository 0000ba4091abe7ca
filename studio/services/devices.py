"""The devices' doors: scanner reports, heartbeats, the loaded deck set's manifest.

A report moves the table as far as the card goes, once: its id is noted in the same commit. The
answer never repeats a card.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from studio.domain.cards import CodeVersion, PrintedCode, parse_code
from studio.domain.commands import Command, FailRead
from studio.domain.dealing import STAFF_BADGE
from studio.domain.errors import MalformedError
from studio.domain.events import CardHeld, ReadFailed
from studio.domain.game import Json
from studio.domain.log import canonical
from studio.domain.table import Link
from studio.services.jobs import Job
from studio.services.links import LinkWatch
from studio.services.live import Live
from studio.services.picture_ports import WantedPicture
from studio.services.reading import CardReading, version_of
from studio.services.runner import TableRunner
from studio.services.scan_health import read_health
from studio.services.scan_reasons import REASONS

REPORT_ID_LENGTH_MAX = 100


@dataclass(frozen=True, kw_only=True)
class _Unread:
    """A card lies there and can't be read; `still`: the same one as at the report before."""

    reason: str
    still: bool


class _TakenError(Exception):
    """The report was taken before."""


class DeviceService:
    """What scanners and stream devices ask for."""

    def __init__(self, *, runner: TableRunner, links: LinkWatch, reading: CardReading) -> None:
        """Keep the ports."""
        self._runner = runner
        self._links = links
        self._reading = reading

    def report(self, device: str, body: Mapping[str, Json]) -> dict[str, Json]:
        """Take a report once; `picture` in the answer says that its picture is wanted.

        Raises:
            MalformedError: `report_id`, `report_kind`, `report_reason`, `unknown_table`, or the
                code is not one of ours.
            RefusedError: `report_id_reused`.
        """
        report_id, table = body.get("id"), body.get("table")
        if not isinstance(report_id, str) or not 0 < len(report_id) <= REPORT_ID_LENGTH_MAX:
            raise MalformedError("report_id", "A report needs an id, a text of its own.")
        if not isinstance(table, str):
            raise MalformedError("unknown_table", "A report names its table.")
        self._runner.tables.setup(table)
        read = self._understood(body)
        digest = hashlib.sha256(canonical(dict(body)).encode()).hexdigest()

        def build(job: Job) -> Command:
            taken = job.uow.reports.take(
                device=device, report_id=report_id, digest=digest, at_ms=job.now_ms
            )
            if not taken:
                raise _TakenError
            return self._command(job, read)

        def also(job: Job, after: Live) -> None:
            wanted = _wanted_picture(job, after, read, device=device, report_id=report_id)
            if wanted is not None:
                job.uow.pictures.want(wanted)

        try:
            self._runner.run(table, build, also=also)
        except _TakenError:
            return {"taken": True, "duplicate": True, **self._picture(device, report_id)}
        self._links.beat(table, Link.SCANNER)
        self._links.offline.report_taken(table)
        self._runner.tick(table)
        return {"taken": True, "duplicate": False, **self._picture(device, report_id)}

    def _picture(self, device: str, report_id: str) -> dict[str, Json]:
        """Say so as long as a report's picture is wanted: the first answer may have been lost."""
        with self._runner.units.read() as uow:
            wanted = uow.pictures.wants(device=device, report_id=report_id)
        return {"picture": True} if wanted else {}

    def _understood(self, body: Mapping[str, Json]) -> PrintedCode | _Unread:
        """Return the code that was seen, or the reason why none was."""
        kind, code, reason = body.get("kind"), body.get("code"), body.get("reason")
        if kind == "card_seen":
            if not isinstance(code, str):
                raise MalformedError("report_code", "A seen card comes with its code.")
            seen = parse_code(code)
            if seen.version is CodeVersion.BADGE:
                # A scanner of the first release reports the badge of a person like a card.
                return _Unread(reason=STAFF_BADGE, still=False)
            return seen
        if kind in ("read_failed", "still_unread"):
            if not isinstance(reason, str) or reason not in REASONS:
                known = ", ".join(sorted(REASONS))
                raise MalformedError("report_reason", f"The reason must be one of: {known}.")
            return _Unread(reason=reason, still=kind == "still_unread")
        raise MalformedError("report_kind", "The kind must be card_seen or read_failed.")

    def _command(self, job: Job, read: PrintedCode | _Unread) -> Command:
        if isinstance(read, _Unread):
            return FailRead(
                reason=read.reason, tries_max=job.live.setup.scan_tries_max, still=read.still
            )
        return self._reading.seen(job, read)

    def heartbeat(self, device: str, body: Mapping[str, Json]) -> dict[str, Json]:
        """Note a link's sign of life; answer with the epoch, so that a device sees a new shoe.

        Raises:
            MalformedError: `unknown_table`, `unknown_link`, `scan_health`.
        """
        table, link = body.get("table"), body.get("link")
        if not isinstance(link, str) or link not in {Link.SCANNER, Link.VIDEO}:
            raise MalformedError("unknown_link", "The link must be scanner or video.")
        if not isinstance(table, str):
            raise MalformedError("unknown_table", "A heartbeat names its table.")
        details = {
            key: value
            for key in ("frame_age_ms", "fps", "queued", "misses")
            if isinstance(value := body.get(key), int | float)
        }
        if link == Link.SCANNER:
            details |= read_health(body)
        self._links.beat(table, Link(link), {**details, "device": device})
        if link == Link.SCANNER:
            self._links.offline.heard(table, queued=int(details.get("queued", 0)))
            self._links.scans.heard(table, details)
        return {"epoch": self._runner.live(table).state.epoch}

    def shoe(self, table: str) -> dict[str, Json]:
        """Return the manifest of the deck set on the table: which serial is which piece.

        `version` is what the codes of the table's pieces begin with.

        Raises:
            MalformedError: `unknown_table`.
        """
        live: Live = self._runner.live(table)
        shoe = live.state.shoe
        about: dict[str, Json] = {"epoch": live.state.epoch, "version": version_of(live).value}
        if shoe is None:
            return {**about, "deck_set": None, "codes": {}}
        with self._runner.units.read() as uow:
            deck_set = uow.deck_sets.get(shoe.deck_set)
        assert deck_set is not None
        return {
            **about,
            "deck_set": deck_set.number,
            "codes": {str(serial): number for serial, number in deck_set.manifest.items()},
        }


def _wanted_picture(
    job: Job, after: Live, read: PrintedCode | _Unread, *, device: str, report_id: str
) -> WantedPicture | None:
    """Return what to note of a report whose picture the supervisor may want to see.

    That is the first failed read of a card and every card that the table held. A badge is a
    person's, and a card that still lies there has been reported before.
    """
    if isinstance(read, _Unread) and (read.still or read.reason == STAFF_BADGE):
        return None
    for envelope in after.envelopes(after_seq=job.state.seq):
        if envelope["kind"] in (CardHeld.__name__, ReadFailed.__name__):
            body = envelope["body"]
            return WantedPicture(
                device=device,
                report_id=report_id,
                table=after.setup.code,
                epoch=envelope["epoch"],
                seq=envelope["seq"],
                round_id=after.state.round.id if after.state.round else None,
                why=body["fault"] if envelope["kind"] == CardHeld.__name__ else body["reason"],
                at_ms=job.now_ms,
            )
    return None
