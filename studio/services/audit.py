"""Re-checking everything stored: log, cards, rounds, wagers, ledger; every fault gets a name.

`audit` believes nothing that can be worked out again: hashes, commitments, digests, sums,
payouts.
"""

from collections.abc import Callable

from studio.services.audit_log import LogCheck
from studio.services.inspection import AuditUnits, Fault, Replay


def audit(units: AuditUnits, *, replay: Callable[[str], Replay] | None = None) -> list[Fault]:
    """Return every fault found; an empty list when all that is stored agrees.

    Args:
        units: gives the snapshot.
        replay: makes the engine's own check for a table's code.
    """
    faults: list[Fault] = []
    with units.inspect() as inspection:
        for table in inspection.tables():
            check = LogCheck(inspection, table)
            engine = replay(table) if replay is not None else None
            for stored in inspection.events(table):
                faults += check.see(stored)
                if engine is not None:
                    faults += engine.see(stored)
            faults += check.end()
        faults += inspection.money()
    return faults
