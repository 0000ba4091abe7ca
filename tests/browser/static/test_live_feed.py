"""The live connection: no hole, no part, nothing late; over a socket that the test plays."""

import pytest

pytestmark = pytest.mark.browser

FEED = """
  const feed = new m.Feed("T1");
  const event = (seq, patch, epoch = 1) => ({table: "T1", epoch, seq, patch});
  feed.load({table: "T1", epoch: 1, seq: 5, view: {phase: "idle", road: [1]}, bets: []});
"""


def test_events_in_order_patch_the_view(run):
    body = (
        FEED
        + """
      const events = [event(6, {phase: "betting"}), event(7, {road: [1, 2]})];
      const verdicts = events.map((one) => feed.receive(one));
      return [verdicts, feed.view, feed.seq];
    """
    )
    assert run("live.js", body) == [
        ["applied", "applied"],
        {"phase": "betting", "road": [1, 2]},
        7,
    ]


@pytest.mark.parametrize(
    ("seq", "epoch", "verdict"),
    [(5, 1, "old"), (4, 1, "old"), (7, 1, "gap"), (1, 2, "epoch"), (9, 0, "old")],
)
def test_an_event_that_does_not_follow_on_changes_nothing(run, seq, epoch, verdict):
    body = (
        FEED
        + """
      const verdict = feed.receive(event(arg[0], {phase: "wrong"}, arg[1]));
      return [verdict, feed.view.phase, feed.seq];
    """
    )
    assert run("live.js", body, [seq, epoch]) == [verdict, "idle", 5]


def test_an_old_snapshot_and_the_missed_patches_are_a_fresh_snapshot(run):
    body = (
        FEED
        + """
      const seen = event(5, {phase: "x"});
      const events = [seen, event(6, {phase: "betting"}), event(7, {round: {id: "r"}})];
      const complete = feed.take({events});
      return [complete, feed.view];
    """
    )
    assert run("live.js", body) == [True, {"phase": "betting", "road": [1], "round": {"id": "r"}}]


def test_an_answer_with_a_hole_is_not_complete(run):
    body = FEED + "return feed.take({events: [event(6, {a: 1}), event(8, {a: 2})]});"
    assert run("live.js", body) is False


def test_a_snapshot_that_is_older_than_what_is_shown_is_refused(run):
    body = (
        FEED
        + """
      const verdict = feed.load({table: "T1", epoch: 1, seq: 4, view: {phase: "old"}});
      return [verdict, feed.view.phase];
    """
    )
    assert run("live.js", body) == ["old", "idle"]


def test_bets_and_limits_stay_when_a_snapshot_comes_without_them(run):
    body = (
        FEED
        + """
      feed.load({table: "T1", epoch: 2, seq: 1, view: {phase: "idle"}});
      return "bets" in feed.about;
    """
    )
    assert run("live.js", body) is True


# With a socket -----------------------------------------------------------------------------------

SOCKET = """
  const listeners = {};
  const asked = [];
  const said = [];
  const answers = [];
  const socket = {
    connected: false,
    on: (name, listener) => { listeners[name] = listener; },
    timeout: () => ({ emitWithAck: async (name, body) => {
      asked.push([name, body]);
      if (name === "clock") return {now_ms: 1000};
      const answer = answers.shift();
      if (!answer) throw new Error("no answer");
      return answer;
    } }),
    volatile: { emit: (name, body) => said.push([name, body]) },
    disconnect: () => {},
  };
  const fetched = [];
  const pages = [];
  const fetchJson = async (path) => {
    fetched.push(path);
    const page = pages.shift();
    if (!page) throw new Error("offline");
    return page;
  };
  const view = (phase) => ({phase, road: []});
  const snapshot = (seq, phase, epoch = 1) =>
    ({table: "T1", epoch, seq, view: view(phase), bets: []});
  const live = new m.Live({socket, fetchJson});
  const connect = () => { socket.connected = true; listeners.connect(); };
  const drop = () => { socket.connected = false; listeners.disconnect(); };
  const settle = () => new Promise((resolve) => setTimeout(resolve, 30));
  const states = [];
  live.addEventListener("state", (event) => states.push(event.detail.state));
"""


