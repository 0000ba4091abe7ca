// The player's table: countdown, felt, chips, wallet, results. What is shown came from the studio.

import { get, look } from "./api.js";
import { betWords, kindWords } from "./bet_words.js";
import { Bets, holdFor } from "./bets.js";
import { formatSpan, formatTime, formatTimeZone, secondsLeft } from "./clock.js";
import { confirmDialog } from "./dialog.js";
import { $, h, icon, renderOnce, setShown, setText } from "./dom.js";
import { cancelledByLink, graceWords, Meanwhile, meanwhileWords, ownWords, tableWords } from "./drops.js";
import { makeDue } from "./due.js";
import { errorText } from "./errors.js";
import { makeFelt, reasonOf } from "./felt.js";
import { has, language, publicReasonWords, t, tn } from "./i18n.js";
import { Live } from "./live.js";
import { chipValues, formatChip, formatMoney, formatNumber, formatSigned } from "./money.js";
import { tellMoney } from "./money_news.js";
import { announce, drawConnection, notify } from "./page.js";
import { startPlayMoney } from "./play_money.js";
import { drawRoad } from "./road.js";
import { roundNet, Session } from "./session.js";
import { makeVerify } from "./verify.js";

const TICK_MS = 200;
const CONFIRM_KEY = "studio.confirm_bets";

const table = $("#main").dataset.table;
const live = new Live();
const bets = new Bets();
const session = new Session(live.clock);
const meanwhile = new Meanwhile(table, localStorage);
const verify = makeVerify($("#verify"));
const message = $("#message");

let feed = null;
let felt = null;
let room = null;
let me = { currency: { code: "PLAY", decimals: 0 } };
let chip = null;
let lastPhase = null;
let announcedSecond = null;
let announcedGrace = null;

const money = {
  number: (minor) => formatNumber(minor, me.currency.decimals),
  full: (minor) => formatMoney(minor, me.currency, language),
  signed: (minor) => formatSigned(minor, me.currency, language),
};

const due = makeDue({ money, now: () => live.clock.now() });

// What the round allows now ---------------------------------------------------------------

const view = () => feed?.view ?? null;
const round = () => view()?.round ?? null;
const remaining = () => secondsLeft(round()?.window_closes_ms ?? 0, live.clock.now());
const connected = () => live.state === "live" || live.state === "polling" || live.state === "resyncing";

function bettingOpen() {
  return view()?.phase === "betting" && remaining() > 0 && connected() && !view().stopped;
}

/** In a room that has not started, or at another table, bets can be taken back but not placed. */
const placingOpen = () => bettingOpen() && !room?.blocked();

function blockedWords() {
  if (!connected()) return t("play.blocked_offline");
  if (room?.blocked()) return room.blocked();
  if (view()?.phase === "betting") return t("play.blocked_closing");
  return t("play.blocked_closed");
}

function phaseWords() {
  const now = view();
  if (!now) return t("play.phase.loading");
  if (now.locked || now.stage === "locked") return t("play.phase.locked");
  if (now.stopped) return t("play.phase.stopped");
  if (now.phase === "betting") return remaining() > 0 ? t("play.phase.betting") : t("play.phase.closing");
  if (["no_shoe", "loaded", "verifying", "opening"].includes(now.stage) && now.phase !== "settled" && now.phase !== "void") return t("play.phase.shoe");
  if (now.stage === "last_round_done" && now.phase === "idle") return t("play.phase.shoe_done");
  return t(`play.phase.${now.phase}`);
}

// Drawing ---------------------------------------------------------------------------------

function draw() {
  const now = view();
  if (!now || !felt) return;
  bets.begin(now.round?.id ?? null);
  meanwhile.see(now.round, bets.all);
  felt.update(now);
  felt.drawResults(now.round);
  due.view(table, now);
  drawCalls(now);
  drawSpots();
  drawResults(now);
  drawHead(now);
  drawRoad($("#road"), now.road, felt.players, feed.about.road_kind);
  if (now.round) verify.update(now.round);
  setText($("#rules-version"), now.round ? now.round.rule_version : "");
  if (now.phase !== lastPhase) phaseChanged(now);
  tick();
}

