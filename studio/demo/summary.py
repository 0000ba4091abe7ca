"""What a demo did, read back from the database it left."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from studio.demo.cast import TablePlayed
from studio.demo.plan import EVERY_GAME
from studio.domain.game import Json
from studio.services.ports import Units

CARD_KINDS = frozenset({"CardDrawn", "FirstCardTurned", "CardVerified"})
SUMMED = (
    *("rounds", "shoes", "cards_read", "rescans", "voided", "wagers", "turnover_minor"),
    *("payouts_minor", "results", "wagers_undone", "wagers_refused"),
)
"""What adds up over tables; the ledger's sum and the audit's faults are the whole studio's."""
HIDDEN = ("results", "tables")
"""Too long to be read by people."""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Totals of one table's whole log, and of the database."""

    table: str
    game: str
    rounds: int
    shoes: int
    cards_read: int
    rescans: int
    voided: int
    wagers: int
    turnover_minor: int
    payouts_minor: int
    ledger_sum_minor: int
    audit_faults: int
    results: list[str]
    """One line per round: what each hand is worth, so that two runs can be compared."""


def summarise(units: Units, table: str, *, game: str, audit_faults: int) -> Summary:
    """Return the totals of `table`."""
    kinds: Counter[str] = Counter()
    money: Counter[str] = Counter()
    results = []
    with units.read() as uow:
        last, _, _ = uow.events.position(table)
        for epoch in range(last + 1):
            for event in uow.events.read(table, epoch=epoch, after_seq=0):
                kinds[event.kind] += 1
                if event.kind != "RoundSettled":
                    continue
                for key in ("count", "turnover_minor", "payouts_minor"):
                    money[key] += event.body[key]
                hands = [f"{hand['position']}={hand['points']}" for hand in event.body["hands"]]
                results.append(" ".join(hands))
        ledger_sum_minor = uow.ledger.sum_minor()
    return Summary(
        table=table,
        game=game,
        rounds=kinds["RoundSettled"],
        shoes=kinds["ShoeShuffled"],
        cards_read=sum(kinds[kind] for kind in CARD_KINDS),
        rescans=kinds["ReadFailed"],
        voided=kinds["RoundVoided"],
        wagers=money["count"],
        turnover_minor=money["turnover_minor"],
        payouts_minor=money["payouts_minor"],
        ledger_sum_minor=ledger_sum_minor,
        audit_faults=audit_faults,
        results=results,
    )


def as_json(units: Units, played: Sequence[TablePlayed], *, audit_faults: int) -> dict[str, Json]:
    """Return the demo's summary for machines: one table's, or totals with the tables' beside."""
    tables = [_table_as_json(units, one, audit_faults=audit_faults) for one in played]
    if len(tables) == 1:
        return tables[0]
    first, *others = tables
    totals = dict(first)
    for other in others:
        for key in SUMMED:
            totals[key] = totals[key] + other[key]
    return {
        **totals,
        "table": ", ".join(one["table"] for one in tables),
        "game": EVERY_GAME,
        "seconds": max(one["seconds"] for one in tables),
        "tables": tables,
    }


def _table_as_json(units: Units, played: TablePlayed, *, audit_faults: int) -> dict[str, Json]:
    table = played.table
    summary = summarise(units, table.code, game=table.game.code, audit_faults=audit_faults)
    return {
        **asdict(summary),
        "wagers_undone": played.wagers_undone,
        "wagers_refused": played.wagers_refused,
        "seconds": played.seconds,
    }


def as_text(summary: Mapping[str, Json]) -> str:
    """Return a summary for people: a line a value with a column a table, totals first."""
    columns = [summary, *summary.get("tables", ())]
    return "\n".join(
        f"{key:<18} " + " ".join(f"{column[key]!s:<12}" for column in columns).rstrip()
        for key in summary
        if key not in HIDDEN
    )
