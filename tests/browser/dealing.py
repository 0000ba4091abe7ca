"""A table's dealer without a screen: for tests that look at somebody else's."""

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import requests

from studio.demo.camera import CameraHand
from studio.demo.client import TIMEOUT_S, DoorClient
from studio.demo.world import manifest
from studio.domain.cards import ALL_CARDS, CodeVersion, PrintedCode, parse_card
from studio.domain.game import Json
from tests.browser.house import DECKS, HAND_SCANNER, SOCKET, House, until

SECRET_BURN = "9C"
SECRET_HANDS = ("5H", "4D", "8C", "KD", "TS", "3C", "5S", "6H", "KH", "QD", "JC", "4C")
"""P1..P5 and the banker, twice round: P1 has a pair of fives, the banker 7 with a flush.

These faces are dealt in one test only, so that whoever hears one of them heard it too early.
"""
BURN = "AS"
HANDS = ("2S", "3D", "6S", "7H", "9D", "JH", "2C", "3H", "6D", "7D", "9H", "JD")
"""What every other test deals."""
OPENING = ("2H", "8D", "TD")
"""A two is turned first, so that two cards are burnt."""

COPIES_LOW = 2
"""With fewer copies of a face left a fresh shoe is laid out, so that every hand is as named."""


@dataclass
class Table:
    """One table, its dealer, its scanner and the cards in the shoe."""

    house: House
    code: str
    dealer: str
    deck_set: int
    used: set[int] = field(default_factory=set)
    reports: int = 0

    @property
    def door(self) -> DoorClient:
        """The dealer's login."""
        return self.house.door(self.dealer)

    @property
    def camera(self) -> CameraHand | None:
        """The simulated camera over this table's glass, if it has one."""
        return CameraHand(self.house.folder / SOCKET) if self.code == "T1" else None

    def view(self) -> Json:
        """Return what everybody may see."""
        return self.door.get(f"/api/tables/{self.code}")["view"]

    def command(self, name: str, **values: Json) -> Json:
        """Order something as the dealer."""
        return self.door.command(self.code, name, **values)

    def pit(self, name: str, *, reason: str = "test", **values: Json) -> Json:
        """Order something as the supervisor."""
        return self.house.door("pit").command(self.code, name, reason=reason, **values)

    def proposal(self) -> Json:
        """Return the correction that stands at this table, as the second supervisor sees it."""
        items = self.house.door("pit2").get("/api/pit")["tables"]
        return next(item["proposal"] for item in items if item["table"] == self.code)

    def approve(self) -> None:
        """Approve it as the second supervisor."""
        proposal = self.proposal()["id"]
        self.house.door("pit2").command(self.code, "approve_correction", proposal=proposal)

    # Cards -------------------------------------------------------------------------------------

    def printed(self, face: str) -> PrintedCode:
        """Return the code of a copy of this face that no test has taken from this shoe."""
        number = parse_card(face).number
        serial = self._left()[number][0]
        self.used.add(serial)
        return PrintedCode(
            version=CodeVersion.CARD, number=number, deck_set=self.deck_set, serial=serial
        )

    def _left(self) -> dict[int, list[int]]:
        """Return card number -> serials of the copies that no test has taken."""
        left: dict[int, list[int]] = {card.number: [] for card in ALL_CARDS}
        for serial, number in manifest(DECKS).items():
            if serial not in self.used:
                left[number].append(serial)
        return left

    def lay(self, face: str) -> PrintedCode:
        """Let the scanner see the next card and wait until the studio has taken it."""
        card = self.printed(face)
        before = self.in_shoe()
        if self.camera is None:
            answer = self.device("reports", kind="card_seen", code=card.digits)
            assert answer["taken"], answer
        else:
            self.camera.place(card.digits)
        # Not any event: the window may close while the card lies there.
        until(lambda: self.in_shoe() < before, what=f"{face} at {self.code} is read")
        return card

    def device(self, door: str, **values: Json) -> Json:
        """Say something as this table's scanner."""
        self.reports += 1
        body = {"table": self.code, **values}
        if door == "reports":
            body = {
                "id": f"{HAND_SCANNER}-{uuid.uuid4().hex[:12]}",
                "reason": None,
                "captured_ms": self.house.door(self.dealer).get("/api/clock")["now_ms"],
                "copies": 2,
                "decoders": ["zxing", "zbar"],
                **body,
            }
        answer = requests.post(
            f"{self.house.url}/api/device/{door}",
            json=body,
            headers={"X-Device-Key": self.house.device_keys[HAND_SCANNER]},
            timeout=TIMEOUT_S,
        )
        assert answer.ok, answer.text
        return answer.json()

    def in_shoe(self) -> int:
        """Return how many cards the shoe holds."""
        return int(self.view()["shoe"]["in_shoe"])

    def position(self) -> tuple[int, int]:
        """Return epoch and number of the last event."""
        answer = self.door.get(f"/api/tables/{self.code}")
        return int(answer["epoch"]), int(answer["seq"])

    def deal(self, faces: Iterable[str] = (BURN, *HANDS)) -> list[PrintedCode]:
        """Deal a round, or part of it."""
        return [self.lay(face) for face in faces]

    # The way to a round ------------------------------------------------------------------------

    def beat(self) -> None:
        """Give every link a sign of life."""
        self.door.post(f"/api/tables/{self.code}/station", {})
        if self.camera is None:
            for link in ("scanner", "video"):
                self.device("heartbeat", link=link, frame_age_ms=5, fps=30.0, queued=0)

    def make_ready(self) -> None:
        """Go on from wherever the test before left the table, until a round can start."""
        if self.view()["dealer"] is None:
            self.command("take_seat")
        self.beat()
        opening = iter(OPENING)
        steps: dict[str, Callable[[], object]] = {
            "load_shoe": self._load,
            "shuffle": lambda: self.command("confirm_shuffle", cut_depth=60),
            "turn_first_card": lambda: self.lay(next(opening)),
            "burn": lambda: self.lay(next(opening)),
            "stopped": lambda: self.pit("resume"),
            "held": lambda: self.pit("release_held", action="continue"),
        }
        for _ in range(20):
            view = self.view()
            code = view["instruction"]["code"]
            if code == "start_round":
                if all(len(copies) >= COPIES_LOW for copies in self._left().values()):
                    break
                self.pit("close_shoe", cards_left=view["shoe"]["in_shoe"])
            elif code in steps:
                steps[code]()
            elif view["phase"] in {"betting", "no_more_bets", "reveal"}:
                self.pit("void_round")
        assert self.view()["instruction"]["code"] == "start_round", self.view()
        self._clear_alarms()

    def _clear_alarms(self) -> None:
        pit = self.house.door("pit")
        for alarm in pit.get("/api/pit")["alarms"]:
            if alarm["table"] == self.code and not alarm["acknowledged_by"]:
                pit.post(f"/api/alarms/{alarm['id']}/acknowledge", {"reason": "test"})

    def _load(self) -> None:
        self.command("load_shoe", deck_set=self.deck_set)
        self.used.clear()

    def start_round(self) -> str:
        """Open the betting window; return the round's name."""
        self.command("start_round")
        return str(self.view()["round"]["id"])

    def close_window(self) -> None:
        """Let the time of the window pass, and wait until the clockwork has closed it."""
        current = self.view()["round"]
        if current["phase"] == "betting":
            self.house.let_pass(until_ms=current["window_closes_ms"])
        until(lambda: self.view()["phase"] != "betting", what="the window closes")

    def reveal_all(self) -> None:
        """Open hand after hand."""
        while self.view()["phase"] in {"no_more_bets", "reveal"}:
            self.command("reveal")
