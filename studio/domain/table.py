"""A table: its shoe, its round, its links, and how each event changes them.

`evolve` is the only place where state changes; `decide` (studio.domain.decide) says which events
a command gives. Replaying a log through `evolve` gives the state that was live.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum, unique
from typing import assert_never

from studio.domain.cards import parse_piece
from studio.domain.errors import InvariantError
from studio.domain.event_parts import Mark, SealedCard
from studio.domain.events import (
    BettingClosed,
    BurnConfirmed,
    CardDrawn,
    CardHeld,
    CardKeyed,
    CardsRevealed,
    CardVerified,
    CorrectionAnnounced,
    CorrectionDropped,
    CorrectionProposed,
    CutCardOut,
    DealerLeft,
    DealerSeated,
    DealingResumed,
    DealingStopped,
    Event,
    FirstCardTurned,
    HeldReleased,
    KeyConfirmed,
    KeyDropped,
    LinkLost,
    LinkRestored,
    PitCalled,
    ReadFailed,
    RoundCorrected,
    RoundOpened,
    RoundSettled,
    RoundVoided,
    ShoeClosed,
    ShoeLoaded,
    ShoeShuffled,
    TableLocked,
    TableUnlocked,
    VerificationEnded,
    VerificationStarted,
)
from studio.domain.fault import Fault, keyed, unread
from studio.domain.game import AnyGame, Burnt, Done, GameConfig, Json, ScanAt, Scanned, Settled
from studio.domain.pending import PendingCorrection
from studio.domain.round import BURN, Phase, Round, promote, reveal
from studio.domain.shoe import Drawn, Shoe

STUDIO = "studio"
"""Who acts when nobody does: the studio itself."""


@unique
class Stage(StrEnum):
    """Where the table's shoe is."""

    NO_SHOE = "no_shoe"
    LOADED = "loaded"
    """A deck set lies on the table, not yet verified or shuffled."""
    VERIFYING = "verifying"
    """Every card passes the camera."""
    OPENING = "opening"
    """Shuffled: first card, then its value in burns."""
    IN_PLAY = "in_play"
    LAST_ROUND_DONE = "last_round_done"
    """The cut card came up and its round is over: count out."""


@unique
class Link(StrEnum):
    """What is watched; a new round needs all three."""

    SCANNER = "scanner"
    STATION = "station"
    VIDEO = "video"


@dataclass(frozen=True, kw_only=True)
class Dealer:
    """Who deals."""

    id: int
    name: str


@dataclass(frozen=True, kw_only=True)
class RoadLine:
    """The marks of one settled round."""

    number: int
    marks: tuple[Mark, ...]


@dataclass(frozen=True, kw_only=True)
class TableState:
    """Everything the log says about a table."""

    table: str
    epoch: int = 0
    seq: int = 0
    hash: str = ""
    stage: Stage = Stage.NO_SHOE
    config: GameConfig | None = None
    rule_version: str = ""
    paytable_version: str = ""
    shoe: Shoe | None = None
    verified: frozenset[int] = frozenset()
    verified_foreign: int = 0
    verified_doubled: int = 0
    verified_last: int | None = None
    verification_failed: bool = False
    """The last verification named faults: the shoe is not shuffled before a clean one."""
    round: Round | None = None
    round_number: int = 0
    carry: Mapping[str, Json] = field(default_factory=dict)
    dealer: Dealer | None = None
    links_lost: frozenset[str] = frozenset()
    fault: Fault | None = None
    stopped: bool = False
    pit_called: bool = False
    locked: str | None = None
    road: tuple[RoadLine, ...] = ()
    correction: PendingCorrection | None = None

    @property
    def phase(self) -> Phase:
        """The round's phase; idle before the shoe's first round."""
        return self.round.phase if self.round else Phase.IDLE

    @property
    def shoe_id(self) -> str:
        """Names the shoe session: scope of cards burnt at its opening."""
        return f"{self.table}-{self.epoch}"


