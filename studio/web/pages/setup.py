"""Joins the pages to an application: routes, language, theme, error pages."""

from collections.abc import Mapping
from typing import Final

from flask import Flask, Response, render_template, request, session
from flask.typing import ResponseReturnValue
from flask_babel import get_locale  # type: ignore[import-untyped]
from flask_login import current_user
from werkzeug.exceptions import HTTPException

from studio.domain.game import Json
from studio.web.pages.catalogue import LANGUAGES, PoBabel, catalogue, messages
from studio.web.pages.routes import pages
from studio.web.studio import studio

LANGUAGE_KEY: Final = "language"
"""Where the session keeps a language chosen on a page."""

THEME_COOKIE: Final = "theme"
THEMES: Final = ("dark", "light")
ERROR_PAGES: Final = (400, 401, 403, 404, 405, 409, 413, 429, 500, 502, 503)
"""Errors that have a page of their own; others show the page of 500."""


def init_pages(app: Flask) -> None:
    """Add the page routes, the catalogues and the error pages to `app`.

    Errors of addresses under /api, /metrics and the like are left to their own handlers: only a
    request that would read HTML gets a page.
    """
    for language in LANGUAGES:
        catalogue(language)  # a missing or broken catalogue stops the start, not the first page
    PoBabel(app, default_locale=LANGUAGES[0], locale_selector=choose_language)
    app.register_blueprint(pages)
    app.context_processor(_page_values)
    app.register_error_handler(HTTPException, _error_page)


def choose_language() -> str:
    """Return the language of this request: chosen, the person's own, or the browser's."""
    chosen = session.get(LANGUAGE_KEY)
    if chosen in LANGUAGES:
        return str(chosen)
    own = getattr(current_user, "language", None)
    if own in LANGUAGES:
        return str(own)
    return request.accept_languages.best_match(LANGUAGES, default=LANGUAGES[0]) or LANGUAGES[0]


def page_language() -> str:
    """Return the language this page is written in."""
    locale = get_locale()
    return locale.language if locale is not None else LANGUAGES[0]


def _page_values() -> dict[str, Json]:
    theme = request.cookies.get(THEME_COOKIE, "")
    person = current_user if getattr(current_user, "is_authenticated", False) else None
    return {
        "language": page_language(),
        "languages": LANGUAGES,
        "theme": theme if theme in THEMES else "",
        "time_zone": studio().settings.time_zone,
        "person": person,
        "role": str(person.role) if person is not None else "",
        "play_money": studio().play is not None,
        "page_messages": _page_messages,
        "other_messages": _other_messages,
    }


def _page_messages(*prefixes: str) -> Mapping[str, str]:
    """Texts for a page's script, in the page's language."""
    return messages(page_language(), prefixes)


def _other_messages(*prefixes: str) -> Mapping[str, str]:
    """The same texts in the other language: the dealer station shows both."""
    other = next(name for name in LANGUAGES if name != page_language())
    return messages(other, prefixes)


def _error_page(error: HTTPException) -> ResponseReturnValue:
    if isinstance(error.response, Response):
        return error.response
    if error.code is not None and error.code < 400:
        return error
    if request.path.startswith("/api/"):
        return error
    status = error.code if error.code in ERROR_PAGES else 500
    return render_template("error.html", status=status), error.code or 500
