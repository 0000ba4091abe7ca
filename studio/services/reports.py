"""Reading what happened: a player's history, the wagers of a round, the audit trail.

Reports only select and sum what the ledger moved; nothing is worked out a second time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from studio.domain.errors import MalformedError
from studio.domain.game import Json
from studio.domain.view import corrected_hands
from studio.services.correcting import correction
from studio.services.figure_rows import RoundSums
from studio.services.live import LiveTables
from studio.services.ports import (
    Balance,
    Ending,
    EndingKind,
    RoundRow,
    UnitOfWork,
    Units,
    Wager,
)
from studio.services.records import TrailRow

HISTORY_ROUNDS_MAX = 200
TABLE_ROUNDS_MAX = 200
TRAIL_LINES_MAX = 500
EXPORT_PAGE_ROUNDS = 200
EXPORT_COLUMNS = (
    "round_id",
    "table",
    "game",
    "opened_ms",
    "phase",
    "wager_id",
    "bet",
    "stake_minor",
    "hold_minor",
    "accepted_ms",
    "ending",
    "payout_minor",
    "version",
    "before_minor",
)

Names = Callable[[], Mapping[int, str]]
"""Returns everybody's name by id."""


@dataclass(frozen=True, kw_only=True)
class ReportService:
    """Answers questions; writes nothing."""

    units: Units
    tables: LiveTables
    names: Names

    def balance(self, player_id: int) -> Balance:
        """Return a player's wallet and what is held."""
        with self.units.read() as unit:
            return unit.ledger.balance(player_id)

    def history(self, player_id: int, *, before: str | None, limit: int) -> Mapping[str, Json]:
        """Return a player's rounds, newest first, with the hands as they were opened.

        Args:
            player_id: whose.
            before: round id; only rounds opened earlier than this one.
            limit: most rounds to return, at most HISTORY_ROUNDS_MAX.

        Raises:
            MalformedError: `unknown_round` for `before`.
        """
        limit = min(limit, HISTORY_ROUNDS_MAX)
        rounds = self._rounds_of(player_id, before=before, limit=limit)
        looks = self._looks([row for row, _ in rounds])
        shown = [
            _history_round(row, wagers) | looks.get(row.id, {"hands": [], "interrupted": False})
            for row, wagers in rounds
        ]
        more = len(rounds) == limit and limit > 0
        return {"rounds": shown, "next": rounds[-1][0].id if more else None}

    def export(self, player_id: int) -> Iterator[Sequence[Json]]:
        """Yield a player's wagers as rows, newest round first, after a row of column names."""
        yield EXPORT_COLUMNS
        before: str | None = None
        while rounds := self._rounds_of(player_id, before=before, limit=EXPORT_PAGE_ROUNDS):
            for row, wagers in rounds:
                for wager in wagers:
                    yield _export_row(row, wager)
            before = rounds[-1][0].id

    def rounds_of_table(self, table: str, *, before: str | None, limit: int) -> Mapping[str, Json]:
        """Return a table's rounds with what was settled in them, newest first.

        Args:
            table: whose.
            before: round id; only rounds opened earlier than this one.
            limit: most rounds to return, at most TABLE_ROUNDS_MAX.

        Raises:
            MalformedError: `unknown_table`; `unknown_round` for `before`.
        """
        self.tables.setup(table)
        limit = min(limit, TABLE_ROUNDS_MAX)
        with self.units.read() as unit:
            before_ms = self._opened_ms(unit, before)
            rows = unit.rounds.recent(table, limit=limit, before_ms=before_ms)
            sums = unit.figures.of_rounds([row.id for row in rows])
        more = len(rows) == limit and limit > 0
        return {
            "rounds": [_table_round(row, sums.get(row.id)) for row in rows],
            "next": rows[-1].id if more else None,
        }

    def rounds_of_shoe(self, table: str, *, epoch: int) -> Sequence[Mapping[str, Json]]:
        """Return a shoe's rounds with what their log says of the money, in order.

        Raises:
            MalformedError: `unknown_table`.
        """
        self.tables.setup(table)
        with self.units.read() as unit:
            return [asdict(one) for one in unit.rounds.of_shoe(table, epoch=epoch)]

    def wagers_of_round(self, round_id: str, *, player_id: int | None) -> Sequence[Json]:
        """Return the wagers of a round: one player's, or all of them with the players' names.

        Raises:
            MalformedError: `unknown_round`.
        """
        with self.units.read() as unit:
            if unit.rounds.get(round_id) is None:
                raise _unknown_round()
            wagers = unit.wagers.of_round(round_id, player_id=player_id)
        if player_id is not None:
            return [wager_json(wager) for wager in wagers]
        names = self.names()
        return [
            {
                **wager_json(wager),
                "player_id": wager.player_id,
                "player": names.get(wager.player_id, ""),
            }
            for wager in wagers
        ]

    def trail(self, *, before_id: int | None, limit: int) -> Mapping[str, Json]:
        """Return lines of the audit trail, newest first."""
        limit = min(limit, TRAIL_LINES_MAX)
        with self.units.read() as unit:
            lines = unit.trail.read(limit=limit, before_id=before_id)
        more = len(lines) == limit and limit > 0
        return {
            "lines": [_trail_json(line) for line in lines],
            "next": lines[-1].id if more else None,
        }

    def deck_sets(self) -> Sequence[Json]:
        """Return the registered deck sets with their sizes, manifests left out."""
        with self.units.read() as unit:
            found = [unit.deck_sets.get(number) for number in unit.deck_sets.numbers()]
        return [
            {"number": one.number, "decks": one.decks, "cards": len(one.manifest)}
            for one in found
            if one is not None
        ]

    def _rounds_of(
        self, player_id: int, *, before: str | None, limit: int
    ) -> Sequence[tuple[RoundRow, Sequence[Wager]]]:
        with self.units.read() as unit:
            before_ms = self._opened_ms(unit, before)
            return unit.wagers.of_player(player_id, limit_rounds=limit, before_round_ms=before_ms)

    def _opened_ms(self, unit: UnitOfWork, round_id: str | None) -> int | None:
        if round_id is None:
            return None
        row = unit.rounds.get(round_id)
        if row is None:
            raise _unknown_round()
        return row.opened_ms

    def _looks(self, rows: Sequence[RoundRow]) -> Mapping[str, dict[str, Json]]:
        """Return hands and mark of rounds as their tables showed them.

        Each epoch is replayed once; `interrupted`: a link was away while the round ran.
        """
        looks: dict[str, dict[str, Json]] = {}
        epochs = sorted({(row.table, row.epoch) for row in rows if row.table in self.tables.setups})
        with self.units.read() as unit:
            for table, epoch in epochs:
                for envelope in self.tables.replayed(unit, table, epoch).envelopes():
                    shown = envelope["patch"].get("round")
                    if shown is not None and not shown["corrected"]:
                        looks[shown["id"]] = {key: shown[key] for key in ("hands", "interrupted")}
                found = (correction(one) for one in unit.events.corrections(table, epoch=epoch))
                for round_id, event in {event.round_id: event for event in found}.items():
                    looks[round_id]["hands"] = corrected_hands(looks[round_id]["hands"], event)
        return looks


