"""The club in SQL: tallies, medals, purchases and options.

What a settled round brought is summed up by the database from the endings of its wagers. What is
read and written for it grows with the round's players, never with their past.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, case, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from studio.domain.game import Json
from studio.domain.log import canonical
from studio.services.club_data import Tally
from studio.services.club_ports import Awarded, BetOfRound, Club, Purchase
from studio.services.ports import EndingKind
from studio.services.retry import TryAgainError
from studio.store.club_counts import SPANS, counted
from studio.store.club_tables import medal, player_options, purchase, tallied_round, tally
from studio.store.rows import insert_new
from studio.store.sums import total
from studio.store.tables import round_, transfer, wager, wager_ending


class SqlClub(Club):
    """See the port for every method."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        is_sqlite = connection.dialect.name == "sqlite"
        self._insert: Any = sqlite.insert if is_sqlite else postgresql.insert

    # A settled round ---------------------------------------------------------------------------

    def take_round(self, round_id: str) -> bool:
        """See the port."""
        return insert_new(self._connection, tallied_round, {"round_id": round_id}) is not None

    def is_taken(self, round_id: str) -> bool:
        """See the port."""
        taken = select(tallied_round).where(tallied_round.c.round_id == round_id)
        return self._connection.execute(taken).first() is not None

    def bets_of_round(self, round_id: str, *, version: int | None = None) -> Sequence[BetOfRound]:
        """See the port."""
        ends = select(func.min(wager.c.number), func.max(wager.c.number))
        first, last = self._connection.execute(ends.where(wager.c.round_id == round_id)).one()
        ended = and_(
            wager_ending.c.wager_number == wager.c.number,
            # The bounds spare PostgreSQL the endings of all the past: it would hash them whole.
            wager_ending.c.wager_number.between(first or 0, last or 0),
            wager_ending.c.version == (version or round_.c.settlement_version),
            wager_ending.c.kind == EndingKind.SETTLED.value,
        )
        net_minor = wager_ending.c.payout_minor - wager.c.hold_minor
        rows = self._connection.execute(
            select(
                wager.c.player_id,
                wager.c.bet,
                total(net_minor).label("net_minor"),
                func.count(case((net_minor > 0, 1))).label("hits"),
            )
            .select_from(round_)
            .join(wager, wager.c.round_id == round_.c.id)
            .join(wager_ending, ended)
            .where(round_.c.id == round_id)
            .group_by(wager.c.player_id, wager.c.bet)
            .order_by(wager.c.player_id, wager.c.bet)
        )
        return [BetOfRound(**row._mapping) for row in rows]

    def rows_of_wins(self, player_ids: Iterable[int]) -> Mapping[int, int]:
        """See the port."""
        rows = dict.fromkeys(player_ids, 0)
        left = set(rows)
        newest = self._connection.execute(select(func.max(transfer.c.id))).scalar_one()
        for span in (*SPANS, newest):
            if not left:
                break
            query = counted(wager.c.player_id.in_(sorted(left)), since=newest - span)
            for row in self._connection.execute(query):
                rows[row.player_id] = row.wins_in_a_row
                if row.lost_last:
                    left.discard(row.player_id)
        return rows

    def best_rounds(self, player_ids: Iterable[int]) -> Mapping[int, int]:
        """See the port."""
        bests_minor = dict.fromkeys(player_ids, 0)
        if bests_minor:
            query = counted(wager.c.player_id.in_(list(bests_minor)))
            for row in self._connection.execute(query):
                bests_minor[row.player_id] = row.won_minor_max
        return bests_minor

    def tallies_of_round(self, round_id: str) -> Mapping[int, Mapping[str, int]]:
        """See the port."""
        found: dict[int, dict[str, int]] = defaultdict(dict)
        wanted = select(tally).where(tally.c.player_id.in_(_players(round_id)))
        for row in self._connection.execute(wanted):
            found[row.player_id][row.name] = row.value
        return found

    def medals_of_round(self, round_id: str) -> Mapping[int, frozenset[str]]:
        """See the port."""
        found: dict[int, set[str]] = defaultdict(set)
        wanted = select(medal.c.player_id, medal.c.code)
        for player_id, code in self._connection.execute(
            wanted.where(medal.c.player_id.in_(_players(round_id)))
        ):
            found[player_id].add(code)
        return {player_id: frozenset(codes) for player_id, codes in found.items()}

    def write_tallies(self, values: Mapping[int, Mapping[str, int]]) -> None:
        """See the port."""
        rows = [
            {"player_id": player_id, "name": name, "value": value}
            for player_id, named in sorted(values.items())
            for name, value in sorted(named.items())
        ]
        statement = self._insert(tally)
        upsert = statement.on_conflict_do_update(
            index_elements=list(tally.primary_key), set_={"value": statement.excluded.value}
        )
        if rows:
            self._connection.execute(upsert, rows)

    # Tallies and medals ------------------------------------------------------------------------

    def count_up(self, player_ids: Iterable[int], counted: Tally) -> Mapping[int, int]:
        """See the port."""
        upsert = self._insert(tally).on_conflict_do_update(
            index_elements=list(tally.primary_key), set_={"value": tally.c.value + 1}
        )
        rows = [
            {"player_id": player_id, "name": counted.value, "value": 1}
            for player_id in sorted(set(player_ids))
        ]
        found = self._many(upsert.returning(tally.c.player_id, tally.c.value), rows)
        return {row.player_id: row.value for row in found}

    def award(self, medals: Iterable[Awarded]) -> Mapping[int, tuple[str, ...]]:
        """See the port."""
        wanted = list(medals)
        rows = [asdict(one) for one in sorted(wanted, key=lambda one: (one.player_id, one.code))]
        inserted = self._insert(medal).on_conflict_do_nothing()
        found = self._many(inserted.returning(medal.c.player_id, medal.c.code), rows)
        new = {(row.player_id, row.code) for row in found}
        given: dict[int, tuple[str, ...]] = {}
        for one in wanted:
            if (one.player_id, one.code) in new:
                given[one.player_id] = (*given.get(one.player_id, ()), one.code)
        return given

    def tallies(self, player_id: int) -> Mapping[str, int]:
        """See the port."""
        wanted = select(tally.c.name, tally.c.value).where(tally.c.player_id == player_id)
        return {name: value for name, value in self._connection.execute(wanted)}

    def medals(self, player_id: int) -> Mapping[str, int]:
        """See the port."""
        wanted = select(medal.c.code, medal.c.awarded_ms).where(medal.c.player_id == player_id)
        return {code: awarded_ms for code, awarded_ms in self._connection.execute(wanted)}

    # The shop ----------------------------------------------------------------------------------

    def purchase(self, id: str) -> Purchase | None:
        """See the port."""
        row = self._connection.execute(
            select(
                purchase.c.player_id,
                purchase.c.item,
                purchase.c.price_minor,
                purchase.c.bought_ms,
            )
            .join(transfer, transfer.c.id == purchase.c.transfer_id)
            .where(transfer.c.client_id == id)
        ).first()
        return Purchase(**row._mapping) if row is not None else None

    def bought(self, player_ids: Sequence[int]) -> Mapping[int, frozenset[str]]:
        """See the port."""
        found: dict[int, set[str]] = {player_id: set() for player_id in player_ids}
        wanted = select(purchase.c.player_id, purchase.c.item)
        for player_id, item in self._connection.execute(
            wanted.where(purchase.c.player_id.in_(player_ids))
        ):
            found[player_id].add(item)
        return {player_id: frozenset(items) for player_id, items in found.items()}

    def add_purchase(self, bought: Purchase, *, id: str) -> None:
        """See the port."""
        paid = select(transfer.c.id).where(transfer.c.client_id == id)
        row = {
            "player_id": bought.player_id,
            "item": bought.item,
            "price_minor": bought.price_minor,
            "bought_ms": bought.bought_ms,
            "transfer_id": self._connection.execute(paid).scalar_one(),
        }
        if insert_new(self._connection, purchase, row) is None:
            raise TryAgainError(f"{bought.item} was bought meanwhile.")

    def _many(self, statement: Any, rows: Sequence[Mapping[str, object]]) -> Sequence[Row[Any]]:
        """Run an insert of many rows that returns some, a thousand rows a statement."""
        return self._connection.execute(statement, rows).all() if rows else []

    # Options -----------------------------------------------------------------------------------

    def options(self, player_ids: Sequence[int]) -> Mapping[int, Mapping[str, Json]]:
        """See the port."""
        wanted = select(player_options).where(player_options.c.player_id.in_(player_ids))
        chosen = {
            row.player_id: json.loads(row.options) for row in self._connection.execute(wanted)
        }
        return {player_id: chosen.get(player_id, {}) for player_id in player_ids}

    def lock_options(self, player_id: int) -> Mapping[str, Json]:
        """See the port."""
        nothing = {"player_id": player_id, "options": canonical({})}
        insert_new(self._connection, player_options, nothing)
        wanted = select(player_options.c.options).where(player_options.c.player_id == player_id)
        kept: Mapping[str, Json] = json.loads(
            self._connection.execute(wanted.with_for_update()).scalar_one()
        )
        return kept

    def keep_options(self, player_id: int, options: Mapping[str, Json]) -> None:
        """See the port."""
        self._connection.execute(
            update(player_options)
            .where(player_options.c.player_id == player_id)
            .values(options=canonical(options))
        )


def _players(round_id: str) -> Select[Any]:
    return select(wager.c.player_id).where(wager.c.round_id == round_id)
