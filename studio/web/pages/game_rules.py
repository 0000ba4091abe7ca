"""What the pages of rules say of the studio's own tables: pays and exact returns, never by hand.

Tables of one game may differ in decks and options; those that pay alike are told of together.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from studio.domain.game import AnyGame, GameConfig, Json
from studio.games.baccarat.rules import BANKER_DRAWS_ON, NATURAL_MIN, PLAYER_DRAWS_MAX
from studio.services.setup import LinkLimits, TableSetup

ODDS_DECIMALS: Final = 3
PERCENT_DECIMALS: Final = 2
THIRD_CARDS: Final = frozenset(range(10))
"""What a third card may count."""


@dataclass(frozen=True, kw_only=True)
class Pay:
    """A kind of bet: what it pays at most, and what it returns on average."""

    kind: str
    """`Bet.settles_on`."""
    odds: str
    """To one: `0.95`."""
    returned: str
    """`98.94 %`."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What some tables have in common."""

    tables: tuple[str, ...]
    """Their names; empty where no table of this studio plays the game."""
    decks: int
    burns: bool
    """Whether a card is burnt at the beginning of each round."""
    bonus: bool
    """Whether what a winning bet brings back is multiplied (play money only)."""
    pays: tuple[Pay, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of bets on offer."""
        return tuple(pay.kind for pay in self.pays)


@dataclass(frozen=True, kw_only=True)
class Changes:
    """The rules' versions in force, and what has changed so far."""

    rules: str
    pays: str
    keys: tuple[str, ...]
    """Texts of the catalogue."""


@dataclass(frozen=True, kw_only=True)
class BankerRow:
    """When the banker side draws, for two-card totals that draw alike."""

    totals: str
    """`0–2`."""
    on: str
    """The player's third cards on which the banker draws: `0–7, 9`; empty: on none."""
    always: bool
    """It draws on any third card of the player's."""
    when_stood: bool
    """It draws when the player side stood."""


def terms_of(game: AnyGame, setups: Iterable[TableSetup]) -> tuple[Terms, ...]:
    """Return the terms of a game at these tables; of its defaults when none of them plays it."""
    alike: dict[tuple[str, int, bool], list[TableSetup]] = {}
    for setup in setups:
        if setup.game == game.code:
            version = game.describe(setup.config).paytable_version
            key = (version, setup.config.decks, setup.config.burn_per_round > 0)
            alike.setdefault(key, []).append(setup)
    if not alike:
        return (_terms(game, GameConfig(), tables=()),)
    return tuple(
        _terms(game, group[0].config, tables=tuple(one.name for one in group))
        for group in alike.values()
    )


def changes_of(game: AnyGame, setups: Iterable[TableSetup]) -> Changes:
    """Return the versions in force and the texts of the change log, newest first."""
    configs = [setup.config for setup in setups if setup.game == game.code] or [GameConfig()]
    described = [game.describe(config) for config in configs]
    numbers = range(len(described[0].rule_changes), 0, -1)
    return Changes(
        rules=described[0].rule_version,
        pays=", ".join(sorted({one.paytable_version for one in described})),
        keys=tuple(f"rules.change_{game.code}_{number}" for number in numbers),
    )


def link_limits(game: AnyGame, setups: Iterable[TableSetup]) -> Mapping[str, str]:
    """Return how long each link may be silent, in seconds; the longest of the game's tables."""
    links = [setup.links for setup in setups if setup.game == game.code] or [LinkLimits()]
    longest = {
        "scanner": max(one.scanner_lost_ms for one in links),
        "station": max(one.station_lost_ms for one in links),
        "video": max(one.video_lost_ms for one in links),
        "grace": max(one.grace_ms for one in links),
    }
    return {name: f"{ms / 1000:g}" for name, ms in longest.items()}


def more_about(game: str) -> Mapping[str, Json]:
    """Return what only this game's page tells, by the names its template uses."""
    return MORE[game]() if game in MORE else {}


def percent(part: Fraction) -> str:
    """Write a part of one as people read it.

    >>> percent(Fraction(3, 4))
    '75.00 %'
    """
    unit = 10**PERCENT_DECIMALS
    hundredths = round(part * 100 * unit)
    return f"{hundredths // unit}.{hundredths % unit:0{PERCENT_DECIMALS}} %"


def odds(to_one: Fraction) -> str:
    """Write odds to one; what does not end is cut, so that no page promises more than is paid.

    >>> odds(Fraction(19, 20)), odds(Fraction(11)), odds(Fraction(2, 3))
    ('0.95', '11', '0.666')
    """
    unit = 10**ODDS_DECIMALS
    parts = to_one.numerator * unit // to_one.denominator
    whole, rest = divmod(parts, unit)
    decimals = f"{rest:0{ODDS_DECIMALS}}".rstrip("0")
    return f"{whole}.{decimals}" if decimals else str(whole)


def ranges(numbers: Iterable[int]) -> str:
    """Write numbers with the runs among them drawn together.

    >>> ranges({0, 1, 2, 5, 7, 8})
    '0–2, 5, 7–8'
    """
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _terms(game: AnyGame, config: GameConfig, *, tables: tuple[str, ...]) -> Terms:
    described = game.describe(config)
    dearest: dict[str, Fraction] = {}
    for bet in described.bets:
        dearest[bet.settles_on] = max(bet.bank_exposure, dearest.get(bet.settles_on, Fraction(0)))
    return Terms(
        tables=tables,
        decks=config.decks,
        burns=config.burn_per_round > 0,
        bonus=bool(described.play_money_only),
        pays=tuple(
            Pay(
                kind=kind,
                odds=odds(most),
                returned=percent(game.theoretical(kind, config).rtp),
            )
            for kind, most in dearest.items()
        ),
    )


def _third_cards() -> Mapping[str, Json]:
    """Return baccarat's table of third cards, from the rules that deal."""
    alike: dict[tuple[frozenset[int], bool], list[int]] = {}
    for total, on in enumerate(BANKER_DRAWS_ON):
        alike.setdefault((on, total <= PLAYER_DRAWS_MAX), []).append(total)
    return {
        "player_draws": ranges(range(PLAYER_DRAWS_MAX + 1)),
        "player_stands": ranges(range(PLAYER_DRAWS_MAX + 1, NATURAL_MIN)),
        "naturals": ranges(range(NATURAL_MIN, 10)),
        "banker_rows": tuple(
            BankerRow(
                totals=ranges(totals), on=ranges(on), always=on == THIRD_CARDS, when_stood=stood
            )
            for (on, stood), totals in alike.items()
        ),
    }


MORE: Final[Mapping[str, Callable[[], Mapping[str, Json]]]] = {"baccarat": _third_cards}
