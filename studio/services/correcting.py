"""Correcting a settled round: its log is read again, and the rules settle it anew.

The round may be of an earlier shoe. The refusals here depend on open cards alone, so that none
of them can tell a card that is still sealed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from studio.domain.commands import Command, CorrectRound
from studio.domain.correcting import (
    Basis,
    Resettled,
    differing,
    need_faces_there,
    resettle,
    standing_faces,
    with_faces,
)
from studio.domain.errors import InvariantError, MalformedError, RefusedError
from studio.domain.event_bodies import from_body
from studio.domain.event_parts import SealedCard
from studio.domain.events import BurnConfirmed, CardDrawn, CorrectedFace, RoundCorrected
from studio.domain.game import AnyGame, GameConfig, Json
from studio.domain.round import Phase
from studio.domain.table import TableState
from studio.services.correction_ports import BookCorrected
from studio.services.live import LiveTables, step
from studio.services.ports import RoundRow, StoredEvent, UnitOfWork

FINAL_VERSION = 1
"""A round that was annulled in its first version was never settled: that is final."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a supervisor wants of a settled round."""

    round_id: str
    version: int
    """The version that stood when the consequences were looked at."""
    faces: tuple[CorrectedFace, ...] | None
    """The places whose face was another; None: annul the round."""


@dataclass(frozen=True, kw_only=True)
class WorkedOut:
    """What a correction says, before any money is looked at."""

    row: RoundRow
    version: int
    faces: tuple[CorrectedFace, ...]
    resettled: Resettled | None

    @property
    def nets(self) -> Mapping[str, Fraction] | None:
        """Per bet what a unit brings; None: every wager gets its whole hold."""
        return None if self.resettled is None else self.resettled.nets


def basis_of(
    game: AnyGame, events: Iterable[StoredEvent], *, table: str, round_id: str
) -> Basis | None:
    """Return what a round was settled on, from its shoe's log; None when it is not in there."""
    state: TableState | None = None
    config: GameConfig | None = None
    carry: Mapping[str, Json] = {}
    steps: list[CardDrawn | BurnConfirmed] = []
    for stored in events:
        if state is None:
            state = TableState(table=table, epoch=stored.epoch - 1, hash=stored.prev_hash)
        if stored.kind == "RoundOpened" and stored.body["round_id"] == round_id:
            config, carry = state.config, state.carry
        elif config is not None and stored.kind in {"RoundSettled", "RoundVoided"}:
            return Basis(config=config, carry=carry, steps=tuple(steps))
        elif config is not None and stored.kind in {"CardDrawn", "BurnConfirmed"}:
            sealed = SealedCard(**stored.sealed) if stored.sealed is not None else None
            event = from_body(stored.kind, stored.body, sealed)
            assert isinstance(event, CardDrawn | BurnConfirmed)
            steps.append(event)
        state = step(game, state, stored)
    return None


def correction(stored: StoredEvent) -> RoundCorrected:
    """Return the event of a stored correction."""
    event = from_body(stored.kind, stored.body, None)
    assert isinstance(event, RoundCorrected)
    return event


def open_faces(
    events: Iterable[StoredEvent], corrections: Sequence[RoundCorrected]
) -> Counter[str]:
    """Return the open cards of a shoe by face, corrected ones as they hold now."""
    faces: dict[int, str] = {}
    serials: dict[tuple[str, str, int], int] = {}
    for stored in events:
        body = stored.body
        if stored.kind == "FirstCardTurned":
            faces[int(body["serial"])] = str(body["card"])
        scope = str(body.get("scope") or body.get("round_id"))
        for card in body.get("cards", ()):
            faces[card["serial"]] = card["card"]
            serials[scope, card["position"], card["index"]] = card["serial"]
    latest = {event.round_id: event.faces for event in corrections}
    for round_id, corrected in latest.items():
        for face in corrected:
            serial = serials.get((round_id, face.position, face.index))
            if serial is not None:
                faces[serial] = face.card
    return Counter(faces.values())


