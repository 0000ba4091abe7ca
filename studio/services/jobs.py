"""What a command's builder sees."""

from collections.abc import Callable
from dataclasses import dataclass

from studio.domain.commands import Command
from studio.domain.table import TableState
from studio.services.live import Live
from studio.services.ports import UnitOfWork


@dataclass(frozen=True, kw_only=True)
class Job:
    """What a command's builder sees, inside the transaction."""

    uow: UnitOfWork
    live: Live
    now_ms: int

    @property
    def state(self) -> TableState:
        """The table's state."""
        return self.live.state


Build = Callable[[Job], Command]
