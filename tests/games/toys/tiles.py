"""A toy tile game with a seat bank: one tile, double or hold all at once, a second tile, show.

The higher total modulo 10 wins; the bank wins ties; a 9 is paid double, by the bank only.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType

from studio.domain.cards import ALL_TILES, Tile
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
    JackpotHit,
    Left,
    Order,
    PieceKind,
    Reveal,
    Revealed,
    RoadMark,
    Scanned,
    Settle,
    Settled,
    Transfer,
    View,
)

CLOCK_MS = 10_000
NINE = 9


@dataclass(frozen=True, kw_only=True)
class Doubling:
    seats: tuple[str, ...]
    banker: str
    stakes: dict[str, int] = field(hash=False)
    tiles: tuple[Tile, ...] = ()
    decided: tuple[tuple[str, str], ...] = ()
    away: frozenset[str] = frozenset()
    open: bool = False
    settled: bool = False

    @property
    def players(self):
        return tuple(seat for seat in self.seats if seat != self.banker)

    @property
    def undecided(self):
        done = {seat for seat, _ in self.decided}
        return tuple(seat for seat in self.players if seat not in done)

    def hand(self, seat):
        return self.tiles[self.seats.index(seat) :: len(self.seats)]

    def score(self, seat):
        return sum(tile.low + tile.high for tile in self.hand(seat)) % 10


class TileToy:
    code = "toy_tiles"
    operations = MappingProxyType({})

    def describe(self, config):
        return Description(
            game=self.code,
            piece_kind=PieceKind.TILE,
            pieces=ALL_TILES,
            decks=1,
            shoe=False,
            bank=Bank.SEAT,
            seats_min=2,
            seats_max=8,
            roles=("banker",),
            positions=tuple(f"seat{seat}" for seat in range(1, 9)),
            places=(),
            pieces_per_round_max=16,
            bets=(
                Bet(
                    code="main",
                    position="seat1",
                    exposure=Fraction(1),
                    bank_exposure=Fraction(2),
                    settles_on="main",
                ),
            ),
            jackpots=("two_doubles",),
            clock_ms=CLOCK_MS,
            tax=Fraction(1, 50),
            rule_version="toy_tiles.1",
            paytable_version="toy_tiles.1",
            rotating_roles=("banker",),
        )

    def exposure(self, state, bet, decision):
        if bet != "main":
            raise MalformedError("unknown_bet", "Only the main bet.")
        return Fraction(1), Fraction(2)

    def start(self, config, *, seats, roles, bets, carry):
        return Doubling(
            seats=seats,
            banker=roles["banker"],
            stakes={seat: stakes["main"] for seat, stakes in bets.items()},
        )

    def next(self, state):
        dealt, each = len(state.tiles), len(state.seats)
        if dealt < each or (dealt < 2 * each and not state.undecided):
            seat = state.seats[dealt % each]
            return Deal(
                position=seat, index=dealt // each, face_up=False, viewers=frozenset({seat})
            )
        if state.undecided:
            return Decide(
                seats=state.undecided,
                order=Order.SIMULTANEOUS,
                actions={
                    seat: (
                        Action(
                            name="double",
                            amount_min=state.stakes[seat],
                            amount_max=state.stakes[seat],
                            bet="main",
                        ),
                        Action(name="hold"),
                    )
                    for seat in state.undecided
                },
                clock_ms=CLOCK_MS,
                default={seat: Decision(seat=seat, action="hold") for seat in state.undecided},
            )
        if not state.open:
            return Reveal(positions=state.seats)
        return Done(carry={}) if state.settled else Settle()

    def apply(self, state, event):
        request = self.next(state)
        match request, event:
            case _, Left(seat=seat) if seat in state.seats:
                return self._silent(replace(state, away=state.away | {seat}))
            case Deal(), Scanned(piece=piece):
                return self._silent(replace(state, tiles=(*state.tiles, piece)))
            case Decide(), Expired(seat=seat) if seat in request.seats:
                return replace(state, decided=(*state.decided, (seat, "hold")))
            case Decide(), Decision(seat=seat, action="double" | "hold" as action) if (
                seat in request.seats
            ):
                return replace(state, decided=(*state.decided, (seat, action)))
            case Reveal(positions=positions), Revealed(positions=same) if same == positions:
                return replace(state, open=True)
            case Settle(), Settled():
                return replace(state, settled=True)
        raise RefusedError("not_asked_for", "Not now.")

    def _silent(self, state):
        request = self.next(state)
        if isinstance(request, Decide):
            held = tuple((seat, "hold") for seat in request.seats if seat in state.away)
            return replace(state, decided=(*state.decided, *held))
        return state

    def view(self, state, viewer):
        return View(
            hands=tuple(
                HandView(
                    position=seat,
                    count=len(state.hand(seat)),
                    visible=tuple(enumerate(state.hand(seat)))
                    if state.open or seat == viewer
                    else (),
                )
                for seat in state.seats
            ),
            # What a seat decided is shown when all have decided; that it did, at once.
            facts={
                "decided": [seat for seat, _ in state.decided],
                "doubled": [
                    seat
                    for seat, action in state.decided
                    if action == "double" and not state.undecided
                ],
            },
        )

    def evaluate(self, state):
        if not state.open:
            return Evaluation(hands=(), marks=())
        return Evaluation(
            hands=tuple(
                HandValue(
                    position=seat,
                    key=(state.score(seat),),
                    points=str(state.score(seat)),
                    name="plain",
                )
                for seat in state.seats
            ),
            marks=tuple(
                RoadMark(position=seat, result="win" if self._net(state, seat) > 0 else "lose")
                for seat in state.players
            ),
        )

    def _net(self, state, seat):
        stake = state.stakes[seat] * (2 if (seat, "double") in state.decided else 1)
        score, bank = state.score(seat), state.score(state.banker)
        if score <= bank:
            return -stake
        return 2 * stake if score == NINE else stake

    def opening_burn(self, piece):
        raise MalformedError("no_opening_burn", "No shoe.")

    def settle(self, state):
        if not isinstance(self.next(state), Settle):
            raise RefusedError("round_not_finished", "Not yet.")
        transfers = tuple(
            Transfer(payer=state.banker, payee=seat, amount_minor=net, reason="wins")
            if net > 0
            else Transfer(payer=seat, payee=state.banker, amount_minor=-net, reason="loses")
            for seat in state.players
            for net in (self._net(state, seat),)
        )
        lucky = tuple(
            seat
            for seat in state.players
            if all(tile.low == tile.high for tile in state.hand(seat))
        )
        return (*transfers, *((JackpotHit(jackpot="two_doubles", seats=lucky),) if lucky else ()))

    def theoretical(self, bet, config):
        raise MalformedError("no_theoretical", "People decide.")
