"""The pit's figures: hours of the zone, expected bands, quality of scans, worked out by hand."""

from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from studio.domain.errors import MalformedError
from studio.games import GAMES, by_code
from studio.games.pok_deng.bets import PAYTABLE_VERSION
from studio.services.figure_rows import EndedRow, MoneyRow, ScanRow, Span
from studio.services.figures import HOUR_MS, FigureService
from tests.support.floor import setup_of

NOW_MS = 1_800_000_000_000  # 2027-01-15 08:00:00 UTC, 17:00 in Tokyo, 13:30 in Kolkata


@dataclass
class Stored:
    """A unit of work whose sums are given."""

    money_rows: Sequence[MoneyRow] = ()
    ended_rows: Sequence[EndedRow] = ()
    scan_rows: Sequence[ScanRow] = ()
    now_ms_: int = NOW_MS
    asked: list[Span] = field(default_factory=list)

    @property
    def figures(self):
        return self

    @contextmanager
    def read(self):
        yield self

    def now_ms(self) -> int:
        return self.now_ms_

    def money(self, span, groups):
        self.asked.append(span)
        self.groups = groups
        return self.money_rows

    def ended(self, span):
        return self.ended_rows

    def scans(self, *, table, shoes):
        return self.scan_rows


def figures(stored: Stored, *, table=None, hours=24, zone="Asia/Tokyo", decks=8):
    games = by_code(GAMES)
    config = setup_of().config
    setups = {
        code: setup_of(code, config=type(config)(decks=decks, options=config.options))
        for code in ("T1", "T2")
    }
    service = FigureService(units=stored, setups=setups, games=games, time_zone=zone)
    return service.figures(table=table, hours=hours)


def row(**values) -> MoneyRow:
    known = {
        "table": "T1",
        "game": "pok_deng",
        "paytable_version": PAYTABLE_VERSION,
        "slice": 0,
        "kind": "main",
        "rounds": 1,
        "wagers": 1,
    }
    return MoneyRow(**(known | values))


def main_row(**values) -> MoneyRow:
    """One round: 500 on one main bet and 100 on another; 2100 came back of 1200 held."""
    sums = {
        "wagers": 3,
        "stake_minor": 600,
        "hold_minor": 1_200,
        "payout_minor": 2_100,
        "bet_squares": 500.0**2 + 100.0**2,
        "round_squares": 600.0**2,
    }
    return row(**(sums | values))


LOST = {
    "stake_minor": 400,
    "hold_minor": 800,
    "payout_minor": 0,
    "bet_squares": 160_000.0,
    "round_squares": 160_000.0,
}
"""One round: 400 on one bet that lost 2:1."""


# Hours -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("zone", "now_ms", "begins_ms"),
    [
        ("Asia/Tokyo", NOW_MS, NOW_MS),
        ("Asia/Tokyo", NOW_MS + HOUR_MS - 1, NOW_MS),
        ("Asia/Tokyo", NOW_MS + HOUR_MS, NOW_MS + HOUR_MS),
        ("Asia/Kolkata", NOW_MS, NOW_MS - HOUR_MS // 2),
        ("Asia/Kolkata", NOW_MS + HOUR_MS // 2, NOW_MS + HOUR_MS // 2),
    ],
)
def test_hours_begin_when_the_zones_clocks_say_so(zone, now_ms, begins_ms):
    answer = figures(Stored(now_ms_=now_ms), hours=3, zone=zone)
    assert [hour["at_ms"] for hour in answer["hours"]] == [
        begins_ms - 2 * HOUR_MS,
        begins_ms - HOUR_MS,
        begins_ms,
    ]


@pytest.mark.parametrize(("hours", "minutes"), [(1, 5), (24, 5), (25, 10), (72, 15), (168, 60)])
def test_a_longer_span_is_cut_into_longer_slices(hours, minutes):
    stored = Stored()
    figures(stored, hours=hours)
    (span,) = stored.asked
    assert span.slice_ms == minutes * 60_000
    assert (span.to_ms - span.from_ms) // span.slice_ms <= 288
    assert span.to_ms - span.from_ms == hours * HOUR_MS


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"hours": 0}, "hours_out_of_range"),
        ({"hours": 169}, "hours_out_of_range"),
        ({"table": "T9"}, "unknown_table"),
    ],
)
def test_a_question_that_has_no_answer_is_malformed(changes, code):
    with pytest.raises(MalformedError) as fault:
        figures(Stored(), **changes)
    assert fault.value.code == code


def test_the_database_is_told_which_bets_settle_alike():
    stored = Stored()
    figures(stored)
    assert {(one.game, one.kind): len(one.bets) for one in stored.groups} == {
        ("pok_deng", "main"): 5,
        ("pok_deng", "pair"): 5,
    }


# Revenue -----------------------------------------------------------------------------------------


