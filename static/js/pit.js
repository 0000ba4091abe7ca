// The pit: alarms first, every table in its fixed place, one table opened in the drawer.

import { get, look, post } from "./api.js";
import { positionShort } from "./bet_words.js";
import { formatAge, formatTime } from "./clock.js";
import { confirmDialog } from "./dialog.js";
import { makeDrawer } from "./drawer.js";
import { $, h, icon, setShown, setText } from "./dom.js";
import { errorText, readable } from "./errors.js";
import { either, language, reasonWords, t, tn } from "./i18n.js";
import { Live } from "./live.js";
import { formatMoney } from "./money.js";
import { drawConnection } from "./page.js";
import { openPicture } from "./pictures.js";
import { fateOf, FRESH_MS, SHAPES, sortAlarms, STEPS, tileState, worstAlarm } from "./pit_view.js";
import { makeProposals } from "./proposals.js";

const POLL_MS = 2000;
const HINT_MS = 150;
const SHOE_ALARMS = ["shoe_count", "shoe_order"];

const live = new Live();
const supervisor = document.body.dataset.role === "pit_supervisor";
const maySeeShoes = supervisor || document.body.dataset.role === "auditor";
const tiles = new Map();
let data = null;
let currency = { code: "PLAY", decimals: 0 };
let takenAt = -Infinity;
let hint = null;
let openTable = new URLSearchParams(location.search).get("table");

const fresh = () => data !== null && performance.now() - takenAt < FRESH_MS;
const drawer = makeDrawer({ root: $("#drawer"), live, supervisor, fresh, onDone: () => load(), currency: () => currency });
const proposals = makeProposals($("#proposals"), { supervisor, fresh, currency: () => currency, now: () => live.clock.now(), onDone: () => load() });

// Loading ---------------------------------------------------------------------------------

async function load() {
  try {
    data = await look("/api/pit");
    takenAt = performance.now();
    for (const item of data.tables) live.watch(item.table);
  } catch (error) {
    if (error.status === 401) setText($("#pit-state"), t("error.not_logged_in"));
  }
  draw();
}

function loadSoon() {
  clearTimeout(hint);
  hint = setTimeout(load, HINT_MS);
}

// Drawing ---------------------------------------------------------------------------------

function draw() {
  drawState();
  if (!data) return;
  drawAlarms(sortAlarms(data.alarms));
  proposals.update(data.tables);
  for (const item of data.tables) drawTile(item);
  setShown($("#empty"), data.tables.length === 0);
  const shown = data.tables.find((item) => item.table === openTable);
  if (shown) drawer.update(shown, viewOf(shown), live.watch(shown.table).about);
}

const viewOf = (item) => live.watch(item.table).view ?? item.view;

function drawState() {
  drawConnection($("#connection"), live);
  document.body.classList.toggle("no-data", !fresh());
  const since = data ? formatTime(data.now_ms) : "–";
  const up = data ? data.tables.filter((item) => item.view.stage !== "locked").length : 0;
  if (!fresh()) setText($("#pit-state"), data ? t("pit.stale", { time: since }) : t("pit.loading"));
  else if (data.alarms.length === 0) setText($("#pit-state"), t("pit.no_alarms", { up, all: data.tables.length, time: since }));
  else setText($("#pit-state"), t("pit.some_alarms", { up, all: data.tables.length, time: since }));
  setText($("#alarm-count"), data ? String(data.alarms.length) : "");
}

function drawAlarms(alarms) {
  const list = $("#alarms");
  const key = JSON.stringify([alarms, alarms.map(fateWords), fresh()]);
  if (list.dataset.key !== key) {
    const focused = list.contains(document.activeElement) ? document.activeElement.closest("li")?.dataset.id : null;
    list.dataset.key = key;
    list.replaceChildren(...alarms.map(alarmRow));
    if (focused) $(`li[data-id="${focused}"]`, list)?.focus();
  }
  for (const age of list.querySelectorAll("[data-raised]")) {
    setText(age, t("pit.since", { age: formatAge(live.clock.now() - Number(age.dataset.raised)) }));
  }
}

