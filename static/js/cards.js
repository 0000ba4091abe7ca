// Card faces, drawn here: rank and suit large, four colours, readable from 30 px up.

import { h, s } from "./dom.js";
import { has, t } from "./i18n.js";

const SUITS = {
  S: "M12 2C8.6 6.6 3 9.6 3 14.2A4.6 4.6 0 0 0 10.9 17.4C10.7 19.4 9.9 20.9 8.4 22H15.6C14.1 20.9 13.3 19.4 13.1 17.4A4.6 4.6 0 0 0 21 14.2C21 9.6 15.4 6.6 12 2Z",
  H: "M12 21.5C6.5 17 2.5 13.2 2.5 8.6A5.1 5.1 0 0 1 7.6 3.4C9.5 3.4 11.1 4.4 12 6C12.9 4.4 14.5 3.4 16.4 3.4A5.1 5.1 0 0 1 21.5 8.6C21.5 13.2 17.5 17 12 21.5Z",
  D: "M12 1.6L20 12L12 22.4L4 12Z",
  C: "M12 2.2A4.7 4.7 0 0 0 8.3 9.8A4.7 4.7 0 1 0 10.9 17.1C10.8 19.3 10 20.9 8.4 22H15.6C14 20.9 13.2 19.3 13.1 17.1A4.7 4.7 0 1 0 15.7 9.8A4.7 4.7 0 0 0 12 2.2Z",
};
const WIDE = 50;
const HIGH = 70;

function paper(fill, line) {
  return s("rect", { x: 0.75, y: 0.75, width: WIDE - 1.5, height: HIGH - 1.5, rx: 5.5, fill, stroke: line, "stroke-width": 1 });
}

const svg = (className, ...children) =>
  s("svg", { class: `card-side ${className}`, viewBox: `0 0 ${WIDE} ${HIGH}`, "aria-hidden": "true" }, ...children);

function suitShape(suit, x, y, size) {
  return s("path", { d: SUITS[suit], class: `suit-${suit}`, transform: `translate(${x} ${y}) scale(${size / 24})` });
}

function face(code) {
  const suit = code.at(-1);
  const rank = code[0] === "T" ? "10" : code[0];
  const text = s("text", { x: rank === "10" ? 3 : 6, y: 29, class: `suit-${suit}` });
  text.textContent = rank;
  return svg("card-face", paper("#fff", "#c5ccc9"), text, suitShape(suit, 16, 34, 31));
}

function back() {
  const stripes = [];
  for (let at = 12; at < 108; at += 8) {
    stripes.push(s("path", { d: `M${at - 58} 62L${at - 4} 8`, stroke: "#54739a", "stroke-width": 1.4 }));
  }
  const clip = s("svg", { x: 5, y: 5, width: WIDE - 10, height: HIGH - 10, viewBox: `5 5 ${WIDE - 10} ${HIGH - 10}` }, ...stripes);
  return svg(
    "card-back",
    paper("#f4f6f8", "#b9c3cc"),
    s("rect", { x: 4, y: 4, width: WIDE - 8, height: HIGH - 8, rx: 3.5, fill: "#274a77" }),
    clip,
    s("circle", { cx: WIDE / 2, cy: HIGH / 2, r: 8.5, fill: "#274a77", stroke: "#d9e3ee", "stroke-width": 1.4 }),
    s("path", { d: "M25 29.5L29 35L25 40.5L21 35Z", fill: "#d9e3ee" }),
  );
}

const empty = () => svg("card-none", paper("transparent", "currentColor"));

/** A card's spoken name, e.g. "10 of spades". */
export function cardName(code) {
  const rank = code[0] === "T" ? "10" : code[0];
  return t("card.name", { rank: has(`card.rank.${rank}`) ? t(`card.rank.${rank}`) : rank, suit: t(`card.suit.${code.at(-1)}`) });
}

/** Short text of a card for tables: 10♠ is written with its suit's name for screen readers. */
export function cardChip(code) {
  const rank = code[0] === "T" ? "10" : code[0];
  return h(
    "span",
    { class: "card-chip", role: "img", "aria-label": cardName(code) },
    h("b", { class: `ink-${code.at(-1)}`, text: rank }),
    s("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, s("path", { d: SUITS[code.at(-1)], class: `fill-${code.at(-1)}` })),
  );
}

/**
 * A place for one card. `update(state)`: null = no card yet, "back" = dealt, else its code.
 * Turning over is one movement; without motion the face is simply there.
 */
export function cardPlace() {
  const inner = h("span", { class: "card-inner" });
  const element = h("span", { class: "card", role: "img" }, inner);
  let shown;
  return {
    element,
    update(state) {
      if (state === shown) return;
      const opened = state !== null && state !== "back";
      if (opened && shown === "back") inner.append(face(state));
      else inner.replaceChildren(...(state === null ? [empty()] : opened ? [back(), face(state)] : [back()]));
      element.classList.toggle("empty", state === null);
      const turn = () => element.classList.toggle("open", opened);
      if (opened && shown === "back") requestAnimationFrame(() => requestAnimationFrame(turn));
      else turn();
      element.setAttribute("aria-label", state === null ? t("card.none") : opened ? cardName(state) : t("card.down"));
      shown = state;
    },
  };
}
