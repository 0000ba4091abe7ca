// What a wallet message tells beside the balance: a round corrected or annulled, one dropped, owed money settled.

import { t } from "./i18n.js";
import { toast } from "./toast.js";

const TOLD = ["collected", "written_off"];
const BOOKED = ["corrected", "void"];

/** What a correction changed for this player, in words. Pure. */
export function correctionWords({ reason, round_id: round, before_minor: before, payout_minor: after, owed_minor: owed }, { full, signed }) {
  const kind = reason === "void" ? "annulled" : "corrected";
  const what = before === after
    ? t(`owed.news.${kind}_same`, { round, after: full(after) })
    : t(`owed.news.${kind}`, { round, before: full(before), after: full(after), difference: signed(after - before) });
  return owed && after < before ? `${what} ${t("owed.news.owed", { owed: full(owed) })}` : what;
}

/** Tell it. money: {full, signed}, minor units in words. */
export function tellMoney(detail, money) {
  // A running round that is void has only one version to tell of.
  if (BOOKED.includes(detail.reason) && detail.before_minor !== undefined) toast("info", correctionWords(detail, money), "info");
  if (detail.reason === "correction_dropped") toast("info", t("due.dropped", { rounds: detail.rounds.join(", ") }), "info");
  if (TOLD.includes(detail.reason)) {
    toast("info", t(`owed.news.${detail.reason}`, { amount: money.full(detail.amount_minor), owed: money.full(detail.owed_minor) }), "info");
  }
}
