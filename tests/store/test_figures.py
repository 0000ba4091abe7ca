"""The pit's figures in SQL, against sums that were worked out by hand."""

from dataclasses import replace
from fractions import Fraction

import pytest
from sqlalchemy import Engine, text

from studio.domain.events import CardDrawn, FirstCardTurned, ReadFailed, RoundOpened, ShoeLoaded
from studio.services.figure_rows import BetGroup, EndedRow, MoneyRow, RoundSums, ScanRow, Span
from studio.services.ports import RoundRow, StoredEvent
from studio.store.figures import money_query, scans_query
from tests.store.house import OPENED_MS, House

HOUR_MS = 3_600_000
SPAN = Span(from_ms=OPENED_MS, to_ms=OPENED_MS + 2 * HOUR_MS, slice_ms=HOUR_MS)
GROUPS = (
    BetGroup(game="pok_deng", kind="main", bets=("p1", "p2")),
    BetGroup(game="pok_deng", kind="pair", bets=("p1_pair",)),
)


def open_round(house: House, number: int, *, table: str = "T1", after_ms: int = 0) -> str:
    """Open a round of a table so long after the beginning of the span."""
    opened_ms = OPENED_MS + after_ms
    row = RoundRow(
        id=f"{table}-1-{number}",
        table=table,
        epoch=1,
        number=number,
        game="pok_deng",
        phase="betting",
        opened_ms=opened_ms,
        window_closes_ms=opened_ms + 15_000,
        rule_version="1",
        paytable_version="1",
        settlement_version=0,
    )
    house.clock.at_ms = opened_ms
    with house.units.write() as unit:
        unit.events.lock(table)
        unit.rounds.insert(row)
        unit.commit()
    return row.id


def bet(house: House, round_id: str, player: int, bet: str, stake_minor: int) -> str:
    hold_minor = stake_minor if bet.endswith("pair") else 2 * stake_minor
    request = house.request(
        round_id, player, bet=bet, stake_minor=stake_minor, hold_minor=hold_minor
    )
    return house.place(request).wager.id


def money(house: House, span: Span = SPAN) -> list[MoneyRow]:
    with house.units.read() as unit:
        return list(unit.figures.money(span, GROUPS))


@pytest.fixture
def played(house: House) -> House:
    """Three rounds that count, and everything that must not.

    Round 1, first hour: p1 300 + 200 (two players), p2 100, p1_pair 50; one p2 of 70 undone.
    Nets p1 +2, p2 -1, pair -1: payouts 300*4 + 200*4 = 2000, 100*1 = 100, pair 0.
    Round 2, second hour: p1 400 at net -2: payout 0. Round 3 at T2: p2 1000 at net 0: 2000.
    Round 4 is void, round 5 still open, round 6 lies after the span, round 7 before it.
    """
    one, two = house.player(1_000_000), house.player(1_000_000)
    first = open_round(house, 1)
    bet(house, first, one, "p1", 300)
    bet(house, first, two, "p1", 200)
    bet(house, first, one, "p2", 100)
    bet(house, first, two, "p1_pair", 50)
    house.undo(bet(house, first, two, "p2", 70), two)
    house.settle(first, {"p1": 2, "p2": -1, "p1_pair": -1})
    second = open_round(house, 2, after_ms=HOUR_MS)
    bet(house, second, one, "p1", 400)
    house.settle(second, {"p1": -2})
    third = open_round(house, 3, table="T2", after_ms=2 * HOUR_MS - 1)
    bet(house, third, one, "p2", 1_000)
    house.settle(third, {"p2": 0})
    fourth = open_round(house, 4, after_ms=60_000)
    bet(house, fourth, one, "p1", 900)
    house.refund(fourth)
    bet(house, open_round(house, 5, after_ms=HOUR_MS + 1), one, "p1", 900)
    for number, after_ms in ((6, 2 * HOUR_MS), (7, -1)):
        outside = open_round(house, number, after_ms=after_ms)
        bet(house, outside, one, "p1", 900)
        house.settle(outside, {"p1": 1})
    return house


