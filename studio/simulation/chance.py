"""The one generator that everything of a simulated studio follows from."""

import random  # noqa: TID251  seeded: this is the injected chance
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Chance:
    """Seeded chance; also the services' `Randomness`, so that a seed repeats every nonce."""

    def __init__(self, seed: int) -> None:
        """Start from `seed`."""
        self._random = random.Random(seed)  # noqa: S311

    def one_in(self, times: int) -> bool:
        """Return True once in so many times."""
        return self._random.randrange(times) == 0

    def number(self, least: int, most: int) -> int:
        """Return a whole number from `least` to `most`, both included."""
        return self._random.randint(least, most)

    def choice(self, of: Sequence[T]) -> T:
        """Return one of a few."""
        return self._random.choice(of)

    def weighted(self, of: Sequence[T], weights: Sequence[int]) -> T:
        """Return one of a few, some more often than others."""
        return self._random.choices(of, weights)[0]

    def shuffled(self, of: Sequence[T]) -> list[T]:
        """Return all of them in another order."""
        return self._random.sample(of, len(of))

    def uuid(self) -> str:
        """Return an id as clients make them."""
        digits = f"{self._random.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

    def nonce(self) -> bytes:
        """See `Randomness`."""
        return self._random.randbytes(32)

    def token(self) -> str:
        """See `Randomness`."""
        return self._random.randbytes(16).hex()
