"""The set-up as a page on this machine: state as JSON, picture as JPEG, a few fixed files.

Loopback by default: who sees the page sees the table. No script or style in line, nothing from
another host; a page of another site can neither frame this one nor read it by another host name.
"""

import contextlib
import json
import threading
from collections.abc import Iterator, Mapping
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from string import Template
from urllib.parse import parse_qs, urlsplit

from scanner.calibrate import Calibrator
from scanner.calibration import Verdict
from scanner.calibration_texts import LANGUAGES, TEXTS, figure_lines, say
from scanner.layout import Symbology

HERE = Path(__file__).resolve().parent
STATIC = HERE.parent / "static"
FILES: Mapping[str, tuple[Path, str]] = {
    "/calibrate.css": (HERE / "pages" / "calibrate.css", "text/css; charset=utf-8"),
    "/calibrate.js": (HERE / "pages" / "calibrate.js", "text/javascript; charset=utf-8"),
    "/icon.svg": (STATIC / "icon.svg", "image/svg+xml"),
    "/fonts/biz-udpgothic-400.ttf": (HERE / "fonts" / "biz-udpgothic-400.ttf", "font/ttf"),
    "/fonts/inter-latin-wght-normal.woff2": (
        STATIC / "vendor" / "fonts" / "inter-latin-wght-normal.woff2",
        "font/woff2",
    ),
}
"""Everything that can be fetched by name."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' blob:; font-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
REQUEST_TIMEOUT_S = 10.0
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1"})


class PageError(Exception):
    """The page's address can't be used; the message says which."""


class Page:
    """What is answered; knows nothing of sockets."""

    def __init__(self, calibrator: Calibrator, *, symbology: Symbology) -> None:
        """Take what is shown."""
        self._calibrator = calibrator
        self._profile = {"qr": "QR", "code128": "Code 128"}[symbology.value]

    def html(self, language: str) -> str:
        """Return the page in one language."""
        texts = TEXTS[language]
        template = Template((HERE / "pages" / "calibrate.html").read_text(encoding="utf-8"))
        current = ' aria-current="page"'
        words = {name: escape(text) for name, text in texts.items() if "." not in name}
        words |= {
            "profile": escape(texts["profile"].format(profile=self._profile)),
            "language_label": escape(texts["language"]),
            "language": language,
            "english": current if language == "en" else "",
            "japanese": current if language == "ja" else "",
            "lines": "".join(
                f'<div id="line-{line.code}" data-testid="line-{line.code}" data-good="null">'
                f'<dt>{escape(line.label)}</dt><dd class="value">{escape(line.value)}</dd>'
                f'<dd class="need">{escape(line.need)}</dd><dd class="judged"></dd></div>'
                for line in figure_lines(None, language=language)
            ),
        }
        return template.substitute(words)

    def state(self, language: str) -> dict[str, object]:
        """Return verdict and figures in words."""
        state = self._calibrator.state()
        return {
            "verdict": state.verdict.value,
            "ready": state.verdict is Verdict.READY,
            "text": say(state.verdict, state.figures, language=language, profile=self._profile),
            "camera": state.camera.value,
            "frame": state.frame,
            "figures": [
                {"code": line.code, "value": line.value, "need": line.need, "good": line.good}
                for line in figure_lines(state.figures, language=language)
            ],
        }

    def picture(self) -> bytes | None:
        """Return the newest frame as JPEG; None before the first."""
        return self._calibrator.picture()


def language_of(query: str, accepted: str) -> str:
    """Return the language that the address names, else the browser's first that is spoken here."""
    asked = parse_qs(query).get("lang", [""])[0]
    wanted = [asked, *(part.split(";")[0].strip()[:2].lower() for part in accepted.split(","))]
    return next((language for language in wanted if language in LANGUAGES), LANGUAGES[0])


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], page: Page) -> None:
        self.page = page
        self.local = address[0] in {"localhost", "127.0.0.1"}
        super().__init__(address, _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that goes away in the middle of a picture is no error."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = REQUEST_TIMEOUT_S

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not logged."""

    def do_GET(self) -> None:
        """Answer with the page, its state, the picture or a file."""
        name = (self.headers.get("Host") or "").partition(":")[0]
        if self.server.local and name not in LOCAL_NAMES:
            self._give(421, b"", "text/plain")
            return
        address = urlsplit(self.path)
        language = language_of(address.query, self.headers.get("Accept-Language", ""))
        page = self.server.page
        if address.path == "/":
            self._give(200, page.html(language).encode(), "text/html; charset=utf-8")
        elif address.path == "/state":
            self._give(200, json.dumps(page.state(language)).encode(), "application/json")
        elif address.path == "/picture.jpg":
            picture = page.picture()
            self._give(200 if picture else 503, picture or b"", "image/jpeg")
        elif found := FILES.get(address.path):
            self._give_file(*found)
        else:
            self._give(404, b"", "text/plain")

    def _give_file(self, path: Path, kind: str) -> None:
        try:
            self._give(200, path.read_bytes(), kind)
        except FileNotFoundError:
            # The fonts of the studio's pages: without them the system's are used.
            self._give(404, b"", "text/plain")

    def _give(self, status: int, content: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextlib.contextmanager
def serving(page: Page, *, host: str, port: int) -> Iterator[str]:
    """Serve the page from a thread and yield its address; port 0 takes a free one.

    Raises:
        PageError: the address is in use, or not one of this machine.
    """
    try:
        server = _Server((host, port), page)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise PageError(f"The page can't have {host}, port {port}: {why}.") from error
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.1}, name="page", daemon=True
    )
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
