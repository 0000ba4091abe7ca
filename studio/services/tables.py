"""The doors to the tables: people's commands, snapshots, missed events, records, the pit's view."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from studio.domain.commands import Command
from studio.domain.errors import InvariantError, MalformedError, RefusedError
from studio.domain.events import RoundCorrected
from studio.domain.game import Json
from studio.domain.view import corrected_view
from studio.services.alarms import (
    CARD_ALARMS,
    CORRECTION_DROPPED,
    DEALER_NOT_QUALIFIED,
    DEVICE_ALARMS,
    explained,
    plain_code,
    warn_of_dealer,
)
from studio.services.choices import choices_json
from studio.services.correcting import correction, work_out
from studio.services.correction_told import due_of_player
from studio.services.correction_views import correction_preview, proposal_json, refund_preview
from studio.services.evidence import event_json
from studio.services.jobs import Job
from studio.services.keying import unread_since
from studio.services.links import LinkWatch
from studio.services.live import Live, LiveTables
from studio.services.ports import Actor, Publisher, UnitOfWork, Units
from studio.services.proposing import Corrections
from studio.services.reading import CardReading
from studio.services.records import AlarmRow
from studio.services.retry import again
from studio.services.runner import OnSettled, TableRunner
from studio.services.table_commands import builder, command_digest, wanted_correction, wanted_refund

EVENTS_ANSWER_MAX = 2_000
"""A client further behind than this gets a snapshot."""


class _AnsweredError(Exception):
    """The same command was carried out before: its first answer."""

    def __init__(self, answer: Mapping[str, Json]) -> None:
        super().__init__("answered before")
        self.answer = answer


class TableService(TableRunner):
    """What the web edge asks of the tables."""

    def __init__(
        self,
        *,
        units: Units,
        tables: LiveTables,
        publisher: Publisher,
        reading: CardReading,
        on_settled: OnSettled | None = None,
        corrections: Corrections | None = None,
        holder: str = "studio",
    ) -> None:
        """Keep the ports; `reading` takes what people key in. The rest: see `TableRunner`."""
        super().__init__(
            units=units,
            tables=tables,
            publisher=publisher,
            on_settled=on_settled,
            corrections=corrections,
            holder=holder,
        )
        self.reading = reading

    def execute(self, actor: Actor, table: str, body: Mapping[str, Json]) -> dict[str, Json]:
        """Run a person's command; the same id with the same content gives the first answer.

        It says where the log stood after it, and whether what was ordered only `waits` for
        another supervisor to approve it.

        Raises:
            MalformedError: `unknown_table`, `unknown_command`, `command_id`, or a bad argument.
            RefusedError: `role_forbids`, `not_your_table`, `dealer_not_qualified`,
                `command_id_reused`, or as the command's rule says.
        """
        prepared = builder(self, actor, table, body)
        digest = command_digest(actor, table, body)
        answer: dict[str, Json] = {}

        def build(job: Job) -> Command:
            # Under the table's lock, so that the second of two equal requests finds the first.
            stored = job.uow.commands.find(id=prepared.id, digest=digest)
            if stored is not None:
                raise _AnsweredError(stored)
            return prepared.build(job)

        def also(job: Job, after: Live) -> None:
            state, pending = after.state, after.state.correction
            waits = pending is not None and pending.proposed.id == prepared.id and pending.waits
            answer.update(epoch=state.epoch, seq=state.seq, waits=waits)
            job.uow.commands.store(id=prepared.id, digest=digest, at_ms=job.now_ms, answer=answer)
            prepared.trail(job, after)

        try:
            self.run(table, build, also=also)
        except _AnsweredError as answered:
            return dict(answered.answer)
        except RefusedError as refusal:
            if refusal.code == DEALER_NOT_QUALIFIED:
                self._warn_of(actor, table, game=str(refusal.details["game"]))
            raise
        self.tick(table)
        return answer

    def _warn_of(self, dealer: Actor, table: str, *, game: str) -> None:
        """Tell the pit of a dealer who was refused: in a transaction of its own."""

        def work() -> bool:
            with self.units.write() as uow:
                raised = warn_of_dealer(uow, dealer, table=table, game=game)
                uow.commit()
            return raised

        if again(work):
            self.publisher.pit({"kind": "alarm", "table": table})

    def snapshot(self, table: str) -> dict[str, Json]:
        """Return position, view, bets and limits of a table."""
        with self.units.read() as uow:
            live = self.tables.caught_up(uow, table)
            now_ms = uow.now_ms()
        self.tables.keep(live)
        return snapshot(live, now_ms=now_ms)

    def events_since(self, table: str, *, epoch: int | None, seq: int | None) -> dict[str, Json]:
        """Return every event after a position, or a snapshot; never part.

        A position of another epoch, ahead of the log or too far behind gets the snapshot.
        """
        live = self.live(table)
        state = live.state
        if (
            epoch == state.epoch
            and seq is not None
            and 0 <= state.seq - seq <= EVENTS_ANSWER_MAX
            and seq >= 0
        ):
            return {"events": live.envelopes(after_seq=seq)}
        return {"snapshot": self.snapshot(table)}

    def codes(self) -> tuple[str, ...]:
        """Return the tables' codes in the order of the settings."""
        return tuple(self.tables.setups)

    def _shown(self, table: str) -> Live:
        """Return a table for a list; one whose log is broken is shown locked, and hides none."""
        try:
            return self.live(table)
        except InvariantError as error:
            return self.tables.unreadable(table, reason=error.code)

    def list_tables(self) -> list[dict[str, Json]]:
        """Return every table with its position and view."""
        answer = []
        for code in self.codes():
            live = self._shown(code)
            answer.append(
                {
                    "table": code,
                    "name": live.setup.name,
                    "game": live.game.code,
                    "epoch": live.state.epoch,
                    "seq": live.state.seq,
                    "view": live.view,
                }
            )
        return answer

    def pit(self, links: LinkWatch, *, viewer_id: int = 0) -> dict[str, Json]:
        """Return what the pit sees: every table with its book and links, and the open alarms.

        `viewer_id`: who looks; `proposal.by_me` says whether it is theirs.
        `picture` is the id of a table's latest picture and of an alarm's own, None without one;
        `read_picture` that of the card which can't be read now;
        `explains` names the alarms that are not shown because this one is.
        """
        tables: dict[str, dict[str, Json]] = {}
        unread: dict[str, tuple[int, int] | None] = {}
        for code in self.codes():
            live = self._shown(code)
            current = live.state.round
            with self.units.read() as uow:
                totals = uow.wagers.totals(current.id) if current else {}
            unread[code] = unread_since(live)
            tables[code] = {
                "table": code,
                "epoch": live.state.epoch,
                "seq": live.state.seq,
                "view": live.view,
                "wagers": sum(count for count, _ in totals.values()),
                "stake_minor": sum(stake for _, stake in totals.values()),
                "exposure_minor": _exposure_minor(live, totals),
                "currency": {
                    "code": live.setup.currency.code,
                    "decimals": live.setup.currency.decimals,
                },
                "links": links.health(code),
                "proposal": proposal_json(live.state.correction, viewer_id=viewer_id),
            }
        with self.units.read() as uow:
            rows = uow.alarms.open()
            taken = uow.pictures.wanted_at({row.raised_ms for row in rows})
            newest = uow.pictures.newest()
            shown = explained(rows, links.one_camera())
            return {
                "tables": [
                    {
                        **item,
                        "picture": newest.get(code),
                        "read_picture": _of_read(
                            uow, newest.get(code), table=code, since=unread[code]
                        ),
                    }
                    for code, item in tables.items()
                ],
                "alarms": [
                    _alarm(row, picture=_picture_of(row, taken), explains=shown[row.id])
                    for row in rows
                    if row.id in shown
                ],
                "now_ms": uow.now_ms(),
            }

    def choices(self, table: str) -> dict[str, Json]:
        """Return what a supervisor may do about each trouble, with what it does to money.

        Raises:
            MalformedError: `unknown_table`.
        """
        with self.units.read() as uow:
            state = self.tables.caught_up(uow, table).state
            book = uow.wagers.standing(state.round.id if state.round else "")
            by_two = self.corrections.policy.void_needs_approval(book.held_minor)
            return choices_json(state, book, by_two=by_two)

    def acknowledge(self, actor: Actor, alarm_id: int, *, reason: str = "") -> dict[str, Json]:
        """Note that a supervisor takes an alarm; that of a device takes a reason.

        Raises:
            MalformedError: `reason_missing`.
            RefusedError: `unknown_alarm`, `alarm_acknowledged`.
        """
        row = again(lambda: self._acknowledge(actor, alarm_id, reason=reason.strip()))
        self.publisher.pit({"kind": "alarm", "table": row.table})
        return _alarm(row)

    def _acknowledge(self, actor: Actor, alarm_id: int, *, reason: str) -> AlarmRow:
        with self.units.write() as uow:
            now_ms = uow.now_ms()
            row = uow.alarms.acknowledge(alarm_id, by=actor.name, at_ms=now_ms)
            if row.code in DEVICE_ALARMS and not reason:
                raise MalformedError(
                    "reason_missing", "Say what you have found; it goes into the audit trail."
                )
            if plain_code(row) in {CORRECTION_DROPPED, DEALER_NOT_QUALIFIED}:
                # It tells of something that is over: whoever has read it is done with it.
                uow.alarms.clear(table=row.table, codes={row.code}, at_ms=now_ms)
            uow.trail.write(
                at_ms=now_ms,
                actor=actor,
                action="acknowledge_alarm",
                subject=f"{row.table} {plain_code(row)}",
                reason=reason,
                before={"acknowledged_by": None},
                after={"acknowledged_by": actor.name},
            )
            uow.commit()
        return row

    def preview_correction(self, round_id: str, *, version: int, cards: Json) -> dict[str, Json]:
        """Return what a correction would do to results and money; writes nothing.

        Args:
            round_id: a settled round.
            version: the version that stands.
            cards: place to face as in the command; None: annul the round.

        Raises:
            MalformedError: `unknown_round`, `cards_not_mapping`, `unknown_card`.
            RefusedError: as the command.
        """
        wanted = wanted_correction(round_id=round_id, version=version, cards=cards)
        with self.units.read() as uow:
            worked = work_out(self.tables, uow, wanted)
            return correction_preview(uow, worked, policy=self.corrections.policy)

    def preview_refund(self, table: str, *, rounds: Json) -> dict[str, Json]:
        """Return what the refund of several settled rounds would do; writes nothing.

        Args:
            table: where they were played.
            rounds: round id to the version that stands, as in the command.

        Raises:
            MalformedError: `unknown_table`, `unknown_round`, `rounds_not_mapping`.
        """
        self.tables.setup(table)
        wanted = wanted_refund(rounds)
        with self.units.read() as uow:
            return refund_preview(self.corrections, uow, wanted, table=table)

    def corrections_due(self, player_id: int) -> list[dict[str, Json]]:
        """Return the corrections that are announced to a player and not booked yet."""
        found: list[dict[str, Json]] = []
        for code in self.codes():
            pending = self._shown(code).state.correction
            if pending is not None and pending.announced is not None:
                with self.units.read() as uow:
                    found += due_of_player(self.tables, uow, pending, player_id=player_id)
        return found

    def round_record(self, round_id: str) -> dict[str, Json]:
        """Return a round as it stands in the log: its view and its events.

        Raises:
            MalformedError: `unknown_round`.
        """
        with self.units.read() as uow:
            row = uow.rounds.get(round_id)
            if row is None or row.table not in self.tables.setups:
                raise MalformedError("unknown_round", f"There is no round {round_id!r}.")
            live = self.tables.replayed(uow, row.table, row.epoch)
            corrections = [
                one
                for one in uow.events.corrections(row.table, epoch=row.epoch)
                if one.body["round_id"] == round_id
            ]
        current: Mapping[str, Json] | None = None
        shown: Mapping[str, Json] | None = None
        events = []
        for envelope in live.envelopes():
            patched = envelope["patch"].get("round", current)
            if patched is None or not patched["corrected"]:
                current = patched
            if current is not None and current["id"] == round_id:
                shown = current
                if envelope["kind"] != RoundCorrected.__name__:
                    events.append({key: envelope[key] for key in envelope if key != "patch"})
        if corrections and shown is not None:
            shown = corrected_view(shown, correction(corrections[-1]))
        events += [{"table": one.table, **event_json(one)} for one in corrections]
        return {
            "table": row.table,
            "game": row.game,
            "settlement_version": row.settlement_version,
            "round": shown,
            "events": events,
        }


