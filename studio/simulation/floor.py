"""The simulated studio's floor: its tables, people and deck sets."""

from studio.domain.cards import CARDS_PER_DECK, CodeVersion, PrintedCode
from studio.domain.game import GameConfig, Json, ScanAt
from studio.domain.money import Currency
from studio.services.ports import Actor, DeckSet, Role
from studio.services.proposing import CorrectionPolicy
from studio.services.setup import BetLimits, TableSetup
from studio.simulation.chance import Chance

DEALERS = (
    Actor(id=7, name="Sato", role=Role.DEALER),
    Actor(id=8, name="Abe", role=Role.DEALER),
)
SUPERVISORS = (
    Actor(id=20, name="Mori", role=Role.PIT_SUPERVISOR),
    Actor(id=21, name="Kato", role=Role.PIT_SUPERVISOR),
)
ADMINISTRATOR = Actor(id=30, name="Ito", role=Role.ADMINISTRATOR)
PLAYERS = tuple(
    Actor(id=number, name=f"Player {number}", role=Role.PLAYER) for number in (101, 102, 103)
)
CASH_MINOR = 6_000
"""Little enough that a balance runs short now and then."""

GAMES_PLAYED = ("pok_deng", "baccarat")
OPTIONS: dict[str, dict[str, Json]] = {"pok_deng": {}, "baccarat": {"pair_bets": True}}
KINDS = ("main", "pair", "player", "banker", "tie")
POLICY = CorrectionPolicy(notice_ms=5_000, approval_minor=300, void_approval_minor=4_000)
"""Some corrections and voids are one person's, most take two."""
JPY = Currency(code="JPY", decimals=0)
WINDOW_MS = 15_000
CUT_DEPTH = 20
MANIFEST = {serial: serial for serial in range(1, CARDS_PER_DECK + 1)}
"""One deck: every face once, so that a face names its card wherever it leaks."""
DECK_SETS = (1, 2, 3)


def deck_set(number: int) -> DeckSet:
    """Return a registered deck set."""
    return DeckSet(number=number, decks=1, manifest=MANIFEST)


def digits_of(serial: int, *, deck_set: int) -> str:
    """Return what is printed on a card."""
    code = PrintedCode(
        version=CodeVersion.CARD, number=MANIFEST[serial], deck_set=deck_set, serial=serial
    )
    return code.digits


def random_setups(chance: Chance) -> dict[str, TableSetup]:
    """Return one or two tables, each with its game and its way of scanning and burning."""
    count = chance.weighted((1, 2), (4, 1))
    return {code: _setup(code, chance) for code in ("T1", "T2")[:count]}


def _setup(code: str, chance: Chance) -> TableSetup:
    game = chance.weighted(GAMES_PLAYED, (2, 1))
    scan_at = ScanAt.DRAW if game == "baccarat" else chance.weighted(tuple(ScanAt), (3, 1))
    return TableSetup(
        code=code,
        name=f"Table {code}",
        game=game,
        config=GameConfig(
            decks=1,
            scan_at=scan_at,
            burn_per_round=chance.number(0, 2),
            options=OPTIONS[game],
        ),
        currency=JPY,
        window_ms=WINDOW_MS,
        limits={kind: BetLimits(min_minor=10, max_minor=4_000) for kind in KINDS},
        player_max_minor=8_000,
        table_max_minor=12_000,
        cut_depth_min=14,
        cut_depth_max=30,
        deck_sets=DECK_SETS,
    )
