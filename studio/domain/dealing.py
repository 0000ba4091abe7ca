"""Cards at the camera: which event follows from what was read, or not read.

Source: DESIGN sections 3, 4 and 6.
"""

from studio.domain.cards import CodeVersion
from studio.domain.commands import (
    FailRead,
    SeeCard,
)
from studio.domain.errors import RefusedError
from studio.domain.event_parts import Held, OpenCard, SealedCard
from studio.domain.events import (
    BurnConfirmed,
    CardDrawn,
    CardHeld,
    CardsRevealed,
    CardVerified,
    DealingStopped,
    Event,
    FirstCardTurned,
    PitCalled,
    ReadFailed,
)
from studio.domain.game import (
    AnyGame,
    Burn,
    Deal,
    PieceKind,
    Request,
    ScanAt,
    Scanned,
)
from studio.domain.guards import need_free_hands
from studio.domain.log import commitment
from studio.domain.order import repeated
from studio.domain.round import BURN, Phase, Round, last_burns, request_of
from studio.domain.shoe import Shoe
from studio.domain.table import STUDIO, Stage, TableState

CODE_VERSIONS = {PieceKind.CARD: CodeVersion.CARD, PieceKind.TILE: CodeVersion.TILE}
"""What is printed on the pieces of a kind."""

STAFF_BADGE = "staff_badge"
"""Reason of a read that met a person's badge: no card failed."""


def see_card(game: AnyGame, state: TableState, command: SeeCard) -> tuple[Event, ...]:
    """Return what follows from a read card: drawn, verified, the same again, or held."""
    events = _seen(game, state, command)
    if not any(isinstance(event, CardDrawn | FirstCardTurned) for event in events):
        return events
    return (*events, *_order_check(state, command))


def _order_check(state: TableState, command: SeeCard) -> tuple[Event, ...]:
    shoe = state.shoe
    assert shoe is not None
    if shoe.order_repeated:
        return ()
    faces = (*shoe.order[-command.order_run :], command.code.piece.code)
    if repeated(faces, length=command.order_run, earlier=command.earlier):
        return (DealingStopped(by=STUDIO),)
    return ()


def _seen(game: AnyGame, state: TableState, command: SeeCard) -> tuple[Event, ...]:
    serial = command.code.serial
    shoe = state.shoe
    if shoe is None or state.stopped or (state.fault is not None and state.fault.held):
        return ()
    if state.stage is Stage.VERIFYING:
        return _verify_card(state, command)
    strange = stranger(game, state, shoe, command)
    if strange is not None:
        return (CardHeld(fault=strange.value, scope=state.shoe_id, commitment=None),)
    if state.stage is Stage.LOADED:
        return ()  # a card of the deck that is being shuffled: it has not left any shoe
    if serial == shoe.last_serial:
        return ()  # the same card again: it still lies there, or was shown twice
    if serial in shoe.seen:
        doubled = Held.DOUBLED_CARD.value
        return (CardHeld(fault=doubled, scope=state.shoe_id, commitment=None),)
    if shoe.order.count(command.code.piece.code) >= _copies(game, state, command):
        return _aside(state, command, why=Held.EXTRA_COPY)
    if state.stage is Stage.OPENING:
        return _open_shoe_card(game, state, shoe, command)
    request = request_of(game, state.round)
    if state.round is None or not _takes_card(state, state.round, request):
        early = isinstance(request, Deal) and state.phase is Phase.BETTING
        return _aside(state, command, why=Held.OUT_OF_TURN if early else Held.UNNEEDED_CARD)
    return _draw(game, state.round, request, command)


def stranger(game: AnyGame, state: TableState, shoe: Shoe, command: SeeCard) -> Held | None:
    """Return why a card can't have come out of this shoe; None for one that can."""
    assert state.config is not None
    version = CODE_VERSIONS[game.describe(state.config).piece_kind]
    if command.code.deck_set != shoe.deck_set or command.code.version is not version:
        return Held.OTHER_DECK_SET
    return None if command.known else Held.UNKNOWN_SERIAL


def _copies(game: AnyGame, state: TableState, command: SeeCard) -> int:
    """Return how often the face of a card may leave the shoe."""
    assert state.config is not None
    described = game.describe(state.config)
    return described.pieces.count(command.code.piece) * described.decks


def _takes_card(state: TableState, current: Round, request: Request | None) -> bool:
    if isinstance(request, Deal) and request.face_up:
        return current.phase is not Phase.BETTING
    if isinstance(request, Burn):
        # Where cards are read as they are opened, nobody opens a burnt card: it is confirmed.
        return state.config is not None and state.config.scan_at is ScanAt.DRAW
    return isinstance(request, Deal)


def seal(command: SeeCard) -> SealedCard:
    """Return what is kept apart of a read card."""
    return SealedCard(card=command.code.piece.code, serial=command.code.serial, nonce=command.nonce)


def _commit(sealed: SealedCard, *, scope: str, position: str, index: int) -> str:
    return commitment(
        nonce=sealed.nonce,
        scope=scope,
        position=position,
        index=index,
        card=sealed.card,
        serial=sealed.serial,
    )


