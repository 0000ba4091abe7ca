// The pit's figures: revenue by hour, actual against theoretical return, quality of the scans.

import { get, look } from "./api.js";
import { formatDate, formatDateMinute, formatMinute, formatTimeZone } from "./clock.js";
import { $, h, s, setText } from "./dom.js";
import { errorText } from "./errors.js";
import { already, busyHours, moneyRange, moneySum, percent, reasonsOf, returnRange, scanGroups, thinned, verdict } from "./figures_view.js";
import { either, language, t, tn } from "./i18n.js";
import { formatMoney, formatSigned } from "./money.js";
import { notify } from "./page.js";
import { axis, bars, colours, draw, onLookChange, plainNumbers, WHOLE } from "./plots.js";
import { dataTable } from "./roundview.js";

const EVERY_MS = 60_000;
const HEIGHT = 260;
const ROWS_MAX = 40;
const DAY_HOURS = 24;
const narrow = matchMedia("(max-width: 520px)");
const question = new URLSearchParams(location.search);

let currency = { code: "PLAY", decimals: 0 };
let data = null;
let asked = 0;

const money = (minor) => formatMoney(minor, currency, language);
const signed = (minor) => formatSigned(minor, currency, language);
const cell = (text) => h("td", { class: "number", text });
/** A moment that breaks, where there is no room, between date and time only. */
const moment = (ms) => h("th", { scope: "row" }, h("span", { class: "nowrap", text: formatDate(ms) }), " ", h("span", { class: "nowrap", text: formatMinute(ms) }));
const head = (text) => h("th", { scope: "row", text });
const empty = (text) => h("p", { class: "empty", "data-testid": "empty", text });

// Parts -----------------------------------------------------------------------------------

/** A chart, its legend, and the same as a table; the table alone where it is too narrow, or one
 *  value is no chart. */
function chart({ words, legend, plot, table, open = narrow.matches }) {
  const canvas = h("div", { role: "img", "aria-label": words });
  const box = h("div", { class: "chart-box" }, canvas);
  const text = h("details", { class: "chart-text", open }, h("summary", { text: t("figures.as_table") }), table);
  return { nodes: [...(plot ? [box, legend] : []), text].filter(Boolean), plot: () => (narrow.matches || !plot ? null : plot(canvas)) };
}

function legend(...samples) {
  const shape = { turnover: () => s("rect", { x: 3, y: 1, width: 20, height: 12, class: "turnover" }), ggr: () => s("rect", { x: 3, y: 1, width: 20, height: 12, class: "ggr" }), band: () => s("rect", { x: 0, y: 1, width: 26, height: 12, class: "band" }), theory: () => s("path", { d: "M0 7h26", class: "theory" }), actual: () => s("path", { d: "M0 7h26", class: "actual" }) };
  return h("ul", { class: "plain legend", "aria-hidden": "true" }, ...samples.map((name) => h("li", {}, s("svg", { viewBox: "0 0 26 14" }, shape[name]()), h("span", { text: t(`figures.${name}`) }))));
}

// Revenue ---------------------------------------------------------------------------------

const MONEY_HEADS = () => [[t("figures.turnover"), true], [t("figures.ggr"), true], [t("figures.hold_pct"), true], [t("figures.rounds"), true], [t("figures.voided"), true], [t("figures.wagers"), true]];
const moneyCells = (line) => [cell(money(line.turnover_minor)), cell(signed(line.ggr_minor)), cell(already(line.hold_pct)), cell(String(line.rounds)), cell(String(line.voided)), cell(String(line.wagers))];

function moneyTable(label, first, rows) {
  return dataTable([[first], ...MONEY_HEADS()], rows.map(([name, line]) => h("tr", {}, name, ...moneyCells(line))), { label, empty: t("figures.none"), stacks: true });
}

function plotMoney(element) {
  const look_ = colours(element);
  const { hours } = data;
  const divisor = 10 ** currency.decimals;
  const at = (index) => (Number.isInteger(index) && hours[index] ? formatMinute(hours[index].at_ms) : "");
  const days = hours.map((hour, index) => [index, hour]).filter(([, hour]) => formatMinute(hour.at_ms) === "00:00");
  const scale = hours.length > DAY_HOURS
    ? { splits: () => days.map(([index]) => index), values: () => days.map(([, hour]) => formatDate(hour.at_ms).slice(-5)) }
    : { incrs: [1, 2, 3, 6], values: (_, splits) => splits.map(at) };
  draw(element, {
    height: HEIGHT,
    cursor: { y: false },
    scales: { x: { time: false, range: () => [-0.6, hours.length - 0.4] }, y: { range: (_, least, most) => moneyRange(least, most) } },
    axes: [axis(look_, scale), axis(look_, { size: 84, values: plainNumbers })],
    series: [{}, { stroke: look_.ink, width: 1.5, fill: `${look_.ink}22`, paths: bars(0.42, -1), points: { show: false } }, { stroke: look_.line, width: 1, fill: look_.line, paths: bars(0.42, 1), points: { show: false } }],
    rows: [hours.map((_, index) => index), hours.map((hour) => hour.turnover_minor / divisor || null), hours.map((hour) => hour.ggr_minor / divisor || null)],
  });
}

