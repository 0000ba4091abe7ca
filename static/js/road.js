// The road of a shoe. A game by position has a row a hand and one mark a round; a two-sided game
// has its plates (road_sides.js). Shape says what colour says.

import { positionShort } from "./bet_words.js";
import { h, s } from "./dom.js";
import { t } from "./i18n.js";
import { beadShape, roundWords, twoSided } from "./road_sides.js";

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

const markOf = (round, position) => round.marks.find((one) => one.position === position);

function row(position, rounds) {
  const marks = rounds.map((round) => markOf(round, position));
  return h("div", { class: "road-row" }, h("span", { class: "road-name", text: positionShort(position) }), ...marks.map((mark) => (mark ? markShape(mark) : h("span", { class: "mark-box" }))));
}

/** How a road by position is drawn, explained and read out. */
const byPosition = {
  draw: (rounds, positions) => h("div", { class: "road-grid", "aria-hidden": "true", tabindex: "-1" }, ...positions.map((position) => row(position, rounds.slice(-ROUNDS_MAX)))),
  samples: () => [
    [markShape({ result: "win", rings: [] }), "road.win"],
    [markShape({ result: "lose", rings: [] }), "road.lose"],
    [markShape({ result: "tie", rings: [] }), "road.tie"],
    [markShape({ result: "win", rings: ["flush"] }), "road.flush"],
    [markShape({ result: "win", rings: ["pair"] }), "road.pair"],
  ],
  heads: (positions) => positions.map(positionShort),
  cells: (round, positions) => positions.map((position) => markOf(round, position)).map((mark) => (mark ? markWords(mark) : "–")),
};

const KINDS = { by_position: byPosition, two_sided: twoSided };

function legend(road) {
  return h("ul", { class: "plain road-legend" }, ...road.samples().map(([shape, key]) => h("li", {}, shape, h("span", { text: t(key) }))));
}

function textTable(road, rounds, positions) {
  const head = h("tr", {}, h("th", { scope: "col", text: t("road.round") }), ...road.heads(positions).map((name) => h("th", { scope: "col", text: name })));
  const rows = rounds.map((round) => h("tr", {}, h("th", { scope: "row", class: "number", text: String(round.number) }), ...road.cells(round, positions).map((text) => h("td", { text }))));
  return h(
    "details",
    { class: "road-text" },
    h("summary", { text: t("road.as_table") }),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("road.as_table") }, h("table", { class: "data" }, h("thead", {}, head), h("tbody", {}, ...rows.reverse()))),
  );
}

/** Draw the road of this shoe, oldest round left, newest always in sight; `kind` is the game's. */
export function drawRoad(element, rounds, positions, kind = "by_position") {
  const key = `${kind}/${rounds.length}/${rounds.at(-1)?.number ?? 0}/${positions.join()}`;
  if (element.dataset.key === key) return;
  const wasOpen = element.querySelector("details")?.open ?? false;
  element.dataset.key = key;
  const road = KINDS[kind];
  if (!rounds.length) {
    element.replaceChildren(h("p", { class: "muted", text: t("road.empty") }), legend(road));
    return;
  }
  const table = textTable(road, rounds, positions);
  table.open = wasOpen;
  element.replaceChildren(road.draw(rounds, positions), legend(road), table);
  for (const grid of element.querySelectorAll(".road-grid")) grid.scrollLeft = (Number(grid.dataset.used) || grid.scrollWidth) - grid.clientWidth;
}

/** The latest marks for a list of tables: whose they are (a hand, or none), and each with its words. */
export function latestMarks(rounds, kind, count) {
  const latest = rounds.filter((round) => round.marks.length > 0).slice(-count);
  if (kind === "two_sided") return { name: "", marks: latest.map((round) => ({ shape: beadShape(round), words: roundWords(round) })) };
  const position = latest.at(-1)?.marks[0].position;
  const marks = latest.map((round) => markOf(round, position)).filter(Boolean);
  return { name: position ? positionShort(position) : "", marks: marks.map((mark) => ({ shape: markShape(mark), words: markWords(mark) })) };
}
