// News that come with the wallet: new medals, a purse that was filled up.

import { medalName } from "./club_words.js";
import { language, t } from "./i18n.js";
import { soundMedal } from "./sound.js";
import { toast } from "./toast.js";

const listed = new Intl.ListFormat(language, { type: "unit" });

/** What a wallet message tells beside the money: new medals, a purse that was filled up. */
export function tellNews({ medals = [], refilled = false, balance_minor: balance }, money) {
  if (medals.length === 1) toast("medal", t("club.medal_new", { medal: medalName(medals[0]) }));
  if (medals.length > 1) toast("medal", t("club.medals_new", { medals: listed.format(medals.map(medalName)) }));
  if (medals.length) soundMedal();
  if (refilled) toast("wallet", t("club.refilled", { amount: money(balance) }));
}
