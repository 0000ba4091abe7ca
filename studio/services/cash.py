"""The cash desk: cash in and out of the embedded wallet, and what players owe, in one ledger.

Nothing is taken unasked: cash that is paid in goes into the wallet whole, and what is owed stays
owed until an administrator collects it or writes it off.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace

from studio.domain.errors import MalformedError, RefusedError
from studio.domain.game import Json
from studio.domain.money import parse_amount_minor
from studio.services.owed_ports import OwedChange, OwedDeed
from studio.services.ports import Actor, Balance, Cashed, Publisher, Role, UnitOfWork, Units
from studio.services.retry import again
from studio.services.wagers import parse_uuid

REASON_CHARS_MAX = 500
OWED_CHANGES_MAX = 50
TOLD = {OwedDeed.COLLECT: "collected", OwedDeed.WRITE_OFF: "written_off"}
"""The reason in the message to the player."""


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
                `owes_money` for cash out, `studio_busy`.
        """
        id, reason = _checked(actor, id=id, reason=reason)
        _need_amount(amount_minor)
        return self._book(
            actor,
            lambda unit: unit.ledger.cash(
                id=id, player_id=player_id, amount_minor=amount_minor, reason=reason, by=actor.id
            ),
            action="cash_in" if amount_minor > 0 else "cash_out",
            told={"reason": "cash"},
            player_id=player_id,
            reason=reason,
            id=id,
        )

    def settle_owed(
        self,
        actor: Actor,
        deed: OwedDeed,
        *,
        id: str,
        player_id: int,
        amount_minor: int,
        reason: str,
    ) -> Balance:
        """Collect what a player owes from the wallet, or write it off, wholly or in part.

        Once per id, with a line in the trail; the rest stays owed.

        Raises:
            MalformedError: as `move`.
            RefusedError: `only_administrators_move_cash`, `transfer_id_reused`,
                `more_than_owed`, `balance_short`, `studio_busy`.
        """
        id, reason = _checked(actor, id=id, reason=reason)
        parse_amount_minor(amount_minor, name="amount_minor")

        def settle(unit: UnitOfWork) -> Cashed:
            booked = unit.owed.settle(
                deed,
                id=id,
                player_id=player_id,
                amount_minor=amount_minor,
                reason=reason,
                by=actor.id,
            )
            after = unit.ledger.balance(player_id)
            before = replace(after, owed_minor=after.owed_minor + amount_minor)
            if deed is OwedDeed.COLLECT:
                before = replace(before, balance_minor=after.balance_minor + amount_minor)
            return Cashed(before=before, after=after, repeated=not booked)

        return self._book(
            actor,
            settle,
            action=f"{deed}_owed",
            told={"reason": TOLD[deed], "amount_minor": amount_minor},
            player_id=player_id,
            reason=reason,
            id=id,
        )

    def owed(self, player_id: int) -> tuple[Balance, Sequence[OwedChange]]:
        """Return what a player has and owes, and why: the latest changes, newest first."""
        with self._units.read() as unit:
            changes = unit.owed.changes(player_id, limit=OWED_CHANGES_MAX)
            return unit.ledger.balance(player_id), changes

    def _book(
        self,
        actor: Actor,
        move: Callable[[UnitOfWork], Cashed],
        *,
        action: str,
        told: Mapping[str, Json],
        player_id: int,
        reason: str,
        id: str,
    ) -> Balance:
        """Move money once, with its line in the trail, and tell the player."""

        def once() -> Cashed:
            with self._units.write() as unit:
                cashed = move(unit)
                if not cashed.repeated:
                    unit.trail.write(
                        at_ms=unit.now_ms(),
                        actor=actor,
                        action=action,
                        subject=f"player {player_id}",
                        reason=reason,
                        before=_free_and_owed(cashed.before),
                        after={**_free_and_owed(cashed.after), "transfer": id},
                    )
                    unit.commit()
            return cashed

        cashed = again(once)
        if not cashed.repeated:
            self._publisher.wallet(player_id, {**asdict(cashed.after), "round_id": None, **told})
        return cashed.after


def _free_and_owed(balance: Balance) -> Mapping[str, Json]:
    return {"balance_minor": balance.balance_minor, "owed_minor": balance.owed_minor}


def _checked(actor: Actor, *, id: object, reason: object) -> tuple[str, str]:
    """Return id and reason as they are stored, if this person may move money."""
    if actor.role is not Role.ADMINISTRATOR:
        raise RefusedError("only_administrators_move_cash", "Only an administrator moves cash.")
    id = parse_uuid(id, name="id")
    text = reason.strip() if isinstance(reason, str) else ""
    if not text:
        raise MalformedError("reason_missing", "Give a reason; it goes into the audit trail.")
    if len(text) > REASON_CHARS_MAX:
        raise MalformedError(
            "reason_too_long", f"A reason has at most {REASON_CHARS_MAX} characters."
        )
    return id, text


def _need_amount(amount_minor: object) -> None:
    whole = isinstance(amount_minor, int) and not isinstance(amount_minor, bool)
    size = abs(amount_minor) if whole and isinstance(amount_minor, int) else amount_minor
    parse_amount_minor(size, name="amount_minor")
