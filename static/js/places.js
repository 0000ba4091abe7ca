// The cards of a round as fields: each can be typed anew, and two can change places.

import { cardChip } from "./cards.js";
import { h, icon, setText } from "./dom.js";
import { t } from "./i18n.js";
import { placeWords } from "./roundview.js";

const SUITS = { "♠": "S", "♥": "H", "♦": "D", "♣": "C" };

/** The card that somebody typed, as the studio writes it: 4h, 10♥ or Ｑｓ; null when it is none. */
export function readFace(text) {
  const plain = text.normalize("NFKC").toUpperCase().replaceAll(" ", "").replace("10", "T").replace(/[♠♥♦♣]/, (suit) => SUITS[suit]);
  return /^[2-9TJQKA][SHDC]$/.test(plain) ? plain : null;
}

const typed = (card) => card.replace("T", "10");

/** Every place of a round in the order of the deal, with the card that stands there now. */
export function standingPlaces({ commitments, reveals, corrected }) {
  const key = ({ position, index }) => `${position}/${index}`;
  const faces = new Map([...reveals, ...(corrected?.faces ?? [])].map((one) => [key(one), one.card]));
  return commitments.filter((one) => faces.has(key(one))).map((one) => ({ key: key(one), words: placeWords(one), card: faces.get(key(one)) }));
}

/**
 * The fields; their element has an `input` event for every change. `read()` gives what was changed,
 * as {changes, cards}, and `wrong`: whether a field holds no card.
 */
export function makePlaces(places) {
  const hint = h("p", { class: "small muted", role: "status" });
  let first = null;

  function draw(row) {
    const face = readFace(row.input.value);
    row.input.setAttribute("aria-invalid", String(face === null));
    row.element.dataset.changed = String(face !== row.card);
    row.chip.replaceChildren(face === null ? h("span", { class: "muted", text: "?" }) : cardChip(face));
  }

  function choose(row) {
    row.swap.setAttribute("aria-pressed", String(first === null));
    if (first === null) first = row;
    else {
      [first.input.value, row.input.value] = [row.input.value, first.input.value];
      first.swap.setAttribute("aria-pressed", "false");
      draw(first);
      draw(row);
      first = null;
      element.dispatchEvent(new Event("input"));
    }
    setText(hint, t(first ? "correct.swap_other" : "correct.cards_what", first ? { place: first.words } : {}));
  }

  const rows = places.map((place) => {
    const id = `face-${place.key}`;
    const swapWords = t("correct.swap", { place: place.words });
    const row = {
      ...place,
      chip: h("span", {}),
      input: h("input", { id, "data-testid": id, value: typed(place.card), maxlength: 4, autocomplete: "off", autocapitalize: "characters", spellcheck: "false" }),
      swap: h("button", { type: "button", class: "button icon-only", "aria-pressed": "false", "aria-label": swapWords, title: swapWords, "data-testid": `swap-${place.key}` }, icon("repeat")),
    };
    row.element = h("li", { class: "place" }, h("label", { for: id, text: place.words }), row.chip, row.input, row.swap);
    row.input.addEventListener("focus", () => row.input.select());
    row.input.addEventListener("input", () => draw(row));
    row.swap.addEventListener("click", () => choose(row));
    draw(row);
    return row;
  });
  setText(hint, t("correct.cards_what"));
  const element = h("div", { class: "stack" }, hint, h("ul", { class: "plain places", "data-testid": "places" }, ...rows.map((row) => row.element)));
  return {
    element,
    read() {
      const now = rows.map(({ key, card, words, input }) => ({ key, words, before: card, after: readFace(input.value) }));
      const changes = now.filter(({ before, after }) => after !== before);
      return { changes, wrong: changes.some(({ after }) => after === null), cards: Object.fromEntries(changes.map(({ key, after }) => [key, after])) };
    },
  };
}