function drawMoney() {
  const sum = moneySum(data.hours);
  setText($("#money-words"), sum ? tn("figures.money_words", sum.rounds, { turnover: money(sum.turnover_minor), ggr: signed(sum.ggr_minor), hold: already(sum.hold_pct) }) : "");
  if (!sum) {
    $("#money").replaceChildren(empty(t("figures.none")));
    $("#by-table").replaceChildren();
    return;
  }
  const rows = busyHours(data.hours).map((hour) => [moment(hour.at_ms), hour]);
  const made = chart({ words: $("#money-words").textContent, legend: legend("turnover", "ggr"), plot: plotMoney, table: moneyTable(t("figures.by_hour"), t("figures.hour"), rows) });
  $("#money").replaceChildren(...made.nodes);
  made.plot();
  const names = new Map(data.tables.map((one) => [one.table, `${one.table} ${one.name}`]));
  $("#by-table").replaceChildren(h("h3", { text: t("figures.by_table") }), moneyTable(t("figures.by_table"), t("figures.table"), data.by_table.map((line) => [head(names.get(line.table) ?? line.table), line])));
}

// Returns ---------------------------------------------------------------------------------

function plotReturn(element, curve) {
  const look_ = colours(element);
  const { points, theoretical } = curve;
  const range = returnRange(curve);
  draw(element, {
    height: HEIGHT,
    cursor: { y: false },
    scales: { x: { time: false, range: (_, least, most) => [Math.min(least, most - 1), most] }, y: { range: () => range } },
    axes: [axis(look_, { incrs: WHOLE, values: plainNumbers, label: t("figures.x_rounds"), labelSize: 22, labelFont: "12px Inter" }), axis(look_, { size: 78, values: (_, values) => values.map((value) => percent(value, 1)) })],
    bands: [{ series: [1, 2], fill: `${look_.ink}44` }],
    series: [{}, { stroke: look_.ink, width: 1, points: { show: false } }, { stroke: look_.ink, width: 1, points: { show: false } }, { stroke: look_.text, width: 1.5, dash: [5, 4], points: { show: false } }, { stroke: look_.line, width: 2.5, points: { show: points.length < 20, size: 6, fill: look_.line } }],
    rows: [points.map((point) => point.rounds), points.map((point) => point.high), points.map((point) => point.low), points.map(() => theoretical), points.map((point) => point.actual)],
  });
}

function returnTable(curve, name) {
  const heads = [[t("figures.until")], [t("figures.n"), true], [t("figures.actual"), true], [t("figures.theory"), true], [t("figures.low"), true], [t("figures.high"), true]];
  const rows = thinned(curve.points, ROWS_MAX).reverse().map((point) => h("tr", {}, moment(point.at_ms), cell(String(point.rounds)), cell(percent(point.actual)), cell(percent(curve.theoretical)), cell(percent(point.low)), cell(percent(point.high))));
  return dataTable(heads, rows, { label: name, empty: t("figures.none"), stacks: true });
}

/** Game, kind and decks in words; the pay table too where two tables differ in nothing else. */
function returnName({ game, kind, decks, paytable_version: pays }) {
  const name = tn("figures.return_name", decks, { game: either(`game.${game}`, "game.other"), kind: either(`spot.${kind}`, "figures.kind_other", { kind }), decks });
  const alike = data.returns.filter((one) => one.game === game && one.kind === kind && one.decks === decks);
  return alike.length > 1 ? t("figures.return_pays", { name, pays }) : name;
}

function returnPart(curve) {
  const last = curve.points.at(-1);
  const name = returnName(curve);
  const place = verdict(curve);
  const words = tn(`figures.return_${place}`, curve.rounds, { actual: percent(last.actual), theory: percent(curve.theoretical), low: percent(last.low), high: percent(last.high) });
  const made = chart({ words: `${name}. ${words}`, legend: legend("actual", "theory", "band"), plot: curve.points.length > 1 ? (element) => plotReturn(element, curve) : null, table: returnTable(curve, name) });
  const part = h("section", { class: "figures-return", "data-kind": curve.kind, "data-inside": String(place === "inside"), "data-testid": `return-${curve.game}-${curve.kind}` }, h("h3", { text: name }), h("p", { class: "figures-words", text: words }), h("p", { class: "small muted", text: tn("figures.return_n", curve.rounds, { wagers: curve.wagers, turnover: money(curve.turnover_minor) }) }), ...made.nodes);
  return { part, plot: made.plot };
}

