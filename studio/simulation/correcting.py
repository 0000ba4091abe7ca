"""Corrections in the simulated book: each payout taken back and paid anew, in plain Python."""

from collections.abc import Callable, Mapping, Sequence

from studio.domain.errors import InvariantError
from studio.services.correction_ports import (
    BetChange,
    BookCorrected,
    PayoutChange,
    PlayerChange,
    Refund,
    RoundRefund,
)
from studio.services.ports import Ending, EndingKind, Wager
from studio.simulation.disk import BANK, Disk
from studio.simulation.guards import Guard, Guards

Hook = Callable[[str], None]
Due = Callable[[Wager], int]


def would_correct(disk: Disk, round_id: str, *, version: int, due: Due) -> BookCorrected:
    """Return what a correction would do now."""
    bets: dict[str, list[tuple[Wager, int, int]]] = {}
    moved: dict[int, int] = {}
    for wager in _ended(disk, round_id):
        before_minor, after_minor = _before(disk, wager, version=version), due(wager)
        if after_minor < 0:
            raise InvariantError("payout_negative", f"Wager {wager.id} would pay {after_minor}.")
        bets.setdefault(wager.bet, []).append((wager, before_minor, after_minor))
        moved[wager.player_id] = moved.get(wager.player_id, 0) + after_minor - before_minor
    changes = tuple(
        BetChange(
            bet=bet,
            count=len(rows),
            stake_minor=sum(wager.stake_minor for wager, _, _ in rows),
            before_minor=sum(before for _, before, _ in rows),
            after_minor=sum(after for _, _, after in rows),
        )
        for bet, rows in sorted(bets.items())
    )
    return BookCorrected(
        count=sum(bet.count for bet in changes),
        turnover_minor=sum(bet.stake_minor for bet in changes),
        payouts_minor=sum(bet.after_minor for bet in changes),
        players=sum(minor != 0 for minor in moved.values()),
        paid_minor=sum(max(minor, 0) for minor in moved.values()),
        taken_minor=sum(max(-minor, 0) for minor in moved.values()),
        owed_minor=sum(
            max(-disk.balances[player].balance_minor - minor, 0) for player, minor in moved.items()
        ),
        bets=changes,
    )


def correct(
    disk: Disk,
    round_id: str,
    *,
    version: int,
    kind: EndingKind,
    due: Due,
    guards: Guards,
    hook: Hook,
) -> BookCorrected:
    """End every wager of the round anew."""
    booked = would_correct(disk, round_id, version=version, due=due)
    transfer, bank_minor = disk.new_transfer(), 0
    moved: dict[int, int] = {}
    for wager in _ended(disk, round_id):
        hook("end_wager_anew")
        if (wager.id, version) in disk.endings:
            raise InvariantError("wager_ended_twice", f"Wager {wager.id} has ended.")
        before_minor, after_minor = _before(disk, wager, version=version), due(wager)
        if not guards.stands(Guard.REVERSAL):
            before_minor = 0
        ending = Ending(
            kind=kind,
            version=version,
            payout_minor=after_minor,
            before_minor=_before(disk, wager, version=version),
        )
        disk.end_wager(wager, ending)
        moved[wager.player_id] = moved.get(wager.player_id, 0) + after_minor - before_minor
        bank_minor += before_minor - after_minor
    for player, minor in moved.items():
        hook("move_anew")
        short_minor = max(-disk.balances[player].balance_minor - minor, 0)
        disk.move(transfer, player, free_minor=minor + short_minor, held_minor=0)
        disk.owe(transfer, player, short_minor)
    disk.post(transfer, BANK, bank_minor)
    return booked


def payout_changes(disk: Disk, round_id: str, *, version: int) -> Mapping[int, PayoutChange]:
    """Return per player what two versions paid."""
    sums: dict[int, tuple[int, int]] = {}
    for wager in _ended(disk, round_id):
        before, after = sums.get(wager.player_id, (0, 0))
        sums[wager.player_id] = (
            before + disk.endings[wager.id, version - 1].payout_minor,
            after + disk.endings[wager.id, version].payout_minor,
        )
    return {
        player: PayoutChange(before_minor=before, after_minor=after)
        for player, (before, after) in sums.items()
    }


def player_changes(disk: Disk, round_ids: Sequence[str], *, due: Due) -> Sequence[PlayerChange]:
    """Return what players would get instead, by round in order and player."""
    changes = []
    for row in sorted(
        (disk.rounds[id] for id in round_ids), key=lambda row: (row.epoch, row.number)
    ):
        sums: dict[int, tuple[int, int]] = {}
        for wager in _ended(disk, row.id):
            before, after = sums.get(wager.player_id, (0, 0))
            before += _before(disk, wager, version=row.settlement_version + 1)
            sums[wager.player_id] = (before, after + due(wager))
        changes += [
            PlayerChange(round_id=row.id, player_id=player, before_minor=before, after_minor=after)
            for player, (before, after) in sorted(sums.items())
        ]
    return changes


def would_refund(disk: Disk, round_ids: Sequence[str]) -> Refund:
    """Return what annulling rounds one after the other would move: wallet by wallet."""
    wallets = {player: have.balance_minor for player, have in disk.balances.items()}
    changes = player_changes(disk, round_ids, due=lambda wager: wager.hold_minor)
    minors: dict[str, list[int]] = {round_id: [] for round_id in round_ids}
    owed_minor = dict.fromkeys(round_ids, 0)
    for one in changes:
        minor = one.after_minor - one.before_minor
        minors[one.round_id].append(minor)
        left_minor = wallets[one.player_id] + minor
        wallets[one.player_id] = max(left_minor, 0)
        owed_minor[one.round_id] += max(-left_minor, 0)
    rounds = {
        round_id: RoundRefund(
            wagers=len(_ended(disk, round_id)),
            players=sum(minor != 0 for minor in moved),
            turnover_minor=sum(wager.stake_minor for wager in _ended(disk, round_id)),
            payouts_minor=sum(wager.hold_minor for wager in _ended(disk, round_id)),
            paid_minor=sum(max(minor, 0) for minor in moved),
            taken_minor=sum(max(-minor, 0) for minor in moved),
            owed_minor=owed_minor[round_id],
        )
        for round_id, moved in minors.items()
    }
    moved = {one.player_id for one in changes if one.before_minor != one.after_minor}
    return Refund(rounds=rounds, players=len(moved))


def _ended(disk: Disk, round_id: str) -> Sequence[Wager]:
    return [
        wager
        for wager in (disk.wagers[id] for id in disk.books.get(round_id, ()))
        if wager.ending is None or wager.ending.kind is not EndingKind.UNDONE
    ]


def _before(disk: Disk, wager: Wager, *, version: int) -> int:
    ending = disk.endings.get((wager.id, version - 1))
    if ending is None:
        raise InvariantError("version_missing", f"Wager {wager.id} has no version {version - 1}.")
    return ending.payout_minor
