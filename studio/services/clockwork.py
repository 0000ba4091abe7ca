"""The studio's clockwork: does at every table what is due, again and again.

It holds no state of its own that matters: whatever it misses, a later turn or another process
does, because every job is decided again under the table's lock.
"""

import logging

from studio.domain.errors import InvariantError, StudioError
from studio.services.links import LinkWatch
from studio.services.retry import StorageError
from studio.services.runner import TableRunner

log = logging.getLogger(__name__)


class Clockwork:
    """One turn looks at every table."""

    def __init__(self, *, runner: TableRunner, links: LinkWatch) -> None:
        """Keep the parts."""
        self._runner = runner
        self._links = links
        self._broken: set[str] = set()

    @property
    def broken(self) -> frozenset[str]:
        """Tables that a broken invariant has frozen; nobody has unlocked them yet."""
        return frozenset(self._broken)

    def turn(self) -> None:
        """Close windows, settle, watch links, at every table; one table's trouble stays there.

        Raises:
            StorageError: no table can be looked after; a later turn does what this one missed.
        """
        for table in self._runner.tables.setups:
            try:
                if table in self._broken and self._runner.live(table).state.locked is not None:
                    continue  # frozen by a broken invariant until a supervisor unlocks it
                self._broken.discard(table)
                self._links.check(table)
                self._runner.tick(table)
            except StorageError:
                raise
            except InvariantError as error:
                if table not in self._broken:
                    log.critical("invariant broken", extra={"table": table, "code": error.code})
                self._broken.add(table)
            except StudioError as error:
                log.warning("turn refused", extra={"table": table, "code": error.code})
