"""A small house for tests of the store: one database, one clock, rounds and players on demand."""

import itertools
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from sqlalchemy import Engine

from studio.services.ports import Placed, RoundRow, WagerLimits, WagerRequest
from studio.store.units import SqlUnits

OPENED_MS = 1_700_000_000_000
CLOSES_MS = OPENED_MS + 15_000

WIDE = WagerLimits(
    bet_min_minor=1,
    bet_max_minor=10**12,
    player_max_minor=10**12,
    table_max_minor=10**12,
)
"""Limits that nothing in a test reaches by accident."""


@dataclass
class FrozenClock:
    """A clock that a test moves."""

    at_ms: int = OPENED_MS

    def now_ms(self) -> int:
        return self.at_ms


@dataclass
class House:
    """What most tests of money need."""

    engine: Engine
    clock: FrozenClock
    units: SqlUnits
    numbers: itertools.count = field(default_factory=lambda: itertools.count(1))

    def player(self, cash_minor: int = 0) -> int:
        """Return a new player with cash in the wallet."""
        player_id = next(self.numbers)
        if cash_minor:
            with self.units.write() as unit:
                unit.ledger.cash(
                    id=str(uuid.uuid4()),
                    player_id=player_id,
                    amount_minor=cash_minor,
                    reason="test",
                    by=1,
                )
                unit.commit()
        return player_id

    def round(self, *, phase: str = "betting", closes_ms: int = CLOSES_MS) -> str:
        """Return the id of a new round."""
        number = next(self.numbers)
        with self.units.write() as unit:
            unit.events.lock("T1")
            unit.rounds.insert(
                RoundRow(
                    id=f"T1-1-{number}",
                    table="T1",
                    epoch=1,
                    number=number,
                    game="pok_deng",
                    phase=phase,
                    opened_ms=OPENED_MS - 1_000 + number,  # the clock stands after them all
                    window_closes_ms=closes_ms,
                    rule_version="1",
                    paytable_version="1",
                    settlement_version=0,
                )
            )
            unit.commit()
        return f"T1-1-{number}"

    def request(
        self,
        round_id: str,
        player_id: int,
        *,
        id: str | None = None,
        bet: str = "p1",
        stake_minor: int = 100,
        hold_minor: int | None = None,
        limits: WagerLimits = WIDE,
    ) -> WagerRequest:
        """Return a request; the hold is twice the stake unless said."""
        return WagerRequest(
            id=id or str(uuid.uuid4()),
            player_id=player_id,
            round_id=round_id,
            bet=bet,
            stake_minor=stake_minor,
            hold_minor=2 * stake_minor if hold_minor is None else hold_minor,
            limits=limits,
        )

    def place(self, request: WagerRequest) -> Placed:
        with self.units.write() as unit:
            placed = unit.wagers.place(request)
            unit.commit()
        return placed

    def undo(self, wager_id: str, player_id: int) -> Placed:
        with self.units.write() as unit:
            placed = unit.wagers.undo(wager_id, player_id=player_id)
            unit.commit()
        return placed

    def close(self, round_id: str) -> None:
        with self.units.write() as unit:
            unit.rounds.update_phase(round_id, "no_more_bets", settlement_version=0)
            unit.commit()

    def settle(self, round_id: str, nets: Mapping[str, Fraction | int]) -> None:
        with self.units.write() as unit:
            unit.wagers.settle(
                round_id, version=1, nets={bet: Fraction(net) for bet, net in nets.items()}
            )
            unit.rounds.update_phase(round_id, "settled", settlement_version=1)
            unit.commit()

    def refund(self, round_id: str) -> None:
        with self.units.write() as unit:
            unit.wagers.refund(round_id, version=1)
            unit.rounds.update_phase(round_id, "void", settlement_version=1)
            unit.commit()

    def money(self, player_id: int) -> tuple[int, int]:
        """Return (balance, held)."""
        with self.units.read() as unit:
            balance = unit.ledger.balance(player_id)
        return balance.balance_minor, balance.held_minor

    def ledger_sum(self) -> int:
        with self.units.read() as unit:
            return unit.ledger.sum_minor()
