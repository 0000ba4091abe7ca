"""A studio of money has neither the pages of play money nor links to them."""

import pytest

from studio.web.pages import messages


@pytest.mark.parametrize("path", ["/rooms", "/rooms/join/ABCD2345", "/club"])
def test_the_pages_of_play_money_are_not_there(login, path):
    answer = login("player").get(path)
    assert answer.status_code == 404
    assert messages("en", ("page_error",))["page_error.404"] in answer.text


@pytest.mark.parametrize("path", ["/play", "/play/T1", "/history"])
def test_no_page_leads_to_them(login, path):
    page = login("player").get(path).text
    assert 'href="/rooms' not in page
    assert 'href="/club"' not in page
    assert "club.css" not in page
    assert "data-felt" not in page
    assert 'id="room"' not in page
