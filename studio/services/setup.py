"""How one table is set up: game, currency, window, limits, shoe depth, links.

The settings file is turned into these values once, at the start; the engine, the book of wagers
and the screens read the same object, so that a limit shown is the limit held.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from studio.domain.errors import MalformedError
from studio.domain.game import AnyGame, Bet, GameConfig
from studio.domain.money import STAKE_MINOR_MAX, Currency
from studio.services.ports import WagerLimits

WINDOW_MS_MAX = 10 * 60_000
"""A betting window longer than ten minutes is a typing error."""

SCAN_TRIES_MAX = 100
"""More tries than this before the pit is called is a typing error."""

_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,19}")


@dataclass(frozen=True, kw_only=True)
class BetLimits:
    """Least and most that one player may have on one bet in one round, minor units of stake."""

    min_minor: int
    max_minor: int


@dataclass(frozen=True, kw_only=True)
class LinkLimits:
    """How long each link may be silent before it counts as lost, milliseconds."""

    scanner_lost_ms: int = 3_000
    station_lost_ms: int = 5_000
    video_lost_ms: int = 3_000
    grace_ms: int = 5_000
    """How long a lost link may last before a round that has not started is cancelled."""


@dataclass(frozen=True, kw_only=True)
class TableSetup:
    """One table's settings; checked when made, fixed while the process runs."""

    code: str
    """Short name in logs and addresses, e.g. `T1`."""
    name: str
    """What people read."""
    game: str
    """Code of the plug-in, e.g. `pok_deng`."""
    config: GameConfig
    currency: Currency
    window_ms: int
    """Length of the betting window."""
    limits: Mapping[str, BetLimits]
    """By `Bet.settles_on`: `main`, `pair`."""
    player_max_minor: int
    """Sum of one player's stakes in one round."""
    table_max_minor: int
    """Sum of all stakes in one round."""
    cut_depth_min: int
    """Fewest cards that may lie behind the cut card."""
    cut_depth_max: int
    deck_sets: tuple[int, ...]
    """Numbers of the deck sets that may be loaded here."""
    links: LinkLimits = LinkLimits()
    scan_tries_max: int = 3
    """Failed reads of one card before the pit is called."""
    order_run: int = 10
    """So many cards in an order that no shuffle leaves stop the table; 0: not watched."""
    stream_path: str | None = None
    """Where this host serves the table's video (MJPEG), e.g. `/video/T1`; None: no video."""

    def __post_init__(self) -> None:
        """Refuse a set-up that could never work.

        Raises:
            MalformedError: `table_setup_wrong`, with the key in `details`.
        """
        if not _CODE.fullmatch(self.code):
            raise MalformedError(
                "table_setup_wrong",
                f"Table {self.code!r}: a code is 1 to 20 of A-Z a-z 0-9 _ -, no _ or - in front.",
                table=self.code,
                key="code",
            )
        self._range("window_ms", self.window_ms, 1, WINDOW_MS_MAX)
        self._range("table_max_minor", self.table_max_minor, 1, STAKE_MINOR_MAX)
        self._range("player_max_minor", self.player_max_minor, 1, self.table_max_minor)
        self._range("cut_depth_min", self.cut_depth_min, 0, self.cut_depth_max)
        self._range("scan_tries_max", self.scan_tries_max, 1, SCAN_TRIES_MAX)
        for kind, limits in self.limits.items():
            self._range(f"limits.{kind}.max", limits.max_minor, 1, self.player_max_minor)
            self._range(f"limits.{kind}.min", limits.min_minor, 1, limits.max_minor)

    def _range(self, key: str, value: int, least: int, most: int) -> None:
        if not least <= value <= most:
            raise MalformedError(
                "table_setup_wrong",
                f"Table {self.code}: {key} is {value}, but must be {least} to {most}.",
                table=self.code,
                key=key,
                value=value,
                least=least,
                most=most,
            )

    def wager_limits(self, bet: Bet) -> WagerLimits:
        """Return the limits of one bet at this table.

        Raises:
            MalformedError: `table_setup_wrong` when the bet's kind has no limits.
        """
        limits = self.limits.get(bet.settles_on)
        if limits is None:
            raise MalformedError(
                "table_setup_wrong",
                f"Table {self.code} has no limits for bets of kind {bet.settles_on}.",
                table=self.code,
                key=f"limits.{bet.settles_on}",
            )
        return WagerLimits(
            bet_min_minor=limits.min_minor,
            bet_max_minor=limits.max_minor,
            player_max_minor=self.player_max_minor,
            table_max_minor=self.table_max_minor,
        )

    def bets(self, game: AnyGame) -> Mapping[str, Bet]:
        """Return the bets one can place here, by code."""
        return {bet.code: bet for bet in game.describe(self.config).bets}
