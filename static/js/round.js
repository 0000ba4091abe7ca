// One round on its own page: every card, wager and event, its void while it runs, its correction after.

import { get, look } from "./api.js";
import { positionShort } from "./bet_words.js";
import { correctCards, voidSettled } from "./correcting.js";
import { $, h } from "./dom.js";
import { actionButtons, perform } from "./drawer.js";
import { errorText } from "./errors.js";
import { evidenceButton } from "./evidence.js";
import { handWords } from "./felt.js";
import { cardChip } from "./cards.js";
import { either, t } from "./i18n.js";
import { Live } from "./live.js";
import { notify } from "./page.js";
import { makeProposals } from "./proposals.js";
import { cardsTable, pairs, roundFacts, wagersTable } from "./roundview.js";
import { timeline } from "./timeline.js";
import { makeVerify } from "./verify.js";

const id = $("#main").dataset.round;
const supervisor = document.body.dataset.role === "pit_supervisor";
const message = $("#message");
const live = new Live();
const verify = makeVerify($("#verify"));
let currency = { code: "PLAY", decimals: 0 };
let table = null;
let feed = null;
let record = null;
let proposal = null;

const say = (kind, text) => notify(message, kind, text);
const proposals = makeProposals($("#proposals"), { supervisor, currency: () => currency, now: () => live.clock.now(), onDone: () => load() });
const ended = () => ["settled", "void"].includes(record?.round.phase);

function summary(round, game) {
  const hands = round.hands.map((hand) =>
    h("li", {}, h("b", { text: positionShort(hand.position) }), ...hand.cards.filter(Boolean).map(cardChip), h("span", { class: "small muted", text: handWords(hand) })),
  );
  const facts = [[t("pit.table"), table], [t("pit.game"), either(`game.${game}`, "game.other")], ...roundFacts(round, currency)];
  $("#summary").replaceChildren(pairs(facts), h("ul", { class: "plain drawer-hands" }, ...hands));
}

async function load() {
  try {
    const [answer, { wagers }, pit] = await Promise.all([look(`/api/rounds/${id}`), look(`/api/rounds/${id}/wagers`), look("/api/pit")]);
    record = answer;
    table = answer.table;
    proposal = pit.tables.find((item) => item.table === table)?.proposal ?? null;
    summary(answer.round, answer.game);
    $("#cards").replaceChildren(cardsTable(answer.round, answer.events));
    $("#wagers").replaceChildren(wagersTable(wagers, currency));
    $("#timeline").replaceChildren(timeline(answer.events, currency));
    await verify.update(answer.round);
    if (!feed) feed = live.watch(table);
    drawActions();
    drawProposal();
  } catch (error) {
    say("bad", errorText(error));
  }
}

const drawProposal = () => proposals.update([{ table, proposal }]);

function correctionButtons() {
  const { round, settlement_version: version } = record;
  const context = { id, table, round, version, currency, say };
  const button = (name, ask, kind = "") => h("button", { type: "button", class: `button ${kind}`, disabled: proposal !== null, "data-testid": name.replace(".", "-"), text: t(name), onclick: async () => {
    if (await ask(context)) await load();
  } });
  // A round that was void before its settlement stays so.
  return [
    round.phase === "settled" || version > 1 ? button("correct.cards", correctCards) : null,
    round.phase === "settled" ? button("action.void_settled", voidSettled, "danger") : null,
  ].filter(Boolean);
}

function shoeLink() {
  const [first] = record.events;
  return h("a", { class: "button", href: `/pit/shoes/${table}/${first.epoch}`, "data-testid": "this-shoe", text: t("correct.this_shoe") });
}

function drawActions() {
  const view = feed?.view;
  const shoe = ["pit_supervisor", "auditor"].includes(document.body.dataset.role) ? [shoeLink()] : [];
  if (ended()) {
    $("#actions").replaceChildren(...(supervisor ? correctionButtons() : []), evidenceButton(id, say), ...shoe);
    return;
  }
  const buttons = supervisor && view?.round?.id === id ? actionButtons({ view, proposal, fresh: true, busy: false, run: async (name) => {
    await perform(name, { table, view: feed.view, currency, say });
    await load();
  } }) : [];
  $("#actions").replaceChildren(...buttons.filter((button) => button.dataset.testid === "void"), ...shoe);
}

/** Whether what happened at the table may have changed this page: a correction may be of any round. */
function concerns({ envelope }) {
  return feed?.view?.round?.id === id || !envelope || /^(Correction|RoundCorrected)/.test(envelope.kind);
}

async function start() {
  const me = await get("/api/me").catch(() => null);
  currency = me?.currency ?? currency;
  live.addEventListener("table", (event) => {
    if (concerns(event)) load();
  });
  live.start();
  await load();
  setInterval(drawProposal, 1000);
}

start();
