"""A table in memory for tests: runs commands through decide and evolve, no store.

Each factory returns a table at one place of the procedure; the cards are chosen by face and
come from one deck set of eight decks.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from studio.domain.cards import ALL_CARDS, CodeVersion, PrintedCode, parse_card
from studio.domain.commands import (
    ApproveCorrection,
    CloseBetting,
    Command,
    ConfirmKey,
    ConfirmShuffle,
    CorrectRound,
    DropCorrection,
    FailRead,
    KeyCard,
    LoadShoe,
    OpenRound,
    ProposeCorrection,
    RevealNext,
    SeeCard,
    SettleRound,
    TakeSeat,
    VoidRound,
)
from studio.domain.decide import decide, results_due
from studio.domain.events import CorrectionProposed, Event, RoundToCorrect, ShoeLoaded
from studio.domain.game import AnyGame
from studio.domain.round import Phase
from studio.domain.table import TableState, evolve
from studio.games import game as game_by_code

DECK_SET = 1
FOREIGN_DECK_SET = 9
WINDOW_MS = 15_000
TRIES_MAX = 3
MANIFEST = {serial: (serial - 1) % 52 + 1 for serial in range(1, 417)}
"""Eight decks, one after the other."""

HANDS = ("4H", "6C", "9C", "KD", "5S", "8C", "7S", "7C", "2D", "QD", "5D", "AC")
"""P1..P5, banker, twice."""


def face(serial: int) -> str:
    """Return the face printed on a card of the manifest."""
    return ALL_CARDS[MANIFEST[serial] - 1].code


def serials_of(codes: Iterable[str], *, used: set[int]) -> list[int]:
    """Return a fresh serial of the manifest for each face."""
    serials = []
    for code in codes:
        number = parse_card(code).number
        serial = next(s for s, n in MANIFEST.items() if n == number and s not in used)
        used.add(serial)
        serials.append(serial)
    return serials


def see(serial: int, *, deck_set: int = DECK_SET, known: bool = True) -> SeeCard:
    """Return the command of a read card of the manifest."""
    number = MANIFEST[serial]
    code = PrintedCode(version=CodeVersion.CARD, number=number, deck_set=deck_set, serial=serial)
    return SeeCard(code=code, known=known, nonce=f"{serial:064x}")


def see_foreign(serial: int = 5) -> SeeCard:
    """Return the command of a read card of another deck set."""
    return see(serial, deck_set=FOREIGN_DECK_SET, known=False)


def fail(reason: str = "unreadable") -> FailRead:
    """Return the command of a failed read."""
    return FailRead(reason=reason, tries_max=TRIES_MAX)


def key(serial: int, **changes: bool) -> KeyCard:
    """Return the dealer's entry of a card of the manifest."""
    return KeyCard(seen=see(serial, **changes), by="Sato", tries_max=TRIES_MAX)


def confirm_key(serial: int, **changes: object) -> ConfirmKey:
    """Return the supervisor's entry of a card of the manifest, from a picture that is there."""
    values = {"by": "Mori", "reason": "code torn", "picture": 7, "picture_seq": 10_000}
    return ConfirmKey(seen=see(serial), **(values | changes))  # type: ignore[arg-type]


def load_command(**changes: object) -> LoadShoe:
    """Return the command that loads the deck set of MANIFEST."""
    values = {
        "deck_set": DECK_SET,
        "decks": 8,
        "manifest": MANIFEST,
        "scan_at": "draw",
        "burn_per_round": 1,
        "options": {},
    }
    return LoadShoe(**(values | changes))  # type: ignore[arg-type]


def shuffle_command(cut_depth: int = 60) -> ConfirmShuffle:
    """Return the command that ends the shuffle."""
    return ConfirmShuffle(cut_depth=cut_depth, cut_depth_min=30, cut_depth_max=120)


def void_command(reason: str = "misdeal", by: str = "Mori") -> VoidRound:
    """Return the command that voids a round without wagers."""
    return VoidRound(version=1, reason=reason, by=by, count=0, turnover_minor=0, payouts_minor=0)


def settle_command() -> SettleRound:
    """Return the command that settles a round without wagers."""
    return SettleRound(
        version=1,
        nets={"p1": Fraction(1), "p1_pair": Fraction(-1)},
        reasons={"p1": "win"},
        count=0,
        turnover_minor=0,
        payouts_minor=0,
    )


DUE_MS = 2_000_000


def propose_command(**changes: object) -> ProposeCorrection:
    """Return the command that proposes to annul the first round after its settlement."""
    values = {
        "id": "8",
        "kind": "void",
        "rounds": (RoundToCorrect(round_id="T1-1-1", epoch=1, number=1, version=2),),
        "faces": (),
        "reason": "misdeal",
        "by": "Mori",
        "by_id": 20,
        "needs_approval": True,
        "players": 0,
        "paid_minor": 0,
        "taken_minor": 0,
        "owed_minor": 0,
    }
    proposed = CorrectionProposed(**(values | changes))  # type: ignore[arg-type]
    return ProposeCorrection(proposed=proposed, due_ms=DUE_MS)


