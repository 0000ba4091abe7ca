"""Settings of play money: a studio of G starts; money with anything of play does not."""

from pathlib import Path

import pytest

from studio.domain.money import CURRENCIES
from studio.games import GAMES, by_code
from studio.services.purse import smallest_bet_minor
from studio.settings import DEFAULT_FILE, currency_of, load_settings, table_setups
from studio.settings_error import SettingsError
from studio.settings_play import PlaySettings, play_policy

PLAY_FILE = DEFAULT_FILE.with_name("play.toml")
TEXT = PLAY_FILE.read_text(encoding="utf-8")
MONEY = DEFAULT_FILE.read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUDIO_SECRET_KEY", "s" * 40)


def refused(tmp_path: Path, text: str) -> str:
    file = tmp_path / "studio.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as error:
        table_setups(load_settings(file), by_code(GAMES))
    assert len(error.value.lines) == 1
    return error.value.lines[0]


def test_the_shipped_play_money_studio_is_accepted():
    settings = load_settings(PLAY_FILE)
    setups = table_setups(settings, by_code(GAMES))
    assert {code: setup.game for code, setup in setups.items()} == {
        "T1": "baccarat",
        "T2": "pok_deng",
    }
    assert setups["T1"].config.options["online_bonus"] is True
    assert setups["T1"].config.burn_per_round == 0
    assert {(limit.min_minor, limit.max_minor) for limit in setups["T1"].limits.values()} == {
        (100, 99_900)
    }
    currency = currency_of(settings)
    assert (currency.code, currency.decimals, currency.play) == ("G", 2, True)
    policy = play_policy(settings.play, currency)
    assert (policy.purse_minor, policy.room_seats_max, policy.room_seats_min) == (100_000, 4, 2)
    assert smallest_bet_minor(setups, by_code(GAMES)) == 100
    assert not set(setups["T1"].deck_sets) & set(setups["T2"].deck_sets)
    assert settings.database_url != load_settings(DEFAULT_FILE).database_url


def test_without_the_section_the_defaults_hold_in_play_money_only():
    assert PlaySettings() == load_settings(PLAY_FILE).play
    assert play_policy(PlaySettings(), CURRENCIES["PLAY"]) is not None
    assert play_policy(PlaySettings(), CURRENCIES["JPY"]) is None


def test_the_section_is_refused_where_tables_use_money(tmp_path):
    said = refused(tmp_path, MONEY + "\n[play]\npurse_minor = 5000\n")
    assert said.endswith("play is for play money only (G and PLAY); the tables' currency is JPY")


def for_money(text: str) -> str:
    """Return the play-money studio as one of JPY, its tables as they are."""
    before, after = text.split("[play]")
    return (before + after[after.index("[tables.T1]") :]).replace('"G"', '"JPY"')


def test_a_table_of_money_may_not_have_the_online_bonus(tmp_path):
    assert refused(tmp_path, for_money(TEXT)) == (
        "tables.T1: options.online_bonus is for play money only; the table's currency is JPY"
    )


def test_a_table_of_money_without_the_bonus_starts(tmp_path):
    file = tmp_path / "studio.toml"
    text = for_money(TEXT).replace("online_bonus = true", "online_bonus = false")
    file.write_text(text, encoding="utf-8")
    assert set(table_setups(load_settings(file), by_code(GAMES))) == {"T1", "T2"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("purse_minor = 100000", "purse = 100000", "did you mean purse_minor?"),
        ("purse_minor = 100000", "purse_minor = 0", "play.purse_minor"),
        ("room_seats_max = 4", "room_seats_max = 1", "play.room_seats_max"),
        ("room_seats_max = 4", "room_seats_max = 13", "play.room_seats_max"),
        ("room_seats_min = 2", "room_seats_min = 1", "play.room_seats_min"),
        (
            "room_seats_min = 2",
            "room_seats_min = 5",
            "play: room_seats_min is more than room_seats_max, 4",
        ),
    ],
)
def test_a_fault_in_the_section_is_named(tmp_path, old, new, said):
    assert old in TEXT
    message = refused(tmp_path, TEXT.replace(old, new, 1))
    assert said in message
    assert str(tmp_path / "studio.toml") in message
