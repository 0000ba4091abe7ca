// Gross gaming revenue of this shoe, round by round, from the rounds' own records. Nothing else.

import uPlot from "../vendor/uPlot.esm.min.js";
import { get } from "./api.js";
import { h } from "./dom.js";
import { language, t } from "./i18n.js";
import { formatMoney, formatSigned } from "./money.js";
import { ggrSeries } from "./pit_view.js";

const HEIGHT = 190;
const ROUNDS_MAX = 40;
const records = new Map();

function idsOfShoe(view) {
  if (!view.round) return [];
  const stem = view.round.id.slice(0, view.round.id.lastIndexOf("-") + 1);
  return view.road.slice(-ROUNDS_MAX).map((line) => `${stem}${line.number}`);
}

async function record(id) {
  if (!records.has(id)) {
    const answer = await get(`/api/rounds/${id}`);
    const settled = answer.events?.find((event) => event.kind === "RoundSettled");
    const closed = answer.events?.find((event) => event.kind === "BettingClosed");
    if (!settled || !closed) return null;
    const wagers = { turnover_minor: closed.body.turnover_minor, held_minor: closed.body.held_minor };
    records.set(id, { number: answer.round.number, wagers, payouts_minor: settled.body.payouts_minor, void: null });
  }
  return records.get(id);
}

function colours(element) {
  const style = getComputedStyle(element);
  return { line: style.getPropertyValue("--accent"), ink: style.getPropertyValue("--muted"), grid: style.getPropertyValue("--line") };
}

function plot(element, series, currency) {
  const { line, ink, grid } = colours(element);
  const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: "12px Inter" };
  const divisor = 10 ** currency.decimals;
  const options = {
    width: Math.max(260, element.clientWidth),
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false },
    scales: { x: { time: false, range: (_, least, most) => [least - 0.6, most + 0.6] } },
    axes: [
      { ...axis, incrs: [1, 2, 5, 10, 20, 50] },
      { ...axis, size: 70, values: (_, values) => values.map((value) => value.toLocaleString(language)) },
    ],
    series: [{}, { stroke: ink, width: 0, fill: `${ink}55`, paths: uPlot.paths.bars({ size: [0.6, 24] }), points: { show: false } }, { stroke: line, width: 2, points: { size: 5, fill: line } }],
  };
  const rows = [series.map((one) => one.number), series.map((one) => one.ggr / divisor), series.map((one) => one.sum / divisor)];
  new uPlot(options, rows, element);
}

/** Draw the shoe's revenue; asks each settled round's record once. */
export async function drawGgr(element, view, currency) {
  const ids = idsOfShoe(view);
  const key = ids.join();
  if (element.dataset.key === key) return;
  element.dataset.key = key;
  const rounds = [];
  try {
    for (const id of ids) rounds.push(await record(id));
  } catch {
    element.dataset.key = "";
    return;
  }
  if (element.dataset.key !== key) return;
  const series = ggrSeries(rounds.filter(Boolean));
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