function drawHead(now) {
  setText($("#table-name"), now.name ?? table);
  setText($("#round-name"), now.round ? t("play.round", { number: now.round.number }) : "");
  const shoe = now.shoe;
  setText($("#shoe-name"), shoe ? t(shoe.cut_card_out ? "play.shoe_last" : "play.shoe", { number: shoe.number, left: shoe.in_shoe, of: shoe.registered }) : "");
}

/** What the dealer calls out now; the line is a status region, so that it is heard as well. */
function drawCalls(now) {
  const calls = (now.round?.calls ?? []).map((code) => `call.${now.game}.${code}`).filter(has);
  setText($("#calls"), calls.map((key) => t(key)).join(" · "));
}

function drawSpots() {
  const open = bettingOpen();
  const placing = placingOpen();
  const blocked = blockedWords();
  const results = round()?.results ?? [];
  for (const spot of felt.spots) {
    const net = results.find((one) => one.bet === spot.bet.code)?.net;
    const shown = bets.spot(spot.bet.code);
    const result = net === undefined ? null : shown.forfeited || net.startsWith("-") ? "lose" : net === "0" ? "tie" : "win";
    spot.update({ spot: shown, open: placing && !bets.busy(spot.bet.code), money, blocked, result: shown.stake ? result : null });
  }
  const accepted = bets.all.some((wager) => wager.state === "accepted");
  $("#undo").disabled = !open || !accepted;
  $("#clear").disabled = !open || !accepted;
  $("#rebet").disabled = !placing || bets.all.length > 0 || bets.lastRound.length === 0;
  setText($("#bet-total"), money.full(bets.stakeMinor));
}

function drawResults(now) {
  const ended = bets.all.filter((wager) => ["settled", "refunded"].includes(wager.state));
  setShown($("#results"), ended.length > 0);
  if (!ended.length) return;
  const key = `${now.round?.id}/${ended.map((wager) => `${wager.id}${wager.state}${wager.payout_minor}`).join()}`;
  renderOnce($("#results-list"), key, () => resultRows(now, ended));
}

function resultRows(now, ended) {
  const rows = ended.map((wager) => resultRow(now, wager));
  const sum = (key) => ended.reduce((total, wager) => total + wager[key], 0);
  const net = sum("payout_minor") - sum("hold_minor");
  const total = h(
    "li",
    { class: "result-total" },
    h("span", { text: t("result.round_net") }),
    h("b", { class: "number", "data-testid": "round-net", text: formatSigned(net, me.currency, language) }),
  );
  return [...rows, total];
}

/** What came back, part by part: "stake 500 + deposit 500 + win 1,000". */
function resultParts(wager) {
  const deposit = wager.hold_minor - wager.stake_minor;
  const win = wager.payout_minor - wager.hold_minor;
  const ending = deposit > 0 ? "_deposit" : "";
  if (wager.state === "refunded") return t(`result.void_parts${ending}`);
  const sign = win < 0 ? "lost" : win > 0 ? "won" : "even";
  return t(`result.parts_${sign}${ending}`, {
    stake: money.number(wager.stake_minor),
    deposit: money.number(deposit),
    win: money.number(Math.abs(win)),
  });
}

/** Why a bet brought what it brought; one of a room that was left lost its stake by that. */
function resultReason(wager, result) {
  return wager.forfeited ? t("result.forfeited") : reasonOf(result);
}

