"""Reading files for people and machines: pictures, folders, videos; one result a frame."""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypedDict

import cv2
from cv2.typing import MatLike

from scanner.camera import (
    IMAGE_SUFFIXES,
    CameraError,
    folder_pictures,
    read_image,
    silence_opencv,
    video_pictures,
)
from scanner.codebook import Codebook, Finding, Verdict
from scanner.confirm import NOT_OURS, Reason
from scanner.decode import Reader, load_decoders
from scanner.decoders import prove_decoders
from scanner.layout import Symbology
from scanner.sighting import Effort, Sighting

_REASONS = {**NOT_OURS, Verdict.STAFF_BADGE: Reason.STAFF_BADGE}
FILE_BUDGET_S = 0.25
"""A file does not run away: it may take longer than a frame of a running camera."""


class Result(TypedDict):
    """What one frame gave. `payload` is null unless `status` is read."""

    file: str
    status: str
    payload: str | None
    card: str | None
    reason: str | None
    ms: float


def read_paths(
    paths: Iterable[Path],
    *,
    any_code: bool,
    codebook: Codebook | None = None,
    symbology: Symbology = Symbology.QR,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[Result]:
    """Read every picture and video frame named, in order.

    `status` is `read`, `failed` (with a reason) or `error` (the file can't be opened). Without a
    codebook only format and check digits are held. `any_code` also returns codes that are no
    studio cards, of every kind of symbol. `clock` gives seconds.

    Raises:
        DecoderMissingError: a decoder does not work on this machine.
    """
    silence_opencv()
    prove_decoders(load_decoders(Symbology.QR))
    symbologies = tuple(Symbology) if any_code else (symbology,)
    book = codebook or Codebook()
    for name, image in _pictures(paths):
        started_s = clock()
        if image is None:
            yield unreadable(Path(name))
            continue
        result = _read(image, name=name, book=book, symbologies=symbologies, any_code=any_code)
        result["ms"] = round((clock() - started_s) * 1000, 2)
        yield result


def _pictures(paths: Iterable[Path]) -> Iterator[tuple[str, MatLike | None]]:
    for path in paths:
        if path.is_dir():
            yield from folder_pictures(path)
        elif path.suffix.lower() in IMAGE_SUFFIXES or not path.is_file():
            yield str(path), read_image(path)
        else:
            try:
                yield from video_pictures(path)
            except CameraError:
                yield str(path), None


def _read(
    image: MatLike,
    *,
    name: str,
    book: Codebook,
    symbologies: tuple[Symbology, ...],
    any_code: bool,
) -> Result:
    reason: Reason | None = None
    for symbology in symbologies:
        # Every picture stands for itself: a reader that remembers would call it unchanged.
        reader = Reader(
            load_decoders(symbology),
            symbology=symbology,
            budget_s=FILE_BUDGET_S,
            thorough=any_code,
        )
        try:
            sighting = reader.look(image, Effort.EXPLAIN)
        except cv2.error:
            return unreadable(Path(name))
        payload, failed = _answer(sighting, book=book, any_code=any_code)
        if payload is not None:
            return _result(name, status="read", payload=payload, card=_card(book, payload))
        reason = reason or failed
    return _result(name, status="failed", reason=reason.value if reason else None)


def _answer(
    sighting: Sighting, *, book: Codebook, any_code: bool
) -> tuple[str | None, Reason | None]:
    """Return the one text that holds, or the reason why there is none."""
    findings = {reading.text: book.look_up(reading.text) for reading in sighting.readings}
    good = [text for text, finding in findings.items() if _holds(finding, any_code=any_code)]
    if len(good) == 1:
        return good[0], None
    if len(good) > 1 or sighting.cards_in_view > 1:
        return None, Reason.TWO_CARDS
    verdicts = {finding.verdict for finding in findings.values()}
    for verdict, reason in _REASONS.items():
        if verdict in verdicts:
            return None, reason
    if Verdict.FOREIGN_SYMBOLOGY in verdicts or sighting.foreign:
        return None, Reason.FOREIGN_SYMBOLOGY
    return None, Reason.UNREADABLE if sighting.code_in_view or verdicts else Reason.NO_CODE


def _holds(finding: Finding, *, any_code: bool) -> bool:
    return any_code or finding.verdict is Verdict.KNOWN


def _card(book: Codebook, payload: str) -> str | None:
    """Return rank and suit, or the tile's two ends; None when the text is neither's."""
    finding = book.look_up(payload)
    if finding.printed is None or finding.verdict is Verdict.STAFF_BADGE:
        return None
    return finding.printed.piece.code


def _result(
    name: str,
    *,
    status: str,
    payload: str | None = None,
    card: str | None = None,
    reason: str | None = None,
    ms: float = 0.0,
) -> Result:
    return Result(file=name, status=status, payload=payload, card=card, reason=reason, ms=ms)


def unreadable(path: Path) -> Result:
    """Return the result of a file that can't be opened."""
    return _result(str(path), status="error", reason="not_a_picture")


def as_json_line(result: Result) -> str:
    """Return one result for machines."""
    return json.dumps(result, ensure_ascii=False)


TABLE_HEAD = f"{'status':<7} {'card':<5} {'payload':<14} {'reason':<18} {'ms':>7}  file"


def as_table_line(result: Result) -> str:
    """Return one result for people, in the columns of TABLE_HEAD."""
    return (
        f"{result['status']:<7} {result['card'] or '-':<5} {result['payload'] or '-':<14} "
        f"{result['reason'] or '-':<18} {result['ms']:>7.1f}  {result['file']}"
    )
