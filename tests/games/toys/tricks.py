"""A toy trick game in points: three cards each, one may be swapped, then three tricks in turn.

Pairwise: each trick is worth a point from the loser. Proves swaps, cards played one by one and
a leader that is carried over to the next round.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

from studio.domain.cards import ALL_CARDS, RANKS, Card
from studio.domain.errors import MalformedError, RefusedError
from studio.domain.game import (
    Action,
    Bank,
    Bet,
    Deal,
    Decide,
    Decision,
    Description,
    Done,
    Evaluation,
    Expired,
    HandView,
    Left,
    Order,
    PieceKind,
    Points,
    Reveal,
    Revealed,
    Scanned,
    Settle,
    Settled,
    View,
)

CARDS = 3
CLOCK_MS = 20_000
TABLE = 2


@dataclass(frozen=True, kw_only=True)
class Tricks:
    seats: tuple[str, ...]
    leader: str
    hands: tuple[tuple[Card | None, ...], ...]
    """By seat and place; None: not dealt, or given back."""
    swaps: tuple[tuple[str, int | None], ...] = ()
    refilled: bool = False
    played: tuple[tuple[str, int], ...] = ()
    opened: int = 0
    away: frozenset[str] = frozenset()
    settled: bool = False

    @property
    def unswapped(self):
        done = {seat for seat, _ in self.swaps}
        return tuple(seat for seat in self.seats if seat not in done)

    @property
    def empty(self):
        """Places to deal, seat by seat."""
        return tuple(
            (seat, index)
            for index in range(CARDS)
            for seat, hand in zip(self.seats, self.hands, strict=True)
            if hand[index] is None
        )

    @property
    def given(self):
        return tuple((seat, index) for seat, index in self.swaps if index is not None)

    def card(self, seat, index):
        return self.hands[self.seats.index(seat)][index]

    def other(self, seat):
        return self.seats[1 - self.seats.index(seat)]

    def winner(self, trick):
        lead, follow = self.played[2 * trick : 2 * trick + 2]
        first, second = self.card(*lead), self.card(*follow)
        beats = second.suit is first.suit and RANKS.index(second.rank) > RANKS.index(first.rank)
        return follow[0] if beats else lead[0]

    @property
    def turn(self):
        if len(self.played) % 2:
            return self.other(self.played[-1][0])
        return self.winner(len(self.played) // 2 - 1) if self.played else self.leader

    def unplayed(self, seat):
        return tuple(
            (index, self.card(seat, index))
            for index in range(CARDS)
            if (seat, index) not in self.played
        )


class TrickToy:
    code = "toy_tricks"
    operations = MappingProxyType({})

    def describe(self, config):
        return Description(
            game=self.code,
            piece_kind=PieceKind.CARD,
            pieces=ALL_CARDS,
            decks=1,
            shoe=False,
            bank=Bank.PAIRWISE,
            seats_min=TABLE,
            seats_max=TABLE,
            roles=("leader",),
            positions=("seat1", "seat2"),
            places=(),
            pieces_per_round_max=(CARDS + 1) * TABLE,
            bets=(
                Bet(
                    code="points",
                    position="seat1",
                    exposure=Fraction(CARDS),
                    bank_exposure=Fraction(0),
                    settles_on="points",
                ),
            ),
            jackpots=(),
            clock_ms=CLOCK_MS,
            tax=Fraction(0),
            rule_version="toy_tricks.1",
            paytable_version="toy_tricks.1",
        )

    def exposure(self, state, bet, decision):
        if bet != "points":
            raise MalformedError("unknown_bet", "Only points.")
        return Fraction(CARDS), Fraction(0)

    def start(self, config, *, seats, roles, bets, carry):
        return Tricks(
            seats=seats,
            leader=carry.get("leader", roles["leader"]),
            hands=((None,) * CARDS,) * TABLE,
        )

    def next(self, state):
        if state.empty and not state.swaps:
            return self._deal(state.empty[0], ())
        if state.unswapped:
            return self._ask_swap(state)
        if state.given and not state.refilled:
            return self._deal(state.given[0], state.given)
        if state.empty:
            return self._deal(state.empty[0], ())
        if state.opened < len(state.played):
            place = state.played[state.opened]
            return Reveal(positions=(place[0],), only=(place,))
        if len(state.played) < CARDS * TABLE:
            return self._ask_card(state)
        if not state.settled:
            return Settle()
        return Done(carry={"leader": state.winner(CARDS - 1)})

    def _deal(self, place, takes_back):
        seat, index = place
        return Deal(
            position=seat,
            index=index,
            face_up=False,
            viewers=frozenset({seat}),
            takes_back=takes_back,
        )

    def _ask_swap(self, state):
        return Decide(
            seats=state.unswapped,
            order=Order.SIMULTANEOUS,
            actions={
                seat: (
                    Action(name="keep"),
                    Action(name="swap", pieces=state.hands[state.seats.index(seat)]),
                )
                for seat in state.unswapped
            },
            clock_ms=CLOCK_MS,
            default={seat: Decision(seat=seat, action="keep") for seat in state.unswapped},
        )

    def _ask_card(self, state):
        seat = state.turn
        cards = tuple(card for _, card in state.unplayed(seat))
        if len(state.played) % 2:
            led = self._led(state)
            cards = tuple(card for card in cards if card.suit is led.suit) or cards
        lowest = min(cards, key=lambda card: RANKS.index(card.rank))
        return Decide(
            seats=(seat,),
            order=Order.IN_TURN,
            actions={seat: (Action(name="play", pieces=cards),)},
            clock_ms=CLOCK_MS,
            default={seat: Decision(seat=seat, action="play", pieces=(lowest,))},
            turn=1 + len(state.played),
        )

    def _led(self, state):
        return state.card(*state.played[-1])

    def apply(self, state, event):
        request = self.next(state)
        match request, event:
            case _, Left(seat=seat) if seat in state.seats:
                return self._silent(replace(state, away=state.away | {seat}))
            case Deal(), Scanned(piece=piece):
                return self._silent(self._dealt(state, request, piece))
            case Decide(), Expired(seat=seat) if seat in request.seats:
                return self._silent(self._decide(state, request, request.default[seat]))
            case Decide(), Decision(seat=seat) if seat in request.seats:
                return self._silent(self._decide(state, request, event))
            case Reveal(), Revealed(positions=positions, only=only) if (positions, only) == (
                request.positions,
                request.only,
            ):
                return self._silent(replace(state, opened=state.opened + 1))
            case Settle(), Settled():
                return replace(state, settled=True)
        raise RefusedError("not_asked_for", "Not now.")

    def _silent(self, state):
        while isinstance(request := self.next(state), Decide) and (
            away := [seat for seat in request.seats if seat in state.away]
        ):
            state = self._decide(state, request, request.default[away[0]])
        return state

    def _dealt(self, state, request, piece):
        hands = [list(hand) for hand in state.hands]
        for seat, index in request.takes_back:
            hands[state.seats.index(seat)][index] = None
        hands[state.seats.index(request.position)][request.index] = piece
        return replace(
            state,
            hands=tuple(tuple(hand) for hand in hands),
            refilled=state.refilled or bool(request.takes_back),
        )

    def _decide(self, state, request, decision):
        seat = decision.seat
        legal = {action.name: action.pieces for action in request.actions[seat]}
        if decision.action not in legal or not set(decision.pieces) <= set(legal[decision.action]):
            raise RefusedError("action_not_allowed", "Not that.")
        if decision.action == "keep":
            return replace(state, swaps=(*state.swaps, (seat, None)))
        if len(decision.pieces) != 1:
            raise RefusedError("action_not_allowed", "Name one card.")
        index = state.hands[state.seats.index(seat)].index(decision.pieces[0])
        if decision.action == "swap":
            return replace(state, swaps=(*state.swaps, (seat, index)))
        return replace(state, played=(*state.played, (seat, index)))

    def view(self, state, viewer):
        public = set(state.played[: state.opened])
        return View(
            hands=tuple(
                HandView(
                    position=seat,
                    count=sum(card is not None for card in hand),
                    visible=tuple(
                        (index, card)
                        for index, card in enumerate(hand)
                        if card is not None and (seat == viewer or (seat, index) in public)
                    ),
                )
                for seat, hand in zip(state.seats, state.hands, strict=True)
            ),
            facts={"swapped": [seat for seat, _ in state.swaps]},
        )

    def evaluate(self, state):
        return Evaluation(hands=(), marks=())

    def opening_burn(self, piece):
        raise MalformedError("no_opening_burn", "No shoe.")

    def settle(self, state):
        if not isinstance(self.next(state), Settle):
            raise RefusedError("round_not_finished", "Not yet.")
        winners = [state.winner(trick) for trick in range(CARDS)]
        return tuple(
            point
            for winner in winners
            for point in (
                Points(seat=winner, points=1, reason="trick"),
                Points(seat=state.other(winner), points=-1, reason="trick"),
            )
        )

    def theoretical(self, bet, config):
        raise MalformedError("no_theoretical", "People decide.")