def _exposure_minor(live: Live, totals: Mapping[str, tuple[int, int]]) -> int:
    """Return what the bank may lose on these stakes, bet by bet."""
    bets = live.setup.bets(live.game)
    return int(
        sum((bets[bet].bank_exposure * stake for bet, (_, stake) in totals.items()), Fraction(0))
    )


def _of_read(
    uow: UnitOfWork, newest: int | None, *, table: str, since: tuple[int, int] | None
) -> int | None:
    """Return a table's latest picture when it shows the card that can't be read."""
    if newest is None or since is None:
        return None
    place = uow.pictures.place(newest, table=table)
    return newest if place is not None and place >= since else None


def _picture_of(row: AlarmRow, taken: Mapping[tuple[str, int], int]) -> int | None:
    """Return the picture of the report that raised an alarm: both have the time of its commit."""
    return taken.get((row.table, row.raised_ms)) if row.code in CARD_ALARMS else None


def _alarm(
    row: AlarmRow, *, picture: int | None = None, explains: Sequence[str] = ()
) -> dict[str, Json]:
    return {
        "id": row.id,
        "priority": row.priority,
        "code": plain_code(row),
        "table": row.table,
        "round_id": row.round_id,
        "raised_ms": row.raised_ms,
        "acknowledged_by": row.acknowledged_by,
        "acknowledged_ms": row.acknowledged_ms,
        "details": dict(row.details),
        "picture": picture,
        "explains": list(explains),
        "asks_reason": row.code in DEVICE_ALARMS,
    }


