"""The check of the catalogue finds what it is for."""

import pytest

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
