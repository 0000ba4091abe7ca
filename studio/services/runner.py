"""Runs the tables: commands, the closing of the window, settlement, corrections.

Every command takes the same way: lock the table's log, catch up, `decide`, append the events
with the money they move, one commit, publish afterwards. An invariant that breaks freezes the
table and calls the pit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from studio.domain.commands import CloseBetting, Command, Lock, SettleRound
from studio.domain.decide import decide, results_due
from studio.domain.errors import InvariantError, RefusedError
from studio.domain.events import (
    Event,
    RoundCorrected,
    RoundOpened,
    RoundSettled,
    RoundVoided,
    ShoeLoaded,
)
from studio.domain.game import Description, Json, SpotResult
from studio.domain.round import Phase
from studio.domain.settlement import house_nets
from studio.domain.table import STUDIO, TableState
from studio.services.alarms import ACT_NOW, update_alarms
from studio.services.correction_told import correction_messages
from studio.services.correction_trail import write_execution
from studio.services.jobs import Build, Job
from studio.services.leases import LEASE_MS
from studio.services.live import Live, LiveTables, advance, stored_event
from studio.services.ports import Publisher, RoundRow, UnitOfWork, Units
from studio.services.proposing import Corrections
from studio.services.retry import again

CORRECTED_A_TURN = 10
"""So many rounds are corrected before the clockwork looks at the other tables again."""

OnSettled = Callable[
    [Job, RoundSettled | RoundCorrected, Description], Mapping[int, Mapping[str, Json]]
]
"""Called after the book is settled or corrected, before the commit, with what the round was made
of; returns per player what goes into the message about the money."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a command led to, after its commit."""

    live: Live
    envelopes: tuple[Mapping[str, Json], ...] = ()
    wallets: Mapping[int, Mapping[str, Json]] = field(default_factory=dict)


@dataclass
class _Leased:
    """A command that runs only while its process holds the table's lease."""

    table: str
    holder: str
    fence: int | None
    """What this process was given last."""
    given: int = 0
    """What it was given now; worth something after the commit only."""
    until_ms: int = 0

    def build(self, build: Build) -> Build:
        """Return the builder that takes the lease first."""

        def taken(job: Job) -> Command:
            self.until_ms = job.now_ms + LEASE_MS
            given = job.uow.leases.take(
                self.table,
                holder=self.holder,
                fence=self.fence,
                now_ms=job.now_ms,
                until_ms=self.until_ms,
            )
            if given is None:
                raise RefusedError("lease_held", "Another process supervises this table.")
            self.given = given
            return build(job)

        return taken

    def check(self, job: Job) -> None:
        """Refuse to commit after the lease has ended: the process was paused in between."""
        if job.uow.now_ms() >= self.until_ms:
            raise RefusedError("lease_ended", "The lease of this table ended meanwhile.")


