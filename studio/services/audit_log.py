"""One table's log under audit: numbering and chain, and each round against rows and book."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from studio.domain.errors import StudioError
from studio.domain.event_bodies import from_body
from studio.domain.event_parts import SealedCard
from studio.domain.events import (
    BettingClosed,
    RoundCorrected,
    RoundOpened,
    RoundSettled,
    RoundVoided,
    ShoeLoaded,
)
from studio.domain.log import GENESIS_HASH, event_hash
from studio.domain.round import Phase
from studio.services.audit_proposals import ProposalCheck
from studio.services.audit_shoe import ShoeCheck
from studio.services.inspection import Fault, Inspection
from studio.services.ports import RoundRow, StoredEvent


@dataclass(kw_only=True)
class _RoundSeen:
    """A round as the log tells it."""

    opened: RoundOpened
    game: str
    """What the shoe was loaded for."""
    closed: BettingClosed | None = None
    settled: RoundSettled | None = None
    voided: RoundVoided | None = None
    corrections: list[RoundCorrected] = field(default_factory=list)


class LogCheck:
    """Takes a table's events one by one and returns the faults each shows."""

    def __init__(self, inspection: Inspection, table: str) -> None:
        """Begin before the first event."""
        self._inspection = inspection
        self._table = table
        self._last: tuple[int, int, str] = (0, 0, GENESIS_HASH)
        self._shoe = ShoeCheck(inspection)
        self._proposals = ProposalCheck()
        self._rounds: dict[str, _RoundSeen] = {}
        self._rounds_seen = 0
        self._game = ""
        self._at = ""

    def see(self, stored: StoredEvent) -> list[Fault]:
        """Return the faults of the next event."""
        self._at = f"{self._table} {stored.epoch}/{stored.seq}"
        faults: list[Fault] = []
        epoch, _, _ = self._last
        if stored.epoch != epoch:
            faults += self._close_epoch(epoch)
        faults += self._chain(stored)
        self._last = (stored.epoch, stored.seq, stored.hash)
        try:
            sealed = SealedCard(**stored.sealed) if stored.sealed is not None else None
            event = from_body(stored.kind, stored.body, sealed)
            faults += [self._fault(code, what) for code, what in self._shoe.see(event)]
            steps = self._proposals.see(event, at_ms=stored.at_ms)
            faults += [self._fault(code, what) for code, what in steps]
            if isinstance(event, ShoeLoaded):
                self._game = event.game
            if isinstance(event, RoundCorrected):
                faults += self._correction(stored, event)
            if isinstance(event, RoundOpened | BettingClosed | RoundSettled | RoundVoided):
                faults += self._round_event(event)
        except (StudioError, TypeError, ValueError) as error:
            faults.append(self._fault("event_unreadable", f"{stored.kind}: {error}"))
        return faults

    def end(self) -> list[Fault]:
        """Return what only the end of the log shows."""
        faults = list(self._close_epoch(self._last[0]))
        said = self._inspection.log_end(self._table)
        if said != self._last:
            faults.append(
                self._fault(
                    "log_end_differs",
                    f"The log ends at {self._last[0]}/{self._last[1]}, but its table was written "
                    f"up to {said[0]}/{said[1]}.",
                )
            )
        rows = self._inspection.round_count(self._table)
        if rows != self._rounds_seen:
            faults.append(
                Fault(
                    code="rounds_differ",
                    where=self._table,
                    what=f"The log opened {self._rounds_seen} rounds; {rows} are stored.",
                )
            )
        return faults

    def _fault(self, code: str, what: str) -> Fault:
        return Fault(code=code, where=self._at or self._table, what=what)

    # The chain ---------------------------------------------------------------------------------

    def _chain(self, stored: StoredEvent) -> Iterator[Fault]:
        epoch, seq, last_hash = self._last
        if (stored.epoch, stored.seq) not in {(epoch, seq + 1), (epoch + 1, 1)}:
            yield self._fault("log_gap", f"Events are missing after {epoch}/{seq}.")
        if stored.prev_hash != last_hash:
            yield self._fault("chain_broken", "It does not name the hash of the event before it.")
        worked_out = event_hash(
            stored.prev_hash,
            table=stored.table,
            epoch=stored.epoch,
            seq=stored.seq,
            at_ms=stored.at_ms,
            kind=stored.kind,
            body=stored.body,
        )
        if worked_out != stored.hash:
            yield self._fault("event_changed", f"The {stored.kind} does not have its own hash.")

    # Rounds ------------------------------------------------------------------------------------

    def _round_event(
        self, event: RoundOpened | BettingClosed | RoundSettled | RoundVoided
    ) -> Iterator[Fault]:
        if isinstance(event, RoundOpened):
            self._rounds[event.round_id] = _RoundSeen(opened=event, game=self._game)
            return
        seen = self._rounds.get(event.round_id)
        if seen is None:
            yield self._fault("round_unknown", f"Round {event.round_id} was never opened.")
        elif isinstance(event, BettingClosed):
            seen.closed = event
        elif isinstance(event, RoundSettled):
            seen.settled = event
        else:
            seen.voided = event

    def _correction(self, stored: StoredEvent, event: RoundCorrected) -> Iterator[Fault]:
        """A correction is noted where it lies, or nobody finds it from its round."""
        noted = self._inspection.corrections(self._table, event.epoch)
        if not any((one.epoch, one.seq) == (stored.epoch, stored.seq) for one in noted):
            yield self._fault(
                "correction_unnoted", f"Nothing leads from round {event.round_id} to it."
            )

    def _add_corrections(self, epoch: int) -> Iterator[Fault]:
        """Take the corrections of the epoch's rounds, wherever they lie in the log."""
        for stored in self._inspection.corrections(self._table, epoch):
            event = from_body(stored.kind, stored.body, None)
            seen = self._rounds.get(str(stored.body.get("round_id")))
            if seen is None or not isinstance(event, RoundCorrected):
                yield Fault(
                    code="correction_unnoted",
                    where=f"{self._table} {stored.epoch}/{stored.seq}",
                    what="It is noted as a correction of a round, and is none.",
                )
                continue
            last = seen.corrections[-1] if seen.corrections else seen.settled
            if last is None or event.version != last.version + 1:
                yield Fault(
                    code="correction_out_of_turn",
                    where=f"round {event.round_id}",
                    what=f"Version {event.version} does not follow the one before.",
                )
            seen.corrections.append(event)

    def _close_epoch(self, epoch: int) -> Iterator[Fault]:
        rows = self._inspection.rounds(self._table, epoch)
        yield from self._add_corrections(epoch)
        for round_id, seen in self._rounds.items():
            row = rows.get(round_id)
            if row is None:
                yield Fault(
                    code="round_missing", where=f"round {round_id}", what="Its row is gone."
                )
                continue
            yield from _row_faults(seen, row)
            yield from self._book_faults(seen)
        self._rounds_seen += len(self._rounds)
        self._rounds = {}
        self._shoe = ShoeCheck(self._inspection)

    def _book_faults(self, seen: _RoundSeen) -> Iterator[Fault]:
        round_id = seen.opened.round_id
        where = f"round {round_id}"
        closed, ended = seen.closed, seen.settled or seen.voided
        if closed is not None:
            book = self._inspection.book(round_id)
            yield from _differences(
                "book_differs",
                where,
                ("wagers", closed.count, book.count),
                ("turnover", closed.turnover_minor, book.turnover_minor),
                ("holds", closed.held_minor, book.held_minor),
                ("digest", closed.digest, book.digest),
            )
        if ended is not None:
            for version in (ended, *seen.corrections):
                yield from self._version_faults(version)

    def _version_faults(
        self, ended: RoundSettled | RoundVoided | RoundCorrected
    ) -> Iterator[Fault]:
        round_id = ended.round_id
        where, nets = f"round {round_id}", None
        if isinstance(ended, RoundSettled) or (
            isinstance(ended, RoundCorrected) and not ended.void
        ):
            nets = {result.bet: Fraction(result.net) for result in ended.results}
        endings = self._inspection.endings(round_id, version=ended.version, nets=nets)
        yield from _differences(
            "settlement_differs",
            where,
            ("wagers", ended.count, endings.count),
            ("turnover", ended.turnover_minor, endings.turnover_minor),
            ("payouts", ended.payouts_minor, endings.payouts_minor),
        )
        for wager_id in endings.wrong:
            yield Fault(
                code="payout_differs",
                where=f"wager {wager_id}",
                what="Its payout is not what the round's result gives.",
            )


