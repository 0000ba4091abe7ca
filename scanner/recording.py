"""The card events of a whole recording, with the recording's own time.

The same reader and the same event rule as at the table; only the clock is the film's. So a
recording gives the same events however fast the machine is.
"""

import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypedDict

import cv2

from scanner.camera import CameraError, silence_opencv, video_pictures
from scanner.codebook import Codebook, Verdict
from scanner.confirm import Confirmer, Report
from scanner.decode import Reader, load_decoders
from scanner.decoders import prove_decoders
from scanner.layout import Symbology

FRAMES_PER_S = 25.0
"""Assumed of a recording that does not say."""
FRAMES_PER_S_MAX = 1_000.0


class Event(TypedDict):
    """One report of the event rule. `payload` is null unless a card was seen."""

    file: str
    at_s: float
    event: str
    payload: str | None
    card: str | None
    reason: str | None


def recorded_events(
    path: Path,
    *,
    codebook: Codebook | None = None,
    symbology: Symbology = Symbology.QR,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[Event]:
    """Yield the events of a video in order; without a codebook only the check digits are held.

    Args:
        path: the video file.
        codebook: the deck set that was on the table.
        symbology: what its cards are printed with.
        clock: seconds, for the reader's time budget.

    Raises:
        CameraError: the file is no video that can be opened.
        DecoderMissingError: a decoder does not work on this machine.
    """
    silence_opencv()
    prove_decoders(load_decoders(Symbology.QR))
    reader = Reader(load_decoders(symbology), symbology=symbology, clock=clock)
    book = codebook or Codebook()
    confirmer = Confirmer(book)
    frame_ms = 1000 / _frames_per_s(path)
    frames = 0
    for _, image in video_pictures(path):
        assert image is not None
        now_ms = round(frames * frame_ms)
        sighting = reader.look(image, confirmer.effort(now_ms))
        for report in confirmer.step(sighting, now_ms=now_ms):
            yield _event(report, path=path, at_ms=now_ms, book=book)
        frames += 1
    if not frames:
        raise CameraError(f"{path} holds no frame that can be read.")


def _frames_per_s(path: Path) -> float:
    capture = cv2.VideoCapture(str(path))
    rate = float(capture.get(cv2.CAP_PROP_FPS))
    capture.release()
    return rate if math.isfinite(rate) and 0 < rate <= FRAMES_PER_S_MAX else FRAMES_PER_S


def _event(report: Report, *, path: Path, at_ms: int, book: Codebook) -> Event:
    card = None
    if report.code is not None:
        finding = book.look_up(report.code)
        if finding.printed is not None and finding.verdict is not Verdict.STAFF_BADGE:
            card = finding.printed.piece.code
    return Event(
        file=str(path),
        at_s=round(at_ms / 1000, 3),
        event=report.kind.value,
        payload=report.code,
        card=card,
        reason=report.reason.value if report.reason else None,
    )


def event_json_line(event: Event) -> str:
    """Return one event for machines."""
    return json.dumps(event, ensure_ascii=False)


EVENT_HEAD = f"{'at':>9}  {'event':<12} {'card':<5} {'payload':<14} {'reason':<18}  file"


def event_table_line(event: Event) -> str:
    """Return one event for people, in the columns of EVENT_HEAD."""
    return (
        f"{event['at_s']:>8.2f}s  {event['event']:<12} {event['card'] or '-':<5} "
        f"{event['payload'] or '-':<14} {event['reason'] or '-':<18}  {event['file']}"
    )
