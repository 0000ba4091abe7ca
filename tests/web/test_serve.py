"""`serve`: clear words before anything starts, and a studio that answers after."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests

ROOT = Path(__file__).resolve().parents[2]
START_S = 60


def environment(tmp_path, **changed):
    plain = {key: value for key, value in os.environ.items() if not key.startswith("STUDIO_")}
    return {
        **plain,
        "STUDIO_SECRET_KEY": "s" * 40,
        "STUDIO_DATABASE_URL": f"sqlite:///{tmp_path / 'studio.db'}",
        **changed,
    }


def serve(tmp_path, *arguments, **changed):
    return subprocess.run(
        [sys.executable, "app.py", "serve", *arguments],
        cwd=ROOT,
        env=environment(tmp_path, **changed),
        capture_output=True,
        text=True,
        timeout=START_S,
        check=False,
    )


@pytest.mark.process
def test_a_busy_port_is_named_and_nothing_starts(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        ended = serve(tmp_path, "--port", str(port))
    assert ended.returncode == 1
    assert ended.stderr == (f"port {port} is in use: stop the other program or choose --port\n")
    assert not (tmp_path / "studio.db").exists()


@pytest.mark.process
@pytest.mark.parametrize(
    ("arguments", "changed", "said"),
    [
        (("--port", "99999"), {}, "command line: port: Input should be less than or equal"),
        ((), {"STUDIO_PROT": "1"}, "STUDIO_PROT: unknown variable (did you mean STUDIO_PORT?)"),
        ((), {"STUDIO_CONFIG": "absent.toml"}, "absent.toml: can't be read"),
        (("--database-url", "mysql://x/y"), {}, "database_url: must start with sqlite:///"),
    ],
)
def test_settings_that_are_wrong_are_named_in_a_line(tmp_path, arguments, changed, said):
    ended = serve(tmp_path, *arguments, **changed)
    assert ended.returncode == 2
    assert said in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.process
def test_a_database_out_of_reach_is_named_without_its_password(tmp_path):
    url = "postgresql+psycopg://studio:geheim@127.0.0.1:9/studio"
    ended = serve(tmp_path, "--port", str(free_port()), STUDIO_DATABASE_URL=url)
    assert ended.returncode == 1
    assert "can't be opened" in ended.stderr
    assert "geheim" not in ended.stderr


@pytest.mark.process
def test_a_fresh_studio_serves_and_shows_its_first_login_once(tmp_path):
    port = free_port()
    log = tmp_path / "serve.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "app.py", "serve", "--port", str(port)],
            cwd=ROOT,
            env=environment(tmp_path),
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        page = wait_for(f"http://127.0.0.1:{port}/login", process, log)
        assert page.status_code == 200
        shown = re.search(r"log in as admin with (\S+)", log.read_text())
        assert shown is not None
        with requests.Session() as browser:
            form = browser.get(f"http://127.0.0.1:{port}/login", timeout=10)
            token = re.search(r'name="csrf_token" value="([^"]+)"', form.text)
            assert token is not None
            browser.post(
                f"http://127.0.0.1:{port}/login",
                data={"username": "admin", "password": shown[1], "csrf_token": token[1]},
                timeout=10,
            )
            me = browser.get(f"http://127.0.0.1:{port}/api/me", timeout=10)
        assert me.json()["role"] == "administrator"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=20)
    assert "Traceback" not in log.read_text()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(address, process, log):
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()
        try:
            return requests.get(address, timeout=5)
        except requests.ConnectionError:
            time.sleep(0.1)
    pytest.fail(f"no answer from {address}: {log.read_text()}")
