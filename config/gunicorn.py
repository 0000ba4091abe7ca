"""How gunicorn runs the studio: gevent, the application loaded in the worker, not before."""
# ruff: noqa: E402  the patch comes before anything that could import a socket or psycopg

from gevent import monkey

monkey.patch_all()

from pathlib import Path
from typing import Any

from studio.settings import load_settings

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  where gunicorn's heart-beat file costs no disk

_settings = load_settings()
_host = f"[{_settings.host}]" if ":" in _settings.host else _settings.host

wsgi_app = "app:create_app(async_mode='gevent')"
bind = f"{_host}:{_settings.port}"
workers = 1  # the watch over links and the live connections belong to one process
worker_class = "gevent"
worker_connections = 4000
preload_app = False
control_socket_disable = True  # one socket would be shared by all gunicorns of a user
worker_tmp_dir = str(SHARED_MEMORY) if SHARED_MEMORY.is_dir() else None
graceful_timeout = 2  # requests take milliseconds; what is still open then is an idle connection
timeout = 60
keepalive = 75
accesslog = None
errorlog = "-"
loglevel = "warning"
proc_name = "studio"


def post_worker_init(worker: Any) -> None:
    """Start the tables' clockwork once the worker can serve."""
    worker.wsgi.extensions["studio_supervisor"].start()
