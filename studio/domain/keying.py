"""Keying in a card that does not read: by the dealer and, from its picture, by a supervisor.

Neither sees what the other keyed: nothing that the studio says repeats it, or says which digits
differ. Source: DESIGN section 6; PROCEDURES sections 1 ("Card does not read") and 4.12.
"""

from typing import TypeAlias

from studio.domain.commands import ConfirmKey, DropKey, KeyCard, SeeCard
from studio.domain.dealing import expected_card, seal, see_card, stranger
from studio.domain.errors import RefusedError
from studio.domain.event_parts import SealedCard
from studio.domain.events import CardKeyed, Event, KeyConfirmed, KeyDropped
from studio.domain.fault import Fault, Keyed
from studio.domain.game import AnyGame
from studio.domain.guards import need_free_hands, need_reason
from studio.domain.table import TableState

KeyCommand: TypeAlias = KeyCard | ConfirmKey | DropKey


def decide_key(game: AnyGame, state: TableState, command: KeyCommand) -> tuple[Event, ...]:
    """Return what follows from an entry, its confirmation, or its rejection.

    Raises:
        RefusedError: `keying_not_due`, `code_unknown`, `no_card_keyed`, `picture_missing`, or
            the table is stopped, holds a card, or a reason is missing.
    """
    need_free_hands(state)
    match command:
        case KeyCard():
            return _key_card(game, state, command)
        case ConfirmKey():
            return _confirm_key(game, state, command)
        case DropKey():
            return _drop_key(state, command)


def _key_card(game: AnyGame, state: TableState, command: KeyCard) -> tuple[Event, ...]:
    fault, place = state.fault, expected_card(game, state)
    if place is None or fault is None or (fault.position, fault.index) != place:
        raise _not_due()
    if fault.tries < command.tries_max:
        raise _not_due()
    _need_known(game, state, command.seen)
    position, index = place
    return (CardKeyed(position=position, index=index, by=command.by, sealed=seal(command.seen)),)


def _confirm_key(game: AnyGame, state: TableState, command: ConfirmKey) -> tuple[Event, ...]:
    fault, keyed = _waiting(state, command.reason)
    if command.picture_seq is None or command.picture_seq < fault.since:
        raise RefusedError(
            "picture_missing", "There is no picture of this card; let the camera try again."
        )
    _need_known(game, state, command.seen)
    if _code(keyed.card) != _code(seal(command.seen)):
        return (_dropped(state, "differs", command, picture=command.picture),)
    confirmed = KeyConfirmed(
        position=fault.position or "",
        index=fault.index or 0,
        dealer=keyed.by,
        by=command.by,
        reason=command.reason,
        picture=command.picture,
    )
    return (confirmed, *see_card(game, state, command.seen))


def _drop_key(state: TableState, command: DropKey) -> tuple[Event, ...]:
    _waiting(state, command.reason)
    return (_dropped(state, "rejected", command, picture=None),)


def _waiting(state: TableState, reason: str) -> tuple[Fault, Keyed]:
    need_reason(reason)
    if state.fault is None or state.fault.keyed is None:
        raise RefusedError("no_card_keyed", "No keyed card waits for its confirmation.")
    return state.fault, state.fault.keyed


def _dropped(
    state: TableState, why: str, command: ConfirmKey | DropKey, *, picture: int | None
) -> KeyDropped:
    fault, keyed = _waiting(state, command.reason)
    return KeyDropped(
        position=fault.position or "",
        index=fault.index or 0,
        why=why,
        dealer=keyed.by,
        by=command.by,
        reason=command.reason,
        picture=picture,
    )


def _code(card: SealedCard | None) -> tuple[str, int] | None:
    return None if card is None else (card.card, card.serial)


def _need_known(game: AnyGame, state: TableState, seen: SeeCard) -> None:
    assert state.shoe is not None
    if stranger(game, state, state.shoe, seen) is not None:
        raise RefusedError("code_unknown", "No card of this deck set bears this number.")


def _not_due() -> RefusedError:
    return RefusedError("keying_not_due", "A card is keyed in after the camera could not read it.")