def test_revenue_is_summed_by_hour_and_by_table():
    stored = Stored(
        money_rows=[
            main_row(slice=0),
            row(slice=11, **LOST),
            row(slice=12, table="T2", **LOST),
            row(slice=0, kind="", table="T0", game="gone", **LOST),
        ],
        ended_rows=[
            EndedRow(table="T1", slice=3, phase="settled", rounds=2),
            EndedRow(table="T1", slice=4, phase="void", rounds=1),
            EndedRow(table="T2", slice=12, phase="settled", rounds=1),
        ],
    )
    answer = figures(stored, hours=2)
    first, second = answer["hours"]
    assert {key: first[key] for key in ("rounds", "voided", "turnover_minor", "ggr_minor")} == {
        "rounds": 2,
        "voided": 1,
        "turnover_minor": 600 + 400 + 400,
        "ggr_minor": -900 + 800 + 800,
    }
    assert first["hold_pct"] == 50.0
    assert (second["turnover_minor"], second["ggr_minor"], second["hold_pct"]) == (400, 800, 200.0)
    assert [(one["table"], one["ggr_minor"]) for one in answer["by_table"]] == [
        ("T1", -100),
        ("T2", 800),
        ("T0", 800),
    ]


def test_without_rounds_every_hour_is_there_and_empty():
    answer = figures(Stored())
    assert len(answer["hours"]) == 24
    assert {hour["rounds"] for hour in answer["hours"]} == {0}
    assert {hour["hold_pct"] for hour in answer["hours"]} == {None}
    assert (answer["by_table"], answer["returns"], answer["scans"]) == ([], [], [])


# Return ------------------------------------------------------------------------------------------


def test_the_return_is_on_the_stakes_and_its_band_from_the_exact_variance():
    """With 8 decks a main bet has variance 2.051081 and covariance 0.751684.

    Round 1: (2.051081 - 0.751684) * 260000 + 0.751684 * 360000 = 608449.5, its root 780.0317,
    1.96 * 780.0317 / 600 = 2.548104. Back: 2100 - 600 deposits = 1500, 1500 / 600 = 2.5.
    Round 2 adds 2.051081 * 160000: 936622.5, 1.96 * 967.7926 / 1000 = 1.896873. Back of its
    stakes: 0 - 400 = -400, so (1500 - 400) / 1000 = 1.1.
    """
    answer = figures(Stored(money_rows=[main_row(slice=2), row(slice=5, **LOST)]))
    (curve,) = answer["returns"]
    assert (curve["game"], curve["kind"], curve["decks"]) == ("pok_deng", "main", 8)
    assert curve["paytable_version"] == PAYTABLE_VERSION
    assert (curve["rounds"], curve["wagers"], curve["turnover_minor"]) == (2, 4, 1_000)
    assert curve["theoretical"] == 0.983540
    begins_ms, slice_ms = answer["from_ms"], 300_000
    assert curve["points"] == [
        {
            "at_ms": begins_ms + 3 * slice_ms,
            "rounds": 1,
            "actual": 2.5,
            "low": -1.564563,
            "high": 3.531644,
        },
        {
            "at_ms": begins_ms + 6 * slice_ms,
            "rounds": 2,
            "actual": 1.1,
            "low": -0.913333,
            "high": 2.880414,
        },
    ]


def test_five_stakes_on_one_round_may_swing_further_than_on_five_rounds():
    """What the main bets share, the bank's hand, does not spread."""
    stakes = {"stake_minor": 500, "hold_minor": 1_000, "payout_minor": 1_000}
    together = row(bet_squares=5 * 100.0**2, round_squares=500.0**2, wagers=5, **stakes)
    apart = row(bet_squares=5 * 100.0**2, round_squares=5 * 100.0**2, wagers=5, rounds=5, **stakes)
    wide, narrow = (
        figures(Stored(money_rows=[one]))["returns"][0]["points"][0] for one in (together, apart)
    )
    ratio = (wide["high"] - wide["low"]) / (narrow["high"] - narrow["low"])
    assert ratio == pytest.approx(1.5703, abs=1e-3)  # root of 1 + 4 * 0.751684 / 2.051081


def test_tables_with_another_number_of_decks_or_paytable_have_no_part_in_a_curve():
    stored = Stored(
        money_rows=[
            main_row(),
            main_row(paytable_version="an older one"),
            main_row(table="T0"),
            main_row(kind=""),
        ]
    )
    answer = figures(stored, decks=6)
    (curve,) = answer["returns"]
    assert (curve["decks"], curve["rounds"]) == (6, 1)
    assert curve["theoretical"] != 0.983540


# Scans -------------------------------------------------------------------------------------------


def scan(kind, count, *, epoch=1, reason=None, table="T1"):
    return ScanRow(table=table, epoch=epoch, kind=kind, reason=reason, count=count)


def test_scan_quality_counts_cards_failures_and_rescans_by_shoe():
    stored = Stored(
        scan_rows=[
            scan("CardDrawn", 95),
            scan("FirstCardTurned", 1),
            scan("ReadFailed", 3, reason="no_code"),
            scan("ReadFailed", 1, reason="unreadable"),
            scan("RoundOpened", 8),
            scan("CardDrawn", 10, epoch=2),
            scan("CardVerified", 52, table="T2"),
        ]
    )
    first, second = figures(stored)["scans"]
    assert {key: first[key] for key in first if key != "shoes"} == {
        "table": "T1",
        "cards": 106,
        "failed": 4,
        "failed_pct": 3.64,
        "reasons": {"no_code": 3, "unreadable": 1},
        "rounds": 8,
        "rescans_per_round": 0.5,
    }
    assert [(one["shoe"], one["cards"], one["failed_pct"]) for one in first["shoes"]] == [
        (1, 96, 4.0),
        (2, 10, 0.0),
    ]
    assert (second["cards"], second["rescans_per_round"]) == (52, None)
