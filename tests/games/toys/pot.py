"""A toy pot game: ante, one hidden card, one betting round in turn, the highest card wins."""

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
    HandValue,
    HandView,
    Left,
    Order,
    PieceKind,
    Pot,
    Reveal,
    Revealed,
    Scanned,
    Settle,
    Settled,
    View,
)

ANTE = 10
CLOCK_MS = 15_000


@dataclass(frozen=True, kw_only=True)
class Betting:
    seats: tuple[str, ...]
    """Clockwise from the seat left of the button."""
    button: str
    stacks: tuple[int, ...]
    put: tuple[int, ...]
    cards: tuple[Card, ...] = ()
    last: str | None = None
    acted: frozenset[str] = frozenset()
    folded: frozenset[str] = frozenset()
    away: frozenset[str] = frozenset()
    open: bool = False
    settled: bool = False

    @property
    def live(self):
        return tuple(seat for seat in self.seats if seat not in self.folded)

    def left(self, seat):
        at = self.seats.index(seat)
        return self.stacks[at] - self.put[at]

    def owed(self, seat):
        return max(self.put) - self.put[self.seats.index(seat)]

    @property
    def to_act(self):
        """Seats that still have to act, clockwise from the seat that acted last."""
        if len(self.live) == 1:
            return ()
        at = self.seats.index(self.last) + 1 if self.last else 0
        return tuple(
            seat
            for seat in self.seats[at:] + self.seats[:at]
            if seat in self.live and self.left(seat) and (seat not in self.acted or self.owed(seat))
        )


class PotToy:
    code = "toy_pot"
    operations = MappingProxyType({})

    def describe(self, config):
        return Description(
            game=self.code,
            piece_kind=PieceKind.CARD,
            pieces=ALL_CARDS,
            decks=1,
            shoe=False,
            bank=Bank.POT,
            seats_min=2,
            seats_max=6,
            roles=("button",),
            positions=tuple(f"seat{seat}" for seat in range(1, 7)),
            places=(),
            pieces_per_round_max=6,
            bets=(
                Bet(
                    code="stack",
                    position="seat1",
                    exposure=Fraction(1),
                    bank_exposure=Fraction(0),
                    settles_on="stack",
                ),
            ),
            jackpots=(),
            clock_ms=CLOCK_MS,
            tax=Fraction(3, 100),
            rule_version="toy_pot.1",
            paytable_version="toy_pot.1",
            rotating_roles=("button",),
        )

    def exposure(self, state, bet, decision):
        if bet != "stack":
            raise MalformedError("unknown_bet", "Only the stack is at risk.")
        return Fraction(1), Fraction(0)

    def start(self, config, *, seats, roles, bets, carry):
        button = carry.get("button", roles["button"])
        at = seats.index(button) + 1
        seats = seats[at:] + seats[:at]
        stacks = tuple(bets[seat]["stack"] for seat in seats)
        return Betting(
            seats=seats,
            button=button,
            stacks=stacks,
            put=tuple(min(ANTE, stack) for stack in stacks),
        )

    def next(self, state):
        if len(state.cards) < len(state.seats):
            seat = state.seats[len(state.cards)]
            return Deal(position=seat, index=0, face_up=False, viewers=frozenset({seat}))
        if state.to_act:
            seat = state.to_act[0]
            return Decide(
                seats=(seat,),
                order=Order.IN_TURN,
                actions={seat: self._actions(state, seat)},
                clock_ms=CLOCK_MS,
                default={seat: self._default(state, seat)},
                turn=len(state.acted) + sum(state.put),
            )
        if not state.open and len(state.live) > 1:
            return Reveal(positions=state.live)
        if not state.settled:
            return Settle()
        after = state.seats[0]
        return Done(carry={"button": after})

    def _actions(self, state, seat):
        owed, left = state.owed(seat), state.left(seat)
        if owed:
            return (Action(name="call"), Action(name="fold"))
        return (Action(name="check"), Action(name="bet", amount_min=1, amount_max=left))

    def _default(self, state, seat):
        return Decision(seat=seat, action="fold" if state.owed(seat) else "check")

    def apply(self, state, event):
        request = self.next(state)
        match request, event:
            case _, Left(seat=seat) if seat in state.seats:
                return self._silent(replace(state, away=state.away | {seat}))
            case Deal(), Scanned(piece=piece):
                return self._silent(replace(state, cards=(*state.cards, piece)))
            case Decide(), Expired(seat=seat) if seat in request.seats:
                return self._silent(self._decide(state, request.default[seat]))
            case Decide(), Decision(seat=seat) if seat in request.seats:
                return self._silent(self._decide(state, event))
            case Reveal(positions=positions), Revealed(positions=same) if same == positions:
                return replace(state, open=True)
            case Settle(), Settled():
                return replace(state, settled=True)
        raise RefusedError("not_asked_for", "Not now.")

    def _silent(self, state):
        """Seats that are away take their default as soon as it is their turn."""
        while isinstance(request := self.next(state), Decide) and request.seats[0] in state.away:
            state = self._decide(state, request.default[request.seats[0]])
        return state

    def _decide(self, state, decision):
        seat, amount = decision.seat, 0
        state = replace(state, last=seat)
        legal = {action.name: action for action in self._actions(state, seat)}
        action = legal.get(decision.action)
        if action is None:
            raise RefusedError("action_not_allowed", f"{decision.action} is not allowed.")
        if decision.action == "fold":
            return replace(state, folded=state.folded | {seat}, acted=state.acted | {seat})
        if decision.action == "call":
            amount = min(state.owed(seat), state.left(seat))
        elif decision.action == "bet":
            amount = decision.amount
            if amount is None or not action.amount_min <= amount <= action.amount_max:
                raise RefusedError("amount_not_allowed", "Not that much.")
        at = state.seats.index(seat)
        put = (*state.put[:at], state.put[at] + amount, *state.put[at + 1 :])
        return replace(state, put=put, acted=state.acted | {seat})

    def view(self, state, viewer):
        dealt = dict(zip(state.seats, state.cards, strict=False))
        return View(
            hands=tuple(
                HandView(
                    position=seat,
                    count=int(seat in dealt),
                    visible=((0, dealt[seat]),)
                    if seat in dealt and (seat == viewer or (state.open and seat in state.live))
                    else (),
                )
                for seat in state.seats
            ),
            facts={"put": dict(zip(state.seats, state.put, strict=True))},
        )

    def evaluate(self, state):
        if not state.open:
            return Evaluation(hands=(), marks=())
        return Evaluation(
            hands=tuple(
                HandValue(
                    position=seat,
                    key=(self._worth(state, seat),),
                    points=state.cards[state.seats.index(seat)].rank,
                    name="high",
                )
                for seat in state.live
            ),
            marks=(),
        )

    def _worth(self, state, seat):
        return RANKS.index(state.cards[state.seats.index(seat)].rank)

    def opening_burn(self, piece):
        raise MalformedError("no_opening_burn", "No shoe.")

    def settle(self, state):
        if not isinstance(self.next(state), Settle):
            raise RefusedError("round_not_finished", "Not yet.")
        worths = sorted({self._worth(state, seat) for seat in state.live}, reverse=True)
        return (
            Pot(
                contributions_minor=dict(zip(state.seats, state.put, strict=True)),
                tiers=tuple(
                    tuple(seat for seat in state.live if self._worth(state, seat) == worth)
                    for worth in worths
                ),
                odd_units_to=state.seats,
                reason="pot",
            ),
        )

    def theoretical(self, bet, config):
        raise MalformedError("no_theoretical", "People decide.")
