"""The studio's entrance: the web application for gunicorn, and the command line.

Nothing runs at import, and little is imported: `app.py rtp` waits for no web server.
"""

from typing import TYPE_CHECKING

import click

from studio.cli.lines import LazyGroup

if TYPE_CHECKING:
    from flask import Flask

    from studio.settings import Settings

COMMANDS = {
    "audit": "studio.cli.audits:audit",
    "backup": "studio.cli.backups:backup",
    "bench": "studio.cli.bench:bench",
    "cards": "studio.cli.cards:cards",
    "demo": "studio.cli.demo:demo",
    "export": "studio.cli.export:export",
    "prune": "studio.cli.audits:prune",
    "restore": "studio.cli.backups:restore",
    "rtp": "studio.cli.games:rtp",
    "rules": "studio.cli.games:rules",
    "scan": "studio.cli.scan:scan",
    "serve": "studio.cli.serve:serve",
    "simulate": "studio.cli.simulate:simulate",
    "verify": "studio.cli.verify:verify",
}
"""Name of a command -> the module and the name in it; imported when it is asked for."""


def create_app(settings: "Settings | None" = None, *, async_mode: str = "threading") -> "Flask":
    """Return the web application over the database that the settings name.

    Args:
        settings: checked settings; else they are loaded from file and environment.
        async_mode: `gevent` inside a patched gunicorn worker.

    Raises:
        SettingsError: the settings can't be used.
        MalformedError: the database can't be reached.
    """
    from studio.joining import make_app

    return make_app(settings, async_mode=async_mode)


@click.group(cls=LazyGroup, lazily=COMMANDS)
def main() -> None:
    """Back office of a live-dealer studio."""


if __name__ == "__main__":
    main()
