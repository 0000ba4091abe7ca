"""Rooms, medals, toasts and music as their modules work them out, without a studio."""

import pytest

pytestmark = pytest.mark.browser

AYA, BEN, CHO = (
    {"player_id": number, "name": name, "owner": number == 1, "joined_ms": 0, "plate": None}
    for number, name in enumerate(("Aya", "Ben", "Cho"), 1)
)


def room(*members, state="started", owner=1, table="T1", wagers=()):
    return {
        "id": "r",
        "table": table,
        "state": state,
        "owner_id": owner,
        "members": [{**one, "owner": one["player_id"] == owner} for one in members],
        "round": {"id": "T1-1-1", "phase": "betting", "wagers": list(wagers)},
    }


def wager(player, bet, stake, *, payout=None, kind="settled", forfeited=False):
    return {
        "player_id": player,
        "name": {1: "Aya", 2: "Ben", 3: "Cho"}[player],
        "bet": bet,
        "stake_minor": stake,
        "forfeited": forfeited,
        "ending": None if payout is None else {"kind": kind, "payout_minor": payout},
    }


# Rooms -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "news"),
    [
        (room(AYA), room(AYA, BEN), [["joined", {"name": "Ben"}]]),
        (room(AYA, BEN), room(AYA), [["left", {"name": "Ben"}]]),
        (room(AYA, BEN, state="open"), room(AYA, BEN), [["started", {}]]),
        (room(AYA, BEN), room(BEN, owner=2), [["left", {"name": "Aya"}], ["owner_you", {}]]),
        (
            room(AYA, BEN, CHO),
            room(BEN, CHO, owner=3),
            [["left", {"name": "Aya"}], ["owner", {"name": "Cho"}]],
        ),
        (room(AYA), room(AYA), []),
        (None, room(AYA), []),
        (room(AYA), None, []),
    ],
)
def test_what_happened_in_a_room_is_told_once(run, before, after, news):
    assert run("my_room.js", "return m.newsOf(arg[0], arg[1], 2);", [before, after]) == news


def test_the_bets_of_a_member_are_summed_by_bet(run):
    now = room(
        AYA,
        BEN,
        wagers=[
            wager(1, "tie", 100, payout=800),
            wager(1, "tie", 200, payout=1600),
            wager(1, "player", 500),
            wager(2, "tie", 100, payout=100, kind="refunded"),
        ],
    )
    tie, player = run("my_room.js", "return m.betsOf(arg, 1);", now)
    assert (tie["bet"], tie["stakeMinor"], tie["payoutMinor"]) == ("tie", 300, 2400)
    assert (tie["ended"], tie["refunded"], tie["forfeited"]) == (True, False, False)
    assert (player["stakeMinor"], player["ended"]) == (500, False)
    (back,) = run("my_room.js", "return m.betsOf(arg, 2);", now)
    assert (back["refunded"], back["payoutMinor"]) == (True, 100)


def test_who_left_in_the_middle_stays_in_sight_until_the_round_is_over(run):
    now = room(AYA, wagers=[wager(1, "tie", 100), wager(3, "tie", 100, forfeited=True)])
    assert run("my_room.js", "return m.goneOf(arg);", now) == [{"player_id": 3, "name": "Cho"}]
    assert run("my_room.js", "return m.goneOf(arg);", room(AYA)) == []
    assert run("my_room.js", "return m.betsOf(arg, 3)[0].forfeited;", now) is True


@pytest.mark.parametrize(
    ("now", "block"),
    [
        (None, None),
        (room(AYA, state="open"), "open"),
        (room(AYA, state="open", table="T2"), "open"),
        (room(AYA), None),
        (room(AYA, table="T2"), "elsewhere"),
    ],
)
def test_a_room_shuts_the_spots_of_other_tables_and_all_before_its_start(run, now, block):
    assert run("my_room.js", "return m.blockOf(arg, 'T1');", now) == block


