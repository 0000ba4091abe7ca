// The cash desk's question about owed money: collect it or write it off; says what the click does.

import { get, newId, postUntilAnswered } from "./api.js";
import { confirmDialog } from "./dialog.js";
import { $, h, setShown, setText } from "./dom.js";
import { language, t } from "./i18n.js";
import { formatMoney, formatNumber, parseMinor } from "./money.js";
import { changeList } from "./owed_view.js";

const most = (deed, { balance_minor: balance, owed_minor: owed }) => (deed === "collect" ? Math.min(balance, owed) : owed);

/** What the click does, in words; null when the amount cannot be booked. */
export function outcome(deed, minor, have, money) {
  if (minor === null || minor > most(deed, have)) return null;
  const taken = deed === "collect" ? minor : 0;
  return t(`owed.will.${deed}`, { amount: money(minor), balance: money(have.balance_minor - taken), owed: money(have.owed_minor - minor) });
}

/** The dialog's fields as they are now. */
function read(dialog, decimals) {
  const field = (name) => $(`#field-${name}`, dialog);
  return { deed: field("deed").value, minor: parseMinor(field("amount").value, decimals) };
}

/** Keep the sentence under the fields in step with them. */
function follow(dialog, have, currency, money) {
  const said = $("#owed-outcome", dialog);
  const amount = $("#field-amount", dialog);
  const draw = () => {
    const { deed, minor } = read(dialog, currency.decimals);
    const words = outcome(deed, minor, have, money);
    setText(said, words ?? t("owed.amount_wrong", { most: money(most(deed, have)) }));
    said.className = `notice ${words === null ? "bad" : "info"}`;
    amount.setCustomValidity(words === null ? said.textContent : "");
    amount.setAttribute("aria-invalid", String(words === null));
  };
  const fill = () => {
    amount.value = formatNumber(most(read(dialog, currency.decimals).deed, have), currency.decimals);
    draw();
  };
  $("#field-deed", dialog).addEventListener("change", fill);
  amount.addEventListener("input", draw);
  fill();
}

function facts(have, currency, money) {
  const pairs = [["owed.owed", have.owed_minor, "owed-now"], ["owed.balance", have.balance_minor, "owed-balance"]];
  return [
    h("dl", { class: "pairs" }, ...pairs.flatMap(([key, minor, testid]) => [h("dt", { text: t(key) }), h("dd", { class: "number", "data-testid": testid, text: money(minor) })])),
    changeList(have.changes, currency),
  ];
}

/**
 * Ask what is to be done about the money somebody owes, and do it once.
 * Returns what was done in words, or null; `onUnknown` is told while no answer comes.
 */
export async function settleOwed(person, { currency, onUnknown }) {
  const money = (minor) => formatMoney(minor, currency, language);
  const have = await get(`/api/people/${person.id}/owed`);
  const deeds = have.balance_minor > 0 ? ["collect", "write_off"] : ["write_off"];
  const fields = [
    { name: "deed", label: t("owed.deed"), options: deeds.map((deed) => [deed, t(`owed.deed.${deed}`)]), hint: deeds.length === 1 ? t("owed.nothing_there") : "" },
    { name: "amount", label: t("admin.amount_in", { currency: currency.code }), inputmode: "decimal", maxlength: 20 },
    { name: "reason", label: t("common.reason"), maxlength: 200 },
  ];
  const asked = confirmDialog({
    testid: "owed-dialog",
    title: t("owed.dialog_title", { name: person.display_name, owed: money(have.owed_minor) }),
    body: facts(have, currency, money),
    fields,
    foot: [h("p", { id: "owed-outcome", role: "status", "data-testid": "owed-outcome" })],
    confirm: t("owed.do"),
  });
  follow($("dialog[open]"), have, currency, money);
  const answer = await asked;
  if (!answer) return null;
  const minor = parseMinor(answer.amount, currency.decimals);
  const body = { id: newId(), player_id: person.id, deed: answer.deed, amount_minor: minor, reason: answer.reason };
  const after = await postUntilAnswered("/api/owed", body, { onUnknown });
  return t(`owed.done.${answer.deed}`, { amount: money(minor), name: person.display_name, owed: money(after.owed_minor) });
}
