"""The pages of play money: there where it is played for, and nowhere else."""

import json
import re
import uuid
from pathlib import Path

import pytest

from studio.settings import DEFAULT_FILE, Settings, load_settings
from studio.web.pages import LANGUAGES, messages
from tests.conftest import DEVICE_KEY

PATHS = ("/rooms", "/rooms/join/ABCD2345", "/club")
LINKS = ('href="/rooms"', 'href="/club"')
ROOT = Path(__file__).parents[2]


@pytest.fixture
def settings(tmp_path, sqlite_url) -> Settings:
    """The project's own tables, for play money."""
    file = tmp_path / "play.toml"
    text = DEFAULT_FILE.read_text(encoding="utf-8").replace('"JPY"', '"G"')
    file.write_text(text, encoding="utf-8")
    return load_settings(
        file,
        database_url=sqlite_url,
        secret_key="s" * 40,
        device_keys={"cam": DEVICE_KEY},
        log_level="warning",
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", PATHS)
def test_a_player_of_play_money_sees_the_pages_in_both_languages(login, path, language):
    browser = login("player")
    browser.send_form("/language", language=language, next="/")
    answer = browser.get(path)
    assert answer.status_code == 200
    assert f'<html lang="{language}"' in answer.text
    assert messages(language, ("nav",))["nav.rooms"] in answer.text
    assert re.findall(r"<style|\sstyle=|\son[a-z]+=|javascript:", answer.text) == []


@pytest.mark.parametrize("path", ["/play", "/play/T1", "/history", "/rooms", "/club"])
def test_every_page_of_a_player_leads_to_rooms_and_club(login, path):
    page = login("player").get(path).text
    assert [link for link in LINKS if link not in page] == []


@pytest.mark.parametrize("role", ["dealer", "pit_supervisor", "auditor", "administrator"])
def test_staff_find_neither_links_nor_pages(login, role):
    browser = login(role)
    assert not any(link in browser.client.get("/", follow_redirects=True).text for link in LINKS)
    assert {browser.get(path).status_code for path in PATHS} == {403}


def test_an_invitation_leads_whoever_is_not_logged_in_over_the_login(stranger):
    answer = stranger.get(PATHS[1])
    assert answer.headers["Location"].endswith(f"/login?next={PATHS[1]}")


def test_looking_at_an_invitation_joins_nothing(login):
    owner, guest = login("player"), login("player2")
    body = {"id": str(uuid.uuid4()), "table": "T1"}
    room = owner.post("/api/rooms", body).json["room"]
    page = guest.get(f"/rooms/join/{room['code']}")
    assert f'data-code="{room["code"]}"' in page.text
    assert guest.get("/api/rooms/mine").json["room"] is None
    assert len(owner.get("/api/rooms/mine").json["room"]["members"]) == 1


@pytest.mark.parametrize("code", ["a%22b", "%3Cscript%3E", "a" * 65])
def test_a_code_that_no_room_can_have_is_not_found(login, code):
    assert login("player").get(f"/rooms/join/{code}").status_code == 404


def test_the_table_is_painted_as_its_player_chose(login):
    browser = login("player")
    plain = browser.get("/play/T1").text
    assert 'data-felt="felt_green" data-back="back_blue" data-circle="circle_plain"' in plain
    browser.post("/api/club/purchases", {"id": str(uuid.uuid4()), "item": "felt_wine"})
    browser.post("/api/club/options", {"table_colour": "felt_wine"})
    assert 'data-felt="felt_wine"' in browser.get("/play/T1").text


def test_the_page_carries_the_words_of_every_medal_and_item(login):
    browser = login("player")
    block = re.search(r'id="messages">(.*?)</script>', browser.get("/club").text, re.DOTALL)
    assert block is not None
    words, shown = json.loads(block.group(1)), browser.get("/api/club").json
    needed = {f"medal.{one['code']}{end}" for one in shown["medals"] for end in ("", "_how")}
    needed |= {f"item.{one['code']}" for one in shown["items"]}
    needed |= {f"club.kind.{one['kind']}" for one in shown["items"]}
    assert needed - words.keys() == set()


def test_every_item_of_the_shop_has_a_look_or_a_sound(login):
    attributes = {
        "table_colour": "felt",
        "card_back": "back",
        "circle": "circle",
        "plate": "plate",
    }
    css = (ROOT / "static" / "css" / "club.css").read_text(encoding="utf-8")
    pieces = (ROOT / "static" / "js" / "music.js").read_text(encoding="utf-8")
    for item in login("player").get("/api/club").json["items"]:
        if item["kind"] in attributes:
            assert f'[data-{attributes[item["kind"]]}="{item["code"]}"]' in css, item
        elif item["price_minor"]:
            assert f"  {item['code']}: {{" in pieces, item


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_refusal_of_rooms_and_club_has_words(language):
    codes = {"wager_forfeited"}
    for name in ("rooms", "club"):
        text = (ROOT / "studio" / "services" / f"{name}.py").read_text(encoding="utf-8")
        codes |= set(re.findall(r'(?:Refused|Malformed)Error\(\s*"([a-z_]+)"', text))
    assert {"room_full", "purse_kept"} <= codes
    assert {f"error.{code}" for code in codes} - messages(language, ("error",)).keys() == set()
