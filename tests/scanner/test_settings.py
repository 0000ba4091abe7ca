"""The scanner's settings: every fault names its key."""

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


@pytest.mark.parametrize("environment", [{}, {"STUDIO_DEVICE_KEY": ""}])
def test_a_missing_key_names_the_variable(environment):
    with pytest.raises(SettingsError, match="STUDIO_DEVICE_KEY"):
        device_key(environment)


def test_the_key_comes_from_the_environment():
    assert device_key({"STUDIO_DEVICE_KEY": "k"}) == "k"
