"""Plays rounds of any game from a seed, the way the engine does, and remembers everything.

The dealer of these rounds is honest and the people are random: each request is answered by the
event it asks for. `Play` keeps every state, so that the checks can look at every prefix.
"""

from collections import Counter
from dataclasses import dataclass, field
from dataclasses import replace as changed
from fractions import Fraction
from functools import reduce

# Chance in these tests is seeded and named by its seed; nothing else uses it.
from random import Random  # noqa: TID251
from typing import Any

from studio.domain.cards import Piece
from studio.domain.game import (
    Action,
    AnyGame,
    Burn,
    Burnt,
    Deal,
    Decide,
    Decision,
    Done,
    Expired,
    GameConfig,
    GameEvent,
    Left,
    Movement,
    Place,
    Request,
    Reveal,
    Revealed,
    ScanAt,
    Scanned,
    Settle,
    Settled,
)

STEPS_MAX = 2_000
"""A round that takes longer is stuck."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """What a round starts with."""

    config: GameConfig
    seats: tuple[str, ...] = ()
    roles: dict[str, str] = field(default_factory=dict)
    bets: dict[str, dict[str, int]] = field(default_factory=dict)
    carry: dict[str, Any] = field(default_factory=dict)

    def start(self, game: AnyGame) -> Any:
        return game.start(
            self.config, seats=self.seats, roles=self.roles, bets=self.bets, carry=self.carry
        )


@dataclass(frozen=True, kw_only=True)
class Step:
    """One request, its answer, the state it led to, and what lies where by then."""

    request: Request
    event: GameEvent
    state: Any
    lying: dict[Place, Piece]
    public: frozenset[Place]
    viewers: dict[Place, frozenset[str]]


@dataclass(frozen=True, kw_only=True)
class Play:
    """A round played to its end."""

    scenario: Scenario
    first: Any
    steps: tuple[Step, ...]
    movements: tuple[Movement, ...]
    held: dict[str, int]
    """Seat -> minor units held by exposure."""
    done: Done
    drawn: tuple[Piece, ...]

    @property
    def events(self) -> tuple[GameEvent, ...]:
        return tuple(step.event for step in self.steps)

    @property
    def states(self) -> tuple[Any, ...]:
        return (self.first, *(step.state for step in self.steps))


def replay(game: AnyGame, scenario: Scenario, events: tuple[GameEvent, ...]) -> Any:
    """The state that a log leads to."""
    return reduce(game.apply, events, scenario.start(game))


def configs(game: AnyGame) -> tuple[GameConfig, ...]:
    """The configurations a game is tried under: both ways to scan, several burns and decks."""
    if not game.describe(GameConfig()).shoe:
        return (GameConfig(decks=1, burn_per_round=0),)
    return tuple(
        GameConfig(decks=decks, scan_at=scan_at, burn_per_round=burn)
        for decks, burn in ((8, 1), (1, 0), (6, 3))
        for scan_at in ScanAt
    )


def scenario(game: AnyGame, config: GameConfig, dice: Random) -> Scenario:
    """A random table: seats, roles and stakes as the description allows."""
    described = game.describe(config)
    number = dice.randint(described.seats_min, described.seats_max)
    seats = tuple(f"seat{place}" for place in range(1, number + 1))
    roles = {role: dice.choice(seats) for role in described.roles} if seats else {}
    banking = {roles["banker"]} if "banker" in roles else set()
    bets = {
        seat: {bet.code: dice.randint(1, 40) * 25 for bet in described.bets}
        for seat in seats
        if seat not in banking
    }
    return Scenario(config=config, seats=seats, roles=roles, bets=bets)


class Dealer:
    """Carries out what a game asks for; people decide at random, or stay silent."""

    def __init__(self, game: AnyGame, table: Scenario, dice: Random) -> None:
        self.game = game
        self.table = table
        self.dice = dice
        described = game.describe(table.config)
        self.pile = list(described.pieces) * described.decks
        dice.shuffle(self.pile)
        self.pool: list[Piece] = []
        self.lying: dict[Place, Piece] = {}
        self.public: set[Place] = set()
        self.viewers: dict[Place, frozenset[str]] = {}
        self.burnt = 0
        self.drawn: list[Piece] = []
        self.held: Counter[str] = Counter()
        banker = table.roles.get("banker")
        for seat, stakes in table.bets.items():
            for bet, stake in stakes.items():
                self._hold(None, seat, bet, stake, None, banker)

    def _hold(self, state, seat, bet, stake, decision, banker):
        own, bank = self.game.exposure(state, bet, decision)
        self.held[seat] += _up(own * stake)
        if banker is not None:
            self.held[banker] += _up(bank * stake)

    def answer(self, state: Any, request: Request, *, silent: type | None) -> GameEvent:
        """The event that answers a request; `silent` names how people stay silent."""
        match request:
            case Deal():
                return Scanned(piece=self._deal(request))
            case Burn(count=count) if self.table.config.scan_at is ScanAt.REVEAL:
                return Burnt(count=count)
            case Burn():
                self.burnt += 1
                piece = self._draw()
                self.lying["burn", self.burnt] = piece
                self.viewers["burn", self.burnt] = frozenset()
                return Scanned(piece=piece)
            case Reveal(positions=positions, only=only):
                self.public |= {
                    place
                    for place in self.lying
                    if (place in only if only else place[0] in positions)
                }
                return Revealed(positions=positions, only=only)
            case Decide():
                return self._decision(state, request, silent)
            case Settle():
                return Settled()
        raise AssertionError(request)

    def _draw(self) -> Piece:
        piece = (self.pool or self.pile).pop()
        self.drawn.append(piece)
        return piece

    def _deal(self, request: Deal) -> Piece:
        for place in request.takes_back:
            assert place not in self.public, "an open piece does not go back"
            self.pool.append(self.lying.pop(place))
        self.dice.shuffle(self.pool)
        place = (request.position, request.index)
        assert place not in self.lying, f"{place} is taken"
        piece = self._draw()
        self.lying[place] = piece
        self.viewers[place] = request.viewers
        if request.face_up:
            self.public.add(place)
        return piece

    def _decision(self, state: Any, request: Decide, silent: type | None) -> GameEvent:
        seat = request.seats[0]
        if silent is not None:
            return silent(seat=seat)
        whim = self.dice.random()
        if whim < 0.1:
            return Expired(seat=seat)
        if whim < 0.13:
            return Left(seat=seat)
        if request.order == "simultaneous":
            seat = self.dice.choice(request.seats)
        action = self.dice.choice(request.actions[seat])
        decision = random_decision(seat, action, self.dice)
        if action.bet is not None and decision.amount is not None:
            banker = self.table.roles.get("banker")
            self._hold(state, seat, action.bet, decision.amount, decision, banker)
        return decision


def random_decision(seat: str, action: Action, dice: Random) -> Decision:
    """A legal decision for an action."""
    amount = None
    if action.amount_min is not None and action.amount_max is not None:
        amount = dice.randint(action.amount_min, action.amount_max)
    pieces = (dice.choice(action.pieces),) if action.pieces else ()
    return Decision(seat=seat, action=action.name, amount=amount, pieces=pieces)


def play(
    game: AnyGame,
    table: Scenario,
    dice: Random,
    *,
    silent: type | None = None,
    silent_after: int = 0,
) -> Play:
    """Play a round to its end. From step `silent_after` on people stay `silent`, if given."""
    dealer = Dealer(game, table, dice)
    state = first = table.start(game)
    steps: list[Step] = []
    movements: tuple[Movement, ...] = ()
    while not isinstance(request := game.next(state), Done):
        assert len(steps) < STEPS_MAX, f"the round does not end: {request}"
        if isinstance(request, Settle):
            movements = game.settle(state)
        quiet = silent if len(steps) >= silent_after else None
        event = dealer.answer(state, request, silent=quiet)
        state = game.apply(state, event)
        steps.append(
            Step(
                request=request,
                event=event,
                state=state,
                lying=dict(dealer.lying),
                public=frozenset(dealer.public),
                viewers=dict(dealer.viewers),
            )
        )
    return Play(
        scenario=table,
        first=first,
        steps=tuple(steps),
        movements=movements,
        held=dict(dealer.held),
        done=request,
        drawn=tuple(dealer.drawn),
    )


def with_other_pieces(events: tuple[GameEvent, ...], swaps: dict[int, Piece]) -> tuple[Any, ...]:
    """The same log with the pieces of some `Scanned` events replaced, by place in the log."""
    return tuple(
        changed(event, piece=swaps[at]) if at in swaps else event for at, event in enumerate(events)
    )


def _up(amount: Fraction) -> int:
    return -(-amount.numerator // amount.denominator)