function alarmRow(alarm) {
  const words = alarmWords(alarm);
  const owner = alarm.acknowledged_by;
  return h(
    "li",
    { class: `alarm alarm-${alarm.priority}`, "data-id": String(alarm.id), "data-testid": `alarm-${alarm.code}`, "data-acknowledged": String(Boolean(owner)), tabindex: "0", onkeydown: alarmKey },
    h("p", { class: "alarm-what" }, h("span", { class: "alarm-shape", role: "img", "aria-label": t("pit.priority", { priority: alarm.priority }) }, icon(SHAPES[alarm.priority]), h("b", { text: String(alarm.priority), "aria-hidden": "true" })), h("b", { text: `${alarm.table} ${words.what}` })),
    h("p", { class: "alarm-since small" }, h("span", { "data-raised": String(alarm.raised_ms) }), alarm.round_id ? h("a", { href: `/pit/rounds/${alarm.round_id}`, text: alarm.round_id }) : null),
    h("p", { class: "alarm-do", text: words.action }),
    fateWords(alarm) ? h("p", { class: "small", "data-testid": "fate", text: fateWords(alarm) }) : null,
    alarm.explains?.length ? h("p", { class: "small alarm-owner", text: t("pit.explains", { what: alarm.explains.map((code) => alarmWords({ code, details: {} }).what).join(", ") }) }) : null,
    owner ? h("p", { class: "small alarm-owner", text: t("pit.acknowledged", { name: owner }) }) : null,
    h(
      "div",
      { class: "cluster" },
      supervisor && !owner ? h("button", { type: "button", class: "button", "data-ack": "", "data-testid": "acknowledge", disabled: !fresh(), text: t("pit.acknowledge"), onclick: () => acknowledge(alarm) }) : null,
      supervisor && alarm.picture ? h("button", { type: "button", class: "button", "data-testid": "alarm-picture", disabled: !fresh(), text: t("picture.button"), onclick: () => openPicture({ id: alarm.picture, table: alarm.table }, { say: complain }) }) : null,
      supervisor && alarm.code === "card_keyed" ? h("button", { type: "button", class: "button primary", "data-testid": "answer-key", disabled: !fresh(), text: t("action.confirm_key"), onclick: () => answerKey(alarm.table) }) : null,
      h("button", { type: "button", class: "button", "data-open": "", "data-testid": "open", text: t("pit.open", { table: alarm.table }), onclick: () => open(alarm.table) }),
      shoeLink(alarm),
    ),
  );
}

/** Where the rounds are that an alarm may have touched: those of the shoe on the table. */
function shoeLink(alarm) {
  const epoch = data.tables.find((item) => item.table === alarm.table)?.epoch;
  if (!maySeeShoes || !epoch || !(alarm.asks_reason || SHOE_ALARMS.includes(alarm.code))) return null;
  return h("a", { class: "button", href: `/pit/shoes/${alarm.table}/${epoch}`, "data-testid": "shoe-rounds", text: t("correct.this_shoe") });
}

function alarmWords(alarm) {
  const what = either(`alarm.${alarm.code}`, "alarm.other", { code: alarm.code, ...readable(alarm.details), ...(alarm.details.reason ? { reason: reasonWords(alarm.details.reason) } : {}) });
  const action = either(`alarm.${alarm.code}_do`, "alarm.other_do");
  return { what: what.replace(/\{\w+\}/g, "?"), action };
}

function fateWords(alarm) {
  const item = data.tables.find((one) => one.table === alarm.table);
  const fate = item ? fateOf(alarm, viewOf(item)) : "";
  const { number, refunded } = fate ? viewOf(item).round : {};
  return fate ? tn(`pit.fate_${fate}`, refunded ?? 0, { number }) : "";
}

function alarmKey(event) {
  const row = event.currentTarget;
  if (event.target !== row) return;
  if (event.key === "ArrowDown") row.nextElementSibling?.focus();
  else if (event.key === "ArrowUp") row.previousElementSibling?.focus();
  else if (event.key === "Enter") $("[data-open]", row).click();
  else if (event.key === "a" || event.key === "A") $("[data-ack]", row)?.click();
  else return;
  event.preventDefault();
}

async function acknowledge(alarm) {
  let said = {};
  if (alarm.asks_reason) {
    const fields = [{ name: "reason", label: t("common.reason"), type: "textarea", hint: t("pit.alarm_reason_hint") }];
    said = await confirmDialog({ testid: "alarm-dialog", title: `${alarm.table} ${alarmWords(alarm).what}`, fields, confirm: t("pit.acknowledge") });
    if (!said) return;
  }
  try {
    await post(`/api/alarms/${alarm.id}/acknowledge`, said);
  } catch (error) {
    complain("bad", errorText(error));
  }
  await load();
}

