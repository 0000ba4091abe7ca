// The audit trail: who did what, why, and what changed.

import { get } from "./api.js";
import { formatDateTime } from "./clock.js";
import { $, h, setShown } from "./dom.js";
import { errorText } from "./errors.js";
import { either, reasonWords, t } from "./i18n.js";
import { notify } from "./page.js";
import { changes, plain } from "./trail_changes.js";

let before = null;

function changeCell(row) {
  const list = changes(row.before, row.after);
  if (!list.length) return h("td", { text: "–" });
  return h("td", {}, h("details", {}, h("summary", { text: t("trail.values", { count: list.length }) }), h("dl", { class: "pairs small" }, ...list.flatMap((one) => [h("dt", { text: one.name }), h("dd", { text: `${one.was} → ${one.is}` })]))));
}

function rowOf(row) {
  return h(
    "tr",
    { "data-testid": `trail-${row.id}` },
    h("td", { class: "nowrap", text: formatDateTime(row.at_ms) }),
    h("td", { text: typeof row.actor === "object" && row.actor ? row.actor.name : plain(row.actor) }),
    h("td", { text: either(`trail.action.${row.action}`, "trail.action.other", { action: row.action }) }),
    h("td", { class: "code", text: plain(row.subject) }),
    h("td", { text: row.reason ? reasonWords(row.reason) : "–" }),
    changeCell(row),
  );
}

async function load() {
  try {
    const answer = await get(before === null ? "/api/trail" : `/api/trail?before=${before}`);
    $("#rows").append(...answer.lines.map(rowOf));
    before = answer.next;
    setShown($("#more"), before !== null);
    setShown($("#empty"), $("#rows").childElementCount === 0);
  } catch (error) {
    notify($("#message"), "bad", errorText(error));
  }
}

$("#more").addEventListener("click", load);
load();
