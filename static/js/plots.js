// Charts: one look for all of them, drawn anew when the page changes its size or its theme.

import uPlot from "../vendor/uPlot.esm.min.js";
import { language } from "./i18n.js";

const WIDTH_MIN = 260;
const REDRAW_MS = 150;

/** The page's own colours, as they are now. */
export function colours(element) {
  const style = getComputedStyle(element);
  const of = (name) => style.getPropertyValue(name).trim();
  return { line: of("--accent"), ink: of("--muted"), grid: of("--line"), ok: of("--ok"), text: of("--text") };
}

/** An axis in the page's colours. */
export function axis({ ink, grid }, more = {}) {
  const lines = { stroke: grid, width: 1 };
  return { stroke: ink, grid: lines, ticks: lines, font: "12px Inter", ...more };
}

/** Figures of a money axis: whole major units, grouped, never of one figure width. */
export const plainNumbers = (_, values) => values.map((value) => value.toLocaleString(language));

/** Steps of an axis that counts: never half a round. */
export const WHOLE = [1, 2, 5].flatMap((step) => [step, step * 10, step * 100, step * 1000, step * 10_000]).sort((a, b) => a - b);

/** Bars beside one another: `side` -1 left, 1 right of the value, 0 on it. */
export const bars = (share, side = 0) => uPlot.paths.bars({ size: [share, 40], align: side });

/** Draw into an element that takes the place of what was drawn before. */
export function draw(element, { height, rows, ...options }) {
  element.replaceChildren();
  const width = Math.max(WIDTH_MIN, element.clientWidth);
  return new uPlot({ width, height, legend: { show: false }, ...options }, rows, element);
}

/** Call `redraw` when the window's size or the page's theme changed. */
export function onLookChange(redraw) {
  let waiting = null;
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(redraw, REDRAW_MS);
  };
  addEventListener("resize", soon);
  matchMedia("(prefers-color-scheme: light)").addEventListener("change", soon);
  new MutationObserver(soon).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}
