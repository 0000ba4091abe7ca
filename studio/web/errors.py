"""Faults as answers: one JSON shape for programs, a page for people, never a stack trace."""

from typing import Final

import structlog
from flask import Flask, Response, current_app, jsonify, request
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import HTTPException, InternalServerError
from werkzeug.http import HTTP_STATUS_CODES

from studio.domain.errors import InvariantError, MalformedError, RefusedError, StudioError
from studio.services.retry import StorageError, TryAgainError

MALFORMED: Final = 400
REFUSED: Final = 409
BROKEN: Final = 500

STATUS: Final = {
    "login_refused": 401,
    "login_slowed": 429,
    "role_forbids": 403,
    "not_your_table": 403,
    "unknown_round": 404,
    "unknown_table": 404,
    "unknown_wager": 404,
    "unknown_alarm": 404,
    "unknown_picture": 404,
    "unknown_person": 404,
    "unknown_room": 404,
    "storage_failed": 503,
    "studio_busy": 503,
}
"""Codes whose status says more than 400 or 409."""

log = structlog.get_logger(__name__)


def status_of(error: StudioError) -> int:
    """Return the HTTP status of a fault."""
    if isinstance(error, InvariantError):
        return BROKEN
    return STATUS.get(error.code, REFUSED if isinstance(error, RefusedError) else MALFORMED)


def error_body(error: StudioError) -> dict[str, object]:
    """Return a fault in the shape that programs get; an own bug says nothing of the inside."""
    if isinstance(error, InvariantError):
        return _shape("studio_fault", "The studio found a fault of its own; the pit is called.")
    return _shape(error.code, error.message, dict(error.details))


class StudioFlask(Flask):
    """Flask, but faults of the API are JSON wherever they arise, unknown addresses included."""

    def handle_http_exception(self, error: HTTPException) -> HTTPException | ResponseReturnValue:
        """Answer programs in JSON; people get their page from the registered handlers."""
        if not _for_programs() or error.code is None or error.code < MALFORMED:
            return super().handle_http_exception(error)
        return _answer_http(error)

    def handle_exception(self, error: Exception) -> Response:
        """Answer for an exception nobody caught, after Flask has logged it."""
        answer = super().handle_exception(error)
        return _answer_http(InternalServerError()) if _for_programs() else answer


def init_errors(app: Flask) -> None:
    """Register what turns the three faults into answers."""
    for fault in (MalformedError, RefusedError, InvariantError, StorageError):
        app.register_error_handler(fault, _answer)
    app.register_error_handler(TryAgainError, _answer_busy)


def _answer(error: StudioError) -> HTTPException | ResponseReturnValue:
    status = status_of(error)
    if status == BROKEN:
        log.error("invariant_broken", code=error.code, path=request.path, exc_info=error)
    if _for_programs():
        return jsonify({"error": error_body(error)}), status
    page = HTTPException(description=error.message)
    page.code = status
    return current_app.handle_http_exception(page)


def _answer_busy(_: TryAgainError) -> HTTPException | ResponseReturnValue:
    """Answer for a transaction that the database undid for another's sake."""
    return _answer(RefusedError("studio_busy", "The studio is busy; nothing changed. Try again."))


def _answer_http(error: HTTPException) -> Response:
    status = error.code or BROKEN
    code = HTTP_STATUS_CODES.get(status, "error").lower().replace(" ", "_").replace("'", "")
    answer = jsonify({"error": _shape(code, error.description or code)})
    answer.status_code = status
    for name, value in error.get_headers(request.environ):
        if name.lower() in ("allow", "retry-after"):
            answer.headers[name] = value
    return answer


def _for_programs() -> bool:
    return request.path.startswith(("/api/", "/metrics"))


def _shape(code: str, message: str, details: dict[str, object] | None = None) -> dict[str, object]:
    return {"code": code, "message": message, "details": details or {}}
