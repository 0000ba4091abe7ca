"""Baccarat as the studio plays it: what to deal and settle, in order.

    Burn -> Deal P, B, P, B face up -> third cards by the table -> Settle -> Done

Nothing lies face down but a burnt card, so that the deal waits for the betting window to close.
Source: rule book, section 1.
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
    pips,
    unknown_bet,
)
from studio.domain.cards import ALL_CARDS, Card, Piece
from studio.domain.errors import MalformedError, RefusedError
from studio.domain.game import (
    Bank,
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
    Request,
    RoadKind,
    RoadMark,
    ScanAt,
    Scanned,
    Seat,
    Settle,
    Settled,
    View,
)
from studio.domain.theory import TheoreticalReturn, expected
from studio.games.baccarat.bets import (
    CHANGES,
    RULE_VERSION,
    SPOTS,
    BetKind,
    Paytable,
    paytable,
    results,
)
from studio.games.baccarat.operations import OPERATIONS
from studio.games.baccarat.returns import covariance, enumerate_return
from studio.games.baccarat.rules import (
    CARDS_BEFORE_THIRD,
    CARDS_MAX,
    Side,
    Winner,
    calls,
    drawing,
    is_natural,
    total,
    winner,
)

NAME = "Baccarat"
_KINDS = {**{kind.value: kind for kind in BetKind}, **{code: SPOTS[code][0] for code in SPOTS}}
_RESULT = {Winner.PLAYER: "win", Winner.BANKER: "lose", Winner.TIE: "tie"}


@dataclass(frozen=True, kw_only=True)
class BaccaratState:
    """One round: the cards of both sides in the order of the deal."""

    pays: Paytable
    scan_at: ScanAt
    burn_left: int
    hands: Mapping[Side, tuple[Card, ...]]
    settled: bool = False

    @property
    def drawing(self) -> Side | None:
        """Who gets the next card, None when all is dealt."""
        player, banker = self.hands[Side.PLAYER], self.hands[Side.BANKER]
        if len(banker) < CARDS_BEFORE_THIRD:
            return Side.PLAYER if len(player) == len(banker) else Side.BANKER
        return drawing(self.pips(Side.PLAYER), self.pips(Side.BANKER))

    def pips(self, side: Side) -> tuple[int, ...]:
        """What the cards of a side count."""
        return tuple(pips(card) for card in self.hands[side])

    def paired(self, side: Side) -> bool:
        """Whether a side's first two cards are of one rank."""
        first, second = self.hands[side][:CARDS_BEFORE_THIRD]
        return first.rank is second.rank

    @property
    def finished(self) -> bool:
        """Whether all is dealt."""
        return self.burn_left == 0 and self.drawing is None


