"""Settling anew what was dealt: other faces, the same course, or a refusal."""

import pytest

from studio.domain.correcting import Basis, resettle, with_faces
from studio.domain.errors import InvariantError, RefusedError
from studio.domain.event_parts import SealedCard
from studio.domain.events import CardDrawn, CorrectedFace
from studio.domain.game import GameConfig
from studio.games import game

BACCARAT = game("baccarat")
PLACES = ("P", "B", "P", "B")


def basis(*faces: str, thirds: tuple[str, ...] = ()) -> Basis:
    """Return a round of baccarat: four cards by turns, then third cards at these places."""
    seen: dict[str, int] = {}
    steps = []
    for serial, (position, face) in enumerate(zip((*PLACES, *thirds), faces, strict=True)):
        index = seen.get(position, 0)
        seen[position] = index + 1
        sealed = SealedCard(card=face, serial=serial, nonce="0" * 64)
        steps.append(
            CardDrawn(
                scope="T1-1-1", position=position, index=index, commitment="0" * 64, sealed=sealed
            )
        )
    return Basis(config=GameConfig(burn_per_round=0), carry={}, steps=tuple(steps))


def results(dealt: Basis, **changed: str):
    """Settle anew with other faces: `P0="4H"` is the player's first card."""
    corrected = [
        CorrectedFace(position=place[0], index=int(place[1]), card=face)
        for place, face in changed.items()
    ]
    return resettle(BACCARAT, dealt, with_faces(dealt, corrected))


BANKER_DREW = basis("2D", "TC", "4D", "5H", "4C", thirds=("B",))
"""The player stands on 6, the banker draws on 5 and wins with 9."""
NOBODY_DREW = basis("2D", "TC", "4D", "7H")
BOTH_DREW = basis("2D", "TC", "3D", "2H", "9S", "4C", thirds=("P", "B"))
"""The player draws on 5, the banker draws on 2 against a 9."""


def test_other_faces_that_ask_for_the_same_cards_are_settled():
    assert results(BANKER_DREW).nets["player"] == -1
    anew = results(BANKER_DREW, B2="AC")
    assert anew.nets["tie"] > 0, "6 against 6"
    assert {hand.position: hand.points for hand in anew.hands} == {"P": "6", "B": "6"}


@pytest.mark.parametrize(
    ("dealt", "changed"),
    [
        (BANKER_DREW, {"P0": "4H"}),  # a natural 8: the banker would not have drawn
        (BANKER_DREW, {"P0": "AH"}),  # the player would have drawn on 5
        (BANKER_DREW, {"B1": "6H"}),  # the banker would have stood on 6
        (NOBODY_DREW, {"P0": "AD"}),  # the player would have drawn on 5
        (NOBODY_DREW, {"B1": "5D"}),  # the banker would have drawn on 5
        (BOTH_DREW, {"P2": "8S", "B1": "3H"}),  # the banker stands on 3 against an 8
        (BOTH_DREW, {"P1": "4D"}),  # the player would have stood on 6
    ],
)
def test_faces_that_ask_for_another_third_card_do_not_fit(dealt, changed):
    results(dealt)
    with pytest.raises(RefusedError) as refusal:
        results(dealt, **changed)
    assert refusal.value.code == "cards_do_not_fit"


def test_a_card_without_its_sealed_part_is_an_invariant_broken():
    step = CardDrawn(scope="T1-1-1", position="P", index=0, commitment="0" * 64)
    with pytest.raises(InvariantError) as broken:
        _ = Basis(config=GameConfig(), carry={}, steps=(step,)).faces
    assert broken.value.code == "sealed_card_missing"
