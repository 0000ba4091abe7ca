// The dealer's station: one instruction, the next step, and never a card before its reveal.

import { get, newId, post, postUntilAnswered } from "./api.js";
import { cardChip } from "./cards.js";
import { formatAge, formatTime, secondsLeft } from "./clock.js";
import { confirmDialog } from "./dialog.js";
import { $, h, icon, renderOnce, setShown, setText } from "./dom.js";
import { graceWords } from "./drops.js";
import { errorText } from "./errors.js";
import { has, language, otherLanguage, t, tn } from "./i18n.js";
import { keyField } from "./key_field.js";
import { guardKeys } from "./keys.js";
import { Live } from "./live.js";
import { away, awayWords, backWords, cutOff, roundState } from "./offline_view.js";
import { announce, drawConnection } from "./page.js";
import { soundFailed, soundRead } from "./sound.js";
import { callWords, countRows, faultWords, needsCard, noCardYet, positionWords, primaryAction, stepWords, stripCells, stripLayout, totals } from "./station_view.js";

const TICK_MS = 200;
const HEARTBEAT_MS = 2000;
const BACK_SHOWN_MS = 15_000;

const main = $("#main");
const table = main.dataset.table;
const person = Number(main.dataset.person);
const live = new Live();
const own = { t, has, language };
const other = otherLanguage();

let feed = null;
let pending = false;
let lostAt = null;
let videoLostAt = null;
let unsent = 0;
let work = null; // what the studio said last of the scanner's reports, and when
let awaySince = null;
let backUntil = null;

const view = () => feed?.view ?? null;
const seated = () => view()?.dealer?.id === person;

// Drawing ---------------------------------------------------------------------------------

function draw() {
  const now = view();
  if (!now) return;
  drawHead(now);
  drawSay(now);
  drawCalls(now);
  drawFault(now);
  drawStrip(now);
  drawCounts(now);
  drawKeys(now);
  tick();
}

function drawHead(now) {
  setText($("#table-long"), now.name ?? "");
  setText($("#dealer"), now.dealer ? now.dealer.name : t("station.no_dealer"));
  setText($("#round-name"), now.round ? t("station.round", { shoe: now.shoe?.number ?? "–", number: now.round.number }) : "");
  setShown($("#leave"), seated());
}

function instruction(now) {
  if (!seated() && !["held", "stopped"].includes(now.instruction.code)) return { code: "take_seat" };
  const step = lostAt === null ? now.instruction : cutOff(now);
  return { ...step, scan_at: feed.about?.scan_at };
}

function drawSay(now) {
  const step = instruction(now);
  main.dataset.tone = ["held", "stopped", "rescan", "key_waits", "locked", "link_lost", "link_waits"].includes(step.code) ? "alert" : "";
  setText($("#instruction-step"), stepWords(own, step));
  $("#instruction-other").lang = other.language;
  setText($("#instruction-other-step"), stepWords(other, step));
  setText($("#next"), step.next ? t("station.next", { step: stepWords(own, step.next, "_short") }) : "");
}

/** What the dealer calls out, for the one who sits here. */
const calls = (words, now) => (seated() ? callWords(words, now) : { calls: [], result: "" });

function drawCalls(now) {
  const { calls: said, result } = calls(own, now);
  const again = calls(other, now);
  // A call is never broken, and the dot between two stays with the first.
  const dotted = said.map((words, index) => (index < said.length - 1 ? `${words} ·` : words));
  renderOnce($("#calls"), dotted.join(" "), () => dotted.flatMap((text, index) => (index ? [" ", h("span", { text })] : h("span", { text }))));
  setText($("#result"), result);
  $("#calls-other").lang = other.language;
  setText($("#calls-other"), [...again.calls, again.result].filter(Boolean).join(" · "));
  const hands = totals(now);
  renderOnce($("#totals"), JSON.stringify(hands.map((hand) => [hand.position, hand.points])), () =>
    hands.map((hand) => h("div", { class: "total", "data-testid": `total-${hand.position}` }, h("dt", { text: positionWords(own, hand.position) }), " ", h("dd", { class: "number", text: hand.points }))),
  );
}

/** How long no card may be drawn, and why, in front of the instruction that says so. */
function clockWords(words, now) {
  const step = instruction(now);
  const grace = step.code === "link_waits" ? graceWords(words, now.round, live.clock.now()) : "";
  if (grace) return `${grace} `;
  if (!noCardYet(step)) return "";
  const seconds = secondsLeft(now.round.window_closes_ms, live.clock.now());
  return `${seconds ? words.t("step.wait_clock", { seconds }) : words.t("step.wait_closing")} `;
}

