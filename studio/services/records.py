"""What the pit reads: alarms and the lines of the audit trail."""

from collections.abc import Mapping
from dataclasses import dataclass

from studio.domain.game import Json


@dataclass(frozen=True, kw_only=True)
class AlarmRow:
    """An alarm of the pit."""

    id: int
    priority: int
    """1 act now, 2 act soon, 3 know."""
    code: str
    table: str
    round_id: str | None
    raised_ms: int
    acknowledged_by: str | None
    acknowledged_ms: int | None
    cleared_ms: int | None
    details: Mapping[str, Json]


@dataclass(frozen=True, kw_only=True)
class TrailRow:
    """One line of the audit trail: an intervention with what was before and after."""

    id: int
    at_ms: int
    actor_id: int
    actor: str
    action: str
    subject: str
    reason: str
    before: Mapping[str, Json]
    after: Mapping[str, Json]
