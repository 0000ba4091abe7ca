"""What a game is to the studio: the one interface every game fills.

A game is a pure, deterministic state machine over frozen states. It holds no money, no clock
and no network: it says what it wants next (`next`), is told what happened (`apply`), says who
may see what (`view`), what the hands are worth (`evaluate`) and what follows for the money as
neutral movements (`settle`). The engine owns everything else: ledger, clock, phases, shoe,
sealing, visibility on the wire, tax, caps and rounding. Source: the plug-in notes, "Minimal
plug-in interface"; how each game of the rule book sits in it: ARCHITECTURE.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum, unique
from fractions import Fraction
from typing import Any, Protocol, TypeAlias, TypeVar

from studio.domain.cards import Piece
from studio.domain.theory import TheoreticalReturn

Json: TypeAlias = Any
"""Plain JSON values at an edge: vectors, event bodies, wire messages."""


@unique
class PieceKind(StrEnum):
    """What is dealt."""

    CARD = "card"
    TILE = "tile"


@unique
class Bank(StrEnum):
    """Who stands against whom; decides which movements `settle` may return."""

    HOUSE = "house"
    """Bets on spots against the house: `SpotResult`."""
    SEAT = "seat"
    """One seat banks against the others: `Transfer`."""
    POT = "pot"
    """Seats contribute to pots that winners share: `Pot`."""
    PAIRWISE = "pairwise"
    """Seats settle with one another, in points or transfers: `Points`, `Transfer`."""


@unique
class ScanAt(StrEnum):
    """When the camera reads a card."""

    DRAW = "draw"
    """As it leaves the shoe, face down over the glass: sealed until its reveal."""
    REVEAL = "reveal"
    """When it is opened on the felt: nothing to seal."""


@unique
class Order(StrEnum):
    """How the seats of a `Decide` act."""

    IN_TURN = "in_turn"
    """One after the other; each decision is public at once."""
    SIMULTANEOUS = "simultaneous"
    """All at once; what a seat decided stays sealed until the request is over."""


@unique
class RoadKind(StrEnum):
    """How the results of a shoe are drawn."""

    BY_POSITION = "by_position"
    """A row for every position that has marks."""
    TWO_SIDED = "two_sided"
    """One result a round, this side or that: bead plate and big road."""


Position: TypeAlias = str
"""Where cards lie: `P1`..`P5`, `B`, `board`, `seat3`, `burn`."""

Place: TypeAlias = tuple[Position, int]
"""One piece on the table: position and index within it."""

Seat: TypeAlias = str
"""Who acts: the position of a person."""

PUBLIC = "public"
"""The viewer that stands for everybody: the streamed table."""


@dataclass(frozen=True, kw_only=True)
class GameConfig:
    """A table's choices that the rules need; fixed while a shoe is in play."""

    decks: int = 8
    scan_at: ScanAt = ScanAt.DRAW
    burn_per_round: int = 1
    options: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Bet:
    """A spot one can bet on."""

    code: str
    """e.g. `p1`, `p1_pair`; unique in the game."""
    position: Position | None
    """The hand the bet is about; screens group by it. None: the round as a whole (a tie)."""
    exposure: Fraction
    """The most a bettor can lose per unit staked: what is held."""
    bank_exposure: Fraction
    """The most the bank can lose per unit staked."""
    settles_on: str
    """Key under which `SpotResult`s and the theoretical return are stated, e.g. `main`."""


@dataclass(frozen=True, kw_only=True)
class Description:
    """What a game is made of, under one configuration."""

    game: str
    piece_kind: PieceKind
    pieces: tuple[Piece, ...]
    """One of each face in a deck (52 cards, 32 of them, 28 tiles); the shoe holds `decks` times."""
    decks: int
    shoe: bool
    """True: cards are dealt from one shoe over many rounds; False: a fresh set each round."""
    bank: Bank
    seats_min: int
    seats_max: int
    """0 seats: only bettors, any number of them."""
    roles: tuple[str, ...]
    positions: tuple[Position, ...]
    """In dealing and reveal order."""
    places: tuple[Place, ...]
    """Every place a round may fill, in dealing order; some may stay empty (a third card)."""
    pieces_per_round_max: int
    """The most that one round can draw, burns included: the shoe must hold it behind the cut."""
    bets: tuple[Bet, ...]
    jackpots: tuple[str, ...]
    clock_ms: int
    """Decision clock; 0 where nobody decides."""
    tax: Fraction
    """Part of each winner's collected pot or winnings that the house keeps."""
    rule_version: str
    paytable_version: str
    rule_changes: tuple[str, ...] = ()
    """Public change log of rules and pay table, newest first, one English sentence each."""
    rotating_roles: tuple[str, ...] = ()
    """Roles that pass clockwise after each round to the next seat that can cover them."""
    road: RoadKind = RoadKind.BY_POSITION
    play_money_only: tuple[str, ...] = ()
    """Options in force that no table for money may have."""


