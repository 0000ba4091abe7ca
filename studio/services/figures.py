"""The pit's figures: revenue by hour, actual against theoretical return, quality of the scans.

Everything is summed by the database from what was settled and logged. Only the expected band is
worked out here, from the exact distribution that the game's own rules give.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import TypeVar
from zoneinfo import ZoneInfo

from studio.domain.dealing import STAFF_BADGE
from studio.domain.errors import MalformedError
from studio.domain.events import ReadFailed, RoundOpened
from studio.domain.game import AnyGame, GameConfig, Json
from studio.domain.round import Phase
from studio.services.figure_rows import BetGroup, EndedRow, MoneyRow, ScanRow, Span
from studio.services.ports import Units
from studio.services.setup import TableSetup

HOUR_MS = 3_600_000
HOURS_DEFAULT = 24
HOURS_MAX = 168
"""A week: what the database must read for one question stays bounded."""

POINTS_MAX = 288
"""Most points of a curve; the slices are as short as that allows."""

SLICES_OF_AN_HOUR = (12, 6, 4, 2, 1)
SHOES = 10
"""The quality of scans is told over so many latest shoes of each table."""

Z_95 = 1.96
"""Within so many standard deviations lie 95 % of outcomes of many rounds."""

RTP_DECIMALS = 6
PERCENT_DECIMALS = 2

K = TypeVar("K", int, str)


@dataclass(frozen=True, kw_only=True)
class FigureService:
    """Answers the pit's questions about many rounds; writes nothing."""

    units: Units
    setups: Mapping[str, TableSetup]
    games: Mapping[str, AnyGame]
    time_zone: str
    """IANA name; hours begin when this zone's clocks say so."""

    def figures(self, *, table: str | None, hours: int) -> dict[str, Json]:
        """Return the figures of one table or all, over the latest hours.

        Args:
            table: a table's code; None for all.
            hours: length of the span, the running hour included, 1 to HOURS_MAX.

        Raises:
            MalformedError: `unknown_table`, `hours_out_of_range`.
        """
        if table is not None and table not in self.setups:
            raise MalformedError("unknown_table", f"There is no table {table!r}.", table=table)
        if not 1 <= hours <= HOURS_MAX:
            raise MalformedError(
                "hours_out_of_range", f"Ask for 1 to {HOURS_MAX} hours.", most=HOURS_MAX
            )
        with self.units.read() as unit:
            now_ms = unit.now_ms()
            span = self._span(now_ms, hours=hours, table=table)
            money = unit.figures.money(span, list(self._groups()))
            ended = unit.figures.ended(span)
            scans = unit.figures.scans(table=table, shoes=SHOES)
        return {
            "now_ms": now_ms,
            "table": table,
            "tables": [{"table": one.code, "name": one.name} for one in self.setups.values()],
            "from_ms": span.from_ms,
            "to_ms": span.to_ms,
            "hour_ms": HOUR_MS,
            "hours": _by_hour(span, money, ended),
            "by_table": self._by_table(money, ended),
            "returns": self._returns(span, money),
            "scans": _scans(scans),
            "shoes": SHOES,
        }

    def _span(self, now_ms: int, *, hours: int, table: str | None) -> Span:
        """Return the span: whole hours of the zone's clocks, the running one last."""
        offset = datetime.fromtimestamp(now_ms / 1000, ZoneInfo(self.time_zone)).utcoffset()
        assert offset is not None
        shift_ms = round(offset.total_seconds() * 1000)
        running_ms = (now_ms + shift_ms) // HOUR_MS * HOUR_MS - shift_ms
        parts = next(n for n in SLICES_OF_AN_HOUR if n * hours <= POINTS_MAX)
        return Span(
            from_ms=running_ms - (hours - 1) * HOUR_MS,
            to_ms=running_ms + HOUR_MS,
            slice_ms=HOUR_MS // parts,
            table=table,
        )

    def _groups(self) -> Iterator[BetGroup]:
        """Yield the kinds of bets of the games on the tables."""
        kinds: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        for setup in self.setups.values():
            for bet in setup.bets(self.games[setup.game]).values():
                kinds[setup.game, bet.settles_on][bet.code] = None
        for (game, kind), bets in kinds.items():
            yield BetGroup(game=game, kind=kind, bets=tuple(bets))

    def _by_table(self, money: Sequence[MoneyRow], ended: Sequence[EndedRow]) -> list[Json]:
        counts = _phases(ended, key=lambda row: row.table)
        sums = _money(money, key=lambda row: row.table)
        known = [*self.setups, *sorted({*counts, *sums} - set(self.setups))]
        return [
            {"table": code, **_line(sums.get(code), counts.get(code))}
            for code in known
            if code in counts or code in sums
        ]

    def _returns(self, span: Span, money: Sequence[MoneyRow]) -> list[Json]:
        """Return one curve for each game, pay table, number of decks and kind of bet."""
        curves: dict[tuple[str, int, str, str], list[MoneyRow]] = defaultdict(list)
        configs: dict[tuple[str, int, str, str], GameConfig] = {}
        for row in money:
            setup = self.setups.get(row.table)
            if setup is None or setup.game != row.game:
                continue  # a table of former settings: its theory is not today's
            described = self.games[row.game].describe(setup.config)
            if row.kind and row.paytable_version == described.paytable_version:
                key = (row.game, setup.config.decks, row.kind, row.paytable_version)
                curves[key].append(row)
                configs[key] = setup.config
        return [
            self._return(span, game=key[0], kind=key[2], config=configs[key], rows=curves[key])
            for key in sorted(curves)
        ]

    def _return(
        self, span: Span, *, game: str, kind: str, config: GameConfig, rows: Sequence[MoneyRow]
    ) -> dict[str, Json]:
        exact = self.games[game].theoretical(kind, config)
        theory = float(exact.rtp)
        points = []
        so_far = _Curve(variance=float(exact.variance), covariance=float(exact.covariance))
        for number, slice_rows in sorted(_grouped(rows).items()):
            so_far.add(slice_rows)
            half = so_far.band
            points.append(
                {
                    "at_ms": span.from_ms + (number + 1) * span.slice_ms,
                    "rounds": so_far.rounds,
                    "actual": round(so_far.actual, RTP_DECIMALS),
                    "low": round(theory - half, RTP_DECIMALS),
                    "high": round(theory + half, RTP_DECIMALS),
                }
            )
        return {
            "game": game,
            "decks": config.decks,
            "kind": kind,
            "paytable_version": rows[0].paytable_version,
            "theoretical": round(theory, RTP_DECIMALS),
            "rounds": so_far.rounds,
            "wagers": so_far.wagers,
            "turnover_minor": so_far.stake_minor,
            "points": points,
        }