function phaseWords(now) {
  if (now.phase === "betting") {
    const seconds = secondsLeft(now.round.window_closes_ms, live.clock.now());
    return seconds ? t("station.phase.betting", { seconds }) : t("station.phase.closing");
  }
  if (now.round?.interrupted && now.phase !== "settled" && now.phase !== "void") return t("station.phase.interrupted");
  // Cards that are dealt open open no hands: nothing but the close is to be said.
  const phase = now.phase === "reveal" && now.instruction.code !== "reveal" ? "no_more_bets" : now.phase;
  return now.round ? t(`station.phase.${phase}`) : t("station.phase.idle");
}

function drawFault(now) {
  const words = faultWords(own, now);
  setShown($("#fault"), words !== null);
  if (!words) return;
  setText($("#fault-what"), words.what);
  setText($("#fault-do"), words.action);
}

function drawStrip(now) {
  const places = feed.about?.places ?? [];
  const cells = stripCells(now, places);
  const strip = $("#strip");
  renderOnce(strip, JSON.stringify(cells), () => cells.map(cellItem));
  const layout = stripLayout(places);
  strip.style.setProperty("--columns", layout.columns);
  strip.style.setProperty("--columns-phone", layout.phoneColumns);
  strip.dataset.byHand = String(layout.byHand);
  strip.dataset.words = String(layout.words);
}

function cellItem(cell) {
  const words = positionWords(own, cell.position);
  return h(
    "li",
    { class: "cell", "data-state": cell.state, "data-testid": `cell-${cell.position}-${cell.number}`, "aria-label": t(`station.cell.${cell.state}`, { position: words, card: cell.number }), "aria-current": cell.state === "now" ? "step" : null },
    h("span", { class: "cell-name cell-word", text: words }),
    h("span", { class: "cell-name cell-code", text: cell.position, "aria-hidden": "true" }),
    h("span", { class: "cell-mark" }, cellMark(cell)),
  );
}

function cellMark(cell) {
  if (cell.card) return cardChip(cell.card);
  if (cell.state === "read") return icon("check");
  if (cell.state === "now") return icon("scan-line");
  if (cell.state === "fault") return icon("triangle-alert");
  if (cell.state === "empty") return h("span", { class: "cell-none", text: t("station.no_card") });
  return h("span", { text: "–", "aria-hidden": "true" });
}

function drawCounts(now) {
  const rows = countRows(now);
  $("#counts").replaceChildren(
    ...rows.map(([key, value]) => h("div", { class: "count", "data-testid": `count-${key}` }, h("dt", { text: t(`station.count.${key}`) }), h("dd", { class: "number", text: value ?? t("station.cut_in") }))),
  );
  $("#counts").dataset.cut = String(Boolean(now.shoe?.cut_card_out));
}

function drawKeys(now) {
  const action = seated() ? primaryAction(now, feed.about ?? {}) : { command: "take_seat", key: "take_seat" };
  const taken = !seated() && now.dealer !== null;
  const primary = $("#primary");
  const offline = live.state === "lost";
  setText($("#primary-text"), taken ? t("station.seat_taken", { name: now.dealer.name }) : t(`station.primary.${action?.key ?? (needsCard(now) ? "card" : "wait")}`, { position: positionWords(own, now.instruction.position) }));
  primary.disabled = pending || offline || taken || !action || ["held", "stopped"].includes(now.instruction.code);
  primary.dataset.waits = String(!action);
  const mine = seated() && !pending && !offline;
  setShown($("#verify-shoe"), mine && now.stage === "loaded");
  $("#call").disabled = !mine || now.pit_called;
  $("#unreadable").disabled = !mine || !needsCard(now);
  $("#cut").disabled = !mine || !now.shoe || now.shoe.cut_card_out || !["opening", "in_play"].includes(now.stage);
  $("#stop").disabled = !mine || now.stopped;
  main.setAttribute("aria-busy", String(pending));
}

function tick() {
  const now = view();
  if (!now) return;
  setText($("#phase"), noCardYet(instruction(now)) ? "" : phaseWords(now));
  $("#phase").dataset.phase = now.phase;
  setText($("#instruction-clock"), clockWords(own, now));
  setText($("#instruction-other-clock"), clockWords(other, now));
  const betting = now.phase === "betting";
  const seconds = betting ? secondsLeft(now.round.window_closes_ms, live.clock.now()) : null;
  setText($("#countdown"), betting ? String(seconds) : "");
  $("#countdown").dataset.soon = String(betting && seconds <= 5);
  drawAway(now);
}