def evolve(game: AnyGame, state: TableState, event: Event) -> TableState:  # noqa: C901
    """Return the state after `event`; one arm per event."""
    match event:
        case DealerSeated():
            return replace(state, dealer=Dealer(id=event.dealer_id, name=event.name))
        case DealerLeft():
            return replace(state, dealer=None)
        case ShoeLoaded():
            return _shoe_loaded(game, state, event)
        case VerificationStarted():
            return _verification_started(state)
        case CardVerified():
            return _card_verified(state, event)
        case VerificationEnded():
            failed = not event.complete
            return replace(state, stage=Stage.LOADED, fault=None, verification_failed=failed)
        case ShoeShuffled():
            shoe = replace(_shoe(state), cut_depth=event.cut_depth)
            return replace(state, stage=Stage.OPENING, shoe=shoe, fault=None)
        case FirstCardTurned():
            return _first_card_turned(state, event)
        case CardDrawn():
            return _card_drawn(game, state, event)
        case BurnConfirmed():
            return _burn_confirmed(game, state, event)
        case CutCardOut():
            return replace(state, shoe=replace(_shoe(state), cut_card_out=True))
        case RoundOpened():
            return _round_opened(game, state, event)
        case BettingClosed():
            closed = replace(_round(state), phase=Phase.NO_MORE_BETS, book=event)
            return replace(state, round=promote(game, closed))
        case CardsRevealed():
            return replace(state, round=reveal(game, _round(state), event))
        case RoundSettled():
            return _round_settled(game, state, event)
        case RoundVoided():
            return _round_voided(state, event)
        case RoundCorrected():
            return _round_corrected(state, event)
        case CorrectionProposed():
            pending = PendingCorrection(proposed=event, rounds=event.rounds)
            return replace(state, correction=pending)
        case CorrectionAnnounced():
            return replace(state, correction=replace(_correction(state), announced=event))
        case CorrectionDropped():
            return replace(state, correction=None)
        case ReadFailed():
            return replace(state, fault=unread(state.fault, event, seq=state.seq + 1))
        case CardKeyed() | KeyDropped():
            return replace(state, fault=keyed(state.fault, event))
        case KeyConfirmed():
            return replace(state, fault=None)
        case CardHeld():
            return _card_held(state, event)
        case HeldReleased():
            return _held_released(state)
        case PitCalled():
            return replace(state, pit_called=True)
        case DealingStopped():
            return _stopped(state, event)
        case DealingResumed():
            return replace(state, stopped=False, pit_called=False)
        case LinkLost():
            return _link_lost(state, event)
        case LinkRestored():
            return _link_restored(state, event)
        case ShoeClosed():
            return replace(
                state,
                stage=Stage.NO_SHOE,
                shoe=None,
                round=None,
                fault=None,
                stopped=False,
                road=(),
            )
        case TableLocked():
            return replace(state, locked=event.reason)
        case TableUnlocked():
            return replace(state, locked=None, pit_called=False)
        case _:
            assert_never(event)


def _shoe(state: TableState) -> Shoe:
    if state.shoe is None:
        raise InvariantError("no_shoe", f"Table {state.table}: an event needs a shoe.")
    return state.shoe


def _round(state: TableState) -> Round:
    if state.round is None:
        raise InvariantError("no_round", f"Table {state.table}: an event needs a round.")
    return state.round


def _correction(state: TableState) -> PendingCorrection:
    if state.correction is None:
        raise InvariantError("no_correction", f"Table {state.table}: an event needs a correction.")
    return state.correction


def _sealed(event: CardDrawn | CardVerified | CardHeld) -> SealedCard:
    if event.sealed is None:
        raise InvariantError("sealed_card_missing", "A drawn card has lost its sealed part.")
    return event.sealed


def _shoe_loaded(game: AnyGame, state: TableState, event: ShoeLoaded) -> TableState:
    if event.game != game.code:
        raise InvariantError(
            "game_differs", f"Table {state.table}: the shoe was opened for {event.game!r}."
        )
    dealer = None
    if event.dealer_id is not None and event.dealer_name is not None:
        dealer = Dealer(id=event.dealer_id, name=event.dealer_name)
    return TableState(
        table=state.table,
        epoch=state.epoch,
        seq=state.seq,
        hash=state.hash,
        stage=Stage.LOADED,
        config=GameConfig(
            decks=event.decks,
            scan_at=ScanAt(event.scan_at),
            burn_per_round=event.burn_per_round,
            options=event.options,
        ),
        rule_version=event.rule_version,
        paytable_version=event.paytable_version,
        shoe=Shoe(
            number=state.epoch,
            deck_set=event.deck_set,
            decks=event.decks,
            registered=event.registered,
        ),
        round_number=event.round_number,
        carry=event.carry,
        dealer=dealer,
        links_lost=frozenset(event.links_lost),
    )


