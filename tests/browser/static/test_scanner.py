"""What station and pit work out of what a scanner says: troubles, offline work, pictures."""

import pytest

from studio.domain.event_parts import Held
from studio.services.scan_reasons import REASONS
from studio.web.catalogue import texts

pytestmark = pytest.mark.browser

WORDS = """
  const { translator } = await import("/js/i18n.js");
  const words = translator(arg.texts, arg.language ?? "en");
"""


@pytest.fixture
def said(run):
    """Run a script's body with the words of a language: `words`, and `arg.value`."""

    def evaluate(module: str, body: str, value: object = None, *, language: str = "en") -> object:
        arg = {"texts": dict(texts(language)), "language": language, "value": value}
        return run(module, WORDS + body, arg)

    return evaluate


# A card that can't be taken ------------------------------------------------------------------


def fault(**changes):
    return {
        "stopped": False,
        "pit_called": False,
        "fault": {"code": "read_failed", "reason": "no_code", "tries": 2, "held": False} | changes,
    }


FAULT = "return m.faultWords(words, arg.value);"


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("code", [*Held, "foreign_card"])
def test_each_held_card_says_what_it_is_and_what_to_do(said, code, language):
    words = said("station_view.js", FAULT, fault(code=code, held=True), language=language)
    assert "." in words["action"] or "。" in words["action"]
    assert not words["what"].startswith("fault.")
    assert not words["action"].startswith("fault.")


def test_a_held_card_of_a_newer_studio_is_left_to_the_supervisor(said):
    words = said("station_view.js", FAULT, fault(code="new_fault", held=True))
    assert words["action"] == "Leave all cards where they lie. The supervisor decides."


@pytest.mark.parametrize(
    ("reason", "what", "action"),
    [
        ("no_code", "Card not read (2×). Lay it flat and scan again", "No code in sight"),
        ("two_cards", "Two cards under the camera", "take one away"),
        ("staff_badge", "A badge lies under the camera, not a card", "Take the badge away"),
        ("taken_away", "The card was taken away before it was read", "Lay it again"),
    ],
)
def test_a_failed_read_is_told_in_its_own_words(said, reason, what, action):
    words = said("station_view.js", FAULT, fault(reason=reason))
    assert words["what"] == what
    assert action in words["action"]


STEP = "return m.stepWords(words, arg.value);"


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("no_code", "Again: P2, card 1"),
        ("two_cards", "Take one card away"),
        ("staff_badge", "Take the badge away"),
    ],
)
def test_what_has_to_go_first_is_the_instruction(said, reason, words):
    step = {"code": "rescan", "reason": reason, "position": "P2", "card": 1}
    assert said("station_view.js", STEP, step) == words


# The scanner's own figures -------------------------------------------------------------------

SCAN = {
    "frames": 36_000,
    "read": 1410,
    "read_by_copy": [980, 420, 10],
    "failed": {"no_code": 3, "two_cards": 12, "unreadable": 0},
    "faults": 2,
    "restarts": 1,
    "dropped": 17,
    "reopened": 1,
    "frozen": False,
    "camera": "open",
    "pictures_dropped": 0,
}
LINK = {
    "state": "up",
    "age_ms": 400,
    "frame_age_ms": 33,
    "fps": 29.97,
    "queued": 0,
    "queue_max": 10_000,
    "scan": SCAN,
}
ROWS = "return m.scanRows(words, arg.value);"


def rows(said, link, language="en"):
    return {row["key"]: row for row in said("scan_view.js", ROWS, link, language=language)}


def test_the_scanners_figures_are_told_in_plain_words(said):
    found = rows(said, LINK)
    assert {key: row["value"] for key, row in found.items()} == {
        "camera": "running",
        "age": "0.0 s ago",
        "fps": "30.0",
        "read": "1,410",
        "by_copy": "980 · 420 · 10",
        "not_read": "two cards 12 · no code 3",
        "restarts": "1 · 2",
        "dropped": "17",
        "reopened": "1",
        "waiting": "0 of 10,000",
        "pictures_dropped": "0",
    }
    assert not any(row["bad"] for row in found.values()), "grey while all is well"
    assert all(not row["label"].startswith("scan.") for row in found.values())


@pytest.mark.parametrize(
    ("link", "bad"),
    [
        ({"scan": SCAN | {"camera": "lost"}}, "camera"),
        ({"scan": SCAN | {"camera": "frozen"}}, "camera"),
        ({"queued": 3}, "waiting"),
    ],
)
def test_only_what_is_not_as_it_should_be_stands_out(said, link, bad):
    found = rows(said, LINK | link)
    assert [key for key, row in found.items() if row["bad"]] == [bad]


