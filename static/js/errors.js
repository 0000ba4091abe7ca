// Refusals in clear words: by code from the catalogue, else the studio's own sentence.

import { Refusal, Unanswered } from "./api.js";
import { has, language, t } from "./i18n.js";
import { formatMoney } from "./money.js";

/** Details whose names end in _minor become money under the name without the ending, games names. */
export function readable(details = {}, currency = null) {
  const values = { ...details };
  if (has(`game.${details.game}`)) values.game = t(`game.${details.game}`);
  for (const [name, value] of Object.entries(details)) {
    if (!name.endsWith("_minor") || typeof value !== "number") continue;
    const plain = name.slice(0, -"_minor".length);
    values[plain] = currency ? formatMoney(value, currency, language) : String(value);
  }
  return values;
}

/** Return what to tell a person about a failed request. */
export function errorText(error, currency = null) {
  if (error instanceof Unanswered) return t("error.unanswered");
  if (!(error instanceof Refusal)) return error.message;
  const key = `error.${error.code}`;
  if (has(key)) {
    const text = t(key, readable(error.details, currency));
    if (!/\{\w+\}/.test(text)) return text;
    if (has(`${key}_plain`)) return t(`${key}_plain`);
  }
  return error.message || t("error.unknown", { status: error.status });
}
