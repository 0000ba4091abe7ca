"""The rounds of a shoe as its log tells them: fast, however many wagers there were."""

from collections.abc import Iterable, Mapping, Sequence

from studio.domain.game import Json
from studio.services.correction_ports import ShoeRound
from studio.services.ports import RoundRow

ENDS = ("BettingClosed", "RoundSettled", "RoundVoided")
"""Events that tell a round's money; its corrections may lie in another epoch."""


def shoe_rounds(
    rows: Iterable[RoundRow], bodies: Iterable[Mapping[str, Json]]
) -> Sequence[ShoeRound]:
    """Return the rounds with what the last of these events of each says of its money."""
    told = {body["round_id"]: body for body in bodies}
    return [_shoe_round(row, told.get(row.id, {})) for row in rows]


def _shoe_round(row: RoundRow, body: Mapping[str, Json]) -> ShoeRound:
    return ShoeRound(
        round_id=row.id,
        number=row.number,
        phase=row.phase,
        version=row.settlement_version,
        opened_ms=row.opened_ms,
        wagers=body.get("count", 0),
        turnover_minor=body.get("turnover_minor", 0),
        payouts_minor=body.get("payouts_minor", 0),
    )
