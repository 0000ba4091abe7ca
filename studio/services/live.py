"""The live state of the tables: each log folded once, kept, and caught up before every use.

The database's log is the truth; what is kept here is only a shortcut. A unit of work that is
rolled back leaves nothing behind, because a new `Live` is kept only after the commit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from studio.domain.errors import InvariantError, MalformedError
from studio.domain.event_bodies import from_body, to_body
from studio.domain.event_parts import SealedCard
from studio.domain.events import Event
from studio.domain.game import AnyGame, Description, Json
from studio.domain.log import event_hash
from studio.domain.table import TableState, evolve
from studio.domain.view import patch, table_view, told_body
from studio.services.ports import StoredEvent, UnitOfWork
from studio.services.setup import TableSetup


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A table at one position of its log; its view is made when somebody looks."""

    setup: TableSetup
    game: AnyGame
    state: TableState

    @cached_property
    def view(self) -> Mapping[str, Json]:
        """What everybody may see."""
        shown = table_view(self.game, self.state)
        return {"table": self.setup.code, "name": self.setup.name, **shown}


@dataclass(frozen=True)
class Line:
    """One stored event between two moments."""

    before: Moment
    stored: StoredEvent
    after: Moment

    @cached_property
    def envelope(self) -> Mapping[str, Json]:
        """What is published of the event."""
        stored, view = self.stored, self.after.view
        return {
            "table": stored.table,
            "epoch": stored.epoch,
            "seq": stored.seq,
            "at_ms": stored.at_ms,
            "kind": stored.kind,
            "body": told_body(stored.kind, stored.body),
            # An epoch's first event carries the whole view: it fits whatever view a client had.
            "patch": patch(self.before.view, view) if stored.seq > 1 else dict(view),
            "hash": stored.hash,
            "prev_hash": stored.prev_hash,
        }


@dataclass(frozen=True)
class Live:
    """A table now, with the lines of its epoch so far."""

    now: Moment
    lines: tuple[Line, ...] = ()

    @property
    def setup(self) -> TableSetup:
        """What the settings say of the table."""
        return self.now.setup

    @property
    def game(self) -> AnyGame:
        """What is played."""
        return self.now.game

    @property
    def state(self) -> TableState:
        """What the log says."""
        return self.now.state

    @property
    def view(self) -> Mapping[str, Json]:
        """What everybody may see."""
        return self.now.view

    def envelopes(self, *, after_seq: int = 0) -> list[Mapping[str, Json]]:
        """Return what is published of the epoch's events after a position, oldest first."""
        return [line.envelope for line in self.lines[after_seq:]]


def fresh(setup: TableSetup, game: AnyGame, *, epoch: int = 0, prev_hash: str = "") -> Live:
    """Return a table before the first event of an epoch."""
    state = TableState(table=setup.code, epoch=epoch, hash=prev_hash)
    return Live(Moment(setup=setup, game=game, state=state))


def step(game: AnyGame, state: TableState, stored: StoredEvent) -> TableState:
    """Return the state after one stored event.

    Raises:
        InvariantError: `log_gap` or `log_chain_broken` when it does not follow on.
    """
    if stored.epoch == state.epoch + 1 and stored.seq == 1:
        state = replace(state, epoch=stored.epoch, seq=0)
    if (stored.epoch, stored.seq) != (state.epoch, state.seq + 1):
        raise InvariantError(
            "log_gap",
            f"Table {state.table}: event {stored.epoch}/{stored.seq} follows "
            f"{state.epoch}/{state.seq}.",
        )
    if stored.prev_hash != state.hash:
        raise InvariantError(
            "log_chain_broken", f"Table {state.table}: the chain breaks at {stored.seq}."
        )
    sealed = SealedCard(**stored.sealed) if stored.sealed is not None else None
    state = evolve(game, state, from_body(stored.kind, stored.body, sealed))
    return replace(state, seq=stored.seq, hash=stored.hash)


def advance(live: Live, stored: StoredEvent) -> Live:
    """Return the table after one stored event, its line added."""
    now = replace(live.now, state=step(live.game, live.state, stored))
    kept = live.lines if stored.epoch == live.state.epoch else ()
    return Live(now, (*kept, Line(live.now, stored, now)))