def test_a_scanner_of_the_first_release_has_no_rows_and_a_sparse_one_dashes(said):
    old = {key: value for key, value in LINK.items() if key != "scan"}
    assert rows(said, old) == {}
    assert said("scan_view.js", "return m.scanRows(words, undefined);") == []
    sparse = rows(said, {"state": "up", "scan": {}, "frame_age_ms": None})
    assert sparse["age"]["value"] == "none yet"
    assert sparse["camera"]["value"] == sparse["read"]["value"] == "–"
    assert sparse["not_read"]["value"] == "none"


@pytest.mark.parametrize("why", [*sorted(REASONS), *Held])
def test_every_picture_says_why_it_was_taken(said, why):
    words = said("pictures.js", "return m.whyWords(words, arg.value);", why)
    assert words != why


# Offline work --------------------------------------------------------------------------------

UP = {"queued": 0, "scanner": "up", "offline_ms": None, "back_ms": None, "sent": 0}


@pytest.mark.parametrize(
    ("lost_ms", "work", "since_ms", "away"),
    [
        (None, None, 0, None),
        (None, UP, 0, None),
        (14_000, None, 0, {"who": "station", "ms": 14_000}),
        (14_000, UP | {"queued": 3, "offline_ms": 9_000}, 0, {"who": "station", "ms": 14_000}),
        (None, UP | {"queued": 1, "offline_ms": 500}, 0, None),
        (None, UP | {"queued": 1, "offline_ms": 1_500}, 1_499, None),
        (None, UP | {"queued": 1, "offline_ms": 1_500}, 1_500, {"who": "scanner", "ms": 3_000}),
        (None, UP | {"queued": 0, "offline_ms": 9_000}, 0, None),
        (
            None,
            UP | {"queued": None, "scanner": "lost", "offline_ms": 3_100},
            400,
            {"who": "scanner", "ms": 3_500},
        ),
    ],
)
def test_who_is_away_and_since_when(said, lost_ms, work, since_ms, away):
    value = {"lostMs": lost_ms, "work": work, "sinceMs": since_ms}
    assert said("offline_view.js", "return m.away(arg.value);", value) == away


AWAY = "return m.awayWords(words, arg.value[0], arg.value[1]);"


@pytest.mark.parametrize(
    ("who", "state", "what", "action"),
    [
        (
            "station",
            {"round": "runs", "unsent": 0},
            "OFFLINE",
            "Deal on, this round counts. Start no new one. The scanner keeps what it reads.",
        ),
        (
            "scanner",
            {"round": "waits", "unsent": 3},
            "SCANNER OFFLINE",
            "Draw no card: the round is cancelled in a moment if this lasts. 3 unsent",
        ),
        (
            "video",
            {"round": "runs", "unsent": 0},
            "VIDEO OFFLINE",
            "Deal on, this round counts. Start no new one.",
        ),
        (
            "scanner",
            {"round": "idle", "unsent": 1},
            "SCANNER OFFLINE",
            "Start no new round. 1 unsent",
        ),
    ],
)
def test_the_line_says_what_to_do_and_how_many_reports_wait(said, who, state, what, action):
    words = said("offline_view.js", AWAY, [{"who": who, "ms": 14_000}, state])
    assert words == {"what": what, "action": action}


BACK = "return m.backWords(words, arg.value);"


@pytest.mark.parametrize(
    ("work", "step", "words"),
    [
        (UP | {"sent": 3, "back_ms": 900}, "P3 card 1", "Back. 3 sent. Continue: P3 card 1"),
        (UP | {"sent": 3, "back_ms": 900}, "", "Back. 3 sent."),
        (UP | {"sent": 3, "back_ms": 60_000}, "", "Back online."),
        (UP | {"sent": 0, "back_ms": 900}, "", "Back online."),
        (UP, "P3 card 1", "Back online. Continue: P3 card 1"),
        (None, "", "Back online."),
    ],
    ids=["sent", "no step", "another time's", "nothing sent", "only the station", "not heard"],
)
def test_what_came_in_meanwhile_is_said_when_all_is_back(said, work, step, words):
    value = {"work": work, "awayMs": 20_000, "step": step}
    assert said("offline_view.js", BACK, value) == words
