"""The physical table: a dealer who errs, a shoe of cards, a camera with its queue of reports."""

from collections.abc import Mapping
from dataclasses import dataclass

from studio.domain.dealing import expected_card
from studio.domain.game import Burn, Json, ScanAt
from studio.domain.round import Phase, request_of
from studio.domain.table import Stage, TableState
from studio.services.live import Live
from studio.services.picture_ports import NewPicture
from studio.services.ports import Actor
from studio.services.table_commands import COMMANDS
from studio.simulation.chance import Chance
from studio.simulation.floor import CUT_DEPTH, DEALERS, DECK_SETS, MANIFEST, digits_of
from studio.simulation.network import Network
from studio.simulation.server import Server

REASONS = ("no_code", "unreadable", "two_cards", "foreign_symbology")
UNREAD_ONE_IN = 15
UNREADABLE_ONE_IN = 40
"""A card that no try will read: it lies there until it is keyed in."""
RESENT_ONE_IN = 20
"""An acknowledged report that the network delivers once more, late."""
ERR_ONE_IN = 12
"""The dealer does something that the procedure does not call for."""
VERIFY_ONE_IN = 25
MISREAD_ONE_IN = 4
"""Somebody keys in another card than the one that lies there."""


class Scanner:
    """Reports of one table's camera: numbered, kept until acknowledged, sent in order."""

    def __init__(self, table: str, *, network: Network, chance: Chance) -> None:
        """Start with an empty queue."""
        self.table = table
        self.device = f"cam-{table}"
        self.cut = False
        """The link is down: reports wait."""
        self.queue: list[dict[str, Json]] = []
        self._network = network
        self._chance = chance
        self._numbers = 0
        self._acknowledged: list[dict[str, Json]] = []
        self._sending = False

    def see(self, code: str) -> None:
        """Keep a report of a card."""
        self._put(kind="card_seen", code=code, reason=None)

    def fail(self, reason: str) -> None:
        """Keep a report of a card that can't be read."""
        kind = self._chance.choice(("read_failed", "read_failed", "still_unread"))
        self._put(kind=kind, code=None, reason=reason)

    def _put(self, **body: Json) -> None:
        self._numbers += 1
        id = f"{self.device}-{self._numbers}"
        self.queue.append({"id": id, "table": self.table, **body})

    def send(self) -> None:
        """Send the oldest report; only a clear answer takes it off the queue."""
        if self.cut or self._sending:
            return
        self._sending = True
        try:
            self._send_oldest()
        finally:
            self._sending = False

    def _send_oldest(self) -> None:
        if self._acknowledged and self._chance.one_in(RESENT_ONE_IN):
            self._report(self._chance.choice(self._acknowledged))
        if self.queue and self._report(self.queue[0]):
            self._acknowledged = [*self._acknowledged[-9:], self.queue.pop(0)]

    def _report(self, body: Mapping[str, Json]) -> bool:
        answer = self._network.ask(lambda to: to.devices.report(self.device, body))
        if answer.value is not None and "picture" in answer.value:
            self._network.ask(lambda to: self._bring_picture(to, str(body["id"])))
        return answer.arrived

    def _bring_picture(self, to: Server, report_id: str) -> bool:
        with to.units.write() as unit:
            now_ms = unit.now_ms()
            taken = unit.pictures.take(
                NewPicture(
                    device=self.device,
                    report_id=report_id,
                    table=self.table,
                    frame=b"",
                    card=None,
                    captured_ms=now_ms,
                    at_ms=now_ms,
                )
            )
            unit.commit()
        return taken


@dataclass
class Cards:
    """The deck set that lies at a table, in the order of the shuffle."""

    deck_set: int
    order: list[int]
    in_hand: int | None = None
    """Out of the shoe, and the studio has not taken it yet."""
    unreadable: bool = False
    """No try will read the card in hand: it is keyed in."""

    @property
    def left(self) -> int:
        """What a dealer who counts the shoe out finds in it."""
        return len(self.order) + (self.in_hand is not None)


