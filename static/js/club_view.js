// Medals, goods and options of the club as they look. What a press does is told to `on…`.

import { cardPlace } from "./cards.js";
import { byKind, itemName, kindName, medalHow, medalName, medalOrder, medalState } from "./club_words.js";
import { h, icon, renderOnce } from "./dom.js";
import { t } from "./i18n.js";
import { plate } from "./plate.js";

// Medals ----------------------------------------------------------------------------------

function medalRow(medal, currency) {
  const won = medal.awarded_ms !== null;
  const state = medalState(medal, currency);
  const name = medalName(medal.code);
  return h(
    "li",
    { class: "medal", "data-won": String(won), "data-testid": `medal-${medal.code}` },
    h("span", { class: "medal-disc", "aria-hidden": "true" }, icon("medal")),
    h(
      "div",
      { class: "medal-words" },
      h("h3", { text: name }),
      h("p", { class: "small muted", text: medalHow(medal, currency) }),
      won ? null : h("progress", { max: medal.at_least, value: Math.min(medal.value, medal.at_least), "aria-label": name }),
      h("p", { class: won ? "small medal-won" : "small number", text: state }),
    ),
  );
}

export const medalRows = (medals, currency) => medalOrder(medals).map((medal) => medalRow(medal, currency));

// The shop --------------------------------------------------------------------------------

const PREVIEWS = {
  table_colour: (code) => h("span", { class: "preview", "data-felt": code }, h("span", { class: "felt felt-sample" })),
  card_back: (code) => {
    const place = cardPlace();
    place.update("back");
    return h("span", { class: "preview", "data-back": code }, place.element);
  },
  circle: (code) => h("span", { class: "preview", "data-circle": code }, h("span", { class: "felt felt-sample" }, h("span", { class: "circle-sample" }))),
  plate: (code, { name }) => h("span", { class: "preview" }, plate(name, code)),
};

/** What an item looks like; what has no look has none. */
function preview(item, me) {
  const element = PREVIEWS[item.kind]?.(item.code, me) ?? null;
  element?.setAttribute("aria-hidden", "true");
  return element;
}

function listenButton(item, { sounding, onListen }) {
  if (item.kind !== "music" || item.code === "music_none") return null;
  const on = sounding === item.code;
  return h(
    "button",
    { type: "button", class: "button quiet listen", "aria-pressed": String(on), "data-testid": `listen-${item.code}`, "aria-label": t("club.listen_to", { item: itemName(item.code) }), onclick: () => onListen(item) },
    icon(on ? "pause" : "play"),
    h("span", { text: t("club.listen") }),
  );
}

function itemAction(item, { options, balance, money, onBuy, onUse }) {
  const name = itemName(item.code);
  if (item.owned && options[item.kind] === item.code) {
    return h("span", { class: "badge on", "data-testid": `in-use-${item.code}` }, icon("check"), h("span", { text: t("club.in_use") }));
  }
  if (item.owned) {
    return h("button", { type: "button", class: "button", "aria-label": t("club.use_it", { item: name }), "data-testid": `use-${item.code}`, text: t("club.use"), onclick: () => onUse(item) });
  }
  const missing = item.price_minor - balance;
  if (missing > 0) return h("span", { class: "small item-short", "data-testid": `short-${item.code}`, text: t("club.short", { amount: money(missing) }) });
  return h("button", { type: "button", class: "button primary", "aria-label": t("club.buy_it", { item: name }), "data-testid": `buy-${item.code}`, text: t("club.buy"), onclick: () => onBuy(item) });
}

function itemPrice(item, money) {
  if (item.price_minor === 0) return t("club.included");
  return item.owned ? t("club.owned") : money(item.price_minor);
}

function itemRow(item, context) {
  return h(
    "li",
    { class: "item", "data-testid": `item-${item.code}`, "data-owned": String(item.owned) },
    preview(item, context.me),
    h("div", { class: "item-words" }, h("b", { text: itemName(item.code) }), h("span", { class: "small muted number", text: itemPrice(item, context.money) })),
    listenButton(item, context),
    h("div", { class: "item-action" }, itemAction(item, context)),
  );
}

/** The shop, a section a kind. context: me, options, balance, money, sounding, onBuy, onUse, onListen. */
export const shopParts = (items, context) =>
  [...byKind(items)].map(([kind, own]) => h("section", { "data-kind": kind }, h("h3", { text: kindName(kind) }), h("ul", { class: "plain items" }, ...own.map((item) => itemRow(item, context)))));

// Options ---------------------------------------------------------------------------------

function choice(kind, onChoose) {
  const id = `option-${kind}`;
  const select = h("select", { id, "data-testid": id, onchange: () => onChoose({ [kind]: select.value }) });
  return {
    element: h("div", { class: "field" }, h("label", { for: id, text: kindName(kind) }), select),
    update(options, items) {
      const own = items.filter((item) => item.kind === kind && item.owned).map((item) => item.code);
      renderOnce(select, own.join(), () => own.map((code) => h("option", { value: code, text: itemName(code) })));
      select.value = options[kind];
    },
  };
}

const VOLUME_STEP = 5;

function volume(name, label, { onChoose, onTry }) {
  const id = `option-${name}`;
  const number = h("output", { for: id, class: "number", "data-testid": `${id}-number` });
  const range = h("input", { type: "range", id, min: 0, max: 100, step: VOLUME_STEP, "data-testid": id });
  const show = () => {
    number.textContent = range.value;
    onTry(Number(range.value));
  };
  let moving = false;
  range.addEventListener("input", () => {
    moving = true;
    show();
  });
  range.addEventListener("change", () => {
    moving = false;
    onChoose({ [name]: Number(range.value) });
  });
  return {
    element: h("div", { class: "field" }, h("label", { for: id, text: label }), h("div", { class: "range-row" }, range, number)),
    update(options) {
      if (moving) return;
      range.value = options[name];
      show();
    },
  };
}

/** The fields of all options; `update(club)` shows what is stored. */
export function makeOptions(root, items, { onChoose, onEffects, onMusic }) {
  const fields = [
    ...[...byKind(items).keys()].map((kind) => choice(kind, onChoose)),
    volume("effects_volume", t("club.effects_volume"), { onChoose, onTry: onEffects }),
    volume("music_volume", t("club.music_volume"), { onChoose, onTry: onMusic }),
  ];
  root.replaceChildren(...fields.map((field) => field.element));
  return {
    update(club) {
      for (const field of fields) field.update(club.options, club.items);
    },
  };
}