def row(**values: object) -> MoneyRow:
    known = {"game": "pok_deng", "paytable_version": "1", "rounds": 1, "wagers": 1}
    return MoneyRow(**(known | values))  # type: ignore[arg-type]


def test_settled_wagers_are_summed_by_table_hour_and_kind(played: House) -> None:
    assert money(played) == [
        row(
            table="T1",
            slice=0,
            kind="main",
            wagers=3,
            stake_minor=600,
            hold_minor=1_200,
            payout_minor=2_100,
            bet_squares=500.0**2 + 100.0**2,
            round_squares=600.0**2,
        ),
        row(
            table="T1",
            slice=0,
            kind="pair",
            stake_minor=50,
            hold_minor=50,
            payout_minor=0,
            bet_squares=2_500.0,
            round_squares=2_500.0,
        ),
        row(
            table="T1",
            slice=1,
            kind="main",
            stake_minor=400,
            hold_minor=800,
            payout_minor=0,
            bet_squares=160_000.0,
            round_squares=160_000.0,
        ),
        row(
            table="T2",
            slice=1,
            kind="main",
            stake_minor=1_000,
            hold_minor=2_000,
            payout_minor=2_000,
            bet_squares=1_000_000.0,
            round_squares=1_000_000.0,
        ),
    ]


def test_one_tables_figures_leave_the_others_out(played: House) -> None:
    assert {one.table for one in money(played, replace(SPAN, table="T1"))} == {"T1"}
    assert money(played, replace(SPAN, table="T9")) == []


def test_what_the_house_kept_is_what_the_ledger_says(played: House) -> None:
    """GGR from the wagers of all rounds equals the house's own entries."""
    whole = Span(from_ms=OPENED_MS - HOUR_MS, to_ms=OPENED_MS + 3 * HOUR_MS, slice_ms=HOUR_MS)
    ggr_minor = sum(one.hold_minor - one.payout_minor for one in money(played, whole))
    with played.engine.connect() as connection:
        booked = connection.execute(
            text(
                "SELECT SUM(amount_minor) FROM entry JOIN account ON account.id = account_id "
                "WHERE kind = 'house_bank'"
            )
        ).scalar_one()
    assert ggr_minor == booked == (1_250 - 2_100) + 800 + 0 - 2 * 900


def test_stakes_whose_squares_do_not_fit_into_64_bits_are_summed(house: House) -> None:
    player = house.player(10**13)
    round_id = open_round(house, 1)
    bet(house, round_id, player, "p1", 10**12)
    house.settle(round_id, {"p1": Fraction(1)})
    (found,) = money(house)
    assert found.bet_squares == pytest.approx(1e24)
    assert found.stake_minor == 10**12


def test_a_bet_of_a_game_that_is_no_more_keeps_its_money_but_has_no_kind(played: House) -> None:
    with played.units.read() as unit:
        found = unit.figures.money(SPAN, GROUPS[1:])
    assert {one.kind for one in found} == {"", "pair"}
    assert sum(one.stake_minor for one in found) == 2_050


def test_rounds_that_ended_are_counted_by_phase(played: House) -> None:
    with played.units.read() as unit:
        ended = unit.figures.ended(SPAN)
    assert ended == [
        EndedRow(table="T1", slice=0, phase="settled", rounds=1),
        EndedRow(table="T1", slice=0, phase="void", rounds=1),
        EndedRow(table="T1", slice=1, phase="settled", rounds=1),
        EndedRow(table="T2", slice=1, phase="settled", rounds=1),
    ]


def test_the_sums_of_single_rounds_name_only_those_that_were_settled(played: House) -> None:
    with played.units.read() as unit:
        found = unit.figures.of_rounds(["T1-1-1", "T1-1-4", "T1-1-5", "T2-1-3", "no-such-round"])
    assert found == {
        "T1-1-1": RoundSums(wagers=4, turnover_minor=650, ggr_minor=-850),
        "T2-1-3": RoundSums(wagers=1, turnover_minor=1_000, ggr_minor=0),
    }


# Scans -------------------------------------------------------------------------------------------


