"""Settling a round anew with other faces: by the rule code that settled it, over its own log.

The faces change, the course does not: every card stays at the place where it was dealt. When the
rules would have asked for another card with these faces, they do not fit, and the round can only
be annulled.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from studio.domain.cards import parse_piece
from studio.domain.errors import InvariantError, RefusedError
from studio.domain.event_parts import HandResult, Mark
from studio.domain.events import BurnConfirmed, CardDrawn, CorrectedFace, RoundCorrected
from studio.domain.game import (
    AnyGame,
    Burn,
    Burnt,
    Deal,
    Description,
    GameConfig,
    Json,
    Place,
    Reveal,
    Revealed,
    Scanned,
    Settle,
    SpotResult,
)
from studio.domain.round import BURN, marks_and_hands
from studio.domain.settlement import house_nets

Faces: TypeAlias = Mapping[Place, str]


@dataclass(frozen=True, kw_only=True)
class Basis:
    """What a round was settled on."""

    config: GameConfig
    carry: Mapping[str, Json]
    """As it was when the round opened."""
    steps: tuple[CardDrawn | BurnConfirmed, ...]
    """Every card of the round in the order of the deal, with its sealed part."""

    @property
    def faces(self) -> dict[Place, str]:
        """The faces as they were read."""
        found: dict[Place, str] = {}
        for step in self.steps:
            if isinstance(step, CardDrawn):
                if step.sealed is None:
                    raise InvariantError(
                        "sealed_card_missing", "A drawn card has lost its sealed part."
                    )
                found[step.position, step.index] = step.sealed.card
        return found


@dataclass(frozen=True, kw_only=True)
class Resettled:
    """What the rules say of a round with the faces that hold now."""

    nets: Mapping[str, Fraction]
    reasons: Mapping[str, str]
    marks: tuple[Mark, ...]
    hands: tuple[HandResult, ...]


def resettle(game: AnyGame, basis: Basis, faces: Faces) -> Resettled:
    """Deal the round's places again with these faces and let the rules settle it.

    Args:
        game: whose rules.
        basis: the round as it was played.
        faces: a face for every place of `basis`.

    Raises:
        RefusedError: `cards_do_not_fit` when the rules ask for another course with these faces.
    """
    state = game.start(basis.config, seats=(), roles={}, bets={}, carry=basis.carry)
    for step in basis.steps:
        state = _all_open(game, state)
        request = game.next(state)
        if isinstance(step, BurnConfirmed):
            if not isinstance(request, Burn):
                raise _do_not_fit()
            state = game.apply(state, Burnt(count=step.count))
            continue
        place = (step.position, step.index)
        due = isinstance(request, Deal) and (request.position, request.index) == place
        if not due and not (isinstance(request, Burn) and step.position == BURN):
            raise _do_not_fit()
        state = game.apply(state, Scanned(piece=parse_piece(faces[place])))
    state = _all_open(game, state)
    if not isinstance(game.next(state), Settle):
        raise _do_not_fit()
    movements = game.settle(state)
    marks, hands = marks_and_hands(game.evaluate(state))
    return Resettled(
        nets=house_nets(game.describe(basis.config), movements),
        reasons={spot.bet: spot.reason for spot in movements if isinstance(spot, SpotResult)},
        marks=marks,
        hands=hands,
    )


def _all_open(game: AnyGame, state: Json) -> Json:
    """Answer every reveal that is asked for: the cards of a settled round lie open."""
    while isinstance(request := game.next(state), Reveal):
        state = game.apply(state, Revealed(positions=request.positions, only=request.only))
    return state


def _do_not_fit() -> RefusedError:
    return RefusedError(
        "cards_do_not_fit",
        "With these cards the rules would have asked for another card; void the round instead.",
    )


def with_faces(basis: Basis, corrected: Iterable[CorrectedFace]) -> dict[Place, str]:
    """Return the round's faces with these in the place of those that were read.

    Raises:
        RefusedError: `place_not_dealt` for a place where no card of the round lay.
    """
    faces = basis.faces
    for face in corrected:
        if (face.position, face.index) not in faces:
            raise RefusedError(
                "place_not_dealt",
                f"No card of this round lay at {face.position}, card {face.index + 1}.",
                position=face.position,
                card=face.index + 1,
            )
        faces[face.position, face.index] = face.card
    return faces


def differing(basis: Basis, faces: Faces) -> tuple[CorrectedFace, ...]:
    """Return the faces that are not those that were read, in the order of the deal."""
    return tuple(
        CorrectedFace(position=position, index=index, card=faces[position, index])
        for (position, index), read in basis.faces.items()
        if faces[position, index] != read
    )


def need_faces_there(
    described: Description, out: Counter[str], *, before: Faces, after: Faces
) -> None:
    """Refuse a face that would be there more often than the deck set holds it.

    Args:
        described: what the shoe is made of.
        out: the open cards of the shoe by face, this round's `before` among them. Cards that are
            still sealed must not be in it: a refusal would tell them.
        before: the round's faces that hold now.
        after: those that would hold.

    Raises:
        RefusedError: `face_too_often`.
    """
    holds = Counter(piece.code for piece in described.pieces)
    left = out - Counter(before.values()) + Counter(after.values())
    for face in sorted(_more(before, after)):
        if left[face] > holds[face] * described.decks:
            raise RefusedError(
                "face_too_often",
                f"{face} would be there {left[face]} times; the deck set holds it "
                f"{holds[face] * described.decks} times.",
                face=face,
                most=holds[face] * described.decks,
            )


def _more(before: Faces, after: Faces) -> set[str]:
    """Return the faces that are there more often than before."""
    return set(Counter(after.values()) - Counter(before.values()))


def standing_faces(
    basis: Basis, corrections: Iterable[RoundCorrected], round_id: str
) -> dict[Place, str]:
    """Return the faces that hold after the latest of these corrections of the round."""
    latest: tuple[CorrectedFace, ...] = ()
    for event in corrections:
        if event.round_id == round_id:
            latest = event.faces
    return with_faces(basis, latest)
