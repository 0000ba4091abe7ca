"""Random play at one table in memory: what people, cameras and links might do, in any order.

Each step is a number. Most numbers do what the procedure calls for, so that rounds are finished
and shoes counted out; the others do something that goes wrong. The same numbers give the same
play.
"""

from collections.abc import Callable, Iterable
from random import Random  # noqa: TID251 - seeded below

from studio.domain.cards import ALL_CARDS, CodeVersion, PrintedCode
from studio.domain.commands import (
    CallPit,
    CloseBetting,
    CloseShoe,
    Command,
    ConfirmBurn,
    ConfirmShuffle,
    EndVerification,
    FailRead,
    LeaveSeat,
    LoadShoe,
    Lock,
    MarkLink,
    OpenRound,
    ReleaseHeld,
    Resume,
    RevealNext,
    SeeCard,
    SettleRound,
    StartVerification,
    Stop,
    TakeSeat,
    TurnCutCard,
    Unlock,
    VoidRound,
)
from studio.domain.dealing import expected_card
from studio.domain.decide import decide, results_due
from studio.domain.errors import RefusedError
from studio.domain.events import ShoeLoaded
from studio.domain.game import Burn, GameConfig, Json, ScanAt
from studio.domain.money import Currency
from studio.domain.round import Phase, request_of
from studio.domain.settlement import house_nets
from studio.domain.table import Stage, TableState
from studio.games import game as game_by_code
from studio.services.alarms import raised_by
from studio.services.live import Live, advance, fresh, stored_event
from studio.services.ports import StoredEvent
from studio.services.setup import BetLimits, TableSetup

DECK = {serial: serial for serial in range(1, 53)}
"""One deck: every face once, so that a face names its card."""

OPTIONS: dict[str, dict[str, Json]] = {"pok_deng": {}, "baccarat": {"pair_bets": True}}
"""The games that are played at random, and the options of their tables."""


def setup_of(
    game: str = "pok_deng", *, scan_at: str = "draw", burn_per_round: int = 1
) -> TableSetup:
    """Return the settings of a table played with one deck."""
    return TableSetup(
        code="T1",
        name="Table one",
        game=game,
        config=GameConfig(
            decks=1,
            scan_at=ScanAt(scan_at),
            burn_per_round=burn_per_round,
            options=OPTIONS[game],
        ),
        currency=Currency(code="JPY", decimals=0),
        window_ms=15_000,
        limits={
            kind: BetLimits(min_minor=1, max_minor=1_000)
            for kind in ("main", "pair", "player", "banker", "tie")
        },
        player_max_minor=10_000,
        table_max_minor=100_000,
        cut_depth_min=10,
        cut_depth_max=40,
        deck_sets=(1, 2),
    )


