"""How long a login still lasts, so that a screen can warn before it ends.

Asking is no activity: only `PeopleService.recognise(keeps=True)` puts the end off.
Source: WCAG 2.2, success criterion 2.2.1.
"""

from dataclasses import dataclass

from studio.services.people import PeopleService, digest

WARN_MS_MAX = 60_000
WARN_MS_MIN = 25_000
"""The criterion asks for 20 s; the rest is for the way to the screen and to the button."""


@dataclass(frozen=True, kw_only=True)
class SessionLeft:
    """When a session ends, by the studio's clock."""

    now_ms: int
    idle_ends_ms: int
    """By inactivity, unless the person does something before."""
    ends_ms: int
    """In any case."""
    warn_ms: int
    """So long before the end by inactivity a screen warns."""


def session_left(people: PeopleService, token: str) -> SessionLeft | None:
    """Return how long a session lasts; None when it ended or never was."""
    now_ms, idle_ms = people.clock.now_ms(), people.policy.idle_ms
    if people.recognise(token, keeps=False) is None:
        return None
    with people.units.read() as unit:
        found = unit.people.session(digest(token))
    if found is None:
        return None
    row, _ = found
    return SessionLeft(
        now_ms=now_ms,
        idle_ends_ms=row.last_seen_ms + idle_ms,
        ends_ms=row.expires_ms,
        warn_ms=max(WARN_MS_MIN, min(WARN_MS_MAX, idle_ms // 3)),
    )