@dataclass(kw_only=True)
class _Curve:
    """The return over all rounds so far, and how far chance alone may have moved it."""

    variance: float
    covariance: float
    rounds: int = 0
    wagers: int = 0
    stake_minor: int = 0
    back_minor: int = 0
    """Payouts without the deposits: what the stakes themselves brought back."""
    squares: float = 0.0
    """Variance of what came back, minor units squared."""

    def add(self, rows: Iterable[MoneyRow]) -> None:
        """Take the rounds of one slice.

        A round with stakes s on bets of a kind has the variance v * sum(s^2) + c * (sum of the
        products of two different s), that is (v - c) * sum(s^2) + c * (sum(s))^2.
        """
        for row in rows:
            self.rounds += row.rounds
            self.wagers += row.wagers
            self.stake_minor += row.stake_minor
            self.back_minor += row.payout_minor - (row.hold_minor - row.stake_minor)
            self.squares += (self.variance - self.covariance) * row.bet_squares
            self.squares += self.covariance * row.round_squares

    @property
    def actual(self) -> float:
        """Returned per unit staked."""
        return float(Fraction(self.back_minor, self.stake_minor))

    @property
    def band(self) -> float:
        """Half the width of the 95 % band of the return."""
        return Z_95 * math.sqrt(self.squares) / self.stake_minor


