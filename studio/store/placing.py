"""Placing one wager: the database decides, this module turns its decision into an answer.

SQLite decides in `placing_sqlite`: its one writer sees everything. PostgreSQL decides in the
function `place_wager` of its schema (`migrations/sql`), in one round trip; its order of locks and
the shares of the table limit are explained there. The same tests hold both to the same answers.
"""

from dataclasses import dataclass

from sqlalchemy import Connection

from studio.domain.errors import InvariantError, RefusedError
from studio.services.ports import Placed, Wager, WagerRequest
from studio.store import book
from studio.store.clock import UnitClock
from studio.store.ledger import balance_short, player_balance_of
from studio.store.placing_sqlite import Decision, decide_on_sqlite
from studio.store.rounds import SHARDS_POSTGRESQL

_PLACE_WAGER = (
    "SELECT outcome, accepted_ms, balance_minor, held_minor, taken_minor"
    " FROM place_wager(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
)


@dataclass(frozen=True, kw_only=True)
class _Limit:
    """How a limit that would be exceeded is told."""

    minor: int
    what: str


def place(connection: Connection, clock: UnitClock, request: WagerRequest) -> Placed:
    """Accept a wager; see the port `Wagers.place`."""
    if connection.dialect.name == "sqlite":
        decision = decide_on_sqlite(connection, request, now_ms=clock.now_ms(connection))
    else:
        decision = _decide_on_postgresql(connection, clock, request)
    if decision.outcome == "known":
        return repeat(connection, request)
    if decision.outcome != "placed":
        raise _refusal(request, decision)
    placed = Wager(
        id=request.id,
        player_id=request.player_id,
        round_id=request.round_id,
        bet=request.bet,
        stake_minor=request.stake_minor,
        hold_minor=request.hold_minor,
        accepted_ms=decision.accepted_ms,
        ending=None,
    )
    return Placed(
        wager=placed,
        balance_minor=decision.balance_minor,
        held_minor=decision.held_minor,
        repeated=False,
    )


def repeat(connection: Connection, request: WagerRequest) -> Placed:
    """Answer a request whose id is known as it was answered first.

    Raises:
        RefusedError: `wager_id_reused` when the content is another.
    """
    found = book.find(connection, request.id)
    assert found is not None
    first = found[1]
    if (first.player_id, first.round_id, first.bet, first.stake_minor) != (
        request.player_id,
        request.round_id,
        request.bet,
        request.stake_minor,
    ):
        raise RefusedError(
            "wager_id_reused",
            "This wager id was used before for another wager; nothing was placed.",
            id=request.id,
        )
    return answered_again(connection, first)


def answered_again(connection: Connection, first: Wager) -> Placed:
    """Return the answer to a request that moved money before and moves none now."""
    balance = player_balance_of(connection, first.player_id)
    return Placed(
        wager=first,
        balance_minor=balance.balance_minor,
        held_minor=balance.held_minor,
        repeated=True,
    )


def window_closed() -> RefusedError:
    """Return the refusal at and after the deadline."""
    return RefusedError("betting_window_closed", "No more bets: the betting window has closed.")


def _decide_on_postgresql(
    connection: Connection, clock: UnitClock, request: WagerRequest
) -> Decision:
    limits = request.limits
    row = connection.exec_driver_sql(
        _PLACE_WAGER,
        (
            request.id,
            request.player_id,
            request.round_id,
            request.bet,
            request.stake_minor,
            request.hold_minor,
            limits.bet_min_minor,
            limits.bet_max_minor,
            limits.player_max_minor,
            limits.table_max_minor,
            SHARDS_POSTGRESQL,
            clock.simulated_ms(),
        ),
    ).one()
    return Decision(
        outcome=row.outcome,
        accepted_ms=row.accepted_ms or 0,
        balance_minor=row.balance_minor or 0,
        held_minor=row.held_minor or 0,
        taken_minor=row.taken_minor or 0,
    )


def _refusal(request: WagerRequest, decision: Decision) -> RefusedError:
    limits = request.limits
    exceeded = {
        "bet_limit_exceeded": _Limit(minor=limits.bet_max_minor, what="on this bet"),
        "player_limit_exceeded": _Limit(minor=limits.player_max_minor, what="in one round"),
        "table_limit_exceeded": _Limit(minor=limits.table_max_minor, what="at the table"),
    }.get(decision.outcome)
    if exceeded is not None:
        return RefusedError(
            decision.outcome,
            f"At most {exceeded.minor} minor units may stand {exceeded.what}; "
            f"{decision.taken_minor} stand.",
            limit_minor=exceeded.minor,
            taken_minor=decision.taken_minor,
            stake_minor=request.stake_minor,
        )
    match decision.outcome:
        case "unknown_round":
            return RefusedError(
                "unknown_round",
                f"There is no round {request.round_id}.",
                round_id=request.round_id,
            )
        case "betting_window_closed":
            return window_closed()
        case "stake_below_minimum":
            return RefusedError(
                "stake_below_minimum",
                f"The least stake on this bet is {limits.bet_min_minor} minor units.",
                limit_minor=limits.bet_min_minor,
                stake_minor=request.stake_minor,
            )
        case "balance_short":
            return balance_short(
                needed_minor=request.hold_minor, balance_minor=decision.balance_minor
            )
        case unknown:
            raise InvariantError("place_outcome", f"The database answered {unknown!r}.")
