"""A correction that is not done: proposed, perhaps approved, told to the players, then booked.

At most one stands at a table. Source: DESIGN section 5, PROCEDURES 1 ("each player told BEFORE
the debit/credit").
"""

from dataclasses import dataclass, replace
from typing import Self

from studio.domain.events import (
    CorrectionAnnounced,
    CorrectionKind,
    CorrectionProposed,
    RoundToCorrect,
)


@dataclass(frozen=True, kw_only=True)
class PendingCorrection:
    """A table's correction, as far as it has come."""

    proposed: CorrectionProposed
    rounds: tuple[RoundToCorrect, ...]
    """Those that are not corrected yet."""
    announced: CorrectionAnnounced | None = None

    @property
    def waits(self) -> bool:
        """Whether a second person has to look at it."""
        return self.proposed.needs_approval and self.announced is None

    @property
    def begun(self) -> bool:
        """Whether money has moved for it."""
        return len(self.rounds) < len(self.proposed.rounds)

    @property
    def of_running(self) -> bool:
        """Whether it annuls the round that runs: then there is no notice."""
        return self.proposed.kind == CorrectionKind.VOID_RUNNING

    @property
    def void(self) -> bool:
        """Whether it annuls its rounds."""
        return self.proposed.kind != CorrectionKind.CORRECT

    def is_due(self, now_ms: int) -> bool:
        """Return whether its money may move."""
        return self.announced is not None and now_ms >= self.announced.due_ms

    def without(self, round_id: str) -> Self | None:
        """Return what is left after a round was corrected; None: nothing."""
        left = tuple(one for one in self.rounds if one.round_id != round_id)
        return replace(self, rounds=left) if left else None
