"""A table in memory for tests: runs commands through decide and evolve, no store."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from studio.domain.cards import Card, card_code, parse_card
from studio.domain.commands import (
    CloseBetting,
    Command,
    ConfirmShuffle,
    LoadShoe,
    OpenRound,
    RevealNext,
    SeeCard,
    SettleRound,
    TakeSeat,
)
from studio.domain.decide import decide, results_due
from studio.domain.events import Event, ShoeLoaded
from studio.domain.game import AnyGame
from studio.domain.round import Phase
from studio.domain.table import TableState, evolve
from studio.games import game as game_by_code

MANIFEST = {serial: (serial - 1) % 52 + 1 for serial in range(1, 417)}
WINDOW_MS = 15_000
DECK_SET = 1


def serials_of(codes: Iterable[str], *, used: set[int]) -> list[int]:
    """Return a fresh serial of the manifest for each face."""
    serials = []
    for code in codes:
        number = parse_card(code).number
        serial = next(s for s, n in MANIFEST.items() if n == number and s not in used)
        used.add(serial)
        serials.append(serial)
    return serials


def see(serial: int, *, card: Card | None = None, deck_set: int = DECK_SET, known: bool = True):
    """Return the command of a read card."""
    from studio.domain.cards import ALL_CARDS

    face = card or ALL_CARDS[MANIFEST[serial] - 1]
    code = card_code(face, deck_set=deck_set, serial=serial)
    return SeeCard(code=code, known=known, nonce=f"{serial:064x}")


@dataclass
class MemoryTable:
    """State and log of one table."""

    game: AnyGame = field(default_factory=lambda: game_by_code("pok_deng"))
    state: TableState = field(default_factory=lambda: TableState(table="T1"))
    log: list[Event] = field(default_factory=list)
    used: set[int] = field(default_factory=set)
    now_ms: int = 1_000_000

    def do(self, command: Command) -> tuple[Event, ...]:
        """Run a command; the log grows by its events."""
        events = decide(self.game, self.state, command)
        for event in events:
            self.state = apply(self.game, self.state, event)
            self.log.append(event)
        return events

    def deal(self, *codes: str) -> None:
        """Let these faces pass the camera."""
        for serial in serials_of(codes, used=self.used):
            self.do(see(serial))

    def close(self) -> None:
        """Close the betting window at its deadline."""
        assert self.state.round is not None
        self.now_ms = self.state.round.window_closes_ms
        self.do(
            CloseBetting(
                now_ms=self.now_ms, count=0, turnover_minor=0, held_minor=0, digest="0" * 64
            )
        )

    def open_round(self) -> None:
        """Open the betting window."""
        self.do(OpenRound(now_ms=self.now_ms, window_ms=WINDOW_MS))

    def settle(self) -> None:
        """Settle without any wager."""
        self.do(
            SettleRound(
                version=1,
                nets={"p1": Fraction(1)},
                reasons={},
                count=0,
                turnover_minor=0,
                payouts_minor=0,
            )
        )


def apply(game: AnyGame, state: TableState, event: Event) -> TableState:
    """Evolve with the numbering of the log."""
    if isinstance(event, ShoeLoaded):
        state = replace(state, epoch=state.epoch + 1, seq=0)
    state = evolve(game, state, event)
    return replace(state, seq=state.seq + 1)


def load_command(**changes) -> LoadShoe:
    """Return the command that loads the deck set of MANIFEST."""
    values = {
        "deck_set": DECK_SET,
        "decks": 8,
        "manifest": MANIFEST,
        "scan_at": "draw",
        "burn_per_round": 1,
        "options": {},
    }
    return LoadShoe(**(values | changes))


def shuffled(**changes) -> MemoryTable:
    """Return a table whose shoe waits for its first card."""
    table = MemoryTable()
    table.do(TakeSeat(dealer_id=7, name="Sato"))
    table.do(load_command(**changes))
    table.do(ConfirmShuffle(cut_depth=60, cut_depth_min=30, cut_depth_max=120))
    return table


def in_play(**changes) -> MemoryTable:
    """Return a table ready for its first round: first card 2♠, two burnt."""
    table = shuffled(**changes)
    table.deal("2S", "KS", "KH")
    return table


def betting() -> MemoryTable:
    """Return a table whose first round takes bets."""
    table = in_play()
    table.open_round()
    return table


HANDS = ("4H", "6C", "9C", "KD", "5S", "8C", "7S", "7C", "2D", "QD", "5D", "AC")
"""P1..P5, banker, twice."""


def revealing() -> MemoryTable:
    """Return a table whose cards are dealt and whose bets are closed."""
    table = betting()
    table.deal("3S", *HANDS)
    table.close()
    return table


def settled() -> MemoryTable:
    """Return a table after a settled round."""
    table = revealing()
    while not results_due(table.game, table.state):
        table.do(RevealNext())
    table.settle()
    assert table.state.phase is Phase.SETTLED
    return table