def stored_event(state: TableState, event: Event, *, at_ms: int, new_epoch: bool) -> StoredEvent:
    """Return `event` as the next line of the log."""
    epoch, seq = (state.epoch + 1, 1) if new_epoch else (state.epoch, state.seq + 1)
    kind, body = type(event).__name__, to_body(event)
    sealed = event.sealed
    return StoredEvent(
        table=state.table,
        epoch=epoch,
        seq=seq,
        at_ms=at_ms,
        kind=kind,
        body=body,
        sealed=None
        if sealed is None
        else {"card": sealed.card, "serial": sealed.serial, "nonce": sealed.nonce},
        prev_hash=state.hash,
        hash=event_hash(
            state.hash,
            table=state.table,
            epoch=epoch,
            seq=seq,
            at_ms=at_ms,
            kind=kind,
            body=body,
        ),
    )


class LiveTables:
    """The kept tables of this process."""

    def __init__(self, setups: Mapping[str, TableSetup], games: Mapping[str, AnyGame]) -> None:
        """Keep `setups` by table code; every setup's game must be in `games`."""
        self.setups = setups
        self._games = games
        self._kept = {code: fresh(setup, games[setup.game]) for code, setup in setups.items()}

    def setup(self, table: str) -> TableSetup:
        """Return a table's setup.

        Raises:
            MalformedError: `unknown_table`.
        """
        if table not in self.setups:
            raise MalformedError("unknown_table", f"There is no table {table!r}.", table=table)
        return self.setups[table]

    def game(self, code: str) -> AnyGame:
        """Return a game of this studio.

        Raises:
            MalformedError: `unknown_game`.
        """
        if code not in self._games:
            raise MalformedError("unknown_game", f"There is no game {code!r}.", game=code)
        return self._games[code]

    def caught_up(self, uow: UnitOfWork, table: str) -> Live:
        """Return the table as its log says in this transaction."""
        setup = self.setup(table)
        live = self._kept[table]
        epoch, seq, _ = uow.events.position(table)
        if epoch != live.state.epoch or seq < live.state.seq:
            return self._from_log(uow, setup, epoch)
        if seq == live.state.seq:
            return live
        return _replay(live, uow.events.read(table, epoch=epoch, after_seq=live.state.seq))

    def replayed(self, uow: UnitOfWork, table: str, epoch: int) -> Live:
        """Return the table at the end of an epoch, now or long ago."""
        live = self.caught_up(uow, table)
        if live.state.epoch == epoch:
            return live
        return self._from_log(uow, self.setup(table), epoch)

    def description(self, uow: UnitOfWork, state: TableState, *, epoch: int) -> Description:
        """Return what the rounds of a shoe at a table are made of, its own now or one before."""
        game = self.game(self.setup(state.table).game)
        if epoch != state.epoch:
            loaded = uow.events.read(state.table, epoch=epoch, after_seq=0)[0]
            game = self.game(str(loaded.body["game"]))
            before = TableState(table=state.table, epoch=epoch - 1, hash=loaded.prev_hash)
            state = step(game, before, loaded)
        assert state.config is not None
        return game.describe(state.config)

    def _from_log(self, uow: UnitOfWork, setup: TableSetup, epoch: int) -> Live:
        events = uow.events.read(setup.code, epoch=epoch, after_seq=0)
        prev_hash = events[0].prev_hash if events else ""
        live = fresh(setup, self._games[setup.game], epoch=epoch, prev_hash=prev_hash)
        return _replay(live, events)

    def unreadable(self, table: str, *, reason: str) -> Live:
        """Return what can be said of a table whose log does not replay: it is locked."""
        setup = self.setup(table)
        live = fresh(setup, self._games[setup.game])
        return Live(replace(live.now, state=replace(live.state, locked=reason)))

    def keep(self, live: Live) -> None:
        """Keep a committed state unless a newer one is kept already."""
        kept = self._kept[live.setup.code].state
        if (live.state.epoch, live.state.seq) >= (kept.epoch, kept.seq):
            self._kept[live.setup.code] = live


def _replay(live: Live, events: Sequence[StoredEvent]) -> Live:
    for stored in events:
        live = advance(live, stored)
    return live
