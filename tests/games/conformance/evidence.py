"""What a registered game must bring besides its code, and where it lies."""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]

SHARED_VECTORS = ROOT.parent / "shared" / "games" / "vectors.json"
"""The vectors of all games, where the material of the project lies beside it."""


def paths(code: str, root: Path = ROOT) -> dict[str, Path]:
    """Return the evidence of a game: vectors, reference figures, golden rounds."""
    return {
        "vectors": root / "tests" / "data" / f"vectors_{code}.json",
        "reference": root / "tests" / "games" / code / "reference.json",
        "golden rounds": root / "tests" / "games" / code / "golden.json",
    }


def missing(code: str, root: Path = ROOT) -> list[str]:
    """Return what a game lacks: no file, or a file with nothing in it."""
    return [
        what
        for what, path in paths(code, root).items()
        if not path.is_file() or not entries(what, json.loads(path.read_text()))
    ]


def entries(what: str, content: Any) -> list[Any]:
    """Return the entries of one kind of evidence."""
    key = {"vectors": "vectors", "reference": "returns", "golden rounds": "rounds"}[what]
    found = content.get(key, [])
    assert isinstance(found, list)
    return found


def load(code: str, what: str) -> list[Any]:
    """Return the entries of a game's evidence."""
    return entries(what, json.loads(paths(code)[what].read_text()))