/** The line that says what is offline, for how long and what to do; and that it is over. */
function drawAway(now) {
  const at = performance.now();
  videoLostAt = now.links.video === "lost" ? (videoLostAt ?? at) : null;
  const since = (then) => (then === null ? null : at - then);
  const gone = away({ lostMs: since(lostAt), work, sinceMs: work ? at - work.at : 0, videoMs: since(videoLostAt) });
  setShown($("#offline"), gone !== null);
  setShown($("#unsent"), unsent > 0 && gone === null);
  if (gone !== null) {
    awaySince = Math.min(awaySince ?? at, at - gone.ms);
    if (backUntil !== null) say("info", "");
    const words = awayWords({ t, tn }, gone, { round: roundState(now, gone.who), unsent });
    setText($("#offline-what"), words.what);
    setText($("#offline-age"), formatAge(gone.ms));
    setText($("#offline-text"), words.action);
  } else if (awaySince !== null && (work !== null || !seated())) {
    sayBack(now, at);
  }
  if (backUntil !== null && at > backUntil) {
    backUntil = null;
    say("info", "");
  }
}

function sayBack(now, at) {
  const next = instruction(now);
  const step = seated() && next.code !== "link_lost" ? stepWords(own, next, "_short") : "";
  say("info", backWords({ t, tn }, { work: work && { ...work, back_ms: work.back_ms === null ? null : work.back_ms + at - work.at }, awayMs: at - awaySince, step }));
  awaySince = null;
  backUntil = at + BACK_SHOWN_MS;
}

// Doing -----------------------------------------------------------------------------------

function say(kind, text) {
  const notice = $("#notice");
  backUntil = null;
  notice.className = `banner ${kind}`;
  notice.hidden = !text;
  setText(notice, text);
  if (text) announce(text);
}

/** Send one command; presses while it waits for its answer are ignored. */
async function command(name, values = {}) {
  if (pending) return;
  pending = true;
  draw();
  say("info", "");
  try {
    const onUnknown = () => say("warn", t("station.waiting"));
    await postUntilAnswered(`/api/tables/${table}/commands`, { id: newId(), command: name, ...values }, { onUnknown });
    say("info", "");
  } catch (error) {
    soundFailed();
    say("bad", errorText(error));
  } finally {
    pending = false;
    draw();
  }
}

const whole = (values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, name === "digits" ? value : Number(value)]));
const number = (name, label, more) => ({ name, label, type: "number", min: 0, ...more });

async function runPrimary() {
  const now = view();
  const action = seated() ? primaryAction(now, feed.about ?? {}) : { command: "take_seat" };
  if (!action || pending) return;
  if (!action.form) {
    await command(action.command);
    return;
  }
  try {
    const form = await forms[action.form]();
    const answer = await confirmDialog({ focusField: true, testid: action.command, confirm: t(`station.primary.${action.key}`), ...form });
    if (answer !== null) await command(action.command, whole(answer));
  } catch (error) {
    say("bad", errorText(error));
  }
}

const limits = () => feed.about?.limits ?? {};

const forms = {
  deck_set: async () => {
    const { deck_sets: sets } = await get("/api/deck-sets");
    const here = feed.about?.deck_sets ?? sets.map((one) => one.number);
    const options = sets.filter((one) => here.includes(one.number)).map((one) => [String(one.number), t("station.form.deck_set_option", one)]);
    const field = options.length
      ? { name: "deck_set", label: t("station.form.deck_set"), options, value: options[0][0] }
      : number("deck_set", t("station.form.deck_set"), { min: 1, max: 999, value: 1 });
    return { title: t("station.form.load_shoe"), fields: [field] };
  },
  cut_depth: () => {
    const { cut_depth_min: least, cut_depth_max: most } = limits();
    const known = least !== undefined && most !== undefined;
    const hint = known ? t("station.form.cut_depth_hint", { least, most }) : t("station.form.cut_depth_plain");
    const value = known ? Math.round((least + most) / 2) : "";
    return { title: t("station.form.shuffle"), fields: [number("cut_depth", t("station.form.cut_depth"), { min: least ?? 0, max: most ?? 416, value, hint })] };
  },
  digits: () => ({ title: t("key.title"), fields: [keyField()] }),
  cards_left: () => ({ title: t("station.form.close_shoe"), fields: [number("cards_left", t("station.form.cards_left"), { max: 9999, hint: t("station.form.cards_left_hint") })] }),
};

async function ask(name, title, text, confirm) {
  const answer = await confirmDialog({ title, body: [h("p", { text })], confirm, testid: name });
  if (answer !== null) await command(name);
}

// Unsent reports --------------------------------------------------------------------------

