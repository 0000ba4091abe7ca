// The rounds of one table, newest first, each with the way to everything that is known of it.

import { look } from "./api.js";
import { formatTime } from "./clock.js";
import { h, setShown } from "./dom.js";
import { errorText } from "./errors.js";
import { has, language, t } from "./i18n.js";
import { formatMoney, formatSigned } from "./money.js";
import { dataTable } from "./roundview.js";

const PAGE = 40;
const ENDED = ["settled", "void"];

/** The list; `update(item, view)` loads when a round opened or ended, `onRounds` gets the newest. */
export function makeRounds({ currency, onRounds }) {
  const list = h("div", { "data-testid": "drawer-rounds" });
  const more = h("button", { type: "button", class: "button", hidden: true, "data-testid": "more-rounds", text: t("pit.rounds_more") });
  const element = h("div", { class: "stack" }, list, more);
  let table = null;
  let key = "";
  let rounds = [];
  let next = null;

  function row(one) {
    const settled = one.phase === "settled";
    return h(
      "tr",
      { "data-phase": one.phase },
      h("th", { scope: "row" }, h("a", { href: `/pit/rounds/${one.round_id}`, "data-testid": `round-${one.round_id}`, text: one.round_id })),
      h("td", { class: "number", text: formatTime(one.opened_ms) }),
      h("td", { text: has(`play.phase_short.${one.phase}`) ? t(`play.phase_short.${one.phase}`) : one.phase }),
      h("td", { class: "number", text: settled ? String(one.wagers) : "–" }),
      h("td", { class: "number", text: settled ? formatMoney(one.turnover_minor, currency(), language) : "–" }),
      h("td", { class: "number", text: settled ? formatSigned(one.ggr_minor, currency(), language) : "–" }),
    );
  }

  function draw() {
    const heads = [[t("pit.round")], [t("round.opened"), true], [t("round.phase")], [t("round.count"), true], [t("round.turnover"), true], [t("round.ggr"), true]];
    list.replaceChildren(dataTable(heads, rounds.map(row), { label: t("pit.rounds"), empty: t("pit.no_round"), stacks: true }));
    setShown(more, next !== null);
  }

  async function load(before) {
    const asked = table;
    const from = before === null ? "" : `&before=${encodeURIComponent(before)}`;
    const answer = await look(`/api/tables/${asked}/rounds?limit=${PAGE}${from}`);
    if (asked !== table) return;
    rounds = before === null ? answer.rounds : [...rounds, ...answer.rounds];
    next = answer.next;
    draw();
    if (before === null) onRounds(answer.rounds);
  }

  async function tryTo(work) {
    try {
      await work();
    } catch (error) {
      key = "";
      if (!rounds.length) list.replaceChildren(h("p", { class: "muted", text: errorText(error) }));
    }
  }

  more.addEventListener("click", () => tryTo(() => load(next)));
  return {
    element,
    update(item, view) {
      const wanted = `${item.table}/${view.round?.id}/${ENDED.includes(view.phase) ? view.phase : ""}/${currency().code}`;
      if (wanted === key) return;
      if (item.table !== table) rounds = [];
      table = item.table;
      key = wanted;
      tryTo(() => load(null));
    },
  };
}
