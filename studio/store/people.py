"""People, sessions and failed logins in the database."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from types import TracebackType
from typing import Self

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from studio.domain.errors import RefusedError
from studio.services.people_ports import (
    People,
    PeopleUnit,
    PeopleUnits,
    Person,
    Secrets,
    SessionRow,
)
from studio.services.ports import Role, Trail
from studio.store.people_tables import login_failure, login_session, person
from studio.store.qualifications import SqlQualifications
from studio.store.units import SqlUnit, SqlUnits


class SqlPeopleUnit(PeopleUnit):
    """A unit of work of the store, as the people's use cases see it."""

    def __init__(self, unit: SqlUnit) -> None:
        """Open nothing before `with` does."""
        self._unit = unit

    @property
    def people(self) -> People:
        """The people."""
        return SqlPeople(self._unit.connection)

    @property
    def trail(self) -> Trail:
        """The audit trail."""
        return self._unit.trail

    def __enter__(self) -> Self:
        self._unit.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._unit.__exit__(kind, error, trace)

    def commit(self) -> None:
        """Make everything durable."""
        self._unit.commit()


@dataclass(frozen=True)
class SqlPeopleUnits(PeopleUnits):
    """Makes units over people."""

    units: SqlUnits

    def write(self) -> PeopleUnit:
        """Return a unit that may write."""
        return SqlPeopleUnit(self.units.write())

    def read(self) -> PeopleUnit:
        """Return a unit that only reads."""
        return SqlPeopleUnit(self.units.read())


