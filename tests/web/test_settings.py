"""Settings: every fault is one line that names the key, its place and what is allowed."""

import os
import stat
from pathlib import Path

import pytest

from studio.games import GAMES, by_code
from studio.services.proposing import CorrectionPolicy
from studio.settings import (
    DEFAULT_FILE,
    Settings,
    currency_of,
    devices,
    embedded_secret,
    load_settings,
    table_setups,
)
from studio.settings_error import SettingsError

TEXT = DEFAULT_FILE.read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUDIO_SECRET_KEY", "s" * 40)


def load(tmp_path: Path, text: str = TEXT) -> Settings:
    file = tmp_path / "studio.toml"
    file.write_text(text, encoding="utf-8")
    return load_settings(file)


def refused(tmp_path: Path, text: str = TEXT) -> str:
    with pytest.raises(SettingsError) as error:
        load(tmp_path, text)
    for line in error.value.lines:
        assert "\n" not in line
    return str(error.value)


def test_the_shipped_file_is_accepted_and_becomes_table_setups():
    settings = load_settings(DEFAULT_FILE)
    setup = table_setups(settings, by_code(GAMES))["T1"]
    assert setup.game == "pok_deng"
    assert setup.limits["main"].max_minor == 100_000
    assert setup.window_ms == 15_000
    assert currency_of(settings).code == "JPY"
    assert settings.corrections.policy == CorrectionPolicy()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("window_ms = 15000", "window_mss = 15000", "did you mean window_ms?"),
        ("window_ms = 15000", "window_ms = 0", "tables.T1.window_ms"),
        ("window_ms = 15000", 'window_ms = "long"', "tables.T1.window_ms"),
        ("port = 8000", "prot = 8000", "did you mean port?"),
        ("port = 8000", "port = 80000", "port: Input should be less than or equal to 65535"),
        ('currency = "JPY"', 'currency = "XYZ"', "must be one of JPY, USD, EUR"),
        ('scan_at = "draw"', 'scan_at = "never"', "tables.T1.scan_at: Input should be 'draw'"),
        ("decks = 8", "decks = 9", "tables.T1.decks"),
        ("pictures_days = 30", "pictures_days = 0", "pictures_days: Input should be greater"),
        ("idle_minutes = 30", "idle_minutes = 0", "session.idle_minutes"),
        ("failures_max = 5", "failure_max = 5", "did you mean failures_max?"),
        ("wagers_per_minute = 240", "wagers_per_minute = -1", "rates.wagers_per_minute"),
        ("notice_s = 10", "notice_s = 0", "corrections.notice_s: Input should be greater"),
        ("notice_s = 10", "notice_s = 3601", "corrections.notice_s: Input should be less"),
        ("approval_minor = 0", "approval_minor = -1", "corrections.approval_minor"),
        ("void_approval_minor = 1", "void_aproval_minor = 1", "mean void_approval_minor?"),
        ("min_minor = 100\nmax_minor = 100000", "min_minor = 100", "limits.main.max_minor"),
        ('["en", "ja"]', '["en", "fr"]', "languages.1: Input should be 'en' or 'ja'"),
        ('"Asia/Tokyo"', '"Asia/Tokio"', "time_zone: must be an IANA time zone"),
        ("sqlite:///var/studio.db", "mysql://x:secret@y/z", "database_url: must start with"),
        ("grace_ms = 5000", "grace_ms = 5000\ngrace = 1", "tables.T1.links.grace"),
    ],
)
def test_a_fault_in_the_file_is_named(tmp_path, old, new, said):
    assert old in TEXT
    message = refused(tmp_path, TEXT.replace(old, new, 1))
    assert said in message
    assert str(tmp_path / "studio.toml") in message
    assert "secret" not in message.replace("STUDIO_SECRET_KEY", "")


def test_every_fault_has_a_line_of_its_own(tmp_path):
    text = TEXT.replace("decks = 8", "decks = 0", 1).replace("port = 8000", "port = 0")
    assert len(refused(tmp_path, text).splitlines()) == 2


