"""Which kinds of records are kept for a time only, and how the store forgets them."""

from enum import StrEnum, unique
from typing import Protocol

DAY_MS = 24 * 3_600_000


@unique
class Kept(StrEnum):
    """Kinds of records that are kept for a time only."""

    PICTURES = "pictures"
    """Pictures of cards that did not read or were held; before the reports they belong to."""
    COMMAND_ANSWERS = "command_answers"
    """Answers to commands: whoever asks again after that is told that the round is over."""
    SCAN_REPORTS = "scan_reports"
    """Ids of scanner reports: a scanner that was away for longer must not send old ones."""
    ALARMS = "alarms"
    """Alarms whose cause is gone."""
    LOGINS = "logins"
    """Failed logins and ended sessions."""


class Forgetting(Protocol):
    """Deletes old records of one kind."""

    def forget(self, kind: Kept, *, before_ms: int, rows_max: int) -> int:
        """Delete up to so many records from before a time; return how many there were."""


class ForgettingUnit(Protocol):
    """What a unit of work offers for forgetting; mixed into `ports.UnitOfWork`."""

    @property
    def forgetting(self) -> Forgetting:
        """Deletes old records."""
