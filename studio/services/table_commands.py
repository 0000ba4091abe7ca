"""People's commands as they come in: JSON and an actor become a builder for the engine.

Dealers command the table they have taken; interventions are the pit supervisor's and leave a
line in the audit trail with what was before and after.
"""

import hashlib
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from studio.domain.cards import parse_piece
from studio.domain.commands import (
    CallPit,
    CloseShoe,
    Command,
    ConfirmBurn,
    ConfirmShuffle,
    DropCorrection,
    EndVerification,
    FailRead,
    FreeSeat,
    LeaveSeat,
    LoadShoe,
    Lock,
    OpenRound,
    ReleaseHeld,
    Resume,
    RevealNext,
    StartVerification,
    Stop,
    TakeSeat,
    TurnCutCard,
    Unlock,
)
from studio.domain.errors import MalformedError, RefusedError
from studio.domain.events import CorrectedFace, CorrectionKind
from studio.domain.game import Json
from studio.domain.log import canonical
from studio.services.alarms import need_seen_alarms
from studio.services.choices import named, need_offered
from studio.services.correcting import Wanted
from studio.services.correction_trail import write_step
from studio.services.disabling import OPENING_COMMANDS, need_enabled
from studio.services.jobs import Build, Job
from studio.services.keying import confirm_key, drop_key, key_card, key_facts
from studio.services.live import Live
from studio.services.ports import Actor, DeckSet, Role
from studio.services.proposing import Intent
from studio.services.qualification import need_qualified

if TYPE_CHECKING:
    from studio.services.tables import TableService

REASON_LENGTH_MAX = 500
CARDS_MAX = 52
"""More places than any round deals."""
ROUNDS_MAX = 1_000
"""So many rounds are refunded at once."""
VERSIONS_MAX = 10_000
PICTURE_MAX = 2**31
"""No studio keeps so many pictures."""
CORRECTION_STEPS = frozenset(
    {"correct_round", "void_settled", "refund_rounds", "approve_correction", "drop_correction"}
)


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A command that is understood and allowed; only the table's state can still refuse it."""

    id: str
    build: Build
    trail: Callable[[Job, Live], None]


@dataclass(frozen=True, kw_only=True)
class _Call:
    """One command as its maker sees it."""

    service: "TableService"
    actor: Actor
    table: str
    body: Mapping[str, Json]

    def text(self, key: str) -> str:
        value = self.body.get(key)
        if not isinstance(value, str) or not value.strip():
            raise MalformedError(f"{key}_missing", f"Give {key} as a text.", key=key)
        if len(value) > REASON_LENGTH_MAX:
            raise MalformedError(
                f"{key}_too_long", f"{key} may have {REASON_LENGTH_MAX} letters.", key=key
            )
        return value.strip()

    @property
    def id(self) -> str:
        """The command's id."""
        try:
            return str(uuid.UUID(self.body["id"]))
        except (KeyError, ValueError, AttributeError, TypeError):
            raise MalformedError(
                "command_id", "A command needs an id: a UUID of its own."
            ) from None

    @property
    def choice(self) -> str | None:
        return named(self.body).get("choice")

    def intent(self) -> Intent:
        return Intent(id=self.id, reason=self.text("reason"), actor=self.actor)

    def wanted(self, *, void: bool) -> Wanted:
        return wanted_correction(
            round_id=self.text("round_id"),
            version=self.number("version"),
            cards=None if void else self.body.get("cards"),
        )

    def number(self, key: str, *, most: int = 10_000) -> int:
        value = self.body.get(key)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            raise MalformedError(
                f"{key}_not_number", f"Give {key} as a whole number from 0 to {most}.", key=key
            )
        return value


def wanted_correction(*, round_id: str, version: int, cards: Json) -> Wanted:
    """Return the correction that a request asks for.

    Args:
        round_id: which round.
        version: the version that stands.
        cards: place, as `position/index`, to face; None: annul the round.

    Raises:
        MalformedError: `cards_not_mapping`, `unknown_card`.
    """
    if cards is None:
        return Wanted(round_id=round_id, version=version, faces=None)
    faces = []
    if not isinstance(cards, Mapping) or len(cards) > CARDS_MAX:
        raise _not_mapping()
    for place, card in cards.items():
        position, slash, index = str(place).rpartition("/")
        if not slash or not index.isdecimal() or len(index) > 2 or not isinstance(card, str):
            raise _not_mapping()
        code = parse_piece(card).code
        faces.append(CorrectedFace(position=position, index=int(index), card=code))
    return Wanted(round_id=round_id, version=version, faces=tuple(faces))


