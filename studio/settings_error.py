"""Settings that can't be used; by itself, since whoever only tells of it needs no settings."""

from collections.abc import Sequence


class SettingsError(Exception):
    """The settings can't be used; `lines` says why, one fault a line."""

    def __init__(self, lines: Sequence[str]) -> None:
        """Keep the faults."""
        super().__init__("\n".join(lines))
        self.lines = tuple(lines)
