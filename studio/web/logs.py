"""JSON log lines, one event each, that can't tell a card.

A card is sealed until its reveal, and a log line is read by more people than the table's screens:
so no line carries a card at all. Whatever looks like one is taken out before it is written.
"""

import logging
import re
from collections.abc import Mapping, MutableMapping
from typing import Any, Final

import structlog
from structlog.typing import Processor

from studio.domain.game import Json

REMOVED: Final = "[sealed]"
SEALED_KEYS: Final = frozenset(
    {"sealed", "card", "cards", "serial", "nonce", "piece", "pieces", "face", "printed_code"}
)
_FACE: Final = r"(?:10|[2-9TJQKA])[SHDC♠♥♦♣]"
_CARD_OBJECT: Final = r"(?:Card|Tile|PrintedCode|SealedCard)\([^()]*(?:\([^()]*\)[^()]*)*\)"
_PRINTED: Final = r"\d{12}"
SEALED_TEXT: Final = re.compile(
    rf"{_CARD_OBJECT}|(?<![A-Za-z0-9]){_FACE}(?![A-Za-z0-9])|(?<!\d){_PRINTED}(?!\d)"
)
"""A face (`TS`, `10♠`), a card's repr, or the twelve digits printed on a card."""

LEVELS: Final = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
NOISY: Final = ("alembic", "werkzeug", "engineio", "socketio", "gunicorn.access", "geventwebsocket")


def refuse_sealed(_: object, __: str, line: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Take everything out of a log line that could be a card."""
    return {
        key: REMOVED if key in SEALED_KEYS and value is not None else _clean(value)
        for key, value in line.items()
    }


def init_logs(level: str) -> None:
    """Send our own and the libraries' lines to stderr as JSON."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler()
    handler.set_name("studio")
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                refuse_sealed,
                structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [old for old in root.handlers if old.get_name() != "studio"] + [handler]
    root.setLevel(LEVELS[level])
    for name in NOISY:
        logging.getLogger(name).setLevel(max(LEVELS[level], logging.WARNING))


def _clean(value: Json) -> Json:
    if isinstance(value, str):
        return SEALED_TEXT.sub(REMOVED, value)
    if isinstance(value, Mapping):
        return refuse_sealed(None, "", dict(value))
    if isinstance(value, list | tuple | set | frozenset):
        return [_clean(one) for one in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return SEALED_TEXT.sub(REMOVED, str(value))