def work_out(tables: LiveTables, uow: UnitOfWork, wanted: Wanted) -> WorkedOut:
    """Refuse what can't be corrected, and settle anew what can.

    Raises:
        MalformedError: `unknown_round`, `unknown_card`.
        RefusedError: `round_not_settled`, `round_final`, `correction_outdated`,
            `correction_changes_nothing`, `place_not_dealt`, `face_too_often`, `rules_changed`,
            `cards_do_not_fit`.
    """
    row = uow.rounds.get(wanted.round_id)
    if row is None or row.table not in tables.setups:
        raise MalformedError("unknown_round", f"There is no round {wanted.round_id!r}.")
    _need_correctable(row, wanted)
    if wanted.faces is None:
        return WorkedOut(row=row, version=row.settlement_version + 1, faces=(), resettled=None)
    game = tables.game(row.game)
    log = uow.events.read(row.table, epoch=row.epoch, after_seq=0)
    corrections = [correction(one) for one in uow.events.corrections(row.table, epoch=row.epoch)]
    basis = basis_of(game, log, table=row.table, round_id=row.id)
    if basis is None:
        raise InvariantError("round_without_log", f"Round {row.id} is not in its shoe's log.")
    before = standing_faces(basis, corrections, row.id)
    standing = tuple(
        CorrectedFace(position=position, index=index, card=card)
        for (position, index), card in before.items()
    )
    after = with_faces(basis, (*standing, *wanted.faces))
    if before == after and row.phase == Phase.SETTLED:
        raise _changes_nothing()
    described = game.describe(basis.config)
    if described.rule_version != row.rule_version:
        raise RefusedError(
            "rules_changed",
            f"The round was played under rules {row.rule_version}; void it instead.",
        )
    out = open_faces(log, corrections)
    need_faces_there(described, out, before=before, after=after)
    return WorkedOut(
        row=row,
        version=row.settlement_version + 1,
        faces=differing(basis, after),
        resettled=resettle(game, basis, after),
    )


def _need_correctable(row: RoundRow, wanted: Wanted) -> None:
    if row.phase not in {Phase.SETTLED, Phase.VOID}:
        raise RefusedError("round_not_settled", "The round is not settled yet; void it instead.")
    if row.phase == Phase.VOID and row.settlement_version == FINAL_VERSION:
        raise RefusedError(
            "round_final", "The round was void before it was settled; that is final."
        )
    if wanted.version != row.settlement_version:
        raise RefusedError(
            "correction_outdated",
            f"Version {row.settlement_version} stands meanwhile; look at the consequences again.",
            version=row.settlement_version,
        )
    if row.phase == Phase.VOID and wanted.faces is None:
        raise _changes_nothing()


def _changes_nothing() -> RefusedError:
    return RefusedError("correction_changes_nothing", "The round stands like that already.")


def command_of(worked: WorkedOut, booked: BookCorrected, *, now_ms: int) -> Command:
    """Return the command of a correction whose money is booked."""
    return CorrectRound(
        now_ms=now_ms,
        round_id=worked.row.id,
        epoch=worked.row.epoch,
        number=worked.row.number,
        version=worked.version,
        faces=worked.faces,
        resettled=worked.resettled,
        count=booked.count,
        turnover_minor=booked.turnover_minor,
        payouts_minor=booked.payouts_minor,
        players=booked.players,
        paid_minor=booked.paid_minor,
        taken_minor=booked.taken_minor,
        owed_minor=booked.owed_minor,
    )


def preview_json(worked: WorkedOut, booked: BookCorrected) -> dict[str, Json]:
    """Return the consequences of a correction as the pit sees them before the click."""
    anew = worked.resettled
    return {
        "round_id": worked.row.id,
        "version": worked.row.settlement_version,
        "void": anew is None,
        "results": None
        if anew is None
        else [
            {"bet": bet, "net": str(net), "reason": anew.reasons.get(bet, "")}
            for bet, net in anew.nets.items()
        ],
        "hands": []
        if anew is None
        else [
            {"position": hand.position, "points": hand.points, "name": hand.name}
            for hand in anew.hands
        ],
        "marks": []
        if anew is None
        else [
            {"position": mark.position, "result": mark.result, "rings": list(mark.rings)}
            for mark in anew.marks
        ],
        "bets": [
            {
                "bet": bet.bet,
                "wagers": bet.count,
                "stake_minor": bet.stake_minor,
                "before_minor": bet.before_minor,
                "after_minor": bet.after_minor,
            }
            for bet in booked.bets
        ],
        "wagers": booked.count,
        "players": booked.players,
        "payouts_minor": booked.payouts_minor,
        "paid_minor": booked.paid_minor,
        "taken_minor": booked.taken_minor,
        "owed_minor": booked.owed_minor,
    }
