"""The pages: who sees which, in both languages, under the content policy, every word translated."""

import json
import re
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from studio.domain.events import EVENT_KINDS
from studio.games.baccarat import bets as baccarat
from studio.games.baccarat.rules import Call
from studio.games.pok_deng.bets import BETS
from studio.games.pok_deng.rules import Pattern, Reason, Result
from studio.services.ports import Role
from studio.services.scan_reasons import REASONS
from studio.services.table_commands import COMMANDS
from studio.web.pages import LANGUAGES, messages
from studio.web.pages.catalogue import TRANSLATIONS, catalogue

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SCRIPTS = sorted((ROOT / "static" / "js").glob("*.js"))

PAGES = [
    ("player", "/play"),
    ("player", "/play/T1"),
    ("player", "/history"),
    ("player", "/rules"),
    ("player", "/rules/pok_deng"),
    ("player", "/rules/baccarat"),
    ("dealer", "/station"),
    ("dealer", "/station?table=T1"),
    ("pit_supervisor", "/pit"),
    ("pit_supervisor", "/pit/rounds/T1-1-1"),
    ("pit_supervisor", "/pit/shoes/T1/1"),
    ("auditor", "/pit"),
    ("auditor", "/pit/trail"),
    ("auditor", "/pit/figures"),
    ("administrator", "/admin"),
]
KEY = re.compile(r"[a-z_]+(?:\.[A-Za-z0-9_]+)+")


def keys(language):
    return {str(message.id) for message in catalogue(language) if message.id}


def choose(browser, language):
    answer = browser.send_form("/language", language=language, next="/")
    assert answer.status_code == 303


# Every page in both languages -------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("role", "path"), PAGES)
def test_each_page_is_shown_in_both_languages(login, role, path, language):
    browser = login(role)
    choose(browser, language)
    answer = browser.get(path)
    assert answer.status_code == 200
    assert f'<html lang="{language}"' in answer.text
    assert untranslated(answer.text) == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", ["/login", "/rules/pok_deng", "/rules/baccarat", "/nothing-here"])
def test_pages_without_a_login_speak_both_languages(stranger, path, language):
    stranger.open("/login")
    choose(stranger, language)
    answer = stranger.get(path)
    assert f'<html lang="{language}"' in answer.text
    assert untranslated(answer.text) == []


def untranslated(page):
    """Keys that the page shows instead of their text; data blocks name keys on purpose."""
    shown = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    return [key for key in KEY.findall(re.sub(r"<[^>]*>", " ", shown)) if key in keys("en")]


@pytest.mark.parametrize(("role", "path"), [*PAGES, (None, "/login"), (None, "/nothing-here")])
def test_pages_hold_no_inline_script_style_or_foreign_host(login, stranger, role, path):
    page = (login(role) if role else stranger).get(path).text
    scripts = re.findall(r"<script([^>]*)>", page)
    assert scripts
    for attributes in scripts:
        data = 'type="application/json"' in attributes
        assert data or 'src="/static/' in attributes, attributes
    assert re.findall(r"<style|\sstyle=|\son[a-z]+=|javascript:", page) == []
    assert re.findall(r'(?:src|href|action)="(?:https?:)?//', page) == []


def test_a_language_that_was_chosen_stays_over_the_login(stranger, people):
    stranger.open("/login")
    choose(stranger, "ja")
    assert stranger.login("player").status_code == 303
    assert '<html lang="ja"' in stranger.get("/play").text


def test_an_unknown_language_is_refused_and_changes_nothing(stranger):
    stranger.open("/login")
    assert stranger.send_form("/language", language="xx", next="/").status_code == 400
    assert '<html lang="en"' in stranger.get("/login").text


@pytest.mark.parametrize("elsewhere", ["//evil.example", "https://evil.example", "/\\evil.example"])
def test_choosing_a_language_never_leads_to_another_site(stranger, elsewhere):
    stranger.open("/login")
    answer = stranger.send_form("/language", language="ja", next=elsewhere)
    assert answer.headers["Location"] == "/"


@pytest.mark.parametrize(("cookie", "shown"), [("dark", 'data-theme="dark"'), ("x", None)])
def test_the_chosen_theme_is_in_the_page_and_nothing_else_gets_in(stranger, cookie, shown):
    stranger.client.set_cookie("theme", cookie)
    page = stranger.get("/login").text
    assert (shown in page) if shown else ("data-theme=" not in page)


@pytest.mark.parametrize("path", ["/play/..%2Fx", "/play/a%22b", "/station?table=%3Cb%3E"])
def test_a_name_that_no_table_can_have_is_not_found(login, path):
    browser = login("dealer" if path.startswith("/station") else "player")
    assert browser.get(path).status_code == 404


@pytest.mark.parametrize("role", [role.value for role in Role])
def test_everybody_is_led_to_a_screen_of_their_own(login, role):
    browser = login(role)
    answer = browser.client.get("/", follow_redirects=True)
    assert answer.status_code == 200
    assert answer.request.path != "/login"


