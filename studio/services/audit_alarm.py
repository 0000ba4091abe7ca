"""What an audit on a schedule leaves behind: an alarm while there are faults, else none.

Source: PROCEDURES, R4 (a self-check at least every 24 hours and on demand, alarm on failure).
"""

from collections.abc import Sequence

from studio.services.alarms import ACT_NOW, AUDIT_FAULT
from studio.services.inspection import Fault
from studio.services.ports import Units


def tell_pit(units: Units, faults: Sequence[Fault], *, tables: Sequence[str]) -> None:
    """Raise the alarm of an audit at each table that a fault names, and clear it elsewhere.

    Faults that name no table, such as a sum of the ledger, are told at the first one: somebody
    has to hear of them, and once is enough.
    """
    found: dict[str, list[Fault]] = {}
    for fault in faults:
        named = fault.where.removeprefix("round ").split("-")[0].split(" ")[0]
        found.setdefault(named if named in tables else tables[0], []).append(fault)
    with units.write() as uow:
        now_ms = uow.now_ms()
        for table in tables:
            uow.alarms.clear(table=table, codes={AUDIT_FAULT}, at_ms=now_ms)
            if table in found:
                uow.alarms.raise_alarm(
                    priority=ACT_NOW,
                    code=AUDIT_FAULT,
                    table=table,
                    round_id=None,
                    at_ms=now_ms,
                    details={"count": len(found[table]), "first": found[table][0].code},
                )
        uow.commit()
