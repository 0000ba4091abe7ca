"""The physical world of the demo: a shoe of printed cards in the dealer's hands."""

import random
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from studio.domain.cards import CARDS_PER_DECK, CodeVersion, PrintedCode

TROUBLE_ONE_IN = 40
"""One card in so many is put down badly and needs a second scan."""


def manifest(decks: int) -> Mapping[int, int]:
    """Return serial -> card number of a deck set as it comes from the printer."""
    return {
        serial: (serial - 1) % CARDS_PER_DECK + 1 for serial in range(1, decks * CARDS_PER_DECK + 1)
    }


@dataclass(frozen=True, kw_only=True)
class Draw:
    """What came out of the shoe."""

    digits: str
    trouble: bool
    """True: at the first try the camera will not read it."""


def generator(seed: int | None, *parts: object) -> random.Random:
    """Return the chance of one part of the demo: seeded, or the system's own."""
    if seed is None:
        return secrets.SystemRandom()
    return random.Random(f"{seed}/" + "/".join(str(part) for part in parts))  # noqa: S311


@dataclass
class VirtualShoe:
    """A shuffled deck set with its cut card; the dealer draws from the front."""

    deck_set: int
    decks: int
    cut_depth: int
    rng: random.Random
    cards: list[PrintedCode] = field(init=False)

    def __post_init__(self) -> None:
        """Shuffle."""
        self.cards = [
            PrintedCode(
                version=CodeVersion.CARD, number=number, deck_set=self.deck_set, serial=serial
            )
            for serial, number in manifest(self.decks).items()
        ]
        self.rng.shuffle(self.cards)
        self.cards.reverse()

    @property
    def left(self) -> int:
        """Cards still in the shoe."""
        return len(self.cards)

    @property
    def cut_card_next(self) -> bool:
        """Whether the cut card lies in front of the next card."""
        return self.left == self.cut_depth

    def draw(self) -> Draw:
        """Take the front card."""
        return Draw(digits=self.cards.pop().digits, trouble=self.rng.randrange(TROUBLE_ONE_IN) == 0)
