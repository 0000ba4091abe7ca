"""Re-checking everything stored: log, cards, rounds, wagers, ledger; every fault gets a name.

`audit` believes nothing that can be worked out again: hashes, commitments, digests, sums,
payouts.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from studio.domain.errors import InvariantError
from studio.services.audit_log import LogCheck
from studio.services.inspection import AuditUnits, Fault, Inspection, Replay

MakesReplay: TypeAlias = Callable[[str, Inspection], Replay]


def audit(units: AuditUnits, *, replay: MakesReplay | None = None) -> list[Fault]:
    """Return every fault found; an empty list when all that is stored agrees.

    Args:
        units: gives the snapshot.
        replay: makes the engine's own check for a table's code; it may look around as well.
    """
    faults: list[Fault] = []
    with units.inspect() as inspection:
        for table in inspection.tables():
            check = LogCheck(inspection, table)
            engine = replay(table, inspection) if replay is not None else None
            with _named(faults, where=table):
                for stored in inspection.events(table):
                    faults += check.see(stored)
                    if engine is not None:
                        faults += engine.see(stored)
                faults += check.end()
        with _named(faults, where="money"):
            faults.extend(inspection.money())
    return faults


@contextmanager
def _named(faults: list[Fault], *, where: str) -> Iterator[None]:
    """Make a fault of what can't even be read; the other checks go on."""
    try:
        yield
    except InvariantError as error:
        faults.append(Fault(code=error.code, where=where, what=error.message))
    except (TypeError, ValueError):
        # A damaged file gives nothing, or text, where a number stood. What the error says might
        # show what was stored, a sealed card among it.
        faults.append(Fault(code="value_unreadable", where=where, what="A value can't be read."))
