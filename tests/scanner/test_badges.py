"""Staff badges: whose they are, what is on them, and what is refused."""

import shutil
import subprocess

import pytest

from scanner.badges import BADGES_MAX, Badge, blank_badges, named_badges
from scanner.layout import LAYOUTS, Symbology
from scanner.printing import badge_sheets
from scanner.sheets import japanese_lacks
from studio.domain.cards import CodeVersion, parse_code
from studio.domain.errors import MalformedError
from studio.services.people import NewPerson
from studio.services.person_values import BADGE
from studio.services.ports import Actor, Role
from tests.conftest import absent

SYSTEM = Actor(id=0, name="studio", role=None)
NAMES = "佐藤 花子\n髙橋 﨑\nZoë O'Neill\n"


@pytest.fixture
def names(tmp_path):
    """Return the badges of a file with this content."""

    def read(content, *, first=1, symbology=Symbology.QR):
        file = tmp_path / "names.csv"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return named_badges(file, first=first, symbology=symbology)

    return read


def test_a_badges_digits_are_what_the_station_and_the_administration_page_take():
    digits = Badge(number=14).code.digits
    assert digits == "301000001407"
    assert BADGE.fullmatch(digits)
    assert parse_code(digits).version is CodeVersion.BADGE


def test_a_printed_badge_logs_its_dealer_in(studio, stranger):
    digits = Badge(number=14).code.digits
    who = {"username": "sato", "display_name": "佐藤", "role": Role.DEALER, "language": "en"}
    secrets = {"password": "a password", "badge": digits, "pin": "4711"}
    studio.people.create(SYSTEM, NewPerson(**who, **secrets))
    stranger.open("/login")
    # A badge reader types what the code says.
    answer = stranger.send_form("/login", way="badge", badge=digits, pin="4711")
    assert answer.status_code == 303
    assert stranger.get("/api/me").json["role"] == "dealer"


def test_blank_badges_are_numbered_on():
    assert [badge.number for badge in blank_badges(3, first=20)] == [20, 21, 22]
    assert {badge.name for badge in blank_badges(3, first=20)} == {None}


def test_a_file_gives_a_badge_a_line(names):
    badges = names(NAMES + "\n  \n", first=7)
    assert [(badge.number, badge.name) for badge in badges] == [
        (7, "佐藤 花子"),
        (8, "髙橋 﨑"),
        (9, "Zoë O'Neill"),
    ]


def test_csv_may_give_a_number_and_nobody_else_gets_it(names):
    badges = names('name,badge\r\nA,\r\n"B, senior",2\r\nC,1\r\nD\r\n'.encode("utf-8-sig"))
    assert [(badge.name, badge.number) for badge in badges] == [
        ("A", 3),
        ("B, senior", 2),
        ("C", 1),
        ("D", 4),
    ]


def test_every_printed_name_can_be_read_from_the_sheet(names, tmp_path):
    if shutil.which("pdftotext") is None:
        absent("pdftotext (package poppler-utils)")
    for symbology in Symbology:
        badges = names(NAMES, symbology=symbology)
        file = tmp_path / f"{symbology}.pdf"
        badge_sheets(file, badges, symbology=symbology)
        shown = subprocess.run(
            ["pdftotext", "-layout", str(file), "-"], check=True, timeout=60, capture_output=True
        ).stdout.decode()
        for badge in badges:
            assert badge.code.digits in shown
            assert badge.name is not None
            assert all(part in shown for part in badge.name.split())


def test_the_font_holds_the_letters_of_names():
    assert japanese_lacks("髙橋﨑邉齋濵々ヶヴアあーAaZéø0-'") == ""
    assert japanese_lacks("A한A한☃") == "한☃"


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        ("", "names_empty", "holds no name"),
        ("name\n\n", "names_empty", "holds no name"),
        ("A\n,7\n", "name_wrong", "line 2: there is no name"),
        ("A\x07\n", "name_wrong", "line 1: there is no name that can be printed"),
        ("A\n김\n", "name_wrong", "line 2: the font has no 김"),
        ("A\n" + "W" * 61 + "\n", "name_wrong", "line 2: the name is too long"),
        ("A\nB,0\n", "badge_number_wrong", "line 2: "),
        ("A\nB,10000\n", "badge_number_wrong", "line 2: "),
        ("A\nSato, Hanako\n", "badge_number_wrong", "line 2: "),
        ("A,5\nB,5\n", "badge_number_wrong", "line 2: "),
        ("A,5,x\n", "badge_number_wrong", "line 1: "),
        ("A\n" * (BADGES_MAX + 1), "badges_out_of_range", "are printed at once"),
        ("佐藤".encode("shift_jis"), "names_unreadable", "is not UTF-8"),
    ],
)
def test_a_file_is_refused(names, content, code, said):
    with pytest.raises(MalformedError) as refusal:
        names(content)
    assert refusal.value.code == code
    assert said in refusal.value.message
    assert "\n" not in refusal.value.message


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(MalformedError) as refusal:
        named_badges(tmp_path / "absent.txt", first=1, symbology=Symbology.QR)
    assert refusal.value.code == "names_unreadable"
    assert "absent.txt can't be read" in refusal.value.message


@pytest.mark.parametrize(("count", "first"), [(0, 1), (BADGES_MAX + 1, 1), (2, 9999)])
def test_a_wrong_number_of_badges_is_refused(count, first):
    with pytest.raises(MalformedError) as refusal:
        blank_badges(count, first=first)
    assert refusal.value.code == "badges_out_of_range"


def test_a_narrower_middle_takes_a_shorter_name(names):
    assert (
        LAYOUTS[Symbology.CODE128].middle_box.width_mm < LAYOUTS[Symbology.QR].middle_box.width_mm
    )
    name = "Featherstonehaugh-Montgomery-Smith"
    assert names(name)[0].name == name
    with pytest.raises(MalformedError):
        names(name, symbology=Symbology.CODE128)
