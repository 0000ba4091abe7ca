// The page of rooms: mine, or the ways into one.

import { get, look } from "./api.js";
import { $, h, setShown } from "./dom.js";
import { errorText } from "./errors.js";
import { either, language, t } from "./i18n.js";
import { Live } from "./live.js";
import { formatMoney } from "./money.js";
import { MyRoom, newsOf } from "./my_room.js";
import { announce, drawConnection, notify } from "./page.js";
import { tellNews } from "./play_news.js";
import { leftWords, makeRoomView } from "./room_view.js";
import { toast } from "./toast.js";

const LIST_EVERY_MS = 15_000;
/** A medal for the start may still be on its way; its message goes along to the table. */
const LEADS_AFTER_MS = 600;

const live = new Live();
const mine = new MyRoom();
const message = $("#message");
const invited = $("#main").dataset.code ?? null;
const form = $("#open");

const toTable = (room) => location.assign(`/play/${room.table}`);

function say(kind, text) {
  notify(message, kind, text);
  announce(text);
}

/** Do something for a button that waits meanwhile; a refusal is said in words. */
async function carryOut(button, me, work) {
  button.disabled = true;
  message.hidden = true;
  try {
    await work();
  } catch (error) {
    say("bad", errorText(error, me.currency));
    mine.ask();
  } finally {
    button.disabled = button.dataset.idle === "true";
  }
}

async function loadTables() {
  const tables = await look("/api/tables");
  const select = $("#table");
  const chosen = select.value;
  const words = (item) => `${item.name} · ${either(`game.${item.game}`, "game.other")}`;
  select.replaceChildren(...tables.map((item) => h("option", { value: item.table, text: words(item), selected: item.table === chosen })));
  const button = $("button", form);
  button.dataset.idle = String(tables.length === 0);
  button.disabled = tables.length === 0;
  select.disabled = tables.length === 0;
  if (tables.length === 0) select.replaceChildren(h("option", { text: t("room.no_tables") }));
}

function draw(view) {
  const { room } = mine;
  const here = invited !== null && room === null;
  setShown($("#mine"), room !== null);
  setShown($("#invitation"), here);
  setShown($("#ways"), room === null && !here);
  view.update();
}

function listen(me) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    carryOut($("button", form), me, async () => {
      await mine.open($("#table").value);
      $("#mine-title").scrollIntoView({ block: "nearest" });
    });
  });
  const join = $("#join");
  join.addEventListener("submit", (event) => {
    event.preventDefault();
    carryOut($("button", join), me, async () => {
      await mine.join($("#code").value);
      toTable(mine.room);
    });
  });
  const accept = $("#accept");
  accept.addEventListener("click", () =>
    carryOut(accept, me, async () => {
      await mine.join(invited);
      toTable(mine.room);
    }),
  );
}

async function start() {
  live.addEventListener("state", () => drawConnection($("#connection"), live));
  live.start();
  drawConnection($("#connection"), live);
  const me = await get("/api/me");
  const money = (minor) => formatMoney(minor, me.currency, language);
  const root = $("#mine-body");
  const view = makeRoomView(root, mine, { me, money });
  root.addEventListener("left", ({ detail: { forfeited } }) => {
    say("ok", leftWords(forfeited, money));
    $("select, button", invited ? $("#invitation") : $("#ways")).focus();
  });
  mine.addEventListener("change", ({ detail: { before, after } }) => {
    draw(view);
    const news = newsOf(before, after, me.id);
    for (const [code, values] of news) toast("users", t(`room.news.${code}`, values));
    if (news.some(([code]) => code === "started")) setTimeout(() => toTable(after), LEADS_AFTER_MS);
  });
  live.addEventListener("wallet", ({ detail }) => tellNews(detail, money));
  listen(me);
  await loadTables();
  await mine.follow(live);
  if (invited && mine.room && mine.room.code !== invited.toUpperCase()) say("info", t("error.room_already"));
  setInterval(() => loadTables().catch(() => {}), LIST_EVERY_MS);
}

start();
