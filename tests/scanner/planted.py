"""Readers that die, hang or fail as the frame tells them; they run in the decoding child."""

import ctypes
import os
import signal
import threading
from pathlib import Path

import numpy as np

from scanner.sighting import Effort, Sighting

GOOD, SEGFAULT, HANG, RAISE, EXIT, ABORT = range(6)
"""The level of the frame's first pixel."""


class PlantedReader:
    """Answers with what it saw: the sum of the frame's bytes as the number of cards."""

    def look(self, image, effort=Effort.READ):
        match int(image.flat[0]) if image.size else GOOD:
            case 1:
                ctypes.string_at(0)
            case 2:
                threading.Event().wait()
            case 3:
                raise RuntimeError("149008012345")
            case 4:
                os._exit(3)
            case 5:
                os.abort()
        return Sighting(cards_in_view=int(image.sum(dtype=np.int64)), still=effort is Effort.WATCH)


def make_planted():
    return PlantedReader()


class DeafReader:
    """Hangs in C with everything blocked that could end it politely."""

    def look(self, image, effort=Effort.READ):
        Path(os.environ["HANGING"]).write_text(str(os.getpid()))
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
        # Holds the interpreter's lock for ever, as a library in an endless loop does.
        ctypes.PyDLL(None).pause()


def make_deaf():
    return DeafReader()


def make_nothing():
    raise RuntimeError("this reader can't be made")