class SqlPeople(People):
    """`studio.services.people.People` on one connection's transaction."""

    def __init__(self, connection: Connection) -> None:
        """Work inside the transaction of `connection`."""
        self._connection = connection
        self._qualifications = SqlQualifications(connection)

    def add(self, new: Person, secrets: Secrets) -> Person:
        """Store a person; the given id is ignored, the new one returned.

        Raises:
            RefusedError: `username_taken`, `badge_taken`.
        """
        if self.by_username(new.username) is not None:
            raise _username_taken(new.username)
        self._refuse_taken_badge(new)
        try:
            result = self._connection.execute(insert(person).values(**_values(new, secrets)))
        except IntegrityError as error:  # somebody else was faster; the unit is rolled back
            raise _username_taken(new.username) from error
        key = result.inserted_primary_key
        assert key is not None, "an insert of one row gives its key"
        self._qualifications.replace(key[0], new.games)
        return replace(new, id=key[0])

    def change(self, changed: Person, secrets: Secrets) -> None:
        """Store what changed.

        Raises:
            RefusedError: `badge_taken`.
        """
        self._refuse_taken_badge(changed)
        try:
            self._connection.execute(
                update(person).where(person.c.id == changed.id).values(**_values(changed, secrets))
            )
        except IntegrityError as error:
            raise _badge_taken() from error
        self._qualifications.replace(changed.id, changed.games)

    def get(self, person_id: int) -> tuple[Person, Secrets] | None:
        """Return a person by id."""
        return self._one(person.c.id == person_id)

    def locked(self, person_id: int) -> tuple[Person, Secrets] | None:
        """Return a person by id whom nobody else can change until commit."""
        # The lock first: only what is read after it can't be changed any more. SQLite has one
        # writer, and takes no notice of it.
        self._connection.execute(
            select(person.c.id).where(person.c.id == person_id).with_for_update()
        )
        return self.get(person_id)

    def by_username(self, username: str) -> tuple[Person, Secrets] | None:
        """Return a person by name."""
        return self._one(person.c.username == username)

    def by_badge(self, badge: str) -> tuple[Person, Secrets] | None:
        """Return a person by badge."""
        return self._one(person.c.badge == badge)

    def all(self) -> Sequence[Person]:
        """Return everybody, by username."""
        rows = self._connection.execute(select(person).order_by(person.c.username)).mappings()
        games = self._qualifications.of_everybody()
        return [_person(row, games.get(row["id"], frozenset())) for row in rows]

    def open_session(self, row: SessionRow) -> None:
        """Store a session."""
        self._connection.execute(insert(login_session).values(**asdict(row)))

    def session(self, token_hash: str) -> tuple[SessionRow, Person] | None:
        """Return a session with its person."""
        row = (
            self._connection.execute(
                select(
                    person,
                    login_session.c.token_hash,
                    login_session.c.person_id,
                    login_session.c.created_ms.label("session_created_ms"),
                    login_session.c.last_seen_ms,
                    login_session.c.expires_ms,
                )
                .join_from(login_session, person)
                .where(login_session.c.token_hash == token_hash)
            )
            .mappings()
            .one_or_none()
        )
        if row is None:
            return None
        found = SessionRow(
            token_hash=row["token_hash"],
            person_id=row["person_id"],
            created_ms=row["session_created_ms"],
            last_seen_ms=row["last_seen_ms"],
            expires_ms=row["expires_ms"],
        )
        return found, _person(row, self._games(row))

    def touch(self, token_hash: str, *, last_seen_ms: int) -> None:
        """Note that a session was used."""
        self._connection.execute(
            update(login_session)
            .where(login_session.c.token_hash == token_hash)
            .values(last_seen_ms=last_seen_ms)
        )

    def end_session(self, token_hash: str) -> None:
        """Forget a session."""
        self._connection.execute(
            delete(login_session).where(login_session.c.token_hash == token_hash)
        )

    def end_sessions_of(self, person_id: int) -> None:
        """Forget all sessions of a person."""
        self._connection.execute(
            delete(login_session).where(login_session.c.person_id == person_id)
        )

    def end_sessions_before(self, *, seen_ms: int, now_ms: int) -> None:
        """Forget sessions last seen before `seen_ms` or expired at `now_ms`."""
        self._connection.execute(
            delete(login_session).where(
                (login_session.c.last_seen_ms < seen_ms) | (login_session.c.expires_ms <= now_ms)
            )
        )

    def failures(self, *, name_hash: str, address: str, since_ms: int) -> tuple[int, int]:
        """Return (failures of the name, failures of the address) since a time."""
        counts = [
            self._connection.execute(
                select(func.count())
                .select_from(login_failure)
                .where(condition, login_failure.c.at_ms >= since_ms)
            ).scalar_one()
            for condition in (
                login_failure.c.name_hash == name_hash,
                login_failure.c.address == address,
            )
        ]
        return counts[0], counts[1]

    def add_failure(self, *, name_hash: str, address: str, at_ms: int) -> int:
        """Note a try as failed; returns its id."""
        result = self._connection.execute(
            insert(login_failure).values(name_hash=name_hash, address=address, at_ms=at_ms)
        )
        key = result.inserted_primary_key
        assert key is not None, "an insert of one row gives its key"
        return int(key[0])

    def forgive(self, *, name_hash: str, failure_id: int) -> None:
        """Forget a name's failures, and one try."""
        self._connection.execute(
            delete(login_failure).where(
                (login_failure.c.name_hash == name_hash) | (login_failure.c.id == failure_id)
            )
        )

    def forget_failures_before(self, at_ms: int) -> None:
        """Forget failures older than a time."""
        self._connection.execute(delete(login_failure).where(login_failure.c.at_ms < at_ms))

    def _one(self, condition: ColumnElement[bool]) -> tuple[Person, Secrets] | None:
        row = self._connection.execute(select(person).where(condition)).mappings().one_or_none()
        if row is None:
            return None
        secrets = Secrets(password_hash=row["password_hash"], pin_hash=row["pin_hash"])
        return _person(row, self._games(row)), secrets

    def _games(self, row: RowMapping) -> frozenset[str]:
        """Ask for a dealer only: this is read with every request of everybody."""
        if row["role"] != Role.DEALER:
            return frozenset()
        return self._qualifications.games(row["id"])

    def _refuse_taken_badge(self, wanted: Person) -> None:
        holder = self.by_badge(wanted.badge) if wanted.badge is not None else None
        if holder is not None and holder[0].id != wanted.id:
            raise _badge_taken()


def _person(row: RowMapping, games: frozenset[str]) -> Person:
    return Person(
        id=row["id"],
        username=row["username"],
        display_name=row["display_name"],
        role=Role(row["role"]),
        badge=row["badge"],
        language=row["language"],
        active=row["active"],
        created_ms=row["created_ms"],
        games=games,
    )


def _values(one: Person, secrets: Secrets) -> dict[str, object]:
    values = {**asdict(one), **asdict(secrets), "role": one.role.value}
    del values["id"], values["games"]  # a number that the database gives; a table of its own
    return values


def _username_taken(username: str) -> RefusedError:
    return RefusedError("username_taken", f"The username {username} is taken.", username=username)


def _badge_taken() -> RefusedError:
    return RefusedError("badge_taken", "The badge belongs to somebody else.")
