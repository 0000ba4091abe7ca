"""`python -m scanner --config FILE.toml`: run one scanner until SIGTERM or Ctrl-C.

`python -m scanner calibrate --config FILE.toml` helps to set its camera up.
"""

import argparse
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import structlog

from scanner import calibrate_command
from scanner.calibrate_page import PageError
from scanner.camera import CameraError, silence_opencv
from scanner.decode import DecoderMissingError
from scanner.service import run_scanner
from scanner.settings import ScannerSettings, SettingsError, device_key, load_settings


def main(arguments: list[str] | None = None) -> int:
    """Run the scanner and return the exit code: 0 after a clean end, 1 with one line on stderr."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["calibrate"]:
        options = calibrate_command.parser().parse_args(arguments[1:])
        run: Callable[..., int] = partial(calibrate_command.calibrate, options=options)
    else:
        options = _parser().parse_args(arguments)
        run = _run
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    silence_opencv()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        return run(load_settings(options.config), stop=stop)
    except (SettingsError, CameraError, DecoderMissingError, PageError) as error:
        sys.stderr.write(f"scanner: {error}\n")
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scanner",
        description="Read cards. `python -m scanner calibrate --help`: set the camera up.",
    )
    parser.add_argument("--config", type=Path, required=True, help="settings, a TOML file")
    return parser


def _run(settings: ScannerSettings, *, stop: threading.Event) -> int:
    run_scanner(settings, key=device_key(dict(os.environ)), stop=stop)
    return 0


if __name__ == "__main__":
    sys.exit(main())
