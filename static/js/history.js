// A player's own rounds, newest first.

import { get } from "./api.js";
import { betWords, positionShort } from "./bet_words.js";
import { cardChip } from "./cards.js";
import { formatDateTime } from "./clock.js";
import { $, h, setShown } from "./dom.js";
import { errorText } from "./errors.js";
import { handWords } from "./felt.js";
import { either, language, t } from "./i18n.js";
import { formatMoney, formatSigned } from "./money.js";
import { changeList } from "./owed_view.js";
import { notify } from "./page.js";
import { roundNet } from "./session.js";

const LIMIT = 20;
let next = null;
let currency = { code: "PLAY", decimals: 0 };
const money = (minor) => formatMoney(minor, currency, language);

function wagerRow(wager) {
  const ending = wager.ending;
  return h(
    "tr",
    {},
    h("th", { scope: "row", text: betWords(wager.bet) }),
    h("td", { class: "number", text: money(wager.stake_minor) }),
    h("td", { class: "number", text: money(wager.hold_minor) }),
    h("td", { text: wager.forfeited ? t("result.forfeited") : ending ? t(`history.ending.${ending.kind}`) : t("history.ending.open") }),
    h("td", { class: "number", text: ending ? money(ending.payout_minor) : "–" }),
  );
}

function hand(one) {
  return h(
    "li",
    {},
    h("b", { text: positionShort(one.position) }),
    ...one.cards.filter(Boolean).map(cardChip),
    h("span", { class: "small muted", text: handWords(one) }),
  );
}

function roundPanel(round) {
  const net = roundNet(round);
  const ended = round.phase === "settled" || round.phase === "void";
  const heads = ["bet", "stake", "held", "ending", "returned"];
  return h(
    "details",
    { class: "panel history-round", "data-testid": `history-${round.round_id}` },
    h(
      "summary",
      {},
      h("span", { class: "history-when" }, h("b", { text: round.round_id }), h("span", { class: "muted small", text: formatDateTime(round.opened_ms) })),
      h("span", { class: "badge", text: t(`play.phase_short.${round.phase}`) }),
      h("b", { class: "number", text: ended ? formatSigned(net, currency, language) : "–" }),
    ),
    h("p", { class: "small muted", text: either(`game.${round.game}`, "history.game") }),
    round.version > 1
      ? h("p", {
          "data-testid": "history-corrected",
          text: t("history.corrected", { version: round.version, before: money(round.before_minor), after: money(round.payout_minor), difference: formatSigned(round.payout_minor - round.before_minor, currency, language) }),
        })
      : null,
    round.interrupted ? h("p", { "data-testid": "history-interrupted", text: t("history.interrupted") }) : null,
    h("ul", { class: "plain history-hands" }, ...(round.hands ?? []).map(hand)),
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": t("history.wagers") },
      h("table", { class: "data" }, h("thead", {}, h("tr", {}, ...heads.map((key) => h("th", { scope: "col", class: ["stake", "held", "returned"].includes(key) ? "number" : null, text: t(`history.${key}`) })))), h("tbody", {}, ...round.wagers.map(wagerRow))),
    ),
    ended ? h("p", {}, h("a", { class: "button quiet", href: `/api/rounds/${round.round_id}/bundle`, download: `${round.round_id}.json`, "data-testid": "own-evidence", text: t("evidence.own") })) : null,
  );
}

async function load() {
  const before = next === null ? "" : `&before=${encodeURIComponent(next)}`;
  try {
    const answer = await get(`/api/history?limit=${LIMIT}${before}`);
    $("#rounds").append(...answer.rounds.map(roundPanel));
    next = answer.next;
    setShown($("#more"), next !== null);
    setShown($("#empty"), $("#rounds").childElementCount === 0);
  } catch (error) {
    const line = h("p", {});
    $("#rounds").append(line);
    notify(line, "bad", errorText(error));
  }
}

/** What is owed and why; whoever never owed anything sees nothing of it. */
async function loadOwed() {
  const { owed_minor: owed, changes } = await get("/api/owed");
  if (!changes.length) return;
  $("#owed").replaceChildren(
    h("h2", { text: owed ? t("owed.title", { owed: money(owed) }) : t("owed.title_none") }),
    h("p", { text: t("owed.explained") }),
    changeList(changes, currency),
  );
  setShown($("#owed"), true);
  if (location.hash === "#owed") $("#owed").scrollIntoView();
}

async function start() {
  const me = await get("/api/me").catch(() => ({ currency }));
  currency = me.currency;
  $("#more").addEventListener("click", load);
  await load();
  await loadOwed().catch(() => {});
}

start();
