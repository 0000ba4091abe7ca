"""The house is tidy: what no linter holds."""

import ast
import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [
    ROOT / "app.py",
    *sorted((ROOT / "studio").rglob("*.py")),
    *sorted((ROOT / "scanner").rglob("*.py")),
]
LINES_MAX = 500
FUNCTION_LINES_MAX = 50
TEXT_SUFFIXES = {
    ".py", ".toml", ".txt", ".in", ".md", ".html", ".css", ".js", ".po", ".sh", ".json", "",
}  # fmt: skip
UNWRITTEN = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b|NotImplemented" r"Error")
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|Users|root|work)/\w")


def committed_files():
    """Return the files of the repository, or of the folder where there is no git."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    names = listed.stdout.split("\0") if listed.returncode == 0 else []
    files = [ROOT / name for name in names if name]
    return [file for file in files if file.is_file() and file.suffix in TEXT_SUFFIXES]


def relative(file):
    return str(file.relative_to(ROOT))


def test_no_module_is_longer_than_500_lines():
    long = {
        relative(file): count
        for file in SOURCES
        if (count := len(file.read_text(encoding="utf-8").splitlines())) > LINES_MAX
    }
    assert long == {}


def test_no_function_is_longer_than_50_lines():
    """An exhaustive `match` over commands or events counts as one decision; migrations as data."""
    long = {}
    for file in [file for file in SOURCES if "migrations" not in file.parts]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[0]
                text = first.value if isinstance(first, ast.Expr) else None
                documented = isinstance(text, ast.Constant) and isinstance(text.value, str)
                start = first.end_lineno + 1 if documented else node.lineno
                matches = isinstance(node.body[-1], ast.Match)
                if node.end_lineno - start >= FUNCTION_LINES_MAX and not matches:
                    long[f"{relative(file)}:{node.name}"] = node.end_lineno - start + 1
    assert long == {}


def test_nothing_is_left_unwritten():
    found = [
        f"{relative(file)}:{number}"
        for file in [*SOURCES, *sorted((ROOT / "tests").rglob("*.py"))]
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if UNWRITTEN.search(line)
    ]
    assert found == []


def test_no_file_knows_the_machine_it_was_written_on():
    found = [
        relative(file)
        for file in committed_files()
        if MACHINE_PATH.search(file.read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_locks_pin_every_package_and_name_no_index(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pinned = [line for line in lines if line and not line.startswith("#")]
    assert len(pinned) > 20
    for line in pinned:
        assert re.fullmatch(r"[a-z0-9._-]+(\[[a-z,]+\])?==[A-Za-z0-9.+!]+( ;.*)?", line), line


def test_both_locks_agree():
    def read(name):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        return dict(line.split("==") for line in lines if "==" in line)

    run, dev = read("requirements.txt"), read("requirements-dev.txt")
    assert {name: (run[name], dev[name]) for name in run.keys() & dev.keys()} == {
        name: (run[name], run[name]) for name in run.keys() & dev.keys()
    }


@pytest.mark.parametrize("package", ["geventwebsocket", "eventlet", "psycogreen", "psycopg2"])
def test_packages_that_break_the_studio_are_absent(package):
    assert importlib.util.find_spec(package) is None


def test_nothing_runs_when_the_entrance_is_imported():
    code = (
        "import sys, threading; import app; "
        "assert threading.active_count() == 1; "
        "assert not any(name.startswith('gevent.monkey') for name in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr.decode()


@pytest.mark.parametrize(
    ("command", "absent"),
    [
        ("rtp baccarat --decks 1 --json", {"flask", "sqlalchemy", "pydantic", "cv2"}),
        ("verify --help", {"flask", "sqlalchemy", "cv2"}),
        ("simulate --seeds 1 --steps 5", {"flask", "sqlalchemy", "pydantic", "cv2"}),
    ],
)
def test_a_command_waits_for_nothing_that_it_does_without(command, absent):
    code = (
        "import sys, app; app.main(sys.argv[1:], standalone_mode=False); "
        "print(*sys.modules, file=sys.stderr)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, *command.split()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    modules = set(ended.stderr.split())
    assert "studio" in modules
    assert not modules & absent


def test_the_top_level_holds_what_is_agreed_and_nothing_else():
    agreed = {
        "app.py", "studio", "scanner", "templates", "static", "config", "tests", "README.md",
        "ARCHITECTURE.md", "pyproject.toml", "requirements.in", "requirements.txt",
        "requirements-dev.in", "requirements-dev.txt", "Makefile", "LICENSE", ".ci", ".gitignore",
        "docs",
    }  # fmt: skip
    found = {relative(file).split("/")[0] for file in committed_files()}
    assert found <= agreed


def test_warnings_are_errors_and_ignored_rules_have_reasons():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    settings = tomllib.loads(text)
    assert settings["tool"]["pytest"]["ini_options"]["filterwarnings"][0] == "error"
    assert settings["tool"]["mypy"]["strict"] is True
    for contract in settings["tool"]["importlinter"]["contracts"]:
        assert contract["name"]


@pytest.mark.parametrize("target", ["demo", "serve", "test", "check", "lock", "help"])
def test_make_knows_its_targets(target):
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert f"make {target} " in listed.stdout


@pytest.mark.parametrize("script", [".ci/run", "config/setup.sh"])
def test_scripts_are_strict_and_run(script):
    file = ROOT / script
    assert file.stat().st_mode & 0o111
    assert "set -euo pipefail" in file.read_text(encoding="utf-8")
    checked = subprocess.run(["bash", "-n", str(file)], capture_output=True, check=False)
    assert checked.returncode == 0, checked.stderr.decode()


def test_templates_hold_no_inline_script_style_or_handler():
    found = []
    for file in sorted((ROOT / "templates").rglob("*.html")):
        text = file.read_text(encoding="utf-8")
        inline = re.findall(r"<script(?![^>]*(?:src=|type=\"application/json\"))[^>]*>", text)
        inline += re.findall(r"<style|\sstyle=|\son[a-z]+=|javascript:", text)
        inline += re.findall(r"(?:src|href)=\"(?:https?:)?//", text)
        found += [(relative(file), one) for one in inline]
    assert found == []
