"""SQLite's decision on one wager: one reading, then the writes. Nobody else writes meanwhile.

Plain statements, because this is the path that every chip takes.
"""

from dataclasses import dataclass

from sqlalchemy import Connection

from studio.domain.round import Phase
from studio.services.ports import WagerRequest
from studio.store.ledger import VERSION_PLACED
from studio.store.rounds import SHARDS_SQLITE
from studio.store.tables import LEG_HELD, LEG_WALLET, TransferKind

_STANDING = """
SELECT
    r.phase, r.opened_ms, r.window_closes_ms,
    p.wallet_id, p.held_id, p.balance_minor, p.held_minor,
    coalesce((
        SELECT sum(w.stake_minor) FROM wager w
        WHERE w.player_id = ?2 AND w.round_id = ?3
          AND NOT EXISTS (SELECT 1 FROM wager_ending e WHERE e.wager_number = w.number)
    ), 0),
    coalesce((
        SELECT sum(w.stake_minor) FROM wager w
        WHERE w.player_id = ?2 AND w.round_id = ?3 AND w.bet = ?4
          AND NOT EXISTS (SELECT 1 FROM wager_ending e WHERE e.wager_number = w.number)
    ), 0),
    (SELECT q.stake_minor FROM stake_quota q WHERE q.round_id = ?3 AND q.shard = ?5),
    EXISTS (SELECT 1 FROM wager w WHERE w.id = ?1)
FROM (SELECT 1) one
LEFT JOIN round r ON r.id = ?3
LEFT JOIN player_balance p ON p.player_id = ?2
"""
_TRANSFER = "INSERT INTO transfer (kind, at_ms) VALUES (?, ?) RETURNING id"
_WAGER = """
INSERT INTO wager (number, id, player_id, round_id, bet, stake_minor, hold_minor, accepted_ms)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_ENTRIES = """
INSERT INTO entry (origin_id, version, leg, transfer_id, account_id, amount_minor)
VALUES (?1, ?2, ?3, ?1, ?4, ?7), (?1, ?2, ?5, ?1, ?6, -?7)
"""
_MOVE = """
UPDATE player_balance SET balance_minor = balance_minor - ?1, held_minor = held_minor + ?1
WHERE player_id = ?2
"""
_QUOTA = """
UPDATE stake_quota SET stake_minor = stake_minor + ?1, quota_minor = ?2
WHERE round_id = ?3 AND shard = ?4
"""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What the database decided on a request.

    `outcome` is `placed`, `known` (the id came before) or a refusal's code.
    """

    outcome: str
    accepted_ms: int = 0
    balance_minor: int = 0
    held_minor: int = 0
    taken_minor: int = 0
    """What already stands against the limit that the outcome names."""


@dataclass(frozen=True, kw_only=True)
class _Standing:
    """Everything the decision depends on."""

    phase: str | None
    opened_ms: int
    closes_ms: int
    wallet_id: int
    held_id: int
    balance_minor: int
    held_minor: int
    player_minor: int
    bet_minor: int
    table_minor: int
    known: bool


def decide_on_sqlite(connection: Connection, request: WagerRequest, *, now_ms: int) -> Decision:
    """Accept a wager, or say why not; call inside a write unit."""
    standing = _read(connection, request)
    refused = _refused(request, standing, now_ms=now_ms)
    if refused is not None:
        return refused
    _write(connection, request, standing, now_ms=now_ms)
    return Decision(
        outcome="placed",
        accepted_ms=now_ms,
        balance_minor=standing.balance_minor - request.hold_minor,
        held_minor=standing.held_minor + request.hold_minor,
    )


def _key(request: WagerRequest) -> str:
    """Return the id as SQLite stores it."""
    return request.id.replace("-", "")


def _shard(request: WagerRequest) -> int:
    return request.player_id % SHARDS_SQLITE


def _read(connection: Connection, request: WagerRequest) -> _Standing:
    row = connection.exec_driver_sql(
        _STANDING,
        (_key(request), request.player_id, request.round_id, request.bet, _shard(request)),
    ).one()
    return _Standing(
        phase=row[0],
        opened_ms=row[1] or 0,
        closes_ms=row[2] or 0,
        wallet_id=row[3] or 0,
        held_id=row[4] or 0,
        balance_minor=row[5] or 0,
        held_minor=row[6] or 0,
        player_minor=row[7],
        bet_minor=row[8],
        table_minor=row[9] or 0,
        known=bool(row[10]),
    )


def _refused(request: WagerRequest, standing: _Standing, *, now_ms: int) -> Decision | None:
    limits, stake_minor = request.limits, request.stake_minor
    if standing.known:
        return Decision(outcome="known")
    if standing.phase is None:
        return Decision(outcome="unknown_round")
    if standing.phase != Phase.BETTING or not standing.opened_ms <= now_ms < standing.closes_ms:
        return Decision(outcome="betting_window_closed")
    if stake_minor < limits.bet_min_minor:
        return Decision(outcome="stake_below_minimum")
    for outcome, taken_minor, limit_minor in (
        ("bet_limit_exceeded", standing.bet_minor, limits.bet_max_minor),
        ("player_limit_exceeded", standing.player_minor, limits.player_max_minor),
    ):
        if taken_minor + stake_minor > limit_minor:
            return Decision(outcome=outcome, taken_minor=taken_minor)
    if standing.balance_minor < request.hold_minor:
        return Decision(outcome="balance_short", balance_minor=standing.balance_minor)
    if standing.table_minor + stake_minor > limits.table_max_minor:
        return Decision(outcome="table_limit_exceeded", taken_minor=standing.table_minor)
    return None


def _write(
    connection: Connection, request: WagerRequest, standing: _Standing, *, now_ms: int
) -> None:
    number = connection.exec_driver_sql(_TRANSFER, (TransferKind.HOLD.value, now_ms)).scalar_one()
    hold_minor = request.hold_minor
    for statement, parameters in (
        (
            _WAGER,
            (
                number,
                _key(request),
                request.player_id,
                request.round_id,
                request.bet,
                request.stake_minor,
                hold_minor,
                now_ms,
            ),
        ),
        (
            _ENTRIES,
            (
                number,
                VERSION_PLACED,
                LEG_HELD,
                standing.held_id,
                LEG_WALLET,
                standing.wallet_id,
                hold_minor,
            ),
        ),
        (_MOVE, (hold_minor, request.player_id)),
        (
            _QUOTA,
            (
                request.stake_minor,
                request.limits.table_max_minor,
                request.round_id,
                _shard(request),
            ),
        ),
    ):
        connection.exec_driver_sql(statement, parameters)
