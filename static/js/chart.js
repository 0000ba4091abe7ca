// Gross gaming revenue of this shoe, round by round, from the table's list of rounds.

import { h } from "./dom.js";
import { language, t } from "./i18n.js";
import { formatMoney, formatSigned } from "./money.js";
import { ggrSeries } from "./pit_view.js";
import { axis, bars, colours, draw, plainNumbers } from "./plots.js";

const HEIGHT = 190;

function plot(element, series, currency) {
  const look = colours(element);
  const divisor = 10 ** currency.decimals;
  draw(element, {
    height: HEIGHT,
    cursor: { y: false },
    scales: { x: { time: false, range: (_, least, most) => [least - 0.6, most + 0.6] } },
    axes: [axis(look, { incrs: [1, 2, 5, 10, 20, 50] }), axis(look, { size: 70, values: plainNumbers })],
    series: [{}, { stroke: look.ink, width: 0, fill: `${look.ink}55`, paths: bars(0.6), points: { show: false } }, { stroke: look.line, width: 2, points: { size: 5, fill: look.line } }],
    rows: [series.map((one) => one.number), series.map((one) => one.ggr / divisor), series.map((one) => one.sum / divisor)],
  });
}

/** Draw the revenue of a shoe's settled rounds; `rounds` as the list gives them, newest first. */
export function drawGgr(element, rounds, currency) {
  const series = ggrSeries(rounds);
  const key = JSON.stringify([series, currency, colours(element), element.clientWidth]);
  if (element.dataset.key === key) return;
  element.dataset.key = key;
  if (series.length < 2) {
    element.replaceChildren(h("p", { class: "muted", text: t("pit.ggr_empty") }));
    return;
  }
  const last = series.at(-1);
  const words = t("pit.ggr_words", { rounds: series.length, sum: formatSigned(last.sum, currency, language), last: formatMoney(last.ggr, currency, language) });
  const canvas = h("div", { role: "img", "aria-label": words });
  element.replaceChildren(canvas, h("p", { class: "small muted", text: words }));
  plot(canvas, series, currency);
}