class Play:
    """One table, its log, and everything that anybody was told."""

    def __init__(self, setup: TableSetup, seed: int) -> None:
        """Begin before the first event."""
        self.setup = setup
        self.game = game_by_code(setup.game)
        self.seed = seed
        self.random = Random(seed)
        self.steps: list[int] = []
        self.live: Live = fresh(setup, self.game)
        self.stored: list[StoredEvent] = []
        self.moments = [self.live]
        """The table after each event; the first is before any."""
        self.told: list[tuple[int, Json]] = []
        """Refusals and alarms: (events so far, what was said)."""
        self.now_ms = 1_000_000
        self.cards: list[int] = []

    def __repr__(self) -> str:
        """Name what is needed to play the same again."""
        config = self.setup.config
        table = f"{self.setup.game}, {config.scan_at}, {config.burn_per_round}"
        return f"Play({table}, {self.seed}, {self.steps})"

    @property
    def state(self) -> TableState:
        """The table's state now."""
        return self.live.state

    def do(self, command: Command) -> None:
        """Carry a command out; what it says is kept, whether accepted or refused."""
        self.now_ms += 7
        try:
            events = decide(self.game, self.state, command)
        except RefusedError as refusal:
            said = [refusal.code, refusal.message, dict(refusal.details), str(refusal)]
            self.told.append((len(self.stored), said))
            return
        for event in events:
            stored = stored_event(
                self.state, event, at_ms=self.now_ms, new_epoch=isinstance(event, ShoeLoaded)
            )
            self.live = advance(self.live, stored)
            self.stored.append(stored)
            self.moments.append(self.live)
            if (alarm := raised_by(event, self.state)) is not None:
                self.told.append((len(self.stored), [alarm.code, alarm.details]))

    def play(self, steps: Iterable[int]) -> None:
        """Do one thing for each number from 0 to 99."""
        for step in steps:
            self.steps.append(step)
            if step < 80:
                self._procedure()
            else:
                odd = self._oddities()
                odd[step % len(odd)]()

    # The procedure -----------------------------------------------------------------------------

    def _procedure(self) -> None:
        state = self.state
        if state.fault is not None and state.fault.held:
            self.do(ReleaseHeld(by="Mori", reason="set aside"))
        elif state.stopped:
            self.do(Resume(by="Mori", reason="looked at"))
        elif state.links_lost:
            self.do(MarkLink(link=min(state.links_lost), up=True))
        elif expected_card(self.game, state) is not None and state.stage is not Stage.VERIFYING:
            self._draw()
        elif state.round is not None and state.round.running:
            self._round()
        elif state.locked is not None:
            self.do(Unlock(by="Mori", reason="looked at"))
        elif state.dealer is None:
            self.do(TakeSeat(dealer_id=7, name="Sato"))
        else:
            self._shoe()

    def _draw(self) -> None:
        burns = isinstance(request_of(self.game, self.state.round), Burn)
        if burns and self.setup.config.scan_at is ScanAt.REVEAL:
            self.do(ConfirmBurn())
        else:
            self.do(self._next_card())

    def _round(self) -> None:
        current = self.state.round
        assert current is not None
        if current.phase is Phase.BETTING:
            self.now_ms = max(self.now_ms, current.window_closes_ms)
            self.do(
                CloseBetting(
                    now_ms=self.now_ms,
                    count=3,
                    turnover_minor=600,
                    held_minor=900,
                    digest=f"{self.seed % 10**9:064d}",
                )
            )
        elif results_due(self.game, self.state):
            self.do(self.settlement())
        elif isinstance(request_of(self.game, current), Burn):
            self.do(ConfirmBurn())
        else:
            self.do(RevealNext())

    def settlement(self) -> SettleRound:
        """Return the command that settles by the game's own results."""
        current = self.state.round
        assert current is not None
        described = self.game.describe(self.setup.config)
        nets = house_nets(described, self.game.settle(current.game_state))
        return SettleRound(
            version=1, nets=nets, reasons={}, count=3, turnover_minor=600, payouts_minor=700
        )

    def _shoe(self) -> None:
        state = self.state
        if state.stage is Stage.NO_SHOE:
            self.cards = sorted(DECK, key=lambda _: self.random.random())
            self.do(self.load())
        elif state.stage is Stage.LOADED and state.verification_failed:
            self.do(CloseShoe(cards_left=52, by="Mori", early=True))
        elif state.stage is Stage.LOADED:
            self.do(ConfirmShuffle(cut_depth=20, cut_depth_min=10, cut_depth_max=40))
        elif state.stage is Stage.VERIFYING:
            self.do(EndVerification(manifest=DECK))
        elif state.stage is Stage.LAST_ROUND_DONE or self._in_shoe() < 14:
            self.do(CloseShoe(cards_left=self._in_shoe(), by="Mori", early=True))
        else:
            self.do(OpenRound(now_ms=self.now_ms, window_ms=self.setup.window_ms))

    def load(self) -> LoadShoe:
        """Return the command that puts the deck on the table."""
        return LoadShoe(
            deck_set=1,
            decks=1,
            manifest=DECK,
            scan_at=self.setup.config.scan_at,
            burn_per_round=self.setup.config.burn_per_round,
            options=self.setup.config.options,
        )

    def _in_shoe(self) -> int:
        return self.state.shoe.in_shoe if self.state.shoe else 0

    # Cards -------------------------------------------------------------------------------------

    def _see(self, serial: int, *, deck_set: int = 1) -> SeeCard:
        code = PrintedCode(
            version=CodeVersion.CARD, number=DECK[serial], deck_set=deck_set, serial=serial
        )
        nonce = f"{self.random.getrandbits(256):064x}"
        return SeeCard(code=code, known=deck_set == 1, nonce=nonce)

    def _next_card(self) -> SeeCard:
        seen = self.state.shoe.seen if self.state.shoe else frozenset()
        left = [serial for serial in self.cards if serial not in seen]
        return self._see(left[0] if left else 1)

    def _seen_card(self) -> SeeCard:
        seen = sorted(self.state.shoe.seen) if self.state.shoe else []
        return self._see(self.random.choice(seen) if seen else 1)

    def _verify(self) -> None:
        self.do(StartVerification())
        for serial in DECK:
            if self.random.random() < 0.99:
                self.do(self._see(serial))

    # What goes wrong ---------------------------------------------------------------------------

    def _oddities(self) -> list[Callable[[], None]]:
        links = ("scanner", "station", "video")
        commands: list[Callable[[], Command]] = [
            self._next_card,  # needed or not
            self._seen_card,
            lambda: self._see(5, deck_set=9),
            lambda: FailRead(reason="no_code", tries_max=3),
            TurnCutCard,
            lambda: CallPit(by="Sato"),
            lambda: Stop(by="Sato"),
            lambda: Lock(reason="audit", by="Mori"),
            lambda: MarkLink(link=self.random.choice(links), up=False),
            lambda: VoidRound(
                version=1, reason="misdeal", by="Mori", count=3, turnover_minor=6, payouts_minor=9
            ),
            lambda: CloseShoe(cards_left=self._in_shoe() - 1, by="Mori", early=True),
            lambda: LeaveSeat(dealer_id=7),
            lambda: TakeSeat(dealer_id=8, name="Abe"),
            RevealNext,
            ConfirmBurn,
            self.load,
            lambda: OpenRound(now_ms=self.now_ms, window_ms=1),
            lambda: ReleaseHeld(by="Mori", reason="set aside"),
        ]
        steps: list[Callable[[], None]] = [
            (lambda make=make: self.do(make()))  # type: ignore[misc]
            for make in commands
        ]
        return [*steps, self._verify]


FACES = {serial: ALL_CARDS[number - 1].code for serial, number in DECK.items()}
"""Face by serial."""