def wanted_refund(rounds: Json) -> list[Wanted]:
    """Return the voids that a request asks for: of rounds by the version that stands.

    Raises:
        MalformedError: `rounds_not_mapping`.
    """
    fits = (
        isinstance(rounds, Mapping)
        and 1 <= len(rounds) <= ROUNDS_MAX
        and all(type(version) is int and 0 < version <= VERSIONS_MAX for version in rounds.values())
    )
    if not fits:
        raise MalformedError(
            "rounds_not_mapping",
            f'Give 1 to {ROUNDS_MAX} rounds with the version that stands: {{"T1-1-1": 1}}.',
        )
    return [
        Wanted(round_id=str(round_id), version=version, faces=None)
        for round_id, version in rounds.items()
    ]


def _not_mapping() -> MalformedError:
    return MalformedError("cards_not_mapping", 'Give cards as places and faces: {"P1/0": "4H"}.')


def command_digest(actor: Actor, table: str, body: Mapping[str, Json]) -> str:
    """Return what makes a command the same as an earlier one: who, where and all its content."""
    return hashlib.sha256(canonical([actor.id, table, dict(body)]).encode()).hexdigest()


def builder(
    service: "TableService", actor: Actor, table: str, body: Mapping[str, Json]
) -> Prepared:
    """Check id, name, role and arguments of a command.

    Raises:
        MalformedError: `unknown_table`, `command_id`, `unknown_command` or a bad argument.
        RefusedError: `role_forbids`; the builder's own are `not_your_table`,
            `dealer_not_qualified`, `play_disabled`, `device_alarm_unseen`, and what its maker
            refuses.
    """
    service.tables.setup(table)
    name = body.get("command")
    if not isinstance(name, str) or name not in COMMANDS:
        known = ", ".join(sorted(COMMANDS))
        raise MalformedError("unknown_command", f"The command must be one of: {known}.")
    spec, told = COMMANDS[name], named(body)
    if actor.role not in spec.roles:
        raise RefusedError("role_forbids", f"Your role may not {name.replace('_', ' ')}.")
    call = _Call(service=service, actor=actor, table=table, body=body)
    make = spec.make(call)

    def build(job: Job) -> Command:
        if actor.role is Role.DEALER and name != "take_seat":
            dealer = job.state.dealer
            if dealer is None or dealer.id != actor.id:
                raise RefusedError("not_your_table", "Take the table first.")
        _need_may_open(job, spec, actor=actor, name=name)
        need_offered(job.state, told, command=name)
        return make(job)

    def trail(job: Job, after: Live) -> None:
        _write_trail(job, after, actor=actor, name=name, body=body)

    return Prepared(id=call.id, build=build, trail=trail)


def _need_may_open(job: Job, spec: "_Spec", *, actor: Actor, name: str) -> None:
    """Refuse what would open something now; what runs already is played to its end."""
    game = job.live.game.code
    if spec.opens:
        need_qualified(job.uow.qualifications, dealer_id=actor.id, game=game)
    if name == "start_round":
        need_seen_alarms(job.uow, table=job.state.table)
    if name in OPENING_COMMANDS:
        need_enabled(job.uow, game=game)


def _write_trail(
    job: Job, after: Live, *, actor: Actor, name: str, body: Mapping[str, Json]
) -> None:
    """Write an intervention's line; what a dealer does stands in the log alone."""
    if actor.role is Role.DEALER:
        return
    reason = str(body.get("reason", ""))
    if name in CORRECTION_STEPS or after.state.correction != job.state.correction:
        # A void of the running round that only waits for a second person has not happened.
        step = name if name in CORRECTION_STEPS else f"{name}_proposed"
        write_step(job, after, actor=actor, name=step, reason=reason)
        return
    job.uow.trail.write(
        at_ms=job.now_ms,
        actor=actor,
        action=name,
        subject=job.state.round.id if job.state.round else job.state.table,
        reason=reason,
        before=_facts(job.live),
        after={**_facts(after), **key_facts(job.live, after), **named(body)},
    )


