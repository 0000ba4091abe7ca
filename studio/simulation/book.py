"""The simulated book of wagers and ledger: the port's rules in plain Python.

A model of what `studio.store` does in SQL, refusal by refusal in the same order; a test plays the
same seeds on both and compares.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from studio.domain.errors import InvariantError, RefusedError
from studio.domain.money import payout_minor
from studio.domain.round import Phase
from studio.services.choice_ports import OpenBook
from studio.services.correction_ports import (
    BookCorrected,
    PayoutChange,
    PlayerChange,
    Refund,
)
from studio.services.play_ports import Filled, PlayKind, PlayMoved
from studio.services.ports import (
    Balance,
    BookSettled,
    Cashed,
    ClosedBook,
    Ending,
    EndingKind,
    Ledger,
    Placed,
    RoundRow,
    Wager,
    WagerRequest,
    Wagers,
)
from studio.simulation import correcting
from studio.simulation.disk import BANK, CASH, Disk
from studio.simulation.guards import Guard, Guards

Hook = Callable[[str], None]
"""Called with a statement's name before it: the process may die there."""

_NOTHING = Balance(balance_minor=0, held_minor=0)


def _refused(code: str, **details: int | str) -> RefusedError:
    return RefusedError(code, f"The book refuses: {code.replace('_', ' ')}.", **details)


def _by_nets(nets: Mapping[str, Fraction]) -> Callable[[Wager], int]:
    """Return what each wager is due by its bet's net."""

    def due(wager: Wager) -> int:
        if wager.bet not in nets:
            raise InvariantError("bet_without_result", f"Bet {wager.bet} has no result.")
        return payout_minor(
            stake_minor=wager.stake_minor, hold_minor=wager.hold_minor, net=nets[wager.bet]
        )

    return due


def _whole_hold(wager: Wager) -> int:
    return wager.hold_minor


