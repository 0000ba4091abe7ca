"""People: who there is, how they log in, how long that lasts.

Passwords and PINs are stored as hashes only; session tokens too, so that a copy of the database
opens no door. A try to log in counts as failed until it has succeeded: parallel guesses can't
slip through while a slow hash is being computed.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from studio.domain.errors import RefusedError
from studio.domain.game import Json
from studio.services.people_ports import (
    Hasher,
    PeopleUnit,
    PeopleUnits,
    Person,
    Secrets,
    SessionRow,
)
from studio.services.person_values import (
    PASSWORD_CHARS_MAX,
    check_games,
    check_language,
    check_username,
    check_values,
)
from studio.services.ports import Actor, Clock, Randomness, Role

ADDRESS_FACTOR = 4
"""People share addresses: so many times the failures of one name are let through for one."""
TOUCH_MS = 30_000
"""`last_seen_ms` is written at most so often: reading pages must not queue for the one writer."""


@dataclass(frozen=True, kw_only=True)
class NewPerson:
    """What it takes to add somebody; secrets in the clear, never stored so."""

    username: str
    display_name: str
    role: Role
    password: str
    language: str
    badge: str | None = None
    pin: str | None = None
    games: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class PersonChange:
    """What to change; None leaves a value as it is."""

    display_name: str | None = None
    role: Role | None = None
    password: str | None = None
    language: str | None = None
    badge: str | None = None
    pin: str | None = None
    active: bool | None = None
    games: frozenset[str] | None = None
    """All games from now on, not one more; who is no dealer any more loses them by itself."""


@dataclass(frozen=True, kw_only=True)
class LoginPolicy:
    """How long logins last and when failures are slowed."""

    idle_ms: int
    lifetime_ms: int
    failures_max: int
    window_ms: int


@dataclass(frozen=True, kw_only=True)
class LoggedIn:
    """A new session: its token goes to the person, only its hash stays."""

    person: Person
    token: str


Greet = Callable[[Person], None]
"""Called with whoever gave the right password or PIN."""


@dataclass(frozen=True, kw_only=True)
class PeopleService:
    """Adds, changes and recognises people."""

    units: PeopleUnits
    clock: Clock
    randomness: Randomness
    hasher: Hasher
    policy: LoginPolicy
    languages: tuple[str, ...]
    games: tuple[str, ...]
    """Codes of the registered games, in the order they are shown."""
    greet: Greet | None = None
    """What else a login brings, done before its session opens."""

    def create(self, actor: Actor, new: NewPerson) -> Person:
        """Add a person.

        Raises:
            MalformedError: `username_wrong`, `display_name_wrong`, `password_wrong`,
                `badge_wrong`, `pin_wrong`, `language_wrong`, `unknown_game`,
                `games_without_dealer`.
            RefusedError: `username_taken`, `badge_taken`.
        """
        check_username(new.username)
        self._check(PersonChange(**{k: v for k, v in asdict(new).items() if k != "username"}))
        check_games(new.games, role=new.role, known=self.games)
        secrets = Secrets(
            password_hash=self.hasher.hash(new.password),
            pin_hash=self.hasher.hash(new.pin) if new.pin is not None else None,
        )
        now_ms = self.clock.now_ms()
        draft = Person(
            id=0,
            username=new.username,
            display_name=new.display_name.strip(),
            role=new.role,
            badge=new.badge,
            language=new.language,
            active=True,
            created_ms=now_ms,
            games=new.games,
        )
        with self.units.write() as unit:
            person = unit.people.add(draft, secrets)
            self._note(unit, actor, "person_added", before=None, after=person)
            unit.commit()
        return person

    def change(self, actor: Actor, person_id: int, change: PersonChange) -> Person:
        """Change a person. A new role, password, PIN or state ends the person's sessions.

        Other games end none: a dealer who loses one plays the running round to its end.

        Raises:
            MalformedError: as `create`.
            RefusedError: `unknown_person`, `badge_taken`, `player_role_fixed`, `own_account`.
        """
        self._check(change)
        hashes = {
            key: self.hasher.hash(secret)
            for key, secret in (("password_hash", change.password), ("pin_hash", change.pin))
            if secret is not None
        }
        values = {
            key: value
            for key, value in asdict(change).items()
            if value is not None and key not in ("password", "pin")
        }
        with self.units.write() as unit:
            found = unit.people.locked(person_id)
            if found is None:
                raise RefusedError("unknown_person", "There is no such person.", id=person_id)
            before, secrets = found
            after = replace(before, **values)
            if change.games is not None:
                check_games(change.games, role=after.role, known=self.games)
            elif after.role is not Role.DEALER:
                after = replace(after, games=frozenset())
            _refuse_change(actor, before, after)
            unit.people.change(after, replace(secrets, **hashes))
            if hashes or before.role is not after.role or not after.active:
                unit.people.end_sessions_of(person_id)
            self._note(unit, actor, "person_changed", before=before, after=after)
            unit.commit()
        return after

    def list(self) -> Sequence[Person]:
        """Return everybody, by username."""
        with self.units.read() as unit:
            return unit.people.all()

    def get(self, person_id: int) -> Person | None:
        """Return a person."""
        with self.units.read() as unit:
            found = unit.people.get(person_id)
        return found[0] if found else None

    def login_by_password(self, username: str, password: str, *, address: str) -> LoggedIn:
        """Log in by name and password.

        Raises:
            RefusedError: `login_refused` whatever was wrong, `login_slowed`.
        """
        name = username.strip().lower()
        failure_id = self._count_try(name, address)
        with self.units.read() as unit:
            found = unit.people.by_username(name)
        hashed = found[1].password_hash if found else None
        return self._finish(found, name, failure_id, good=self._verify(hashed, password))

    def login_by_badge(self, badge: str, pin: str, *, address: str) -> LoggedIn:
        """Log in by badge and PIN, at a station.

        Raises:
            RefusedError: `login_refused` whatever was wrong, `login_slowed`.
        """
        name = f"badge:{badge.strip()}"
        failure_id = self._count_try(name, address)
        with self.units.read() as unit:
            found = unit.people.by_badge(badge.strip())
        hashed = found[1].pin_hash if found else None
        return self._finish(found, name, failure_id, good=self._verify(hashed, pin))

    def recognise(self, token: str, *, keeps: bool = True) -> Person | None:
        """Return whose session a token is; None when it ended, expired or never was.

        Args:
            token: as `login_by_password` gave it.
            keeps: True for what a person does: it puts the end by inactivity off.
        """
        now_ms = self.clock.now_ms()
        hashed = digest(token)
        with self.units.read() as unit:
            found = unit.people.session(hashed)
        if found is None:
            return None
        row, person = found
        idle_ms = now_ms - row.last_seen_ms
        if not person.active or now_ms >= row.expires_ms or idle_ms >= self.policy.idle_ms:
            return None
        if keeps and idle_ms >= min(TOUCH_MS, self.policy.idle_ms // 4):
            with self.units.write() as unit:
                unit.people.touch(hashed, last_seen_ms=now_ms)
                unit.commit()
        return person

    def logout(self, token: str) -> None:
        """End a session; an unknown one has ended already."""
        with self.units.write() as unit:
            unit.people.end_session(digest(token))
            unit.commit()

    def revoke(self, actor: Actor, person_id: int) -> None:
        """End all sessions of a person.

        Raises:
            RefusedError: `unknown_person`.
        """
        with self.units.write() as unit:
            found = unit.people.get(person_id)
            if found is None:
                raise RefusedError("unknown_person", "There is no such person.", id=person_id)
            unit.people.end_sessions_of(person_id)
            self._note(unit, actor, "sessions_ended", before=found[0], after=found[0])
            unit.commit()

    def _count_try(self, name: str, address: str) -> int:
        """Refuse when slowed, else note the try as failed; returns its id."""
        now_ms = self.clock.now_ms()
        since_ms = now_ms - self.policy.window_ms
        name_hash = digest(name)
        with self.units.write() as unit:
            unit.people.forget_failures_before(since_ms)
            of_name, of_address = unit.people.failures(
                name_hash=name_hash, address=address, since_ms=since_ms
            )
            slowed = (
                of_name >= self.policy.failures_max
                or of_address >= self.policy.failures_max * ADDRESS_FACTOR
            )
            if slowed:
                raise RefusedError(
                    "login_slowed",
                    "Too many failed logins. Wait a few minutes, then try again.",
                    wait_seconds=self.policy.window_ms // 1000,
                )
            failure_id = unit.people.add_failure(name_hash=name_hash, address=address, at_ms=now_ms)
            unit.commit()
        return failure_id

    def _verify(self, hashed: str | None, secret: str) -> bool:
        """Take as long for a name nobody has as for a wrong password."""
        if len(secret) > PASSWORD_CHARS_MAX:
            return False
        if hashed is None:
            self.hasher.hash(secret)
            return False
        return self.hasher.verify(hashed, secret)

    def _finish(
        self, found: tuple[Person, Secrets] | None, name: str, failure_id: int, *, good: bool
    ) -> LoggedIn:
        if found is None or not good or not found[0].active:
            raise RefusedError("login_refused", "Name, badge, password or PIN is not right.")
        person = found[0]
        if self.greet is not None:
            self.greet(person)
        token = self.randomness.token()
        now_ms = self.clock.now_ms()
        with self.units.write() as unit:
            unit.people.forgive(name_hash=digest(name), failure_id=failure_id)
            unit.people.end_sessions_before(seen_ms=now_ms - self.policy.idle_ms, now_ms=now_ms)
            unit.people.open_session(
                SessionRow(
                    token_hash=digest(token),
                    person_id=person.id,
                    created_ms=now_ms,
                    last_seen_ms=now_ms,
                    expires_ms=now_ms + self.policy.lifetime_ms,
                )
            )
            unit.commit()
        return LoggedIn(person=person, token=token)

    def _check(self, change: PersonChange) -> None:
        check_values(
            display_name=change.display_name,
            password=change.password,
            badge=change.badge,
            pin=change.pin,
        )
        check_language(change.language, known=self.languages)

    def _note(
        self,
        unit: PeopleUnit,
        actor: Actor,
        action: str,
        *,
        before: Person | None,
        after: Person,
    ) -> None:
        unit.trail.write(
            at_ms=self.clock.now_ms(),
            actor=actor,
            action=action,
            subject=f"person:{after.username}",
            reason="",
            before=_plain(before) if before else {},
            after=_plain(after),
        )


def _refuse_change(actor: Actor, before: Person, after: Person) -> None:
    if before.role is not after.role and Role.PLAYER in (before.role, after.role):
        raise RefusedError(
            "player_role_fixed", "A player can't become staff, nor staff a player: add a new login."
        )
    if actor.id == before.id and (before.role is not after.role or not after.active):
        raise RefusedError("own_account", "Ask another administrator to change your own account.")


def _plain(person: Person) -> Mapping[str, Json]:
    return {**asdict(person), "role": person.role.value, "games": sorted(person.games)}


def digest(text: str) -> str:
    """Return how tokens and names are stored: by a hash that leads nowhere back."""
    return hashlib.sha256(text.encode()).hexdigest()
