"""Fixtures for every room: settings, databases of one's own, servers that may be absent."""

import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import argon2
import psycopg
import pytest
from flask import Flask
from jinja2.bccache import BytecodeCache, FileSystemBytecodeCache
from sqlalchemy import Engine, text
from sqlalchemy.engine import make_url
from werkzeug.test import TestResponse

from studio import joining
from studio.services.people import NewPerson
from studio.services.people_ports import Person
from studio.services.ports import Actor, Role
from studio.settings import DEFAULT_FILE, Settings, load_settings
from studio.store.engine import make_engine
from studio.store.metadata import metadata
from studio.store.schema import upgrade
from studio.web.passwords import Argon2Hasher
from studio.web.studio import Studio

POSTGRESQL = os.environ.get(
    "STUDIO_TEST_POSTGRESQL", "postgresql+psycopg://postgres@127.0.0.1:5432/postgres"
)
REDIS = os.environ.get("STUDIO_TEST_REDIS", "redis://127.0.0.1:6379/15")


FIRST, LAST = ("process", "kill", "scanner"), ("browser",)
"""Folders whose modules take minutes begin first, so that no worker ends alone with one. Browsers
come last: their studio stays up to the end of the run, and would work beside every other test."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the long modules in front and the browsers' at the end; else the order stays."""
    tests = Path(__file__).parent

    def place(item: pytest.Item) -> int:
        folder = item.path.relative_to(tests).parts[0] if item.path.is_relative_to(tests) else ""
        return (folder in LAST) - (folder in FIRST)

    items.sort(key=place)


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own STUDIO_ variables never reach a test."""
    for variable in list(os.environ):
        if variable.startswith("STUDIO_") and not variable.startswith("STUDIO_TEST_"):
            monkeypatch.delenv(variable)


def absent(what: str) -> None:
    """Skip for want of a server or program; fail where everything has to be there."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what} is missing, and CI=true")
    pytest.skip(f"{what} is missing")


def connect_to_server() -> psycopg.Connection[tuple[object, ...]]:
    url = make_url(POSTGRESQL)
    return psycopg.connect(
        host=url.host,
        port=url.port or 5432,
        user=url.username,
        password=url.password,
        dbname=url.database,
        autocommit=True,
        connect_timeout=3,
    )


@pytest.fixture
def postgresql_url() -> Iterator[str]:
    """Address of an empty PostgreSQL database that is dropped after the test."""
    try:
        server = connect_to_server()
    except psycopg.OperationalError:
        absent("PostgreSQL (STUDIO_TEST_POSTGRESQL)")
        return
    name = f"studio_test_{secrets.token_hex(6)}"
    with server:
        server.execute(f'create database "{name}"')
    yield make_url(POSTGRESQL).set(database=name).render_as_string(hide_password=False)
    with connect_to_server() as server:
        server.execute(f'drop database "{name}" with (force)')


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with the schema in it, to be copied."""
    path = tmp_path_factory.mktemp("schema") / "studio.db"
    engine = make_engine(f"sqlite:///{path}")
    upgrade(engine)
    engine.dispose()
    return path


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """The worker's own engine of an SQLite file: it compiles a statement once for all tests."""
    engine = make_engine(f"sqlite:///{tmp_path_factory.mktemp('embedded') / 'studio.db'}")
    yield engine
    engine.dispose()


@pytest.fixture
def sqlite_engine(migrated_file: Path, embedded: Engine) -> Engine:
    """A copy of the migrated file, with nothing left of the test before."""
    embedded.dispose()
    path = Path(str(embedded.url.database))
    for old in path.parent.glob(f"{path.name}*"):
        old.unlink()
    shutil.copy(migrated_file, path)
    return embedded


@pytest.fixture(scope="session")
def migrated_postgresql() -> Iterator[Engine]:
    """The worker's own database, migrated once."""
    try:
        server = connect_to_server()
    except psycopg.OperationalError:
        absent("PostgreSQL (STUDIO_TEST_POSTGRESQL)")
        return
    name = f"studio_worker_{secrets.token_hex(6)}"
    with server:
        server.execute(f'create database "{name}"')
        # No test of this database stops the server: a commit need not wait for the disk.
        server.execute(f'alter database "{name}" set synchronous_commit = off')
    url = make_url(POSTGRESQL).set(database=name)
    engine = make_engine(url.render_as_string(hide_password=False))
    upgrade(engine)
    yield engine
    engine.dispose()
    with connect_to_server() as again:
        again.execute(f'drop database "{name}" with (force)')


@pytest.fixture
def postgresql_engine(migrated_postgresql: Engine) -> Engine:
    """The worker's database, emptied; of small tables, deleting takes a fortieth of truncating."""
    tables = (f'delete from "{table.name}";' for table in reversed(metadata.sorted_tables))
    with migrated_postgresql.begin() as connection:
        connection.execute(text("".join(tables)))
        connection.execute(text("select setval(seqrelid, seqstart, false) from pg_sequence"))
    return migrated_postgresql


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """Address of an SQLite file of one's own."""
    return f"sqlite:///{tmp_path / 'studio.db'}"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def database_url(request: pytest.FixtureRequest) -> str:
    """Address of an empty database: the test runs once on each kind."""
    address: str = request.getfixturevalue(f"{request.param}_url")
    return address


