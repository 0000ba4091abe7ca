"""The pit's figures in SQL: a fixed number of set statements, bounded by a span of time.

A round counts when it opened: that column is indexed, alone and by table, so that a span is one
piece of the index. From there the wagers come by their round and the endings by their key. The
scans come from the public bodies of the log; cards that are still sealed lie in another table,
which nothing here reads.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Double,
    Select,
    Subquery,
    and_,
    case,
    cast,
    func,
    literal,
    null,
    select,
)
from sqlalchemy.dialects.postgresql import JSON

from studio.domain.events import CardDrawn, CardVerified, FirstCardTurned, ReadFailed, RoundOpened
from studio.domain.round import Phase
from studio.services.figure_rows import (
    BetGroup,
    EndedRow,
    Figures,
    MoneyRow,
    RoundSums,
    ScanRow,
    Span,
)
from studio.services.ports import EndingKind
from studio.store.sums import total
from studio.store.tables import event, round_, table_log, wager, wager_ending

SCAN_KINDS = tuple(
    kind.__name__ for kind in (CardDrawn, CardVerified, FirstCardTurned, ReadFailed, RoundOpened)
)
_ENDED = (Phase.SETTLED.value, Phase.VOID.value)

_SETTLED = and_(
    wager_ending.c.wager_number == wager.c.number,
    wager_ending.c.version == round_.c.settlement_version,
    wager_ending.c.kind == EndingKind.SETTLED.value,
)
"""Condition: the ending that stands. A round settled anew has a later version."""


class SqlFigures(Figures):
    """See the port for every method."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def money(self, span: Span, groups: Sequence[BetGroup]) -> Sequence[MoneyRow]:
        """See the port."""
        rows = self._connection.execute(money_query(span, groups))
        return [MoneyRow(**row._mapping) for row in rows]

    def ended(self, span: Span) -> Sequence[EndedRow]:
        """See the port."""
        rounds = (
            _within(select(_table, _slice(span), round_.c.phase), span)
            .where(round_.c.phase.in_(_ENDED))
            .subquery()
        )
        keys = [rounds.c.table, rounds.c.slice, rounds.c.phase]
        counted = select(*keys, func.count().label("rounds")).group_by(*keys).order_by(*keys)
        return [EndedRow(**row._mapping) for row in self._connection.execute(counted)]

    def scans(self, *, table: str | None, shoes: int) -> Sequence[ScanRow]:
        """See the port."""
        wanted = scans_query(self._connection.dialect.name, table=table, shoes=shoes)
        return [ScanRow(**row._mapping) for row in self._connection.execute(wanted)]

    def of_rounds(self, round_ids: Sequence[str]) -> Mapping[str, RoundSums]:
        """See the port."""
        wanted = (
            select(
                wager.c.round_id,
                func.count().label("wagers"),
                total(wager.c.stake_minor).label("stake_minor"),
                total(wager.c.hold_minor - wager_ending.c.payout_minor).label("ggr_minor"),
            )
            .select_from(round_)
            .join(wager, wager.c.round_id == round_.c.id)
            .join(wager_ending, _SETTLED)
            .where(round_.c.id.in_(round_ids))
            .group_by(wager.c.round_id)
        )
        return {
            row.round_id: RoundSums(
                wagers=row.wagers, turnover_minor=row.stake_minor, ggr_minor=row.ggr_minor
            )
            for row in self._connection.execute(wanted)
        }


_table = round_.c.table_code.label("table")


def _slice(span: Span) -> ColumnElement[int]:
    return ((round_.c.opened_ms - span.from_ms) // span.slice_ms).label("slice")


def _within(wanted: Select[Any], span: Span) -> Select[Any]:
    wanted = wanted.where(round_.c.opened_ms >= span.from_ms, round_.c.opened_ms < span.to_ms)
    return wanted if span.table is None else wanted.where(round_.c.table_code == span.table)


def money_query(span: Span, groups: Sequence[BetGroup]) -> Select[Any]:
    """Return the query of settled wagers by table, paytable, slice and kind of bet.

    Three steps: what stood on each bet of each round (the same cards decide all of it), then
    each round's bets of a kind, then the slice.
    """
    bets = _by_bet(span, groups)
    of_round = [bets.c[name] for name in (*_KEYS, "round_id")]
    rounds = (
        select(
            *of_round,
            *(total(bets.c[name]).label(name) for name in _SUMS),
            func.sum(_square(bets.c.stake_minor)).label("bet_squares"),
        )
        .group_by(*of_round)
        .subquery()
    )
    of_slice = [rounds.c[name] for name in _KEYS]
    return (
        select(
            *of_slice,
            func.count().label("rounds"),
            *(total(rounds.c[name]).label(name) for name in _SUMS),
            func.sum(rounds.c.bet_squares).label("bet_squares"),
            func.sum(_square(rounds.c.stake_minor)).label("round_squares"),
        )
        .group_by(*of_slice)
        .order_by(*of_slice)
    )


_KEYS = ("table", "game", "paytable_version", "slice", "kind")
_SUMS = ("wagers", "stake_minor", "hold_minor", "payout_minor")


def _by_bet(span: Span, groups: Sequence[BetGroup]) -> Subquery:
    kinds = case(
        *(
            (and_(round_.c.game == group.game, wager.c.bet.in_(group.bets)), group.kind)
            for group in groups
        ),
        else_=literal(""),
    )
    lines = _within(
        select(
            _table,
            round_.c.game,
            round_.c.paytable_version,
            _slice(span),
            kinds.label("kind"),
            round_.c.id.label("round_id"),
            wager.c.bet,
            wager.c.stake_minor,
            wager.c.hold_minor,
            wager_ending.c.payout_minor,
        )
        .select_from(round_)
        .join(wager, wager.c.round_id == round_.c.id)
        .join(wager_ending, _SETTLED),
        span,
    ).subquery()
    keys = [lines.c[name] for name in (*_KEYS, "round_id", "bet")]
    return (
        select(
            *keys,
            func.count().label("wagers"),
            *(total(lines.c[name]).label(name) for name in _SUMS if name != "wagers"),
        )
        .group_by(*keys)
        .subquery()
    )


def _square(minor: ColumnElement[int]) -> ColumnElement[float]:
    """Return the square in floating point: it would not fit into 64 bits, and is no money."""
    return cast(minor, Double) * cast(minor, Double)


def scans_query(dialect: str, *, table: str | None, shoes: int) -> Select[Any]:
    """Return the query that counts reads and rounds in each table's latest shoes."""
    failed = event.c.kind == ReadFailed.__name__
    reason = case((failed, _body_text(dialect, "reason")), else_=null())
    lines = (
        select(
            event.c.table_code.label("table"), event.c.epoch, event.c.kind, reason.label("reason")
        )
        .join(table_log, table_log.c.table_code == event.c.table_code)
        .where(event.c.epoch > table_log.c.epoch - shoes, event.c.kind.in_(SCAN_KINDS))
    )
    if table is not None:
        lines = lines.where(event.c.table_code == table)
    found = lines.subquery()
    keys = [found.c[name] for name in ("table", "epoch", "kind", "reason")]
    return select(*keys, func.count().label("count")).group_by(*keys).order_by(*keys)


def _body_text(dialect: str, key: str) -> ColumnElement[str]:
    """Return a value of an event's body; the body is canonical text, not a JSON column."""
    if dialect == "sqlite":
        return func.json_extract(event.c.body, f"$.{key}")
    text: ColumnElement[str] = cast(event.c.body, JSON)[key].astext
    return text
