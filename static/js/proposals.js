// Corrections that are not done: what each does and why, its approval, its countdown, its drop.

import { cardChip } from "./cards.js";
import { formatAge } from "./clock.js";
import { propose } from "./correcting.js";
import { moneyWords } from "./correct_words.js";
import { confirmDialog } from "./dialog.js";
import { h, renderOnce, setShown, setText } from "./dom.js";
import { t, tn } from "./i18n.js";
import { reasonField } from "./reasons.js";
import { pairs, placeWords } from "./roundview.js";
import { toast } from "./toast.js";

const ROUNDS_SHOWN = 12;

/** Where a proposal stands, in words. Pure. */
export function stateWords({ kind, announced, needs_approval: approval, due_ms: due, rounds }, nowMs) {
  if (!announced && approval) return t(kind === "void_running" ? "correct.state.waits_running" : "correct.state.waits");
  return nowMs < due ? t("correct.state.told", { time: formatAge(due - nowMs + 999) }) : tn("correct.state.booking", rounds.length);
}

function titleWords(table, { kind, rounds }) {
  const key = `correct.kind.${kind}`;
  return kind === "refund" ? tn(key, rounds.length, { table }) : t(key, { table, round: rounds[0].round_id });
}

const roundLink = (one) => h("a", { class: "button quiet proposal-round", href: `/pit/rounds/${one.round_id}`, text: one.round_id });

function facts(proposal, currency) {
  const said = [
    [t("correct.by"), proposal.by],
    ...(proposal.approved_by ? [[t("correct.approved_by"), proposal.approved_by]] : []),
    [t("common.reason"), proposal.reason],
    [t("correct.money"), moneyWords(proposal, currency)],
  ];
  return [
    pairs(said),
    proposal.faces.length ? h("ul", { class: "plain changes" }, ...proposal.faces.map((face) => h("li", {}, h("b", { text: placeWords(face) }), "→", cardChip(face.card)))) : null,
  ];
}

function roundLinks({ rounds }) {
  const more = rounds.length - ROUNDS_SHOWN;
  return [...rounds.slice(0, ROUNDS_SHOWN).map(roundLink), more > 0 ? h("span", { text: t("correct.more_rounds", { count: more }) }) : null];
}

/** Said in passing: when it is read, what it tells of may have left the page. */
const say = (kind, text) => toast(kind === "ok" ? "circle-check" : "triangle-alert", text, kind === "ok" ? "ok" : "info");

/** What a supervisor asks before each step, and says after it. */
const STEPS = {
  approve: ({ kind }) => ({ command: "approve_correction", what: kind === "void_running" ? "what_late" : "what", fields: [] }),
  drop: ({ announced, kind }) => ({ command: "drop_correction", what: announced ? "what_late" : kind === "void_running" ? "what_running" : "what", fields: [reasonField("drop_correction")] }),
};

/**
 * The section of standing corrections, hidden without any; `update(items)` takes tables as the pit
 * has them. root: a section with a heading. `onDone` is called after each step.
 */
export function makeProposals(root, { supervisor, fresh = () => true, currency, now, onDone }) {
  const list = h("div", { class: "stack" });
  root.append(list);

  async function step(name, table, proposal) {
    const { command, what, fields } = STEPS[name](proposal);
    const key = `correct.${name}`;
    const answer = await confirmDialog({ testid: `${name}-dialog`, title: t(`${key}_title`), body: [h("p", { text: titleWords(table, proposal) }), h("p", { text: t(`${key}_${what}`) })], fields, confirm: t(key) });
    if (!answer) return;
    await propose(table, { command, proposal: proposal.id, ...answer }, { say, done: t(`${key}_done`) });
    onDone();
  }

  function buttons(table, proposal) {
    const waits = proposal.needs_approval && !proposal.announced;
    const button = (name, kind) => h("button", { type: "button", class: `button ${kind}`, "data-testid": name, text: t(`correct.${name}`), onclick: () => step(name, table, proposal) });
    if (!supervisor) return [];
    return [
      waits && proposal.by_me ? h("p", { class: "proposal-own", text: t("correct.own") }) : null,
      waits && !proposal.by_me ? button("approve", "primary") : null,
      button("drop", ""),
    ];
  }

  function card({ table, proposal }) {
    return h(
      "article",
      { class: "proposal", "data-table": table, "data-testid": `proposal-${table}`, "data-announced": String(proposal.announced) },
      h("h3", { text: titleWords(table, proposal) }),
      h("p", { class: "proposal-state", "data-testid": "proposal-state" }),
      ...facts(proposal, currency()),
      h("div", { class: "cluster" }, ...buttons(table, proposal), ...roundLinks(proposal)),
    );
  }

  return {
    update(items) {
      const standing = items.filter((item) => item.proposal);
      setShown(root, standing.length > 0);
      renderOnce(list, JSON.stringify(standing.map(({ table, proposal }) => [table, proposal, currency()])), () => standing.map(card));
      standing.forEach(({ proposal }, at) => {
        const shown = list.children[at];
        setText(shown.querySelector(".proposal-state"), stateWords(proposal, now()));
        const begun = proposal.announced && now() >= proposal.due_ms;
        for (const button of shown.querySelectorAll("button")) button.disabled = !fresh() || begun;
      });
    },
  };
}