class TableRunner:
    """Runs the tables of one studio."""

    def __init__(
        self,
        *,
        units: Units,
        tables: LiveTables,
        publisher: Publisher,
        on_settled: OnSettled | None = None,
        corrections: Corrections | None = None,
        holder: str = "studio",
    ) -> None:
        """Keep the ports; `on_settled` adds to what settles or corrects a round.

        `corrections`: by what rules rounds are corrected; else by the usual ones.
        `holder`: the name under which this process takes the tables' leases.
        """
        self.units = units
        self.tables = tables
        self.publisher = publisher
        self.corrections = corrections or Corrections(tables)
        self._on_settled = on_settled
        self._holder = holder
        self._fences: dict[str, int] = {}

    # Commands ----------------------------------------------------------------------------------

    def run(
        self, table: str, build: Build, *, also: Callable[[Job, Live], None] | None = None
    ) -> Outcome:
        """Run the command that `build` makes; `also` writes beside it in the same commit.

        Raises:
            MalformedError: `unknown_table`.
            RefusedError: as `decide` and the book say.
            InvariantError: the table is locked and the pit called before it is raised.
        """
        with self._frozen_when_broken(table):
            outcome = again(lambda: self._run(table, build, also))
        self._publish(outcome)
        return outcome

    def _run(self, table: str, build: Build, also: Callable[[Job, Live], None] | None) -> Outcome:
        with self.units.write() as uow:
            uow.events.lock(table)
            live = self.tables.caught_up(uow, table)
            job = Job(uow=uow, live=live, now_ms=uow.now_ms())
            events = decide(live.game, live.state, build(job))
            after, envelopes = self._append(job, events)
            if also is not None:
                also(job, after)
            wallets = self._wallets(job, after, events)
            uow.commit()
        self.tables.keep(after)
        return Outcome(live=after, envelopes=envelopes, wallets=wallets)

    def _append(
        self, job: Job, events: Sequence[Event]
    ) -> tuple[Live, tuple[Mapping[str, Json], ...]]:
        live = job.live
        envelopes: list[Mapping[str, Json]] = []
        for event in events:
            stored = stored_event(
                live.state, event, at_ms=job.now_ms, new_epoch=isinstance(event, ShoeLoaded)
            )
            job.uow.events.append(stored)
            before, live = live, advance(live, stored)
            envelopes.append(live.lines[-1].envelope)
            update_alarms(job.uow, before.state, live.state, event, at_ms=job.now_ms)
            _update_round(job.uow, before.state, live, event)
        return live, tuple(envelopes)

    def _wallets(
        self, job: Job, after: Live, events: Sequence[Event]
    ) -> Mapping[int, Mapping[str, Json]]:
        """Return the messages to players whose money the events moved, or will move."""
        messages: dict[int, Mapping[str, Json]] = {}
        for event in events:
            more = self._more(job, event)
            told = correction_messages(self.tables, job, after.state, event)
            for player_id, message in told.items():
                messages[player_id] = {**message, **more.get(player_id, {})}
            if not isinstance(event, RoundSettled | RoundVoided):
                continue
            settled = isinstance(event, RoundSettled)
            for player_id, balance in job.uow.ledger.balances_of_round(event.round_id).items():
                messages[player_id] = {
                    "balance_minor": balance.balance_minor,
                    "held_minor": balance.held_minor,
                    "reason": "settled" if settled else "void",
                    "round_id": event.round_id,
                    **more.get(player_id, {}),
                }
        return messages

    def _more(self, job: Job, event: Event) -> Mapping[int, Mapping[str, Json]]:
        """Let others add to a settlement or correction; return what they tell the players."""
        if self._on_settled is None or not isinstance(event, RoundSettled | RoundCorrected):
            return {}
        epoch = event.epoch if isinstance(event, RoundCorrected) else job.state.epoch
        description = self.tables.description(job.uow, job.state, epoch=epoch)
        return self._on_settled(job, event, description)

    @contextmanager
    def _frozen_when_broken(self, table: str) -> Iterator[None]:
        """Freeze the table before an invariant's error goes on; a failed assert is one too."""
        try:
            yield
        except InvariantError as error:
            self._freeze(table, error)
            raise
        except AssertionError as error:
            broken = InvariantError(
                "assertion_failed", f"Table {table}: the studio found itself in the wrong."
            )
            self._freeze(table, broken)
            raise broken from error

    def _freeze(self, table: str, error: InvariantError) -> None:
        """Lock the table after one of our own mistakes and call the pit."""
        if table not in self.tables.setups:
            return
        try:
            outcome = again(
                lambda: self._run(table, lambda _: Lock(reason=error.code, by=STUDIO), None)
            )
        except RefusedError:
            return  # locked already
        except (InvariantError, AssertionError):
            self._call_pit_to(table, error)
            return
        self._publish(outcome)

    def _call_pit_to(self, table: str, error: InvariantError) -> None:
        """Raise the alarm alone: the log itself can't be read or written any more."""
        with self.units.write() as uow:
            uow.alarms.raise_alarm(
                priority=ACT_NOW,
                code="table_locked",
                table=table,
                round_id=None,
                at_ms=uow.now_ms(),
                details={"reason": error.code},
            )
            uow.commit()
        self.publisher.pit({"kind": "alarm", "table": table})

    def _publish(self, outcome: Outcome) -> None:
        for envelope in outcome.envelopes:
            self.publisher.event(envelope)
        for player_id, message in outcome.wallets.items():
            self.publisher.wallet(player_id, message)
        if outcome.envelopes:
            self.publisher.pit({"kind": "table", "table": outcome.live.setup.code})

    # The clock's work --------------------------------------------------------------------------

    def tick(self, table: str) -> None:
        """Do what is due at a table: close the window, settle, correct. Safe to call at any time.

        Nothing is done while another process holds the table's lease.
        """
        with self._frozen_when_broken(table), self.units.read() as uow:
            live = self.tables.caught_up(uow, table)
            now_ms = uow.now_ms()
        self.tables.keep(live)
        current = live.state.round
        if current is not None and current.phase is Phase.BETTING:
            if not current.opened_ms <= now_ms < current.window_closes_ms:
                self._supervise(table, self._close)
        elif results_due(live.game, live.state):
            self._supervise(table, self._settle)
        for _ in range(CORRECTED_A_TURN):
            if not self.corrections.are_due(live.state, now_ms):
                break
            outcome = self._supervise(table, self.corrections.execute, also=write_execution)
            if outcome is None:
                break
            live = outcome.live

    def _supervise(
        self, table: str, build: Build, *, also: Callable[[Job, Live], None] | None = None
    ) -> Outcome | None:
        """Run a command as the table's supervisor: under its lease, or not at all."""
        leased = _Leased(table=table, holder=self._holder, fence=self._fences.get(table))

        def both(job: Job, after: Live) -> None:
            leased.check(job)
            if also is not None:
                also(job, after)

        try:
            outcome = self.run(table, leased.build(build), also=both)
        except RefusedError:
            return None  # somebody else did it in between, or holds the lease
        self._fences[table] = leased.given
        return outcome

    def _close(self, job: Job) -> Command:
        current = job.state.round
        if current is None or current.phase is not Phase.BETTING:
            raise RefusedError("betting_not_open", "Betting is not open.")
        # The row first: this waits for wagers in flight and lets no further one in.
        job.uow.rounds.update_phase(current.id, Phase.NO_MORE_BETS, settlement_version=0)
        book = job.uow.wagers.close(current.id)
        return CloseBetting(
            now_ms=job.uow.now_ms(),
            count=book.count,
            turnover_minor=book.turnover_minor,
            held_minor=book.held_minor,
            digest=book.digest,
        )

    def _settle(self, job: Job) -> Command:
        current = job.state.round
        if current is None or not results_due(job.live.game, job.state):
            raise RefusedError("results_not_due", "The round's hands are not all open.")
        assert job.state.config is not None
        description = job.live.game.describe(job.state.config)
        movements = job.live.game.settle(current.game_state)
        nets = house_nets(description, movements)
        booked = job.uow.wagers.settle(current.id, version=1, nets=nets)
        return SettleRound(
            version=1,
            nets=nets,
            reasons={spot.bet: spot.reason for spot in movements if isinstance(spot, SpotResult)},
            count=booked.count,
            turnover_minor=booked.turnover_minor,
            payouts_minor=booked.payouts_minor,
        )

    def live(self, table: str) -> Live:
        """Return the table as its log says now.

        Raises:
            MalformedError: `unknown_table`.
        """
        with self._frozen_when_broken(table), self.units.read() as uow:
            live = self.tables.caught_up(uow, table)
        self.tables.keep(live)
        return live


def _update_round(uow: UnitOfWork, before: TableState, live: Live, event: Event) -> None:
    """Keep the round's row, which the money obeys, in step with the log."""
    if isinstance(event, RoundCorrected):
        phase = Phase.VOID if event.void else Phase.SETTLED
        uow.rounds.update_phase(event.round_id, phase, settlement_version=event.version)
        uow.rounds.note_correction(
            event.round_id, version=event.version, epoch=live.state.epoch, seq=live.state.seq
        )
        return
    current = live.state.round
    if current is None:
        return
    if isinstance(event, RoundOpened):
        uow.rounds.insert(
            RoundRow(
                id=current.id,
                table=live.setup.code,
                epoch=live.state.epoch,
                number=current.number,
                game=live.game.code,
                phase=current.phase,
                opened_ms=current.opened_ms,
                window_closes_ms=current.window_closes_ms,
                rule_version=current.rule_version,
                paytable_version=current.paytable_version,
                settlement_version=0,
            )
        )
    elif before.round is not None and before.round.phase is not current.phase:
        version = 1 if current.phase in {Phase.SETTLED, Phase.VOID} else 0
        uow.rounds.update_phase(current.id, current.phase, settlement_version=version)
