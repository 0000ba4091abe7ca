// What a correction would do, in words: shared by its dialogs, the pit and the rounds of a shoe.

import { language, t, tn } from "./i18n.js";
import { formatMoney } from "./money.js";

/** Who is paid and who pays back. sums: {players, paid_minor, taken_minor, owed_minor}. */
export function sumsWords({ players, paid_minor: paid, taken_minor: taken, owed_minor: owed }, currency) {
  if (!paid && !taken) return t("correct.no_money");
  const money = (minor) => formatMoney(minor, currency, language);
  const what = tn("correct.sums", players, { paid: money(paid), taken: money(taken) });
  return owed ? `${what} ${t("correct.sums_owed", { owed: money(owed) })}` : what;
}

/** What the money of a proposal does; a running round has paid nothing, it only gives back. */
export function moneyWords(proposal, currency) {
  if (proposal.kind !== "void_running") return sumsWords(proposal, currency);
  return tn("correct.returns", proposal.players, { amount: formatMoney(proposal.paid_minor, currency, language) });
}

/** What happens after the click. */
export const stepsWords = ({ needs_approval: approval, notice_s: seconds }) => t(approval ? "correct.with_approval" : "correct.without_approval", { seconds });

/** What the button of the dialog does. */
export const deedWords = ({ needs_approval: approval }) => t(approval ? "correct.propose" : "correct.tell");

/** What has happened after the click. */
export const doneWords = ({ needs_approval: approval, notice_s: seconds }) => (approval ? t("correct.proposed") : t("correct.told", { seconds }));
