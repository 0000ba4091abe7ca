"""Amounts, texts, times and road marks as the screens write them."""

import pytest

pytestmark = pytest.mark.browser

JPY, EUR, PLAY, G = (
    {"code": "JPY", "decimals": 0},
    {"code": "EUR", "decimals": 2},
    {"code": "PLAY", "decimals": 0},
    {"code": "G", "decimals": 2},
)


@pytest.mark.parametrize(
    ("minor", "currency", "language", "text"),
    [
        ("0", JPY, "en", "¥0"),
        ("1234", JPY, "en", "¥1,234"),
        ("1234", JPY, "ja", "1,234円"),
        ("-1234", JPY, "ja", "−1,234円"),
        ("-5", EUR, "en", "−€0.05"),
        ("123456", EUR, "ja", "€1,234.56"),
        ("100", EUR, "en", "€1.00"),
        ("999", PLAY, "ja", "999\u00a0PLAY"),
        ("100000", G, "en", "1,000.00\u00a0G"),
        ("1234567890123456789", JPY, "en", "¥1,234,567,890,123,456,789"),
        ("9007199254740993", EUR, "en", "€90,071,992,547,409.93"),
    ],
)
def test_money_is_written_exactly(run, minor, currency, language, text):
    body = "return m.formatMoney(BigInt(arg[0]), arg[1], arg[2]);"
    assert run("money.js", body, [minor, currency, language]) == text


@pytest.mark.parametrize(("minor", "text"), [(5, "+¥5"), (0, "¥0"), (-5, "−¥5")])
def test_a_signed_amount_shows_which_way_it_went(run, minor, text):
    assert run("money.js", "return m.formatSigned(arg[0], arg[1], 'en');", [minor, JPY]) == text


@pytest.mark.parametrize(
    ("typed", "decimals", "minor"),
    [
        ("500", 0, 500),
        ("1,500", 0, 1500),
        ("12.5", 2, 1250),
        ("0.01", 2, 1),
        ("0", 0, None),
        ("-1", 0, None),
        ("1e30", 0, None),
        ("１００", 0, None),
        ("1.5", 0, None),
        ("1.005", 2, None),
        ("", 2, None),
        ("9" * 20, 0, None),
    ],
)
def test_only_plain_digits_are_an_amount(run, typed, decimals, minor):
    assert run("money.js", "return m.parseMinor(...arg);", [typed, decimals]) == minor


@pytest.mark.parametrize(
    ("minor", "decimals", "language", "text"),
    [
        (100, 0, "en", "100"),
        (5_000, 0, "en", "5k"),
        (5_000, 0, "ja", "5千"),
        (50_000, 0, "ja", "5万"),
        (1_500, 0, "en", "1,500"),
        (50, 2, "en", "0.50"),
        (50_000, 2, "en", "500"),
        (500_000, 2, "ja", "5千"),
    ],
)
def test_a_chip_says_its_whole_value(run, minor, decimals, language, text):
    assert run("money.js", "return m.formatChip(...arg);", [minor, decimals, language]) == text


def test_chips_lie_between_the_limits_and_begin_with_the_least(run):
    assert run("money.js", "return m.chipValues(100, 100000);") == [
        100,
        500,
        1_000,
        5_000,
        10_000,
        50_000,
    ]
    assert run("money.js", "return m.chipValues(30, 40);") == [30]


@pytest.mark.parametrize(
    ("stake", "exposure", "hold"),
    [(500, "2", 1000), (500, "1", 500), (3, "3/2", 5), (10**12, "2", 2 * 10**12)],
)
def test_the_hold_shown_always_covers_the_exposure(run, stake, exposure, hold):
    assert run("bets.js", "return m.holdFor(...arg);", [stake, exposure]) == hold


def test_values_are_filled_into_texts_and_a_missing_key_shows_itself(run):
    assert run("i18n.js", "return m.tn('play.bets', 1);") == "1 bet"
    assert run("i18n.js", "return m.tn('play.bets', 2);") == "2 bets"
    assert run("i18n.js", "return m.t('play.none');") == "play.none"
    assert run("i18n.js", "return m.fill('{a} {b}', {a: '{b}', b: 1});") == "{b} 1"


def test_japanese_has_no_singular(run):
    body = "return m.translator({k: '{count}件', k_one: 'wrong'}, 'ja').tn('k', 1);"
    assert run("i18n.js", body) == "1件"


REFUSAL = """
  const { Refusal, Unanswered } = await import("/js/api.js");
  const currency = {code: "JPY", decimals: 0};
"""


def test_a_refusal_is_told_in_the_catalogues_words_with_money_as_money(run):
    body = (
        REFUSAL
        + """
      const details = {needed_minor: 10000, balance_minor: 8200};
      const refusal = new Refusal(409, {code: "balance_short", message: "x", details});
      return m.errorText(refusal, currency);
    """
    )
    assert run("errors.js", body) == "needs ¥10,000, have ¥8,200"


