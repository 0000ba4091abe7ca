"""Stand-ins for the outside world: clock, chance, publisher. Written once for all tests."""

import time
from collections.abc import Mapping, Sequence
from random import Random  # noqa: TID251 - seeded below

from studio.domain.game import Json


class ManualClock:
    """A clock that moves when a test says so."""

    def __init__(self, now_ms: int = 1_800_000_000_000) -> None:
        """Start at `now_ms`."""
        self.ms = now_ms

    def now_ms(self) -> int:
        """Return the time."""
        return self.ms

    def advance(self, ms: int) -> None:
        """Let time pass."""
        self.ms += ms


class WallClock:
    """The real time, for processes that are really killed."""

    def now_ms(self) -> int:
        """Return milliseconds since 1970 UTC."""
        return time.time_ns() // 1_000_000


class SeededRandomness:
    """Chance that repeats."""

    def __init__(self, seed: int = 1) -> None:
        """Start from `seed`."""
        self._random = Random(seed)

    def nonce(self) -> bytes:
        """Return 32 bytes."""
        return self._random.randbytes(32)

    def token(self) -> str:
        """Return a text."""
        return self._random.randbytes(16).hex()


class Recorder:
    """A publisher that remembers what it was told to publish."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.events: list[Mapping[str, Json]] = []
        self.wallets: list[tuple[int, Mapping[str, Json]]] = []
        self.hints: list[Mapping[str, Json]] = []
        self.rooms: list[tuple[tuple[int, ...], str]] = []

    def event(self, envelope: Mapping[str, Json]) -> None:
        """Note a table event."""
        self.events.append(envelope)

    def wallet(self, player_id: int, message: Mapping[str, Json]) -> None:
        """Note a message about money."""
        self.wallets.append((player_id, message))

    def pit(self, message: Mapping[str, Json]) -> None:
        """Note a hint to the pit."""
        self.hints.append(message)

    def room(self, player_ids: Sequence[int], room_id: str) -> None:
        """Note a hint to the members of a room."""
        self.rooms.append((tuple(player_ids), room_id))
