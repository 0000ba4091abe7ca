"""No card is anywhere before its reveal: not on a page, in an answer, a message, a log, a figure.

A real round with a failed read, a keyed card and a doubled one, in which the test knows every
card because it deals them. At each step it fetches everything that anybody may fetch.
"""

import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import socketio

from studio import joining
from studio.demo.client import DoorClient
from studio.settings import DEFAULT_FILE, load_settings
from tests.process.playhouse import TABLE, Playhouse, make_playhouse, until

pytestmark = pytest.mark.process

WINDOW_MS = 8_000
STRANGER = "stranger"
SUITS = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}
ROUNDLESS = "none"

PLAY_MONEY_ONLY = {"/api/club", "/api/rooms/mine"}
"""Doors that a studio for money refuses to everybody."""


@dataclass(frozen=True, kw_only=True)
class Secret:
    """A drawn card as only the engine may know it."""

    face: str
    serial: int
    nonce: str
    digits: str

    def times_in(self, text: str) -> int:
        """Count how often a text tells this card, in whatever form."""
        pretty = self.face[0].replace("T", "10") + SUITS[self.face[1]]
        words = re.findall(rf"(?<![A-Za-z0-9])(?:{self.face}|{pretty})(?![A-Za-z0-9])", text)
        serials = re.findall(rf'"?serial"?\s*[:=]\s*"?{self.serial}\b', text)
        return len(words) + len(serials) + text.count(self.nonce) + text.count(self.digits)


class Ear:
    """A socket that keeps every message it hears, and the answer to `watch`."""

    def __init__(self, client: DoorClient) -> None:
        self.heard: list[str] = []
        self._socket = socketio.Client(handle_sigint=False)
        self._socket.on("*", self._hear, namespace="/live")
        self._socket.connect(
            client.base_url,
            headers={"Cookie": client.cookies},
            transports=["websocket"],
            namespaces=["/live"],
            wait_timeout=20,
        )
        question = {"table": TABLE, "epoch": None, "seq": None}
        self._hear("watched", self._socket.call("watch", question, namespace="/live", timeout=20))

    def _hear(self, event: str, *message: Any) -> None:
        self.heard.append(json.dumps([event, *message], ensure_ascii=False))

    def close(self) -> None:
        self._socket.disconnect()


def addresses() -> list[str]:
    """Return every address that answers a GET, but the devices' and the assets."""
    settings = load_settings(
        DEFAULT_FILE, database_url="sqlite:////dev/null/absent", secret_key="s" * 40
    )
    with pytest.MonkeyPatch.context() as patch:
        # Only the addresses are asked for: no database stands behind this application.
        patch.setattr(joining, "make_studio", lambda *_: _NoStudio(settings))
        rules = list(joining.make_app(settings).url_map.iter_rules())
    return sorted(
        str(rule)
        for rule in rules
        if "GET" in (rule.methods or ())
        and rule.endpoint != "static"
        and not rule.endpoint.startswith("device.")
    )


class _NoStudio:
    """Settings alone; whatever else is asked of it is not there."""

    tables = links = clockwork = people = clock = None

    def __init__(self, settings: Any) -> None:
        self.settings = settings


@dataclass
class Watch:
    """Everything that can be seen of a house, step by step."""

    house: Playhouse
    known: list[str]
    ears: dict[str, Ear]
    clients: dict[str, DoorClient]
    digits: list[str] = field(default_factory=list)
    """Every card laid so far, in order; the first lies open."""
    before: Mapping[str, str] = field(default_factory=dict)
    """What was seen before any card was drawn: rules may name cards as examples."""
    answered: set[str] = field(default_factory=set)

    def secrets(self) -> list[Secret]:
        """Return the sealed cards so far, in order of drawing."""
        by_serial = {int(digits[6:10]): digits for digits in self.digits}
        return [
            Secret(
                face=row["card"],
                serial=row["serial"],
                nonce=row["nonce"],
                digits=by_serial[row["serial"]],
            )
            for row in self.house.sealed()
        ]

    def everything(self, round_id: str = ROUNDLESS) -> dict[str, str]:
        """Fetch what every role can fetch, and add what was heard and logged so far."""
        seen: dict[str, str] = {}
        player_id = str(self.house.player.get("/api/me")["id"])
        for name, client in self.clients.items():
            for address in self.known:
                path = (
                    address.replace("<table>", TABLE)
                    .replace("<game>", "pok_deng")
                    .replace("<int:epoch>", "1")
                    .replace("<int:player_id>", player_id)
                    .replace("<round_id>", round_id)
                )
                for query in ("", "?table=T1", "?epoch=1&after=0"):
                    if query and not address.endswith(("/station", "/events")):
                        continue
                    answer = client.http.get(client.base_url + path + query, timeout=20)
                    assert answer.status_code < 500, answer.text
                    if answer.ok:
                        self.answered.add(address)
                    seen[f"{name} {address}{query}"] = answer.text + str(answer.headers)
        seen |= {f"{name}.log": self.house.log(name) for name in ("server", "scanner")}
        return seen | {f"{name} heard": "\n".join(ear.heard) for name, ear in self.ears.items()}

    def wait_until_heard(self, kind: str, *, times: int) -> None:
        """Wait until every ear has heard so many events of this kind."""
        for ear in self.ears.values():
            until(lambda ear=ear: "".join(ear.heard).count(f'"{kind}"') >= times, kind)

    def leaks(self, seen: Mapping[str, str], secrets: Iterable[Secret]) -> list[str]:
        """Return where a secret is told more often than before the first card was drawn."""
        return [
            f"{secret.face} in {place}"
            for secret in secrets
            for place, text in seen.items()
            if secret.times_in(text) > secret.times_in(self.before.get(place, ""))
        ]


