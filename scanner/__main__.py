"""`python -m scanner --config FILE.toml`: run one scanner until SIGTERM or Ctrl-C."""

import argparse
import logging
import os
import signal
import sqlite3
import sys
import threading
from pathlib import Path

import structlog

from scanner.camera import CameraError, silence_opencv
from scanner.decode import DecoderMissingError
from scanner.service import run_scanner
from scanner.settings import SettingsError, device_key, load_settings


def main(arguments: list[str] | None = None) -> int:
    """Run the scanner and return the exit code: 0 after a clean end, 1 with one line on stderr."""
    parser = argparse.ArgumentParser(prog="python -m scanner", description="Read cards.")
    parser.add_argument("--config", type=Path, required=True, help="settings, a TOML file")
    options = parser.parse_args(arguments)
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
        settings = load_settings(options.config)
        run_scanner(settings, key=device_key(dict(os.environ)), stop=stop)
    except (SettingsError, CameraError, DecoderMissingError) as error:
        sys.stderr.write(f"scanner: {error}\n")
        return 1
    except sqlite3.Error as error:
        sys.stderr.write(f"scanner: uplink.queue can't be used: {error}.\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