def test_hints_that_come_while_the_page_asks_are_one_more_question(run):
    body = """
      const waiting = [];
      const mine = new m.MyRoom({ fetchJson: () => new Promise((go) => waiting.push(go)) });
      const shown = [];
      mine.addEventListener("change", () => shown.push(mine.room?.name ?? null));
      const done = mine.ask();
      for (let hint = 0; hint < 5; hint += 1) mine.ask();
      waiting[0]({ room: { name: "first" }, standing_minor: 1 });
      while (waiting.length < 2) await new Promise((go) => setTimeout(go));
      waiting[1]({ room: { name: "second" }, standing_minor: 2 });
      await done;
      return [waiting.length, shown, mine.standingMinor];
    """
    assert run("my_room.js", body) == [2, ["first", "second"], 2]


def test_an_answer_that_a_newer_one_has_overtaken_changes_nothing(run):
    body = """
      let slow;
      const mine = new m.MyRoom({
        fetchJson: () => new Promise((go) => { slow = go; }),
        send: async () => ({ forfeited_minor: 500, wagers: 1 }),
      });
      mine.room = { id: "r" };
      const asked = mine.ask();
      const forfeited = await mine.leave();
      slow({ room: { id: "r" }, standing_minor: 500 });
      await asked;
      return [forfeited, mine.room, mine.standingMinor];
    """
    assert run("my_room.js", body) == [500, None, 0]


def test_what_is_shown_stays_when_no_answer_comes(run):
    body = """
      const mine = new m.MyRoom({ fetchJson: async () => { throw new Error("offline"); } });
      mine.room = { id: "r" };
      await mine.ask();
      return mine.room.id;
    """
    assert run("my_room.js", body) == "r"


# Medals and items ------------------------------------------------------------------------------


def test_medals_that_are_won_come_first_and_the_newest_of_them(run):
    medals = [
        {"code": code, "awarded_ms": at}
        for code, at in (("a", None), ("b", 10), ("c", None), ("d", 20))
    ]
    body = "return m.medalOrder(arg).map((one) => one.code).join('');"
    assert run("club_words.js", body, medals) == "dbac"


@pytest.mark.parametrize(
    ("tally", "value", "words"),
    [("rounds", 1234, "1,234"), ("won_minor_max", 123456, "1,234.56\u00a0G")],
)
def test_a_tally_of_money_reads_as_money(run, tally, value, words):
    body = "return m.tallyNumber(arg[0], arg[1], { code: 'G', decimals: 2 });"
    assert run("club_words.js", body, [tally, value]) == words


def test_items_stand_by_kind_in_the_order_of_the_shop(run):
    items = [{"code": code, "kind": kind} for code, kind in (("a", "x"), ("b", "y"), ("c", "x"))]
    body = "return [...m.byKind(arg)].map(([kind, own]) => [kind, own.length]);"
    assert run("club_words.js", body, items) == [["x", 2], ["y", 1]]


# Toasts ----------------------------------------------------------------------------------------


def test_a_toast_is_said_politely_closed_by_hand_and_goes_along_to_the_next_page(run, bare):
    run("toast.js", "m.toast('medal', 'Medal: Tie'); m.toast('users', 'Ben has left');")
    toasts = bare.get_by_test_id("toasts")
    assert toasts.get_attribute("role") == "status"
    assert toasts.locator(".toast p").all_inner_texts() == ["Medal: Tie", "Ben has left"]
    toasts.get_by_role("button").first.click()
    assert toasts.locator(".toast p").all_inner_texts() == ["Ben has left"]
    bare.reload()
    run("toast.js", "")
    assert toasts.locator(".toast p").all_inner_texts() == ["Ben has left"]


def test_never_more_than_three_toasts_are_in_the_way(run, bare):
    run("toast.js", "for (const one of 'abcde') m.toast('info', one);")
    assert bare.get_by_test_id("toasts").locator("p").all_inner_texts() == ["c", "d", "e"]


# Music and sounds ------------------------------------------------------------------------------

PIECES = ("music_lounge", "music_koto", "music_bossa")


@pytest.mark.parametrize(("note", "hertz"), [("A4", 440), ("C4", 261.63), ("D#5", 622.25)])
def test_notes_have_their_pitch(run, note, hertz):
    assert run("music.js", "return m.frequencyOf(arg);", note) == pytest.approx(hertz, abs=0.01)