function resultRow(now, wager) {
  const result = (now.round?.results ?? []).find((one) => one.bet === wager.bet);
  const win = wager.payout_minor - wager.hold_minor;
  const words = wager.state === "refunded" ? t("result.void_short") : result ? resultReason(wager, result) : t("result.done");
  return h(
    "li",
    { class: "result-row", "data-result": win > 0 ? "win" : win < 0 ? "lose" : "tie", "data-testid": `result-row-${wager.bet}` },
    h("span", { class: "result-what" }, h("b", { text: betWords(wager.bet) }), h("span", { text: ` ${words}` })),
    h("span", { class: "result-sum number", text: t("result.returned", { amount: money.full(wager.payout_minor) }) }),
    h("span", { class: "result-parts small muted", text: resultParts(wager) }),
  );
}

function drawWallet(values) {
  Object.assign(me, values);
  setText($("#balance"), money.full(me.balance_minor ?? 0));
  setText($("#held"), money.full(me.held_minor ?? 0));
  setText($("#owed-minor"), money.full(me.owed_minor ?? 0));
  setShown($("#owed"), me.owed_minor > 0);
}

function drawConnected() {
  drawConnection($("#connection"), live);
  const lost = live.state === "lost";
  $("#felt").classList.toggle("stale", lost);
  setShown($("#stale"), lost);
  if (lost) setText($("#stale-text"), live.heardMs ? t("play.reconnecting", { time: formatTime(live.heardMs) }) : t("play.connecting"));
  drawDrops();
}

/** What is cut and what follows for the bets: it stays as long as it holds. */
function drawDrops() {
  const now = view();
  if (!now || !felt) return;
  const all = { bets: bets.all, full: money.full };
  const news = meanwhile.news(now.round);
  const said = live.state === "lost"
    ? [ownWords({ t }, { ...all, round: now.round, open: now.phase === "betting" && remaining() > 0 })]
    : [news ? meanwhileWords({ t }, news, money) : "", tableWords({ t }, now, all)];
  renderOnce($("#drop"), said.join("\n"), () => said.filter(Boolean).map((text) => h("p", { class: "drop-line" }, icon("info"), h("span", { text }))));
  drawGrace(now);
}

/** The countdown of the grace: a timer that stays silent, said once when it begins. */
function drawGrace({ round: current }) {
  const words = live.state === "lost" ? "" : graceWords({ t }, current, live.clock.now());
  setText($("#drop-clock"), words);
  setShown($("#drop-clock"), words !== "");
  if (words && announcedGrace !== current.cancels_ms) announce(words);
  announcedGrace = current?.cancels_ms ?? null;
}

function connectionChanged({ detail: { state } }) {
  drawConnected();
  if (state === "lost") meanwhile.left();
  if (state === "live") lookBack();
}

async function lookBack() {
  await meanwhile.back(async () => (await look("/api/history?limit=50")).rounds, round());
  drawDrops();
}

// Every fifth of a second -----------------------------------------------------------------

function tick() {
  const now = view();
  const betting = now?.phase === "betting";
  const seconds = betting ? remaining() : null;
  const countdown = $("#countdown");
  setText($("#phase"), phaseWords());
  setShown(countdown, betting && seconds > 0);
  if (betting) {
    setText(countdown, String(seconds));
    const whole = Math.max(1, now.round.window_closes_ms - now.round.opened_ms);
    const left = Math.max(0, now.round.window_closes_ms - live.clock.now());
    $("#countdown-bar").value = Math.min(1, left / whole);
    countdown.dataset.soon = String(seconds <= 5);
    announceSeconds(seconds);
  }
  setShown($("#countdown-bar"), betting);
  $("#phase-bar").dataset.phase = now?.phase ?? "";
  setText($("#wall-clock"), formatTimeZone(live.clock.now()));
  setText($("#elapsed"), formatSpan(live.clock.now() - session.startMs));
  due.draw();
  if (felt) drawSpots();
  drawDrops();
}

function announceSeconds(seconds) {
  if (announcedSecond === seconds || ![10, 5, 0].includes(seconds)) return;
  announcedSecond = seconds;
  announce(seconds ? t("play.announce_left", { seconds }) : t("play.phase.closing"));
}

