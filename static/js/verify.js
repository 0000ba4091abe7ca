// The player's check: do the opened cards match what was promised while they lay face down?

import { positionShort } from "./bet_words.js";
import { cardChip } from "./cards.js";
import { checkRound, countRows } from "./commitment.js";
import { $, h, icon, setText } from "./dom.js";
import { t, tn } from "./i18n.js";

const SHORT = 10;

function verdict(counts) {
  if (counts.total === 0) return ["info", t("verify.none")];
  if (counts.differs) return ["bad", t("verify.differs", { count: counts.differs })];
  if (counts.match === 0) return ["info", tn("verify.sealed", counts.sealed)];
  if (counts.sealed) return ["info", t("verify.part", { match: counts.match, total: counts.total })];
  return ["ok", t("verify.match", { match: counts.match, total: counts.total })];
}

function place({ position, index }) {
  return position === "burn" ? t("verify.burn") : `${positionShort(position)}-${index + 1}`;
}

function row(one) {
  const symbol = { match: "check", differs: "octagon-alert", sealed: "lock" }[one.state];
  return h(
    "tr",
    { "data-state": one.state },
    h("th", { scope: "row", text: place(one) }),
    h("td", {}, one.card ? cardChip(one.card) : "–"),
    h("td", { class: "code", title: one.commitment ?? "", text: one.commitment ? `${one.commitment.slice(0, SHORT)}…` : "–" }),
    h("td", {}, icon(symbol), h("span", { class: "small", text: ` ${t(`verify.${one.state}_row`)}` })),
  );
}

/** Everything needed to repeat the check elsewhere, one card a line. */
export function proofText(rows, roundId) {
  const lines = rows.filter((one) => one.text).map((one) => `${one.commitment}  ${one.text}`);
  return [`round ${roundId}`, "sha256(nonce|round|position|index|card|serial)", ...lines].join("\n");
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea", { class: "sr", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy"); // plain http has no clipboard API
    area.remove();
  }
  setText($("span", button), t("verify.copied"));
}

/** Fill the check's panel; `update` is called with the round after every event. */
export function makeVerify(root) {
  const line = h("p", { class: "verify-line", "data-testid": "verify" });
  const body = h("tbody", {});
  const copyButton = h("button", { type: "button", class: "button", "data-testid": "verify-copy" }, icon("copy"), h("span", { text: t("verify.copy") }));
  const details = h(
    "details",
    { "data-testid": "verify-details" },
    h("summary", { text: t("verify.details") }),
    h("p", { class: "small muted", text: t("verify.how") }),
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": t("verify.details") },
      h("table", { class: "data verify-table" }, h("thead", {}, h("tr", {}, ...["place", "card", "commitment", "check"].map((key) => h("th", { scope: "col", text: t(`verify.${key}`) })))), body),
    ),
    copyButton,
  );
  root.append(line, details);
  let key = "";
  let proof = "";
  copyButton.addEventListener("click", () => copy(proof, copyButton));
  return {
    async update(round) {
      const next = `${round.id}/${round.commitments.length}/${round.reveals.length}`;
      if (next === key) return;
      key = next;
      const rows = await checkRound(round);
      if (key !== next) return;
      const [kind, text] = verdict(countRows(rows));
      line.dataset.kind = kind;
      line.replaceChildren(icon({ ok: "shield-check", bad: "octagon-alert", info: "lock" }[kind]), h("span", { text }));
      proof = proofText(rows, round.id);
      body.replaceChildren(...rows.map(row));
      setText($("span", copyButton), t("verify.copy"));
    },
  };
}
