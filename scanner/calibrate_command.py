"""`python -m scanner calibrate`: the set-up as a page, or once in the terminal."""

import argparse
import json
import sys
import threading
from dataclasses import asdict
from pathlib import Path

from scanner.calibrate import Calibrator, State
from scanner.calibrate_page import Page, serving
from scanner.calibration import Verdict
from scanner.calibration_texts import LANGUAGES, figure_lines, say
from scanner.child import ChildReader
from scanner.clock import monotonic_ms
from scanner.service import open_camera, open_reader
from scanner.settings import FileCamera, FolderCamera, ScannerSettings

HOST, PORT = "127.0.0.1", 8765


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    options = argparse.ArgumentParser(
        prog="python -m scanner calibrate",
        description="Help to aim, focus and light the camera: lay the test card of "
        "`python app.py cards print --test-card -o F.pdf` under it and follow the page. "
        "Nothing is sent to the studio, and no device key is needed.",
    )
    options.add_argument("--config", type=Path, required=True, help="the scanner's settings")
    options.add_argument("--host", default=HOST, help=f"address of the page [default: {HOST}]")
    options.add_argument("--port", type=int, default=PORT, help=f"[default: {PORT}; 0: a free one]")
    options.add_argument(
        "--once",
        action="store_true",
        help="no page: measure for some seconds, say the verdict; exit 0 only when ready",
    )
    options.add_argument("--json", action="store_true", help="with --once, for machines")
    options.add_argument("--lang", choices=LANGUAGES, default=LANGUAGES[0], help="with --once")
    return options


def calibrate(
    settings: ScannerSettings, options: argparse.Namespace, *, stop: threading.Event
) -> int:
    """Run the set-up and return the exit code.

    Raises:
        CameraError: a file or folder is not there.
        DecoderMissingError: a decoder does not work on this machine.
        PageError: the page's address can't be used.
    """
    symbology = settings.read.symbology
    reader = open_reader(settings.read)
    camera = open_camera(settings.camera)
    live = not isinstance(settings.camera, FileCamera | FolderCamera)
    calibrator = Calibrator(camera.source, reader, symbology=symbology, live=live)
    try:
        if options.once:
            state = calibrator.run_once(stop, now_ms=monotonic_ms)
            return _say_once(state, options, profile=symbology.value)
        page = Page(calibrator, symbology=symbology)
        with serving(page, host=options.host, port=options.port) as address:
            sys.stderr.write(f"Open {address} and lay the test card under the camera.\n")
            sys.stderr.flush()
            calibrator.run(stop)
    finally:
        camera.close()
        if isinstance(reader, ChildReader):
            reader.close()
    return 0


def _say_once(state: State, options: argparse.Namespace, *, profile: str) -> int:
    ready = state.verdict is Verdict.READY
    text = say(state.verdict, state.figures, language=options.lang, profile=profile)
    if options.json:
        sys.stdout.write(json.dumps(_as_json(state, text=text), ensure_ascii=False) + "\n")
    else:
        for line in figure_lines(state.figures, language=options.lang):
            need = f"  ({line.need})" if line.need else ""
            sys.stdout.write(f"{line.label}: {line.value}{need}\n")
        sys.stdout.write(f"{text}\n")
    return 0 if ready else 1


def _as_json(state: State, *, text: str) -> dict[str, object]:
    figures = state.figures
    rate = figures.frames_per_s if figures else None
    measured = asdict(figures.measures) if figures and figures.measures else {}
    return {
        "verdict": state.verdict.value,
        "ready": state.verdict is Verdict.READY,
        "text": text,
        "camera": state.camera.value,
        "frames": figures.frames if figures else 0,
        "read": figures.read if figures else 0,
        "frames_per_s": None if rate is None else round(rate, 1),
        "cards": figures.cards if figures else 0,
        "lies": figures.lies.value if figures else None,
        **{
            name: round(value, 3) if isinstance(value, float) else value
            for name, value in measured.items()
        },
    }
