// The road: one row a position, one mark a round. Shape says what colour says.

import { h, s } from "./dom.js";
import { t } from "./i18n.js";

const SIZE = 26;
const ROUNDS_MAX = 60;

/** Draw one mark: blue circle win, grey with a bar lose, green with a slash tie. */
export function markShape({ result, rings }) {
  const mid = SIZE / 2;
  const shapes = [];
  if (rings.includes("flush")) shapes.push(s("circle", { cx: mid, cy: mid, r: 12, class: "mark-ring" }));
  shapes.push(s("circle", { cx: mid, cy: mid, r: 8.6, class: `mark mark-${result}` }));
  if (result === "lose") shapes.push(s("path", { d: `M${mid - 4.4} ${mid}h8.8`, class: "mark-glyph" }));
  if (result === "tie") shapes.push(s("path", { d: `M${mid - 3.4} ${mid + 3.4}l6.8 -6.8`, class: "mark-glyph" }));
  if (rings.includes("pair")) shapes.push(s("circle", { cx: SIZE - 5.5, cy: 5.5, r: 4, class: "mark-dot" }));
  return s("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "mark-box", "aria-hidden": "true" }, ...shapes);
}

/** A mark in words: "win, flush". */
export function markWords({ result, rings }) {
  return [t(`road.${result}`), ...rings.map((ring) => t(`road.${ring}`))].join(", ");
}

function legend() {
  const samples = [
    [{ result: "win", rings: [] }, "road.win"],
    [{ result: "lose", rings: [] }, "road.lose"],
    [{ result: "tie", rings: [] }, "road.tie"],
    [{ result: "win", rings: ["flush"] }, "road.flush"],
    [{ result: "win", rings: ["pair"] }, "road.pair"],
  ];
  return h(
    "ul",
    { class: "plain road-legend" },
    ...samples.map(([mark, key]) => h("li", {}, markShape(mark), h("span", { text: t(key) }))),
  );
}

function textTable(positions, rounds) {
  const head = h("tr", {}, h("th", { scope: "col", text: t("road.round") }), ...positions.map((name) => h("th", { scope: "col", text: name })));
  const rows = rounds.map((round) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", class: "number", text: String(round.number) }),
      ...positions.map((name) => {
        const mark = round.marks.find((one) => one.position === name);
        return h("td", { text: mark ? markWords(mark) : "–" });
      }),
    ),
  );
  return h(
    "details",
    { class: "road-text" },
    h("summary", { text: t("road.as_table") }),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("road.as_table") }, h("table", { class: "data" }, h("thead", {}, head), h("tbody", {}, ...rows.reverse()))),
  );
}

/** Draw the road of this shoe, oldest round left, newest always in sight. */
export function drawRoad(element, road, positions) {
  const key = `${road.length}/${road.at(-1)?.number ?? 0}/${positions.join()}`;
  if (element.dataset.key === key) return;
  const wasOpen = element.querySelector("details")?.open ?? false;
  element.dataset.key = key;
  const rounds = road.slice(-ROUNDS_MAX);
  if (!rounds.length) {
    element.replaceChildren(h("p", { class: "muted", text: t("road.empty") }), legend());
    return;
  }
  const row = (name) =>
    h(
      "div",
      { class: "road-row" },
      h("span", { class: "road-name", text: name }),
      ...rounds.map((round) => {
        const mark = round.marks.find((one) => one.position === name);
        return mark ? markShape(mark) : h("span", { class: "mark-box" });
      }),
    );
  const grid = h("div", { class: "road-grid", "aria-hidden": "true", tabindex: "-1" }, ...positions.map(row));
  const table = textTable(positions, rounds);
  table.open = wasOpen;
  element.replaceChildren(grid, legend(), table);
  grid.scrollLeft = grid.scrollWidth;
}
