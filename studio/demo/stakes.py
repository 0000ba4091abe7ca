"""What a simulated player stakes: chips where the purse holds out, parts of it where it is small.

Either way a stake depends on the player's own chance and the results of the player's own table
alone, never on what happens at another table at the same time.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import Final, Protocol

from studio.domain.game import Json
from studio.domain.money import hold_minor

CHIPS_MINOR: Final = (100, 200, 500, 1_000, 5_000)
PART_OF_BUDGET: Final = 5
"""At most one part in so many of what is left goes on one bet."""
STEP_MINOR: Final = 100
"""A whole unit of play money."""


@dataclass(frozen=True, kw_only=True)
class Spot:
    """A bet that the table offers."""

    code: str
    exposure: Fraction
    least_minor: int
    most_minor: int


def spots(snapshot: Json) -> tuple[Spot, ...]:
    """Return the bets of a table's snapshot."""
    return tuple(
        Spot(
            code=bet["code"],
            exposure=Fraction(bet["exposure"]),
            least_minor=bet["min_minor"],
            most_minor=bet["max_minor"],
        )
        for bet in snapshot["bets"]
    )


class Stakes(Protocol):
    """Chooses stakes and is told what becomes of them."""

    def choose(self, spot: Spot, rng: random.Random) -> int | None:
        """Return a stake in minor units, None for no wager."""

    def placed(self, round_id: str, spot: Spot, stake_minor: int) -> None:
        """Note a wager that stands."""

    def settled(self, round_id: str, nets: Mapping[str, Fraction]) -> None:
        """Take a round's results: net by bet for one unit staked, none for a void."""


@dataclass
class Chips:
    """Chips of the trade, from a purse that is large enough for any row of losses."""

    def choose(self, spot: Spot, rng: random.Random) -> int | None:
        """Take one of the chips that the bet's limits let pass."""
        return rng.choice([c for c in CHIPS_MINOR if spot.least_minor <= c <= spot.most_minor])

    def placed(self, round_id: str, spot: Spot, stake_minor: int) -> None:
        """Leave it: the purse needs no watching."""

    def settled(self, round_id: str, nets: Mapping[str, Fraction]) -> None:
        """Leave it: the purse needs no watching."""


@dataclass
class Budget:
    """A table's share of a small purse: what is lost there is not missed elsewhere."""

    left_minor: int
    _standing: dict[str, list[tuple[str, int, int]]] = field(default_factory=dict)
    """Bet, stake and hold of the wagers by round."""

    def choose(self, spot: Spot, rng: random.Random) -> int | None:
        """Take whole units up to a part of what is left, none when that is below the least."""
        part_minor = int(Fraction(self.left_minor, PART_OF_BUDGET) / spot.exposure)
        most_minor = min(part_minor, spot.most_minor)
        if most_minor < spot.least_minor:
            return None
        return STEP_MINOR * rng.randint(spot.least_minor // STEP_MINOR, most_minor // STEP_MINOR)

    def placed(self, round_id: str, spot: Spot, stake_minor: int) -> None:
        """Take the hold out of the budget."""
        held_minor = hold_minor(stake_minor=stake_minor, exposure=spot.exposure)
        self.left_minor -= held_minor
        self._standing.setdefault(round_id, []).append((spot.code, stake_minor, held_minor))

    def settled(self, round_id: str, nets: Mapping[str, Fraction]) -> None:
        """Put back what the round left of the holds, with the winnings."""
        for bet, stake_minor, held_minor in self._standing.pop(round_id, ()):
            self.left_minor += held_minor + floor(stake_minor * nets.get(bet, Fraction(0)))
