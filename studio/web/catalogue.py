"""Checks the translation catalogue: `python -m studio.web.catalogue`, a part of `make check`.

Every language has every text, filled, with the same values in braces, and every key that a
template or a script names is there.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import click

from studio.web.pages.catalogue import LANGUAGES, catalogue

ROOT: Final = Path(__file__).resolve().parents[2]
IN_TEMPLATES: Final = re.compile(r"""_\(\s*(["'])([a-z_]+(?:\.[A-Za-z0-9_]+)+)\1\s*[,)]""")
IN_SCRIPTS: Final = re.compile(r"""\b(?:t|tn)\(\s*(["'])([a-z_]+(?:\.[A-Za-z0-9_]+)+)\1\s*[,)]""")
VALUE: Final = re.compile(r"\{\w+\}")


def texts(language: str) -> Mapping[str, str]:
    """Return a language's texts by key; a doubtful one counts as missing."""
    return {
        str(message.id): str(message.string)
        for message in catalogue(language)
        if message.id and message.string and not message.fuzzy
    }


def keys_used(root: Path) -> Mapping[str, str]:
    """Return the keys that templates and scripts name in full, with the file that does."""
    found: dict[str, str] = {}
    for pattern, files in (
        (IN_TEMPLATES, sorted((root / "templates").rglob("*.html"))),
        (IN_SCRIPTS, sorted((root / "static" / "js").rglob("*.js"))),
    ):
        for file in files:
            for match in pattern.finditer(file.read_text(encoding="utf-8")):
                found.setdefault(match[2], str(file.relative_to(root)))
    return found


def faults(all_texts: Mapping[str, Mapping[str, str]], used: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong, a line each."""
    first, *others = all_texts
    for language in others:
        for key in sorted(all_texts[first].keys() ^ all_texts[language].keys()):
            absent = language if key in all_texts[first] else first
            yield f"{absent}: {key}: has no text"
        for key in sorted(all_texts[first].keys() & all_texts[language].keys()):
            # "1 bet" may leave the number out in a language that has a singular.
            if not key.endswith("_one") and (
                _values(all_texts[first][key]) != _values(all_texts[language][key])
            ):
                yield f"{language}: {key}: its values in braces differ from {first}"
    for key, file in sorted(used.items()):
        if key not in all_texts[first]:
            yield f"{file}: {key}: is in no catalogue"


def main() -> int:
    """Print the faults; return 1 when there are any."""
    all_texts = {language: texts(language) for language in LANGUAGES}
    found = list(faults(all_texts, keys_used(ROOT)))
    for line in found:
        click.echo(line, err=True)
    click.echo(f"catalogue: {len(all_texts[LANGUAGES[0]])} texts, {len(found)} faults")
    return 1 if found else 0


def _values(text: str) -> frozenset[str]:
    return frozenset(VALUE.findall(text))


if __name__ == "__main__":
    sys.exit(main())