def approve_command(**changes: object) -> ApproveCorrection:
    """Return the command by which another supervisor approves it."""
    values = {"proposal": "8", "by": "Kato", "by_id": 21, "due_ms": DUE_MS}
    return ApproveCorrection(**(values | changes))  # type: ignore[arg-type]


def drop_command(**changes: object) -> DropCorrection:
    """Return the command that drops it."""
    values = {"proposal": "8", "by": "Mori", "reason": "looked again"}
    return DropCorrection(**(values | changes))  # type: ignore[arg-type]


def correct_command(**changes: object) -> CorrectRound:
    """Return the command that annuls the first round after its settlement."""
    values = {
        "round_id": "T1-1-1",
        "epoch": 1,
        "number": 1,
        "version": 2,
        "faces": (),
        "resettled": None,
        "now_ms": DUE_MS,
        "count": 0,
        "turnover_minor": 0,
        "payouts_minor": 0,
        "players": 0,
        "paid_minor": 0,
        "taken_minor": 0,
        "owed_minor": 0,
    }
    return CorrectRound(**(values | changes))  # type: ignore[arg-type]


def close_command(now_ms: int) -> CloseBetting:
    """Return the command that closes a window without wagers."""
    return CloseBetting(now_ms=now_ms, count=0, turnover_minor=0, held_minor=0, digest="0" * 64)


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

    def kinds(self, command: Command) -> list[str]:
        """Run a command and return the names of its events."""
        return [type(event).__name__ for event in self.do(command)]

    def deal(self, *codes: str) -> None:
        """Let these faces pass the camera."""
        for serial in serials_of(codes, used=self.used):
            self.do(see(serial))

    def fresh(self, code: str) -> SeeCard:
        """Return the command of a card that has not passed yet."""
        return see(serials_of([code], used=self.used)[0])

    @property
    def deadline_ms(self) -> int:
        """When the running round's window closes."""
        assert self.state.round is not None
        return self.state.round.window_closes_ms

    def open_round(self) -> None:
        """Open the betting window."""
        self.do(OpenRound(now_ms=self.now_ms, window_ms=WINDOW_MS))

    def close(self) -> None:
        """Close the betting window at its deadline."""
        self.now_ms = self.deadline_ms
        self.do(close_command(self.now_ms))

    def reveal_all(self) -> None:
        """Open hand after hand until the results are due."""
        while not results_due(self.game, self.state):
            self.do(RevealNext())

    def settle(self) -> None:
        """Settle without any wager."""
        self.do(settle_command())


def apply(game: AnyGame, state: TableState, event: Event) -> TableState:
    """Evolve with the numbering of the log."""
    if isinstance(event, ShoeLoaded):
        state = replace(state, epoch=state.epoch + 1, seq=0)
    state = evolve(game, state, event)
    return replace(state, seq=state.seq + 1)


def empty() -> MemoryTable:
    """Return a table with its dealer and no shoe."""
    table = MemoryTable()
    table.do(TakeSeat(dealer_id=7, name="Sato"))
    return table


def loaded(**changes: object) -> MemoryTable:
    """Return a table whose deck set is not yet shuffled."""
    table = empty()
    table.do(load_command(**changes))
    return table


def shuffled(**changes: object) -> MemoryTable:
    """Return a table whose shoe waits for its first card."""
    table = loaded(**changes)
    table.do(shuffle_command())
    return table


def in_play(**changes: object) -> MemoryTable:
    """Return a table ready for its first round: first card 2♠, two burnt."""
    table = shuffled(**changes)
    table.deal("2S", "KS", "KH")
    return table


def betting(**changes: object) -> MemoryTable:
    """Return a table whose first round takes bets."""
    table = in_play(**changes)
    table.open_round()
    return table


def unread() -> MemoryTable:
    """Return a table whose burn card has failed to be read as often as is allowed."""
    table = betting()
    for _ in range(TRIES_MAX):
        table.do(fail())
    return table


def keyed() -> MemoryTable:
    """Return a table whose dealer has keyed in card 9."""
    table = unread()
    table.do(key(9))
    return table


def dealt() -> MemoryTable:
    """Return a table whose cards are dealt while the window is still open."""
    table = betting()
    table.deal("3S", *HANDS)
    return table


def closed() -> MemoryTable:
    """Return a table whose window closed before the last card was dealt."""
    table = betting()
    table.deal("3S", *HANDS[:-1])
    table.close()
    return table


def revealing() -> MemoryTable:
    """Return a table whose cards are dealt and whose bets are closed."""
    table = dealt()
    table.close()
    return table


def due() -> MemoryTable:
    """Return a table whose hands are all open."""
    table = revealing()
    table.reveal_all()
    return table


def settled() -> MemoryTable:
    """Return a table after a settled round."""
    table = due()
    table.settle()
    assert table.state.phase is Phase.SETTLED
    return table