class MemoryWagers(Wagers):
    """See the port for every method."""

    def __init__(
        self, disk: Disk, *, now_ms: Callable[[], int], guards: Guards, hook: Hook
    ) -> None:
        self._disk = disk
        self._now_ms = now_ms
        self._guards = guards
        self._hook = hook

    def place(self, request: WagerRequest) -> Placed:
        """See the port."""
        self._hook("place")
        disk, now_ms = self._disk, self._now_ms()
        first = disk.wagers.get(request.id)
        if first is not None and self._guards.stands(Guard.WAGER_KEY):
            return self._again(first, request)
        self._check(request, now_ms=now_ms)
        id = request.id if first is None else f"{request.id}/{len(disk.wagers)}"
        hold_minor = request.hold_minor
        if not self._guards.stands(Guard.HOLD):
            hold_minor = request.stake_minor
        wager = Wager(
            id=id,
            player_id=request.player_id,
            round_id=request.round_id,
            bet=request.bet,
            stake_minor=request.stake_minor,
            hold_minor=hold_minor,
            accepted_ms=now_ms,
            ending=None,
        )
        disk.set_item(disk.wagers, id, wager)
        disk.add(disk.books.setdefault(request.round_id, []), id)
        self._hook("hold")
        disk.move(
            disk.new_transfer(), request.player_id, free_minor=-hold_minor, held_minor=hold_minor
        )
        return self._answer(wager, repeated=False)

    def _again(self, first: Wager, request: WagerRequest) -> Placed:
        same = (first.player_id, first.round_id, first.bet, first.stake_minor) == (
            request.player_id,
            request.round_id,
            request.bet,
            request.stake_minor,
        )
        if not same:
            raise _refused("wager_id_reused", id=request.id)
        return self._answer(first, repeated=True)

    def _check(self, request: WagerRequest, *, now_ms: int) -> None:
        """Refuse in the order of the port's list."""
        disk, limits = self._disk, request.limits
        row = disk.rounds.get(request.round_id)
        if row is None:
            raise _refused("unknown_round", round_id=request.round_id)
        closed = row.phase != Phase.BETTING and self._guards.stands(Guard.BETTING_PHASE)
        in_time = row.opened_ms <= now_ms < row.window_closes_ms
        late = not in_time and self._guards.stands(Guard.DEADLINE)
        if closed or late:
            raise _refused("betting_window_closed")
        if request.stake_minor < limits.bet_min_minor:
            raise _refused("stake_below_minimum")
        standing = disk.standing(request.round_id)
        mine = [wager for wager in standing if wager.player_id == request.player_id]
        on_bet = sum(wager.stake_minor for wager in mine if wager.bet == request.bet)
        if on_bet + request.stake_minor > limits.bet_max_minor:
            raise _refused("bet_limit_exceeded")
        if sum(wager.stake_minor for wager in mine) + request.stake_minor > limits.player_max_minor:
            raise _refused("player_limit_exceeded")
        have = disk.balances.get(request.player_id, _NOTHING)
        if have.balance_minor < request.hold_minor and self._guards.stands(Guard.BALANCE):
            raise _refused(
                "balance_short", needed_minor=request.hold_minor, balance_minor=have.balance_minor
            )
        taken = sum(wager.stake_minor for wager in standing)
        if taken + request.stake_minor > limits.table_max_minor:
            raise _refused("table_limit_exceeded")

    def _answer(self, wager: Wager, *, repeated: bool) -> Placed:
        balance = self._disk.balances[wager.player_id]
        return Placed(
            wager=wager,
            balance_minor=balance.balance_minor,
            held_minor=balance.held_minor,
            repeated=repeated,
        )

    def undo(self, wager_id: str, *, player_id: int) -> Placed:
        """See the port."""
        self._hook("undo")
        disk = self._disk
        wager = disk.wagers.get(wager_id)
        if wager is None or wager.player_id != player_id:
            raise _refused("unknown_wager", id=wager_id)
        if wager.ending is not None:
            if wager.ending.kind is EndingKind.UNDONE:
                return self._answer(wager, repeated=True)
            raise _refused("wager_ended", id=wager_id)
        row = disk.rounds[wager.round_id]
        in_time = row.opened_ms <= self._now_ms() < row.window_closes_ms
        if row.phase != Phase.BETTING or not in_time:
            raise _refused("betting_window_closed")
        hold_minor = wager.hold_minor
        disk.end_wager(wager, Ending(kind=EndingKind.UNDONE, version=1, payout_minor=hold_minor))
        self._hook("give_back")
        disk.move(disk.new_transfer(), player_id, free_minor=hold_minor, held_minor=-hold_minor)
        return self._answer(disk.wagers[wager_id], repeated=False)

    def close(self, round_id: str) -> ClosedBook:
        """See the port."""
        self._hook("close")
        digest = hashlib.sha256()
        standing = self._disk.standing(round_id)
        for wager in standing:
            line = (
                wager.id,
                wager.player_id,
                wager.bet,
                wager.stake_minor,
                wager.hold_minor,
                wager.accepted_ms,
            )
            digest.update(("|".join(map(str, line)) + "\n").encode())
        return ClosedBook(
            count=len(standing),
            turnover_minor=sum(wager.stake_minor for wager in standing),
            held_minor=sum(wager.hold_minor for wager in standing),
            digest=digest.hexdigest(),
        )

    def settle(self, round_id: str, *, version: int, nets: Mapping[str, Fraction]) -> BookSettled:
        """See the port."""
        due = _by_nets(nets)
        return self._end(round_id, version=version, kind=EndingKind.SETTLED, due=due)

    def correct(
        self, round_id: str, *, version: int, nets: Mapping[str, Fraction] | None
    ) -> BookCorrected:
        """See the port."""
        return correcting.correct(
            self._disk,
            round_id,
            version=version,
            kind=EndingKind.REFUNDED if nets is None else EndingKind.SETTLED,
            due=_whole_hold if nets is None else _by_nets(nets),
            guards=self._guards,
            hook=self._hook,
        )

    def would_correct(
        self, round_id: str, *, version: int, nets: Mapping[str, Fraction] | None
    ) -> BookCorrected:
        """See the port."""
        due = _whole_hold if nets is None else _by_nets(nets)
        return correcting.would_correct(self._disk, round_id, version=version, due=due)

    def payout_changes(self, round_id: str, *, version: int) -> Mapping[int, PayoutChange]:
        """See the port."""
        return correcting.payout_changes(self._disk, round_id, version=version)

    def would_refund(self, round_ids: Sequence[str]) -> Refund:
        """See the port."""
        return correcting.would_refund(self._disk, round_ids)

    def player_changes(
        self,
        round_ids: Sequence[str],
        *,
        nets: Mapping[str, Fraction] | None,
        player_id: int | None = None,
    ) -> Sequence[PlayerChange]:
        """See the port."""
        due = _whole_hold if nets is None else _by_nets(nets)
        found = correcting.player_changes(self._disk, round_ids, due=due)
        return [one for one in found if player_id in (None, one.player_id)]

    def refund(self, round_id: str, *, version: int) -> BookSettled:
        """See the port."""

        def due(wager: Wager) -> int:
            whole = self._guards.stands(Guard.DEPOSIT_REFUND)
            return wager.hold_minor if whole else wager.stake_minor

        return self._end(round_id, version=version, kind=EndingKind.REFUNDED, due=due)

    def _end(
        self, round_id: str, *, version: int, kind: EndingKind, due: Callable[[Wager], int]
    ) -> BookSettled:
        disk = self._disk
        ends = disk.standing(round_id)
        if not self._guards.stands(Guard.ENDING_KEY):
            ends = [disk.wagers[id] for id in disk.books.get(round_id, ())]
        transfer, bank_minor, payouts_minor = disk.new_transfer(), 0, 0
        for wager in ends:
            self._hook("end_wager")
            paid_minor = due(wager)
            if paid_minor < 0:
                raise InvariantError("payout_negative", f"Wager {wager.id} would pay {paid_minor}.")
            if (wager.id, version) in disk.endings and self._guards.stands(Guard.ENDING_KEY):
                raise InvariantError("wager_ended_twice", f"Wager {wager.id} has ended.")
            ending = Ending(kind=kind, version=version, payout_minor=paid_minor)
            disk.end_wager(wager, ending)
            disk.move(
                transfer,
                wager.player_id,
                free_minor=paid_minor,
                held_minor=-wager.hold_minor,
            )
            bank_minor += wager.hold_minor - paid_minor
            payouts_minor += paid_minor
        disk.post(transfer, BANK, bank_minor)
        return BookSettled(
            count=len(ends),
            turnover_minor=sum(wager.stake_minor for wager in ends),
            payouts_minor=payouts_minor,
        )

    def of_round(self, round_id: str, *, player_id: int | None = None) -> Sequence[Wager]:
        """See the port."""
        wagers = [self._disk.wagers[id] for id in self._disk.books.get(round_id, ())]
        return [wager for wager in wagers if player_id in (None, wager.player_id)]

    def of_player(
        self, player_id: int, *, limit_rounds: int, before_round_ms: int | None
    ) -> Sequence[tuple[RoundRow, Sequence[Wager]]]:
        """See the port."""
        rows = sorted(self._disk.rounds.values(), key=lambda row: row.opened_ms, reverse=True)
        found = []
        for row in rows:
            mine = self.of_round(row.id, player_id=player_id)
            if mine and (before_round_ms is None or row.opened_ms < before_round_ms):
                found.append((row, mine))
        return found[:limit_rounds]

    def standing(self, round_id: str) -> OpenBook:
        """See the port."""
        found = self._disk.standing(round_id)
        return OpenBook(
            count=len(found),
            players=len({wager.player_id for wager in found}),
            held_minor=sum(wager.hold_minor for wager in found),
        )

    def totals(self, round_id: str) -> Mapping[str, tuple[int, int]]:
        """See the port."""
        sums: dict[str, tuple[int, int]] = {}
        for wager in self._disk.standing(round_id):
            count, stake_minor = sums.get(wager.bet, (0, 0))
            sums[wager.bet] = count + 1, stake_minor + wager.stake_minor
        return sums