/** Give the station's sign of life; the answer says what the scanner still keeps. */
async function beat() {
  if (!seated()) {
    work = null;
    drawUnsent(0);
    return;
  }
  const answer = live.state === "polling" ? await post(`/api/tables/${table}/station`).catch(() => null) : await live.ask("station", { table });
  if (!answer?.taken) return;
  work = { ...answer, at: performance.now() };
  drawUnsent(answer.queued ?? 0);
  tick();
}

function drawUnsent(count) {
  if (count > 0 && unsent === 0) announce(tn("station.unsent", count));
  unsent = count;
  setText($("#unsent"), count > 0 ? tn("station.unsent", count) : "");
}

const unsentWarning = () => h("p", { class: "notice warn", "data-testid": "unsent-warning" }, icon("triangle-alert"), h("span", { text: tn("station.ask.unsent", unsent) }));

async function leaveSeat() {
  const body = [unsent > 0 ? unsentWarning() : null, h("p", { text: t("station.ask.leave") })].filter(Boolean);
  const answer = await confirmDialog({ title: t("station.ask.leave_title"), body, confirm: t("station.leave"), testid: "leave_seat", danger: unsent > 0 });
  if (answer !== null) await command("leave_seat");
}

/** Going to the list keeps the seat; while reports are unsent the dealer is asked first. */
async function goAway(event) {
  if (unsent === 0) return;
  event.preventDefault();
  const there = event.currentTarget.href;
  const answer = await confirmDialog({ title: t("station.ask.away_title"), body: [unsentWarning()], confirm: t("nav.tables"), testid: "away", danger: true });
  if (answer !== null) location.assign(there);
}

function repeat() {
  const now = view();
  if (!now) return;
  const spoken = (words) => [...calls(words, now).calls, calls(words, now).result, stepWords(words, instruction(now))];
  announce([...spoken(own), ...spoken(other)].filter(Boolean).join(". "));
  const say_ = $(".say");
  say_.classList.remove("again");
  requestAnimationFrame(() => requestAnimationFrame(() => say_.classList.add("again")));
}

function heard(envelope) {
  if (!envelope) return;
  const { kind, body, at_ms: atMs } = envelope;
  if (kind === "CardDrawn") {
    soundRead();
    const where = body.position === "burn" ? t("station.read_burn") : t("station.read", { position: positionWords(own, body.position), card: body.index + 1 });
    $("#read").replaceChildren(icon("circle-check"), h("span", { text: `${where} ${formatTime(atMs)}` }));
  }
  if (["HeldReleased", "DealingResumed"].includes(kind)) {
    const told = `choice.${body.choice ?? body.action}_dealer`;
    if (has(told)) say("info", t(told));
  }
  if (["ReadFailed", "CardHeld", "KeyDropped", "LinkLost"].includes(kind)) soundFailed();
}

async function keepAwake() {
  if (document.visibilityState !== "visible") return;
  try {
    await navigator.wakeLock?.request("screen");
  } catch {
    // Refused on low battery: the screen may dim, nothing else is lost.
  }
}

function listen() {
  $("#primary").addEventListener("click", runPrimary);
  $("#verify-shoe").addEventListener("click", () => command("start_verification"));
  $("#call").addEventListener("click", () => command("call_pit"));
  $("#repeat").addEventListener("click", repeat);
  $("#unreadable").addEventListener("click", () => command("unreadable"));
  $("#cut").addEventListener("click", () => ask("cut_card", t("station.ask.cut_title"), t("station.ask.cut"), t("station.cut_card")));
  $("#stop").addEventListener("click", () => command("stop"));
  $("#leave").addEventListener("click", leaveSeat);
  $("#away").addEventListener("click", goAway);
  guardKeys({ F2: $("#repeat"), F4: $("#call"), F6: $("#primary"), F7: $("#cut"), F8: $("#unreadable"), F9: $("#stop") });
  document.addEventListener("visibilitychange", keepAwake);
  live.addEventListener("table", (event) => {
    feed = event.detail;
    heard(event.envelope);
    draw();
  });
  live.addEventListener("state", (event) => {
    const lost = event.detail.state === "lost";
    if (lost && lostAt === null) lostAt = performance.now();
    if (["live", "polling"].includes(event.detail.state) && lostAt !== null) {
      lostAt = null;
      work = null; // what was said before the loss is old: ask, then say what came in meanwhile
      beat();
    }
    drawConnection($("#connection"), live);
    draw();
  });
  live.addEventListener("refused", () => say("bad", t("error.not_logged_in")));
}

listen();
keepAwake();
feed = live.watch(table);
live.start();
drawConnection($("#connection"), live);
setInterval(tick, TICK_MS);
setInterval(beat, HEARTBEAT_MS);
get("/api/me").catch((error) => say("bad", errorText(error)));
