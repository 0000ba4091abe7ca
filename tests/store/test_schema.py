"""Migrations give exactly the tables in code; addresses of databases are read strictly."""

import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, inspect, text
from sqlalchemy.engine.interfaces import ReflectedIndex
from sqlalchemy.exc import IntegrityError

from studio.domain.errors import MalformedError
from studio.store.engine import make_engine, read_transaction, write_transaction
from studio.store.metadata import metadata
from studio.store.schema import differences, upgrade
from studio.store.units import SqlUnits
from tests.store.house import FrozenClock

VARIABLE_PARTS = ("ck", "fk", "pk", "uq")


def plain(index: ReflectedIndex) -> str:
    """Return an index as text: the condition of a partial one is an object like no other."""
    options = {key: str(value) for key, value in index.get("dialect_options", {}).items()}
    return f"{index['name']}: {index | {'dialect_options': options}}"


def shape(engine: Engine) -> dict[str, object]:
    """Return what the database itself says of every table."""
    seen = inspect(engine)
    return {
        name: {
            "columns": [
                (each["name"], str(each["type"]), each["nullable"])
                for each in seen.get_columns(name)
            ],
            "key": seen.get_pk_constraint(name),
            "foreign": sorted(seen.get_foreign_keys(name), key=lambda key: str(key["name"])),
            "unique": sorted(seen.get_unique_constraints(name), key=lambda key: str(key["name"])),
            "checks": sorted(seen.get_check_constraints(name), key=lambda each: str(each["name"])),
            # As text: the condition of a partial index is an object that equals no other.
            "indexes": sorted(plain(index) for index in seen.get_indexes(name)),
        }
        for name in sorted(seen.get_table_names())
        if name != "alembic_version"
    }


def test_the_migrated_schema_is_the_one_in_code(database_url):
    migrated = make_engine(database_url)
    upgrade(migrated)
    assert differences(migrated) == []
    by_migrations = shape(migrated)
    with write_transaction(migrated) as connection:
        metadata.drop_all(connection)
        metadata.create_all(connection)
    assert by_migrations == shape(migrated)
    assert set(by_migrations) == set(metadata.tables)
    migrated.dispose()


def test_a_missing_column_is_a_difference(database_url):
    engine = make_engine(database_url)
    upgrade(engine)
    with write_transaction(engine) as connection:
        connection.execute(text("ALTER TABLE trail DROP COLUMN reason"))
    assert ["reason" in difference for difference in differences(engine)] == [True]
    engine.dispose()


def test_the_schema_goes_down_to_nothing_and_up_again(database_url):
    from alembic import command

    from studio.store.schema import alembic_config

    engine = make_engine(database_url)
    upgrade(engine)
    with write_transaction(engine) as connection:
        command.downgrade(alembic_config(connection), "base")
    assert set(inspect(engine).get_table_names()) <= {"alembic_version"}
    upgrade(engine)
    assert differences(engine) == []
    engine.dispose()


def test_processes_that_start_at_once_migrate_once(database_url):
    engines = [make_engine(database_url) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(upgrade, engines, timeout=60))
    assert differences(engines[0]) == []
    for engine in engines:
        engine.dispose()


def test_upgrading_again_keeps_what_is_stored(house):
    player = house.player(700)
    upgrade(house.engine)
    assert house.money(player) == (700, 0)


def test_the_dealers_from_before_there_were_two_games_are_qualified_for_the_first(database_url):
    roles = ("dealer", "pit_supervisor", "auditor", "administrator", "player", "dealer")
    engine = make_engine(database_url)
    upgrade(engine, revision="0001")
    with write_transaction(engine) as connection:
        connection.execute(
            text(
                "INSERT INTO person (username, display_name, role, password_hash, language, "
                "active, created_ms) VALUES (:name, :name, :role, '', 'en', :active, 0)"
            ),
            [
                {"name": f"p{number}", "role": role, "active": number != 5}
                for number, role in enumerate(roles)
            ],
        )
    upgrade(engine)
    with read_transaction(engine) as connection:
        found = connection.execute(
            text(
                "SELECT username, game FROM qualification JOIN person ON id = person_id "
                "ORDER BY username"
            )
        ).all()
        people = connection.scalar(text("SELECT count(*) FROM person"))
    assert found == [("p0", "pok_deng"), ("p5", "pok_deng")], "who is shut out for now, too"
    assert people == len(roles)
    with (
        pytest.raises(IntegrityError),
        write_transaction(engine) as connection,
    ):
        connection.execute(text("INSERT INTO qualification VALUES (99, 'pok_deng')"))
    engine.dispose()


