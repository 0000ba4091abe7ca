// One round on its own page: every card, wager and event, and its void while it runs.

import { get, look } from "./api.js";
import { positionShort } from "./bet_words.js";
import { actionButtons, perform } from "./drawer.js";
import { $, h } from "./dom.js";
import { errorText } from "./errors.js";
import { evidenceButton } from "./evidence.js";
import { handWords } from "./felt.js";
import { cardChip } from "./cards.js";
import { either, t } from "./i18n.js";
import { Live } from "./live.js";
import { notify } from "./page.js";
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
let ended = false;

const say = (kind, text) => notify(message, kind, text);

function summary(round, game) {
  const hands = round.hands.map((hand) =>
    h("li", {}, h("b", { text: positionShort(hand.position) }), ...hand.cards.filter(Boolean).map(cardChip), h("span", { class: "small muted", text: handWords(hand) })),
  );
  const facts = [[t("pit.table"), table], [t("pit.game"), either(`game.${game}`, "game.other")], ...roundFacts(round, currency)];
  $("#summary").replaceChildren(pairs(facts), h("ul", { class: "plain drawer-hands" }, ...hands));
}

async function load() {
  try {
    const [answer, { wagers }] = await Promise.all([look(`/api/rounds/${id}`), look(`/api/rounds/${id}/wagers`)]);
    table = answer.table;
    ended = ["settled", "void"].includes(answer.round.phase);
    summary(answer.round, answer.game);
    $("#cards").replaceChildren(cardsTable(answer.round, answer.events));
    $("#wagers").replaceChildren(wagersTable(wagers, currency));
    $("#timeline").replaceChildren(timeline(answer.events, currency));
    await verify.update(answer.round);
    if (!feed) feed = live.watch(table);
    drawActions();
  } catch (error) {
    say("bad", errorText(error));
  }
}

function drawActions() {
  const view = feed?.view;
  const running = view?.round?.id === id && !["settled", "void"].includes(view.phase);
  if (!supervisor || !running) {
    $("#actions").replaceChildren(...(ended ? [evidenceButton(id, say)] : []));
    return;
  }
  const buttons = actionButtons({ view, fresh: true, busy: false, run: async (name) => {
    await perform(name, { table, view: feed.view, currency, say });
    await load();
  } });
  $("#actions").replaceChildren(...buttons.filter((button) => button.dataset.testid === "void"));
}

async function start() {
  const me = await get("/api/me").catch(() => null);
  currency = me?.currency ?? currency;
  live.addEventListener("table", () => {
    if (feed?.view?.round?.id === id) load();
  });
  live.start();
  await load();
}

start();
