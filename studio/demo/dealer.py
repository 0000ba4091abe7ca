"""The simulated dealer: reads the station's instruction and does what it says."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from studio.demo.camera import CameraHand
from studio.demo.client import DoorClient, Watcher
from studio.demo.world import Draw, VirtualShoe, generator
from studio.domain.game import Json

STALL_S = 60.0
"""A table that waits longer than this for its dealer has a fault the demo can't mend."""
BEAT_S = 1.0


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How fast the hands are: pauses in seconds, so that people can watch."""

    card_s: float = 0.0
    reveal_s: float = 0.0
    between_rounds_s: float = 0.0


def _step(watcher: Watcher) -> dict[str, Json]:
    """Return the instruction without the look ahead, which may change while a card lies there."""
    return {key: value for key, value in watcher.view["instruction"].items() if key != "next"}


@dataclass
class SimulatedDealer:
    """Deals `rounds` rounds (None: until stopped), shoe after shoe."""

    client: DoorClient
    hand: CameraHand
    table: str
    decks: int
    deck_sets: tuple[int, ...]
    cut_depths: range
    seed: int | None
    salt: tuple[str, ...]
    """Keeps the cards of this table apart from those of another one."""
    pace: Pace
    rounds: int | None = None
    on_round: Callable[[int], None] = lambda _: None
    done: threading.Event = field(default_factory=threading.Event)
    """Set when the rounds are played; the dealer keeps the seat until told to stop."""
    stopping: threading.Event = field(default_factory=threading.Event)
    shoe: VirtualShoe | None = None
    shoes: int = 0
    played: int = 0
    _counted: str = ""
    _down: Draw | None = None
    _cut_card_out: bool = False

    def run(self) -> None:
        """Deal until the rounds are played or the demo stops.

        Raises:
            DoorError: a door refuses what its own screen asked for.
            TimeoutError: nothing is asked of the dealer for STALL_S.
        """
        watcher = Watcher(self.client, self.table)
        beats = threading.Thread(target=self._beat, args=(watcher,), daemon=True)
        beats.start()
        try:
            watcher.wait(bool, timeout_s=STALL_S)
            seated = self.client.command(self.table, "take_seat")
            self._wait(watcher, {"code": "take_seat"}, seated, STALL_S)
            self._deal(watcher)
        finally:
            self.stopping.set()
            beats.join(timeout=2 * BEAT_S)
            watcher.close()
            self.client.close()

    def _beat(self, watcher: Watcher) -> None:
        while not self.stopping.is_set():
            watcher.beat()
            self.stopping.wait(BEAT_S)

    def _deal(self, watcher: Watcher) -> None:
        while not self.stopping.is_set():
            with watcher.changed:
                step = _step(watcher)
                current = watcher.view["round"]
            self._count(current)
            if self.played == self.rounds:
                self._take_away()
                self.done.set()
                self.stopping.wait()
                return
            answer = self._act(step)
            waits_for_people = step["code"] in {"held", "stopped", "locked"}
            limit_s = None if waits_for_people and self.rounds is None else STALL_S
            self._wait(watcher, step, answer, limit_s)

    def _count(self, current: Json) -> None:
        if current is None or current["phase"] != "settled" or current["id"] == self._counted:
            return
        self._counted = current["id"]
        self.played += 1
        self.on_round(self.played)

    def _wait(
        self, watcher: Watcher, step: Json, answer: Json | None, limit_s: float | None
    ) -> None:
        """Wait for the next step.

        After a command, for the event it gave; after a card, for another instruction: any other
        event may come in between and must not make the hands do the same thing twice.
        """

        def ready() -> bool:
            if answer is not None:
                return watcher.position >= (answer["epoch"], answer["seq"])
            return bool(_step(watcher) != step)

        waited_s = 0.0
        while not self.stopping.is_set():
            with watcher.changed:
                if watcher.changed.wait_for(ready, timeout=1.0):
                    return
            waited_s += 1.0
            if limit_s is not None and waited_s >= limit_s:
                raise TimeoutError(f"The table stands still at {step['code']}.")

    def _act(self, step: Json) -> Json | None:
        """Do what the station says; return a command's answer, None after anything else."""
        code = step["code"]
        if code in {"turn_first_card", "burn", "burn_one", "deal"}:
            self._next_card()
            return None
        if code == "rescan":
            self._again()
            return None
        self._take_away()
        command = {
            "load_shoe": self._load,
            "shuffle": self._shuffle,
            "start_round": self._start_round,
            "reveal": self._reveal,
            "last_round_done": self._close,
        }.get(code)
        return command() if command is not None else None

    def _shuffle(self) -> Json:
        assert self.shoe is not None
        return self.client.command(self.table, "confirm_shuffle", cut_depth=self.shoe.cut_depth)

    def _start_round(self) -> Json:
        self.stopping.wait(self.pace.between_rounds_s)
        return self.client.command(self.table, "start_round")

    def _reveal(self) -> Json:
        self.stopping.wait(self.pace.reveal_s)
        return self.client.command(self.table, "reveal")

    def _load(self) -> Json:
        deck_set = self.deck_sets[self.shoes % len(self.deck_sets)]
        rng = generator(self.seed, *self.salt, "shoe", self.shoes)
        self.shoe = VirtualShoe(
            deck_set=deck_set, decks=self.decks, cut_depth=rng.choice(self.cut_depths), rng=rng
        )
        self.shoes += 1
        self._cut_card_out = False
        return self.client.command(self.table, "load_shoe", deck_set=deck_set)

    def _close(self) -> Json:
        assert self.shoe is not None
        return self.client.command(self.table, "close_shoe", cards_left=self.shoe.left)

    def _next_card(self) -> None:
        assert self.shoe is not None
        self._take_away()
        if self.shoe.cut_card_next and not self._cut_card_out:
            self._cut_card_out = True
            self.hand.cut_card()
            self.client.command(self.table, "cut_card")
            self.hand.clear()
        self.stopping.wait(self.pace.card_s)
        self._down = self.shoe.draw()
        self.hand.place(self._down.digits, trouble="unreadable" if self._down.trouble else "none")

    def _again(self) -> None:
        if self._down is not None:
            self.hand.clear()
            self.stopping.wait(self.pace.card_s)
            self.hand.place(self._down.digits)

    def _take_away(self) -> None:
        if self._down is not None:
            self.hand.clear()
            self._down = None
