"""The scanner's settings: every fault names its key."""

import re
import tomllib
from pathlib import Path

import pytest

from scanner.settings import SettingsError, device_key, load_settings

GOOD = """
[camera]
kind = "simulated"
socket = "cam.sock"

[uplink]
url = "http://127.0.0.1:5000"
table = "T1"
device = "scanner-1"
queue = "queue.sqlite"
"""


@pytest.fixture
def load(tmp_path):
    def load(text):
        path = tmp_path / "scanner.toml"
        path.write_text(text, encoding="utf-8")
        return load_settings(path)

    return load


def test_good_settings_have_sensible_defaults(load):
    settings = load(GOOD)
    assert (settings.camera.width, settings.camera.height) == (1280, 720)
    assert (settings.read.symbology, settings.read.budget_ms) == ("qr", 40)


@pytest.mark.parametrize(
    ("camera", "kind"),
    [
        ('kind = "device"\nindex = 2', "device"),
        ('kind = "stream"\nurl = "rtsp://camera/1"', "stream"),
        ('kind = "file"\npath = "video.mp4"', "file"),
        ('kind = "folder"\npath = "frames"', "folder"),
    ],
)
def test_every_kind_of_camera_can_be_set(load, camera, kind):
    text = GOOD.replace('kind = "simulated"\nsocket = "cam.sock"', camera)
    assert load(text).camera.kind == kind


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('kind = "simulated"', 'kind = "telescope"', "camera"),
        ('kind = "simulated"', 'kind = "simulated"\nwidht = 640', "camera.simulated.widht"),
        ('kind = "simulated"', 'kind = "simulated"\nframes_per_s = 0', "frames_per_s"),
        ('kind = "simulated"', 'kind = "simulated"\nseverity = 6', "severity"),
        ('socket = "cam.sock"', "", "camera.simulated.socket"),
        ('url = "http://127.0.0.1:5000"', 'url = "somewhere"', "uplink.url"),
        ('table = "T1"', 'table = ""', "uplink.table"),
        ('device = "scanner-1"', 'device = "a b"', "uplink.device"),
        ('queue = "queue.sqlite"', "", "uplink.queue"),
        ("[uplink]", "[uplnik]", "uplnik"),
        ("[uplink]", 'key = "secret"\n[uplink]', "camera.simulated.key"),
        ("[uplink]", '[read]\nsymbology = "itf"\n[uplink]', "read.symbology"),
        ("[uplink]", "[read]\nbudget_ms = 1\n[uplink]", "read.budget_ms"),
        ("[uplink]", '[read]\nchild = "maybe"\n[uplink]', "read.child"),
        ("[uplink]", "[read]\nlimit_ms = 20\n[uplink]", "read.limit_ms"),
        ("[uplink]", "[uplink]\nqueue_reports_max = 0", "uplink.queue_reports_max"),
        ("[uplink]", "[uplink]\npictures_max = -1", "uplink.pictures_max"),
        ("[camera]", "[camera", "TOML"),
    ],
)
def test_a_fault_names_its_key(load, old, new, key):
    assert old in GOOD
    with pytest.raises(SettingsError) as fault:
        load(GOOD.replace(old, new, 1))
    assert key in str(fault.value)
    assert "\n" not in str(fault.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r"nowhere\.toml"):
        load_settings(tmp_path / "nowhere.toml")


@pytest.mark.parametrize("url", ["", "camera", "/dev/video0", "file:///etc/passwd", "rtsp://"])
def test_a_stream_is_on_the_network(load, url):
    with pytest.raises(SettingsError, match=r"camera\.stream\.url"):
        load(
            GOOD.replace(
                'kind = "simulated"\nsocket = "cam.sock"', f'kind = "stream"\nurl = "{url}"'
            )
        )


def test_a_fault_does_not_repeat_an_address_with_its_password(load):
    stream = 'kind = "stream"\nurl = "rtps://admin:secret@camera/1"'
    with pytest.raises(SettingsError) as fault:
        load(GOOD.replace('kind = "simulated"\nsocket = "cam.sock"', stream))
    assert "secret" not in str(fault.value)


SHIPPED = Path(__file__).parents[2] / "config" / "scanner.toml"


def test_the_shipped_file_names_every_setting_with_its_default(load):
    settings = load(SHIPPED.read_text(encoding="utf-8"))
    shipped = tomllib.loads(SHIPPED.read_text(encoding="utf-8"))
    for part in ("camera", "read", "uplink"):
        fields = type(getattr(settings, part)).model_fields
        assert set(shipped[part]) == set(fields)
        for name, field in fields.items():
            assert (
                field.is_required() or getattr(settings, part).model_dump()[name] == field.default
            )


@pytest.mark.parametrize("kind", ["stream", "file", "folder", "simulated"])
def test_the_shipped_file_shows_every_other_kind_of_camera(load, kind):
    text = SHIPPED.read_text(encoding="utf-8")
    block = text[text.index(f'# kind = "{kind}"') :].split("\n\n", 1)[0]
    lines = [line[2:] for line in block.splitlines() if re.match(r"# \w+ = ", line)]
    camera = load(GOOD.replace('kind = "simulated"\nsocket = "cam.sock"', "\n".join(lines))).camera
    assert set(type(camera).model_fields) == camera.model_fields_set
    assert camera.kind == kind


@pytest.mark.parametrize("key", ["k\n", " k", "clé", "k\0", "カード"])
def test_a_key_that_can_not_be_sent_is_refused_and_not_shown(key):
    with pytest.raises(SettingsError, match="STUDIO_DEVICE_KEY") as fault:
        device_key({"STUDIO_DEVICE_KEY": key})
    assert key.strip() not in str(fault.value).split()


@pytest.mark.parametrize("environment", [{}, {"STUDIO_DEVICE_KEY": ""}])
def test_a_missing_key_names_the_variable(environment):
    with pytest.raises(SettingsError, match="STUDIO_DEVICE_KEY"):
        device_key(environment)


def test_the_key_comes_from_the_environment():
    assert device_key({"STUDIO_DEVICE_KEY": "k"}) == "k"