def _history_round(row: RoundRow, wagers: Sequence[Wager]) -> dict[str, Json]:
    counted = [wager for wager in wagers if not _undone(wager.ending)]
    before = [wager.ending.before_minor for wager in counted if wager.ending]
    return {
        "round_id": row.id,
        "table": row.table,
        "game": row.game,
        "opened_ms": row.opened_ms,
        "phase": row.phase,
        "stake_minor": sum(wager.stake_minor for wager in counted),
        "payout_minor": sum(wager.ending.payout_minor for wager in counted if wager.ending),
        "version": row.settlement_version,
        # What the version before the one that stands had paid; null for a first version.
        "before_minor": sum(minor or 0 for minor in before) if row.settlement_version > 1 else None,
        "wagers": [wager_json(wager) for wager in wagers],
    }


def _table_round(row: RoundRow, sums: RoundSums | None) -> Mapping[str, Json]:
    return {
        "round_id": row.id,
        "shoe": row.epoch,
        "number": row.number,
        "opened_ms": row.opened_ms,
        "phase": row.phase,
        "wagers": sums.wagers if sums else 0,
        "turnover_minor": sums.turnover_minor if sums else 0,
        "ggr_minor": sums.ggr_minor if sums else 0,
    }


def wager_json(wager: Wager) -> Mapping[str, Json]:
    """Return a wager as screens get it."""
    ending = wager.ending
    return {
        "id": wager.id,
        "round_id": wager.round_id,
        "bet": wager.bet,
        "stake_minor": wager.stake_minor,
        "hold_minor": wager.hold_minor,
        "accepted_ms": wager.accepted_ms,
        "ending": None
        if ending is None
        else {
            "kind": ending.kind.value,
            "payout_minor": ending.payout_minor,
            "version": ending.version,
            "before_minor": ending.before_minor,
        },
        "forfeited": wager.forfeited,
    }


def _export_row(row: RoundRow, wager: Wager) -> Sequence[Json]:
    ending = wager.ending
    return (
        row.id,
        row.table,
        row.game,
        row.opened_ms,
        row.phase,
        wager.id,
        wager.bet,
        wager.stake_minor,
        wager.hold_minor,
        wager.accepted_ms,
        ending.kind.value if ending else "",
        ending.payout_minor if ending else "",
        ending.version if ending else "",
        ending.before_minor if ending and ending.before_minor is not None else "",
    )


def _trail_json(line: TrailRow) -> Mapping[str, Json]:
    return {
        "id": line.id,
        "at_ms": line.at_ms,
        "actor": line.actor,
        "action": line.action,
        "subject": line.subject,
        "reason": line.reason,
        "before": dict(line.before),
        "after": dict(line.after),
    }


def _undone(ending: Ending | None) -> bool:
    return ending is not None and ending.kind is EndingKind.UNDONE


def _unknown_round() -> MalformedError:
    return MalformedError("unknown_round", "There is no such round.")