def test_a_refusal_without_its_values_is_told_without_holes(run):
    body = (
        REFUSAL
        + """
      const refusal = new Refusal(409, {code: "balance_short", message: "x", details: {}});
      return m.errorText(refusal, currency);
    """
    )
    assert run("errors.js", body) == "too low"


def test_an_unknown_refusal_keeps_the_studios_sentence_and_silence_is_said(run):
    body = (
        REFUSAL
        + """
      return [m.errorText(new Refusal(409, {code: "new_rule", message: "A new rule."})),
              m.errorText(new Unanswered("/x"))];
    """
    )
    assert run("errors.js", body) == ["A new rule.", "no answer"]


@pytest.mark.parametrize(
    ("left_ms", "seconds"), [(10_000, 10), (9_001, 10), (1, 1), (0, 0), (-1, 0), (-5_000, 0)]
)
def test_the_countdown_is_0_exactly_when_the_deadline_has_passed(run, left_ms, seconds):
    assert run("clock.js", "return m.secondsLeft(arg, 0);", left_ms) == seconds


def test_the_clock_follows_the_server_by_the_quickest_answer(run):
    body = """
      let now = 0;
      const clock = new m.ServerClock(() => now);
      now = 1000; clock.sample(50_000, 0);      // 1000 ms round trip: off by up to 500
      now = 2000; clock.sample(51_400, 1990);   // 10 ms: believed
      now = 3000; clock.sample(52_900, 2000);   // slow again: not believed
      return clock.now();
    """
    assert run("clock.js", body) == 51_405 + 1000


def test_a_device_that_slept_forgets_what_it_knew_at_the_next_answer(run):
    body = """
      let now = 10;
      const clock = new m.ServerClock(() => now);
      clock.sample(50_000, 0);
      clock.doubt();
      const before = clock.now();
      clock.sample(90_000, 0);
      return [before, clock.now()];
    """
    assert run("clock.js", body) == [50_005, 90_005]


def test_road_marks_differ_in_shape_and_not_only_in_colour(run):
    body = """
      const colour = /class="mark mark-\\w+"/g;
      const marks = [["win", []], ["lose", []], ["tie", []], ["win", ["flush"]], ["win", ["pair"]]];
      return marks.map(([result, rings]) =>
        m.markShape({result, rings}).innerHTML.replaceAll(colour, ""));
    """
    shapes = run("road.js", body)
    assert len(set(shapes)) == 5


def test_the_road_has_a_row_a_position_and_a_text_table(run, bare):
    body = """
      const element = document.createElement("div");
      document.body.append(element);
      const both = ["P1", "P2"];
      const marks = (result) => both.map((position) => ({position, result, rings: ["pair"]}));
      const rounds = [{number: 1, marks: marks("win")}, {number: 2, marks: marks("tie")}];
      m.drawRoad(element, rounds, both);
      const count = (selector) => element.querySelectorAll(selector).length;
      return [count(".road-row"), count("tbody tr"), element.querySelector("tbody th").textContent];
    """
    assert run("road.js", body) == [2, 2, "2"]


def test_a_card_place_holds_no_face_before_it_is_opened(run):
    body = """
      const place = m.cardPlace();
      place.update("back");
      const covered = place.element.outerHTML;
      place.update("TS");
      return [covered.includes("card-face"), place.element.getAttribute("aria-label"),
              place.element.querySelector(".card-face text").textContent];
    """
    assert run("cards.js", body) == [False, "10 of spades", "10"]


@pytest.mark.parametrize(
    ("changed", "keys"),
    [
        ({}, "owed.news.corrected"),
        ({"owed_minor": 300}, "owed.news.corrected owed.news.owed"),
        ({"payout_minor": 900, "owed_minor": 300}, "owed.news.corrected"),
        ({"payout_minor": 600}, "owed.news.corrected_same"),
        ({"reason": "void"}, "owed.news.annulled"),
        ({"reason": "void", "payout_minor": 600}, "owed.news.annulled_same"),
    ],
)
def test_a_correction_is_told_by_what_it_changed(run, changed, keys):
    told = {"reason": "corrected", "round_id": "T1-1-4", "before_minor": 600, "payout_minor": 200}
    body = "return m.correctionWords(arg, {full: String, signed: String});"
    assert run("money_news.js", body, {**told, "owed_minor": 0, **changed}) == keys


@pytest.mark.parametrize(
    ("deed", "minor", "booked"),
    [
        ("collect", 300, True),
        ("collect", 301, False),
        ("write_off", 1_000, True),
        ("write_off", 1_001, False),
        ("write_off", None, False),
    ],
)
def test_no_more_is_settled_than_is_owed_and_there(run, deed, minor, booked):
    body = "return m.outcome(...arg, {balance_minor: 300, owed_minor: 1000}, String);"
    said = run("owed.js", body, [deed, minor])
    assert said == (f"owed.will.{deed}" if booked else None)