def snapshot(live: Live, *, now_ms: int) -> dict[str, Json]:
    """Return the snapshot message of a table."""
    setup, state = live.setup, live.state
    described = live.game.describe(setup.config)
    bets = []
    for bet in setup.bets(live.game).values():
        limits = setup.wager_limits(bet)
        bets.append(
            {
                "code": bet.code,
                "position": bet.position,
                "exposure": str(bet.exposure),
                "bank_exposure": str(bet.bank_exposure),
                "settles_on": bet.settles_on,
                "min_minor": limits.bet_min_minor,
                "max_minor": limits.bet_max_minor,
            }
        )
    return {
        "table": setup.code,
        "name": setup.name,
        "game": live.game.code,
        "epoch": state.epoch,
        "seq": state.seq,
        "now_ms": now_ms,
        "view": live.view,
        "road_kind": described.road.value,
        "places": [{"position": at, "card": index + 1} for at, index in described.places],
        "bets": bets,
        "currency": {"code": setup.currency.code, "decimals": setup.currency.decimals},
        "limits": {
            "player_max_minor": setup.player_max_minor,
            "table_max_minor": setup.table_max_minor,
            "window_ms": setup.window_ms,
            "scan_tries_max": setup.scan_tries_max,
            "cut_depth_min": setup.cut_depth_min,
            "cut_depth_max": setup.cut_depth_max,
        },
        "deck_sets": list(setup.deck_sets),
        "scan_at": setup.config.scan_at.value,
        "stream_url": setup.stream_path,
    }