/** Say what went wrong where it is seen: in the drawer if it is open, and above the alarms. */
function complain(kind, text) {
  drawer.say(kind, text);
  setText($("#pit-state"), text);
}

function makeTile(table) {
  const parts = { name: h("b", {}), game: h("span", { class: "tile-game" }), state: h("span", { class: "tile-state" }), step: h("span", { class: "tile-step" }), shoe: h("span", { class: "number" }), links: h("span", { class: "tile-links" }), bets: h("span", { class: "number" }), exposure: h("span", { class: "number" }), mark: h("span", { class: "tile-mark" }) };
  const element = h(
    "button",
    { type: "button", class: "tile", "data-testid": `tile-${table}`, onclick: () => open(table) },
    h("span", { class: "tile-head" }, parts.name, parts.mark, parts.state),
    parts.game,
    parts.step,
    h("span", { class: "tile-row" }, parts.shoe, parts.links),
    h("span", { class: "tile-row" }, parts.bets, parts.exposure),
  );
  $("#tiles").append(element);
  tiles.set(table, { element, parts });
  return tiles.get(table);
}

function drawTile(item) {
  const { element, parts } = tiles.get(item.table) ?? makeTile(item.table);
  const view = viewOf(item);
  const alarm = worstAlarm(data.alarms, item.table);
  element.dataset.alarm = alarm ? String(alarm.priority) : "";
  element.dataset.acknowledged = String(Boolean(alarm?.acknowledged_by));
  element.setAttribute("aria-expanded", String(openTable === item.table));
  setText(parts.name, item.table);
  setText(parts.game, either(`game.${view.game}`, "game.other"));
  setText(parts.state, alarm ? alarmWords(alarm).what : t(`pit.state.${tileState(view)}`));
  if (parts.mark.dataset.priority !== element.dataset.alarm) {
    parts.mark.dataset.priority = element.dataset.alarm;
    parts.mark.replaceChildren(...(alarm ? [icon(SHAPES[alarm.priority]), h("b", { text: String(alarm.priority) })] : []));
  }
  setText(parts.step, stepText(view));
  setText(parts.shoe, view.shoe ? t("pit.shoe", { in_shoe: view.shoe.in_shoe, of: view.shoe.registered }) : t("pit.no_shoe"));
  setText(parts.links, scannerText(item));
  parts.links.dataset.lost = String(item.links?.scanner?.state === "lost");
  setText(parts.bets, tn("pit.bets", item.wagers ?? 0));
  setText(parts.exposure, formatMoney(item.exposure_minor ?? 0, currency, language));
}

export function stepText(view) {
  const step = view.instruction;
  if (!step || !STEPS.has(step.code)) return "";
  const key = `step.${step.code}_short`;
  return t(key, { ...step, position: step.position ? positionShort(step.position) : "", link: step.link ? t(`link.${step.link}`) : "" });
}

function scannerText(item) {
  const scanner = item.links?.scanner;
  if (!scanner) return "";
  if (scanner.age_ms === null || scanner.age_ms === undefined) return t(`pit.scanner_${scanner.state}`);
  return t(`pit.scanner_${scanner.state}_age`, { age: (scanner.age_ms / 1000).toFixed(1) });
}

function open(table) {
  openTable = table;
  history.replaceState(null, "", `?table=${encodeURIComponent(table)}`);
  draw();
  drawer.show();
}

function answerKey(table) {
  open(table);
  drawer.run("confirm_key");
}

function close() {
  const tile = tiles.get(openTable)?.element;
  openTable = null;
  history.replaceState(null, "", location.pathname);
  drawer.hide();
  draw();
  tile?.focus();
}

async function start() {
  $("#drawer-close").addEventListener("click", close);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && openTable && !document.querySelector("dialog[open]")) close();
  });
  live.addEventListener("pit", loadSoon);
  live.addEventListener("table", () => {
    draw();
    loadSoon();
  });
  live.addEventListener("state", drawState);
  live.start();
  const me = await get("/api/me").catch(() => null);
  currency = me?.currency ?? currency;
  await load();
  if (openTable) drawer.show();
  setInterval(load, POLL_MS);
  setInterval(draw, 1000);
}

start();