# Sums --------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class _Money:
    """Settled wagers of anything."""

    wagers: int = 0
    turnover_minor: int = 0
    ggr_minor: int = 0


def _grouped(rows: Iterable[MoneyRow]) -> dict[int, list[MoneyRow]]:
    slices: dict[int, list[MoneyRow]] = defaultdict(list)
    for row in rows:
        slices[row.slice].append(row)
    return slices


def _money(rows: Iterable[MoneyRow], *, key: Callable[[MoneyRow], K]) -> dict[K, _Money]:
    sums: dict[K, _Money] = defaultdict(_Money)
    for row in rows:
        into = sums[key(row)]
        into.wagers += row.wagers
        into.turnover_minor += row.stake_minor
        # The hold is stake and deposit; what of it does not come back is the house's.
        into.ggr_minor += row.hold_minor - row.payout_minor
    return sums


def _phases(rows: Iterable[EndedRow], *, key: Callable[[EndedRow], K]) -> dict[K, dict[str, int]]:
    counts: dict[K, dict[str, int]] = {}
    for row in rows:
        phases = counts.setdefault(key(row), {})
        phases[row.phase] = phases.get(row.phase, 0) + row.rounds
    return counts


def _line(money: _Money | None, phases: Mapping[str, int] | None) -> dict[str, Json]:
    money, phases = money or _Money(), phases or {}
    return {
        "rounds": phases.get(Phase.SETTLED.value, 0),
        "voided": phases.get(Phase.VOID.value, 0),
        "wagers": money.wagers,
        "turnover_minor": money.turnover_minor,
        "ggr_minor": money.ggr_minor,
        "hold_pct": _percent(money.ggr_minor, money.turnover_minor),
    }


def _percent(part: int, whole: int) -> float | None:
    return round(float(Fraction(100 * part, whole)), PERCENT_DECIMALS) if whole else None


def _by_hour(span: Span, money: Sequence[MoneyRow], ended: Sequence[EndedRow]) -> list[Json]:
    """Return every hour of the span, also those in which nothing was played."""
    parts = HOUR_MS // span.slice_ms
    sums = _money(money, key=lambda row: row.slice // parts)
    counts = _phases(ended, key=lambda row: row.slice // parts)
    return [
        {"at_ms": span.from_ms + hour * HOUR_MS, **_line(sums.get(hour), counts.get(hour))}
        for hour in range((span.to_ms - span.from_ms) // HOUR_MS)
    ]


def _scans(rows: Sequence[ScanRow]) -> list[Json]:
    """Return the quality of each table's scans, in all and shoe by shoe."""
    tables: dict[str, dict[int, list[ScanRow]]] = {}
    for row in rows:
        tables.setdefault(row.table, {}).setdefault(row.epoch, []).append(row)
    return [
        {
            "table": table,
            **_quality([row for shoe in shoes.values() for row in shoe]),
            "shoes": [{"shoe": epoch, **_quality(shoes[epoch])} for epoch in sorted(shoes)],
        }
        for table, shoes in sorted(tables.items())
    ]


def _quality(rows: Sequence[ScanRow]) -> dict[str, Json]:
    reasons: dict[str, int] = defaultdict(int)
    cards = rounds = 0
    for row in rows:
        if row.kind == ReadFailed.__name__:
            # A person's badge under the camera is no card that failed.
            if row.reason != STAFF_BADGE:
                reasons[row.reason or ""] += row.count
        elif row.kind == RoundOpened.__name__:
            rounds += row.count
        else:
            cards += row.count
    failed = sum(reasons.values())
    return {
        "cards": cards,
        "failed": failed,
        "failed_pct": _percent(failed, cards + failed),
        "reasons": dict(sorted(reasons.items())),
        "rounds": rounds,
        "rescans_per_round": round(failed / rounds, PERCENT_DECIMALS) if rounds else None,
    }