function phaseChanged(now) {
  const before = lastPhase;
  lastPhase = now.phase;
  announcedSecond = null;
  announce(now.phase === "betting" ? t("play.announce_open", { seconds: remaining() }) : phaseWords());
  if (before === null) return;
  if (now.phase === "betting" || now.phase === "settled") message.hidden = true;
  if (cancelledByLink(now.round)) message.hidden = true;
  else if (now.phase === "void") notify(message, "warn", t("play.void", { reason: now.round?.void ? publicReasonWords(now.round.void.reason) : "" }));
  if (now.phase === "settled" || now.phase === "void") loadEndings();
}

async function loadEndings() {
  const id = round()?.id;
  if (!id) return;
  try {
    const { wagers } = await look(`/api/rounds/${id}/wagers`);
    if (id === round()?.id) bets.load(wagers);
    const have = await look("/api/me");
    drawWallet(have);
    due.load(have.correction_due);
    await loadHistory();
  } catch {
    setTimeout(loadEndings, 2000);
  }
}

async function loadHistory() {
  const { rounds } = await look("/api/history?limit=50");
  const own = session.take(rounds).filter((one) => one.phase === "settled" || one.phase === "void");
  setText($("#session-net"), formatSigned(session.netMinor, me.currency, language));
  renderOnce($("#session-rounds"), own.map((one) => `${one.round_id}${one.phase}`).join(), () => own.slice(0, 8).map(historyRow));
  setShown($("#session-empty"), own.length === 0);
}

function historyRow(one) {
  const net = roundNet(one);
  return h(
    "li",
    { class: "session-row" },
    h("span", {}, h("b", { text: one.round_id }), h("span", { class: "muted small", text: ` ${t(`play.phase_short.${one.phase}`)}` })),
    h("span", { class: "number", text: formatSigned(net, me.currency, language) }),
  );
}

// Betting ---------------------------------------------------------------------------------

async function place(bet, stake = chip) {
  if (!placingOpen() || bets.busy(bet.code)) return;
  const hold = holdFor(stake, bet.exposure);
  if (localStorage.getItem(CONFIRM_KEY) === "yes") {
    const body = [h("p", { text: t("play.confirm_body", { bet: betWords(bet.code), stake: money.full(stake), hold: money.full(hold) }) })];
    const answer = await confirmDialog({ title: t("play.confirm_title"), body, confirm: t("play.confirm_yes"), testid: "confirm-bet" });
    if (answer === null) return;
  }
  await bets.place(bet.code, stake);
}

function acceptedWords(wager) {
  const deposit = wager.hold_minor - wager.stake_minor;
  const values = { bet: betWords(wager.bet), stake: money.full(wager.stake_minor), hold: money.full(wager.hold_minor), deposit: money.full(deposit) };
  return t(deposit > 0 ? "play.accepted_deposit" : "play.accepted", values);
}

function say(kind, text) {
  notify(message, kind, text);
  announce(text);
}

function listenToBets() {
  bets.addEventListener("change", () => felt && draw());
  bets.addEventListener("wallet", (event) => drawWallet({ balance_minor: event.detail.balance_minor, held_minor: event.detail.held_minor }));
  bets.addEventListener("accepted", (event) => say("ok", acceptedWords(event.detail)));
  bets.addEventListener("undone", (event) => say("info", t("play.undone", { bet: betWords(event.detail.bet), stake: money.full(event.detail.stake_minor) })));
  bets.addEventListener("unknown", () => say("warn", t("play.unknown")));
  bets.addEventListener("refused", (event) => say("bad", errorText(event.detail.error, me.currency)));
  $("#undo").addEventListener("click", () => bets.undo());
  $("#clear").addEventListener("click", () => bets.clear());
  $("#rebet").addEventListener("click", async () => {
    for (const { bet, stake } of bets.lastRound) {
      const spot = felt.spots.find((one) => one.bet.code === bet);
      if (spot && !(await bets.place(spot.bet.code, stake))) break;
    }
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input:not([type=radio]),select,textarea,dialog");
    if (event.key === "Backspace" && !typing && !$("#undo").disabled) {
      event.preventDefault();
      bets.undo();
    }
  });
  const choice = $("#confirm-bets");
  choice.checked = localStorage.getItem(CONFIRM_KEY) === "yes";
  choice.addEventListener("change", () => localStorage.setItem(CONFIRM_KEY, choice.checked ? "yes" : "no"));
}

