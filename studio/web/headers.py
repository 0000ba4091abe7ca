"""What every answer says to the browser, and how often one may ask."""

from collections.abc import Callable
from typing import Any, Final

from flask import Blueprint, Flask, Response, request
from flask_limiter import Limiter
from flask_login import current_user
from flask_talisman import Talisman
from flask_wtf import CSRFProtect
from werkzeug.middleware.proxy_fix import ProxyFix

from studio.settings import Settings
from studio.web.guard import device

BODY_BYTES_MAX: Final = 64 * 1024
SELF: Final = "'self'"
NONE: Final = "'none'"
CONTENT_POLICY: Final = {
    "default-src": NONE,
    "script-src": SELF,
    "style-src": SELF,
    "font-src": SELF,
    "img-src": [SELF, "data:"],
    "media-src": SELF,
    "connect-src": SELF,
    "manifest-src": SELF,
    "form-action": SELF,
    "frame-ancestors": NONE,
    "base-uri": NONE,
    "object-src": NONE,
}
"""No inline script or style, nothing from another host."""

FEATURES: Final = {
    "camera": "()",
    "microphone": "()",
    "geolocation": "()",
    "payment": "()",
    "usb": "()",
}
DEVICE_BLUEPRINT: Final = "device"


def init_headers(app: Flask, settings: Settings) -> None:
    """Set cookies, headers and body limits."""
    app.config.update(
        MAX_CONTENT_LENGTH=BODY_BYTES_MAX,
        MAX_FORM_MEMORY_SIZE=BODY_BYTES_MAX,
        SESSION_COOKIE_NAME="studio",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=settings.https,
    )
    if settings.proxies:
        hops = settings.proxies
        proxied = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops, x_host=hops)
        app.wsgi_app = proxied  # type: ignore[method-assign]
    Talisman(
        app,
        force_https=settings.https,
        strict_transport_security=settings.https,
        session_cookie_secure=settings.https,
        session_cookie_samesite="Lax",
        content_security_policy=CONTENT_POLICY,
        permissions_policy=FEATURES,
        frame_options="DENY",
        referrer_policy="same-origin",
    )
    app.after_request(_no_store)


def init_csrf(app: Flask, device_doors: Blueprint) -> None:
    """Ask every POST for the page's token; devices have a key instead of a cookie."""
    app.config.update(WTF_CSRF_TIME_LIMIT=None, WTF_CSRF_HEADERS=["X-CSRFToken"])
    CSRFProtect(app).exempt(device_doors)


def init_limits(app: Flask, settings: Settings) -> Limiter:
    """Limit requests a minute: per person, per device, else per address."""
    rates = settings.rates
    limiter = Limiter(
        key_func=_who,
        app=app,
        default_limits=[f"{rates.reads_per_minute} per minute"],
        storage_uri=settings.redis_url or "memory://",
        in_memory_fallback_enabled=settings.redis_url is not None,
        strategy="fixed-window",
        headers_enabled=False,
    )
    per_person = {
        "wagers.place": rates.wagers_per_minute,
        "wagers.undo": rates.wagers_per_minute,
        "rooms.open_one": rates.wagers_per_minute,
        "rooms.join": rates.wagers_per_minute,
        "rooms.start": rates.wagers_per_minute,
        "rooms.leave": rates.wagers_per_minute,
        "club.buy": rates.wagers_per_minute,
        "club.choose": rates.wagers_per_minute,
        "tables.execute": rates.commands_per_minute,
        "pit.open_picture": rates.commands_per_minute,
        "device.picture": rates.commands_per_minute,
    }
    for endpoint, rate in per_person.items():
        _wrap(app, endpoint, limiter.limit(f"{rate} per minute"))
    _wrap(
        app,
        "login.enter",
        limiter.limit(f"{rates.logins_per_minute} per minute", key_func=_address),
    )
    _wrap(app, "static", limiter.exempt)
    return limiter


def _wrap(app: Flask, endpoint: str, decorate: Callable[[Any], Any]) -> None:
    app.view_functions[endpoint] = decorate(app.view_functions[endpoint])


def _who() -> str:
    if request.blueprint == DEVICE_BLUEPRINT:
        return f"device:{device().name}"
    if current_user.is_authenticated:
        return f"person:{current_user.id}"
    return f"address:{_address()}"


def _address() -> str:
    return request.remote_addr or ""


def _no_store(response: Response) -> Response:
    """Keep balances, tables and pages out of caches; assets may stay."""
    if request.endpoint != "static":
        response.headers["Cache-Control"] = "no-store"
    return response
