// Why somebody owes money: corrections, and what was collected or written off since.

import { formatDateTime } from "./clock.js";
import { h } from "./dom.js";
import { language, t } from "./i18n.js";
import { formatSigned } from "./money.js";

/** One line a change, newest first. changes: as the doors of what is owed answer. */
export function changeList(changes, currency) {
  const rows = changes.map((one) =>
    h(
      "li",
      {},
      h("span", { class: "small muted", text: formatDateTime(one.at_ms) }),
      h("span", { text: t(`owed.by.${one.deed ?? "correction"}`, { round: one.round_id }) }),
      h("b", { class: "number", text: formatSigned(one.amount_minor, currency, language) }),
    ),
  );
  return h("ul", { class: "plain owed-changes", "data-testid": "owed-changes" }, ...rows);
}
