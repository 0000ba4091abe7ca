"""`backup` and `restore` as an operator types them."""

import pytest
from click.testing import CliRunner

import app as entrance
from studio.store.engine import make_engine
from studio.store.schema import upgrade
from tests.support.floor import Floor

pytestmark = pytest.mark.process


@pytest.fixture
def played(sqlite_url, monkeypatch):
    """Address of a database in which some rounds were played."""
    engine = make_engine(sqlite_url)
    upgrade(engine)
    floor = Floor(engine=engine)
    floor.furnish()
    for _ in range(80):
        floor.step()
    engine.dispose()
    return sqlite_url


def ask(*arguments):
    return CliRunner().invoke(entrance.main, list(map(str, arguments)))


def test_a_copy_becomes_a_studio_that_passes_its_audit(played, tmp_path):
    copy, target = tmp_path / "copy.db", tmp_path / "second.db"
    made = ask("backup", copy, "--database-url", played)
    assert made.exit_code == 0, made.output
    assert "a copy of the sqlite database" in made.output
    restored = ask("restore", copy, "--database-url", f"sqlite:///{target}")
    assert restored.exit_code == 0, restored.output
    assert restored.output == "Restored; the audit finds nothing wrong.\n"
    assert ask("audit", "--database-url", f"sqlite:///{target}").exit_code == 0


def test_a_copy_of_a_tampered_database_is_restored_and_called_so(played, tmp_path):
    engine = make_engine(played)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE event SET at_ms = at_ms + 1 WHERE seq = 3")
    engine.dispose()
    copy = tmp_path / "copy.db"
    assert ask("backup", copy, "--database-url", played).exit_code == 0
    restored = ask("restore", copy, "--database-url", f"sqlite:///{tmp_path / 'second.db'}")
    assert restored.exit_code == 1
    assert "don't play on it" in restored.output


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (("backup", "{new}", "--database-url", "sqlite:///{folder}/none.db"), "no database"),
        (("restore", "{made}", "--database-url", "{played}"), "a database already"),
        (("restore", "{folder}/none", "--database-url", "sqlite:///{new}"), "does not exist"),
        (("restore", "{made}", "--database-url", "mysql://x/y"), "is neither a SQLite"),
        (
            (
                "restore",
                "{made}",
            ),
            "--database-url",
        ),
    ],
)
def test_what_can_t_be_done_is_said_in_one_line(played, tmp_path, command, says):
    made = tmp_path / "made.db"
    assert ask("backup", made, "--database-url", played).exit_code == 0
    names = {"new": tmp_path / "new.db", "folder": tmp_path, "made": made, "played": played}
    refused = ask(*(part.format(**names) for part in command))
    assert refused.exit_code != 0
    assert says in refused.output
    assert not (tmp_path / "new.db").exists()
