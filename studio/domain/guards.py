"""What must hold before a command is carried out; each guard raises its refusal."""

from studio.domain.errors import RefusedError
from studio.domain.round import Round
from studio.domain.shoe import Shoe
from studio.domain.table import Stage, TableState


def need_stage(state: TableState, *stages: Stage) -> Shoe:
    """Return the shoe when its stage is one of these."""
    if state.stage not in stages or state.shoe is None:
        raise RefusedError(
            "wrong_stage",
            f"The shoe is at stage {state.stage}; this needs {' or '.join(stages)}.",
            stage=state.stage,
        )
    return state.shoe


def need_no_running_round(state: TableState) -> None:
    """Refuse while a round runs."""
    if state.round is not None and state.round.running:
        raise RefusedError("round_running", "A round is running; finish or void it first.")


def need_no_correction(state: TableState) -> None:
    """Refuse while a correction is not done."""
    if state.correction is not None:
        raise RefusedError(
            "correction_waits", "A correction waits at this table; approve, drop or await it first."
        )


def need_running_round(state: TableState) -> Round:
    """Return the round that runs."""
    if state.round is None or not state.round.running:
        raise RefusedError("no_round_running", "No round is running.")
    return state.round


def need_reason(reason: str) -> None:
    """Refuse an empty reason."""
    if not reason.strip():
        raise RefusedError("reason_missing", "Give a reason; it goes into the audit trail.")


def need_free_hands(state: TableState, *, stop_counts: bool = True) -> None:
    """Refuse while the table is stopped or a card is held."""
    if state.stopped and stop_counts:
        raise RefusedError("dealing_stopped", "The table is stopped; the supervisor resumes it.")
    if state.fault is not None and state.fault.held:
        raise RefusedError("card_held", "A card is held; the supervisor resolves it first.")