# What a game asks for -------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Deal:
    """Draw one piece to a position. Face up waits for the betting window to close."""

    position: Position
    index: int
    """Which piece of that position, from 0."""
    face_up: bool
    viewers: frozenset[str] = frozenset()
    """Seats that may see it at once though it lies face down."""
    takes_back: tuple[Place, ...] = ()
    """Pieces that go back to the set before this draw (a swap): their places are free again."""


@dataclass(frozen=True, kw_only=True)
class Burn:
    """Draw pieces that are put away unplayed, face down."""

    count: int


@dataclass(frozen=True, kw_only=True)
class Decide:
    """Ask seats for a decision, within a clock, with a default for each that stays silent.

    The request stands until `next` asks for something else. One event may shorten it: the seats
    that are left are asked on.
    """

    seats: tuple[Seat, ...]
    order: Order
    actions: Mapping[Seat, tuple["Action", ...]]
    clock_ms: int
    default: Mapping[Seat, "Decision"]
    turn: int = 0
    """Counts the turns of a round: clocks run on while it stays the same."""


@dataclass(frozen=True, kw_only=True)
class Reveal:
    """Open the pieces of these positions to everybody."""

    positions: tuple[Position, ...]
    only: tuple[Place, ...] = ()
    """Open just these pieces of the positions (a card played, one tile shown); empty: all."""


@dataclass(frozen=True)
class Settle:
    """Nothing more to deal or decide: ask `settle` for the movements."""


@dataclass(frozen=True, kw_only=True)
class Done:
    """The round is over; `carry` goes into the next round's `start`."""

    carry: Mapping[str, Json]


Request: TypeAlias = Deal | Burn | Decide | Reveal | Settle | Done


@dataclass(frozen=True, kw_only=True)
class Action:
    """A legal action and the range of its amount in minor units (None: it has none)."""

    name: str
    amount_min: int | None = None
    amount_max: int | None = None
    pieces: tuple[Piece, ...] = ()
    """Pieces it may name (a card to play, a tile to open)."""
    bet: str | None = None
    """The bet whose stake the amount adds to (double, insurance); None: chips of a pot."""


# What a game is told --------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Scanned:
    """The piece that the last `Deal` or `Burn` asked for was read."""

    piece: Piece


@dataclass(frozen=True, kw_only=True)
class Burnt:
    """The last `Burn` was carried out without reading the pieces (`scan_at = reveal`)."""

    count: int


@dataclass(frozen=True, kw_only=True)
class Decision:
    """A seat decided."""

    seat: Seat
    action: str
    amount: int | None = None
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Expired:
    """A seat's clock ran out: its default applies."""

    seat: Seat


@dataclass(frozen=True, kw_only=True)
class Left:
    """A seat is away: its defaults apply at once, from now on."""

    seat: Seat


@dataclass(frozen=True, kw_only=True)
class Voided:
    """A position is out of the round (a fouled hand)."""

    position: Position


@dataclass(frozen=True, kw_only=True)
class Revealed:
    """The pieces of these positions lie open: the answer to a `Reveal`, word for word."""

    positions: tuple[Position, ...]
    only: tuple[Place, ...] = ()


@dataclass(frozen=True)
class Settled:
    """The engine has booked what `settle` said."""


GameEvent: TypeAlias = Scanned | Burnt | Decision | Expired | Left | Voided | Revealed | Settled


# What a game answers --------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class HandView:
    """A position as one viewer may see it: hidden pieces are absent, only counted."""

    position: Position
    count: int
    visible: tuple[tuple[int, Piece], ...]
    """(index, piece) of the pieces this viewer may see."""


@dataclass(frozen=True, kw_only=True)
class View:
    """The table as one viewer may see it."""

    hands: tuple[HandView, ...]
    facts: Mapping[str, Json] = field(default_factory=dict)
    """Public facts of the game besides hands (whose turn, pot sizes, trump)."""
    calls: tuple[str, ...] = ()
    """What the dealer calls out now, as codes for the catalogue: `banker_draws`, `natural`."""