def test_a_table_is_followed_by_the_socket_even_when_a_request_was_quicker(run):
    """Regression: a feed filled by request before the socket came up never asked to be told."""
    body = (
        SOCKET
        + """
      pages.push(snapshot(5, "idle"));
      answers.push({events: []});
      const feed = live.watch("T1");
      connect();
      await settle();
      const watched = asked.filter(([name]) => name === "watch").map(([, body]) => body);
      return [fetched, watched, feed.seq, live.state];
    """
    )
    assert run("live.js", body) == [
        ["/api/tables/T1"],
        [{"table": "T1", "epoch": 1, "seq": 5}],
        5,
        "live",
    ]


def test_a_gap_makes_the_page_ask_again_from_where_it_was(run):
    body = (
        SOCKET
        + """
      connect();
      answers.push({snapshot: snapshot(5, "idle")});
      const feed = live.watch("T1");
      await settle();
      const missed = {table: "T1", epoch: 1, seq: 6, patch: {phase: "betting"}};
      const next = {table: "T1", epoch: 1, seq: 7, patch: {road: [1]}};
      answers.push({events: [missed, next]});
      listeners.event(next);
      await settle();
      return [asked.at(-1)[1], feed.seq, feed.view];
    """
    )
    assert run("live.js", body) == [
        {"table": "T1", "epoch": 1, "seq": 5},
        7,
        {"phase": "betting", "road": [1]},
    ]


def test_events_that_arrive_while_the_page_asks_are_kept_in_order(run):
    body = (
        SOCKET
        + """
      connect();
      let give;
      const feed = live.watch("T1");
      answers.push(null);
      await settle();
      const emitWithAck = () => new Promise((resolve) => { give = resolve; });
      const late = new m.Live({socket: {...socket, timeout: () => ({emitWithAck})}, fetchJson});
      socket.connected = true;
      const other = late.watch("T1");
      listeners.event({table: "T1", epoch: 1, seq: 6, patch: {phase: "betting"}});
      give({snapshot: snapshot(5, "idle")});
      await settle();
      return [other.seq, other.view.phase];
    """
    )
    assert run("live.js", body) == [6, "betting"]


def test_another_epoch_brings_a_snapshot(run):
    body = (
        SOCKET
        + """
      connect();
      answers.push({snapshot: snapshot(5, "idle")});
      const feed = live.watch("T1");
      await settle();
      answers.push({snapshot: snapshot(1, "idle", 2)});
      listeners.event({table: "T1", epoch: 2, seq: 1, patch: {phase: "wrong"}});
      await settle();
      return [feed.epoch, feed.seq, feed.view.phase];
    """
    )
    assert run("live.js", body) == [2, 1, "idle"]


def test_a_lost_connection_is_said_at_once_and_its_return_too(run):
    body = (
        SOCKET
        + """
      connect();
      answers.push({snapshot: snapshot(5, "idle")}, {events: []});
      live.watch("T1");
      let back = 0;
      live.addEventListener("back", () => { back += 1; });
      await settle();
      drop();
      const lost = live.state;
      connect();
      await settle();
      return [lost, live.state, back, states];
    """
    )
    lost, state, back, states = run("live.js", body)
    assert (lost, state, back) == ("lost", "live", 1)
    assert states[-3:] == ["lost", "resyncing", "live"]


def test_nothing_is_said_over_a_socket_that_is_down(run):
    body = (
        SOCKET
        + """
      live.say("station", {table: "T1"});
      connect();
      live.say("station", {table: "T1"});
      return said;
    """
    )
    assert run("live.js", body) == [["station", {"table": "T1"}]]


# Bets go by request ------------------------------------------------------------------------------

BETS = """
  const { Refusal, Unanswered } = await import("/js/api.js");
  const sent = [];
  const replies = [];
  const send = async (path, body) => {
    sent.push([path, body]);
    const reply = replies.shift();
    if (reply instanceof Error) throw reply;
    return reply(body);
  };
  const kept = {
    list: [],
    all() { return this.list; },
    keep(entry) { this.forget(entry.body.id); this.list = [...this.list, entry]; },
    forget(id) { this.list = this.list.filter((one) => one.body.id !== id); },
  };
  const accept = (body) => ({
    wager: {...body, round_id: "R1", hold_minor: body.stake_minor * 2, ending: null},
    balance_minor: 900, held_minor: 100,
  });
  const bets = new m.Bets({send, kept, wait: async () => {}});
  const heard = [];
  for (const name of ["accepted", "refused", "unknown", "wallet", "undone"]) {
    bets.addEventListener(name, () => heard.push(name));
  }
  bets.begin("R1");
"""


