// A keyed card before a supervisor: why, then the picture, then the digits as the picture shows them.

import { look, post } from "./api.js";
import { confirmDialog } from "./dialog.js";
import { h } from "./dom.js";
import { t } from "./i18n.js";
import { keyField } from "./key_field.js";
import { pictureParts } from "./pictures.js";

/**
 * Ask for the answer to a keyed card. Resolves to the command with its values, or null.
 * `picture` is the id of the picture of this card; without one the entry can only be rejected.
 */
export async function answerKey({ table, picture, reason: field }) {
  const title = t("key.confirm_title", { table });
  const words = (key) => h("p", { text: t(key) });
  if (!picture) {
    const said = await confirmDialog({ testid: "drop-key", title, body: [words("key.no_picture")], fields: [field], confirm: t("key.reject"), danger: true });
    return said && { command: "drop_key", ...said };
  }
  const said = await confirmDialog({ testid: "key-reason", title, body: [words("key.why")], fields: [field], confirm: t("picture.open"), focusField: true });
  if (said === null) return null;
  const shown = await post(`/api/pictures/${picture}/open`, said);
  const digits = keyField();
  // Nothing of picture or digits stays on the page: both go with the dialog.
  const answer = await confirmDialog({ testid: "confirm-key", title, body: [words("key.from_picture"), ...pictureParts(shown)], fields: [digits], confirm: t("action.confirm_key"), other: { text: t("key.reject"), testid: "reject-key" }, wide: true, focusField: true });
  if (answer === null) return null;
  return answer.other ? { command: "drop_key", ...said } : { ...answer, ...said, picture };
}

/** True when the entry that was just answered differed from the dealer's. */
export async function entriesDiffer(table) {
  const { view } = await look(`/api/tables/${table}`);
  return view.fault?.key === "differs";
}
