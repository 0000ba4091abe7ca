"""Puts the web edge round a studio: one function that joins every part in the right order."""

import os
from dataclasses import dataclass
from pathlib import Path

from flask import Flask
from flask_socketio import SocketIO

from studio.web.api import device_doors, init_api
from studio.web.audits import Audits, audit_process
from studio.web.errors import StudioFlask, init_errors
from studio.web.guard import init_guard
from studio.web.headers import init_csrf, init_headers, init_limits
from studio.web.live import LiveDoor, socket_options
from studio.web.login import init_login
from studio.web.metrics import init_metrics
from studio.web.pages import init_pages
from studio.web.scan_metrics import ScanCollector
from studio.web.studio import EXTENSION, Studio
from studio.web.supervisor import Supervisor

ROOT = Path(__file__).resolve().parents[2]
SUPERVISOR = "studio_supervisor"


@dataclass(frozen=True, kw_only=True)
class Folders:
    """Where templates and assets lie."""

    templates: str
    static: str


def make_edge(studio: Studio, socketio: SocketIO, *, folders: Folders, async_mode: str) -> Flask:
    """Return the application that serves `studio`.

    Args:
        studio: the use cases behind the doors.
        socketio: the socket server its publisher emits through, not yet bound to an application.
        folders: of templates and assets.
        async_mode: `gevent` under gunicorn, `threading` elsewhere.
    """
    settings = studio.settings
    app = StudioFlask("studio", template_folder=folders.templates, static_folder=folders.static)
    app.secret_key = settings.secret_key.get_secret_value()
    app.json.sort_keys = False  # type: ignore[attr-defined]  # Flask's own provider has it
    app.extensions[EXTENSION] = studio
    metrics = init_metrics(app)
    metrics.registry.register(ScanCollector(studio.links, settings.tables))
    init_errors(app)
    init_guard(app)
    init_headers(app, settings)
    init_login(app)
    init_pages(app)
    init_api(app)
    init_csrf(app, device_doors)
    init_limits(app, settings)
    socketio.init_app(app, **socket_options(redis_url=settings.redis_url, async_mode=async_mode))
    live = LiveDoor(studio, metrics)
    socketio.on_namespace(live)
    app.extensions[SUPERVISOR] = Supervisor(
        socketio=socketio,
        clockwork=studio.clockwork,
        live=live,
        audits=_audits(studio, socketio) if settings.audit_hours else None,
    )
    return app


def _audits(studio: Studio, socketio: SocketIO) -> Audits:
    return Audits(
        run=audit_process(
            ROOT, database_url=studio.settings.database_url, environment=dict(os.environ)
        ),
        every_hours=studio.settings.audit_hours,
        sleep=lambda seconds: socketio.sleep(round(seconds)),
        tell=lambda: studio.tables.publisher.pit({"kind": "alarm", "table": None}),
    )
