"""`bench settle`: a round's settlement beside writing the same entries without thinking.

The settlement is the product's own: one unit of work with endings, entries, balances, the result
event and the round's row. The limit writes the same entry rows into the same table, and nothing
else. The ORM loop does the whole work wager by wager through objects, on a sample.
"""

import resource
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from studio.bench.filling import TABLE, Filling
from studio.bench.report import Goal, Say, median, print_faults, show, show_goals
from studio.bench.scratch import Scratch, scratch_database
from studio.bench.settle_peers import orm_loop_s, raw_rows_s, rows_to_write
from studio.domain.game import Json
from studio.domain.log import event_hash
from studio.domain.round import Phase
from studio.services.ports import StoredEvent, UnitOfWork
from studio.store import audit_money

NETS = {f"p{number}": Fraction(number - 3) for number in range(1, 6)}
"""Two bets lose, one is pushed, two win: four of five wagers get something back."""

WAGERS_A_PLAYER = 5
PLAYERS_MAX = 20_000
REPEATS = 3
SMALL = (1_000, 10_000)
ORM_SAMPLE = 2_000
RAW_RATIO_MAX = {"sqlite": 1.2, "postgresql": 2.0}
ORM_RATIO_MIN = 100.0


@dataclass(frozen=True, kw_only=True)
class SettleResult:
    """What one run measured."""

    database: str
    raw_method: str
    raw_ratio_max: float
    wagers: int
    rows: int
    settle_s: list[float]
    raw_s: list[float]
    orm_sample: int
    orm_s: float
    scaling: list[dict[str, Json]]
    faults: list[str]

    @property
    def raw_ratio(self) -> float:
        """The settlement's time over that of the raw rows, medians of one run."""
        return median(self.settle_s) / median(self.raw_s)

    @property
    def orm_ratio(self) -> float:
        """How many times an ORM loop would take, extrapolated from the sample."""
        return (self.orm_s / self.orm_sample) / (median(self.settle_s) / self.wagers)

    @property
    def goals(self) -> list[Goal]:
        """The goals that this database is held to."""
        return [
            Goal(
                name=f"settlement over {self.raw_method} of the same entry rows",
                value=self.raw_ratio,
                at_most=self.raw_ratio_max,
            ),
            Goal(
                name="ORM object loop over settlement",
                value=self.orm_ratio,
                at_least=ORM_RATIO_MIN,
            ),
        ]

    def as_json(self) -> dict[str, Json]:
        """Return everything for machines."""
        return {
            "bench": "settle",
            "database": self.database,
            "wagers": self.wagers,
            "entry_rows": self.rows,
            "repeats": len(self.settle_s),
            "settle": _speed(median(self.settle_s), self.wagers),
            "raw": {"method": self.raw_method, **_speed(median(self.raw_s), self.wagers)},
            "orm": {
                "sample": self.orm_sample,
                "extrapolated": self.orm_sample != self.wagers,
                **_speed(self.orm_s, self.orm_sample),
            },
            "ratios": {
                "settle_over_raw": round(self.raw_ratio, 3),
                "orm_over_settle": round(self.orm_ratio, 1),
            },
            "scaling": self.scaling,
            "goals": [goal.as_json() for goal in self.goals],
            "audit_faults": self.faults,
        }

    def show(self) -> None:
        """Print everything for people."""
        show(
            f"Settling {self.wagers:,} wagers of one round, {self.database}, "
            f"median of {len(self.settle_s)}",
            ("method", "ms", "thousand wagers/s"),
            [
                _line("the studio's settlement", median(self.settle_s), self.wagers),
                _line(
                    f"limit: {self.raw_method} of the same {self.rows:,} entry rows",
                    median(self.raw_s),
                    self.wagers,
                ),
                _line(
                    f"ORM object loop, a sample of {self.orm_sample:,}",
                    self.orm_s,
                    self.orm_sample,
                ),
            ],
        )
        show(
            "Cost by size",
            ("wagers", "ms", "us a wager", "peak memory grown, KiB"),
            [
                (
                    f"{one['wagers']:,}",
                    f"{one['ms']:.1f}",
                    f"{one['us_per_wager']:.2f}",
                    f"{one['memory_growth_kib']:,}",
                )
                for one in self.scaling
            ],
        )
        show_goals(self.goals)
        print_faults(self.faults, checked="The audit of the money")


