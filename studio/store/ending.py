"""How wagers end: what settling, refunding and correcting a round write alike.

One transfer a round and version, one ending a wager and version: the keys of both tables let
nobody end anything twice.
"""

from dataclasses import dataclass

from sqlalchemy import (
    BigInteger,
    Connection,
    Insert,
    Integer,
    String,
    Table,
    insert,
    literal,
    select,
)
from sqlalchemy.exc import IntegrityError

from studio.domain.errors import InvariantError
from studio.services.ports import EndingKind
from studio.store.clock import UnitClock
from studio.store.ledger import new_transfer
from studio.store.tables import TransferKind, wager_ending

ENTRY_COLUMNS = ["origin_id", "version", "leg", "transfer_id", "account_id", "amount_minor"]
_ENDING_COLUMNS = ["wager_number", "version", "kind", "payout_minor", "transfer_id"]


@dataclass(frozen=True, kw_only=True)
class Ending:
    """The end of one round's wagers under way."""

    round_id: str
    version: int
    transfer_id: int
    kind: EndingKind


def begin_ending(
    connection: Connection,
    clock: UnitClock,
    *,
    round_id: str,
    version: int,
    kind: EndingKind,
    transfer: TransferKind,
) -> Ending:
    """Write the round's transfer.

    Raises:
        InvariantError: `wager_ended_twice`.
    """
    moved = {
        "kind": transfer.value,
        "at_ms": clock.now_ms(connection),
        "round_id": round_id,
        "version": version,
    }
    try:
        transfer_id = new_transfer(connection, moved)
    except IntegrityError as error:
        raise ended_twice(round_id) from error
    return Ending(round_id=round_id, version=version, transfer_id=transfer_id, kind=kind)


def write_endings(connection: Connection, ending: Ending, paper: Table, *, count: int) -> None:
    """Write the ending of every wager on a working paper: its `number` and `payout_minor`.

    Raises:
        InvariantError: `wager_ended_twice`, or `settlement_sums_differ` when they are not `count`.
    """
    rows = select(
        paper.c.number,
        literal(ending.version, Integer),
        literal(ending.kind.value, String),
        paper.c.payout_minor,
        literal(ending.transfer_id, BigInteger),
    )
    try:
        written = written_rows(connection, insert(wager_ending).from_select(_ENDING_COLUMNS, rows))
    except IntegrityError as error:
        raise ended_twice(ending.round_id) from error
    need_equal("endings", ending.round_id, found=written, expected=count)


def written_rows(connection: Connection, statement: Insert) -> int:
    """Return how many rows the database says it wrote."""
    return connection.execute(statement, execution_options={"preserve_rowcount": True}).rowcount


def need_equal(what: str, round_id: str, *, found: int, expected: int) -> None:
    """Stop an ending whose sums do not close.

    Raises:
        InvariantError: `settlement_sums_differ`.
    """
    if found != expected:
        raise InvariantError(
            "settlement_sums_differ",
            f"Round {round_id}: {what} are {found}, the book says {expected}.",
            round_id=round_id,
            what=what,
        )


def ended_twice(round_id: str) -> InvariantError:
    """Return the error for wagers that have ended in this version."""
    return InvariantError(
        "wager_ended_twice",
        f"Round {round_id}: its wagers have already ended; nothing was booked.",
        round_id=round_id,
    )
