// What medals and items are called, and how their numbers read.

import { has, language, t } from "./i18n.js";
import { formatMoney, formatNumber } from "./money.js";
import { formatDate } from "./clock.js";

/** A text by its key; a code that has no words shows itself. */
const named = (key, code, values) => (has(key) ? t(key, values) : code);

export const medalName = (code) => named(`medal.${code}`, code);
export const itemName = (code) => named(`item.${code}`, code);
export const kindName = (kind) => named(`club.kind.${kind}`, kind);

/** A tally's number: money where the tally counts money. */
export const tallyNumber = (tally, value, currency) => (tally.includes("_minor") ? formatMoney(value, currency, language) : formatNumber(value));

/** How a medal is won. */
export const medalHow = ({ code, tally, at_least: least }, currency) => named(`medal.${code}_how`, "", { at_least: tallyNumber(tally, least, currency) });

/** "Won 2026-11-30", or how far it has got. */
export function medalState({ tally, at_least: least, value, awarded_ms: awardedMs }, currency) {
  if (awardedMs !== null) return t("club.won", { date: formatDate(awardedMs) });
  return t("club.progress", { value: tallyNumber(tally, Math.min(value, least), currency), at_least: tallyNumber(tally, least, currency) });
}

/** Won ones first, the newest before the older; the others as the studio lists them. */
export function medalOrder(medals) {
  const won = medals.filter((medal) => medal.awarded_ms !== null).sort((one, other) => other.awarded_ms - one.awarded_ms);
  return [...won, ...medals.filter((medal) => medal.awarded_ms === null)];
}

/** By kind, in the order in which the kinds first appear. */
export function byKind(items) {
  const kinds = new Map();
  for (const item of items) kinds.set(item.kind, [...(kinds.get(item.kind) ?? []), item]);
  return kinds;
}