def test_a_bet_without_an_answer_is_asked_again_with_the_same_id_and_content(run):
    body = (
        BETS
        + """
      replies.push(new Unanswered("x"), new Unanswered("x"), accept);
      await bets.place("p1", 500);
      const different = new Set(sent.map(([, body]) => JSON.stringify(body))).size;
      return [different, sent.length, bets.spot("p1"), kept.list.length, heard];
    """
    )
    different, times, spot, kept, heard = run("bets.js", body)
    assert (different, times, kept) == (1, 3, 0)
    assert (spot["state"], spot["stake"], spot["hold"]) == ("accepted", 500, 1000)
    assert heard == ["unknown", "unknown", "wallet", "accepted"]


def test_a_refused_bet_leaves_nothing_behind(run):
    body = (
        BETS
        + """
      replies.push(new Refusal(409, {code: "betting_window_closed"}));
      await bets.place("p1", 500);
      return [bets.spot("p1").state, bets.stakeMinor, kept.list.length, heard];
    """
    )
    assert run("bets.js", body) == ["empty", 0, 0, ["refused"]]


def test_a_double_tap_is_one_bet(run):
    body = (
        BETS
        + """
      replies.push(accept, accept);
      await Promise.all([bets.place("p1", 500), bets.place("p1", 500)]);
      return sent.length;
    """
    )
    assert run("bets.js", body) == 1


def test_a_bet_that_stays_unknown_is_kept_and_asked_again_after_a_reload(run):
    body = (
        BETS
        + """
      for (let i = 0; i < 7; i += 1) replies.push(new Unanswered("x"));
      await bets.place("p1", 500);
      const waiting = bets.spot("p1").state;
      const id = kept.list[0].body.id;
      const again = new m.Bets({send, kept, wait: async () => {}});
      again.begin("R1");
      replies.push(accept);
      await again.askAgain();
      const same = sent.every(([, body]) => body.id === id);
      return [waiting, again.spot("p1").state, same, kept.list.length];
    """
    )
    assert run("bets.js", body) == ["unknown", "accepted", True, 0]


def test_undo_takes_the_newest_bet_back_and_rebet_offers_the_last_round(run):
    body = (
        BETS
        + """
      const ending = {kind: "undone", payout_minor: 0};
      const undo = () => ({wager: {...bets.all.at(-1), ending}, balance_minor: 1, held_minor: 0});
      replies.push(accept, accept, undo);
      await bets.place("p1", 500);
      await bets.place("p2", 100);
      await bets.undo();
      const left = [bets.spot("p1").stake, bets.spot("p2").stake, bets.stakeMinor];
      bets.begin("R2");
      return [left, bets.lastRound, bets.all.length];
    """
    )
    assert run("bets.js", body) == [[500, 0, 500], [{"bet": "p1", "stake": 500}], 0]


def test_endings_come_from_the_studio_and_only_for_this_round(run):
    body = (
        BETS
        + """
      const same = {bet: "p1", stake_minor: 500, hold_minor: 1000};
      const wager = (round_id, id, payout_minor) =>
        ({...same, id, round_id, ending: {kind: "settled", payout_minor}});
      bets.load([wager("R1", "a", 1500), wager("R0", "b", 9999)]);
      return bets.spot("p1");
    """
    )
    spot = run("bets.js", body)
    assert (spot["state"], spot["payout"], spot["hold"]) == ("settled", 1500, 1000)


def test_ids_are_unique_also_where_the_browser_has_no_uuid(run):
    body = """
      const first = m.newId();
      Object.defineProperty(crypto, "randomUUID", {value: undefined});
      return [first, m.newId(), m.newId()];
    """
    ids = run("api.js", body)
    assert len(set(ids)) == 3
    assert all(len(one) == 36 and one[14] == "4" and one[19] in "89ab" for one in ids)
