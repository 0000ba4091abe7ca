// Where a supervisor's own words go: some stay in the audit trail, some can be read by the players.

import { t } from "./i18n.js";

/** Commands whose reason stands in the table's log, and so in the evidence that players download. */
export const LOGGED = new Set(["confirm_key", "correct_round", "drop_correction", "drop_key", "lock", "refund_rounds", "release_held", "resume", "unlock", "void_round", "void_settled"]);

/** The field for a command's reason; it says who will read it. */
export function reasonField(command, more = {}) {
  return { name: "reason", label: t("common.reason"), type: "textarea", hint: t(LOGGED.has(command) ? "action.reason_told" : "action.reason_hint"), ...more };
}
