"""The tables of `bench scan` for people."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from scanner.layout import Symbology
from studio.bench.report import show
from studio.bench.scan_drawn import NEGATIVES, SINGLES, Kind
from studio.bench.scan_readers import EVERY_SYMBOLOGY, READERS, Tally

if TYPE_CHECKING:
    from studio.bench.scan import ScanResult

SEVERITIES = range(6)
_HEADS = ("", *(f"{name}: {what}" for name in ("ours", "pyzbar", "zxing") for what in
          ("right %", "wrong", "ms", "p95")))  # fmt: skip


def show_scan(result: "ScanResult") -> None:
    """Print every table of a run."""
    _show_singles(result)
    _show_events(result)
    if result.photos is not None:
        sets = sorted({photos for _, photos in result.photos.tallies})
        rows = [(name, [result.photos.of(reader, name) for reader in READERS]) for name in sets]
        _table("Real photos; right is the expected text, wrong any other", rows)


def _show_singles(result: "ScanResult") -> None:
    click.echo(
        f"Seed {result.seed}; {result.singles:,} single frames of 1280x720, "
        f"{result.as_json()['drawing_share']:.0%} of the time was drawing; "
        "ms are processor time"
    )
    for profile in Symbology:
        rows = [
            (
                f"severity {severity}",
                [
                    result.total(reader, profile=profile, kinds=[Kind.COMBINED], severity=severity)
                    for reader in READERS
                ],
            )
            for severity in SEVERITIES
        ]
        rows += [
            (
                kind.value,
                [result.total(reader, profile=profile, kinds=[kind]) for reader in READERS],
            )
            for kind in (*SINGLES, *NEGATIVES)
        ]
        _table(f"Single frames, {profile.value}", rows)
    felts = sorted({felt for _, felt in result.felts})
    _table(
        "Single frames by felt, severities 0 to 3",
        [(felt.value, [result.felts.get((r, felt), Tally()) for r in READERS]) for felt in felts],
    )
    every = result.every.as_json()
    click.echo(f"\n  {EVERY_SYMBOLOGY}: {every['median']} ms a frame, p95 {every['p95']} ms")


def _table(title: str, rows: Iterable[tuple[str, list[Tally]]]) -> None:
    show(title, _HEADS, [(name, *_cells(tallies)) for name, tallies in rows if any(
        tally.frames for tally in tallies)])  # fmt: skip


def _cells(tallies: list[Tally]) -> Iterable[str]:
    for tally in tallies:
        share = tally.right_share
        yield "-" if share is None else f"{share:.1f}"
        yield str(tally.wrong)
        yield f"{tally.times.at(0.5):.1f}"
        yield f"{tally.times.at(0.95):.1f}"


def _show_events(result: "ScanResult") -> None:
    events = result.events
    show(
        f"Events: {events.frames:,} frames of film, {events.episodes:,} episodes",
        (
            *("", "cards", "right", "missing", "doubled", "wrong", "false re-scans"),
            *("still to event, ms", "p95"),
        ),
        [
            (
                f"{symbology.value}, severity {severity}",
                *map(str, (tally.cards, tally.right, tally.missing, tally.doubled, tally.wrong)),
                str(tally.false_rescans),
                f"{tally.still_to_event.at(0.5):.1f}",
                f"{tally.still_to_event.at(0.95):.1f}",
            )
            for (symbology, severity), tally in sorted(events.tallies.items())
        ],
    )
    click.echo(
        f"\n  a look: {events.look.at(0.5)} ms, p95 {events.look.at(0.95)} ms; "
        f"at an unchanged view {events.unchanged.at(0.5)} ms"
    )
