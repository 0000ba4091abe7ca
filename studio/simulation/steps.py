"""The steps of corrections as the watch sees them: who agreed, who was told, and when money moved.

It reads the log alone and asks none of the studio's own rules.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from studio.domain.game import Json
from studio.services.ports import StoredEvent
from studio.simulation.floor import POLICY
from studio.simulation.network import ViolationError


@dataclass(kw_only=True)
class _Steps:
    """One table's correction."""

    proposed: Mapping[str, Json]
    approved_by: str | None = None
    due_ms: int | None = None


class StepWatch:
    """Follows each table's corrections through its log."""

    def __init__(self) -> None:
        """Begin with empty logs."""
        self._steps: dict[str, _Steps] = {}

    def see(self, stored: StoredEvent) -> None:
        """Look at the next event of a table.

        Raises:
            ViolationError: `corrected_unannounced`, `corrected_early`, `notice_short`,
                `corrected_alone`.
        """
        body, table = stored.body, stored.table
        match stored.kind:
            case "CorrectionProposed":
                self._steps[table] = _Steps(proposed=body)
            case "CorrectionAnnounced":
                self._announced(self._of(stored), body, at_ms=stored.at_ms)
            case "CorrectionDropped":
                self._steps.pop(table, None)
            case "RoundCorrected":
                self._corrected(self._of(stored), body, at_ms=stored.at_ms)

    def _of(self, stored: StoredEvent) -> _Steps:
        steps = self._steps.get(stored.table)
        if steps is None:
            raise ViolationError("corrected_unannounced", f"{stored.table}: nobody proposed it.")
        return steps

    @staticmethod
    def _announced(steps: _Steps, body: Mapping[str, Json], *, at_ms: int) -> None:
        steps.approved_by, steps.due_ms = body["approved_by"], body["due_ms"]
        proposed = steps.proposed
        moved_minor = proposed["paid_minor"] + proposed["taken_minor"]
        running = proposed["kind"] == "void_running"
        alone = steps.approved_by in {None, proposed["by"]}
        if alone and (running or moved_minor > POLICY.approval_minor):
            raise ViolationError("corrected_alone", f"{proposed['by']} needed nobody.")
        if not running and body["due_ms"] - at_ms < POLICY.notice_ms:
            raise ViolationError("notice_short", f"Told at {at_ms} for {body['due_ms']}.")

    @staticmethod
    def _corrected(steps: _Steps, body: Mapping[str, Json], *, at_ms: int) -> None:
        named = [(one["round_id"], one["version"]) for one in steps.proposed["rounds"]]
        if steps.due_ms is None or (body["round_id"], body["version"]) not in named:
            raise ViolationError("corrected_unannounced", f"{body['round_id']}: nobody was told.")
        if at_ms < steps.due_ms:
            raise ViolationError(
                "corrected_early", f"{body['round_id']}: at {at_ms}, told for {steps.due_ms}."
            )