def test_every_constraint_has_a_name(engine):
    for table in metadata.tables.values():
        for constraint in table.constraints:
            assert str(constraint.name).startswith(VARIABLE_PARTS), (table.name, constraint)


# Addresses -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        "",
        "studio.db",
        "sqlite://",
        "sqlite:///:memory:",
        "mysql://root@localhost/x",
        "sqlite+x:///a",
    ],
)
def test_an_address_that_is_neither_file_nor_postgresql_is_refused(address):
    with pytest.raises(MalformedError) as wrong:
        make_engine(address)
    assert wrong.value.code == "database_url"


def test_a_database_out_of_reach_is_named_without_its_password(tmp_path: Path):
    for address in (
        f"sqlite:///{tmp_path}/missing/studio.db",
        "postgresql://studio:hidden-word@127.0.0.1:1/studio",
    ):
        with pytest.raises(MalformedError) as wrong:
            make_engine(address)
        assert wrong.value.code == "database_unreachable"
        assert "hidden-word" not in wrong.value.message
        assert "\n" not in wrong.value.message


def test_the_short_postgresql_address_uses_the_installed_driver(postgresql_url):
    short = postgresql_url.replace("postgresql+psycopg://", "postgresql://")
    engine = make_engine(short)
    assert engine.dialect.driver == "psycopg"
    engine.dispose()


def test_a_postgresql_server_whose_host_is_gone_is_given_up_within_seconds(postgresql_url):
    engine = make_engine(postgresql_url)
    with engine.connect() as connection:
        link = connection.connection.driver_connection
        stated = link.info.get_parameters()
        with socket.socket(fileno=os.dup(link.fileno())) as wire:
            kept = wire.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            options = (
                socket.TCP_KEEPIDLE,
                socket.TCP_KEEPINTVL,
                socket.TCP_KEEPCNT,
                socket.TCP_USER_TIMEOUT,
            )
            in_force = [wire.getsockopt(socket.IPPROTO_TCP, option) for option in options]
    engine.dispose()
    assert stated["connect_timeout"] == "5"
    assert kept
    assert in_force == [10, 3, 3, 10_000]


def test_what_a_postgresql_address_says_of_its_link_comes_first(postgresql_url):
    engine = make_engine(f"{postgresql_url}?keepalives_idle=77")
    with engine.connect() as connection:
        stated = connection.connection.driver_connection.info.get_parameters()
    engine.dispose()
    assert (stated["keepalives_idle"], stated["tcp_user_timeout"]) == ("77", "10000")


def test_sqlite_is_durable_and_holds_its_foreign_keys(sqlite_engine):
    with read_transaction(sqlite_engine) as connection:
        found = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        ]
    assert found == ["wal", 2, 1, 5_000]


def test_a_write_transaction_of_sqlite_keeps_others_out_from_its_first_moment(sqlite_engine):
    with write_transaction(sqlite_engine):
        other = create_engine(sqlite_engine.url, connect_args={"timeout": 0})
        with other.connect() as connection, pytest.raises(Exception, match="locked"):
            connection.exec_driver_sql("UPDATE deck_set SET decks = 1")
        other.dispose()


def test_a_reader_of_postgresql_cannot_write(postgresql_engine):
    with (
        read_transaction(postgresql_engine) as connection,
        pytest.raises(Exception, match="read-only"),
    ):
        connection.execute(text("DELETE FROM deck_set"))


# Clocks ----------------------------------------------------------------------------------------


def test_sqlite_obeys_the_injected_clock(sqlite_engine):
    units = SqlUnits(sqlite_engine, clock=FrozenClock(at_ms=42), currency="JPY")
    with units.read() as unit:
        assert unit.now_ms() == 42


def test_postgresql_obeys_its_own_clock(postgresql_engine):
    units = SqlUnits(postgresql_engine, clock=FrozenClock(at_ms=42), currency="JPY")
    before = time.time_ns() // 1_000_000
    with units.read() as unit:
        first = unit.now_ms()
        while unit.now_ms() == first:
            pass
        assert abs(first - before) < 60_000
