"""A table worked through the doors: dealer, camera, player, each with a browser or a key."""

import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from studio.domain.cards import CARDS_PER_DECK, CodeVersion, PrintedCode, parse_card
from studio.services.ports import DeckSet
from studio.web.studio import Studio
from tests.conftest import DEVICE_KEY, Browser, ManualClock

TABLE = "T1"
DECKS = 8
MANIFEST = {
    serial: (serial - 1) % CARDS_PER_DECK + 1 for serial in range(1, DECKS * CARDS_PER_DECK + 1)
}
BURN = "3C"
HANDS = ("4H", "6C", "9C", "KD", "5S", "8C", "7S", "7C", "2D", "QD", "5D", "AC")
"""P1..P5 and the banker, twice round: P1 7H wins."""


class Floor:
    """Dealer and camera of T1."""

    def __init__(self, studio: Studio, clock: ManualClock, dealer: Browser) -> None:
        self.studio = studio
        self.clock = clock
        self.dealer = dealer
        self.camera = dealer.client.application.test_client()
        self.used: set[int] = set()
        self.reports = 0
        with studio.tables.units.write() as unit:
            unit.deck_sets.register(DeckSet(number=1, decks=DECKS, manifest=MANIFEST))
            unit.commit()

    def command(self, name: str, **values: Any) -> Mapping[str, Any]:
        body = {"id": str(uuid.uuid4()), "command": name, **values}
        answer = self.dealer.post(f"/api/tables/{TABLE}/commands", body)
        assert answer.status_code == 200, answer.text
        return answer.json

    def report(self, seen: str | None, **changed: Any) -> Any:
        self.reports += 1
        body = {
            "id": f"cam-{self.reports}",
            "table": TABLE,
            "kind": "card_seen",
            "code": seen,
            "reason": None,
            "captured_ms": self.clock.ms,
            "copies": 2,
            "decoders": ["zxing"],
            **changed,
        }
        return self.camera.post(
            "/api/device/reports", json=body, headers={"X-Device-Key": DEVICE_KEY}
        )

    def printed(self, face: str) -> str:
        """Return the digits of a copy of this face that was not drawn yet."""
        number = parse_card(face).number
        serial = next(s for s, n in MANIFEST.items() if n == number and s not in self.used)
        self.used.add(serial)
        return PrintedCode(
            version=CodeVersion.CARD, number=number, deck_set=1, serial=serial
        ).digits

    def deal(self, faces: Iterable[str]) -> None:
        for face in faces:
            answer = self.report(self.printed(face))
            assert answer.json == {"taken": True, "duplicate": False}, answer.text

    def beat(self) -> None:
        """Every link gives a sign of life."""
        self.dealer.post(f"/api/tables/{TABLE}/station", {})
        for link in ("scanner", "video"):
            self.camera.post(
                "/api/device/heartbeat",
                json={"table": TABLE, "link": link},
                headers={"X-Device-Key": DEVICE_KEY},
            )

    def open_shoe(self) -> None:
        self.command("take_seat")
        self.command("load_shoe", deck_set=1)
        self.command("confirm_shuffle", cut_depth=60)
        self.deal(["2H", "5D", "6D"])  # the first card is a two: two are burnt

    def open_round(self) -> str:
        self.command("start_round")
        return str(self.view()["round"]["id"])

    def close(self) -> None:
        self.clock.advance(15_000)
        self.beat()
        self.studio.clockwork.turn()

    def reveal_all(self) -> None:
        while self.view()["phase"] == "reveal" or self.view()["phase"] == "no_more_bets":
            self.command("reveal")

    def view(self) -> Mapping[str, Any]:
        answer = self.dealer.get(f"/api/tables/{TABLE}").json["view"]
        assert isinstance(answer, dict)
        return answer


def make_floor(studio: Studio, clock: ManualClock, login: Callable[[str], Browser]) -> Floor:
    """Return T1 with its dealer, the shoe open, ready for the first round."""
    floor = Floor(studio, clock, login("dealer"))
    floor.open_shoe()
    return floor


def give_cash(login: Callable[[str], Browser], player_id: int, amount_minor: int) -> None:
    answer = login("administrator").post(
        "/api/cash",
        {
            "id": str(uuid.uuid4()),
            "player_id": player_id,
            "direction": "in",
            "amount_minor": amount_minor,
            "reason": "buy-in",
        },
    )
    assert answer.status_code == 200, answer.text


def bet(browser: Browser, round_id: str, spot: str, stake: Any, **changed: Any) -> Any:
    body = {"id": str(uuid.uuid4()), "bet": spot, "stake_minor": stake, **changed}
    return browser.post(f"/api/rounds/{round_id}/wagers", body)