class MemoryLedger(Ledger):
    """See the port; a studio for money, so that nothing of play money is here."""

    def __init__(self, disk: Disk, *, hook: Hook) -> None:
        self._disk = disk
        self._hook = hook

    def balance(self, player_id: int) -> Balance:
        """See the port."""
        return self._disk.balances.get(player_id, _NOTHING)

    def balances_of_round(self, round_id: str) -> Mapping[int, Balance]:
        """See the port."""
        players = {self._disk.wagers[id].player_id for id in self._disk.books.get(round_id, ())}
        return {player_id: self._disk.balances[player_id] for player_id in sorted(players)}

    def cash(self, *, id: str, player_id: int, amount_minor: int, reason: str, by: int) -> Cashed:
        """See the port."""
        self._hook("cash")
        before = self.balance(player_id)
        known = self._disk.cash_ids.get(id)
        if known is not None:
            if known != (player_id, amount_minor):
                raise _refused("transfer_id_reused", id=id)
            return Cashed(before=before, after=before, repeated=True)
        if amount_minor < 0 and before.owed_minor:
            raise _refused("owes_money")
        if before.balance_minor + amount_minor < 0:
            raise _refused("balance_short")
        self._disk.set_item(self._disk.cash_ids, id, (player_id, amount_minor))
        transfer = self._disk.new_transfer()
        self._disk.move(transfer, player_id, free_minor=amount_minor, held_minor=0)
        self._disk.post(transfer, CASH, -amount_minor)
        return Cashed(before=before, after=self.balance(player_id), repeated=False)

    def sum_minor(self) -> int:
        """See the port."""
        return sum(entry.amount_minor for entry in self._disk.entries)

    def play_transfer(
        self,
        *,
        kind: PlayKind,
        player_id: int,
        amount_minor: int,
        id: str | None = None,
        reason: str = "",
    ) -> PlayMoved:
        """See the port.

        Raises:
            RefusedError: `play_money_only`, always.
        """
        raise _refused("play_money_only")

    def fill_up(self, player_id: int, *, below_minor: int, to_minor: int) -> Filled | None:
        """See the port: no purse in a studio for money."""
        return None

    def fill_up_round(self, round_id: str, *, below_minor: int, to_minor: int) -> Sequence[int]:
        """See the port: no purse in a studio for money."""
        return ()
