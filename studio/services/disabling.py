"""Play that is disabled on demand: everything, or one game. The round in progress may end.

A table is disabled by locking it, a login by deactivating it. Source: PROCEDURES, R5.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from studio.domain.errors import MalformedError, RefusedError
from studio.domain.game import Json
from studio.services.disabled_ports import EVERYTHING, DisabledRow, DisabledUnit
from studio.services.ports import Actor, Publisher, Role, UnitOfWork, Units
from studio.services.retry import again

OPENING_COMMANDS = frozenset({"load_shoe", "start_round"})
"""What a disabled game refuses; whatever runs is played to its end by whoever has the table."""


def need_enabled(unit: DisabledUnit, *, game: str) -> None:
    """Refuse to open anything of a disabled game, by what the command's transaction reads.

    Raises:
        RefusedError: `play_disabled`.
    """
    found = unit.disabled.first_of((EVERYTHING, game))
    if found is not None:
        raise RefusedError(
            "play_disabled",
            f"Play is disabled: {found.reason}",
            scope=found.scope,
            reason=found.reason,
        )


@dataclass(frozen=True, kw_only=True)
class DisablingService:
    """Disables and enables; each change leaves a line in the audit trail."""

    units: Units
    publisher: Publisher
    games: Collection[str]

    def all(self) -> Sequence[DisabledRow]:
        """Return what is disabled."""
        with self.units.read() as uow:
            return uow.disabled.all()

    def change(self, actor: Actor, *, scope: str, disabled: bool, reason: str) -> None:
        """Disable a scope or enable it again; what is so already stays as it is.

        Raises:
            MalformedError: `unknown_scope`, `reason_missing`.
            RefusedError: `role_forbids`.
        """
        if actor.role is not Role.ADMINISTRATOR:
            raise RefusedError("role_forbids", "Only an administrator disables play.")
        if scope not in {EVERYTHING, *self.games}:
            known = ", ".join([EVERYTHING, *sorted(self.games)])
            raise MalformedError("unknown_scope", f"What is disabled must be one of: {known}.")
        if not reason.strip():
            raise MalformedError("reason_missing", "Give a reason; it goes into the audit trail.")
        row_reason = reason.strip()
        again(lambda: self._change(actor, scope=scope, disabled=disabled, reason=row_reason))
        self.publisher.pit({"kind": "disabled", "scope": scope})

    def _change(self, actor: Actor, *, scope: str, disabled: bool, reason: str) -> None:
        with self.units.write() as uow:
            now_ms = uow.now_ms()
            row = DisabledRow(scope=scope, reason=reason, by=actor.name, at_ms=now_ms)
            changed = uow.disabled.add(row) if disabled else uow.disabled.remove(scope)
            if not changed:
                return
            _note(uow, actor, scope=scope, disabled=disabled, reason=reason, at_ms=now_ms)
            uow.commit()


def _note(
    uow: UnitOfWork, actor: Actor, *, scope: str, disabled: bool, reason: str, at_ms: int
) -> None:
    before: dict[str, Json] = {"disabled": not disabled}
    uow.trail.write(
        at_ms=at_ms,
        actor=actor,
        action="disable_play" if disabled else "enable_play",
        subject=scope,
        reason=reason,
        before=before,
        after={"disabled": disabled},
    )