def test_whoever_is_not_logged_in_is_led_to_the_login_and_back(stranger):
    answer = stranger.get("/play")
    assert answer.status_code == 302
    assert answer.headers["Location"].endswith("/login?next=/play")


@pytest.mark.parametrize(("role", "path"), [("player", "/pit"), ("dealer", "/admin")])
def test_the_page_of_another_role_says_so_in_words(login, role, path):
    answer = login(role).get(path)
    assert answer.status_code == 403
    assert messages("en", ("page_error",))["page_error.403"] in answer.text


def test_programs_are_answered_in_json_where_people_get_a_page(stranger):
    assert stranger.get("/nothing-here").content_type.startswith("text/html")
    assert stranger.get("/api/nothing-here").content_type == "application/json"


# The catalogues ---------------------------------------------------------------------------------


def test_both_catalogues_hold_the_same_keys():
    assert keys("en") ^ keys("ja") == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_entry_is_translated_and_none_is_fuzzy(language):
    unfinished = [
        message.id
        for message in catalogue(language)
        if message.id and (message.fuzzy or not str(message.string).strip())
    ]
    assert unfinished == []
    with (TRANSLATIONS / language / "LC_MESSAGES" / "messages.po").open("rb") as po_file:
        assert not read_po(po_file, locale=language).obsolete


def test_the_values_in_braces_are_the_same_in_both_languages():
    english, japanese = (messages(name, prefixes()) for name in LANGUAGES)
    differing = {
        key
        for key, text in english.items()
        if set(re.findall(r"\{\w+\}", text)) != set(re.findall(r"\{\w+\}", japanese[key]))
    }
    # A short form may leave out what the other language needs.
    assert differing <= {"step.shuffle_short"}


def prefixes():
    return tuple({key.split(".")[0] for key in keys("en")})


def test_the_japanese_catalogue_is_japanese():
    latin_only = {
        key
        for key, text in messages("ja", prefixes()).items()
        if not re.search(r"[぀-ヿ一-鿿]", re.sub(r"\{\w+\}", "", text))
    }
    same_in_every_language = {
        key
        for key in latin_only
        if messages("en", prefixes())[key] == messages("ja", prefixes())[key]
    }
    assert latin_only - same_in_every_language <= {"rules.brings_1", "play.limit_range"}
    assert all(len(messages("en", prefixes())[key]) <= 24 for key in same_in_every_language)


# What templates and scripts say comes from the catalogues ---------------------------------------


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_templates_use_only_known_keys(template):
    text = template.read_text(encoding="utf-8")
    used = set(re.findall(r"_\('([a-z_]+\.[A-Za-z0-9_.]+)'\)", text))
    assert used - keys("en") == set()
    stems = re.findall(r"_\('([a-z_.]+)'\s*~", text)
    assert [stem for stem in stems if not any(key.startswith(stem) for key in keys("en"))] == []


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_templates_hold_no_words_of_their_own(template):
    text = template.read_text(encoding="utf-8")
    text = re.sub(r"<(script|kbd)\b.*?</\1>", "", text, flags=re.DOTALL)
    text = re.sub(r"\{% block body_class %\}.*?\{% endblock %\}", "", text)
    bare = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|<[^>]*>", "\n", text, flags=re.DOTALL)
    words = [line.strip() for line in bare.splitlines() if re.search(r"[A-Za-z぀-鿿]{2}", line)]
    assert words == []
    attributes = re.findall(r'(?:title|aria-label|placeholder|alt)="([^"{]+)"', text)
    assert attributes == []


def used_in_scripts():
    """Whole keys, and the fixed beginnings of keys that a script completes."""
    whole, stems = {}, {}
    for script in SCRIPTS:
        text = script.read_text(encoding="utf-8")
        text = re.sub(r"^\s*(//|/?\*).*$", "", text, flags=re.MULTILINE)
        for key in re.findall(r"""["'`]([a-z_]+\.[A-Za-z0-9_.]+)["'`]""", text):
            whole.setdefault(key, script.name)
        for stem in re.findall(r"`([a-z_]+\.[a-z_.]*)\$\{", text):
            stems.setdefault(stem, script.name)
    files = re.compile(r"\.(js|css|svg|html)$")
    own = {
        "studio.session",
        "studio.unanswered",
        "studio.confirm_bets",
        "studio.meanwhile",
        "studio.toasts",
        "studio.music_off",
    }  # names in the browser's store
    return {key: at for key, at in whole.items() if not files.search(key) and key not in own}, stems


def test_every_key_that_scripts_name_exists_in_both_catalogues():
    whole, stems = used_in_scripts()
    assert whole
    for language in LANGUAGES:
        known = keys(language)
        missing = {key: at for key, at in whole.items() if key not in known}
        lost = {
            stem: at for stem, at in stems.items() if not any(k.startswith(stem) for k in known)
        }
        assert (missing, lost) == ({}, {})


