// What the figures say, worked out from the studio's answer. Pure: no page, no network.

const RANGE_FROM = 0.2;

const minus = (text) => text.replace("-", "−");

/** A return as people read it: 0.98354 is "98.35%". */
export const percent = (part, digits = 2) => (part === null || part === undefined ? "–" : `${minus((100 * part).toFixed(digits))}%`);

/** A figure that is a percentage already. */
export const already = (value) => (value === null || value === undefined ? "–" : `${minus(value.toFixed(2))}%`);

/** The sum over all hours; null when no round was settled. */
export function moneySum(hours) {
  const sum = { rounds: 0, voided: 0, wagers: 0, turnover_minor: 0, ggr_minor: 0 };
  for (const hour of hours) for (const name of Object.keys(sum)) sum[name] += hour[name];
  return sum.rounds === 0 && sum.voided === 0 ? null : { ...sum, hold_pct: sum.turnover_minor ? (100 * sum.ggr_minor) / sum.turnover_minor : null };
}

/** The range of the revenue's chart: bars stand on 0, with a little air at both ends. */
export function moneyRange(least, most) {
  const [low, high] = [Math.min(0, least ?? 0), Math.max(0, most ?? 0)];
  const air = (high - low || 1) * 0.06;
  return [low < 0 ? low - air : 0, high > 0 || low === 0 ? high + air : 0];
}

/** Hours in which something ended, newest first: what a reader wants to hear. */
export const busyHours = (hours) => hours.filter((hour) => hour.rounds || hour.voided).reverse();

/** Where a return ended: `inside`, `above` or `below` the band that chance alone explains. */
export function verdict(curve) {
  const last = curve.points.at(-1);
  if (last.actual > last.high) return "above";
  return last.actual < last.low ? "below" : "inside";
}

/** The range of a return's chart: the first few rounds swing too far to be drawn to scale. */
export function returnRange({ points, theoretical, rounds }) {
  const shown = points.filter((point) => point.rounds >= rounds * RANGE_FROM);
  const all = [theoretical, ...shown.flatMap((point) => [point.actual, point.low, point.high])];
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const air = (most - least || 0.1) * 0.06;
  return [least - air, most + air];
}

/** Every n-th point and the last, so that a table stays readable. */
export function thinned(points, most) {
  const step = Math.ceil(points.length / most);
  return points.filter((_, index) => (points.length - 1 - index) % step === 0);
}

/** What the scans' chart compares: the shoes of a chosen table, else the tables. */
export function scanGroups(scans, table) {
  if (table === null) return scans.map((one) => ({ ...one, name: one.table }));
  return (scans[0]?.shoes ?? []).map((one) => ({ ...one, name: String(one.shoe) }));
}

/** The reasons of failed reads that occurred, the most frequent first. */
export function reasonsOf(groups) {
  const sums = new Map();
  for (const { reasons } of groups) {
    for (const [reason, count] of Object.entries(reasons)) sums.set(reason, (sums.get(reason) ?? 0) + count);
  }
  return [...sums].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).map(([reason]) => reason);
}
