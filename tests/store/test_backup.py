"""A copy taken while the studio plays is a whole studio: it is audited and played on."""

import itertools
import sqlite3
import threading

import pytest
from sqlalchemy import inspect, make_url

from studio.domain.errors import MalformedError
from studio.store import backup as backups
from studio.store.backup import BackupKind, backup, kind_of, restore
from studio.store.engine import make_engine
from studio.store.schema import upgrade
from tests.conftest import POSTGRESQL, connect_to_server
from tests.support.floor import Floor

STEPS = 60


def floor_over(url: str, *, reports_from: int = 1) -> Floor:
    engine = make_engine(url)
    upgrade(engine)
    made = Floor(engine=engine, reports=itertools.count(reports_from))
    made.furnish()
    return made


def test_a_copy_made_in_the_middle_of_play_is_one_whole_moment(database_url, tmp_path, request):
    playing = floor_over(database_url)
    for _ in range(STEPS):
        playing.step()
    copy, going_on = tmp_path / "copy", threading.Event()
    done: list[BackupKind] = []
    copying = threading.Thread(target=lambda: done.append(backup(database_url, copy)))
    copying.start()
    while copying.is_alive() or not going_on.is_set():
        playing.step()
        going_on.set()
    copying.join()
    assert done == [kind_of(copy)]
    target = empty_like(database_url, tmp_path, request)
    restore(copy, target)
    restored = floor_over(target, reports_from=1_000_000)
    assert restored.faults() == []
    assert restored.state().round_number <= playing.state().round_number
    for _ in range(STEPS):
        restored.step()
    assert restored.faults() == []
    assert restored.ledger_sum() == 0
    restored.engine.dispose()
    playing.engine.dispose()


def empty_like(url: str, tmp_path, request) -> str:
    """Return the address of a database of the same kind that does not exist or is empty."""
    if url.startswith("sqlite"):
        return f"sqlite:///{tmp_path / 'restored.db'}"
    name = f"{make_url(url).database}_restored"
    with connect_to_server() as server:
        server.execute(f'create database "{name}"')
    request.addfinalizer(lambda: drop(name))
    return make_url(POSTGRESQL).set(database=name).render_as_string(hide_password=False)


def drop(name: str) -> None:
    with connect_to_server() as server:
        server.execute(f'drop database "{name}" with (force)')


def refused(code: str, work, *args) -> str:
    with pytest.raises(MalformedError) as error:
        work(*args)
    assert error.value.code == code
    return error.value.message


def test_a_copy_never_replaces_a_file(sqlite_url, tmp_path):
    floor_over(sqlite_url).engine.dispose()
    copy = tmp_path / "copy"
    copy.write_text("what was here before")
    assert "never replaces" in refused("backup_exists", backup, sqlite_url, copy)
    assert copy.read_text() == "what was here before"


def test_a_copy_that_can_t_be_written_leaves_nothing(sqlite_url, tmp_path):
    floor_over(sqlite_url).engine.dispose()
    refused("backup_failed", backup, sqlite_url, tmp_path / "no such folder" / "copy")
    assert not list(tmp_path.glob("**/*.part"))


def test_a_database_is_only_restored_where_none_is(sqlite_url, tmp_path):
    floor_over(sqlite_url).engine.dispose()
    copy = tmp_path / "copy"
    backup(sqlite_url, copy)
    assert "Move it away" in refused("restore_target_taken", restore, copy, sqlite_url)


@pytest.mark.postgresql
def test_a_postgresql_database_has_to_be_empty(postgresql_url, tmp_path):
    floor_over(postgresql_url).engine.dispose()
    copy = tmp_path / "copy"
    assert backup(postgresql_url, copy) is BackupKind.POSTGRESQL
    refused("restore_target_taken", restore, copy, postgresql_url)
    refused("backup_of_another_kind", restore, copy, f"sqlite:///{tmp_path / 'other.db'}")


@pytest.mark.postgresql
def test_a_cut_dump_leaves_an_empty_database(postgresql_url, tmp_path, request):
    floor_over(postgresql_url).engine.dispose()
    copy, cut = tmp_path / "copy", tmp_path / "cut"
    backup(postgresql_url, copy)
    cut.write_bytes(copy.read_bytes()[:-4_000])
    target = empty_like(postgresql_url, tmp_path, request)
    refused("restore_failed", restore, cut, target)
    engine = make_engine(target)
    assert inspect(engine).get_table_names() == []
    engine.dispose()


def test_a_damaged_copy_is_refused(sqlite_url, tmp_path):
    floor_over(sqlite_url).engine.dispose()
    copy = tmp_path / "copy"
    backup(sqlite_url, copy)
    whole = bytearray(copy.read_bytes())
    whole[4096 : 3 * 4096] = b"\xff" * (2 * 4096)
    copy.write_bytes(whole)
    target = tmp_path / "restored.db"
    with pytest.raises(MalformedError) as error:
        restore(copy, f"sqlite:///{target}")
    assert error.value.code in {"not_a_backup", "restore_failed"}
    assert not target.exists()


@pytest.mark.parametrize("content", [b"", b"hello", b"SQLite format 2\x00"])
def test_what_is_no_copy_is_named(content, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(content)
    refused("not_a_backup", restore, path, f"sqlite:///{tmp_path / 'new.db'}")
    refused("not_a_backup", kind_of, tmp_path / "missing")


@pytest.mark.postgresql
def test_a_missing_program_is_named_with_its_package(postgresql_url, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    message = refused("backup_program_missing", backup, postgresql_url, tmp_path / "copy")
    assert "apt-get install postgresql-client" in message


def test_a_copy_is_one_file_that_needs_no_log_beside_it(sqlite_url, tmp_path):
    playing = floor_over(sqlite_url)
    playing.to_dealt()
    copy = tmp_path / "copy"
    backup(sqlite_url, copy)
    playing.engine.dispose()
    connection = sqlite3.connect(f"file:{copy}?mode=ro&immutable=1", uri=True)
    (events,) = connection.execute("SELECT count(*) FROM event").fetchone()
    connection.close()
    assert events > 10
    assert backups.kind_of(copy) is BackupKind.SQLITE