class Dealer:
    """Deals at one table by what the studio says next, and errs now and then."""

    def __init__(
        self, table: str, *, scanner: Scanner, network: Network, chance: Chance, taken: set[int]
    ) -> None:
        """Begin off duty; `taken` are the deck sets that lie at any table."""
        self.table = table
        self.scanner = scanner
        self.careful = False
        """True: no more errors."""
        self.cards: Cards | None = None
        self._network = network
        self._chance = chance
        self._taken = taken
        self._pending: tuple[Actor, dict[str, Json]] | None = None
        self._seated: Actor | None = None

    def act(self) -> None:
        """Do the next thing: a command that was not answered, an error, or the procedure."""
        live = self._network.ask(lambda to: to.tables.live(self.table)).value
        if live is None:
            return
        self.see_what_was_taken(live.state)
        seated = live.state.dealer
        self._seated = next((one for one in DEALERS if seated and one.id == seated.id), None)
        if self._pending is not None:
            self._send(*self._pending)
        elif not self.careful and self._chance.one_in(ERR_ONE_IN):
            self._err(live.state)
        else:
            self._procedure(live)

    def command(self, name: str, *, actor: Actor | None = None, **args: Json) -> None:
        """Press a button; without an answer it is pressed again, under the same id."""
        by = actor or self._chance.weighted(DEALERS, (9, 0 if self.careful else 1))
        if self.careful and self._seated is not None:
            by = self._seated  # whoever sits there deals on
        self._send(by, {"id": self._chance.uuid(), "command": name, **args})

    def _send(self, actor: Actor, body: dict[str, Json]) -> None:
        answer = self._network.ask(
            lambda to: to.tables.execute(actor, self.table, body), same_again=True
        )
        self._pending = None if answer.arrived else (actor, body)

    def see_what_was_taken(self, state: TableState) -> None:
        """See which card the studio has taken, and whether a shoe still lies here."""
        cards = self.cards
        if cards is None:
            return
        if state.shoe is None or state.shoe.deck_set != cards.deck_set:
            self._taken.discard(cards.deck_set)
            self.cards = None
            return
        seen = state.shoe.seen
        cards.in_hand = None if cards.in_hand in seen else cards.in_hand
        cards.order = [serial for serial in cards.order if serial not in seen]
        if state.config is not None and state.config.scan_at is ScanAt.REVEAL:
            # Cards burnt without the camera: whichever they were, so many are gone.
            del cards.order[: max(0, cards.left - state.shoe.in_shoe)]

    # The procedure -----------------------------------------------------------------------------

    def _procedure(self, live: Live) -> None:
        state = live.state
        held = state.fault is not None and state.fault.held
        if held or state.stopped or self.scanner.queue:
            return  # the supervisor's turn, or the screen still says "reading"
        if state.dealer is None:
            self.command("take_seat", actor=DEALERS[0])
        elif state.shoe is not None and self.cards is None:
            self.cards = Cards(deck_set=state.shoe.deck_set, order=self._unseen(state))
            self._taken.add(state.shoe.deck_set)
        elif expected_card(live.game, state) is not None:
            self._deal(live)
        elif state.round is not None and state.round.running:
            self._round(live)
        else:
            self._shoe(state)

    def _unseen(self, state: TableState) -> list[int]:
        assert state.shoe is not None
        left = [serial for serial in MANIFEST if serial not in state.shoe.seen]
        return self._chance.shuffled(left)

    def _deal(self, live: Live) -> None:
        state, cards = live.state, self.cards
        assert cards is not None
        if state.stage is Stage.VERIFYING:
            self._verify(state)
            return
        request = request_of(live.game, state.round)
        burns = state.stage is Stage.OPENING or isinstance(request, Burn)
        in_opening = state.stage is Stage.OPENING and state.shoe is not None
        first = in_opening and state.shoe is not None and state.shoe.first_card is None
        if burns and not first and live.setup.config.scan_at is ScanAt.REVEAL:
            self.command("burn_done")
        elif self._cut_card_due(state):
            self.command("cut_card")
        else:
            fault = state.fault
            due = fault is not None and fault.tries >= live.setup.scan_tries_max
            self._lay(cards, key_due=due)

    def _cut_card_due(self, state: TableState) -> bool:
        shoe = state.shoe
        if shoe is None or shoe.cut_depth is None or shoe.cut_card_out:
            return False
        return shoe.in_shoe <= shoe.cut_depth

    def _lay(self, cards: Cards, *, key_due: bool = False) -> None:
        """Lay the card in hand, else the next one, under the camera; or key it in."""
        if cards.in_hand is None:
            if not cards.order:
                return
            cards.in_hand = cards.order.pop(0)
            cards.unreadable = self._chance.one_in(UNREADABLE_ONE_IN)
        if key_due and self._chance.one_in(2):
            self.command("key_card", digits=self.key_of(cards))
            return
        if not self.careful and (cards.unreadable or self._chance.one_in(UNREAD_ONE_IN)):
            self.scanner.fail(self._chance.choice(REASONS))
            return
        self.scanner.see(digits_of(cards.in_hand, deck_set=cards.deck_set))

    def key_of(self, cards: Cards) -> str:
        """Return the digits that somebody reads off the card in hand, at times another's."""
        serial = cards.in_hand
        if serial is None or (not self.careful and self._chance.one_in(MISREAD_ONE_IN)):
            serial = self._chance.number(1, len(MANIFEST))
        return digits_of(serial, deck_set=cards.deck_set)

    def _verify(self, state: TableState) -> None:
        assert self.cards is not None
        left = [serial for serial in self.cards.order if serial not in state.verified]
        skip = not self.careful and self._chance.one_in(200)
        if not left or skip:
            self.command("end_verification")
            return
        for serial in left[:10]:
            self.scanner.see(digits_of(serial, deck_set=self.cards.deck_set))

    def _round(self, live: Live) -> None:
        current = live.state.round
        assert current is not None
        if current.phase is Phase.REVEAL:
            self.command("reveal")
        elif isinstance(request_of(live.game, current), Burn):
            self.command("burn_done")

    def _shoe(self, state: TableState) -> None:
        if state.locked is not None:
            return
        if state.stage is Stage.NO_SHOE:
            free = [number for number in DECK_SETS if number not in self._taken]
            self.command("load_shoe", deck_set=self._chance.choice(free or DECK_SETS))
        elif state.stage is Stage.LOADED and self._chance.one_in(VERIFY_ONE_IN):
            self.command("start_verification")
        elif state.stage is Stage.LOADED and not state.verification_failed:
            self.command("confirm_shuffle", cut_depth=CUT_DEPTH)
        elif state.stage is Stage.LAST_ROUND_DONE:
            assert self.cards is not None
            self.command("close_shoe", cards_left=self.cards.left)
        elif state.stage is Stage.IN_PLAY:
            self.command("start_round")

    # What goes wrong ---------------------------------------------------------------------------

    def _err(self, state: TableState) -> None:
        cards = self.cards
        slips = [self._press_anything, self._miscount]
        if cards is not None and state.shoe is not None:
            slips += [
                lambda: self._show_again(cards, state),
                lambda: self._show_foreign(cards),
                lambda: self._lay(cards),
                lambda: self._two_at_once(cards),
            ]
        self._chance.choice(slips)()

    def _press_anything(self) -> None:
        name = self._chance.choice(sorted(COMMANDS))
        depth = self._chance.number(0, 60)
        self.command(
            name,
            deck_set=1,
            cut_depth=depth,
            cards_left=depth,
            reason="a slip",
            digits=self._any_digits(),
        )

    def _any_digits(self) -> str:
        serial = self._chance.number(1, len(MANIFEST))
        return digits_of(serial, deck_set=self._chance.choice(DECK_SETS))

    def _miscount(self) -> None:
        self.command("close_shoe", cards_left=self._chance.number(0, 52))

    def _show_again(self, cards: Cards, state: TableState) -> None:
        assert state.shoe is not None
        seen = sorted(state.shoe.seen)
        if seen:
            serial = self._chance.choice(seen)
            self.scanner.see(digits_of(serial, deck_set=cards.deck_set))

    def _show_foreign(self, cards: Cards) -> None:
        other = next(number for number in DECK_SETS if number != cards.deck_set)
        serial = self._chance.number(1, len(MANIFEST))
        self.scanner.see(digits_of(serial, deck_set=other))

    def _two_at_once(self, cards: Cards) -> None:
        """Draw the next card while one is still being read: both reports are on their way."""
        self._lay(cards)
        if cards.order and cards.in_hand is not None:
            under = cards.order[0]
            self.scanner.see(digits_of(under, deck_set=cards.deck_set))
