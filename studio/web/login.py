"""Logging in and out. The cookie holds a token; who it belongs to, the database says each time."""

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from flask import Blueprint, Flask, Request, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue
from flask_login import LoginManager, current_user

from studio.domain.errors import MalformedError, RefusedError
from studio.services.people import LoggedIn
from studio.services.people_ports import Person
from studio.web.errors import status_of
from studio.web.guard import public
from studio.web.studio import studio

SESSION_KEY: Final = "login"
KEPT_KEYS: Final = ("language",)
"""What a session keeps over logging in and out."""

FIELD_CHARS_MAX: Final = 300

BY_ITSELF: Final = "X-By-Itself"
"""Header of what a page asks without its person doing anything: it keeps no session open."""

SOCKET_PATH: Final = "/socket.io"
"""A screen connects again by itself as well."""

login = Blueprint("login", __name__)


@dataclass(frozen=True, kw_only=True)
class User:
    """The person of a request, as flask-login and the templates want it."""

    person: Person
    is_authenticated: bool = field(default=True, init=False)
    is_active: bool = field(default=True, init=False)
    is_anonymous: bool = field(default=False, init=False)

    def get_id(self) -> str:
        """Return the person's id."""
        return str(self.person.id)

    @property
    def id(self) -> int:
        """The person's id."""
        return self.person.id

    @property
    def name(self) -> str:
        """The name to show."""
        return self.person.display_name

    @property
    def role(self) -> str:
        """The role's code."""
        return self.person.role.value

    @property
    def language(self) -> str:
        """The language the person chose."""
        return self.person.language


def init_login(app: Flask) -> None:
    """Recognise people by their cookie; add the login pages."""
    manager = LoginManager()
    manager.session_protection = None  # the token is server-side and bound to nothing else
    manager.request_loader(_load)
    manager.init_app(app, add_context_processor=True)
    app.register_blueprint(login)


def _load(asked: Request) -> User | None:
    token = session.get(SESSION_KEY)
    if not isinstance(token, str):
        return None
    by_itself = BY_ITSELF in asked.headers or asked.path.startswith(SOCKET_PATH)
    person = studio().people.recognise(token, keeps=not by_itself)
    return User(person=person) if person is not None else None


@login.get("/login")
@public
def show() -> ResponseReturnValue:
    """Show the form; whoever is logged in already goes on."""
    if current_user.is_authenticated:
        return redirect(own_address(request.args.get("next", "")))
    return _form()


@login.post("/login")
@public
def enter() -> ResponseReturnValue:
    """Log in by name and password, or by badge and PIN."""
    try:
        logged_in = _recognised()
    except (RefusedError, MalformedError) as error:
        status = status_of(error)
        return _form(error=error.code), status
    _begin(logged_in.token)
    return redirect(own_address(request.values.get("next", "")), code=303)


@login.post("/logout")
@public
def leave() -> ResponseReturnValue:
    """Log out; harmless for whoever is not logged in."""
    token = session.get(SESSION_KEY)
    if isinstance(token, str):
        studio().people.logout(token)
    _begin(None)
    return redirect(url_for("login.show"), code=303)


def own_address(address: str) -> str:
    """Return `address` when it leads nowhere but into this site, else the start page."""
    parts = urlsplit(address)
    inside = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if inside and not parts.scheme and not parts.netloc else "/"


def _recognised() -> LoggedIn:
    people = studio().people
    address = request.remote_addr or ""
    badge = _field("badge")
    if badge:
        return people.login_by_badge(badge, _field("pin"), address=address)
    return people.login_by_password(_field("username"), _field("password"), address=address)


def _field(name: str) -> str:
    value = request.form.get(name, "")
    if len(value) > FIELD_CHARS_MAX or not value.isprintable():
        raise MalformedError("login_malformed", "A field of the login is too long or unreadable.")
    return value


def _begin(token: str | None) -> None:
    """Start the cookie anew, so that nothing of the former person stays in it."""
    kept = {key: session[key] for key in KEPT_KEYS if key in session}
    session.clear()
    session.update(kept)
    if token is not None:
        session[SESSION_KEY] = token


def _form(*, error: str | None = None) -> str:
    return render_template(
        "login.html",
        error=error,
        way="badge" if request.form.get("way") == "badge" else "password",
        next=own_address(request.values.get("next", "")),
    )