def _facts(live: Live) -> dict[str, Json]:
    """Return what the audit trail keeps of a table: states and counts, never a card."""
    view = live.view
    current = view["round"]
    return {
        "stage": view["stage"],
        "phase": view["phase"],
        "round": current["id"] if current else None,
        "payouts_minor": current["payouts_minor"] if current else None,
        "fault": view["fault"]["code"] if view["fault"] else None,
        "stopped": view["stopped"],
        "seq": live.state.seq,
    }


# The makers -------------------------------------------------------------------------------------


def _take_seat(call: _Call) -> Build:
    return lambda _: TakeSeat(dealer_id=call.actor.id, name=call.actor.name)


def _leave_seat(call: _Call) -> Build:
    return lambda _: LeaveSeat(dealer_id=call.actor.id)


def _deck_set(job: Job, number: int) -> DeckSet:
    deck_set = job.uow.deck_sets.get(number)
    if deck_set is None:
        raise RefusedError(
            "deck_set_unknown",
            f"Deck set {number} is not registered; register it with `cards register`.",
            deck_set=number,
        )
    return deck_set


def _need_free(job: Job, number: int, *, tables: Iterable[str]) -> None:
    """Refuse a deck set in another table's shoe: its cards can't be on both.

    Only the studio's tables count: nobody could count out the shoe of one that is gone.
    """
    others = [code for code in tables if code != job.state.table]
    table = job.uow.deck_sets.lies_at(number, tables=others)
    if table is not None:
        raise RefusedError(
            "deck_set_in_use",
            f"Deck set {number} lies on table {table}: count it out there, or load another.",
            deck_set=number,
            table=table,
        )


def _load_shoe(call: _Call) -> Build:
    number = call.number("deck_set")

    def build(job: Job) -> Command:
        setup = job.live.setup
        if number not in setup.deck_sets:
            raise RefusedError(
                "deck_set_not_here",
                f"Deck set {number} does not belong to this table.",
                deck_set=number,
            )
        deck_set = _deck_set(job, number)
        _need_free(job, number, tables=call.service.tables.setups)
        return LoadShoe(
            deck_set=number,
            decks=setup.config.decks,
            manifest=deck_set.manifest,
            scan_at=setup.config.scan_at,
            burn_per_round=setup.config.burn_per_round,
            options=setup.config.options,
        )

    return build


def _end_verification(_: _Call) -> Build:
    def build(job: Job) -> Command:
        if job.state.shoe is None:
            return EndVerification(manifest={})  # refused by its stage
        return EndVerification(manifest=_deck_set(job, job.state.shoe.deck_set).manifest)

    return build


def _confirm_shuffle(call: _Call) -> Build:
    depth = call.number("cut_depth")
    return lambda job: ConfirmShuffle(
        cut_depth=depth,
        cut_depth_min=job.live.setup.cut_depth_min,
        cut_depth_max=job.live.setup.cut_depth_max,
    )


def _start_round(_: _Call) -> Build:
    return lambda job: OpenRound(now_ms=job.now_ms, window_ms=job.live.setup.window_ms)


def _unreadable(_: _Call) -> Build:
    return lambda job: FailRead(reason="unreadable", tries_max=job.live.setup.scan_tries_max)


def _key_card(call: _Call) -> Build:
    return key_card(call.service.reading, digits=call.text("digits"), by=call.actor.name)


def _confirm_key(call: _Call) -> Build:
    return confirm_key(
        call.service.reading,
        digits=call.text("digits"),
        picture=call.number("picture", most=PICTURE_MAX),
        reason=call.text("reason"),
        by=call.actor.name,
    )


def _drop_key(call: _Call) -> Build:
    return drop_key(reason=call.text("reason"), by=call.actor.name)


def _close_shoe(call: _Call) -> Build:
    left = call.number("cards_left")
    early = call.actor.role is Role.PIT_SUPERVISOR
    return lambda _: CloseShoe(cards_left=left, by=call.actor.name, early=early)


def _void_round(call: _Call) -> Build:
    round_id = call.body.get("round_id")
    if round_id is not None and not isinstance(round_id, str):
        raise MalformedError("round_id_not_text", "round_id must be a text.")
    return call.service.corrections.void_running(call.intent(), round_id=round_id)


