"""The background work of one worker: the clockwork, the sweep of ended sessions, audits."""

from collections.abc import Callable
from typing import Final

import structlog
from flask_socketio import SocketIO

from studio.services.clockwork import Clockwork
from studio.services.retry import StorageError
from studio.web.audits import Audits
from studio.web.live import LiveDoor

TURN_S: Final = 0.1
"""How late a window may be found closed; the database has refused wagers since the deadline."""

SWEEP_TURNS: Final = 300
AFTER_TROUBLE_S: Final = 1.0

log = structlog.get_logger(__name__)


class Supervisor:
    """Runs until the process ends; trouble in one turn never ends it."""

    def __init__(
        self,
        *,
        socketio: SocketIO,
        clockwork: Clockwork,
        live: LiveDoor,
        audits: Audits | None = None,
    ) -> None:
        """Keep the parts; without `audits` nothing is audited on a schedule."""
        self._socketio = socketio
        self._sleep: Callable[[float], None] = socketio.sleep  # type: ignore[assignment]
        self._clockwork = clockwork
        self._live = live
        self._audits = audits
        self._started = False

    def start(self) -> None:
        """Start once, beside the requests."""
        if not self._started:
            self._started = True
            self._socketio.start_background_task(self._run)
            if self._audits is not None:
                self._socketio.start_background_task(self._audits.forever)

    def turn(self, number: int) -> None:
        """Do what one turn does."""
        self._clockwork.turn()
        if number % SWEEP_TURNS == 0:
            self._live.sweep()

    def _run(self) -> None:
        number = 0
        while True:
            number += 1
            try:
                self.turn(number)
            except StorageError as error:
                cause = str(error.__cause__).splitlines()[0]
                log.error("storage_failed", cause=cause)  # noqa: TRY400  it comes every second
                self._sleep(AFTER_TROUBLE_S)
            except Exception:
                log.exception("turn_failed")
                self._sleep(AFTER_TROUBLE_S)
            self._sleep(TURN_S)
