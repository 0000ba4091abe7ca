"""Browser windows that remember everything: frames, answers, and whatever went wrong."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Locator,
    Page,
    Request,
    Response,
    WebSocket,
    WebSocketRoute,
    expect,
)

from tests.browser.house import PASSWORD, House

PATIENCE_MS = 10_000
ABORTED = "net::ERR_ABORTED"
"""A page that is left gives up its own requests: that is no failure."""
LIVE = re.compile(r"/socket\.io/")
OFFLINE = re.compile(r"ERR_INTERNET_DISCONNECTED|ERR_NETWORK_CHANGED|WebSocket")


@dataclass
class Window:
    """One person's page, in a browser context of its own."""

    context: BrowserContext
    page: Page
    url: str
    troubles: list[str] = field(default_factory=list)
    frames: list[str] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    refusals: set[int] = field(default_factory=set)
    """Statuses that this test provokes."""
    offline: bool = False
    """Whether this test takes the network away."""

    def __post_init__(self) -> None:
        """Listen to everything the page says."""
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.troubles.append(f"page error: {error}"))
        self.page.on("requestfailed", self._failed)
        self.page.on("response", self._answered)
        self.page.on("websocket", self._socket)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type not in {"error", "warning"}:
            return
        provoked = any(f"status of {status}" in message.text for status in self.refusals)
        if provoked or (self.offline and OFFLINE.search(message.text)):
            return
        self.troubles.append(f"console {message.type}: {message.text}")

    def _failed(self, request: Request) -> None:
        failure = request.failure or ""
        if failure != ABORTED and not (self.offline and OFFLINE.search(failure)):
            self.troubles.append(f"failed: {request.method} {request.url} {failure}")

    def _answered(self, response: Response) -> None:
        self.responses.append(response)
        if response.status >= 400 and response.status not in self.refusals:
            self.troubles.append(f"{response.status}: {response.request.method} {response.url}")

    def _socket(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: self.frames.append(_text(frame)))
        socket.on("framesent", lambda frame: self.frames.append(_text(frame)))

    # What a person does ------------------------------------------------------------------------

    def open(self, path: str) -> "Window":
        """Go to a page of the studio."""
        self.page.goto(self.url + path)
        return self

    def log_in(self, name: str) -> "Window":
        """Fill in the login form."""
        self.open("/login")
        self("username").fill(name)
        self("password").fill(PASSWORD)
        self("login").click()
        expect(self("who")).to_be_visible()
        return self

    def __call__(self, testid: str) -> Locator:
        """Find a part of the page by its test name."""
        return self.page.get_by_test_id(testid)

    @property
    def dialog(self) -> Locator:
        """The question that the page asks now."""
        return self.page.locator("dialog[open]")

    @property
    def cancel(self) -> Locator:
        """The way out of the question."""
        return self.dialog.locator(".dialog-actions button[type=button]")

    def confirm(self) -> None:
        """Say yes to the question."""
        self.dialog.locator(".dialog-actions button[type=submit]").click()

    def primary(self) -> None:
        """Press the key of the station's big button, once it takes presses."""
        expect(self("primary")).to_be_enabled()
        self.page.keyboard.press("F6")

    def live(self) -> "Window":
        """Wait until the page follows its table."""
        expect(self("connection")).to_have_attribute("data-state", "live")
        return self

    def tapped_lines(self) -> list[WebSocketRoute]:
        """Return a list that every live line of this page joins as it opens, to be cut."""
        lines: list[WebSocketRoute] = []

        def tap(socket: WebSocketRoute) -> None:
            server = socket.connect_to_server()
            socket.on_message(server.send)
            server.on_message(socket.send)
            lines.append(socket)

        self.offline = True
        self.page.route_web_socket(LIVE, tap)
        return lines

    # What was said -----------------------------------------------------------------------------

    def heard(self) -> str:
        """Return every frame, every answer and the page as it is, as one text."""
        parts = list(self.frames)
        for response in self.responses:
            if "/static/" in response.url or response.status in {204, 302, 303}:
                continue
            with suppress(Error):  # a page that was left takes its answers with it
                parts.append(response.text())
        return "\n".join([*parts, self.page.content()])

    def forget(self) -> None:
        """Start the record anew."""
        self.frames.clear()
        self.responses.clear()


def _text(frame: Any) -> str:
    return frame if isinstance(frame, str) else bytes(frame).decode("utf-8", "replace")


@dataclass
class Windows:
    """Opens windows and closes them all."""

    browser: Browser
    house: House
    opened: list[Window] = field(default_factory=list)

    def new(self, *, width: int = 1280, height: int = 800, **options: Any) -> Window:
        """Open an empty window."""
        context = self.browser.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(PATIENCE_MS)
        window = Window(context=context, page=context.new_page(), url=self.house.url)
        self.opened.append(window)
        return window

    def of(self, name: str, path: str, **options: Any) -> Window:
        """Open a page for somebody who is logged in already."""
        window = self.new(**options)
        cookies = self.house.door(name).http.cookies
        window.context.add_cookies(
            [
                {"name": str(one.name), "value": str(one.value), "url": self.house.url}
                for one in cookies
            ]
        )
        return window.open(path)

    def close(self) -> list[str]:
        """Close all; return what went wrong in any of them."""
        troubles = [trouble for window in self.opened for trouble in window.troubles]
        for window in self.opened:
            window.context.close()
        self.opened.clear()
        return troubles


@contextmanager
def closing(windows: Windows) -> Iterator[Windows]:
    """Close the windows at the end; whatever a console said fails the test."""
    try:
        yield windows
    except BaseException:
        windows.close()
        raise
    troubles = windows.close()
    assert not troubles, "\n".join(troubles)
