"""A studio at work for the browsers: server and scanner are processes, people come by the doors."""

import json
import secrets
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from studio.demo.client import DoorClient
from studio.demo.processes import Processes, free_port, wait_until_ready
from studio.demo.world import manifest
from studio.domain.game import Json
from studio.domain.money import CURRENCIES
from studio.games import GAMES, by_code
from studio.services.people import NewPerson, PeopleService
from studio.services.ports import Actor, DeckSet, Role
from studio.store.engine import make_engine
from studio.store.schema import upgrade
from studio.store.units import SqlUnits
from studio.web.system import SystemClock
from tests.browser.clock import VARIABLE, Forward

PASSWORD = "seven lamps over green felt"
PURSE_MINOR = 100_000
DECKS = 8
CAMERA, HAND_SCANNER = "camera-1", "hand-scanner"
SOCKET = "camera.sock"
WAIT_S = 20.0
SERVER = ["-m", "gunicorn", "--config", "config/gunicorn.py", "tests.browser.clock:create_app()"]
STAFF = {
    "sato": ("Sato", Role.DEALER),
    "mori": ("Mori", Role.DEALER),
    "abe": ("Abe", Role.DEALER),
    "endo": ("Endo", Role.DEALER),
    "fujii": ("Fujii", Role.DEALER),
    "goto": ("Goto", Role.DEALER),
    "pit": ("Tanaka", Role.PIT_SUPERVISOR),
    "pit2": ("Ueda", Role.PIT_SUPERVISOR),
    "auditor": ("Kato", Role.AUDITOR),
    "admin": ("Ito", Role.ADMINISTRATOR),
}

SETTINGS = """
audit_hours = 0

[rates]
wagers_per_minute = 100000
commands_per_minute = 100000
reads_per_minute = 100000
logins_per_minute = 10000

[corrections]
notice_s = 5
void_approval_minor = 50000
"""

# The tests deal the same faces in every shoe: the check of the order would stop the table.
TABLE = """
[tables.{code}]
name = "{name}"
game = "{game}"
currency = "{currency}"
decks = 8
window_ms = {window_ms}
order_run = 0
cut_depth_min = 60
cut_depth_max = 120
deck_sets = [{deck_set}]
player_max_minor = 60000
table_max_minor = 5000000

[tables.{code}.links]
{links}
"""

LIMITS = """
[tables.{code}.limits.{kind}]
min_minor = 100
max_minor = {max_minor}
"""

OPTIONS = """
[tables.{code}.options]
{options}
"""

LIMITS_MAX_MINOR = {
    "pok_deng": {"main": 50_000, "pair": 20_000},
    "baccarat": {"player": 50_000, "banker": 50_000, "tie": 20_000, "pair": 20_000},
}
"""The most on one bet, by game and kind of bet."""

SCANNER = """
[camera]
kind = "simulated"
socket = "{socket}"
width = 960
height = 540
frames_per_s = 10

[uplink]
url = "{url}"
table = "T1"
device = "camera-1"
queue = "{queue}"
"""

PATIENT_MS = 3_600_000
"""Tables without a station of their own for a while: the links are not what is tested here."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One table: its window decides what fits into it."""

    code: str
    dealer: str
    window_ms: int
    name: str = "Pok Deng"
    game: str = "pok_deng"
    options: Mapping[str, Json] = field(default_factory=dict)
    links: Mapping[str, int] = field(default_factory=dict)
    """What is not patient of its links."""


PLANS = (
    Plan(code="T1", dealer="sato", window_ms=8_000),
    Plan(code="T2", dealer="mori", window_ms=60_000),
    Plan(code="T3", dealer="abe", window_ms=6_000),
    Plan(
        code="T4",
        dealer="endo",
        window_ms=8_000,
        name="Baccarat",
        game="baccarat",
        options={"pair_bets": True},
    ),
    Plan(
        code="T5",
        dealer="fujii",
        window_ms=60_000,
        name="Baccarat",
        game="baccarat",
        options={"pair_bets": True, "tie_gross": 9},
    ),
)


@dataclass
class House:
    """The running studio."""

    url: str
    folder: Path
    units: SqlUnits
    device_keys: dict[str, str]
    processes: Processes
    forward: Forward
    doors: dict[str, DoorClient] = field(default_factory=dict)

    def door(self, name: str) -> DoorClient:
        """Return somebody's login, made once."""
        if name not in self.doors:
            client = DoorClient(self.url)
            client.login(name, PASSWORD)
            self.doors[name] = client
        return self.doors[name]

    def new_player(
        self, *, language: str = "en", purse_minor: int = PURSE_MINOR, name: str | None = None
    ) -> str:
        """Add a player with money, as an administrator does; return the user name.

        With `purse_minor=0` no cash is paid in: in a house of play money the studio fills purses.
        """
        name = name or f"p{secrets.token_hex(5)}"
        body = {
            "username": name,
            "display_name": name.capitalize(),
            "role": "player",
            "password": PASSWORD,
            "language": language,
        }
        admin = self.door("admin")
        person = admin.post("/api/people", body)["person"]
        if not purse_minor:
            return name
        cash = {
            "id": str(uuid.uuid4()),
            "player_id": person["id"],
            "direction": "in",
            "amount_minor": purse_minor,
            "reason": "buy-in",
        }
        admin.post("/api/cash", cash)
        return name

    def player_id(self, name: str) -> int:
        """Return a player's number."""
        people = self.door("admin").get("/api/people")["people"]
        return int(next(one["id"] for one in people if one["username"] == name))

    def now_ms(self) -> int:
        """Return what the studio's clock says."""
        return SystemClock().now_ms() + self.forward.ms

    def let_pass(self, *, until_ms: int) -> None:
        """Let time pass at once, until the studio's clock says so much."""
        self.forward.add(max(0, until_ms - self.now_ms()))

    def logs(self) -> str:
        """Return everything the processes have written so far."""
        return "\n".join(path.read_text() for path in sorted(self.folder.glob("*.log")))


