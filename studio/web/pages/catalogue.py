"""The translation catalogue: read from the .po files themselves, once per process.

Compiled catalogues would be a second copy that can be forgotten; reading both languages takes
some tens of milliseconds at the start. Message ids are keys (`play.balance`), not English
sentences, so that a wording can change in one place.
"""

import io
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import Translations
from flask_babel import Babel, Domain, get_locale  # type: ignore[import-untyped]

LANGUAGES = ("en", "ja")
"""The first is the one shown when nothing else is known."""

TRANSLATIONS = Path(__file__).resolve().parent.parent / "translations"


@cache
def catalogue(language: str) -> Catalog:
    """Return the catalogue of a language.

    Raises:
        FileNotFoundError: the language has no catalogue: the installation is broken.
    """
    path = TRANSLATIONS / language / "LC_MESSAGES" / "messages.po"
    with path.open("rb") as po_file:
        return read_po(po_file, locale=language)


@cache
def _translations(language: str) -> Translations:
    compiled = io.BytesIO()
    write_mo(compiled, catalogue(language))
    compiled.seek(0)
    return Translations(compiled)


@cache
def _texts(language: str) -> Mapping[str, str]:
    return {str(message.id): str(message.string) for message in catalogue(language) if message.id}


@cache
def messages(language: str, prefixes: tuple[str, ...]) -> Mapping[str, str]:
    """Return the texts whose key starts with one of `prefixes`, for a page's data block."""
    return {key: text for key, text in _texts(language).items() if key.split(".", 1)[0] in prefixes}


class _PoDomain(Domain):  # type: ignore[misc]  # flask_babel has no type information
    """A domain that takes its texts from the .po files."""

    def get_translations(self) -> Translations:
        """Return the texts of the request's language."""
        locale = get_locale()
        language = locale.language if locale is not None else LANGUAGES[0]
        return _translations(language if language in LANGUAGES else LANGUAGES[0])


class PoBabel(Babel):  # type: ignore[misc]  # flask_babel has no type information
    """Flask-Babel over the .po files."""

    @property
    def domain_instance(self) -> Domain:
        """The one domain of the studio."""
        return _PoDomain()