def _differences(code: str, where: str, *pairs: tuple[str, object, object]) -> Iterator[Fault]:
    for what, logged, stored in pairs:
        if logged != stored:
            yield Fault(
                code=code, where=where, what=f"{what}: the log says {logged}, stored is {stored}."
            )


def _row_faults(seen: _RoundSeen, row: RoundRow) -> Iterator[Fault]:
    opened, ended = seen.opened, seen.settled or seen.voided
    version = seen.corrections[-1].version if seen.corrections else ended.version if ended else 0
    yield from _differences(
        "round_differs",
        f"round {row.id}",
        ("game", seen.game, row.game),
        ("number", opened.number, row.number),
        ("opening", opened.opened_ms, row.opened_ms),
        ("deadline", opened.window_closes_ms, row.window_closes_ms),
        ("rules", opened.rule_version, row.rule_version),
        ("paytable", opened.paytable_version, row.paytable_version),
        ("version", version, row.settlement_version),
        ("phase", True, row.phase in _phases(seen)),
    )


def _phases(seen: _RoundSeen) -> frozenset[str]:
    if seen.corrections:
        return frozenset({Phase.VOID if seen.corrections[-1].void else Phase.SETTLED})
    if seen.voided is not None:
        return frozenset({Phase.VOID})
    if seen.settled is not None:
        return frozenset({Phase.SETTLED})
    if seen.closed is not None:
        return frozenset({Phase.NO_MORE_BETS, Phase.REVEAL})
    return frozenset({Phase.BETTING})
