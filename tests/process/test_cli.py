"""The command line as people and outside checks use it: answers, statuses, one clear line."""

import json
import socket
import sqlite3
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
import pytest
import segno
from click.testing import CliRunner

import app as entrance
from scanner.drawing import LOOKS, Pose, card_face, draw_frame, stamped_face
from studio.demo.processes import clean_environment
from studio.domain.cards import card_code, parse_card
from tests.process.playhouse import ROOT, SCANNER, run_app

pytestmark = pytest.mark.process

VECTORS = ROOT / "tests" / "data" / "vectors_pok_deng.json"
SHARED_VECTORS = ROOT.parent / "shared" / "games" / "vectors.json"
REFERENCE = ROOT / "tests" / "games" / "pok_deng" / "reference.json"
COMMANDS = (
    *("", "serve", "demo", "rules", "rules check", "rtp", "scan", "audit"),
    *("cards", "cards print", "cards register"),
    *("simulate", "backup", "restore", "export", "verify", "prune"),
)
MAIN_8, PAIR_8 = 0.983540490292628, 0.896385542168675
"""The published returns with eight decks."""


def ask(*arguments):
    """Run a command inside this process: quicker where only its answer is looked at."""
    return CliRunner().invoke(entrance.main, list(map(str, arguments)))


def need_one_line(ended, status):
    assert ended.returncode == status
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    assert "Traceback" not in ended.stderr


# Help and arguments -----------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command):
    ended = ask(*command.split(), "--help")
    assert ended.exit_code == 0
    assert ended.stdout.startswith("Usage: ")
    assert "--help" in ended.stdout


def test_the_help_names_every_command():
    assert set(entrance.COMMANDS) >= {name for name in COMMANDS if name and " " not in name}
    shown = run_app("--help")
    assert (shown.returncode, shown.stderr) == (0, "")
    for command in entrance.COMMANDS:
        assert f"\n  {command} " in shown.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("scan",),
        ("scan", "--jsn", "x.png"),
        ("rtp",),
        ("rtp", "pok_deng", "--decks", "0"),
        ("rtp", "pok_deng", "--decks", "eight"),
        ("rules", "check"),
        ("rules", "check", "absent.json"),
        ("cards", "print", "--deck-set", "0", "-o", "x.pdf"),
        ("cards", "print", "--deck-set", "1000", "-o", "x.pdf"),
        ("cards", "print", "--deck-set", "1"),
        ("cards", "register", "--deck-set", "1", "--decks", "9"),
        ("audit", "extra"),
        ("demo", "--rounds", "-1"),
    ],
)
def test_wrong_arguments_get_one_line_that_names_the_help(arguments):
    ended = ask(*arguments)
    assert ended.exit_code == 2
    assert len(ended.stderr.splitlines()) == 1
    assert "--help." in ended.stderr
    assert ended.stdout == ""


def test_without_a_command_the_help_is_shown_and_it_is_no_success():
    ended = run_app()
    assert ended.returncode == 2
    assert "Commands:" in ended.stdout + ended.stderr


# Rules ------------------------------------------------------------------------------------------


def test_the_projects_own_vectors_pass():
    ended = run_app("rules", "check", str(VECTORS), "--game", "pok_deng")
    count = len(json.loads(VECTORS.read_text())["vectors"])
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[-1] == f"{count} passed, 0 failed, 0 unsupported"


@pytest.mark.skipif(not SHARED_VECTORS.exists(), reason="the vectors of all games lie elsewhere")
def test_the_vectors_of_all_games_pass_where_the_game_is_built():
    ended = ask("rules", "check", SHARED_VECTORS, "--game", "pok_deng")
    assert ended.exit_code == 0
    assert ended.stdout.splitlines()[-1].endswith(" passed, 0 failed, 0 unsupported")
    # Games of later releases are counted, and are no failure.
    every = ask("rules", "check", SHARED_VECTORS, "--json")
    assert every.exit_code == 0
    answer = json.loads(every.stdout)
    assert answer["failed"] == answer["unsupported_of_registered_games"] == 0
    assert answer["unsupported"] > 100


def vector(**changed):
    return {
        "id": "mine-1",
        "game": "pok_deng",
        "op": "settle",
        "input": {
            **{"banker": ["4H", "8C"], "player": ["6C", "7S"], "bet_type": "main"},
            **{"stake": 100, "deposit": 200},
        },
        "expect": {"net": 100},
        **changed,
    }


