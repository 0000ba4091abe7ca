"""What was answered to a command, kept so that a retry gets the same answer."""

from collections.abc import Mapping
from typing import Protocol

from studio.domain.game import Json


class Commands(Protocol):
    """Answers to commands, by the client's id, so that a retry is answered, not repeated."""

    def find(self, *, id: str, digest: str) -> Mapping[str, Json] | None:
        """Return the stored answer.

        Raises:
            RefusedError: `command_id_reused` when the id came with other content.
        """

    def store(self, *, id: str, digest: str, at_ms: int, answer: Mapping[str, Json]) -> None:
        """Keep the answer."""