@pytest.mark.parametrize("code", PIECES)
def test_a_piece_is_a_loop_without_a_hole_and_all_its_notes_can_be_played(run, code):
    body = """
      const piece = m.PIECES[arg];
      const once = m.notesBetween(piece, 0, piece.beats);
      const parts = [];
      for (let beat = 0; beat < piece.beats; beat += 0.7) {
        parts.push(...m.notesBetween(piece, beat, Math.min(piece.beats, beat + 0.7)));
      }
      const again = m.notesBetween(piece, piece.beats, 2 * piece.beats);
      return {
        notes: once.length,
        parts: parts.length,
        again: again.length,
        heard: once.every(({ note }) => m.frequencyOf(note) > 55 && m.frequencyOf(note) < 2000),
        inside: once.every(
          ({ beat, beats }) => beat >= 0 && beats > 0 && beat + beats <= piece.beats),
        rest: once.map(({ beat }) => beat).sort((a, b) => a - b)
          .reduce((gap, beat, at, all) => Math.max(gap, beat - (all[at - 1] ?? 0)), 0),
      };
    """
    piece = run("music.js", body, code)
    assert piece["notes"] == piece["parts"] == piece["again"] > 30
    assert piece["heard"]
    assert piece["inside"]
    assert piece["rest"] <= 4


MADE = """
  const started = [];
  const node = () => ({
    gain: { setValueAtTime() {}, linearRampToValueAtTime() {}, exponentialRampToValueAtTime() {},
            cancelScheduledValues() {}, setTargetAtTime() {} },
    frequency: {}, connect: (to) => to, disconnect() {}, stop() {},
    start(at) { started.push(at); },
  });
  const context = { currentTime: 0, destination: {}, createGain: node, createOscillator: node };
  let wake;
  const music = new m.Music({ awake: (work) => { wake = () => work(context); } });
"""


def test_music_waits_for_somebody_to_touch_the_page(run):
    body = f"""{MADE}
      music.setVolume(40);
      music.play("music_koto");
      const before = [music.sounding, started.length];
      wake();
      return [before, music.sounding, started.length > 0];
    """
    assert run("music.js", body) == [[None, 0], "music_koto", True]


@pytest.mark.parametrize(
    ("change", "sounding"),
    [
        ("music.play('music_none')", None),
        ("music.stop()", None),
        ("music.setVolume(0)", None),
        ("music.play('music_bossa')", "music_bossa"),
        ("music.setVolume(80)", "music_koto"),
    ],
)
def test_music_follows_what_is_chosen(run, change, sounding):
    body = f"""{MADE}
      music.setVolume(40);
      music.play("music_koto");
      wake();
      {change};
      return music.sounding;
    """
    assert run("music.js", body) == sounding


def test_music_is_silent_while_the_page_is_out_of_sight(run):
    body = f"""{MADE}
      let state = "visible";
      Object.defineProperty(document, "visibilityState", {{ get: () => state }});
      music.setVolume(40);
      music.play("music_lounge");
      wake();
      const heard = [music.sounding];
      for (state of ["hidden", "visible"]) {{
        document.dispatchEvent(new Event("visibilitychange"));
        heard.push(music.sounding);
      }}
      return heard;
    """
    assert run("music.js", body) == ["music_lounge", None, "music_lounge"]


def test_nothing_of_sound_comes_from_a_file_or_another_host(run, bare):
    asked = []
    bare.on("request", lambda request: asked.append(request.url))
    run("music.js", f"{MADE} music.setVolume(40); music.play('music_bossa'); wake();")
    assert all(url.endswith(".js") for url in asked)


def test_effects_are_silent_before_a_touch_and_at_volume_nothing(run, bare):
    body = """
      const made = [];
      const param = () => ({
        setValueAtTime() {}, exponentialRampToValueAtTime() {},
        linearRampToValueAtTime: (value) => made.push(value),
      });
      globalThis.AudioContext = class {
        state = "running"; currentTime = 0; destination = {};
        createGain() { return { gain: param(), connect: (to) => to }; }
        createOscillator() { return { frequency: {}, connect: (to) => to, start() {}, stop() {} }; }
      };
      m.soundChip();
      const before = made.length;
      dispatchEvent(new Event("mousedown"));
      m.setEffectsVolume(50);
      m.soundChip();
      const half = made.splice(0);
      m.setEffectsVolume(0);
      m.soundChip();
      return [before, half, made.length];
    """
    before, half, silent = run("sound.js", body)
    assert (before, silent) == (0, 0)
    assert half == [pytest.approx(0.06)] * 2
