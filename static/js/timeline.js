// A round's events as sentences. Bodies are public: a card that is still sealed is not in them.

import { positionShort } from "./bet_words.js";
import { cardChip } from "./cards.js";
import { formatTime } from "./clock.js";
import { h } from "./dom.js";
import { either, has, language, reasonWords, t, tn } from "./i18n.js";
import { formatMoney } from "./money.js";
import { dataTable, placeWords } from "./roundview.js";

/** Who did it: a person's name, or the studio itself. */
const who = (by) => (by === "studio" ? t("told.studio") : by);

function placeOf({ position, index }) {
  if (position === null || position === undefined) return "";
  return ["first", "verify"].includes(position) ? t(`told.place.${position}`) : placeWords({ position, index });
}

function opened(cards) {
  const hands = new Map();
  for (const card of cards) hands.set(card.position, [...(hands.get(card.position) ?? []), card]);
  return [...hands].map(([position, own]) =>
    h("span", { class: "told-hand" }, h("b", { text: position === "burn" ? t("verify.burn") : positionShort(position) }), ...own.map((card) => cardChip(card.card))),
  );
}

/** The values of an event's body as people write them. */
function values(body, currency) {
  const money = (minor) => (minor === undefined ? "" : formatMoney(minor, currency, language));
  return {
    ...body,
    place: placeOf(body),
    by: who(body.by ?? ""),
    name: body.name ?? "",
    why: body.reason ? reasonWords(body.reason) : "",
    read: body.reason ? either(`fault.reason.${body.reason}`, "reason.own", { reason: body.reason }) : "",
    fault: body.fault ? either(`fault.${body.fault}`, "fault.other", { code: body.fault }) : "",
    link: body.link && has(`link.${body.link}`) ? t(`link.${body.link}`) : "",
    closes: body.window_closes_ms ? formatTime(body.window_closes_ms) : "",
    turnover: money(body.turnover_minor),
    held: money(body.held_minor),
    payouts: money(body.payouts_minor),
  };
}

/** True when a card was opened as it was read: it lies face up on the table. */
function dealtOpen({ kind, body }, next) {
  const cards = kind === "CardDrawn" && next?.kind === "CardsRevealed" ? next.body.cards : [];
  return cards.some((card) => card.position === body.position && card.index === body.index);
}

/** Which of the named choices let the table go on, in words. */
function wayOf({ kind, body }) {
  const key = `choice.${kind === "HeldReleased" ? body.action : body.choice}`;
  return has(key) ? t(key) : "";
}

/** Which sentence tells an event: most kinds have one, some differ by what happened, or came next. */
export function sentence(event, next = null) {
  const { kind, body } = event;
  if (dealtOpen(event, next)) return "told.CardDrawn_open";
  if (kind === "CardVerified" && body.problem) return "told.CardVerified_problem";
  if (kind === "VerificationEnded" && !body.complete) return "told.VerificationEnded_open";
  if (kind === "ReadFailed" && !placeOf(body)) return "told.ReadFailed_plain";
  if (kind === "RoundSettled" && body.version > 1) return "told.RoundSettled_anew";
  if (wayOf(event)) return `told.${kind}_choice`;
  if (kind === "KeyDropped" && body.why === "differs") return "told.KeyDropped_differs";
  if (kind === "RoundCorrected" && body.void) return "told.RoundCorrected_void";
  return `told.${kind}`;
}

/** What happened, as a row of nodes; empty for a kind that a newer studio may have added. */
export function eventWords(event, currency, next = null) {
  const key = sentence(event, next);
  const told = { ...values(event.body, currency), choice: wayOf(event) };
  const text = has(key) ? (typeof event.body.count === "number" ? tn(key, event.body.count, told) : t(key, told)) : "";
  const faces = event.kind === "FirstCardTurned" ? [cardChip(event.body.card)] : opened(event.body.cards ?? []);
  const approved = event.body.approved_by ? h("span", { text: t("told.approved", { name: event.body.approved_by }) }) : null;
  return [text ? h("span", { text }) : null, approved, ...faces].filter(Boolean);
}

/** Every event in order. */
export function timeline(events, currency) {
  const rows = events.map((event, index) =>
    h(
      "tr",
      {},
      h("td", { class: "number", text: String(event.seq) }),
      h("td", { class: "number", text: formatTime(event.at_ms) }),
      h("td", {}, h("div", { class: "told" }, h("b", { text: either(`event.${event.kind}`, "event.other", { kind: event.kind }) }), ...eventWords(event, currency, events[index + 1]))),
      h("td", { class: "code wide-only", title: event.hash ?? "", text: event.hash ? `${event.hash.slice(0, 8)}…` : "" }),
    ),
  );
  const heads = [[t("round.seq"), true], [t("round.at"), true], [t("round.event")], [t("round.hash"), "wide-only"]];
  return dataTable(heads, rows, { label: t("round.timeline"), empty: t("round.no_events") });
}
