"""What the figures, the session's bar and the timeline say, worked out without a page."""

import pytest

pytestmark = pytest.mark.browser


def hour(**changes):
    known = {"rounds": 0, "voided": 0, "wagers": 0, "turnover_minor": 0, "ggr_minor": 0}
    return {**known, **changes}


def test_the_hours_add_up(run):
    hours = [
        hour(rounds=2, wagers=5, turnover_minor=1000, ggr_minor=-300),
        hour(),
        hour(rounds=1, voided=1, wagers=1, turnover_minor=200, ggr_minor=100),
    ]
    assert run("figures_view.js", "return m.moneySum(arg);", hours) == {
        "rounds": 3,
        "voided": 1,
        "wagers": 6,
        "turnover_minor": 1200,
        "ggr_minor": -200,
        "hold_pct": pytest.approx(-16.6667, abs=1e-3),
    }
    assert run("figures_view.js", "return m.busyHours(arg).length;", hours) == 2


def test_hours_without_rounds_add_up_to_nothing(run):
    assert run("figures_view.js", "return m.moneySum(arg);", [hour(), hour()]) is None


@pytest.mark.parametrize(
    ("least", "most", "range_"),
    [
        (200, 1000, [0, 1060]),
        (-500, 500, [-560, 560]),
        (-100, -50, [-106, 0]),
        (None, None, [0, 0.06]),
    ],
)
def test_bars_of_money_stand_on_zero(run, least, most, range_):
    body = "return m.moneyRange(arg[0], arg[1]);"
    assert run("figures_view.js", body, [least, most]) == pytest.approx(range_)


@pytest.mark.parametrize(
    ("actual", "said"),
    [(0.9, "inside"), (0.8, "inside"), (0.79, "below"), (1.2, "inside"), (1.21, "above")],
)
def test_a_return_is_inside_its_band_or_not(run, actual, said):
    curve = {"points": [{"actual": actual, "low": 0.8, "high": 1.2}]}
    assert run("figures_view.js", "return m.verdict(arg);", curve) == said


@pytest.mark.parametrize(
    ("part", "words"), [(0.98354, "98.35%"), (-0.1051, "−10.51%"), (0, "0.00%"), (None, "–")]
)
def test_a_return_is_written_as_a_percentage(run, part, words):
    assert run("figures_view.js", "return m.percent(arg);", part) == words


def test_the_first_rounds_do_not_set_the_scale_of_the_chart(run):
    points = [
        {"rounds": 1, "actual": 9.0, "low": -8.0, "high": 10.0},
        {"rounds": 50, "actual": 1.0, "low": 0.7, "high": 1.3},
        {"rounds": 100, "actual": 0.9, "low": 0.8, "high": 1.2},
    ]
    curve = {"points": points, "theoretical": 0.98, "rounds": 100}
    least, most = run("figures_view.js", "return m.returnRange(arg);", curve)
    assert 0.6 < least < 0.7
    assert 1.3 < most < 1.4


def test_a_long_curves_table_keeps_its_last_point(run):
    assert run("figures_view.js", "return m.thinned(arg, 4);", list(range(10))) == [0, 3, 6, 9]


def test_reasons_stand_by_how_often_they_occurred(run):
    groups = [{"reasons": {"no_code": 1, "unreadable": 2}}, {"reasons": {"two_cards": 3}}]
    assert run("figures_view.js", "return m.reasonsOf(arg);", groups) == [
        "two_cards",
        "unreadable",
        "no_code",
    ]


def test_a_chosen_tables_shoes_are_compared_else_the_tables(run):
    scans = [{"table": "T1", "shoes": [{"shoe": 3}, {"shoe": 4}]}, {"table": "T2", "shoes": []}]
    body = "return m.scanGroups(arg[0], arg[1]).map((one) => one.name);"
    assert run("figures_view.js", body, [scans, None]) == ["T1", "T2"]
    assert run("figures_view.js", body, [scans[:1], "T1"]) == ["3", "4"]
    assert run("figures_view.js", body, [[], "T1"]) == []


# The session's bar -------------------------------------------------------------------------------

HOUR_MS = 3_600_000


@pytest.mark.parametrize(
    ("idle_left_ms", "left_ms", "put", "state"),
    [
        (60_001, HOUR_MS, False, "quiet"),
        (60_000, HOUR_MS, False, "soon"),
        (1, HOUR_MS, False, "soon"),
        (0, HOUR_MS, False, "over"),
        (HOUR_MS, 300_001, False, "quiet"),
        (HOUR_MS, 300_000, False, "last"),
        (HOUR_MS, 300_000, True, "quiet"),
        (HOUR_MS, 60_000, True, "last"),
        (HOUR_MS, 0, True, "over"),
    ],
)
def test_a_screen_warns_in_time_before_the_session_ends(run, idle_left_ms, left_ms, put, state):
    left = {"idleLeftMs": idle_left_ms, "leftMs": left_ms, "warnMs": 60_000, "put": put}
    assert run("session_watch.js", "return m.stateOf(arg);", left) == state


# The timeline ------------------------------------------------------------------------------------

JPY = {"code": "JPY", "decimals": 0}


@pytest.mark.parametrize(
    ("kind", "body", "said"),
    [
        ("CutCardOut", {}, "told.CutCardOut"),
        ("RoundSettled", {"version": 1}, "told.RoundSettled"),
        ("RoundSettled", {"version": 2}, "told.RoundSettled_anew"),
        ("ReadFailed", {"position": "P1", "index": 0}, "told.ReadFailed"),
        ("ReadFailed", {"position": None, "index": None}, "told.ReadFailed_plain"),
        ("CardVerified", {"problem": "foreign"}, "told.CardVerified_problem"),
        ("CardVerified", {"problem": None}, "told.CardVerified"),
        ("VerificationEnded", {"complete": False}, "told.VerificationEnded_open"),
    ],
)
def test_each_event_has_the_sentence_of_what_happened(run, kind, body, said):
    event = {"kind": kind, "body": body}
    assert run("timeline.js", "return m.sentence(arg);", event) == said


PLAYER_1 = {"position": "P", "index": 0}


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ({"kind": "CardsRevealed", "body": {"cards": [PLAYER_1]}}, "told.CardDrawn_open"),
        ({"kind": "CardsRevealed", "body": {"cards": [{**PLAYER_1, "index": 1}]}}, None),
        ({"kind": "CardsRevealed", "body": {"cards": [{"position": "B", "index": 0}]}}, None),
        ({"kind": "BettingClosed", "body": {}}, None),
        (None, None),
    ],
)
def test_a_card_that_is_opened_as_it_is_read_is_told_so(run, after, said):
    drawn = {"kind": "CardDrawn", "body": PLAYER_1}
    body = "return m.sentence(arg[0], arg[1]);"
    assert run("timeline.js", body, [drawn, after]) == (said or "told.CardDrawn")


def test_an_event_that_a_newer_studio_may_send_has_no_words_and_breaks_nothing(run):
    body = "return m.eventWords(arg[0], arg[1]).length;"
    assert run("timeline.js", body, [{"kind": "Unheard", "body": {"x": 1}}, JPY]) == 0
