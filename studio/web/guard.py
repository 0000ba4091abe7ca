"""Who may pass which door. A route without a declared audience is closed to everybody."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from typing import Final, TypeVar

from flask import Flask, current_app, g, redirect, request, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user
from werkzeug.exceptions import Forbidden, Unauthorized

from studio.services.people_ports import Person
from studio.services.ports import Role
from studio.settings import Device
from studio.web.studio import studio

View = TypeVar("View", bound=Callable[..., ResponseReturnValue])

EVERYONE: Final = frozenset(Role)
READERS: Final = frozenset({Role.PIT_SUPERVISOR, Role.AUDITOR, Role.ADMINISTRATOR})
"""Roles that see every table, round and wager."""

LOOPBACK: Final = frozenset({"127.0.0.1", "::1"})
_ATTRIBUTE: Final = "studio_audience"


@dataclass(frozen=True, kw_only=True)
class Audience:
    """Whom a route serves: everybody, people of some roles, devices, or this machine."""

    public: bool = False
    roles: frozenset[Role] = frozenset()
    devices: bool = False
    loopback: bool = False


_STATIC: Final = Audience(public=True)
"""Assets hold no secret."""


def allow(*roles: Role) -> Callable[[View], View]:
    """Open a route to people of these roles only."""
    return _declare(Audience(roles=frozenset(roles)))


def public(view: View) -> View:
    """Open a route to everybody, logged in or not."""
    return _declare(Audience(public=True))(view)


def devices_only(view: View) -> View:
    """Open a route to scanners and streams that show their key."""
    return _declare(Audience(devices=True))(view)


def loopback_only(view: View) -> View:
    """Open a route to programs on this machine."""
    return _declare(Audience(loopback=True))(view)


def audience_of(app: Flask, endpoint: str) -> Audience | None:
    """Return whom a route serves; None when it says nothing and is closed."""
    if endpoint == "static":
        return _STATIC
    found = getattr(app.view_functions[endpoint], _ATTRIBUTE, None)
    assert found is None or isinstance(found, Audience)
    return found


def person() -> Person:
    """Return the person of this request, on a route that is open to people."""
    user = current_user.person
    assert isinstance(user, Person)
    return user


def device() -> Device:
    """Return the device of this request, on a route for devices."""
    found = g.device
    assert isinstance(found, Device)
    return found


def init_guard(app: Flask) -> None:
    """Put the guard before everything else that handles a request."""
    app.before_request(_check)


def _declare(audience: Audience) -> Callable[[View], View]:
    def mark(view: View) -> View:
        setattr(view, _ATTRIBUTE, audience)
        return view

    return mark


def _check() -> ResponseReturnValue | None:
    if request.endpoint is None:
        return None  # no such address: 404 or 405 follows
    audience = audience_of(current_app, request.endpoint)
    if audience is None:
        raise Forbidden("This address is open to nobody.")
    if audience.public:
        return None
    if audience.loopback:
        if request.remote_addr not in LOOPBACK:
            raise Forbidden("Only for programs on the studio's own machine.")
        return None
    if audience.devices:
        g.device = _known_device(request.headers.get("X-Device-Key", ""))
        return None
    if not current_user.is_authenticated:
        if request.path.startswith("/api/"):
            raise Unauthorized("Log in first.")
        return redirect(url_for("login.show", next=request.path))
    if person().role not in audience.roles:
        raise Forbidden("Your role may not do this.")
    return None


def _known_device(key: str) -> Device:
    """Return whose key it is; every key is compared, in constant time."""
    shown = sha256(key.encode("utf-8", "surrogateescape")).digest()
    found = None
    for known in studio().known_devices.values():
        if compare_digest(sha256(known.key.encode()).digest(), shown):
            found = known
    if found is None:
        raise Unauthorized("The device key is not known.")
    return found
