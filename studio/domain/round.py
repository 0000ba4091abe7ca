"""One round: from the opening of the betting window to its settlement.

    idle -> betting -> no_more_bets -> reveal -> settled
              |             |            |
              +-------------+------------+--> void

A round has *started* when its first card (the burn card) is drawn. `interrupted` is a flag: a
link was away while a started round ran to its end. Source: DESIGN sections 4 and 6.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum, unique
from fractions import Fraction
from typing import Any

from studio.domain.event_parts import BetResult, HandResult, Mark
from studio.domain.events import (
    BettingClosed,
    CardsRevealed,
    RoundCorrected,
    RoundSettled,
    RoundVoided,
)
from studio.domain.game import (
    AnyGame,
    Deal,
    Evaluation,
    Request,
    Reveal,
    Revealed,
    Settle,
)
from studio.domain.shoe import Drawn

BURN = "burn"
"""The position of cards burnt in a round."""


@unique
class Phase(StrEnum):
    """Where a round is."""

    IDLE = "idle"
    """No round of this shoe has been opened yet."""
    BETTING = "betting"
    """Wagers are accepted; cards may already be dealt, face down."""
    NO_MORE_BETS = "no_more_bets"
    """The window has closed; cards are still being dealt."""
    REVEAL = "reveal"
    """All that lies face down is dealt; hands are opened."""
    SETTLED = "settled"
    """Results, payouts and balances are booked."""
    VOID = "void"
    """Annulled; every wager refunded."""


RUNNING = frozenset({Phase.BETTING, Phase.NO_MORE_BETS, Phase.REVEAL})


@dataclass(frozen=True, kw_only=True)
class Round:
    """The state of one round."""

    id: str
    number: int
    opened_ms: int
    window_closes_ms: int
    rule_version: str
    paytable_version: str
    phase: Phase
    game_state: Any
    """The plug-in's own state; the engine never looks into it."""
    drawn: tuple[Drawn, ...] = ()
    burnt: int = 0
    """Cards burnt in this round, read or not."""
    interrupted: bool = False
    book: BettingClosed | None = None
    settled: RoundSettled | None = None
    voided: RoundVoided | None = None
    corrected: RoundCorrected | None = None
    """The correction that stands."""
    cancels_ms: int | None = None
    """When the studio cancels it, unless its first card is drawn or every link is back before."""

    @property
    def started(self) -> bool:
        """Whether the first card is drawn: from then on the round runs to its end."""
        return bool(self.drawn) or self.burnt > 0

    @property
    def running(self) -> bool:
        """Whether the round still needs to end."""
        return self.phase in RUNNING

    @property
    def waits(self) -> bool:
        """Whether it runs and its first card is still to be drawn."""
        return self.running and not self.started


def promote(game: AnyGame, current: Round) -> Round:
    """Return the round in phase `reveal` once bets are closed and cards may be opened."""
    if current.phase is not Phase.NO_MORE_BETS:
        return current
    request = game.next(current.game_state)
    opens = isinstance(request, Reveal | Settle) or (isinstance(request, Deal) and request.face_up)
    return replace(current, phase=Phase.REVEAL) if opens else current


def reveal(game: AnyGame, current: Round, event: CardsRevealed) -> Round:
    """Return the round with these cards open; the game is told when it had asked for it."""
    opened = {(card.position, card.index) for card in event.cards}
    drawn = tuple(
        replace(card, open=True) if (card.position, card.index) in opened else card
        for card in current.drawn
    )
    game_state = current.game_state
    request = game.next(game_state)
    if isinstance(request, Reveal) and request.positions == event.positions:
        game_state = game.apply(game_state, Revealed(positions=event.positions))
    return replace(current, drawn=drawn, game_state=game_state)


def opening(current: Round, positions: tuple[str, ...]) -> CardsRevealed:
    """Return the event that opens the cards of these positions that are not open yet."""
    cards = tuple(
        card.opened() for card in current.drawn if card.position in positions and not card.open
    )
    return CardsRevealed(scope=current.id, positions=positions, cards=cards)


def last_burns(game: AnyGame, current: Round, after: object) -> tuple[CardsRevealed, ...]:
    """Return the opening of the round's burnt cards, once nothing but the settlement is left.

    `after` is the game's state then. A player can so check every card of the round against its
    commitment.
    """
    burns = any(card.position == BURN for card in current.drawn)
    return (opening(current, (BURN,)),) if burns and isinstance(game.next(after), Settle) else ()


def request_of(game: AnyGame, current: Round | None) -> Request | None:
    """Return what the game asks for, None when no round runs."""
    if current is None or not current.running:
        return None
    return game.next(current.game_state)


def results(nets: Mapping[str, Fraction], reasons: Mapping[str, str]) -> tuple[BetResult, ...]:
    """Return the results as they stand in the log."""
    return tuple(
        BetResult(bet=bet, net=str(net), reason=reasons.get(bet, "")) for bet, net in nets.items()
    )


def marks_and_hands(evaluation: Evaluation) -> tuple[tuple[Mark, ...], tuple[HandResult, ...]]:
    """Return road marks and hand values as they stand in the log."""
    marks = tuple(
        Mark(position=mark.position, result=mark.result, rings=mark.rings)
        for mark in evaluation.marks
    )
    hands = tuple(
        HandResult(position=hand.position, points=hand.points, name=hand.name)
        for hand in evaluation.hands
    )
    return marks, hands
