"""The scanner's own settings: one TOML file, and the device key from the environment."""

import tomllib
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, HttpUrl, ValidationError

from scanner.camera import FROZEN_MS
from scanner.child import LIMIT_MS
from scanner.decode import Symbology
from scanner.drawing import LOOKS
from scanner.pictures import PICTURES_MAX
from scanner.report_queue import QUEUE_REPORTS_MAX
from scanner.simulated import GAP_FRAMES

KEY_VARIABLE = "STUDIO_DEVICE_KEY"


class SettingsError(Exception):
    """The settings can't be used; the message names the key."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DeviceCamera(_Strict):
    """A camera on this machine."""

    kind: Literal["device"]
    index: int = Field(default=0, ge=0)
    width: int = Field(default=1280, ge=320, le=7680)
    height: int = Field(default=720, ge=240, le=4320)
    frozen_ms: int = Field(default=FROZEN_MS, ge=200, le=600_000)


class StreamCamera(_Strict):
    """A camera on the network: RTSP or HTTP."""

    kind: Literal["stream"]
    url: str = Field(pattern=r"^(rtsps?|https?)://.+")
    frozen_ms: int = Field(default=FROZEN_MS, ge=200, le=600_000)


class FileCamera(_Strict):
    """A recorded video."""

    kind: Literal["file"]
    path: Path


class FolderCamera(_Strict):
    """A folder of pictures."""

    kind: Literal["folder"]
    path: Path


class SimulatedCameraSettings(_Strict):
    """A camera that draws its frames; steered over a local socket."""

    kind: Literal["simulated"]
    socket: Path
    width: int = Field(default=1280, ge=320, le=1920)
    height: int = Field(default=720, ge=240, le=1080)
    frames_per_s: float = Field(default=30.0, gt=0, le=240)
    severity: int = Field(default=0, ge=0, lt=len(LOOKS))
    seed: int = Field(default=1, ge=0)
    gap_frames: int = Field(default=GAP_FRAMES, ge=0, le=60)


CameraSettings: TypeAlias = Annotated[
    DeviceCamera | StreamCamera | FileCamera | FolderCamera | SimulatedCameraSettings,
    Field(discriminator="kind"),
]


class ReadSettings(_Strict):
    """How codes are read."""

    symbology: Symbology = Symbology.QR
    budget_ms: int = Field(default=40, ge=5, le=1000)
    child: bool = True
    limit_ms: int = Field(default=LIMIT_MS, ge=200, le=60_000)


class UplinkSettings(_Strict):
    """Where reports go."""

    url: HttpUrl
    table: str = Field(min_length=1, max_length=40)
    device: str = Field(min_length=1, max_length=40, pattern=r"^[A-Za-z0-9_.-]+$")
    queue: Path
    queue_reports_max: int = Field(default=QUEUE_REPORTS_MAX, ge=1)
    pictures_max: int = Field(default=PICTURES_MAX, ge=0, le=10_000)


class ScannerSettings(_Strict):
    """Everything one scanner process needs but its key."""

    camera: CameraSettings
    read: ReadSettings = ReadSettings()
    uplink: UplinkSettings


def load_settings(path: Path) -> ScannerSettings:
    """Read and check the settings file.

    Raises:
        SettingsError: the file can't be read, or a key is missing, unknown or out of range.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{path} can't be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is no valid TOML: {error}.") from error
    try:
        return ScannerSettings.model_validate(content)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_input=False)
        )
        raise SettingsError(f"{path}: {faults}") from error


def device_key(environment: dict[str, str]) -> str:
    """Return the key that the back office knows this device by.

    Raises:
        SettingsError: the variable is not set, or can't be sent as it is.
    """
    key = environment.get(KEY_VARIABLE, "")
    if not key:
        raise SettingsError(f"{KEY_VARIABLE} is not set: the back office needs the device's key.")
    if not key.isascii() or not key.isprintable() or key != key.strip():
        raise SettingsError(
            f"{KEY_VARIABLE} has letters that a key can't have: plain ones only, no space around."
        )
    return key
