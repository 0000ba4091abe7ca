"""What the use cases of people need from the outside: who is stored, and slow hashes."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from studio.services.ports import Actor, Role, Trail


@dataclass(frozen=True, kw_only=True)
class Person:
    """Somebody with a login."""

    id: int
    username: str
    display_name: str
    role: Role
    badge: str | None
    language: str
    active: bool
    created_ms: int
    games: frozenset[str]
    """Codes of the games that a dealer may open; empty for everybody else."""

    @property
    def actor(self) -> Actor:
        """The person as the one who acts."""
        return Actor(id=self.id, name=self.display_name, role=self.role)


@dataclass(frozen=True, kw_only=True)
class Secrets:
    """Hashes of a person's password and PIN."""

    password_hash: str
    pin_hash: str | None


@dataclass(frozen=True, kw_only=True)
class SessionRow:
    """A login that lasts, by the hash of its token."""

    token_hash: str
    person_id: int
    created_ms: int
    last_seen_ms: int
    expires_ms: int


class Hasher(Protocol):
    """Slow one-way hashing of secrets."""

    def hash(self, secret: str) -> str:
        """Return a salted hash."""

    def verify(self, hashed: str, secret: str) -> bool:
        """Return whether `secret` made `hashed`."""


class People(Protocol):
    """People, their sessions and their failed logins, inside a unit's transaction."""

    def add(self, person: Person, secrets: Secrets) -> Person:
        """Store a person; the given id is ignored, the new one returned.

        Raises:
            RefusedError: `username_taken`, `badge_taken`.
        """

    def change(self, person: Person, secrets: Secrets) -> None:
        """Store what changed.

        Raises:
            RefusedError: `badge_taken`.
        """

    def get(self, person_id: int) -> tuple[Person, Secrets] | None:
        """Return a person by id."""

    def locked(self, person_id: int) -> tuple[Person, Secrets] | None:
        """Return a person by id whom nobody else can change until commit."""

    def by_username(self, username: str) -> tuple[Person, Secrets] | None:
        """Return a person by name."""

    def by_badge(self, badge: str) -> tuple[Person, Secrets] | None:
        """Return a person by badge."""

    def all(self) -> Sequence[Person]:
        """Return everybody, by username."""

    def open_session(self, row: SessionRow) -> None:
        """Store a session."""

    def session(self, token_hash: str) -> tuple[SessionRow, Person] | None:
        """Return a session with its person."""

    def touch(self, token_hash: str, *, last_seen_ms: int) -> None:
        """Note that a session was used."""

    def end_session(self, token_hash: str) -> None:
        """Forget a session."""

    def end_sessions_of(self, person_id: int) -> None:
        """Forget all sessions of a person."""

    def end_sessions_before(self, *, seen_ms: int, now_ms: int) -> None:
        """Forget sessions last seen before `seen_ms` or expired at `now_ms`."""

    def failures(self, *, name_hash: str, address: str, since_ms: int) -> tuple[int, int]:
        """Return (failures of the name, failures of the address) since a time."""

    def add_failure(self, *, name_hash: str, address: str, at_ms: int) -> int:
        """Note a try as failed; returns its id."""

    def forgive(self, *, name_hash: str, failure_id: int) -> None:
        """Forget a name's failures, and one try."""

    def forget_failures_before(self, at_ms: int) -> None:
        """Forget failures older than a time."""


class PeopleUnit(Protocol):
    """One transaction over people. Leaving without `commit` rolls back."""

    @property
    def people(self) -> People:
        """The people."""

    @property
    def trail(self) -> Trail:
        """The audit trail."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def commit(self) -> None:
        """Make everything durable."""


class PeopleUnits(Protocol):
    """Makes units over people."""

    def write(self) -> PeopleUnit:
        """Return a unit that may write."""

    def read(self) -> PeopleUnit:
        """Return a unit that only reads."""