def _verification_started(state: TableState) -> TableState:
    return replace(
        state,
        stage=Stage.VERIFYING,
        verified=frozenset(),
        verified_foreign=0,
        verified_doubled=0,
        verified_last=None,
        fault=None,
    )


def _card_verified(state: TableState, event: CardVerified) -> TableState:
    if event.problem is None:
        serial = _sealed(event).serial
        verified = state.verified | {serial}
        return replace(state, verified=verified, verified_last=serial, fault=None)
    foreign = event.problem == "foreign"
    return replace(
        state,
        verified_foreign=state.verified_foreign + foreign,
        verified_doubled=state.verified_doubled + (not foreign),
        fault=None,
    )


def _first_card_turned(state: TableState, event: FirstCardTurned) -> TableState:
    shoe = _shoe(state).pass_card(event.card, event.serial, burnt=True)
    stage = Stage.OPENING if event.burn else Stage.IN_PLAY
    shoe = replace(shoe, first_card=event.card, to_burn=event.burn)
    return replace(state, shoe=shoe, stage=stage, fault=None)


def drawn_card(event: CardDrawn | CardHeld, position: str, index: int) -> Drawn:
    """Return the drawn card of an event with its sealed part."""
    sealed = _sealed(event)
    return Drawn(
        scope=event.scope,
        position=position,
        index=index,
        card=sealed.card,
        serial=sealed.serial,
        nonce=sealed.nonce,
        commitment=event.commitment or "",
    )


def _card_drawn(game: AnyGame, state: TableState, event: CardDrawn) -> TableState:
    card = drawn_card(event, event.position, event.index)
    shoe = _shoe(state).pass_card(card.card, card.serial, burnt=event.position == BURN)
    if event.scope == state.shoe_id:
        shoe = replace(shoe, to_burn=shoe.to_burn - 1, opening_burns=(*shoe.opening_burns, card))
        stage = Stage.OPENING if shoe.to_burn else Stage.IN_PLAY
        return replace(state, shoe=shoe, stage=stage, fault=None)
    current = _round(state)
    current = replace(
        current,
        game_state=game.apply(current.game_state, Scanned(piece=parse_piece(card.card))),
        drawn=(*current.drawn, card),
        burnt=current.burnt + (event.position == BURN),
        # A link that was lost before the first card was drawn is away in a started round too.
        interrupted=current.interrupted or bool(state.links_lost),
    )
    return replace(state, shoe=shoe, round=promote(game, current), fault=None)


def _burn_confirmed(game: AnyGame, state: TableState, event: BurnConfirmed) -> TableState:
    shoe = _shoe(state)
    shoe = replace(shoe, burnt=shoe.burnt + event.count)
    if state.stage is Stage.OPENING:
        shoe = replace(shoe, to_burn=shoe.to_burn - event.count)
        stage = Stage.OPENING if shoe.to_burn else Stage.IN_PLAY
        return replace(state, shoe=shoe, stage=stage, fault=None)
    current = _round(state)
    current = replace(
        current,
        game_state=game.apply(current.game_state, Burnt(count=event.count)),
        burnt=current.burnt + event.count,
        interrupted=current.interrupted or bool(state.links_lost),
    )
    return replace(state, shoe=shoe, round=promote(game, current), fault=None)


def _round_opened(game: AnyGame, state: TableState, event: RoundOpened) -> TableState:
    assert state.config is not None
    game_state = game.start(state.config, seats=(), roles={}, bets={}, carry=state.carry)
    opened = Round(
        id=event.round_id,
        number=event.number,
        opened_ms=event.opened_ms,
        window_closes_ms=event.window_closes_ms,
        rule_version=event.rule_version,
        paytable_version=event.paytable_version,
        phase=Phase.BETTING,
        game_state=game_state,
    )
    return replace(state, round=opened, round_number=event.number, fault=None, pit_called=False)