def check(tmp_path, *vectors, options=()):
    file = tmp_path / "vectors.json"
    file.write_text(json.dumps({"vectors": vectors}))
    return ask("rules", "check", file, *options)


def test_a_failing_vector_has_its_line_and_is_no_success(tmp_path):
    ended = check(tmp_path, vector(), vector(id="mine-2", expect={"net": 999}))
    assert ended.exit_code == 1
    line, last = ended.stdout.splitlines()
    assert "mine-2" in line
    assert "999" in line
    assert "100" in line
    assert last == "1 passed, 1 failed, 0 unsupported"


def test_an_operation_nobody_knows_is_unsupported_and_no_success(tmp_path):
    ended = check(tmp_path, vector(op="foretell"))
    assert ended.exit_code == 1
    assert ended.stdout.splitlines()[-1] == "0 passed, 0 failed, 1 unsupported"


def test_a_game_that_is_not_built_is_unsupported_and_no_failure(tmp_path):
    other = vector(game="super_bull")
    ended = check(tmp_path, vector(), other)
    assert ended.exit_code == 0
    assert ended.stdout.splitlines()[-1] == "1 passed, 0 failed, 1 unsupported"
    answer = json.loads(check(tmp_path, vector(), other, options=("--json",)).stdout)
    assert (answer["passed"], answer["failed"], answer["unsupported"]) == (1, 0, 1)


@pytest.mark.parametrize(
    "content", ["no json", "[]", '{"vectors": 1}', '{"vectors": [1]}', '{"vectors": [{}]}']
)
def test_a_file_of_another_form_is_named(tmp_path, content):
    file = tmp_path / "other.json"
    file.write_text(content)
    ended = ask("rules", "check", file)
    assert ended.exit_code == 1
    (line,) = ended.stderr.splitlines()
    assert "other.json" in line


def test_a_game_of_nobody_is_named(tmp_path):
    ended = check(tmp_path, vector(), options=("--game", "ludo"))
    assert ended.exit_code == 1
    assert "'ludo'" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


# Returns ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reference",
    json.loads(REFERENCE.read_text())["returns"],
    ids=lambda one: f"{one['bet']}-{one['decks']}",
)
def test_the_returns_are_the_reference(reference):
    bet, decks = reference["bet"], reference["decks"]
    ended = ask("rtp", "pok_deng", "--bet", bet, "--decks", decks, "--json")
    assert ended.exit_code == 0
    answer = json.loads(ended.stdout)
    assert set(answer) >= {"game", "bet", "decks", "rtp", "fraction", "outcomes"}
    assert (answer["game"], answer["bet"], answer["decks"]) == ("pok_deng", bet, decks)
    chances = {int(net): Fraction(chance) for net, chance in reference["outcomes"].items()}
    exact = 1 + sum((net * chance for net, chance in chances.items()), start=Fraction(0))
    assert Fraction(answer["fraction"]) == exact
    assert answer["rtp"] == round(float(exact), 15)
    # The reference's own last digit was rounded twice.
    assert answer["rtp"] == pytest.approx(float(reference["rtp"]), abs=1.1e-15, rel=0)
    assert {int(net): chance for net, chance in answer["outcomes"].items()} == {
        net: round(float(chance), 15) for net, chance in chances.items()
    }


def test_without_a_bet_the_main_one_stands_on_top_and_every_kind_is_listed():
    ended = run_app("rtp", "pok_deng", "--json")
    assert (ended.returncode, ended.stderr) == (0, "")
    answer = json.loads(ended.stdout)
    assert (answer["rtp"], answer["fraction"]) == (MAIN_8, "90726485/92244789")
    assert {bet["bet"]: bet["rtp"] for bet in answer["bets"]} == {"main": MAIN_8, "pair": PAIR_8}
    shown = ask("rtp", "pok_deng").stdout
    assert f"pok_deng main, 8 decks: {MAIN_8}  (90726485/92244789)" in shown
    assert f"pok_deng pair, 8 decks: {PAIR_8}  (372/415)" in shown


@pytest.mark.parametrize(
    ("arguments", "said"), [(("ludo",), "'ludo'"), (("pok_deng", "--bet", "p6"), "'p6'")]
)
def test_an_unknown_game_or_bet_is_named_beside_the_known(arguments, said):
    ended = run_app("rtp", *arguments)
    need_one_line(ended, 1)
    assert said in ended.stderr
    assert "there are: " in ended.stderr


# Scanning ---------------------------------------------------------------------------------------


