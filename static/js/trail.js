// The audit trail: who did what, why, and what changed.

import { get } from "./api.js";
import { formatDateTime } from "./clock.js";
import { $, h, setShown } from "./dom.js";
import { errorText } from "./errors.js";
import { either, t } from "./i18n.js";
import { notify } from "./page.js";

let before = null;

const plain = (value) => (value === null || value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value, null, 1));

/** Names of the values that differ, with what they were and what they became. */
export function changes(was, is) {
  const old = was && typeof was === "object" ? was : {};
  const fresh = is && typeof is === "object" ? is : {};
  const names = [...new Set([...Object.keys(old), ...Object.keys(fresh)])];
  return names
    .filter((name) => JSON.stringify(old[name]) !== JSON.stringify(fresh[name]))
    .map((name) => ({ name, was: plain(old[name]), is: plain(fresh[name]) }));
}

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
    h("td", { text: row.reason || "–" }),
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
