"""How a request fares between a client and the processes: lost, answered in vain, sent twice."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from studio.domain.errors import InvariantError, StudioError
from studio.simulation.chance import Chance
from studio.simulation.server import Crash, Server

T = TypeVar("T")

LOST_ONE_IN = 25
"""A request that never arrives."""
UNANSWERED_ONE_IN = 25
"""A request that is carried out, and whose answer never arrives."""
DOUBLED_ONE_IN = 12
"""A request that arrives twice: an impatient finger, a retrying proxy."""


class ViolationError(Exception):
    """Something that is always true was not."""

    def __init__(self, code: str, what: str) -> None:
        """Keep the broken rule's name and what was seen."""
        super().__init__(f"{code}: {what}")
        self.code = code
        self.what = what


@dataclass(frozen=True, kw_only=True)
class Answer(Generic[T]):
    """What a client got back: a value, a refusal, or nothing at all."""

    value: T | None = None
    refusal: StudioError | None = None

    @property
    def arrived(self) -> bool:
        """Whether anything came back: if not, the client asks again under the same id."""
        return self.value is not None or self.refusal is not None


class Network:
    """Carries requests to whichever process takes them."""

    def __init__(self, servers: list[Server | None], *, chance: Chance) -> None:
        """Keep the list that the world fills: None where a process is dead."""
        self._servers = servers
        self._chance = chance
        self.calm = False
        """True: nothing is lost or doubled any more."""
        self.crashes = 0

    def ask(self, work: Callable[[Server], T], *, same_again: bool = False) -> Answer[T]:
        """Send a request and return what came back.

        `same_again`: two arrivals of it must be given one answer.

        Raises:
            ViolationError: `invariant_broken`, or two arrivals of one request were answered
                differently.
        """
        chance = self._chance
        if not self.calm and chance.one_in(LOST_ONE_IN):
            return Answer()
        answer = self._arrive(work)
        if not self.calm and chance.one_in(DOUBLED_ONE_IN):
            again = self._arrive(work)
            if same_again and again.value is not None and answer.value is not None:
                _need_same(answer.value, again.value)
            # A first one that was refused and a second that was not: the client hears of both.
            answer = again if again.arrived else answer
        if not self.calm and chance.one_in(UNANSWERED_ONE_IN):
            return Answer()
        return answer

    def any_server(self) -> Server | None:
        """Return one of the living processes."""
        living = [server for server in self._servers if server is not None]
        return self._chance.choice(living) if living else None

    def bury(self, dead: Server) -> None:
        """Take a dead process off the list, once."""
        self.crashes += dead in self._servers
        self._servers[:] = [None if server is dead else server for server in self._servers]

    def _arrive(self, work: Callable[[Server], T]) -> Answer[T]:
        server = self.any_server()
        if server is None:
            return Answer()
        try:
            return Answer(value=work(server))
        except Crash:
            self.bury(server)
            return Answer()
        except InvariantError as error:
            raise ViolationError("invariant_broken", f"{error.code}: {error.message}") from error
        except StudioError as error:
            return Answer(refusal=error)


def _need_same(first: object, second: object) -> None:
    wagers = [getattr(answer, "wager", None) for answer in (first, second)]
    if wagers[0] is not None and wagers[1] is not None:
        same = wagers[0].id == wagers[1].id and wagers[0].stake_minor == wagers[1].stake_minor
    else:
        same = first == second
    if not same:
        raise ViolationError("retry_answered_otherwise", "One request had two different answers.")
