"""Takes the pictures of the README from tables that are in play.

`python -m tests.browser.screenshots` plays some rounds at six tables, stops in the middle of the
next one with the betting window open, and writes static/screenshots/*.png. It needs Chromium and
takes about three minutes.
"""

import io
import tempfile
import uuid
from pathlib import Path
from random import Random  # noqa: TID251  seeded: the same pictures every time

from PIL import Image
from playwright.sync_api import expect, sync_playwright

from studio.demo.client import DoorClient
from tests.browser.conftest import CHROMIUM, make_people
from tests.browser.dealing import Table
from tests.browser.house import House, Plan, open_house
from tests.browser.windows import Window, Windows

TARGET = Path(__file__).resolve().parents[2] / "static" / "screenshots"
BYTES_MAX = 200_000
ROUNDS = 9
CARDS = 13
SHOWN = "T2"
PLANS = tuple(
    Plan(code=f"T{number}", dealer=dealer, window_ms=15_000)
    for number, dealer in enumerate(("sato", "mori", "abe", "endo", "fujii", "goto"), 1)
)
GUESTS = ("hana", "ren", "yui", "sora")
RANKS, SUITS = "A23456789TJQK", "SHDC"
SPOTS = tuple(f"p{number}{kind}" for number in range(1, 6) for kind in ("", "_pair"))


class Evening:
    """Tables and guests of one evening."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.chance = Random(6)
        self.tables = [
            Table(house=house, code=plan.code, dealer=plan.dealer, deck_set=number)
            for number, plan in enumerate(PLANS, 1)
            if number > 1  # T1 has the real camera, which is not in the picture
        ]
        self.guests: list[DoorClient] = []
        for name in GUESTS:
            house.new_player(name=name)
            self.guests.append(house.door(name))

    def face(self) -> str:
        return self.chance.choice(RANKS) + self.chance.choice(SUITS)

    def bet(self, table: Table) -> None:
        round_id = table.view()["round"]["id"]
        for guest in self.guests:
            for spot in self.chance.sample(SPOTS, 3):
                stake = self.chance.choice((100, 500, 1_000))
                body = {"id": str(uuid.uuid4()), "bet": spot, "stake_minor": stake}
                guest.post(f"/api/rounds/{round_id}/wagers", body)

    def play(self, rounds: int) -> None:
        for table in self.tables:
            table.make_ready()
        for _ in range(rounds):
            for table in self.tables:
                table.start_round()
                self.bet(table)
                table.deal(self.face() for _ in range(CARDS))
            for table in self.tables:
                table.close_window()
                table.reveal_all()

    def stand_still(self) -> None:
        """Every table in another state, two of them with something for the pit."""
        shown, *others = self.tables
        for table in others:
            table.start_round()
            self.bet(table)
        others[0].deal(self.face() for _ in range(CARDS))
        others[1].deal(self.face() for _ in range(5))
        others[1].command("call_pit")
        others[2].deal(self.face() for _ in range(3))
        for _ in range(3):
            others[2].device("reports", kind="read_failed", code=None, reason="unreadable")
        others[0].close_window()
        others[0].command("reveal")
        shown.start_round()
        self.bet(shown)
        shown.deal(self.face() for _ in range(8))


def save(window: Window, name: str) -> None:
    """Take a picture, with fewer colours when it would be too large."""
    window.page.mouse.move(0, 0)
    picture = Image.open(io.BytesIO(window.page.screenshot())).convert("RGB")
    TARGET.mkdir(exist_ok=True)
    path = TARGET / f"{name}.png"
    picture.save(path, optimize=True)
    if path.stat().st_size > BYTES_MAX:
        picture.quantize(colors=256, dither=Image.Dither.NONE, kmeans=2).save(path, optimize=True)
    if path.stat().st_size > BYTES_MAX:
        raise SystemExit(f"{path} is larger than {BYTES_MAX} bytes.")


def main() -> None:
    """Play, stop, and take the three pictures."""
    with (
        sync_playwright() as playwright,
        tempfile.TemporaryDirectory(prefix="studio-browser-") as folder,
        open_house(Path(folder), make_people, plans=PLANS) as house,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        windows = Windows(browser=browser, house=house)
        evening = Evening(house)
        evening.play(ROUNDS)
        dark = {"color_scheme": "dark", "reduced_motion": "reduce", "width": 1280}
        play = windows.of("hana", f"/play/{SHOWN}", height=1056, **dark).live()
        station = windows.of("mori", f"/station?table={SHOWN}", height=720, **dark).live()
        pit = windows.of("pit", "/pit", height=940, **dark).live()
        evening.stand_still()
        play("chip-1000").click()
        for spot in ("spot-p1", "spot-p3_pair"):
            play(spot).click()
            expect(play(spot)).to_have_attribute("data-state", "accepted")
        pit(f"tile-{SHOWN}").click()
        expect(pit("drawer-wagers").get_by_role("row").nth(5)).to_be_visible()
        pit.page.evaluate("scrollTo(0, 0)")
        for window, name in ((station, "station"), (play, "player"), (pit, "pit")):
            save(window, name)
        windows.close()
        browser.close()


if __name__ == "__main__":
    main()