@pytest.fixture
def house() -> Iterator[Playhouse]:
    """A studio with an empty table."""
    folder = Path(tempfile.mkdtemp(prefix="studio-leaks-"))
    made = make_playhouse(folder, window_ms=WINDOW_MS)
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(folder)


@pytest.fixture
def watch(house: Playhouse) -> Iterator[Watch]:
    """Everybody's eyes and the ears of player, dealer and pit."""
    clients = {**house.people, STRANGER: DoorClient(house.url)}
    ears = {name: Ear(house.people[name]) for name in ("player", "dealer", "pit")}
    yield Watch(house=house, known=addresses(), ears=ears, clients=clients)
    for ear in ears.values():
        ear.close()
    clients[STRANGER].close()


def test_no_card_is_told_before_its_reveal_and_the_search_finds_it_after(house, watch):
    watch.before = watch.everything()
    first, opening_burn = house.open_shoe()
    watch.digits += [first, opening_burn]
    need_silence(watch, watch.everything(), drawn=1)

    round_id, cards = house.start_round()
    house.bet(round_id)
    for digits in cards[:5]:
        watch.digits.append(digits)
        house.draw(digits)
    assert house.view["phase"] == "betting"
    need_silence(watch, watch.everything(round_id), drawn=6)

    # A card that does not read, then one that was dealt already: faults tell no card either.
    watch.digits.append(cards[5])
    house.lay(cards[5], trouble="unreadable")
    house.wait_for(lambda view: view["instruction"]["code"] == "rescan", "the failed read")
    need_silence(watch, watch.everything(round_id), drawn=6)
    # Keyed in and rejected: the entry is kept apart like a drawn card.
    for _ in range(2):
        house.dealer.command(TABLE, "unreadable")
    house.dealer.command(TABLE, "key_card", digits=cards[5])
    need_silence(watch, watch.everything(round_id), drawn=7)
    house.people["pit"].command(TABLE, "drop_key", reason="the camera shall try again")
    house.draw(cards[5])
    house.lay(cards[1])
    house.wait_for(lambda view: view["instruction"]["code"] == "held", "the doubled card")
    need_silence(watch, watch.everything(round_id), drawn=8)
    house.people["pit"].command(
        TABLE, "release_held", action="continue", reason="shown twice by mistake"
    )

    for digits in cards[6:]:
        watch.digits.append(digits)
        house.draw(digits)
    house.hand.clear()
    need_silence(watch, watch.everything(round_id), drawn=15)
    house.wait_for(lambda view: view["phase"] == "reveal", "the close of betting")
    need_silence(watch, watch.everything(round_id), drawn=15)

    # Half way: what is open is told, what is closed is not.
    for _ in range(3):
        house.dealer.command(TABLE, "reveal")
    watch.wait_until_heard("CardsRevealed", times=3)
    secrets = {secret.digits: secret for secret in watch.secrets()}
    # Burn, then P1..P5 and the banker twice: places 1..3 and 7..9 are open.
    is_open = [secrets[cards[place]] for place in (1, 2, 3, 7, 8, 9)]
    closed = [secret for secret in secrets.values() if secret not in is_open]
    assert len(closed) == 8
    seen = watch.everything(round_id)
    assert watch.leaks(seen, closed) == []
    need_told(watch, seen, is_open)

    house.finish((), reveals=3)
    watch.wait_until_heard("RoundSettled", times=1)
    seen = watch.everything(round_id)
    need_told(watch, seen, [secrets[digits] for digits in cards])
    assert watch.leaks(seen, [secrets[opening_burn]]) == []
    # Everything was looked at: each address answered somebody.
    assert set(watch.known) - watch.answered == PLAY_MONEY_ONLY


def need_silence(watch: Watch, seen: Mapping[str, str], *, drawn: int) -> None:
    secrets = watch.secrets()
    assert len(secrets) == drawn
    assert watch.leaks(seen, secrets) == []


def need_told(watch: Watch, seen: Mapping[str, str], secrets: Iterable[Secret]) -> None:
    """The same search finds open cards wherever they are meant to be."""
    for secret in secrets:
        found = watch.leaks(seen, [secret])
        for place in (
            *("player heard", "dealer heard", "pit heard"),
            *("player /api/tables", "dealer /api/tables/<table>"),
            *("pit /api/pit", "auditor /api/rounds/<round_id>"),
        ):
            assert f"{secret.face} in {place}" in found


@pytest.mark.parametrize(
    "text",
    [
        '{"cards":[null,"4H"]}',
        "<td>4♥</td>",
        '{"serial": 43}',
        "drew serial=43 of the set",
        f"nonce {'ab' * 32}",
        "read 120400100438",
    ],
)
def test_the_search_knows_a_card_in_every_form(text):
    secret = Secret(face="4H", serial=43, nonce="ab" * 32, digits="120400100438")
    assert secret.times_in(text) == 1
    assert secret.times_in('{"cards":[null,"4D"],"serial":431,"hash":"04H4"}') == 0
