// The page of the club: medals, shop, options.

import { get, look, newId, post, postUntilAnswered } from "./api.js";
import { makeOptions, medalRows, shopParts } from "./club_view.js";
import { itemName } from "./club_words.js";
import { confirmDialog } from "./dialog.js";
import { $, h, icon, renderOnce, setText } from "./dom.js";
import { errorText } from "./errors.js";
import { language, t } from "./i18n.js";
import { Live } from "./live.js";
import { formatMoney } from "./money.js";
import { Music } from "./music.js";
import { announce, drawConnection, notify } from "./page.js";
import { tellNews } from "./play_news.js";
import { setEffectsVolume, soundChip } from "./sound.js";

const SAVED_MS = 4000;

const live = new Live();
const music = new Music();
const message = $("#message");

let me = null;
let club = null;
let options = null;
let sounding = null;
let saving = Promise.resolve();
let savedTimer = null;

const money = (minor) => formatMoney(minor, me.currency, language);

function say(kind, text) {
  notify(message, kind, text);
  announce(text);
}

// Drawing ---------------------------------------------------------------------------------

function drawMoney({ balance_minor: balance, held_minor: held }) {
  setText($("#balance"), money(balance));
  setText($("#held"), money(held));
}

function drawShop() {
  const context = { me, options: club.options, balance: club.balance_minor, money, sounding, onBuy: buy, onUse: use, onListen: listen };
  const focused = document.activeElement?.dataset.testid;
  const drawn = renderOnce($("#shop"), JSON.stringify([club.items, club.options, club.balance_minor, sounding]), () => shopParts(club.items, context));
  if (drawn && focused) $(`[data-testid="${focused}"]`)?.focus();
}

function show(answer) {
  club = answer;
  drawMoney(club);
  renderOnce($("#medals"), JSON.stringify(club.medals), () => medalRows(club.medals, me.currency));
  setText($("#medals-won"), t("club.won_count", { count: club.medals.filter((medal) => medal.awarded_ms !== null).length, all: club.medals.length }));
  options ??= makeOptions($("#option-fields"), club.items, { onChoose: choose, onEffects: setEffectsVolume, onMusic: (percent) => music.setVolume(percent) });
  options.update(club);
  drawShop();
}

// Options ---------------------------------------------------------------------------------

function drawSaved() {
  $("#saved").replaceChildren(icon("check"), h("span", { text: t("club.saved") }));
  clearTimeout(savedTimer);
  savedTimer = setTimeout(() => $("#saved").replaceChildren(), SAVED_MS);
}

/** Save at once, one after the other: the last choice is the one that stays. */
function choose(change) {
  saving = saving.then(async () => {
    $("#saved").replaceChildren();
    try {
      show(await post("/api/club/options", change));
      drawSaved();
      if ("effects_volume" in change) soundChip();
    } catch (error) {
      show(club); // what is stored, not what was tried
      say("bad", errorText(error, me.currency));
    }
  });
  return saving;
}

async function use(item) {
  await choose({ [item.kind]: item.code });
  $(`#option-${item.kind}`).focus();
}

// Shop ------------------------------------------------------------------------------------

async function buy(item) {
  const values = { item: itemName(item.code), price: money(item.price_minor), left: money(club.balance_minor - item.price_minor) };
  const answer = await confirmDialog({ title: t("club.buy_title", values), body: [h("p", { text: t("club.buy_body", values) })], confirm: t("club.buy"), testid: "buy" });
  if (answer === null) {
    $(`[data-testid="buy-${item.code}"]`)?.focus();
    return;
  }
  try {
    show(await postUntilAnswered("/api/club/purchases", { id: newId(), item: item.code }));
    say("ok", t("club.bought", values));
  } catch (error) {
    say("bad", errorText(error, me.currency));
    await load().catch(() => {});
  }
  $(`[data-testid="use-${item.code}"], [data-testid="buy-${item.code}"]`)?.focus();
}

function listen(item) {
  sounding = sounding === item.code ? null : item.code;
  music.play(sounding);
  drawShop();
}

// Start -----------------------------------------------------------------------------------

async function load() {
  show(await look("/api/club"));
}

async function start() {
  live.addEventListener("state", () => drawConnection($("#connection"), live));
  live.addEventListener("back", () => load().catch(() => {}));
  live.addEventListener("wallet", ({ detail }) => {
    if (!me) return;
    drawMoney(detail);
    tellNews(detail, money);
    load().catch(() => {});
  });
  live.start();
  drawConnection($("#connection"), live);
  try {
    me = await get("/api/me");
    await load();
  } catch (error) {
    say("bad", errorText(error));
    return;
  }
  if (location.hash) $(location.hash)?.scrollIntoView();
}

start();