def _after_round(state: TableState) -> Stage:
    return Stage.LAST_ROUND_DONE if _shoe(state).cut_card_out else Stage.IN_PLAY


def _round_settled(game: AnyGame, state: TableState, event: RoundSettled) -> TableState:
    current = _round(state)
    game_state = game.apply(current.game_state, Settled())
    request = game.next(game_state)
    assert isinstance(request, Done)
    settled = replace(current, phase=Phase.SETTLED, game_state=game_state, settled=event)
    return replace(
        state,
        round=settled,
        stage=_after_round(state),
        carry=request.carry,
        road=(*state.road, RoadLine(number=current.number, marks=event.marks)),
    )


def _round_voided(state: TableState, event: RoundVoided) -> TableState:
    current = _round(state)
    drawn = tuple(replace(card, open=True) for card in current.drawn)
    voided = replace(current, phase=Phase.VOID, voided=event, drawn=drawn)
    pending = state.correction
    return replace(
        state,
        correction=None if pending is not None and pending.of_running else pending,
        round=voided,
        stage=_after_round(state),
        fault=state.fault if state.fault and state.fault.held else None,
        # A supervisor's void answers STOP and call; the studio's own leaves both to a supervisor.
        stopped=state.stopped and event.by == STUDIO,
        pit_called=state.pit_called and event.by == STUDIO,
    )


def _round_corrected(state: TableState, event: RoundCorrected) -> TableState:
    """Change the round and its mark where this shoe still shows them; the cards stay as read."""
    if state.correction is not None:
        state = replace(state, correction=state.correction.without(event.round_id))
    if event.epoch != state.epoch:
        return state
    current = state.round
    if current is not None and current.id == event.round_id:
        phase = Phase.VOID if event.void else Phase.SETTLED
        current = replace(current, phase=phase, corrected=event)
    lines = {line.number: line for line in state.road}
    lines.pop(event.number, None)
    if state.shoe is not None and not event.void:
        lines[event.number] = RoadLine(number=event.number, marks=event.marks)
    return replace(state, round=current, road=tuple(lines[number] for number in sorted(lines)))


def _card_held(state: TableState, event: CardHeld) -> TableState:
    card = drawn_card(event, "aside", 0) if event.commitment else None
    fault = Fault(code=event.fault, reason=event.fault, held=True, card=card)
    return replace(state, fault=fault)


def _held_released(state: TableState) -> TableState:
    fault = state.fault
    assert fault is not None
    if fault.card is None:
        return replace(state, fault=None)
    # The card came out of the shoe and can't go back into it: it counts as burnt, so
    # that the shoe still closes, and is revealed with the opening burns.
    shoe = _shoe(state).pass_card(fault.card.card, fault.card.serial, burnt=True)
    shoe = replace(shoe, opening_burns=(*shoe.opening_burns, fault.card))
    return replace(state, fault=None, shoe=shoe)


def _stopped(state: TableState, event: DealingStopped) -> TableState:
    shoe = state.shoe
    if shoe is not None and event.by == STUDIO:
        shoe = replace(shoe, order_repeated=True)
    return replace(state, stopped=True, shoe=shoe)


def _link_lost(state: TableState, event: LinkLost) -> TableState:
    state = replace(state, links_lost=state.links_lost | {event.link})
    current = state.round
    if current is None or not current.running:
        return state
    if current.started:
        return replace(state, round=replace(current, interrupted=True))
    # A second link that is lost gives the round no more time.
    cancels_ms = event.cancels_ms if current.cancels_ms is None else current.cancels_ms
    return replace(state, round=replace(current, cancels_ms=cancels_ms))


def _link_restored(state: TableState, event: LinkRestored) -> TableState:
    state = replace(state, links_lost=state.links_lost - {event.link})
    if state.links_lost or state.round is None:
        return state
    return replace(state, round=replace(state.round, cancels_ms=None))
