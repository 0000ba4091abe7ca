"""Players who bet, double-click, change their minds, reconnect and lie."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from studio.domain.game import Json
from studio.domain.log import canonical
from studio.games import game as game_by_code
from studio.services.ports import Actor, Placed
from studio.services.setup import TableSetup
from studio.simulation.chance import Chance
from studio.simulation.disk import Disk
from studio.simulation.network import Answer, Network, ViolationError
from studio.simulation.server import Server

STAKES = (10, 50, 100, 333, 1_000, 4_000)
NONSENSE = (0, -100, 10**15, True, 1.5, "100", None)
LIE_ONE_IN = 10
UNDO_ONE_IN = 8
RESYNC_ONE_IN = 10


@dataclass(frozen=True, kw_only=True)
class Wish:
    """A request under the client's id; sent again and again until something comes back."""

    id: str
    round_id: str
    bet: str
    stake_minor: object
    undo: bool = False


class Player:
    """One player at one table, with the screen as the player sees it."""

    def __init__(
        self, actor: Actor, setup: TableSetup, *, disk: Disk, network: Network, chance: Chance
    ) -> None:
        """Sit down before the first snapshot."""
        self.actor = actor
        self.table = setup.code
        self._bets = (*setup.bets(game_by_code(setup.game)), "nonsense")
        self.pending: list[Wish] = []
        self.told: dict[str, Placed] = {}
        """What this player was told is placed."""
        self._disk = disk
        self._network = network
        self._chance = chance
        self._view: dict[str, Json] = {}
        self._at: tuple[int, int] | None = None

    def act(self) -> None:
        """Do one thing: ask again, look anew, lie, take back, or bet."""
        chance = self._chance
        if self.pending and chance.one_in(2):
            self._send(self.pending[0])
        elif self._at is None or chance.one_in(RESYNC_ONE_IN):
            self.resync()
        elif chance.one_in(LIE_ONE_IN):
            self._lie()
        elif self.told and chance.one_in(UNDO_ONE_IN):
            placed = self.told[chance.choice(sorted(self.told))].wager
            self._send(
                Wish(
                    id=placed.id,
                    round_id=placed.round_id,
                    bet=placed.bet,
                    stake_minor=placed.stake_minor,
                    undo=True,
                )
            )
        else:
            self._bet()

    # Betting -----------------------------------------------------------------------------------

    def _round_id(self) -> str | None:
        shown = self._view.get("round")
        return None if not shown else str(shown["id"])

    def _bet(self) -> None:
        round_id = self._round_id()
        if round_id is None:
            return
        stake = self._chance.choice(STAKES)
        bet = self._chance.choice(self._bets)
        wish = Wish(id=self._chance.uuid(), round_id=round_id, bet=bet, stake_minor=stake)
        self._send(wish)

    def _lie(self) -> None:
        """Send what no honest page sends: nonsense, another's wager, an old id anew."""
        round_id = self._round_id() or "T1-1-1"
        stake: object = self._chance.choice(NONSENSE)
        id = self._chance.uuid()
        known = sorted(self._disk.wagers)
        if known and self._chance.one_in(2):
            id, stake = self._chance.choice(known), 77
        undo = self._chance.one_in(3)
        self._send(Wish(id=id, round_id=round_id, bet="p1", stake_minor=stake, undo=undo))

    def _send(self, wish: Wish) -> None:
        answer = self._network.ask(self._work(wish), same_again=True)
        if not answer.arrived:
            if wish not in self.pending:
                self.pending.append(wish)
            return
        if wish in self.pending:
            self.pending.remove(wish)
        self._note(wish, answer)

    def _work(self, wish: Wish) -> Callable[[Server], Placed]:
        if wish.undo:
            return lambda to: to.wagers.undo(self.actor, wager_id=wish.id)
        return lambda to: to.wagers.place(
            self.actor,
            round_id=wish.round_id,
            wager_id=wish.id,
            bet=wish.bet,
            stake_minor=cast(int, wish.stake_minor),  # not always: lies are part of the game
        )

    def _note(self, wish: Wish, answer: Answer[Placed]) -> None:
        """Hold what the player was told against what is stored."""
        stored = self._disk.wagers.get(wish.id)
        mine = stored is not None and stored.player_id == self.actor.id
        same = stored is not None and (stored.round_id, stored.bet, stored.stake_minor) == (
            wish.round_id,
            wish.bet,
            wish.stake_minor,
        )
        if answer.value is None:
            if mine and same and not wish.undo:
                raise ViolationError("refused_but_stored", f"Wager {wish.id} is in the book.")
            return
        if not mine or (not same and not wish.undo):
            raise ViolationError("told_but_not_stored", f"Wager {wish.id} is not in the book.")
        if wish.undo:
            self.told.pop(wish.id, None)
        else:
            self.told[wish.id] = answer.value

    # The screen --------------------------------------------------------------------------------

    def hear(self, envelope: Mapping[str, Json]) -> None:
        """Take an event from the stream; one that does not follow means asking for the rest."""
        if self._at is None or envelope["table"] != self.table:
            return
        at = (int(envelope["epoch"]), int(envelope["seq"]))
        if at <= self._at:
            return
        if at != (self._at[0], self._at[1] + 1) and at != (self._at[0] + 1, 1):
            self.resync()
            return
        self._apply(envelope)

    def _apply(self, envelope: Mapping[str, Json]) -> None:
        self._view.update(json.loads(canonical(envelope["patch"])))
        self._at = (int(envelope["epoch"]), int(envelope["seq"]))

    def resync(self) -> None:
        """Ask for what was missed; the old view and the missed events must be the fresh view."""
        epoch, seq = self._at or (None, None)
        asked = self._network.ask(lambda to: self._missed(to, epoch, seq)).value
        if asked is None:
            return
        missed, fresh = asked
        if "snapshot" in missed:
            self._view = json.loads(canonical(missed["snapshot"]["view"]))
            self._at = (missed["snapshot"]["epoch"], missed["snapshot"]["seq"])
        else:
            for envelope in missed["events"]:
                self._apply(envelope)
        same_place = self._at == (fresh["epoch"], fresh["seq"])
        if not same_place or canonical(self._view) != canonical(fresh["view"]):
            raise ViolationError("view_differs", f"{self.table}: missed events give another view.")

    def _missed(
        self, to: Server, epoch: int | None, seq: int | None
    ) -> tuple[dict[str, Json], dict[str, Json]]:
        missed = to.tables.events_since(self.table, epoch=epoch, seq=seq)
        return missed, to.tables.snapshot(self.table)