def test_a_file_that_is_no_toml_is_refused(tmp_path):
    assert "is not TOML" in refused(tmp_path, "port == 8000")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r"absent\.toml: can't be read"):
        load_settings(tmp_path / "absent.toml")


def test_studio_config_names_the_file(tmp_path, monkeypatch):
    file = tmp_path / "mine.toml"
    file.write_text(TEXT.replace("port = 8000", "port = 8123"), encoding="utf-8")
    monkeypatch.setenv("STUDIO_CONFIG", str(file))
    assert load_settings().port == 8123


def test_the_environment_wins_over_the_file_and_arguments_over_both(monkeypatch):
    monkeypatch.setenv("STUDIO_PORT", "8001")
    assert load_settings(DEFAULT_FILE).port == 8001
    assert load_settings(DEFAULT_FILE, port=8002).port == 8002


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("STUDIO_PORT", "many", "environment STUDIO_PORT: port"),
        ("STUDIO_PROT", "1", "STUDIO_PROT: unknown variable (did you mean STUDIO_PORT?)"),
        ("STUDIO_DEVICE_KEYS", "{cam", "environment STUDIO_DEVICE_KEYS: must be JSON"),
        ("STUDIO_DEVICE_KEYS", '{"cam": "brief"}', "the key of cam must be at least 16"),
        ("STUDIO_SECRET_KEY", "brief", "environment STUDIO_SECRET_KEY: secret_key: must be"),
    ],
)
def test_a_fault_in_the_environment_is_named_without_its_secret(
    tmp_path, monkeypatch, variable, value, said
):
    monkeypatch.setenv(variable, value)
    message = refused(tmp_path)
    assert said in message
    assert "brief" not in message


def test_without_a_secret_key_nothing_starts(tmp_path, monkeypatch):
    monkeypatch.delenv("STUDIO_SECRET_KEY")
    assert "STUDIO_SECRET_KEY: missing" in refused(tmp_path)


def test_a_secret_in_the_file_is_refused(tmp_path):
    message = refused(tmp_path, f'secret_key = "{"k" * 40}"\n' + TEXT)
    assert "secrets come from the environment" in message
    assert "kkk" not in message


def test_a_device_without_its_key_stops_the_start(tmp_path, monkeypatch):
    text = TEXT + '\n[devices.T1-camera]\ntables = ["T1"]\nkey_variable = "T1_CAMERA_KEY"\n'
    settings = load(tmp_path, text)
    with pytest.raises(SettingsError, match="T1_CAMERA_KEY must hold a key"):
        devices(settings)
    monkeypatch.setenv("T1_CAMERA_KEY", "k" * 20)
    assert devices(settings)["T1-camera"].tables == {"T1"}


def test_a_device_of_an_unknown_table_is_refused(tmp_path):
    text = TEXT + '\n[devices.cam]\ntables = ["T9"]\nkey_variable = "CAM"\n'
    assert "devices.cam.tables names T9, which is no table" in refused(tmp_path, text)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('game = "pok_deng"', 'game = "pok_dong"', "must be one of pok_deng"),
        ("[tables.T1.limits.pair]", "[tables.T1.limits.pears]", "has no limits for bets of kind"),
        ("max_minor = 100000", "max_minor = 900000", "limits.main.max is 900000"),
        ("cut_depth_min = 52", "cut_depth_min = 300", "cut_depth_min is 300"),
    ],
)
def test_a_table_that_could_never_work_is_named(tmp_path, old, new, said):
    settings = load(tmp_path, TEXT.replace(old, new, 1))
    with pytest.raises(SettingsError, match=r"^tables\.T1: ") as error:
        table_setups(settings, by_code(GAMES))
    assert said in str(error.value)


def test_an_embedded_studio_keeps_its_own_secret_private(tmp_path):
    file = tmp_path / "var" / "secret_key"
    first = embedded_secret(file)
    assert len(first) >= 32
    assert embedded_secret(file) == first
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