def write_log(house: House, table: str, *shoes: list[tuple[type, str | None]]) -> None:
    """Write a log of bare events: kinds, and the reason of a failed read."""
    last = ""
    with house.units.write() as unit:
        unit.events.lock(table)
        last = unit.events.position(table)[2]
        for epoch, events in enumerate(shoes, start=1):
            for seq, (kind, reason) in enumerate(events, start=1):
                hash_ = f"{table}{epoch:03}{seq:03}".ljust(64, "0")
                unit.events.append(
                    StoredEvent(
                        table=table,
                        epoch=epoch,
                        seq=seq,
                        at_ms=OPENED_MS,
                        kind=kind.__name__,
                        body={"reason": reason} if reason else {"card": "never read"},
                        sealed={"card": "AS", "serial": 1, "nonce": "00"}
                        if kind is CardDrawn
                        else None,
                        prev_hash=last,
                        hash=hash_,
                    )
                )
                last = hash_
        unit.commit()


OLD = [(ShoeLoaded, None), (CardDrawn, None)]
SHOE = [
    (ShoeLoaded, None),
    (FirstCardTurned, None),
    (RoundOpened, None),
    (ReadFailed, "no_code"),
    (CardDrawn, None),
    (ReadFailed, "unreadable"),
    (ReadFailed, "no_code"),
    (CardDrawn, None),
]


def test_reads_are_counted_by_shoe_and_failed_ones_by_reason(house: House) -> None:
    write_log(house, "T1", OLD, SHOE)
    write_log(house, "T2", OLD)
    with house.units.read() as unit:
        found = unit.figures.scans(table=None, shoes=1)
        assert unit.figures.scans(table="T2", shoes=5) == [
            ScanRow(table="T2", epoch=1, kind="CardDrawn", reason=None, count=1)
        ]
    assert set(found) == {
        ScanRow(table="T1", epoch=2, kind="CardDrawn", reason=None, count=2),
        ScanRow(table="T1", epoch=2, kind="FirstCardTurned", reason=None, count=1),
        ScanRow(table="T1", epoch=2, kind="ReadFailed", reason="no_code", count=2),
        ScanRow(table="T1", epoch=2, kind="ReadFailed", reason="unreadable", count=1),
        ScanRow(table="T1", epoch=2, kind="RoundOpened", reason=None, count=1),
        ScanRow(table="T2", epoch=1, kind="CardDrawn", reason=None, count=1),
    }


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_no_figure_reads_a_sealed_card(dialect: str) -> None:
    for query in (money_query(SPAN, GROUPS), scans_query(dialect, table="T1", shoes=3)):
        assert "sealed_card" not in str(query)


# Cost --------------------------------------------------------------------------------------------


def plan(engine: Engine, query: object) -> str:
    """Return how the database goes about a query; PostgreSQL may not read whole tables."""
    with engine.connect() as connection:
        words = str(query.compile(engine, compile_kwargs={"literal_binds": True}))
        if engine.dialect.name == "sqlite":
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {words}")
            return "\n".join(line[-1] for line in rows)
        connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        return "\n".join(line[0] for line in connection.exec_driver_sql(f"EXPLAIN {words}"))


@pytest.mark.parametrize(
    ("table", "index"),
    [(None, "ix_round_opened_ms"), ("T1", "ix_round_table_code_opened_ms")],
)
def test_a_span_is_found_by_an_index_and_so_are_its_wagers(
    played: House, table: str | None, index: str
) -> None:
    found = plan(played.engine, money_query(replace(SPAN, table=table), GROUPS))
    assert index in found
    assert "ix_wager_round_id_number" in found
    assert "pk_wager_ending" in found or "PRIMARY KEY (wager_number=? AND version=?)" in found
    assert "Seq Scan" not in found
    assert "SCAN round" not in found


def test_the_latest_shoes_are_found_by_the_logs_own_key(house: House) -> None:
    write_log(house, "T1", OLD, SHOE)
    dialect = house.engine.dialect.name
    found = plan(house.engine, scans_query(dialect, table="T1", shoes=1))
    assert "pk_event" in found or "sqlite_autoindex_event_1 (table_code=? AND epoch>?)" in found
    assert "SCAN event" not in found
