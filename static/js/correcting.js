// A settled round corrected or voided: what would follow is seen before the click.

import { newId, post, postUntilAnswered } from "./api.js";
import { betWords, positionShort } from "./bet_words.js";
import { cardChip } from "./cards.js";
import { deedWords, doneWords, stepsWords, sumsWords } from "./correct_words.js";
import { confirmDialog } from "./dialog.js";
import { $, h, icon } from "./dom.js";
import { errorText } from "./errors.js";
import { handWords, reasonOf } from "./felt.js";
import { t } from "./i18n.js";
import { formatNumber } from "./money.js";
import { makePlaces, standingPlaces } from "./places.js";
import { reasonField } from "./reasons.js";
import { dataTable } from "./roundview.js";

const WAIT_MS = 250;

const notice = (kind, text) => h("p", { class: `notice ${kind}` }, icon(kind === "bad" ? "octagon-alert" : "info"), h("span", { text }));

/**
 * Ask the studio what would follow, whenever the question has changed: returns the function to
 * call then. Only the answer to the newest question is drawn, and only it lets `act` be pressed.
 * question() gives the request's body, or words why there is nothing to ask.
 */
export function follow({ path, question, draw, shown, act }) {
  let newest = 0;
  let timer = null;
  async function ask(mine, body) {
    try {
      const answer = await post(path, body);
      if (mine !== newest) return;
      draw(answer);
      act.disabled = false;
    } catch (error) {
      if (mine === newest) shown.replaceChildren(notice("bad", errorText(error)));
    }
  }
  return () => {
    newest += 1;
    act.disabled = true;
    clearTimeout(timer);
    const body = question();
    if (typeof body === "string") shown.replaceChildren(notice("info", body));
    else timer = setTimeout(ask, WAIT_MS, newest, body);
  };
}

/** Order a correction of a table once; `say` tells how it went. Returns whether it was taken. */
export async function propose(table, command, { say, done }) {
  try {
    await postUntilAnswered(`/api/tables/${table}/commands`, { id: newId(), ...command }, { onUnknown: () => say("warn", t("action.waiting")) });
    say("ok", done);
    return true;
  } catch (error) {
    say("bad", errorText(error));
    return false;
  }
}

const arrow = (before, after) => (before === after ? after : `${before} → ${after}`);

function betRows(answer, round, currency) {
  const before = new Map((round.results ?? []).map((one) => [one.bet, reasonOf(one)]));
  const after = new Map((answer.results ?? []).map((one) => [one.bet, reasonOf(one)]));
  const placed = new Map(answer.bets.map((one) => [one.bet, one]));
  const money = (minor) => formatNumber(minor, currency.decimals);
  const was = (bet) => before.get(bet) ?? t("correct.is_void");
  const is = (bet) => after.get(bet) ?? t("correct.is_void");
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((bet) => placed.has(bet) || (!answer.void && was(bet) !== is(bet)))
    .map((bet) => {
      const { wagers = 0, before_minor: paid = 0, after_minor: due = 0 } = placed.get(bet) ?? {};
      return h(
        "tr",
        { "data-testid": `follows-${bet}` },
        h("th", { scope: "row", text: betWords(bet) }),
        h("td", { text: arrow(was(bet), is(bet)) }),
        h("td", { class: "number", text: String(wagers) }),
        h("td", { class: "number", text: wagers ? arrow(money(paid), money(due)) : "–" }),
      );
    });
}

function handLines(answer, round) {
  const before = new Map(round.hands.map((hand) => [hand.position, handWords(hand)]));
  return answer.hands
    .filter((hand) => handWords(hand) !== before.get(hand.position))
    .map((hand) => h("li", {}, h("b", { text: positionShort(hand.position) }), ` ${arrow(before.get(hand.position) || "–", handWords(hand))}`));
}

const changeLine = ({ words, before, after }) => h("li", {}, h("b", { text: words }), cardChip(before), "→", cardChip(after));

/** What would follow, from the cards to the money. */
function consequences(answer, { round, currency }, changes) {
  const heads = [[t("round.bet")], [t("correct.result")], [t("round.count"), true], [t("correct.returned"), true]];
  return [
    h("ul", { class: "plain changes" }, ...changes.map(changeLine), ...handLines(answer, round)),
    dataTable(heads, betRows(answer, round, currency), { label: t("correct.follows"), empty: t("correct.no_bets"), stacks: true }),
    h("p", { class: "sums", role: "status", "data-testid": "sums", text: sumsWords(answer, currency) }),
    notice("info", stepsWords(answer)),
  ];
}

/** Ask, with the consequences in sight; `places` are the fields of the cards, null for a void. */
async function correct(context, { command, title, what, places }) {
  const { id, table, version, say } = context;
  const shown = h("div", { class: "stack", "data-testid": "consequences" });
  const fields = [reasonField(command)];
  const body = [places ? places.element : h("p", { text: what }), h("section", { class: "consequences", "aria-label": t("correct.follows") }, shown)];
  const asked = confirmDialog({ testid: "correct-dialog", title, body, fields, confirm: t("correct.propose"), danger: !places });
  const dialog = $("dialog[open]");
  dialog.classList.add("wide");
  const act = $("[type=submit]", dialog);
  let seen = null;
  const now = () => places?.read() ?? { changes: [], cards: null };
  const changed = follow({
    path: `/api/rounds/${id}/correction`,
    shown,
    act,
    question() {
      const { changes, wrong, cards } = now();
      if (wrong) return t("correct.not_a_card");
      return places && !changes.length ? t("correct.nothing_changed") : { version, cards };
    },
    draw(answer) {
      seen = answer;
      act.textContent = deedWords(answer);
      shown.replaceChildren(...consequences(answer, context, now().changes));
    },
  });
  places?.element.addEventListener("input", changed);
  changed();
  const said = await asked;
  if (!said) return false;
  const { cards } = now();
  const values = { command, round_id: id, version, ...(places ? { cards } : {}), reason: said.reason };
  return propose(table, values, { say, done: doneWords(seen) });
}

/** Other cards for a settled round. context: {id, table, round, version, currency, say}. */
export function correctCards(context) {
  return correct(context, { command: "correct_round", title: t("correct.cards_title", { round: context.id }), places: makePlaces(standingPlaces(context.round)) });
}

/** A settled round without a result: everything held goes back, what was won is taken back. */
export function voidSettled(context) {
  return correct(context, { command: "void_settled", title: t("correct.void_title", { round: context.id }), what: t("correct.void_what"), places: null });
}
