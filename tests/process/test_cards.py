"""`app.py cards`: what is printed, registered and refused, each in words for people."""

import json

import pytest
from click.testing import CliRunner

import app as entrance
from studio.domain.cards import parse_code
from tests.process.playhouse import ROOT

pytestmark = pytest.mark.process


def cards(*arguments):
    return CliRunner().invoke(entrance.main, ["cards", *map(str, arguments)])


@pytest.mark.parametrize("profile", ["qr", "code128"])
@pytest.mark.parametrize(
    ("what", "said"),
    [
        (("--deck-set", 3, "--decks", 1), "52 cards of deck set 3"),
        (("--deck-set", 4, "--tiles"), "28 dominoes of deck set 4"),
        (("--deck-set", 4, "--tiles", "--decks", 2), "56 dominoes of deck set 4"),
        (("--badges", 10), "10 staff badges"),
        (("--test-card",), "3 test cards"),
    ],
)
def test_everything_prints_with_either_code(tmp_path, what, said, profile):
    file = tmp_path / "out.pdf"
    ended = cards("print", *what, "--profile", profile, "-o", file)
    assert (ended.exit_code, ended.stderr) == (0, "")
    assert said in ended.stdout
    assert file.read_bytes().startswith(b"%PDF-")


def test_the_next_command_is_shown_as_it_has_to_be_typed(tmp_path, sqlite_url):
    printed = cards("print", "--deck-set", 4, "--tiles", "-o", tmp_path / "tiles.pdf")
    command = printed.stdout.splitlines()[-1].split()
    assert command[:3] == ["python", "app.py", "cards"]
    ended = cards(*command[3:], "--database-url", sqlite_url)
    assert (ended.exit_code, ended.stderr) == (0, "")
    assert ended.stdout == "Deck set 4 is registered: 28 dominoes.\n"
    audited = CliRunner().invoke(entrance.main, ["audit", "--json", "--database-url", sqlite_url])
    assert json.loads(audited.stdout)["count"] == 0
    again = cards(*command[3:], "--database-url", sqlite_url)
    assert (again.exit_code, again.stderr) == (1, "Deck set 4 is already registered.\n")


def test_badges_are_listed_for_the_administration_page(tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("佐藤 花子\nAda\n", encoding="utf-8")
    ended = cards("print", "--badges", names, "--first", 41, "-o", tmp_path / "badges.pdf")
    assert ended.exit_code == 0
    first, second = (line.split(maxsplit=1) for line in ended.stdout.splitlines()[-2:])
    assert (first[1], second[1]) == ("佐藤 花子", "Ada")
    assert [parse_code(digits).serial for digits, _ in (first, second)] == [41, 42]


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--deck-set", 1, "--badges", 3),
        ("--deck-set", 1, "--test-card"),
        ("--badges", 3, "--tiles"),
        ("--test-card", "--decks", 2),
        ("--deck-set", 0),
        ("--deck-set", 1, "--decks", 9),
        ("--deck-set", "three"),
        ("--badges", 3, "--first", 0),
        ("--test-card", "--profile", "itf"),
    ],
)
def test_wrong_arguments_get_one_line_that_names_the_help(tmp_path, arguments):
    file = tmp_path / "none.pdf"
    ended = cards("print", *arguments, "-o", file)
    assert ended.exit_code == 2
    assert len(ended.stderr.splitlines()) == 1
    assert "--help." in ended.stderr
    assert not file.exists()


@pytest.mark.parametrize(
    ("badges", "said"),
    [
        ("0", "1 to 900 badges are printed at once."),
        ("901", "1 to 900 badges are printed at once."),
        ("absent.txt", "absent.txt can't be read: No such file or directory."),
        (str(ROOT), "can't be read: Is a directory."),
        ("/dev/null", "/dev/null holds no name."),
    ],
)
def test_badges_that_can_not_be_printed_get_one_line(tmp_path, badges, said):
    file = tmp_path / "none.pdf"
    ended = cards("print", "--badges", badges, "-o", file)
    assert ended.exit_code == 1
    assert len(ended.stderr.splitlines()) == 1
    assert said in ended.stderr
    assert not file.exists()


@pytest.mark.parametrize(
    "what", [("--deck-set", 3, "--decks", 1), ("--badges", 1), ("--test-card",)]
)
@pytest.mark.parametrize("place", ["absent/out.pdf", "."])
def test_a_place_that_can_not_be_written_is_named(tmp_path, what, place):
    ended = cards("print", *what, "-o", tmp_path / place)
    assert ended.exit_code == 1
    assert len(ended.stderr.splitlines()) == 1
    assert "can't be written: " in ended.stderr