@dataclass(frozen=True, kw_only=True)
class HandValue:
    """What a hand is worth."""

    position: Position
    key: tuple[int, ...]
    """Comparable: a greater key is a better hand."""
    points: str
    """As people say it: `9`, `7.4`, `full house`."""
    name: str
    """Code of the pattern for the catalogue: `flush`, `pair`, `ak_suited`, `plain`."""
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RoadMark:
    """One mark of a road: a position's result in one round."""

    position: Position
    result: str
    """`win`, `lose` or `tie`, from the position's side."""
    rings: tuple[str, ...] = ()
    """Extra marks: `flush` is the outer ring, `pair` the dot."""


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What the open hands mean."""

    hands: tuple[HandValue, ...]
    marks: tuple[RoadMark, ...]


@dataclass(frozen=True, kw_only=True)
class SpotResult:
    """House bank: what one unit on a bet brings (2 wins 2:1, 0 pushes, -1 loses the stake)."""

    bet: str
    net: Fraction
    reason: str


@dataclass(frozen=True, kw_only=True)
class Transfer:
    """Seat bank and pairwise games: `amount` minor units from one seat to another."""

    payer: Seat
    payee: Seat
    amount_minor: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class Pot:
    """Pot games: what each seat put in, who may win, and the winners best tier first.

    The engine layers the pots by contribution; folded seats contribute but are in no tier.
    `odd_units_to` orders the seats for units that don't divide.
    """

    contributions_minor: Mapping[Seat, int]
    tiers: tuple[tuple[Seat, ...], ...]
    odd_units_to: tuple[Seat, ...]
    reason: str


@dataclass(frozen=True, kw_only=True)
class Points:
    """Games scored in points; the table's unit turns them into money, if any."""

    seat: Seat
    points: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class JackpotHit:
    """Seats that hit a jackpot they had bought; the engine pays min(prize, fund).

    Paid in the order of `seats`; a seat named twice hit twice.
    """

    jackpot: str
    seats: tuple[Seat, ...]


Movement: TypeAlias = SpotResult | Transfer | Pot | Points | JackpotHit


S = TypeVar("S")


class Game(Protocol[S]):
    """The interface. All methods are pure: same arguments, same answer, nothing changed."""

    @property
    def code(self) -> str:
        """Name in settings, tables and vectors, e.g. `pok_deng`."""

    def describe(self, config: GameConfig) -> Description:
        """Return what the game is made of.

        Raises:
            MalformedError: an option of `config` is unknown or out of range.
        """

    def exposure(
        self, state: S | None, bet: str, decision: Decision | None
    ) -> tuple[Fraction, Fraction]:
        """Return the most (bettor, bank) can still lose per unit staked.

        `bet` names the spot; `decision` what the seat is about to add to it (double, call).
        `state` is None before the round starts.

        Raises:
            MalformedError: `unknown_bet`.
        """

    def start(
        self,
        config: GameConfig,
        *,
        seats: tuple[Seat, ...],
        roles: Mapping[str, Seat],
        bets: Mapping[Seat, Mapping[str, int]],
        carry: Mapping[str, Json],
    ) -> S:
        """Return the state of a new round.

        `bets` are the stakes of seated games, by seat; empty for games with bettors only: their
        wagers are accepted while cards are drawn and never enter the rules.
        """

    def next(self, state: S) -> Request:
        """Return the one thing the game asks for."""

    def apply(self, state: S, event: GameEvent) -> S:
        """Return the state after `event`.

        Raises:
            RefusedError: the event does not answer what `next` asks for.
        """

    def view(self, state: S, viewer: str) -> View:
        """Return what `viewer` (a seat, or PUBLIC) may see."""

    def evaluate(self, state: S) -> Evaluation:
        """Return values and marks of the hands that are open to everybody."""

    def opening_burn(self, piece: Piece) -> int:
        """Return how many pieces are burnt after `piece` was turned first from a new shoe.

        Raises:
            MalformedError: `piece_not_in_game`; `no_opening_burn` for a game without a shoe.
        """

    def settle(self, state: S) -> tuple[Movement, ...]:
        """Return the neutral movements of a finished round; called when `next` is Settle."""

    def theoretical(self, bet: str, config: GameConfig) -> TheoreticalReturn:
        """Enumerate the exact return of a bet kind (`Bet.settles_on`) or of a bet of that kind.

        Decks and options of `config` count; a bet that its options do not offer is known too.

        Raises:
            MalformedError: as `describe`; `unknown_bet`; `no_theoretical` for a game whose return
                depends on what people decide.
        """

    @property
    def operations(self) -> Mapping[str, Callable[[Mapping[str, Json]], Mapping[str, Json]]]:
        """The operations that test vectors name (`settle`, `burn_count`, ...)."""


AnyGame: TypeAlias = Game[Any]
"""A game whose state type the engine does not look into."""
