"""The book of wagers in SQL: the port's methods, each in its own room."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from sqlalchemy import Connection

from studio.services.choice_ports import OpenBook
from studio.services.correction_ports import (
    BookCorrected,
    PayoutChange,
    PlayerChange,
    Refund,
)
from studio.services.ports import (
    BookSettled,
    ClosedBook,
    Placed,
    RoundRow,
    Wager,
    WagerRequest,
    Wagers,
)
from studio.store import book, correcting, correction_looks, placing, settling, undoing
from studio.store.clock import UnitClock
from studio.store.ledger import HouseAccounts


class SqlWagers(Wagers):
    """See the port for every method."""

    def __init__(self, connection: Connection, *, clock: UnitClock, house: HouseAccounts) -> None:
        self._connection = connection
        self._clock = clock
        self._house = house

    def place(self, request: WagerRequest) -> Placed:
        """See the port."""
        return placing.place(self._connection, self._clock, request)

    def undo(self, wager_id: str, *, player_id: int) -> Placed:
        """See the port."""
        return undoing.undo(self._connection, self._clock, wager_id, player_id=player_id)

    def close(self, round_id: str) -> ClosedBook:
        """See the port."""
        return book.closed_book(self._connection, round_id)

    def settle(self, round_id: str, *, version: int, nets: Mapping[str, Fraction]) -> BookSettled:
        """See the port."""
        return settling.settle(
            self._connection,
            self._clock,
            self._house,
            round_id=round_id,
            version=version,
            nets=nets,
        )

    def refund(self, round_id: str, *, version: int) -> BookSettled:
        """See the port."""
        return settling.refund(
            self._connection, self._clock, self._house, round_id=round_id, version=version
        )

    def correct(
        self, round_id: str, *, version: int, nets: Mapping[str, Fraction] | None
    ) -> BookCorrected:
        """See the port."""
        return correcting.correct(
            self._connection,
            self._clock,
            self._house,
            round_id=round_id,
            version=version,
            nets=nets,
        )

    def would_correct(
        self, round_id: str, *, version: int, nets: Mapping[str, Fraction] | None
    ) -> BookCorrected:
        """See the port."""
        return correcting.would_correct(
            self._connection, round_id=round_id, version=version, nets=nets
        )

    def payout_changes(self, round_id: str, *, version: int) -> Mapping[int, PayoutChange]:
        """See the port."""
        return correcting.payout_changes(self._connection, round_id=round_id, version=version)

    def would_refund(self, round_ids: Sequence[str]) -> Refund:
        """See the port."""
        return correction_looks.would_refund(self._connection, round_ids)

    def player_changes(
        self,
        round_ids: Sequence[str],
        *,
        nets: Mapping[str, Fraction] | None,
        player_id: int | None = None,
    ) -> Sequence[PlayerChange]:
        """See the port."""
        return correction_looks.player_changes(
            self._connection, round_ids, nets=nets, player_id=player_id
        )

    def of_round(self, round_id: str, *, player_id: int | None = None) -> Sequence[Wager]:
        """See the port."""
        return book.of_round(self._connection, round_id, player_id=player_id)

    def of_player(
        self, player_id: int, *, limit_rounds: int, before_round_ms: int | None
    ) -> Sequence[tuple[RoundRow, Sequence[Wager]]]:
        """See the port."""
        return book.of_player(
            self._connection,
            player_id,
            limit_rounds=limit_rounds,
            before_round_ms=before_round_ms,
        )

    def standing(self, round_id: str) -> OpenBook:
        """See the port."""
        return book.standing(self._connection, round_id)

    def totals(self, round_id: str) -> Mapping[str, tuple[int, int]]:
        """See the port."""
        return book.totals(self._connection, round_id)