def _correct_round(call: _Call) -> Build:
    wanted = call.wanted(void=False)
    if wanted.faces is None:
        raise _not_mapping()
    return call.service.corrections.propose(CorrectionKind.CORRECT, [wanted], call.intent())


def _void_settled(call: _Call) -> Build:
    wanted = call.wanted(void=True)
    return call.service.corrections.propose(CorrectionKind.VOID, [wanted], call.intent())


def _refund_rounds(call: _Call) -> Build:
    wanted = wanted_refund(call.body.get("rounds"))
    return call.service.corrections.propose(CorrectionKind.REFUND, wanted, call.intent())


def _approve_correction(call: _Call) -> Build:
    if call.body.get("reason"):
        call.text("reason")
    return call.service.corrections.approve(call.text("proposal"), actor=call.actor)


def _drop_correction(call: _Call) -> Build:
    proposal, reason = call.text("proposal"), call.text("reason")
    return lambda _: DropCorrection(proposal=proposal, by=call.actor.name, reason=reason)


def _release_held(call: _Call) -> Build:
    reason = call.text("reason")
    return lambda _: ReleaseHeld(by=call.actor.name, reason=reason, choice=call.choice)


def _resume(call: _Call) -> Build:
    reason = call.text("reason")
    return lambda _: Resume(by=call.actor.name, reason=reason, choice=call.choice)


def _free_seat(call: _Call) -> Build:
    reason = call.text("reason")
    return lambda _: FreeSeat(reason=reason)


def _lock(call: _Call) -> Build:
    reason = call.text("reason")
    return lambda _: Lock(by=call.actor.name, reason=reason)


def _unlock(call: _Call) -> Build:
    reason = call.text("reason")
    return lambda _: Unlock(by=call.actor.name, reason=reason)


@dataclass(frozen=True)
class _Spec:
    roles: frozenset[Role]
    make: Callable[[_Call], Build]
    opens: bool = False
    """True: only for a dealer who is qualified for the table's game."""


_DEALER = frozenset({Role.DEALER})
_PIT = frozenset({Role.PIT_SUPERVISOR})

COMMANDS: Mapping[str, _Spec] = {
    "take_seat": _Spec(_DEALER, _take_seat, opens=True),
    "leave_seat": _Spec(_DEALER, _leave_seat),
    "load_shoe": _Spec(_DEALER, _load_shoe, opens=True),
    "start_verification": _Spec(_DEALER, lambda _: lambda _: StartVerification()),
    "end_verification": _Spec(_DEALER, _end_verification),
    "confirm_shuffle": _Spec(_DEALER, _confirm_shuffle),
    "start_round": _Spec(_DEALER, _start_round, opens=True),
    "reveal": _Spec(_DEALER, lambda _: lambda _: RevealNext()),
    "cut_card": _Spec(_DEALER, lambda _: lambda _: TurnCutCard()),
    "burn_done": _Spec(_DEALER, lambda _: lambda _: ConfirmBurn()),
    "unreadable": _Spec(_DEALER, _unreadable),
    "key_card": _Spec(_DEALER, _key_card),
    "call_pit": _Spec(_DEALER, lambda call: lambda _: CallPit(by=call.actor.name)),
    "stop": _Spec(_DEALER | _PIT, lambda call: lambda _: Stop(by=call.actor.name)),
    "close_shoe": _Spec(_DEALER | _PIT, _close_shoe),
    "void_round": _Spec(_PIT, _void_round),
    "correct_round": _Spec(_PIT, _correct_round),
    "void_settled": _Spec(_PIT, _void_settled),
    "refund_rounds": _Spec(_PIT, _refund_rounds),
    "approve_correction": _Spec(_PIT, _approve_correction),
    "drop_correction": _Spec(_PIT, _drop_correction),
    "confirm_key": _Spec(_PIT, _confirm_key),
    "drop_key": _Spec(_PIT, _drop_key),
    "release_held": _Spec(_PIT, _release_held),
    "resume": _Spec(_PIT, _resume),
    "free_seat": _Spec(_PIT, _free_seat),
    "lock": _Spec(_PIT, _lock),
    "unlock": _Spec(_PIT, _unlock),
}
"""Every command a person can give, who may give it, and what makes it."""