@pytest.fixture
def redis_url() -> str:
    """Address of a running Redis."""
    import redis

    try:
        redis.Redis.from_url(REDIS, socket_connect_timeout=3).ping()
    except redis.ConnectionError:
        absent("Redis (STUDIO_TEST_REDIS)")
    return REDIS


# A studio of one's own -------------------------------------------------------------------------

PASSWORD = "correct horse battery"  # the same for everybody in tests
DEVICE_KEY = "0123456789abcdef-camera"
OTHER_DEVICE_KEY = "fedcba9876543210-other"
BADGE, PIN = "300000000001", "4711"


class ManualClock:
    """A clock that moves when a test says so."""

    def __init__(self, now_ms: int = 1_800_000_000_000) -> None:
        self.ms = now_ms

    def now_ms(self) -> int:
        return self.ms

    def advance(self, ms: int) -> None:
        self.ms += ms


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def settings(sqlite_url: str, migrated_file: Path) -> Settings:
    """The project's own settings file over a database of one's own, which has its schema."""
    shutil.copy(migrated_file, str(make_url(sqlite_url).database))
    return load_settings(
        DEFAULT_FILE,
        database_url=sqlite_url,
        secret_key="s" * 40,
        device_keys={"cam": DEVICE_KEY},
        log_level="warning",
    )


@pytest.fixture(scope="session")
def compiled_templates(tmp_path_factory: pytest.TempPathFactory) -> BytecodeCache:
    """Templates that one application compiled, for the next."""
    return FileSystemBytecodeCache(str(tmp_path_factory.mktemp("templates")))


@pytest.fixture
def app(
    settings: Settings,
    clock: ManualClock,
    monkeypatch: pytest.MonkeyPatch,
    compiled_templates: BytecodeCache,
) -> Iterator[Flask]:
    """The whole application with quick hashes and a clock that stands still."""
    hasher = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(joining, "Argon2Hasher", lambda: Argon2Hasher(hasher))
    monkeypatch.setattr(joining, "SystemClock", lambda: clock)
    made = joining.make_app(settings)
    made.testing = True
    made.jinja_env.bytecode_cache = compiled_templates
    yield made
    made.extensions["studio"].close()


@pytest.fixture
def studio(app: Flask) -> Studio:
    """The use cases behind the application's doors."""
    made: Studio = app.extensions["studio"]
    return made


@pytest.fixture
def people(studio: Studio) -> dict[str, Person]:
    """One person of each role by the role's name; a second dealer, supervisor and player."""
    found = {}
    for name in [*(role.value for role in Role), "dealer2", "pit_supervisor2", "player2"]:
        role = Role(name.rstrip("2"))
        found[name] = studio.people.create(
            Actor(id=0, name="studio", role=None),
            NewPerson(
                username=name,
                display_name=name.replace("_", " ").title(),
                role=role,
                password=PASSWORD,
                language="en",
                badge=BADGE if name == "dealer" else None,
                pin=PIN if name == "dealer" else None,
                games=frozenset({"pok_deng"} if role is Role.DEALER else ()),
            ),
        )
    return found


class Browser:
    """A test client that keeps its cookie and sends the CSRF token, as the pages do."""

    def __init__(self, app: Flask) -> None:
        self.client = app.test_client()
        self.token = ""

    def open(self, path: str) -> TestResponse:
        answer = self.client.get(path, follow_redirects=True)
        found = re.search(r'name="csrf-token" content="([^"]+)"', answer.text)
        self.token = found.group(1) if found else self.token
        return answer

    def login(self, name: str, password: str = PASSWORD) -> TestResponse:
        self.open("/login")
        answer = self.send_form("/login", username=name, password=password)
        if answer.status_code == 303:
            self.open(answer.headers["Location"])
        return answer

    def send_form(self, path: str, **fields: str) -> TestResponse:
        return self.client.post(path, data={"csrf_token": self.token, **fields})

    def get(self, path: str) -> TestResponse:
        return self.client.get(path)

    def post(self, path: str, body: object) -> TestResponse:
        return self.client.post(path, json=body, headers={"X-CSRFToken": self.token})


@pytest.fixture
def stranger(app: Flask) -> Browser:
    """A browser without a login."""
    return Browser(app)


@pytest.fixture
def login(app: Flask, people: dict[str, Person]) -> Callable[[str], Browser]:
    """Return a function that gives a browser in which somebody is logged in."""

    def logged_in(name: str) -> Browser:
        browser = Browser(app)
        answer = browser.login(name)
        assert answer.status_code == 303, answer.text
        return browser

    return logged_in
