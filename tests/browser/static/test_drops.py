"""What each page says of a line that is cut, by what is cut and how far the round is."""

import pytest

from studio.web.catalogue import texts

pytestmark = pytest.mark.browser

WORDS = """
  const { translator } = await import("/js/i18n.js");
  const words = translator(arg.texts, "en");
  const full = (minor) => `¥${minor}`, signed = (minor) => (minor > 0 ? `+${minor}` : `${minor}`);
"""


@pytest.fixture
def said(run):
    """Run a script's body with the English words and `arg.value`."""

    def evaluate(module: str, body: str, value: object = None) -> object:
        return run(module, WORDS + body, {"texts": dict(texts("en")), "value": value})

    return evaluate


def view(*lost: str, **of_round: object) -> dict[str, object]:
    links = {name: "lost" if name in lost else "up" for name in ("scanner", "station", "video")}
    settled = {"id": "T1-1-7", "number": 7, "phase": "settled", "started": True}
    return {"links": links, "round": settled | {"interrupted": False, "void": None} | of_round}


BET = {"state": "accepted", "stake_minor": 500, "hold_minor": 1_000}
WAITS = {"phase": "betting", "started": False}
RUNS = {"phase": "no_more_bets", "interrupted": True}
CANCELLED = {"phase": "void", "void": {"reason": "link_lost_before_start", "by": "studio"}}
LAST = "Round 7 was cancelled before its first card: a connection at the table was lost."
TABLE = """
  return m.tableWords(words, arg.value[0], { bets: arg.value[1], full });
"""


@pytest.mark.parametrize(
    ("shown", "bets", "words"),
    [
        (view(), [], ""),
        (view(**WAITS), [BET], ""),
        (view("video"), [], "The next round opens when it is back."),
        (view("video", **WAITS), [], "is not back in time, the round is cancelled."),
        (view("video", **WAITS), [BET], "No card has been drawn. If it is not back in time"),
        (view("video", **WAITS), [BET], "the round is cancelled and your ¥1000 come back."),
        (view("station", "scanner", **WAITS), [], "card reader, dealer's station. No card"),
        (view("video", **RUNS), [BET], "accepted bets stand. The result is shown here"),
        (view("scanner", **RUNS), [BET], "announced when the connection is back."),
        (view("station", "video", **RUNS), [], "announced when the connection is back."),
        (view(**RUNS), [BET], "was lost in this round and is back."),
        (view("video", **CANCELLED), [], f"video. {LAST} The next round opens"),
        (view(**CANCELLED), [BET | {"state": "refunded", "payout_minor": 1_000}], "Your ¥1000"),
        (view(interrupted=True), [BET], "Round 7 was interrupted"),
    ],
)
def test_a_player_is_told_what_is_cut_and_what_follows_for_the_bets(said, shown, bets, words):
    told = said("drops.js", TABLE, [shown, bets])
    assert words in told
    assert bool(told) == bool(words)


GRACE = """
  const { ServerClock } = await import("/js/clock.js");
  let here = 70_000;
  const clock = new ServerClock(() => here);
  clock.sample(1_000_000, here);
  here += arg.value.passed;
  return m.graceWords(words, arg.value.round, clock.now());
"""


@pytest.mark.parametrize(
    ("passed_ms", "words"),
    [
        (0, "Cancelled in 8 s"),
        (1, "Cancelled in 8 s"),
        (1_000, "Cancelled in 7 s"),
        (7_999, "Cancelled in 1 s"),
        (8_000, "Being cancelled…"),
        (60_000, "Being cancelled…"),
    ],
)
def test_the_grace_is_counted_down_by_the_studios_clock(said, passed_ms, words):
    shown = view("video", **WAITS, cancels_ms=1_008_000)["round"]
    assert said("drops.js", GRACE, {"round": shown, "passed": passed_ms}) == words


@pytest.mark.parametrize("shown", [None, view(**WAITS, cancels_ms=None)["round"]])
def test_nothing_is_counted_down_while_no_round_waits_for_a_link(said, shown):
    assert said("drops.js", GRACE, {"round": shown, "passed": 0}) == ""


OWN = """
  const { bets, round, open } = arg.value;
  return m.ownWords(words, { bets, round, open, full });
"""


