// Texts by key, from the catalogue's data block of the page.

import { dataBlock } from "./dom.js";

/** Put values into a text: `{name}` is replaced, anything unknown stays visible as it is. */
export function fill(text, values = {}) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/** Return a translator over one dictionary; a missing key shows as itself. */
export function translator(texts, language) {
  const rules = new Intl.PluralRules(language);
  const has = (key) => Object.hasOwn(texts, key);
  const t = (key, values) => fill(has(key) ? texts[key] : key, values);
  return {
    language,
    has,
    t,
    /** The first of the two that exists: for codes a newer server may have added. */
    either: (key, fallback, values) => t(has(key) ? key : fallback, values),
    /** Plural: `key_one` where the language has a singular, else `key`. */
    tn: (key, count, values) => {
      const one = `${key}_one`;
      const chosen = rules.select(count) === "one" && has(one) ? one : key;
      return t(chosen, { count, ...values });
    },
  };
}

export const language = document.documentElement.lang || "en";
const own = translator(dataBlock("messages"), language);
export const { t, tn, has, either } = own;

/** A reason in words: the studio's own reasons are codes, people's are sentences of theirs. */
export const reasonWords = (reason) => either(`reason.${reason}`, "reason.own", { reason });

/** The same for players: what a person of the house wrote is not for them. */
export const publicReasonWords = (reason) => either(`reason.${reason}`, "reason.supervisor");

/** The same keys in the other language, on pages that show both. */
export function otherLanguage() {
  const other = language === "ja" ? "en" : "ja";
  return translator(dataBlock("messages-other"), other);
}
