"""Re-checking everything stored: log, cards, rounds, wagers, ledger; every fault gets a name.

`audit` believes nothing that can be worked out again: hashes, commitments, digests, sums,
payouts.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from studio.services.audit_log import LogCheck
from studio.services.inspection import AuditUnits, Fault, Replay
from studio.services.ports import StoredEvent

MakesReplay: TypeAlias = Callable[[str, Callable[[int], Sequence[StoredEvent]]], Replay]


def audit(units: AuditUnits, *, replay: MakesReplay | None = None) -> list[Fault]:
    """Return every fault found; an empty list when all that is stored agrees.

    Args:
        units: gives the snapshot.
        replay: makes the engine's own check for a table's code; it may read a shoe again.
    """
    faults: list[Fault] = []
    with units.inspect() as inspection:
        for table in inspection.tables():
            check = LogCheck(inspection, table)
            log = partial(inspection.epoch_events, table)
            engine = replay(table, log) if replay is not None else None
            for stored in inspection.events(table):
                faults += check.see(stored)
                if engine is not None:
                    faults += engine.see(stored)
            faults += check.end()
        faults += inspection.money()
    return faults
