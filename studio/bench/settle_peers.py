"""What the settlement is measured against: the bare rows, and the usual loop over objects."""

import sqlite3
import time
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import psycopg
from sqlalchemy import MetaData, select, text
from sqlalchemy.orm import Session, registry

from studio.bench.scratch import Scratch
from studio.domain.money import payout_minor
from studio.services.ports import EndingKind
from studio.store.engine import WRITING, write_turn
from studio.store.ledger import new_transfer
from studio.store.tables import (
    LEG_HELD,
    LEG_HOUSE,
    LEG_WALLET,
    TransferKind,
    entry,
    player_balance,
    wager,
    wager_ending,
)

Row: TypeAlias = tuple[int, int, int, int, int, int]
"""One line of `entry`: origin, version, leg, transfer, account, amount."""

COLUMNS = "origin_id, version, leg, transfer_id, account_id, amount_minor"
STREAM_ROWS = 2_000


def rows_to_write(
    scratch: Scratch, round_id: str, *, nets: Mapping[str, Fraction]
) -> Sequence[Row]:
    """Return the entry rows that settling a round would write, in the order of their key."""
    rows: list[Row] = []
    with scratch.units.read() as unit:
        transfer_id: int = unit.connection.execute(
            text("SELECT max(id) + 1 FROM transfer")
        ).scalar_one()
        found = unit.connection.execute(
            select(
                wager.c.number,
                wager.c.bet,
                wager.c.stake_minor,
                wager.c.hold_minor,
                player_balance.c.held_id,
                player_balance.c.wallet_id,
            )
            .join(player_balance, player_balance.c.player_id == wager.c.player_id)
            .where(wager.c.round_id == round_id)
            .order_by(wager.c.number)
        )
        for number, bet, stake, hold, held_id, wallet_id in found:
            paid = payout_minor(stake_minor=stake, hold_minor=hold, net=nets[bet])
            rows.append((number, 1, LEG_HELD, transfer_id, held_id, -hold))
            if paid:
                rows.append((number, 1, LEG_WALLET, transfer_id, wallet_id, paid))
    return rows


def raw_rows_s(scratch: Scratch, rows: Sequence[Row]) -> float:
    """Write the rows with the driver alone, and return the seconds up to the commit.

    They are taken out again afterwards, so that the database stays whole.
    """
    write = _sqlite_rows_s if scratch.is_sqlite else _copied_rows_s
    seconds = write(scratch, rows)
    with scratch.units.write() as unit:
        unit.connection.execute(
            text(f"DELETE FROM entry WHERE transfer_id = {int(rows[0][3])} AND version = 1")  # noqa: S608
        )
        unit.commit()
    return seconds


def _sqlite_rows_s(scratch: Scratch, rows: Sequence[Row]) -> float:
    connection = sqlite3.connect(scratch.path, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous = FULL")
        started = time.perf_counter()
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(f"INSERT INTO entry ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", rows)  # noqa: S608
        connection.execute("COMMIT")
        return time.perf_counter() - started
    finally:
        connection.close()


def _copied_rows_s(scratch: Scratch, rows: Sequence[Row]) -> float:
    with psycopg.connect(scratch.conninfo) as connection:
        started = time.perf_counter()
        with connection.cursor().copy(f"COPY entry ({COLUMNS}) FROM STDIN".encode()) as copy:
            for row in rows:
                copy.write_row(row)
        connection.commit()
        return time.perf_counter() - started


def orm_loop_s(scratch: Scratch, round_id: str, *, nets: Mapping[str, Fraction]) -> float:
    """Settle a round wager by wager through mapped objects; return the seconds up to the commit."""
    mapped = _Mapped()
    engine = scratch.engine.execution_options(**WRITING)
    started = time.perf_counter()
    with write_turn(scratch.engine), Session(engine) as session:
        transfer_id = new_transfer(
            session.connection(),
            {
                "kind": TransferKind.SETTLEMENT.value,
                "at_ms": 0,
                "round_id": round_id,
                "version": 1,
            },
        )
        wagers = session.scalars(
            select(mapped.wager).where(mapped.wager.round_id == round_id)
        ).all()
        house_minor = sum(mapped.settle(session, one, transfer_id, nets) for one in wagers)
        bank = session.scalar(text("SELECT id FROM account WHERE kind = 'house_bank'"))
        if house_minor:
            session.add(mapped.line(transfer_id, LEG_HOUSE, transfer_id, bank, house_minor))
        session.execute(
            text("UPDATE round SET phase = 'settled', settlement_version = 1 WHERE id = :id"),
            {"id": round_id},
        )
        session.commit()
    return time.perf_counter() - started


class _Mapped:
    """Classes over the stored tables; made anew for every run, because mapping marks a class."""

    def __init__(self) -> None:
        mapper = registry(metadata=MetaData())

        def over(table: Any) -> Any:
            made = type(table.name.title().replace("_", ""), (), {})
            mapper.map_imperatively(made, table)
            return made

        self.wager = over(wager)
        self.ending = over(wager_ending)
        self.entry = over(entry)
        self.balance = over(player_balance)

    def line(
        self, origin_id: int, leg: int, transfer_id: int, account_id: Any, amount_minor: int
    ) -> Any:
        """Return one entry."""
        return self.entry(
            origin_id=origin_id,
            version=1,
            leg=leg,
            transfer_id=transfer_id,
            account_id=account_id,
            amount_minor=amount_minor,
        )

    def settle(
        self, session: Session, one: Any, transfer_id: int, nets: Mapping[str, Fraction]
    ) -> int:
        """End one wager and return what the house gets of it."""
        paid = payout_minor(
            stake_minor=one.stake_minor, hold_minor=one.hold_minor, net=nets[one.bet]
        )
        balance: Any = session.get(self.balance, one.player_id, with_for_update=True)
        session.add(
            self.ending(
                wager_number=one.number,
                version=1,
                kind=EndingKind.SETTLED.value,
                payout_minor=paid,
                transfer_id=transfer_id,
            )
        )
        session.add(self.line(one.number, LEG_HELD, transfer_id, balance.held_id, -one.hold_minor))
        if paid:
            session.add(self.line(one.number, LEG_WALLET, transfer_id, balance.wallet_id, paid))
        balance.held_minor -= one.hold_minor
        balance.balance_minor += paid
        session.flush()
        return int(one.hold_minor) - paid
