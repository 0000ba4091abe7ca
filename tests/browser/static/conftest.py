"""A bare page over the shipped assets, in a real Chromium: scripts run as they will for people."""

import functools
import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

STATIC = Path(__file__).parents[3] / "static"
BLANK = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>bare</title>
<script type="application/json" id="messages">{"common.cancel": "Cancel",
"card.none": "none", "card.down": "down", "card.name": "{rank} of {suit}", "card.suit.S": "spades",
"play.bets": "{count} bets", "play.bets_one": "{count} bet", "error.balance_short":
"needs {needed}, have {balance}", "error.balance_short_plain": "too low",
"error.unanswered": "no answer", "error.unknown": "not possible ({status})"}</script>
<div id="status" role="status"></div></html>"""


class _Assets(http.server.SimpleHTTPRequestHandler):
    """Serves the assets as they are, and one page that loads nothing by itself."""

    def do_GET(self) -> None:
        if self.path != "/":
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(BLANK)))
        self.end_headers()
        self.wfile.write(BLANK)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def assets() -> Iterator[str]:
    """Address of the assets."""
    handler = functools.partial(_Assets, directory=str(STATIC))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture
def bare(chromium: Browser, assets: str) -> Iterator[Page]:
    """The bare page."""
    with chromium.new_context() as context:
        page = context.new_page()
        page.goto(assets)
        yield page


@pytest.fixture
def run(bare: Page) -> Callable[..., object]:
    """Run a script's body in the page: `m` is the named module, `arg` what is passed on."""

    def evaluate(module: str, body: str, arg: object = None) -> object:
        script = f"""async (arg) => {{
          const m = await import("/js/{module}");
          {body}
        }}"""
        return bare.evaluate(script, arg)

    return evaluate