def until(ready: Callable[[], Json], *, what: str, timeout_s: float = WAIT_S) -> Json:
    """Ask until the answer is true; fail by name after the time is up."""
    pause = threading.Event()
    for _ in range(int(timeout_s / 0.05)):
        answer = ready()
        if answer:
            return answer
        pause.wait(0.05)
    raise TimeoutError(f"Waited {timeout_s:.0f} s in vain: {what}.")


def _prepare(units: SqlUnits, people: PeopleService, *, deck_sets: int) -> None:
    for username, (display_name, role) in STAFF.items():
        people.create(
            Actor(id=0, name="studio", role=None),
            NewPerson(
                username=username,
                display_name=display_name,
                role=role,
                password=PASSWORD,
                language="en",
                games=frozenset(by_code(GAMES) if role is Role.DEALER else ()),
            ),
        )
    with units.write() as unit:
        for number in range(1, deck_sets + 1):
            unit.deck_sets.register(DeckSet(number=number, decks=DECKS, manifest=manifest(DECKS)))
        unit.commit()


def _table(plan: Plan, number: int, currency: str) -> str:
    kinds = LIMITS_MAX_MINOR[plan.game].items()
    # JSON writes flags and numbers as TOML does.
    options = "\n".join(f"{name} = {json.dumps(value)}" for name, value in plan.options.items())
    patient = {f"{link}_lost_ms": PATIENT_MS for link in ("scanner", "station", "video")}
    links = "\n".join(f"{name} = {ms}" for name, ms in (patient | dict(plan.links)).items())
    return "".join(
        [
            TABLE.format(
                code=plan.code,
                name=f"{plan.name} {number}",
                game=plan.game,
                currency=currency,
                window_ms=plan.window_ms,
                deck_set=number,
                links=links,
            ),
            *(LIMITS.format(code=plan.code, kind=kind, max_minor=most) for kind, most in kinds),
            OPTIONS.format(code=plan.code, options=options),
        ]
    )


def _write_settings(folder: Path, url: str, plans: tuple[Plan, ...], currency: str) -> None:
    tables = [_table(plan, number, currency) for number, plan in enumerate(plans, 1)]
    play = f"\n[play]\npurse_minor = {PURSE_MINOR}\n" if CURRENCIES[currency].play else ""
    (folder / "studio.toml").write_text(SETTINGS + play + "".join(tables))
    (folder / "scanner.toml").write_text(
        SCANNER.format(socket=folder / SOCKET, queue=folder / "reports.db", url=url)
    )


@contextmanager
def open_house(
    folder: Path,
    make_people: Callable[[SqlUnits], PeopleService],
    *,
    plans: tuple[Plan, ...] = PLANS,
    currency: str = "JPY",
) -> Iterator[House]:
    """Run server and scanner until the block ends; `G` makes it a house of play money."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    keys = {CAMERA: secrets.token_urlsafe(32), HAND_SCANNER: secrets.token_urlsafe(32)}
    _write_settings(folder, url, plans, currency)
    database_url = f"sqlite:///{folder / 'studio.db'}"
    engine = make_engine(database_url)
    try:
        upgrade(engine)
        units = SqlUnits(engine, clock=SystemClock(), currency=currency)
        _prepare(units, make_people(units), deck_sets=len(plans))
        environment = {
            "STUDIO_CONFIG": str(folder / "studio.toml"),
            "STUDIO_DATABASE_URL": database_url,
            "STUDIO_SECRET_KEY": secrets.token_urlsafe(48),
            "STUDIO_DEVICE_KEYS": json.dumps(keys),
            "STUDIO_HOST": "127.0.0.1",
            "STUDIO_PORT": str(port),
        }
        forward = Forward(folder / "forward")
        environment[VARIABLE] = str(folder / "forward")
        with Processes(folder=folder) as processes:
            processes.start("server", SERVER, environment)
            wait_until_ready(processes, url)
            scanner = ["-m", "scanner", "--config", str(folder / "scanner.toml")]
            processes.start("scanner", scanner, {"STUDIO_DEVICE_KEY": keys[CAMERA]})
            until((folder / SOCKET).exists, what="the simulated camera")
            yield House(
                url=url,
                folder=folder,
                units=units,
                device_keys=keys,
                processes=processes,
                forward=forward,
            )
    finally:
        engine.dispose()