def draw(path, face):
    pose = Pose(centre_x=600, centre_y=350, width_px=230, angle_deg=33)
    picture = draw_frame(face, pose=pose, look=LOOKS[0], rng=np.random.default_rng(2))
    assert cv2.imwrite(str(path), picture)


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """A folder with two cards, an empty table and a foreign code."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    draw(folder / "1.png", card_face(card_code(parse_card("TH"), deck_set=3, serial=7).digits))
    draw(folder / "2.png", card_face(card_code(parse_card("AS"), deck_set=3, serial=1).digits))
    assert cv2.imwrite(str(folder / "3.png"), np.full((720, 1280, 3), (42, 92, 34), np.uint8))
    symbol = segno.make("HELLO", version=1, error="H", micro=False, boost_error=False)
    draw(folder / "4.png", stamped_face(np.array(symbol.matrix, np.uint8)))
    return folder


def test_a_folder_is_read_frame_by_frame(pictures):
    ended = run_app("scan", str(pictures), "--json")
    assert (ended.returncode, ended.stderr) == (0, "")
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [list(line) for line in lines] == [
        ["file", "status", "payload", "card", "reason", "ms"]
    ] * 4
    assert [Path(line["file"]).name for line in lines] == ["1.png", "2.png", "3.png", "4.png"]
    assert [line["status"] for line in lines] == ["read", "read", "failed", "failed"]
    assert [line["card"] for line in lines] == ["TH", "AS", None, None]
    assert lines[0]["payload"] == card_code(parse_card("TH"), deck_set=3, serial=7).digits
    assert [line["payload"] for line in lines[2:]] == [None, None]
    assert [line["reason"] for line in lines] == [None, None, "no_code", "foreign_symbology"]


def test_with_any_other_codes_are_read_too(pictures):
    ended = ask("scan", pictures / "4.png", pictures / "1.png", "--any", "--json")
    assert ended.exit_code == 0
    foreign, card = (json.loads(line) for line in ended.stdout.splitlines())
    assert (foreign["status"], foreign["payload"], foreign["card"]) == ("read", "HELLO", None)
    assert card["card"] == "TH"


def test_for_people_a_frame_is_a_line(pictures):
    ended = ask("scan", pictures / "1.png")
    assert ended.exit_code == 0
    assert ended.stdout.split()[:2] == ["read", "TH"]


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\nbroken", b"text"])
def test_a_broken_picture_is_told_and_the_others_are_read(pictures, content):
    broken = pictures / "0.png"
    broken.write_bytes(content)
    ended = run_app("scan", "--json", str(broken), str(pictures / "1.png"))
    need_one_line(ended, 1)
    first, second = (json.loads(line) for line in ended.stdout.splitlines())
    assert (first["status"], first["payload"], first["reason"]) == ("error", None, "not_a_picture")
    assert second["card"] == "TH"


def test_a_path_that_is_not_there_is_named(pictures):
    ended = run_app("scan", str(pictures / "1.png"), str(pictures / "absent.png"))
    need_one_line(ended, 1)
    assert "absent.png does not exist" in ended.stderr
    assert ended.stdout == ""


def test_a_folder_without_pictures_is_no_success(tmp_path):
    ended = ask("scan", tmp_path)
    assert (ended.exit_code, ended.stdout) == (1, "")
    assert ended.stderr.startswith("There is no picture in ")


LIBRARY = {
    "absent": "None",
    "broken": "__file__",  # there is a file, but it is no library that this machine can load
}


@pytest.fixture(params=LIBRARY)
def without_zbar(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """The environment of a machine whose libzbar0 is missing or of no use."""
    (tmp_path / "sitecustomize.py").write_text(
        "import ctypes.util\n"
        "find = ctypes.util.find_library\n"
        "ctypes.util.find_library = lambda name: "
        f"{LIBRARY[request.param]} if name == 'zbar' else find(name)\n"
    )
    return {"PYTHONPATH": str(tmp_path)}


def test_without_libzbar_scan_names_the_package(pictures, without_zbar):
    ended = run_app("scan", str(pictures / "1.png"), **without_zbar)
    need_one_line(ended, 1)
    assert "apt-get install libzbar0" in ended.stderr


def test_without_libzbar_the_scanner_does_not_start_and_names_the_package(tmp_path, without_zbar):
    settings = tmp_path / "scanner.toml"
    settings.write_text(SCANNER.format(folder=tmp_path, port=9))
    ended = subprocess.run(
        [sys.executable, "-m", "scanner", "--config", str(settings)],
        cwd=ROOT,
        env=clean_environment() | without_zbar | {"STUDIO_DEVICE_KEY": "k" * 20},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    need_one_line(ended, 1)
    assert "apt-get install libzbar0" in ended.stderr


@pytest.mark.parametrize("without_zbar", ["absent"], indirect=True)
def test_without_libzbar_the_demo_names_the_package(without_zbar):
    ended = run_app("demo", "--headless", "--rounds", "1", **without_zbar)
    need_one_line(ended, 1)
    assert "apt-get install libzbar0" in ended.stderr


# Deck sets and audit ----------------------------------------------------------------------------


def test_a_deck_set_is_printed(tmp_path):
    file = tmp_path / "cards.pdf"
    ended = ask("cards", "print", "--deck-set", 3, "--decks", 1, "-o", file)
    assert ended.exit_code == 0
    assert "52 cards of deck set 3" in ended.stdout
    assert file.read_bytes().startswith(b"%PDF-")


def test_a_place_that_can_not_be_written_is_named(tmp_path):
    file = tmp_path / "absent" / "cards.pdf"
    ended = run_app("cards", "print", "--deck-set", "3", "--decks", "1", "-o", str(file))
    need_one_line(ended, 1)
    assert "cards.pdf can't be written" in ended.stderr


def test_a_deck_set_is_registered_once_and_the_studio_stays_clean(sqlite_url):
    register = ("cards", "register", "--deck-set", "3", "--database-url", sqlite_url)
    first = run_app(*register)
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout == "Deck set 3 is registered: 416 cards.\n"
    need_one_line(again := run_app(*register), 1)
    assert again.stderr == "Deck set 3 is already registered.\n"
    audited = ask("audit", "--json", "--database-url", sqlite_url)
    assert (audited.exit_code, json.loads(audited.stdout)) == (0, {"faults": [], "count": 0})
    shown = ask("audit", "--database-url", sqlite_url)
    assert (shown.exit_code, shown.stdout) == (0, "Clean: nothing is wrong.\n")


def test_a_database_that_is_not_there_is_not_called_clean(sqlite_url, tmp_path):
    ended = run_app("audit", "--database-url", sqlite_url)
    need_one_line(ended, 1)
    assert "There is no database at " in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_database_of_a_later_release_is_left_alone(sqlite_url, tmp_path):
    assert ask("cards", "register", "--deck-set", 3, "--database-url", sqlite_url).exit_code == 0
    with sqlite3.connect(tmp_path / "studio.db") as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    ended = run_app("audit", "--database-url", sqlite_url)
    need_one_line(ended, 1)
    assert "not one of this release" in ended.stderr


@pytest.mark.parametrize(
    ("url", "status", "said"),
    [
        ("nonsense", 2, "database_url: must start with sqlite:/// or postgresql+psycopg://"),
        ("mysql://root@localhost/x", 2, "database_url: must start with"),
        ("postgresql+psycopg://u:geheim@127.0.0.1:9/x", 1, "can't be opened: "),
        ("postgresql+psycopg://u:geheim@127.0.0.1:port/x", 1, "can't be read"),
        ("sqlite:////proc/absent/x.db", 1, "can't be made"),
        ("sqlite:////proc/version", 1, "can't be opened"),
    ],
)
def test_a_database_out_of_reach_is_told_in_a_line_without_its_password(url, status, said):
    ended = run_app("cards", "register", "--deck-set", "3", "--database-url", url)
    need_one_line(ended, status)
    assert said in ended.stderr
    assert "geheim" not in ended.stderr


@pytest.mark.postgresql
def test_a_postgresql_database_that_does_not_exist_is_told_in_a_line(postgresql_url):
    ended = run_app("audit", "--database-url", postgresql_url + "_absent")
    need_one_line(ended, 1)
    assert "_absent" in ended.stderr


# Serving ----------------------------------------------------------------------------------------


def test_serve_names_a_busy_port_and_a_settings_typo(tmp_path, sqlite_url):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        busy = run_app("serve", "--port", str(port), "--database-url", sqlite_url)
    need_one_line(busy, 1)
    assert busy.stderr.startswith(f"port {port} is in use")
    settings = tmp_path / "studio.toml"
    text = (ROOT / "config" / "studio.toml").read_text().replace("window_ms =", "windw_ms =")
    settings.write_text(text)
    typo = run_app("serve", STUDIO_CONFIG=str(settings))
    assert typo.returncode == 2
    assert "tables.T1.windw_ms" in typo.stderr
    assert "window_ms" in typo.stderr
    assert "Traceback" not in typo.stderr
    assert not (tmp_path / "studio.db").exists()