def test_each_page_carries_the_texts_that_its_scripts_name():
    """A page's data block must cover its script and all that the script imports."""
    whole, stems = used_in_scripts()
    for template in TEMPLATES:
        text = template.read_text(encoding="utf-8")
        blocks = re.search(r"page_messages\((.*?)\)", text)
        if blocks is None or template.name == "base.html":
            continue
        carried = set(re.findall(r"'([a-z_]+)'", blocks.group(1)))
        scripts = reached(re.findall(r"filename='js/([a-z_]+\.js)'", text))
        needed = {key.split(".")[0] for key, at in {**whole, **stems}.items() if at in scripts}
        assert needed - carried <= OPTIONAL, (template.name, needed - carried)


OPTIONAL = {
    "bet",
    "verify",
    "result",
    "round",
    "position",
    "hand",
    "card",
    "spot",
    "play",
    "game",
    "link",
}
"""Groups that shared modules name but not every page that imports them shows."""


def reached(names):
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        text = (ROOT / "static" / "js" / name).read_text(encoding="utf-8")
        waiting += re.findall(r'from "\./([a-z_]+\.js)"', text)
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_code_that_the_studio_can_say_has_words(language):
    known = keys(language)
    needed = {f"event.{kind}" for kind in EVENT_KINDS}
    needed |= {f"told.{kind}" for kind in EVENT_KINDS}
    needed |= {f"figures.reason.{reason}" for reason in REASONS}
    needed |= {f"result.{reason.value}" for reason in (*Reason, *baccarat.Reason)}
    needed |= {f"call.baccarat.{call.value}" for call in Call}
    needed |= {f"bet.{bet}" for bet in (*(bet.code for bet in BETS), *baccarat.SPOTS)}
    kinds = {bet.settles_on for bet in BETS} | {kind.value for kind in baccarat.BetKind}
    needed |= {f"{stem}{kind}" for kind in kinds for stem in ("spot.", "rules.rtp_")}
    needed |= {f"road.{result.value}" for result in Result}
    needed |= {f"hand.{pattern.value}" for pattern in Pattern if pattern is not Pattern.PLAIN}
    needed |= {f"role.{role.value}" for role in Role}
    supervisor = {name for name, spec in COMMANDS.items() if Role.PIT_SUPERVISOR in spec.roles}
    needed |= {f"action.{name}" for name in supervisor - {"stop"}}
    needed |= {f"trail.action.{name}" for name in (*supervisor, "open_picture")}
    needed |= {f"step.{code}" for code in instruction_codes()}
    needed |= {f"step.{code}_short" for code in instruction_codes()}
    assert needed - known == set()


def instruction_codes():
    text = (ROOT / "studio" / "domain" / "view.py").read_text(encoding="utf-8")
    return set(re.findall(r'"code": "([a-z_]+)"', text))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_refusal_that_a_screen_can_meet_has_words(language):
    """The rooms that answer people; other codes fall back to the studio's English sentence."""
    sources = [
        *(ROOT / "studio" / "domain").glob("de*.py"),
        ROOT / "studio" / "domain" / "guards.py",
        ROOT / "studio" / "domain" / "proposing.py",
        ROOT / "studio" / "services" / "wagers.py",
        ROOT / "studio" / "store" / "placing.py",
    ]
    codes = set()
    for source in sources:
        text = source.read_text(encoding="utf-8")
        codes |= set(re.findall(r'RefusedError\(\s*"([a-z_]+)"', text))
    assert "betting_not_open" in codes
    machine_only = {
        "results_not_due",
        "betting_window_running",
    }  # the studio's own clock gets these
    assert {f"error.{code}" for code in codes - machine_only} - keys(language) == set()


def test_the_data_block_is_json_that_no_text_can_break_out_of(login):
    page = login("player").get("/play/T1").text
    block = re.search(
        r'<script type="application/json" id="messages">(.*?)</script>', page, re.DOTALL
    )
    assert block is not None
    texts = json.loads(block.group(1))
    assert texts["play.balance"] == "Balance"
    assert "<" not in block.group(1)


def test_the_station_carries_its_steps_in_the_other_language_too(login):
    page = login("dealer").get("/station?table=T1").text
    block = re.search(r'id="messages-other">(.*?)</script>', page, re.DOTALL)
    assert json.loads(block.group(1))["step.start_round"] == "ラウンドを開始"


def test_every_file_that_is_shipped_from_elsewhere_is_named_with_its_licence():
    vendor = ROOT / "static" / "vendor"
    listed = (vendor / "VENDOR.md").read_text(encoding="utf-8")
    for path in vendor.rglob("*"):
        if path.is_dir() or path.name == "VENDOR.md":
            continue
        short = path.name.removeprefix("biz-udpgothic-400.").replace(
            "biz-udpgothic-700.woff2", "-700.woff2"
        )
        assert short in listed, path.name
    size = sum(path.stat().st_size for path in vendor.rglob("*") if path.is_file())
    assert size < 1_500_000