class Baccarat:
    """The plug-in. It has no state of its own."""

    code = "baccarat"
    operations: Mapping[str, Callable[[Mapping[str, Json]], Mapping[str, Json]]] = OPERATIONS

    def describe(self, config: GameConfig) -> Description:
        """Return what a round is made of; options: `tie_gross`, `pair_bets`, `online_bonus`."""
        pays = paytable(config.options)
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
            positions=tuple(Side),
            places=tuple((side, index) for index in range(CARDS_MAX) for side in Side),
            pieces_per_round_max=config.burn_per_round + CARDS_MAX * len(Side),
            bets=pays.bets,
            jackpots=(),
            clock_ms=0,
            tax=Fraction(0),
            rule_version=RULE_VERSION,
            paytable_version=pays.version,
            rule_changes=CHANGES,
            road=RoadKind.TWO_SIDED,
            play_money_only=("online_bonus",) if pays.online_bonus else (),
        )

    def exposure(
        self, state: BaccaratState | None, bet: str, decision: Decision | None
    ) -> tuple[Fraction, Fraction]:
        """Return the most (bettor, bank) can lose per unit; a bettor loses the stake at most.

        Without a state the options are not known: the bank's part is then that of the dearest.
        """
        if decision is not None:
            raise no_decisions(NAME)
        if bet not in SPOTS:
            raise unknown_bet(bet, SPOTS)
        pays = state.pays if state else Paytable(tie_gross=9, pair_bets=True, online_bonus=True)
        return Fraction(1), pays.gross(SPOTS[bet][0]) - 1

    def start(
        self,
        config: GameConfig,
        *,
        seats: tuple[Seat, ...],
        roles: Mapping[str, Seat],
        bets: Mapping[Seat, Mapping[str, int]],
        carry: Mapping[str, Json],
    ) -> BaccaratState:
        """Return a round before its first card. Nothing is carried from round to round."""
        self.describe(config)
        if seats or roles or bets or carry:
            raise MalformedError(
                "seats_not_allowed", f"{NAME} has bettors only: no seats, roles, bets or carry."
            )
        return BaccaratState(
            pays=paytable(config.options),
            scan_at=config.scan_at,
            burn_left=config.burn_per_round,
            hands={side: () for side in Side},
        )

    def next(self, state: BaccaratState) -> Request:
        """Return the one thing that comes next."""
        if state.burn_left:
            return Burn(count=state.burn_left)
        if (side := state.drawing) is not None:
            return Deal(position=side, index=len(state.hands[side]), face_up=True)
        return Done(carry={}) if state.settled else Settle()

    def apply(self, state: BaccaratState, event: GameEvent) -> BaccaratState:
        """Return the state after the answer to `next`; anything else is refused."""
        match self.next(state), event:
            case Burn(), Scanned() if state.scan_at is ScanAt.DRAW:
                need_card(event.piece, game=NAME)
                return replace(state, burn_left=state.burn_left - 1)
            case Burn(count=count), Burnt(count=done) if state.scan_at is ScanAt.REVEAL:
                if not 1 <= done <= count:
                    raise RefusedError("burn_count_wrong", f"Burn {count}, not {done}.")
                return replace(state, burn_left=count - done)
            case Deal(position=position), Scanned():
                side, card = Side(position), need_card(event.piece, game=NAME)
                hands = {**state.hands, side: (*state.hands[side], card)}
                return replace(state, hands=hands)
            case Settle(), Settled():
                return replace(state, settled=True)
            case asked, _:
                raise not_asked(asked, event, game=NAME)

    def view(self, state: BaccaratState, viewer: str) -> View:
        """Return the cards, which lie open, and what the dealer calls: for everybody the same."""
        del viewer
        return View(
            hands=tuple(
                HandView(position=side, count=len(cards), visible=tuple(enumerate(cards)))
                for side, cards in state.hands.items()
            ),
            calls=calls(state.pips(Side.PLAYER), state.pips(Side.BANKER)),
        )

    def evaluate(self, state: BaccaratState) -> Evaluation:
        """Return the totals of hands with two cards or more, and the mark of a finished round."""
        return Evaluation(
            hands=tuple(
                _hand_value(side, state.pips(side))
                for side, cards in state.hands.items()
                if len(cards) >= CARDS_BEFORE_THIRD
            ),
            marks=(self._mark(state),) if state.finished else (),
        )

    def _mark(self, state: BaccaratState) -> RoadMark:
        won = winner(state.pips(Side.PLAYER), state.pips(Side.BANKER))
        rings = tuple(f"{side.name.lower()}_pair" for side in Side if state.paired(side))
        return RoadMark(position=Side.PLAYER, result=_RESULT[won], rings=rings)

    def opening_burn(self, piece: Piece) -> int:
        """Return the value of the first card of a new shoe: that many are burnt."""
        return burn_count(need_card(piece, game=NAME))

    def settle(self, state: BaccaratState) -> tuple[Movement, ...]:
        """Return what each bet on offer brings."""
        if not isinstance(self.next(state), Settle):
            raise RefusedError("round_not_finished", "The round has not come to its settlement.")
        won = winner(state.pips(Side.PLAYER), state.pips(Side.BANKER))
        return results(state.pays, won, {side: state.paired(side) for side in Side})

    def theoretical(self, bet: str, config: GameConfig) -> TheoreticalReturn:
        """Return the exact return of `player`, `banker`, `tie` or `pair`, or of a bet's code."""
        if bet not in _KINDS:
            raise unknown_bet(bet, _KINDS)
        decks, pays, kind = self.describe(config).decks, paytable(config.options), _KINDS[bet]
        outcomes = enumerate_return(kind, decks, pays)
        return TheoreticalReturn(
            bet=bet,
            decks=decks,
            rtp=1 + expected(outcomes),
            outcomes=outcomes,
            covariance=covariance(kind, decks, pays),
        )


def _hand_value(side: Side, hand: tuple[int, ...]) -> HandValue:
    return HandValue(
        position=side,
        key=(total(hand),),
        points=str(total(hand)),
        name="natural" if is_natural(hand) else "plain",
    )
