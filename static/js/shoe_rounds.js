// The rounds of one shoe: what refunding each would cost, and the refund of those chosen at once.

import { get, look, post } from "./api.js";
import { formatTime } from "./clock.js";
import { follow, propose } from "./correcting.js";
import { doneWords, stepsWords, sumsWords } from "./correct_words.js";
import { confirmDialog } from "./dialog.js";
import { $, h, setShown, setText } from "./dom.js";
import { errorText } from "./errors.js";
import { has, language, t, tn } from "./i18n.js";
import { Live } from "./live.js";
import { formatMoney, formatNumber } from "./money.js";
import { notify } from "./page.js";
import { makeProposals } from "./proposals.js";
import { reasonField } from "./reasons.js";
import { dataTable } from "./roundview.js";

const RELOAD_MS = 300;

const { table, epoch } = $("#main").dataset;
const supervisor = document.body.dataset.role === "pit_supervisor";
const refund = $("#refund");
const all = $("#choose-all input");
const live = new Live();
const chosen = new Set();
let currency = { code: "PLAY", decimals: 0 };
let rounds = [];
let costs = new Map();
let proposal = null;
let seen = null;
let timer = null;

const say = (kind, text) => notify($("#message"), kind, text);
const proposals = makeProposals($("#proposals"), { supervisor, currency: () => currency, now: () => live.clock.now(), onDone: () => load() });
const drawProposal = () => proposals.update([{ table, proposal }]);

// What is there -----------------------------------------------------------------------------

const refundable = (one) => one.phase === "settled";
const inRange = ({ number }) => number >= Number($("#from").value || 1) && number <= Number($("#to").value || Infinity);
const versions = (some) => Object.fromEntries(some.map((one) => [one.round_id, one.version]));
const wanted = () => versions(rounds.filter((one) => chosen.has(one.round_id)));

async function load() {
  try {
    const [answer, pit] = await Promise.all([look(`/api/tables/${table}/shoes/${epoch}/rounds`), look("/api/pit")]);
    rounds = answer.rounds;
    proposal = pit.tables.find((item) => item.table === table)?.proposal ?? null;
    const settled = rounds.filter(refundable);
    const cost = settled.length ? await post(`/api/tables/${table}/refund`, { rounds: versions(settled) }) : { rounds: [] };
    costs = new Map(cost.rounds.map((one) => [one.round_id, one]));
    for (const id of chosen) if (!costs.has(id)) chosen.delete(id);
    draw();
  } catch (error) {
    say("bad", errorText(error));
  }
}

function row(one) {
  const cost = costs.get(one.round_id);
  const money = (minor) => (minor === undefined ? "–" : formatNumber(minor, currency.decimals));
  const box = h("input", { type: "checkbox", disabled: !cost || Boolean(cost.refusal), checked: chosen.has(one.round_id), "aria-label": t("correct.choose_one", { round: one.round_id }), "data-round": one.round_id, onchange: choose });
  return h(
    "tr",
    { "data-testid": `row-${one.round_id}`, "data-phase": one.phase, "data-number": String(one.number) },
    h("th", { scope: "row" }, h("span", { class: "choice" }, supervisor ? h("label", { class: "check" }, box) : null, h("a", { href: `/pit/rounds/${one.round_id}`, text: one.round_id }))),
    ...[formatTime(one.opened_ms), has(`play.phase_short.${one.phase}`) ? t(`play.phase_short.${one.phase}`) : one.phase, String(one.wagers), money(one.turnover_minor), money(one.payouts_minor), money(cost?.paid_minor), money(cost?.taken_minor)].map((text, at) => h("td", { class: at === 1 ? null : "number", text })),
  );
}

function draw() {
  const heads = [[t("pit.round")], [t("round.opened"), true], [t("round.phase")], [t("round.count"), true], [t("round.turnover"), true], [t("round.payouts"), true], [t("correct.pays"), true], [t("correct.takes"), true]];
  const shown = rounds.filter(inRange);
  $("#rounds").replaceChildren(dataTable(heads, shown.map(row), { label: t("correct.shoe_rounds"), empty: t("correct.no_rounds"), stacks: true }));
  setShown($("#choose-all"), supervisor && shown.some(refundable));
  drawProposal();
  drawChosen();
}

// What is chosen ----------------------------------------------------------------------------

const changed = follow({
  path: `/api/tables/${table}/refund`,
  shown: $("#follows"),
  act: refund,
  question() {
    seen = null;
    if (proposal) return t("error.correction_waits");
    return chosen.size ? { rounds: wanted() } : t("correct.chosen_none");
  },
  draw(answer) {
    seen = answer;
    $("#follows").replaceChildren(...totals(answer));
  },
});

function totals(answer) {
  return [
    h("p", { text: tn("correct.chosen", answer.rounds.length, { wagers: formatNumber(answer.wagers) }) }),
    h("p", { class: "sums", role: "status", "data-testid": "sums", text: sumsWords(answer, currency) }),
    h("p", { class: "small", text: stepsWords(answer) }),
  ];
}

function drawChosen() {
  const shown = rounds.filter((one) => inRange(one) && costs.has(one.round_id));
  all.checked = shown.length > 0 && shown.every((one) => chosen.has(one.round_id));
  setShown($("#chosen"), supervisor && rounds.length > 0);
  setText(refund, tn("correct.refund", chosen.size));
  changed();
}

function choose({ currentTarget: box }) {
  if (box.checked) chosen.add(box.dataset.round);
  else chosen.delete(box.dataset.round);
  drawChosen();
}

/** What lies outside the numbers is not shown, and what is not shown is not chosen. */
function narrow() {
  for (const one of rounds) if (!inRange(one)) chosen.delete(one.round_id);
  draw();
}

function chooseAll() {
  for (const one of rounds) {
    if (!inRange(one) || costs.get(one.round_id)?.refusal !== null) continue;
    if (all.checked) chosen.add(one.round_id);
    else chosen.delete(one.round_id);
  }
  draw();
}

async function refundChosen() {
  const looked = seen;
  const command = { command: "refund_rounds", rounds: wanted() };
  const fields = [reasonField(command.command)];
  const text = tn("correct.refund", chosen.size);
  const answer = await confirmDialog({ testid: "refund-dialog", title: text, body: [h("p", { text: t("correct.refund_what") }), ...totals(looked)], fields, confirm: text, danger: true, focusField: true });
  if (!answer) return;
  if (await propose(table, { ...command, ...answer }, { say, done: doneWords(looked) })) chosen.clear();
  await load();
}

async function start() {
  const me = await get("/api/me").catch(() => null);
  currency = me?.currency ?? currency;
  for (const id of ["#from", "#to"]) $(id).addEventListener("input", narrow);
  all.addEventListener("change", chooseAll);
  refund.addEventListener("click", refundChosen);
  live.addEventListener("table", ({ envelope }) => {
    if (envelope && !/^(Correction|Round)/.test(envelope.kind)) return;
    clearTimeout(timer);
    timer = setTimeout(load, RELOAD_MS);
  });
  live.watch(table);
  live.start();
  await load();
  setInterval(drawProposal, 1000);
}

start();
