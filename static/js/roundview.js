// One round, to its last card and wager: tables shared by the pit's drawer and the round's page.

import { betWords, positionShort } from "./bet_words.js";
import { cardChip } from "./cards.js";
import { formatTime } from "./clock.js";
import { h } from "./dom.js";
import { has, language, reasonWords, t } from "./i18n.js";
import { formatMoney, formatNumber } from "./money.js";

const SHORT = 12;

/**
 * A table in a frame that scrolls by itself; words in its place when it has no rows. One that
 * `stacks` shows every row as a block of named values where it is too narrow for columns.
 */
export function dataTable(heads, rows, { label, empty, stacks = false }) {
  if (!rows.length) return h("p", { class: "muted", text: empty });
  if (stacks) for (const row of rows) [...row.cells].forEach((one, index) => one.setAttribute("data-label", heads[index][0]));
  const head = h("tr", {}, ...heads.map(([text, numeric]) => h("th", { scope: "col", class: typeof numeric === "string" ? numeric : numeric ? "number" : null, text })));
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    h("table", { class: stacks ? "data stacks" : "data" }, h("thead", {}, head), h("tbody", {}, ...rows)),
  );
}

const cell = (text, numeric = false) => h("td", { class: numeric ? "number" : null, text: text ?? "–" });

export function placeWords({ position, index }) {
  return position === "burn" ? t("verify.burn") : `${positionShort(position)}-${index + 1}`;
}

/** Every card of a round: when it was read, where it lies; its face only once it is open. */
export function cardsTable(round, events) {
  const open = new Map(round.reveals.map((one) => [`${one.position}/${one.index}`, one]));
  const corrected = new Map((round.corrected?.faces ?? []).map((one) => [`${one.position}/${one.index}`, one.card]));
  const drawn = events.filter((event) => event.kind === "CardDrawn");
  const timed = new Map(drawn.map((event) => [`${event.body.position}/${event.body.index}`, event]));
  const keyed = new Map(events.filter((event) => event.kind === "KeyConfirmed").map(({ body }) => [`${body.position}/${body.index}`, body]));
  const rows = round.commitments.map((card) => {
    const key = `${card.position}/${card.index}`;
    const face = open.get(key);
    const event = timed.get(key);
    return h(
      "tr",
      {},
      h("th", { scope: "row", text: placeWords(card) }),
      h("td", { class: "number" }, event ? formatTime(event.at_ms) : "–", keyed.has(key) ? h("span", { class: "keyed small muted", text: t("round.keyed", keyed.get(key)) }) : null),
      h("td", {}, face ? cardChip(face.card) : h("span", { class: "muted", text: t("round.sealed") }), ...(corrected.has(key) ? [" → ", cardChip(corrected.get(key))] : [])),
      cell(face ? String(face.serial) : null, true),
      h("td", { class: "code wide-only", title: card.commitment, text: `${card.commitment.slice(0, SHORT)}…` }),
    );
  });
  const heads = [[t("round.place")], [t("round.read_at"), true], [t("round.card")], [t("round.serial"), true], [t("round.commitment"), "wide-only"]];
  return dataTable(heads, rows, { label: t("round.cards"), empty: t("round.no_cards") });
}

/** The wagers of a round with what was held and what went back. */
export function wagersTable(wagers, currency) {
  const money = (minor) => (minor === null || minor === undefined ? "–" : formatNumber(minor, currency.decimals));
  const rows = wagers.map((wager) =>
    h(
      "tr",
      { "data-ending": wager.ending?.kind ?? "open" },
      cell(formatTime(wager.accepted_ms), true),
      cell(wager.player ?? wager.player_name ?? String(wager.player_id ?? "–")),
      cell(betWords(wager.bet)),
      cell(money(wager.stake_minor), true),
      cell(money(wager.hold_minor), true),
      cell(t(`round.ending.${wager.ending?.kind ?? "open"}`)),
      cell(money(wager.ending?.payout_minor), true),
    ),
  );
  const heads = [[t("round.at"), true], [t("round.player")], [t("round.bet")], [t("round.stake"), true], [t("round.hold"), true], [t("round.ended")], [t("round.payout"), true]];
  return dataTable(heads, rows, { label: t("round.wagers"), empty: t("round.no_wagers"), stacks: true });
}

/** Facts about a round as pairs of words. */
export function roundFacts(round, currency) {
  const money = (minor) => formatMoney(minor, currency, language);
  const facts = [
    [t("round.phase"), round.phase && has(`play.phase_short.${round.phase}`) ? t(`play.phase_short.${round.phase}`) : "–"],
    [t("round.opened"), formatTime(round.opened_ms)],
    [t("round.closes"), formatTime(round.window_closes_ms)],
    [t("round.rules"), `${round.rule_version} · ${round.paytable_version}`],
  ];
  if (round.wagers) {
    facts.push([t("round.count"), String(round.wagers.count)], [t("round.turnover"), money(round.wagers.turnover_minor)]);
  }
  if (round.payouts_minor !== null && round.payouts_minor !== undefined) facts.push([t("round.payouts"), money(round.payouts_minor)]);
  if (round.interrupted) facts.push([t("round.interrupted"), t("round.interrupted_ran")]);
  if (round.void) facts.push([t("round.void"), `${reasonWords(round.void.reason)} (${round.void.by})`]);
  if (round.corrected) facts.push([t("round.corrected"), t("round.corrected_as", { ...round.corrected, why: reasonWords(round.corrected.reason) })]);
  return facts;
}

export function pairs(facts) {
  return h("dl", { class: "pairs" }, ...facts.flatMap(([name, value]) => [h("dt", { text: name }), h("dd", { text: value })]));
}
