"""The studio's settings: a TOML file, the environment over it, checked as a whole at the start.

Every fault is one line that names the key, where it was written and what is allowed; nothing
starts with a setting that nobody reads. Secrets are taken from the environment only.
"""

import difflib
import os
import secrets
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args, get_origin
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from pydantic_settings import SettingsError as UnreadableSourceError

from studio.domain.cards import DECK_SET_MAX
from studio.domain.errors import MalformedError
from studio.domain.game import AnyGame, GameConfig, Json, ScanAt
from studio.domain.money import CURRENCIES, STAKE_MINOR_MAX, Currency
from studio.services.setup import BetLimits, LinkLimits, TableSetup
from studio.settings_corrections import CorrectionSettings
from studio.settings_error import SettingsError
from studio.settings_play import PlaySettings, need_no_money, need_options_for_money
from studio.settings_retention import RetentionSettings

PREFIX = "STUDIO_"
DEFAULT_FILE = Path(__file__).resolve().parent.parent / "config" / "studio.toml"
SECRETS = ("secret_key", "device_keys")
_NEVER_SHOWN = (*SECRETS, "database_url", "redis_url")
"""Values that no error text repeats: addresses may hold a password."""
SECRET_KEY_CHARS_MIN = 32
DEVICE_KEY_CHARS_MIN = 16
LANGUAGES = ("en", "ja")
_ENVIRONMENT_ONLY = ("STUDIO_CONFIG",)
_TESTS_PREFIX = "STUDIO_TEST_"

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$")]
Milliseconds = Annotated[int, Field(gt=0, le=3_600_000)]
Amount = Annotated[int, Field(gt=0, le=STAKE_MINOR_MAX)]
Rate = Annotated[int, Field(gt=0, le=1_000_000)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SessionSettings(_Section):
    """How long a login lasts."""

    idle_minutes: int = Field(default=30, gt=0, le=1440)
    """Without a request for so long, the session ends."""
    lifetime_minutes: int = Field(default=720, gt=0, le=10_080)
    """After so long it ends in any case."""


class LoginSettings(_Section):
    """When failed logins are slowed."""

    failures_max: int = Field(default=5, ge=1, le=100)
    window_seconds: int = Field(default=300, ge=1, le=86_400)


class RateSettings(_Section):
    """Requests a minute: of one person, for logins of one address."""

    wagers_per_minute: Rate = 240
    commands_per_minute: Rate = 240
    logins_per_minute: Rate = 20
    reads_per_minute: Rate = 1200


class DeviceSettings(_Section):
    """A scanner or a stream with a key of its own."""

    tables: tuple[Name, ...]
    """Codes of the tables it may speak for."""
    key_variable: str = Field(pattern=r"^[A-Z][A-Z0-9_]*$")
    """Name of the environment variable that holds its key."""


class LimitSettings(_Section):
    """Least and most on one bet, minor units of stake."""

    min_minor: Amount
    max_minor: Amount


class LinkSettings(_Section):
    """When a link counts as lost, milliseconds."""

    scanner_lost_ms: Milliseconds = LinkLimits.scanner_lost_ms
    station_lost_ms: Milliseconds = LinkLimits.station_lost_ms
    video_lost_ms: Milliseconds = LinkLimits.video_lost_ms
    grace_ms: Milliseconds = LinkLimits.grace_ms


class TableSettings(_Section):
    """One table as the file states it; `TableSetup` says what each key means."""

    name: str = Field(min_length=1, max_length=60)
    game: str
    currency: str
    decks: int = Field(default=8, ge=1, le=8)
    scan_at: ScanAt = ScanAt.DRAW
    burn_per_round: int = Field(default=1, ge=0, le=10)
    options: dict[str, Json] = Field(default_factory=dict)
    window_ms: Milliseconds
    cut_depth_min: int = Field(ge=0, le=416)
    cut_depth_max: int = Field(ge=0, le=416)
    deck_sets: tuple[Annotated[int, Field(ge=1, le=DECK_SET_MAX)], ...] = Field(min_length=1)
    scan_tries_max: int = Field(default=3, ge=1, le=100)
    order_run: int = Field(default=10, ge=0, le=52)
    stream_path: str | None = Field(default=None, pattern=r"^/[A-Za-z0-9/_.-]+$")
    player_max_minor: Amount
    table_max_minor: Amount
    limits: dict[str, LimitSettings] = Field(min_length=1)
    links: LinkSettings = LinkSettings()

    @field_validator("currency")
    @classmethod
    def _known_currency(cls, code: str) -> str:
        if code not in CURRENCIES:
            msg = f"must be one of {', '.join(CURRENCIES)}"
            raise ValueError(msg)
        return code


class Settings(BaseSettings):
    """All settings of one studio process."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, extra="forbid", frozen=True, validate_default=True
    )

    database_url: str = "sqlite:///var/studio.db"
    redis_url: str | None = None
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=1, le=65_535)
    https: bool = False
    proxies: int = Field(default=0, ge=0, le=5)
    secret_key: SecretStr
    languages: tuple[Literal["en", "ja"], ...] = Field(default=("en", "ja"), min_length=1)
    time_zone: str = "Asia/Tokyo"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    retention: RetentionSettings = RetentionSettings()
    audit_hours: float = Field(default=24.0, ge=0, le=168)
    """So often everything stored is audited while the studio runs; 0: never by itself."""
    session: SessionSettings = SessionSettings()
    login: LoginSettings = LoginSettings()
    rates: RateSettings = RateSettings()
    play: PlaySettings = PlaySettings()
    corrections: CorrectionSettings = CorrectionSettings()
    device_keys: dict[Name, SecretStr] = Field(default_factory=dict)
    devices: dict[Name, DeviceSettings] = Field(default_factory=dict)
    tables: dict[Name, TableSettings] = Field(min_length=1)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take arguments first, then the environment, then the file of `model_config`."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @field_validator("database_url")
    @classmethod
    def _known_database(cls, url: str) -> str:
        if not url.startswith(("sqlite:///", "postgresql+psycopg://")):
            msg = "must start with sqlite:/// or postgresql+psycopg://"
            raise ValueError(msg)
        return url

    @field_validator("redis_url")
    @classmethod
    def _known_redis(cls, url: str | None) -> str | None:
        if url is not None and not url.startswith(("redis://", "rediss://", "unix://")):
            msg = "must start with redis://, rediss:// or unix://"
            raise ValueError(msg)
        return url

    @field_validator("secret_key")
    @classmethod
    def _long_key(cls, key: SecretStr) -> SecretStr:
        if len(key.get_secret_value()) < SECRET_KEY_CHARS_MIN:
            msg = f"must be at least {SECRET_KEY_CHARS_MIN} characters"
            raise ValueError(msg)
        return key

    @field_validator("device_keys")
    @classmethod
    def _long_device_keys(cls, keys: dict[str, SecretStr]) -> dict[str, SecretStr]:
        for device, key in keys.items():
            if len(key.get_secret_value()) < DEVICE_KEY_CHARS_MIN:
                msg = f"the key of {device} must be at least {DEVICE_KEY_CHARS_MIN} characters"
                raise ValueError(msg)
        return keys

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError) as error:
            msg = "must be an IANA time zone such as Asia/Tokyo"
            raise ValueError(msg) from error
        return name

    @model_validator(mode="after")
    def _devices_fit(self) -> Self:
        for device, entry in self.devices.items():
            unknown = [table for table in entry.tables if table not in self.tables]
            if unknown:
                msg = f"devices.{device}.tables names {unknown[0]}, which is no table"
                raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _play_fits(self) -> Self:
        if "play" in self.model_fields_set:
            need_no_money(table.currency for table in self.tables.values())
        return self


@dataclass(frozen=True, kw_only=True)
class Device:
    """A device that may report: its name, its key and its tables."""

    name: str
    key: str
    tables: frozenset[str]


def load_settings(file: Path | None = None, **overrides: Json) -> Settings:
    """Read and check the settings.

    Args:
        file: TOML file; else the one STUDIO_CONFIG names, else config/studio.toml.
        **overrides: values that win over environment and file (command line options).

    Raises:
        SettingsError: with one line for every fault.
    """
    path = file or Path(os.environ.get("STUDIO_CONFIG") or DEFAULT_FILE)
    faults = [*_file_faults(path), *_environment_faults(path)]
    if faults:
        raise SettingsError(faults)

    class FromFile(Settings):
        model_config = SettingsConfigDict(toml_file=path)

    try:
        return FromFile(**overrides)
    except ValidationError as error:
        raise SettingsError(
            [_explain(one, path, overrides) for one in error.errors(include_url=False)]
        ) from error
    except UnreadableSourceError as error:
        field = next((name for name in Settings.model_fields if f'"{name}"' in str(error)), "?")
        raise SettingsError([f"environment {PREFIX}{field.upper()}: must be JSON"]) from error


def embedded_secret(file: Path) -> str:
    """Return the secret key that a studio on one machine keeps beside its database.

    Made at the first start, readable by its owner only; larger studios set STUDIO_SECRET_KEY.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return file.read_text(encoding="ascii").strip()
    with os.fdopen(descriptor, "w", encoding="ascii") as out:
        out.write(secrets.token_urlsafe(48))
    return file.read_text(encoding="ascii")


def table_setups(settings: Settings, games: Mapping[str, AnyGame]) -> Mapping[str, TableSetup]:
    """Turn the tables' settings into what the use cases read.

    Raises:
        SettingsError: a game is unknown, refuses its options, or has some for play money only;
            a kind of bet has no limits.
    """
    setups = {}
    faults = []
    for code, table in settings.tables.items():
        try:
            setups[code] = _setup(code, table, games)
        except MalformedError as error:
            faults.append(f"tables.{code}: {error.message}")
    if faults:
        raise SettingsError(faults)
    return setups


def devices(settings: Settings) -> Mapping[str, Device]:
    """Return the devices by name.

    A device that stands in `device_keys` alone may speak for every table.

    Raises:
        SettingsError: a declared device has no key, or one that is too short.
    """
    found = {
        name: Device(name=name, key=key.get_secret_value(), tables=frozenset(settings.tables))
        for name, key in settings.device_keys.items()
    }
    faults = []
    for name, entry in settings.devices.items():
        key = os.environ.get(entry.key_variable) or (found[name].key if name in found else "")
        if len(key) < DEVICE_KEY_CHARS_MIN:
            faults.append(
                f"devices.{name}: the environment variable {entry.key_variable} must hold a key "
                f"of at least {DEVICE_KEY_CHARS_MIN} characters"
            )
        found[name] = Device(name=name, key=key, tables=frozenset(entry.tables))
    if faults:
        raise SettingsError(faults)
    return found


def currency_of(settings: Settings) -> Currency:
    """Return the currency of the wallets: that of the tables, which all share one.

    Raises:
        SettingsError: tables with different currencies.
    """
    codes = sorted({table.currency for table in settings.tables.values()})
    if len(codes) > 1:
        raise SettingsError(
            [f"tables.*.currency: all tables must share one currency, not {', '.join(codes)}"]
        )
    return CURRENCIES[codes[0]]


def _setup(code: str, table: TableSettings, games: Mapping[str, AnyGame]) -> TableSetup:
    if table.game not in games:
        raise MalformedError(
            "unknown_game", f"game is {table.game!r}, but must be one of {', '.join(games)}"
        )
    setup = TableSetup(
        code=code,
        name=table.name,
        game=table.game,
        config=GameConfig(
            decks=table.decks,
            scan_at=table.scan_at,
            burn_per_round=table.burn_per_round,
            options=table.options,
        ),
        currency=CURRENCIES[table.currency],
        window_ms=table.window_ms,
        limits={
            kind: BetLimits(min_minor=limits.min_minor, max_minor=limits.max_minor)
            for kind, limits in table.limits.items()
        },
        player_max_minor=table.player_max_minor,
        table_max_minor=table.table_max_minor,
        cut_depth_min=table.cut_depth_min,
        cut_depth_max=table.cut_depth_max,
        deck_sets=table.deck_sets,
        links=LinkLimits(**table.links.model_dump()),
        scan_tries_max=table.scan_tries_max,
        order_run=table.order_run,
        stream_path=table.stream_path,
    )
    bets = setup.bets(games[table.game])
    for bet in bets.values():
        setup.wager_limits(bet)
    kinds = sorted({bet.settles_on for bet in bets.values()})
    unknown = [kind for kind in table.limits if kind not in kinds]
    if unknown:
        raise MalformedError(
            "unknown_limits", f"limits.{unknown[0]} is unknown; allowed: {', '.join(kinds)}"
        )
    need_options_for_money(setup, games[table.game])
    return setup


def _file_faults(path: Path) -> Iterator[str]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        yield f"{path}: can't be read: {error.strerror}"
        return
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        yield f"{path}: is not TOML: {error}"
        return
    for key in SECRETS:
        if key in content:
            yield (
                f"{path}: {key}: secrets come from the environment ({PREFIX}{key.upper()}), "
                "never from a file"
            )


def _environment_faults(path: Path) -> Iterator[str]:
    """Name variables with our prefix that nothing reads: a typing error there is silent else."""
    named = _key_variables(path)
    known = [PREFIX + key.upper() for key in Settings.model_fields]
    for variable in sorted(os.environ):
        if (
            variable.startswith(PREFIX)
            and not variable.startswith(_TESTS_PREFIX)
            and variable not in (*known, *_ENVIRONMENT_ONLY, *named)
        ):
            yield f"environment: {variable}: unknown variable{_suggestion(variable, known)}"


def _key_variables(path: Path) -> frozenset[str]:
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("devices", {})
    except (OSError, ValueError):
        return frozenset()
    return frozenset(
        str(entry.get("key_variable")) for entry in entries.values() if isinstance(entry, dict)
    )


def _explain(error: ErrorDetails, path: Path, overrides: Mapping[str, Json]) -> str:
    location = error["loc"]
    key = ".".join(str(part) for part in location)
    variable = f"{PREFIX}{str(location[0]).upper()}" if location else ""
    where = str(path)
    if location and location[0] in overrides:
        where = "command line"
    elif variable in os.environ:
        where = f"environment {variable}"
    if error["type"] == "extra_forbidden":
        allowed = _allowed_keys(location)
        return (
            f"{where}: {key}: unknown key{_suggestion(str(location[-1]), allowed)}; "
            f"allowed: {', '.join(allowed)}"
        )
    if error["type"] == "missing":
        if location == ("secret_key",):
            return (
                "environment: STUDIO_SECRET_KEY: missing; set it to a random text of at least "
                f"{SECRET_KEY_CHARS_MIN} characters"
            )
        return f"{where}: {key}: missing"
    message = error["msg"].removeprefix("Value error, ")
    shown = location and location[0] not in _NEVER_SHOWN and not isinstance(error["input"], dict)
    return ": ".join(filter(None, (where, key, message))) + (
        f" (it is {error['input']!r:.60})" if shown else ""
    )


def _allowed_keys(location: tuple[int | str, ...]) -> list[str]:
    """Return the keys that may stand where the last part of `location` stands."""
    kind: Any = Settings
    for part in location[:-1]:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            kind = kind.model_fields[str(part)].annotation
        elif get_origin(kind) is dict:
            kind = get_args(kind)[1]
    fields = kind.model_fields if isinstance(kind, type) and issubclass(kind, BaseModel) else {}
    return [name for name in fields if name not in SECRETS]


def _suggestion(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    return f" (did you mean {close[0]}?)" if close else ""
