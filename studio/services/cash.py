"""Cash in and out of the embedded wallet, by an administrator, in the same ledger."""

from studio.domain.errors import MalformedError, RefusedError
from studio.domain.money import parse_amount_minor
from studio.services.ports import Actor, Balance, Cashed, Publisher, Role, Units
from studio.services.retry import again
from studio.services.wagers import parse_uuid

REASON_CHARS_MAX = 500


class CashService:
    """The cash desk."""

    def __init__(self, *, units: Units, publisher: Publisher) -> None:
        """Keep the ports."""
        self._units = units
        self._publisher = publisher

    def move(
        self, actor: Actor, *, id: str, player_id: int, amount_minor: int, reason: str
    ) -> Balance:
        """Move cash in (positive) or out (negative), once per id, with a line in the trail.

        Raises:
            MalformedError: `id_not_uuid`, `reason_missing`, `reason_too_long`,
                `amount_not_integer`, `amount_not_positive`, `amount_too_large`.
            RefusedError: `only_administrators_move_cash`, `transfer_id_reused`, `balance_short`,
                `studio_busy`.
        """
        if actor.role is not Role.ADMINISTRATOR:
            raise RefusedError("only_administrators_move_cash", "Only an administrator moves cash.")
        id = parse_uuid(id, name="id")
        reason = _reason(reason)
        _need_amount(amount_minor)

        def once() -> Cashed:
            with self._units.write() as unit:
                cashed = unit.ledger.cash(
                    id=id,
                    player_id=player_id,
                    amount_minor=amount_minor,
                    reason=reason,
                    by=actor.id,
                )
                if not cashed.repeated:
                    unit.trail.write(
                        at_ms=unit.now_ms(),
                        actor=actor,
                        action="cash_in" if amount_minor > 0 else "cash_out",
                        subject=f"player {player_id}",
                        reason=reason,
                        before={"balance_minor": cashed.before.balance_minor},
                        after={"balance_minor": cashed.after.balance_minor, "transfer": id},
                    )
                    unit.commit()
            return cashed

        cashed = again(once)
        if not cashed.repeated:
            self._publisher.wallet(
                player_id,
                {
                    "balance_minor": cashed.after.balance_minor,
                    "held_minor": cashed.after.held_minor,
                    "reason": "cash",
                    "round_id": None,
                },
            )
        return cashed.after


def _reason(reason: object) -> str:
    text = reason.strip() if isinstance(reason, str) else ""
    if not text:
        raise MalformedError("reason_missing", "Give a reason; it goes into the audit trail.")
    if len(text) > REASON_CHARS_MAX:
        raise MalformedError(
            "reason_too_long", f"A reason has at most {REASON_CHARS_MAX} characters."
        )
    return text


def _need_amount(amount_minor: object) -> None:
    whole = isinstance(amount_minor, int) and not isinstance(amount_minor, bool)
    size = abs(amount_minor) if whole and isinstance(amount_minor, int) else amount_minor
    parse_amount_minor(size, name="amount_minor")