@pytest.mark.parametrize(
    ("phase", "is_open", "state", "words"),
    [
        ("betting", True, "accepted", "Your accepted bets stand: ¥500. No further bets"),
        ("reveal", False, "accepted", "They are settled without it"),
        ("betting", True, "unknown", "Whether ¥500 more counted is checked then."),
        ("settled", False, "settled", "is lost. No further bets are placed until it is back."),
    ],
)
def test_a_player_whose_own_line_is_cut_knows_which_bets_stand(said, phase, is_open, state, words):
    value = {"bets": [BET | {"state": state}], "round": {"phase": phase}, "open": is_open}
    assert words in said("drops.js", OWN, value)


MEANWHILE = """
  const kept = new Map();
  const storage = {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, text) => kept.set(key, text),
    removeItem: (key) => kept.delete(key),
  };
  const at = (phase) => ({ id: "T1-1-7", number: 7, phase });
  const wagers = [{ hold_minor: 1000, ending: { kind: "settled", payout_minor: 1500 } }];
  const how = { phase: arg.value.ended, interrupted: true, payout_minor: 1500 };
  const ended = [{ round_id: "T1-1-7", wagers, ...how }];
  const seen = new m.Meanwhile("T1", storage);
  await seen.back(async () => ended, null);
  seen.see(at("betting"), [{ state: "accepted" }]);
  if (arg.value.away) seen.left();
  const again = arg.value.reloaded ? new m.Meanwhile("T1", storage) : seen;
  again.see(at(arg.value.ended), []);
  await again.back(async () => ended, at(arg.value.ended));
  const news = again.news(at(arg.value.ended));
  again.left();
  await again.back(async () => ended, at(arg.value.ended));
  const later = again.news({ id: "T1-1-8" });
  return [news ? m.meanwhileWords(words, news, { full, signed }) : null, later, kept.size];
"""


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"ended": "settled", "away": True}, "While you were away: round 7, +500. Round 7 was int"),
        ({"ended": "settled", "reloaded": True}, "While you were away: round 7, +500."),
        ({"ended": "void", "away": True}, "While you were away: round 7 was cancelled; ¥1500"),
        ({"ended": "settled"}, None),
    ],
    ids=["settled", "after a reload", "void", "seen"],
)
def test_a_round_that_ended_meanwhile_is_told_once(said, value, words):
    told, later, kept = said("drops.js", MEANWHILE, value)
    assert (told or "")[: len(words or "")] == (words or "")
    assert (told is None, later, kept) == (words is None, None, 0)


@pytest.mark.parametrize(
    ("code", "shown", "fate"),
    [
        ("video_lost", view("video", **WAITS), "waits"),
        ("station_lost", view("station", **RUNS), "runs"),
        ("scanner_lost", view("scanner", **CANCELLED), "cancelled"),
        ("video_lost", view("video", interrupted=True), "ended"),
        ("video_lost", view("video"), ""),
        ("video_lost", view("video", **RUNS | {"id": "T1-1-8"}), ""),
        ("video_lost", view(phase="void", void={"reason": "misdeal", "by": "Mori"}), ""),
        ("pit_called", view("video", **RUNS), ""),
        ("camera_lost", view("video", **RUNS), "runs"),
    ],
)
def test_the_pit_is_told_what_becomes_of_the_round(said, code, shown, fate):
    explains = ["video_lost"] if code == "camera_lost" else []
    alarm = {"code": code, "round_id": "T1-1-7", "explains": explains}
    assert said("pit_view.js", "return m.fateOf(...arg.value);", [alarm, shown]) == fate


@pytest.mark.parametrize(
    ("who", "shown", "state"),
    [
        ("station", view(), "idle"),
        ("station", view(**WAITS), "waits"),
        ("station", view(**RUNS), "runs"),
        ("video", view("video", **WAITS), "waits"),
        ("scanner", view(**WAITS), "runs"),
    ],
    ids=["none", "own line", "started", "video", "reports wait"],
)
def test_the_station_knows_by_itself_what_a_lost_link_does_to_the_round(said, who, shown, state):
    assert said("offline_view.js", "return m.roundState(...arg.value);", [shown, who]) == state


@pytest.mark.parametrize(
    ("shown", "due", "code"),
    [
        (view(), "start_round", "link_lost"),
        (view(**WAITS), "burn_one", "link_waits"),
        (view(**WAITS), "held", "held"),
        (view(**RUNS), "deal", "deal"),
    ],
)
def test_a_station_that_is_cut_off_asks_for_no_first_card_and_no_new_round(said, shown, due, code):
    shown["instruction"] = {"code": due}
    assert said("offline_view.js", "return m.cutOff(arg.value).code;", shown) == code
