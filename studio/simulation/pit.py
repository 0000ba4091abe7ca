"""Two supervisors who answer what calls them, at times both at once, and at times for no reason."""

from collections.abc import Mapping, Sequence

from studio.domain.cards import ALL_CARDS
from studio.domain.game import Json
from studio.domain.pending import PendingCorrection
from studio.domain.procedures import choices, seen
from studio.domain.round import Phase
from studio.domain.table import Stage, TableState
from studio.services.ports import Actor, RoundRow
from studio.simulation.chance import Chance
from studio.simulation.dealing import Cards, Dealer
from studio.simulation.floor import SUPERVISORS
from studio.simulation.network import Network
from studio.simulation.server import Server

VOID_ONE_IN = 60
LOCK_ONE_IN = 150
FREE_SEAT_ONE_IN = 150
CORRECT_ONE_IN = 3
DROP_ONE_IN = 5
ROUNDS_BACK = 6
"""So many latest rounds are looked at for one to correct."""


class Pit:
    """What the supervisors do at one table."""

    def __init__(self, table: str, *, dealer: Dealer, network: Network, chance: Chance) -> None:
        """Watch one table."""
        self.table = table
        self.careful = False
        """True: only what calls is answered."""
        self._dealer = dealer
        self._network = network
        self._chance = chance
        self._pending: tuple[Actor, dict[str, Json]] | None = None

    def act(self) -> None:
        """Answer what calls; now and then void, lock or free the seat."""
        state = self._network.ask(lambda to: to.tables.live(self.table).state).value
        if state is None:
            return
        if self._pending is not None:
            self._send(*self._pending)
            return
        pending = state.correction
        if pending is not None and (pending.waits or self._chance.one_in(DROP_ONE_IN)):
            self.decide(pending)
            return
        wanted = self._wanted(state)
        if not self.careful and self._chance.one_in(CORRECT_ONE_IN):
            self.correct()
            return
        if wanted is None and not self.careful:
            wanted = self._whim(state)
        if wanted is not None:
            name, args = wanted
            self._command(name, args)
            if not self.careful and self._chance.one_in(5):
                self._command(name, args)  # the other supervisor saw it too

    def _command(self, name: str, args: dict[str, Json]) -> None:
        by = self._chance.choice(SUPERVISORS)
        self._send(by, {"id": self._chance.uuid(), "command": name, "reason": "seen to", **args})

    def _send(self, actor: Actor, body: dict[str, Json]) -> None:
        answer = self._network.ask(
            lambda to: to.tables.execute(actor, self.table, body), same_again=True
        )
        self._pending = None if answer.arrived else (actor, body)

    def correct(self) -> None:
        """Annul rounds that have ended, or exchange cards of one; at times it is refused."""
        chance = self._chance
        rows = self._network.ask(self._latest).value or ()
        if not chance.one_in(5):
            rows = [row for row in rows if row.phase == Phase.SETTLED or row.settlement_version > 1]
        if not rows:
            return
        if chance.one_in(4):
            chosen = chance.shuffled(rows)[: chance.number(1, 3)]
            refunds: Json = {row.id: row.settlement_version for row in chosen}
            self._network.ask(lambda to: to.tables.preview_refund(self.table, rounds=refunds))
            self._command("refund_rounds", {"rounds": refunds})
            return
        row = chance.choice(rows)
        wanted: dict[str, Json] = {"round_id": row.id, "version": row.settlement_version}
        if chance.one_in(3):
            self._command("void_settled", wanted)
            return
        record = self._network.ask(lambda to: to.tables.round_record(row.id)).value
        cards = self._exchanged(record["round"]["reveals"]) if record else {}
        preview = self._network.ask(
            lambda to: to.tables.preview_correction(
                row.id, version=row.settlement_version, cards=cards
            )
        )
        if preview.value is not None or chance.one_in(5):
            self._command("correct_round", {**wanted, "cards": cards})

    def _latest(self, to: Server) -> Sequence[RoundRow]:
        with to.units.read() as unit:
            return unit.rounds.recent(self.table, limit=ROUNDS_BACK, before_ms=None)

    def _exchanged(self, reveals: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
        """Return two cards of a round in each other's place, or one that is another."""
        chance = self._chance
        if len(reveals) < 2 or chance.one_in(8):
            return {f"P/{chance.number(0, 2)}": chance.choice(ALL_CARDS).code}
        first, second = chance.shuffled(reveals)[:2]
        return {
            f"{at['position']}/{at['index']}": card["card"]
            for at, card in ((first, second), (second, first))
        }

    def decide(self, pending: PendingCorrection) -> None:
        """Approve what waits, at times one's own; now and then drop it, announced or not."""
        proposal: dict[str, Json] = {"proposal": pending.proposed.id}
        if self._chance.one_in(DROP_ONE_IN) or pending.announced is not None:
            self._command("drop_correction", proposal)
        else:
            self._command("approve_correction", proposal)

    def _named(self, state: TableState, command: str) -> dict[str, Json]:
        """Name the situation that the log shows and a choice of it; at times one that is shut."""
        situation = seen(state)
        if situation is None or self._chance.one_in(3):
            return {}
        ways = [one for one in choices(state, situation) if one.command == command]
        if not ways:
            return {}
        self._network.ask(lambda to: to.tables.choices(self.table))
        way = self._chance.choice(ways).way
        return {"situation": situation.value, "choice": way.value}

    def _wanted(self, state: TableState) -> tuple[str, dict[str, Json]] | None:
        cards = self._dealer.cards
        running = state.round is not None and state.round.running
        if state.fault is not None and state.fault.held:
            return "release_held", self._named(state, "release_held")
        keyed = state.fault is not None and state.fault.keyed is not None
        if keyed and not state.stopped and cards is not None:
            return self._answer_key(cards)
        if state.stopped or state.pit_called:
            return "resume", self._named(state, "resume")
        useless = state.verification_failed or (state.shoe is not None and state.shoe.in_shoe < 14)
        if useless and not running and state.stage is not Stage.NO_SHOE and cards is not None:
            return "close_shoe", {"cards_left": cards.left}
        if state.locked is not None:
            return "unlock", {}
        return None

    def _answer_key(self, cards: Cards) -> tuple[str, dict[str, Json]] | None:
        """Key in what the latest picture shows; without one, or now and then, reject."""
        newest = self._network.ask(self._picture).value or 0
        if not newest or self._chance.one_in(6):
            return "drop_key", {}
        return "confirm_key", {"digits": self._dealer.key_of(cards), "picture": newest}

    def _picture(self, to: Server) -> int:
        with to.units.read() as unit:
            return unit.pictures.newest().get(self.table, 0)

    def _whim(self, state: TableState) -> tuple[str, dict[str, Json]] | None:
        chance = self._chance
        if state.round is not None and state.round.running and chance.one_in(VOID_ONE_IN):
            return "void_round", {"round_id": state.round.id}
        if chance.one_in(LOCK_ONE_IN):
            return "lock", {}
        if state.dealer is not None and chance.one_in(FREE_SEAT_ONE_IN):
            return "free_seat", {}
        return None