function drawReturns() {
  if (!data.returns.length) {
    $("#returns").replaceChildren(empty(t("figures.none")));
    return;
  }
  const made = data.returns.map(returnPart);
  $("#returns").replaceChildren(...made.map((one) => one.part));
  for (const one of made) one.plot();
}

// Scans -----------------------------------------------------------------------------------

function plotScans(element, groups) {
  const look_ = colours(element);
  draw(element, {
    height: 200,
    cursor: { show: false },
    scales: { x: { time: false, range: () => [-0.6, groups.length - 0.4] }, y: { range: (_, __, most) => [0, Math.max(most, 1) * 1.08] } },
    axes: [axis(look_, { incrs: [1, 2, 5, 10], values: (_, splits) => splits.map((at) => groups[at]?.name ?? "") }), axis(look_, { size: 64, values: (_, values) => values.map((value) => `${value}%`) })],
    series: [{}, { stroke: look_.line, width: 1, fill: look_.line, paths: bars(0.5), points: { show: false } }],
    rows: [groups.map((_, index) => index), groups.map((one) => one.failed_pct ?? 0)],
  });
}

function scanTable(groups, first, label) {
  const reasons = reasonsOf(groups);
  const heads = [[first], [t("figures.cards"), true], [t("figures.failed"), true], [t("figures.failed_pct"), true], ...reasons.map((reason) => [either(`figures.reason.${reason}`, "figures.reason.other", { reason }), true]), [t("figures.rounds_opened"), true], [t("figures.rescans"), true]];
  const rows = groups.map((one) => h("tr", {}, head(one.name), cell(String(one.cards)), cell(String(one.failed)), cell(already(one.failed_pct)), ...reasons.map((reason) => cell(String(one.reasons[reason] ?? 0))), cell(String(one.rounds)), cell(one.rescans_per_round === null ? "–" : one.rescans_per_round.toFixed(2))));
  return dataTable(heads, rows, { label, empty: t("figures.no_scans"), stacks: true });
}

function drawScans() {
  const groups = scanGroups(data.scans, data.table);
  if (!groups.length) {
    $("#scans").replaceChildren(empty(t("figures.no_scans")));
    return;
  }
  const shoes = data.table !== null;
  const label = t(shoes ? "figures.by_shoe" : "figures.by_table");
  const words = t(shoes ? "figures.scans_words_shoes" : "figures.scans_words", { shoes: data.shoes });
  const made = chart({ words, plot: (element) => plotScans(element, groups), table: scanTable(groups, t(shoes ? "figures.shoe" : "figures.table"), label), open: true });
  $("#scans").replaceChildren(h("p", { class: "small muted", text: words }), ...made.nodes);
  made.plot();
}

// Loading ---------------------------------------------------------------------------------

function drawAll() {
  if (!data) return;
  setText($("#as-of"), t("figures.as_of", { from: formatDateMinute(data.from_ms), time: formatTimeZone(data.now_ms) }));
  drawMoney();
  drawReturns();
  drawScans();
}

/** Tables of former days stay open or closed as the reader left them. */
function keepOpen(work) {
  const open = [...document.querySelectorAll(".chart-text")].map((one) => one.open);
  work();
  for (const [index, one] of [...document.querySelectorAll(".chart-text")].entries()) one.open = open[index] ?? one.open;
}

async function load(ask = look) {
  const form = new FormData($("#choice"));
  const mine = (asked += 1);
  const query = new URLSearchParams({ table: form.get("table"), hours: form.get("hours") });
  try {
    const answer = await ask(`/api/figures?${query}`);
    if (mine !== asked) return;
    data = answer;
    $("#message").hidden = true;
    keepOpen(drawAll);
  } catch (error) {
    notify($("#message"), "bad", errorText(error));
  }
}

function choose(select, value) {
  if ([...select.options].some((option) => option.value === value)) select.value = value;
}

async function start() {
  try {
    const [me, tables] = await Promise.all([get("/api/me"), get("/api/tables")]);
    currency = me.currency;
    $("#table").append(...tables.map((one) => h("option", { value: one.table, text: `${one.table} ${one.name}` })));
  } catch (error) {
    notify($("#message"), "bad", errorText(error));
    return;
  }
  choose($("#table"), question.get("table"));
  choose($("#hours"), question.get("hours"));
  $("#choice").addEventListener("change", () => {
    const form = new FormData($("#choice"));
    history.replaceState(null, "", `?${new URLSearchParams({ table: form.get("table"), hours: form.get("hours") })}`);
    load(get);
  });
  onLookChange(() => keepOpen(drawAll));
  narrow.addEventListener("change", () => (narrow.matches ? drawAll() : keepOpen(drawAll)));
  await load();
  setInterval(() => document.visibilityState === "visible" && load(), EVERY_MS);
}

start();