def _drawn_event(command: SeeCard, *, scope: str, position: str, index: int) -> CardDrawn:
    sealed = seal(command)
    return CardDrawn(
        scope=scope,
        position=position,
        index=index,
        commitment=_commit(sealed, scope=scope, position=position, index=index),
        sealed=sealed,
    )


def _verify_card(state: TableState, command: SeeCard) -> tuple[Event, ...]:
    count = len(state.verified)
    shoe = state.shoe
    assert shoe is not None
    if not command.known or command.code.deck_set != shoe.deck_set:
        return (CardVerified(count=count, problem="foreign"),)
    if command.code.serial == state.verified_last:
        return ()  # the same card again: it still lies there
    if command.code.serial in state.verified:
        return (CardVerified(count=count, problem="doubled"),)
    return (CardVerified(count=count + 1, problem=None, sealed=seal(command)),)


def _open_shoe_card(
    game: AnyGame, state: TableState, shoe: Shoe, command: SeeCard
) -> tuple[Event, ...]:
    piece = command.code.piece
    if shoe.first_card is None:
        turned = FirstCardTurned(
            card=piece.code, serial=command.code.serial, burn=game.opening_burn(piece)
        )
        return (turned,)
    index = len(shoe.opening_burns)
    return (_drawn_event(command, scope=state.shoe_id, position=BURN, index=index),)


def _aside(state: TableState, command: SeeCard, *, why: Held) -> tuple[Event, ...]:
    """Hold a card of this shoe: it is out of it and will be burnt when it is released."""
    sealed = seal(command)
    scope = state.shoe_id
    held = CardHeld(
        fault=why.value,
        scope=scope,
        commitment=_commit(sealed, scope=scope, position="aside", index=0),
        sealed=sealed,
    )
    return (held,)


def _draw(
    game: AnyGame, current: Round, request: Request | None, command: SeeCard
) -> tuple[Event, ...]:
    if isinstance(request, Burn):
        return (_drawn_event(command, scope=current.id, position=BURN, index=current.burnt),)
    assert isinstance(request, Deal)
    drawn = _drawn_event(command, scope=current.id, position=request.position, index=request.index)
    if not request.face_up:
        return (drawn,)
    assert drawn.sealed is not None
    opened = OpenCard(
        position=request.position,
        index=request.index,
        card=drawn.sealed.card,
        serial=drawn.sealed.serial,
        nonce=drawn.sealed.nonce,
    )
    revealed = CardsRevealed(scope=current.id, positions=(request.position,), cards=(opened,))
    after = game.apply(current.game_state, Scanned(piece=command.code.piece))
    return (drawn, revealed, *last_burns(game, current, after))


def expected_card(game: AnyGame, state: TableState) -> tuple[str, int] | None:
    """Return (position, index) of the card the camera waits for, None when it waits for none."""
    shoe = state.shoe
    if shoe is None:
        return None
    if state.stage is Stage.VERIFYING:
        return "verify", len(state.verified)
    if state.stage is Stage.OPENING:
        return ("first", 0) if shoe.first_card is None else (BURN, len(shoe.opening_burns))
    request = request_of(game, state.round)
    if state.round is None or not _takes_card(state, state.round, request):
        return None
    if isinstance(request, Deal):
        return request.position, request.index
    return BURN, state.round.burnt


def fail_read(game: AnyGame, state: TableState, command: FailRead) -> tuple[Event, ...]:
    """Return the failed read; nothing when no card is waited for."""
    waits_for = expected_card(game, state)
    if waits_for is None or state.stopped or (state.fault is not None and state.fault.held):
        return ()
    position, index = waits_for
    fault = state.fault
    if fault is not None and (fault.position, fault.index) != waits_for:
        fault = None
    tries = fault.tries if fault is not None else 0
    if command.reason == STAFF_BADGE:
        # Said once and no try: the dealer takes the badge away, nobody else is needed.
        told = fault is not None and fault.reason == STAFF_BADGE
        badge = ReadFailed(reason=command.reason, tries=tries, position=position, index=index)
        return () if told else (badge,)
    if command.still and tries:
        return ()
    tries += 1
    failed = ReadFailed(reason=command.reason, tries=tries, position=position, index=index)
    # A pit that was called for something else still has to hear of this card.
    if tries == command.tries_max or (tries > command.tries_max and not state.pit_called):
        return failed, PitCalled(by="studio")
    return (failed,)


def confirm_burn(game: AnyGame, state: TableState) -> tuple[Event, ...]:
    """Return the burn that the dealer confirms without the camera."""
    need_free_hands(state)
    if state.config is None or state.config.scan_at is not ScanAt.REVEAL:
        raise RefusedError("burn_is_scanned", "At this table every burnt card passes the camera.")
    if state.stage is Stage.OPENING and state.shoe is not None and state.shoe.to_burn:
        return (BurnConfirmed(count=state.shoe.to_burn),)
    request = request_of(game, state.round)
    if not isinstance(request, Burn):
        raise RefusedError("burn_not_due", "No card is to be burnt now.")
    return (BurnConfirmed(count=request.count),)
