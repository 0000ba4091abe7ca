// The list of tables: what is open, how long bets are still taken, how the shoe went.

import { get, look } from "./api.js";
import { secondsLeft } from "./clock.js";
import { $, h, icon, renderOnce, setShown, setText } from "./dom.js";
import { makeDue } from "./due.js";
import { either, language, t } from "./i18n.js";
import { Live } from "./live.js";
import { formatMoney, formatSigned } from "./money.js";
import { tellMoney } from "./money_news.js";
import { drawConnection } from "./page.js";
import { latestMarks } from "./road.js";

const TICK_MS = 250;
const LIST_EVERY_MS = 15_000;
const MARKS = 14;

const live = new Live();
const rows = new Map();

function state(view) {
  if (view.locked || view.stage === "locked") return ["locked", "closed"];
  if (view.phase === "betting") return ["betting", "on"];
  if (["no_shoe", "loaded", "verifying", "opening"].includes(view.stage)) return ["shoe", ""];
  return [view.phase, ""];
}

function lastMarks(view, kind) {
  const { name, marks } = latestMarks(view.road, kind, MARKS);
  const label = name ? [h("b", { class: "small muted lobby-road", text: name })] : [];
  return [...label, ...marks.map(({ shape, words }) => h("span", { title: words }, shape))];
}

function makeRow(item) {
  const badge = h("span", { class: "badge" });
  const time = h("span", { class: "lobby-time number" });
  const marks = h("div", { class: "lobby-marks", "aria-hidden": "true" });
  const shoe = h("span", { class: "muted small" });
  const element = h(
    "li",
    {},
    h(
      "a",
      { class: "panel lobby-table", href: `/play/${item.table}`, "data-testid": `table-${item.table}` },
      h("span", { class: "lobby-name" }, h("b", { text: item.name }), h("span", { class: "muted small", text: either(`game.${item.game}`, "game.other") })),
      h("span", { class: "lobby-state" }, badge, time),
      marks,
      h("span", { class: "lobby-foot" }, shoe, icon("chevron-right")),
    ),
  );
  return {
    element,
    /** Show the table; the kind of its road is not known before the first snapshot. */
    update(view, roadKind) {
      const [code, kind] = state(view);
      setText(badge, t(`lobby.state.${code}`));
      badge.className = `badge ${kind}`;
      const seconds = view.phase === "betting" && view.round ? secondsLeft(view.round.window_closes_ms, live.clock.now()) : 0;
      setText(time, seconds ? t("lobby.seconds", { seconds }) : "");
      setText(shoe, view.shoe ? t("play.shoe", { number: view.shoe.number, left: view.shoe.in_shoe, of: view.shoe.registered }) : "");
      if (roadKind) renderOnce(marks, `${view.road.length}/${view.road.at(-1)?.number}`, () => lastMarks(view, roadKind));
    },
  };
}

async function loadTables() {
  const tables = await look("/api/tables");
  for (const item of tables) {
    if (rows.has(item.table)) continue;
    const row = makeRow(item);
    rows.set(item.table, { row, feed: live.watch(item.table) });
    row.update(item.view);
    $("#tables").append(row.element);
  }
  setShown($("#empty"), rows.size === 0);
}

function drawAll() {
  for (const { row, feed } of rows.values()) {
    if (feed.view) row.update(feed.view, feed.about.road_kind);
  }
}

async function start() {
  live.addEventListener("state", () => drawConnection($("#connection"), live));
  live.addEventListener("table", drawAll);
  live.start();
  drawConnection($("#connection"), live);
  const me = await get("/api/me");
  const drawWallet = (values) => {
    Object.assign(me, values);
    for (const [id, minor] of [["balance", me.balance_minor], ["held", me.held_minor], ["owed-minor", me.owed_minor]]) {
      setText($(`#${id}`), formatMoney(minor ?? 0, me.currency, language));
    }
    setShown($("#owed"), me.owed_minor > 0);
  };
  drawWallet({});
  const money = { full: (minor) => formatMoney(minor, me.currency, language), signed: (minor) => formatSigned(minor, me.currency, language) };
  const due = makeDue({ money, now: () => live.clock.now() });
  due.load(me.correction_due);
  live.addEventListener("wallet", ({ detail }) => {
    drawWallet(detail);
    tellMoney(detail, money);
    due.wallet(detail);
  });
  setInterval(due.draw, TICK_MS);
  await loadTables();
  setInterval(() => loadTables().catch(() => {}), LIST_EVERY_MS);
  setInterval(drawAll, TICK_MS);
}

start();
