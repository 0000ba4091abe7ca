// The field for the twelve digits printed on a card: grouped by four, its check digits held at once.

import { h } from "./dom.js";
import { t } from "./i18n.js";

const DIGITS = 12;
const DIVISOR = 97;

/** The digits of what was typed, and no more of them than a card has. */
export const plain = (text) => text.replace(/\D/g, "").slice(0, DIGITS);

/** Digits as they are printed: four, four, four. */
export const grouped = (text) => plain(text).replace(/(\d{4})(?=\d)/g, "$1 ");

/** True when the check digits of all twelve hold. */
export const holds = (text) => plain(text).length === DIGITS && Number(plain(text)) % DIVISOR === 1;

/** Make the field; the dialog does not send it while the digits do not hold. */
export function keyField() {
  const [name, id] = ["digits", "field-digits"];
  const wrong = h("span", { class: "hint key-wrong", role: "alert" });
  const input = h("input", { id, name, class: "key-digits number", type: "text", inputmode: "numeric", autocomplete: "off", spellcheck: "false", required: true, "aria-describedby": `${id}-hint`, "data-testid": id });
  const check = () => {
    const whole = plain(input.value).length === DIGITS;
    const bad = whole && !holds(input.value);
    input.setCustomValidity(holds(input.value) ? "" : bad ? t("key.wrong") : t("key.field"));
    input.setAttribute("aria-invalid", String(bad));
    wrong.textContent = bad ? t("key.wrong") : "";
  };
  input.addEventListener("input", () => {
    input.value = grouped(input.value);
    check();
  });
  check();
  const element = h("div", { class: "field" }, h("label", { for: id, text: t("key.field") }), input, h("span", { class: "hint", id: `${id}-hint`, text: t("key.hint") }), wrong);
  return { name, element, read: () => plain(input.value) };
}
