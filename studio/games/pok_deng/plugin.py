"""Pok Deng as the studio plays it: what to draw, open and settle, in order.

    Burn -> Deal P1..P5,B twice -> Reveal P1 .. Reveal B -> Settle -> Done      (scan_at = draw)
    Burn -> Deal both cards of P1, then P2 .. B, face up -> Settle -> Done    (scan_at = reveal)

With `scan_at = reveal` the cards lie face down on the felt unread and are read as they are
opened, hand by hand. Source: rule book, section 17; document 004.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from studio.domain.card_games import (
    BURN_PER_ROUND_MAX,
    DECKS_MAX,
    burn_count,
    need_card,
    need_within,
    no_decisions,
    not_asked,
    unknown_bet,
)
from studio.domain.cards import ALL_CARDS, Card, Piece
from studio.domain.errors import MalformedError, RefusedError
from studio.domain.game import (
    Bank,
    Bet,
    Burn,
    Burnt,
    Deal,
    Decision,
    Description,
    Done,
    Evaluation,
    GameConfig,
    GameEvent,
    HandValue,
    HandView,
    Json,
    Movement,
    PieceKind,
    Place,
    Position,
    Request,
    Reveal,
    Revealed,
    RoadMark,
    ScanAt,
    Scanned,
    Seat,
    Settle,
    Settled,
    SpotResult,
    View,
)
from studio.domain.theory import TheoreticalReturn, expected
from studio.games.pok_deng.bets import (
    BANKER,
    BETS,
    CHANGES,
    PAYTABLE_VERSION,
    POSITIONS,
    RULE_VERSION,
    BetKind,
)
from studio.games.pok_deng.operations import OPERATIONS
from studio.games.pok_deng.returns import covariance, enumerate_return
from studio.games.pok_deng.rules import Hand, classify, main_bet, pair_bet

CARDS_PER_HAND = 2
CARDS_PER_ROUND = CARDS_PER_HAND * len(POSITIONS)
NAME = "Pok Deng"

_BET_BY_CODE = {bet.code: bet for bet in BETS}
_KIND_BY_NAME = {
    **{kind.value: kind for kind in BetKind},
    **{bet.code: BetKind(bet.settles_on) for bet in BETS},
}

_DEALT_ROUND_BY_ROUND = tuple(
    (position, index) for index in range(CARDS_PER_HAND) for position in POSITIONS
)
_OPENED_HAND_BY_HAND = tuple(
    (position, index) for position in POSITIONS for index in range(CARDS_PER_HAND)
)


def _places(scan_at: ScanAt) -> tuple[Place, ...]:
    return _DEALT_ROUND_BY_ROUND if scan_at is ScanAt.DRAW else _OPENED_HAND_BY_HAND


@dataclass(frozen=True, kw_only=True)
class PokDengState:
    """One round: cards in the order they were read."""

    scan_at: ScanAt
    burn_left: int
    cards: tuple[Card, ...] = ()
    opened: int = 0
    """Hands revealed so far, in the order of `POSITIONS`; stays 0 with `scan_at = reveal`."""
    settled: bool = False

    @property
    def places(self) -> tuple[Place, ...]:
        """Where the cards of a round go, in the order they are read."""
        return _places(self.scan_at)

    def hand(self, position: Position) -> tuple[Card, ...]:
        """The cards read for a position, open or not."""
        read = zip(self.places, self.cards, strict=False)
        return tuple(card for (at, _), card in read if at == position)

    def visible(self, position: Position) -> tuple[Card, ...]:
        """The cards of a position that lie open."""
        if self.scan_at is ScanAt.REVEAL or POSITIONS.index(position) < self.opened:
            return self.hand(position)
        return ()


class PokDeng:
    """The plug-in. It has no state of its own."""

    code = "pok_deng"
    operations: Mapping[str, Callable[[Mapping[str, Json]], Mapping[str, Json]]] = OPERATIONS

    def describe(self, config: GameConfig) -> Description:
        """Return what a round is made of; the only choices are decks, burn and scan order."""
        if config.options:
            name = min(config.options)
            raise MalformedError(
                "unknown_option", f"Pok Deng has no option {name!r}; remove it.", option=name
            )
        need_within("decks", config.decks, least=1, most=DECKS_MAX)
        need_within("burn_per_round", config.burn_per_round, least=0, most=BURN_PER_ROUND_MAX)
        return Description(
            game=self.code,
            piece_kind=PieceKind.CARD,
            pieces=ALL_CARDS,
            decks=config.decks,
            shoe=True,
            bank=Bank.HOUSE,
            seats_min=0,
            seats_max=0,
            roles=(),
            positions=POSITIONS,
            places=_places(config.scan_at),
            pieces_per_round_max=config.burn_per_round + CARDS_PER_ROUND,
            bets=BETS,
            jackpots=(),
            clock_ms=0,
            tax=Fraction(0),
            rule_version=RULE_VERSION,
            paytable_version=PAYTABLE_VERSION,
            rule_changes=CHANGES,
        )

    def exposure(
        self, state: PokDengState | None, bet: str, decision: Decision | None
    ) -> tuple[Fraction, Fraction]:
        """Return the most (bettor, bank) can lose per unit; the same before and after the deal."""
        del state
        if decision is not None:
            raise no_decisions(NAME)
        try:
            found = _BET_BY_CODE[bet]
        except KeyError:
            raise unknown_bet(bet, _KIND_BY_NAME) from None
        return found.exposure, found.bank_exposure

    def start(
        self,
        config: GameConfig,
        *,
        seats: tuple[Seat, ...],
        roles: Mapping[str, Seat],
        bets: Mapping[Seat, Mapping[str, int]],
        carry: Mapping[str, Json],
    ) -> PokDengState:
        """Return a round before its burn card. Nothing is carried from round to round."""
        self.describe(config)
        if seats or roles or bets or carry:
            raise MalformedError(
                "seats_not_allowed", "Pok Deng has bettors only: no seats, roles, bets or carry."
            )
        return PokDengState(scan_at=config.scan_at, burn_left=config.burn_per_round)

    def next(self, state: PokDengState) -> Request:
        """Return the one thing that comes next."""
        if state.burn_left:
            return Burn(count=state.burn_left)
        if len(state.cards) < CARDS_PER_ROUND:
            position, index = state.places[len(state.cards)]
            return Deal(position=position, index=index, face_up=state.scan_at is ScanAt.REVEAL)
        if state.scan_at is ScanAt.DRAW and state.opened < len(POSITIONS):
            return Reveal(positions=(POSITIONS[state.opened],))
        return Done(carry={}) if state.settled else Settle()

    def apply(self, state: PokDengState, event: GameEvent) -> PokDengState:
        """Return the state after the answer to `next`; anything else is refused."""
        match self.next(state), event:
            case Burn(), Scanned() if state.scan_at is ScanAt.DRAW:
                need_card(event.piece, game=NAME)
                return replace(state, burn_left=state.burn_left - 1)
            case Burn(count=count), Burnt(count=done) if state.scan_at is ScanAt.REVEAL:
                if not 1 <= done <= count:
                    raise RefusedError("burn_count_wrong", f"Burn {count}, not {done}.")
                return replace(state, burn_left=count - done)
            case Deal(), Scanned():
                return replace(state, cards=(*state.cards, need_card(event.piece, game=NAME)))
            case Reveal() as asked, Revealed():
                if (event.positions, event.only) != (asked.positions, asked.only):
                    raise RefusedError("reveal_order", f"Open {asked.positions[0]} now.")
                return replace(state, opened=state.opened + 1)
            case Settle(), Settled():
                return replace(state, settled=True)
            case asked, _:
                raise not_asked(asked, event, game=NAME)

    def view(self, state: PokDengState, viewer: str) -> View:
        """Return the open cards: everybody sees the same."""
        del viewer
        return View(
            hands=tuple(
                HandView(
                    position=position,
                    count=len(state.hand(position)),
                    visible=tuple(enumerate(state.visible(position))),
                )
                for position in POSITIONS
            )
        )

    def evaluate(self, state: PokDengState) -> Evaluation:
        """Return the open hands' values, and marks once the banker's hand is open too."""
        hands = {
            position: classify(*cards)
            for position in POSITIONS
            if len(cards := state.visible(position)) == CARDS_PER_HAND
        }
        banker = hands.get(BANKER)
        return Evaluation(
            hands=tuple(_hand_value(position, hand) for position, hand in hands.items()),
            marks=tuple(
                RoadMark(
                    position=position,
                    result=main_bet(hand, banker).result,
                    rings=_rings(hand),
                )
                for position, hand in hands.items()
                if banker is not None and position != BANKER
            ),
        )

    def opening_burn(self, piece: Piece) -> int:
        """Return the value of the first card of a new shoe: that many are burnt."""
        return burn_count(need_card(piece, game=NAME))

    def settle(self, state: PokDengState) -> tuple[Movement, ...]:
        """Return what each of the ten bets brings."""
        if not isinstance(self.next(state), Settle):
            raise RefusedError("round_not_finished", "The round has not come to its settlement.")
        hands = {position: classify(*state.hand(position)) for position in POSITIONS}
        banker = hands[BANKER]
        return tuple(_spot(bet, hands[bet.position], banker) for bet in BETS if bet.position)

    def theoretical(self, bet: str, config: GameConfig) -> TheoreticalReturn:
        """Return the exact return of `main` or `pair`, or of a bet of that kind."""
        if bet not in _KIND_BY_NAME:
            raise unknown_bet(bet, _KIND_BY_NAME)
        decks = self.describe(config).decks
        kind = _KIND_BY_NAME[bet]
        outcomes = enumerate_return(kind, decks)
        return TheoreticalReturn(
            bet=bet,
            decks=decks,
            rtp=1 + expected(outcomes),
            outcomes=outcomes,
            covariance=covariance(kind, decks),
        )


def _spot(bet: Bet, player: Hand, banker: Hand) -> SpotResult:
    main = bet.settles_on == BetKind.MAIN
    verdict = main_bet(player, banker) if main else pair_bet(player)
    return SpotResult(bet=bet.code, net=verdict.net, reason=verdict.reason)


def _rings(hand: Hand) -> tuple[str, ...]:
    """The road's extra marks: the outer ring for a flush, the yellow dot for a pair."""
    return (*(("flush",) if hand.suited else ()), *(("pair",) if hand.paired else ()))


def _hand_value(position: Position, hand: Hand) -> HandValue:
    return HandValue(
        position=position,
        key=(hand.value_tenths,),
        points=str(hand.value),
        name=hand.pattern,
        reasons=_rings(hand),
    )
