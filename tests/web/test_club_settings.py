"""The club's file: what is shipped is whole, every fault is a line that names its key."""

from pathlib import Path

import pytest

from studio.club_settings import load_club
from studio.games import GAMES, by_code
from studio.services.club_data import ClubData, ItemKind
from studio.services.tallies import known_tallies
from studio.settings import DEFAULT_FILE
from studio.settings_error import SettingsError
from studio.web.catalogue import texts
from studio.web.pages.catalogue import LANGUAGES

SHIPPED = DEFAULT_FILE.parent / "club.toml"
TALLIES = known_tallies(by_code(GAMES))

FREE = "\n".join(
    f'[[item]]\ncode = "free_{kind}"\nkind = "{kind}"\nprice_minor = 0' for kind in ItemKind
)
TEXT = f"""
[[medal]]
code = "first_win"
tally = "wins"
at_least = 1

{FREE}

[[item]]
code = "felt_wine"
kind = "table_colour"
price_minor = 30000
"""


def load(tmp_path: Path, text: str) -> ClubData:
    file = tmp_path / "club.toml"
    file.write_text(text, encoding="utf-8")
    return load_club(file, tallies=TALLIES)


def refused(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(SettingsError) as error:
        load(tmp_path, text)
    for line in error.value.lines:
        assert "\n" not in line
        assert line.startswith(f"{tmp_path / 'club.toml'}: ")
    return [line.removeprefix(f"{tmp_path / 'club.toml'}: ") for line in error.value.lines]


@pytest.fixture(scope="module")
def shipped() -> ClubData:
    return load_club(SHIPPED, tallies=TALLIES)


def test_the_shipped_club_has_enough_of_everything(shipped):
    assert len(shipped.medals) >= 12
    for kind in ItemKind:
        items = [item for item in shipped.items if item.kind is kind]
        assert [item.price_minor for item in items].count(0) == 1
        assert len([item for item in items if item.price_minor > 0]) >= 3


@pytest.mark.parametrize("language", LANGUAGES)
def test_everything_in_the_shipped_club_has_its_texts(shipped, language):
    there = texts(language)
    wanted = [
        *(f"medal.{medal.code}" for medal in shipped.medals),
        *(f"medal.{medal.code}_how" for medal in shipped.medals),
        *(f"item.{item.code}" for item in shipped.items),
        *(f"club.kind.{kind}" for kind in ItemKind),
    ]
    assert [key for key in wanted if key not in there] == []


def test_a_file_becomes_medals_and_items_in_its_order(tmp_path):
    club = load(tmp_path, TEXT)
    assert [medal.code for medal in club.medals] == ["first_win"]
    assert club.items[-1].code == "felt_wine"
    assert club.items[-1].kind is ItemKind.TABLE_COLOUR
    assert club.by_code["felt_wine"].price_minor == 30_000
    assert club.free == {f"free_{kind}" for kind in ItemKind}
    assert club.first_free(ItemKind.MUSIC) == "free_music"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'tally = "wins"',
            'tally = "winz"',
            "medal first_win: tally is 'winz', but must be one of hit.",
        ),
        ('tally = "wins"', "tally = 1", "medal first_win: tally: Input should be a valid string"),
        ('tally = "wins"', "", "medal first_win: tally: missing"),
        ("at_least = 1", "at_least = 0", "medal first_win: at_least: Input should be greater"),
        ("at_least = 1", "at_least = 1.0", "medal first_win: at_least: Input should be a valid"),
        ("at_least = 1", "at_most = 1", "medal first_win: at_most: unknown key (did you mean "),
        ("at_least = 1", "at_least = true", "medal first_win: at_least: Input should be a valid"),
        ('code = "first_win"', "", "medal 1: code: missing"),
        ('code = "first_win"', 'code = "First win"', "medal First win: code: String should match"),
        ('code = "felt_wine"', 'code = "free_music"', "item free_music: code stands 2 times"),
        ("price_minor = 30000", "price_minor = -1", "item felt_wine: price_minor: Input should be"),
        ("price_minor = 30000", 'price_minor = "1"', "item felt_wine: price_minor: Input should"),
        ("price_minor = 30000", "price = 1", "item felt_wine: price: unknown key (did you mean"),
        (
            'kind = "table_colour"\nprice_minor = 30000',
            'kind = "tabel_colour"\nprice_minor = 30000',
            "item felt_wine: kind: Input should be 'table_colour', 'card_back', 'circle', 'plate' "
            "or 'music' (it is 'tabel_colour')",
        ),
        ("[[medal]]", "[[medals]]", "medals: unknown key (did you mean medal?); allowed: medal"),
        ("[[medal]]", "[medal]", "medal: Input should be a valid list"),
        (
            'kind = "plate"\nprice_minor = 0',
            'kind = "plate"\nprice_minor = 1',
            "item: kind plate needs an item with price_minor = 0",
        ),
    ],
)
def test_a_fault_is_named_by_its_key(tmp_path, old, new, said):
    assert old in TEXT
    assert any(line.startswith(said) for line in refused(tmp_path, TEXT.replace(old, new, 1)))


def test_every_fault_has_a_line_of_its_own(tmp_path):
    text = (
        TEXT.replace('tally = "wins"', 'tally = "winz"')
        + '[[item]]\ncode = "felt_wine"\n'
        + ('kind = "music"\nprice_minor = 5\n')
    )
    assert len(refused(tmp_path, text)) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("medal = [", "is not TOML"),
        ("", "medal: missing"),
        ("medal = [1]\nitem = []", "medal 1: Input should be a valid dictionary"),
        ("medal = []\nitem = []", "medal: List should have at least 1 item"),
    ],
)
def test_a_file_that_is_no_club_is_refused(tmp_path, text, said):
    assert said in refused(tmp_path, text)[0]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r"absent\.toml: can't be read"):
        load_club(tmp_path / "absent.toml", tallies=TALLIES)