function makeChips(about) {
  const least = Math.min(...about.bets.map((bet) => bet.min_minor));
  const most = Math.max(...about.bets.map((bet) => bet.max_minor));
  const values = chipValues(least, most);
  chip = values[Math.min(1, values.length - 1)];
  $("#chips").replaceChildren(
    ...values.map((value, index) =>
      h(
        "label",
        { class: `chip chip-${index}`, "data-testid": `chip-${value}`, title: money.full(value) },
        h("input", { type: "radio", name: "chip", value, checked: value === chip, class: "sr", "aria-label": t("play.chip", { amount: money.full(value) }), onchange: () => { chip = value; } }),
        h("span", { "aria-hidden": "true", text: formatChip(value, me.currency.decimals, language) }),
      ),
    ),
  );
}

function drawLimits(about) {
  const kinds = new Map(about.bets.map((bet) => [bet.settles_on, bet]));
  const rows = [...kinds.values()].map((bet) => [kindWords(bet), t("play.limit_range", { min: money.full(bet.min_minor), max: money.full(bet.max_minor) })]);
  const limits = about.limits ?? {};
  if (limits.player_max_minor) rows.push([t("play.limit_player"), money.full(limits.player_max_minor)]);
  if (limits.table_max_minor) rows.push([t("play.limit_table"), money.full(limits.table_max_minor)]);
  $("#limits").replaceChildren(...rows.flatMap(([name, value]) => [h("dt", { text: name }), h("dd", { text: value })]));
}

function showVideo(about) {
  const box = $("#video");
  if (!about.stream_url) return;
  const picture = h("img", { src: about.stream_url, alt: t("play.video_alt"), "data-testid": "video" });
  picture.addEventListener("error", () => box.replaceChildren(icon("video-off"), h("span", { text: t("play.video_lost") })));
  box.classList.add("on");
  box.replaceChildren(picture);
}

function setUp() {
  me.currency = feed.about.currency ?? me.currency;
  felt = makeFelt($("#hands"), feed.about, (bet) => place(bet));
  makeChips(feed.about);
  drawLimits(feed.about);
  showVideo(feed.about);
  loadEndings();
  bets.begin(round()?.id ?? null);
  bets.askAgain();
}

async function start() {
  listenToBets();
  live.addEventListener("state", connectionChanged);
  live.addEventListener("wallet", (event) => {
    const { balance_minor, held_minor, owed_minor = me.owed_minor } = event.detail;
    drawWallet({ balance_minor, held_minor, owed_minor });
    tellMoney(event.detail, money);
    due.wallet(event.detail);
    if (event.detail.round_id && event.detail.round_id === round()?.id) loadEndings();
  });
  live.addEventListener("back", async () => {
    await bets.askAgain();
    await loadEndings();
    const accepted = bets.all.filter((wager) => wager.state === "accepted");
    say("ok", accepted.length ? tn("play.back_bets", accepted.length, { stake: money.full(bets.stakeMinor) }) : t("play.back"));
  });
  live.addEventListener("refused", () => say("bad", t("error.not_logged_in")));
  live.addEventListener("table", (event) => {
    feed = event.detail;
    if (!felt && feed.about?.bets) setUp();
    draw();
    // Without a socket only an answer says how the table stands; the state alone does not.
    if (live.state === "polling") lookBack();
  });
  drawWallet(await get("/api/me").catch(() => ({})));
  due.load(me.correction_due);
  if (me.play_money) room = startPlayMoney({ live, bets, me, money: money.full, table, onChange: () => felt && draw() });
  live.watch(table);
  live.start();
  drawConnected();
  setInterval(tick, TICK_MS);
}

start();
