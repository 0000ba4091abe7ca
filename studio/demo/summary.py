"""What a demo did, read back from the database it left."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from studio.domain.game import Json
from studio.services.ports import Units


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Totals of one table's whole log, and of the database."""

    table: str
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
    """One line per round: marks of the five hands, so that two runs can be compared."""

    def as_json(self) -> dict[str, Json]:
        """Return the summary as plain values."""
        return asdict(self)


def as_text(summary: Mapping[str, Json]) -> str:
    """Return a summary for people: one value a line, without the rounds' results."""
    return "\n".join(f"{key:<18} {value}" for key, value in summary.items() if key != "results")


CARD_KINDS = frozenset({"CardDrawn", "FirstCardTurned", "CardVerified"})


def summarise(units: Units, table: str, *, audit_faults: int) -> Summary:
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
