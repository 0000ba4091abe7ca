"""The check of the catalogue finds what it is for."""

import pytest

from studio.domain.event_parts import Held
from studio.services.scan_reasons import REASONS
from studio.web.catalogue import ROOT, faults, keys_used, main, texts
from studio.web.pages.catalogue import LANGUAGES

GOOD = {"en": {"a.b": "Deal {position}"}, "ja": {"a.b": "{position}に配る"}}


def test_the_shipped_catalogue_is_whole():
    assert main() == 0
    assert len(texts("ja")) > 100
    assert set(LANGUAGES) == {"en", "ja"}


def test_templates_and_scripts_name_keys():
    used = keys_used(ROOT)
    assert used["login.title"].startswith("templates")
    assert any(file.startswith("static/js") for file in used.values())


@pytest.mark.parametrize("code", [*Held, "foreign_card"])
def test_every_held_card_has_words_for_dealer_and_pit(code):
    english = texts("en")
    assert {f"fault.{code}", f"alarm.{code}", f"alarm.{code}_do"} <= english.keys()
    assert code == "foreign_card" or f"fault.{code}_do" in english


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_every_reason_of_a_failed_read_has_words_for_the_dealer(reason):
    assert f"fault.reason.{reason}" in texts("en")
    assert f"figures.reason.{reason}" in texts("en")


@pytest.mark.parametrize(
    ("all_texts", "used", "said"),
    [
        (GOOD, {}, []),
        (GOOD, {"a.b": "x.html"}, []),
        (GOOD, {"a.c": "x.html"}, ["x.html: a.c: is in no catalogue"]),
        ({**GOOD, "ja": {}}, {}, ["ja: a.b: has no text"]),
        ({**GOOD, "en": {}}, {}, ["en: a.b: has no text"]),
        (
            {**GOOD, "ja": {"a.b": "配る"}},
            {},
            ["ja: a.b: its values in braces differ from en"],
        ),
    ],
)
def test_each_fault_is_named(all_texts, used, said):
    assert list(faults(all_texts, used)) == said