def measure_settling(database_url: str | None, *, wagers: int, say: Say) -> SettleResult:
    """Measure settlement and peers on one database.

    Raises:
        MalformedError: the database can't be reached.
    """
    with scratch_database(database_url) as scratch:
        say(f"{scratch.name}: {wagers:,} wagers a round, {REPEATS} rounds each way.")
        filling = Filling(scratch, players=min(PLAYERS_MAX, max(1, wagers // WAGERS_A_PLAYER)))
        _settled_s(scratch, filling.filled_round(10))  # the first statement of a kind is compiled
        scaling = []
        for size in sorted({*(small for small in SMALL if small < wagers), wagers}):
            scaling.append(_sized(scratch, filling, size))
            say(f"  {size:,}: {scaling[-1]['us_per_wager']:.2f} us a wager")
        settle_s, raw_s, rows = [], [], 0
        for number in range(1, REPEATS + 1):
            settle_s.append(_settled_s(scratch, filling.filled_round(wagers)))
            written = rows_to_write(scratch, filling.filled_round(wagers), nets=NETS)
            rows = len(written)
            raw_s.append(raw_rows_s(scratch, written))
            say(f"  {number}: {settle_s[-1] * 1000:.0f} ms, raw {raw_s[-1] * 1000:.0f} ms")
        sample = min(wagers, ORM_SAMPLE)
        say(f"  ORM object loop over {sample:,}")
        orm_s = orm_loop_s(scratch, filling.filled_round(sample), nets=NETS)
        with scratch.units.read() as unit:
            faults = [f"{one.code} {one.where}" for one in audit_money.faults(unit.connection)]
        return SettleResult(
            database=scratch.name,
            raw_method="raw insert" if scratch.is_sqlite else "COPY",
            raw_ratio_max=RAW_RATIO_MAX[scratch.engine.dialect.name],
            wagers=wagers,
            rows=rows,
            settle_s=settle_s,
            raw_s=raw_s,
            orm_sample=sample,
            orm_s=orm_s,
            scaling=scaling,
            faults=faults,
        )


def _sized(scratch: Scratch, filling: Filling, wagers: int) -> dict[str, Json]:
    """Settle a few rounds of one size. Nothing here holds rows but the settlement itself."""
    rounds = [filling.filled_round(wagers) for _ in range(REPEATS)]
    before_kib = peak_memory_kib()
    seconds = median([_settled_s(scratch, round_id) for round_id in rounds])
    return {
        "wagers": wagers,
        "ms": round(seconds * 1000, 2),
        "us_per_wager": round(seconds * 1e6 / wagers, 3),
        "memory_growth_kib": peak_memory_kib() - before_kib,
    }


def _settled_s(scratch: Scratch, round_id: str) -> float:
    """Settle a round as the table's runner does, and return the seconds up to its commit."""
    started = time.perf_counter()
    with scratch.units.write() as unit:
        unit.events.lock(TABLE)
        epoch, seq, last = unit.events.position(TABLE)
        settled = unit.wagers.settle(round_id, version=1, nets=NETS)
        body: dict[str, Json] = {
            "round_id": round_id,
            "version": 1,
            "results": [{"bet": bet, "net": str(net)} for bet, net in NETS.items()],
            "count": settled.count,
            "turnover_minor": settled.turnover_minor,
            "payouts_minor": settled.payouts_minor,
        }
        _append(unit, epoch=max(epoch, 1), seq=seq + 1, last=last, body=body)
        unit.rounds.update_phase(round_id, Phase.SETTLED, settlement_version=1)
        unit.commit()
    return time.perf_counter() - started


def _append(unit: UnitOfWork, *, epoch: int, seq: int, last: str, body: Mapping[str, Json]) -> None:
    at_ms, kind = unit.now_ms(), "round_settled"
    unit.events.append(
        StoredEvent(
            table=TABLE,
            epoch=epoch,
            seq=seq,
            at_ms=at_ms,
            kind=kind,
            body=body,
            sealed=None,
            prev_hash=last,
            hash=event_hash(
                last, table=TABLE, epoch=epoch, seq=seq, at_ms=at_ms, kind=kind, body=body
            ),
        )
    )


def peak_memory_kib() -> int:
    """Return the most memory that this process ever held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak


def _speed(seconds: float, wagers: int) -> dict[str, Json]:
    return {"ms": round(seconds * 1000, 2), "thousand_per_s": round(wagers / seconds / 1000, 2)}


def _line(name: str, seconds: float, wagers: int) -> tuple[str, str, str]:
    return name, f"{seconds * 1000:,.0f}", f"{wagers / seconds / 1000:,.1f}"
